"""Models of Hugging Face transformers, by hub name, folder or .gguf file.

How a model is asked is read from its own config.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from gnomon.contracts import Model
from gnomon.errors import ModelError, UsageError
from gnomon.keep import bytes_of
from gnomon.models.choices import check_way_to_ask, reply_room
from gnomon.models.comparing import check_contrast
from gnomon.models.keeping import kept
from gnomon.models.prompts.library import Prompt, load_prompt
from gnomon.models.transformers.hubnames import check_no_slip
from gnomon.models.transformers.loading import Loaded, Loading, load
from gnomon.options import given, neutral


class Asking(NamedTuple):
    """How a model is asked, as the user says it: options of which each kind of model has some."""

    prompt: str
    wording: int
    shots: int | None
    chat: bool | None
    normalise: str
    ask: str
    new_tokens: int | None
    top_k: int
    span: str
    labels: str
    trees: bool | None
    features: str
    contrast: str
    regions: str
    examples: str

    def chosen_prompt(self, default: str) -> Prompt:
        """The prompt that the user names, or the default of the kind."""
        return load_prompt(self.prompt or default, self.wording).with_shots(
            self.shots, self.examples
        )


class Place(NamedTuple):
    """What transformers can load, and whether it converses unless the user says otherwise."""

    path: str  # a hub name or a folder
    converses: bool = True  # where its tokenizer has a chat template


@neutral("threads", "allow_pickle", "trees", "features")
def hf(
    name: str,
    *,
    kind: str = "",
    revision: str = "",
    dtype: str = "",
    device: str = "",
    prompt: str = "",
    wording: int = 1,
    shots: int | None = None,
    examples: str = "",
    chat: bool | None = None,
    normalise: str = "sum",
    ask: str = "score",
    new_tokens: int | None = None,
    top_k: int = 0,
    span: str = "l2r",
    labels: str = "",
    trees: bool | None = None,
    features: str = "on",
    contrast: str = "",
    regions: str = "",
    allow_pickle: bool = False,
    trust_remote_code: bool = False,
    compile: bool = False,
    quantise: str = "",
    threads: int = 0,
) -> Model:
    """A model of transformers: a hub name, a folder, a .gguf file, or smollm2.

    kind               causal, seq2seq, masked, nli, vlm, dual, match or regions; read from the
                       config if not given
    revision           a branch, tag or commit of the hub
    dtype              float32, bfloat16 or float16; by default float32 on a CPU
    device             cpu, cuda, cuda:1, mps ...; by default the fastest there is
    prompt             a prompt's name or file
    wording            which of the prompt's wordings, where it has several
    shots              how many worked examples to show: the prompt's own, or drawn from the
                       benchmark; by default all of the prompt's
    examples           the worked examples that --shots has drawn, as JSON
    chat               put items as a conversation; by default where there is a chat template
    normalise          how choices are made comparable: sum, mean (per token), byte or pmi
    ask                score (the likelihood of each choice) or generate (a reply, which is read)
    new_tokens         the most tokens of a reply (default: 32; 2048 for a model that thinks)
    top_k              masked: an answer counts only among the k likeliest words of all
    span               masked: score several tokens by l2r (left to right) or pll (one mask each)
    labels             nli: the order of the classes, "contradiction,neutral,entailment"
    trees              causal: compute what texts share once; by default where it changes nothing
    features           vlm, dual: keep what it makes of pictures: on (2 GB), off, or a size such as
                       8GB
    contrast           dual, match, regions: what a caption is compared with: opposite, negation,
                       stem ("The cat is left of"), threshold (fitted on a development split, else
                       on items held out), or none, for models that give a probability
    regions            regions: the features that a detector found (a folder, or a table of VinVL)
    allow_pickle       load pickled weights, which can run any code
    trust_remote_code  run the code that comes with the model
    compile            use torch.compile
    quantise           int8: dynamic quantisation on a CPU
    threads            torch's threads; by default no more than the cores of this process
    """
    _check_given(name, ask, features, contrast)
    how = (chat, normalise, ask, new_tokens, top_k, span, labels, trees)
    asking = Asking(prompt, wording, shots, *how, features, contrast, regions, examples)
    place = place_of(name)
    check_no_slip(place.path)
    safety = (allow_pickle, trust_remote_code)
    wanted = Loading(kind, revision, dtype, device, *safety, compile, quantise, threads)
    loaded = kept(("hf", place.path, wanted), lambda: load(place.path, wanted))
    _check_options_of_kind(name, loaded.kind, asking)
    return KINDS[loaded.kind].make(name, place, loaded, asking)


def _check_given(name: str, ask: str, features: str, contrast: str) -> None:
    """Refuse what cannot be meant before anything is loaded."""
    if not name:
        raise UsageError("hf needs a name of a model.", "Write hf:NAME or hf:FOLDER: hf:gpt2.")
    check_way_to_ask(ask)
    bytes_of(features)
    check_contrast(contrast)


def _causal(name: str, place: Place, loaded: Loaded, asking: Asking) -> Model:
    from gnomon.models.transformers.causal import Causal

    has_template = bool(getattr(loaded.tokenizer, "chat_template", None))
    chat = _converses(name, place, has_template, asking.chat)
    return Causal(
        **_parts(name, loaded),
        prompt=asking.chosen_prompt("chat" if chat else "plain"),
        chat=chat,
        normalise=asking.normalise,
        ask=asking.ask,
        new_tokens=reply_room(asking.new_tokens, _template(loaded.tokenizer) if chat else ""),
        trees=asking.trees,
    )


def _seq2seq(name: str, _: Place, loaded: Loaded, asking: Asking) -> Model:
    from gnomon.models.transformers.seq2seq import Seq2seq

    return Seq2seq(
        **_parts(name, loaded),
        prompt=asking.chosen_prompt("t5"),
        normalise=asking.normalise,
        ask=asking.ask,
        new_tokens=reply_room(asking.new_tokens, ""),
    )


def _masked(name: str, _: Place, loaded: Loaded, asking: Asking) -> Model:
    from gnomon.models.transformers.masked import Masked

    return Masked(
        **_parts(name, loaded),
        prompt=asking.chosen_prompt("masked"),
        normalise=asking.normalise,
        top_k=asking.top_k,
        span=asking.span,
    )


def _nli(name: str, _: Place, loaded: Loaded, asking: Asking) -> Model:
    from gnomon.models.transformers.nli import Nli

    return Nli(**_parts(name, loaded), name=name, labels=asking.labels)


def _vlm(name: str, place: Place, loaded: Loaded, asking: Asking) -> Model:
    from gnomon.models.transformers.seeing import Seeing
    from gnomon.models.transformers.showing import template_of

    _check_one_decoder(name, loaded.model.config)
    template = template_of(loaded.processor)
    chat = _converses(name, place, bool(template), asking.chat)
    return Seeing(
        **_parts(name, loaded),
        processor=loaded.processor,
        prompt=asking.chosen_prompt("picture" if chat else "picture-plain"),
        chat=chat,
        normalise=asking.normalise,
        ask=asking.ask,
        new_tokens=reply_room(asking.new_tokens, template if chat else ""),
        features=bytes_of(asking.features),
    )


def _check_one_decoder(name: str, config: Any) -> None:
    """Refuse a model that reads with an encoder: its answers do not follow pictures and question.

    Florence-2 and BLIP-2 with T5 are of this kind.
    """
    for each in (config, config.get_text_config()):
        if getattr(each, "is_encoder_decoder", False):
            raise ModelError(
                f"{name} sees and writes with an encoder and a decoder, which cannot be asked yet.",
                "Choose a model that sees with one decoder: LLaVA, Qwen2-VL, InternVL, SmolVLM ...",
            )


def _comparing(name: str, _: Place, loaded: Loaded, asking: Asking) -> Model:
    from gnomon.models.comparing import Comparing
    from gnomon.models.transformers.comparers import comparer_of

    room = bytes_of(asking.features)
    made = comparer_of(name, loaded, regions=asking.regions, most_kept=room)
    return Comparing(f"hf:{name}", made, contrast=asking.contrast, about=loaded.about)


def _parts(name: str, loaded: Loaded) -> dict[str, Any]:
    return {
        "spec": f"hf:{name}",
        "model": loaded.model,
        "tokenizer": loaded.tokenizer,
        "about": loaded.about,
    }


class Kind(NamedTuple):
    """How models of a kind are made, and which of the options for some kinds they follow."""

    make: Callable[[str, Place, Loaded, Asking], Model]
    options: frozenset[str]


_REPLY = ("ask", "new_tokens")
_PROMPTED = ("prompt", "wording", "shots", "examples", "normalise")
KINDS = {
    "causal": Kind(_causal, frozenset((*_PROMPTED, *_REPLY, "chat", "trees"))),
    "seq2seq": Kind(_seq2seq, frozenset((*_PROMPTED, *_REPLY))),
    "masked": Kind(_masked, frozenset((*_PROMPTED, "top_k", "span"))),
    "nli": Kind(_nli, frozenset(("labels",))),
    "vlm": Kind(_vlm, frozenset((*_PROMPTED, *_REPLY, "chat", "features"))),
    "dual": Kind(_comparing, frozenset(("contrast", "features"))),
    "match": Kind(_comparing, frozenset(("contrast",))),
    "regions": Kind(_comparing, frozenset(("contrast", "regions"))),
}


def _check_options_of_kind(name: str, kind: str, asking: Asking) -> None:
    """Refuse an option that the model would not follow."""
    followed = KINDS[kind].options
    ignored = given(hf, asking._asdict()).keys() - followed
    if ignored:
        raise UsageError(
            f"{name} is a model of kind {kind}, which takes no {', '.join(sorted(ignored))}.",
            f"Leave that out. Options of this kind: {', '.join(sorted(followed))}.",
        )


def _template(tokenizer: Any) -> str:
    """The chat template, of which a tokenizer may have several."""
    return str(getattr(tokenizer, "chat_template", ""))


def _converses(name: str, place: Place, has_template: bool, chat: bool | None) -> bool:
    """Whether items are put as a conversation."""
    if chat and not has_template:
        raise UsageError(f"{name} has no chat template.", "Leave out --model-set chat=true.")
    if chat is None:
        return has_template and place.converses
    return chat


def place_of(name: str) -> Place:
    """Where a model's files are: what is in llama.cpp's format is converted into the cache."""
    if name in NAMED:
        return NAMED[name]()
    if name.endswith(".gguf"):
        return Place(_converted(Path(name).expanduser()))
    if name.startswith("~"):
        return Place(str(Path(name).expanduser()))
    return Place(name)


def _smollm2() -> Place:
    """The embedded default's weights, asked as it is asked: without its chat template."""
    from gnomon.models.llamacpp.smollm2 import weights

    return Place(_converted(weights()), converses=False)


def _converted(file: Path) -> str:
    from gnomon.models.llamacpp.converting import converted

    return str(converted(file))


def _minilm() -> Place:
    """An encoder without a head: to be probed or finetuned."""
    from gnomon.models.minilm import minilm_folder

    return Place(str(minilm_folder()))


NAMED: dict[str, Callable[[], Place]] = {"smollm2": _smollm2, "minilm": _minilm}  # names of ours
