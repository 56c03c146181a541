"""Models of Hugging Face transformers, by hub name, folder or .gguf file.

How a model is asked is read from its own config.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from gnomon.contracts import Model
from gnomon.errors import UsageError
from gnomon.keep import bytes_of
from gnomon.models.choices import check_way_to_ask, reply_room
from gnomon.models.comparison import Comparer, ComparisonModel, check_contrast
from gnomon.models.machine import kept
from gnomon.models.prompted import Manner
from gnomon.models.prompts.library import PromptChoice
from gnomon.models.sampling import check_sampling, sampled
from gnomon.models.transformers.checkpoint import FILLING, check_no_slip
from gnomon.models.transformers.loading import Loaded, Loading, load
from gnomon.options import given, neutral


class _Asking(NamedTuple):
    """How a model is asked, as the user says it: options of which each kind of model has some."""

    choice: PromptChoice
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
    picture: str

    def manner(self, template: str = "", *, chat: bool = False) -> Manner:
        """How the model is asked; `template` is the chat template that it is asked through."""
        room = reply_room(self.new_tokens, template)
        return Manner(self.ask, room, self.normalise, chat)


class ModelPath(NamedTuple):
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
    points: str = "",
    samples: int = 1,
    temperature: float = 1.0,
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
    picture: str = "own",
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
    points             how replies write points: pixels, share, thousand or percent, each also as
                       pixels-yx with rows first (default: as the reply tells)
    samples            how many answers to draw for each item, by its scores
    temperature        at which answers are drawn, if there are several samples
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
                       against (the other caption of its quad), stem ("The cat is left of"),
                       threshold (fitted on a development split, else on items held out), or none,
                       for models that give a probability
    regions            regions, masked: the features that a detector found (a folder, or a table of
                       VinVL)
    picture            masked models that see (ViLT, FLAVA, VisualBERT, LXMERT): own (the item's, if
                       it has one), none, or blank (a grey one, or a region of zeros)
    allow_pickle       load pickled weights, which can run any code
    trust_remote_code  run the code that comes with the model
    compile            use torch.compile
    quantise           int8: dynamic quantisation on a CPU
    threads            torch's threads; by default no more than the cores of this process
    """
    if not name:
        raise UsageError("hf needs a name of a model.", "Write hf:NAME or hf:FOLDER: hf:gpt2.")
    check_way_to_ask(ask)
    check_sampling(samples, temperature, ask)
    bytes_of(features)
    check_contrast(contrast)
    choice = PromptChoice(prompt, wording, shots, examples, points)
    how = (chat, normalise, ask, new_tokens, top_k, span, labels, trees)
    asking = _Asking(choice, *how, features, contrast, regions, picture)
    place = place_of(name)
    check_no_slip(place.path)
    safety = (allow_pickle, trust_remote_code)
    wanted = Loading(kind, revision, dtype, device, *safety, compile, quantise, threads)
    loaded = kept(("hf", place.path, wanted), lambda: load(place.path, wanted))
    _check_options_of_kind(name, loaded.kind, asking)
    return sampled(KINDS[loaded.kind].make(name, place, loaded, asking), samples, temperature)


def _causal(name: str, place: ModelPath, loaded: Loaded, asking: _Asking) -> Model:
    from gnomon.models.transformers.causal import Causal

    template = str(getattr(loaded.tokenizer, "chat_template", None) or "")
    chat = _converses(name, place, bool(template), asking.chat)
    return Causal(
        *_parts(name, loaded),
        asking.choice.load("chat" if chat else "plain"),
        asking.manner(template if chat else "", chat=chat),
        trees=asking.trees,
        about=loaded.about,
    )


def _seq2seq(name: str, _: ModelPath, loaded: Loaded, asking: _Asking) -> Model:
    from gnomon.models.transformers.seq2seq import Seq2seq

    prompt = asking.choice.load("t5")
    return Seq2seq(*_parts(name, loaded), prompt, asking.manner(), about=loaded.about)


def _masked(name: str, _: ModelPath, loaded: Loaded, asking: _Asking) -> Model:
    from gnomon.models.transformers.masked import Masked

    parts = (*_parts(name, loaded), asking.choice.load("masked"), asking.manner())
    how: dict[str, Any] = {"top_k": asking.top_k, "span": asking.span, "about": loaded.about}
    if loaded.about["architecture"] in FILLING:
        from gnomon.models.transformers.maskedpictures import MaskedPictures

        shown = {"picture": asking.picture, "regions": asking.regions}
        return MaskedPictures(*parts, processor=loaded.processor, **shown, **how)
    if asking.picture != "own" or asking.regions:
        raise UsageError(
            f"{name} reads text alone, so picture and regions mean nothing to it.",
            f"Leave them out. Masked models that see: {', '.join(FILLING)}.",
        )
    return Masked(*parts, **how)


def _nli(name: str, _: ModelPath, loaded: Loaded, asking: _Asking) -> Model:
    from gnomon.models.transformers.nli import Nli

    return Nli(*_parts(name, loaded), name=name, labels=asking.labels, about=loaded.about)


def _vlm(name: str, place: ModelPath, loaded: Loaded, asking: _Asking) -> Model:
    from gnomon.models.transformers.imageinputs import template_of
    from gnomon.models.transformers.scorer import first_line
    from gnomon.models.transformers.vlm import Vlm
    from gnomon.models.transformers.wholepasses import WholeVlm, has_encoder_and_decoder

    processor = loaded.processor
    template = template_of(processor)
    chat = _converses(name, place, bool(template), asking.chat)
    parts = (
        *_parts(name, loaded),
        asking.choice.load("chat" if chat else "picture-plain"),
        asking.manner(template if chat else "", chat=chat),
    )
    how: dict[str, Any] = {"processor": processor, "about": loaded.about}
    if has_encoder_and_decoder(loaded.model.config):
        why = "it reads with an encoder and writes with a decoder"
        return WholeVlm(*parts, why=why, **how)
    own = processor.tokenizer
    try:
        return Vlm(*parts, features=bytes_of(asking.features), **how)
    except Exception as error:  # whatever a class that nobody has tried yet raises
        processor.tokenizer = own
        return WholeVlm(*parts, why=first_line(error), **how)


def _dual(name: str, _: ModelPath, loaded: Loaded, asking: _Asking) -> Model:
    from gnomon.models.transformers.dual import DualEncoder

    room = bytes_of(asking.features)
    parts = (loaded.model, loaded.tokenizer, loaded.processor)
    encoder = DualEncoder(*parts, about=loaded.about, most_kept=room)
    return _comparing(name, loaded, asking, encoder)


def _match(name: str, _: ModelPath, loaded: Loaded, asking: _Asking) -> Model:
    from gnomon.models.transformers.matchers import matcher

    made = matcher(loaded.model, loaded.tokenizer, loaded.processor)
    return _comparing(name, loaded, asking, made)


def _regions(name: str, _: ModelPath, loaded: Loaded, asking: _Asking) -> Model:
    from gnomon.models.transformers.matchers import region_matcher

    made = region_matcher(name, loaded.model, loaded.tokenizer, asking.regions)
    return _comparing(name, loaded, asking, made)


def _comparing(name: str, loaded: Loaded, asking: _Asking, comparer: Comparer) -> Model:
    return ComparisonModel(f"hf:{name}", comparer, contrast=asking.contrast, about=loaded.about)


def _parts(name: str, loaded: Loaded) -> tuple[str, Any, Any]:
    return f"hf:{name}", loaded.model, loaded.tokenizer


class _Kind(NamedTuple):
    """How models of a kind are made, and which of the options for some kinds they follow."""

    make: Callable[[str, ModelPath, Loaded, _Asking], Model]
    options: frozenset[str]


_REPLY = ("ask", "new_tokens")
_PROMPTED = ("prompt", "wording", "shots", "examples", "normalise")
KINDS = {
    "causal": _Kind(_causal, frozenset((*_PROMPTED, *_REPLY, "chat", "trees"))),
    "seq2seq": _Kind(_seq2seq, frozenset((*_PROMPTED, *_REPLY))),
    "masked": _Kind(_masked, frozenset((*_PROMPTED, "top_k", "span", "picture", "regions"))),
    "nli": _Kind(_nli, frozenset(("labels",))),
    "vlm": _Kind(_vlm, frozenset((*_PROMPTED, *_REPLY, "chat", "features"))),
    "dual": _Kind(_dual, frozenset(("contrast", "features"))),
    "match": _Kind(_match, frozenset(("contrast",))),
    "regions": _Kind(_regions, frozenset(("contrast", "regions"))),
}


def _check_options_of_kind(name: str, kind: str, asking: _Asking) -> None:
    """Refuse an option that the model would not follow."""
    followed = KINDS[kind].options
    asked = asking._asdict()
    asked |= asked.pop("choice")._asdict()
    asked["prompt"] = asked.pop("name")
    ignored = given(hf, asked).keys() - followed
    if ignored:
        raise UsageError(
            f"{name} is a model of kind {kind}, which takes no {', '.join(sorted(ignored))}.",
            f"Leave that out. Options of this kind: {', '.join(sorted(followed))}.",
        )


def _converses(name: str, place: ModelPath, has_template: bool, chat: bool | None) -> bool:
    """Whether items are put as a conversation."""
    if chat and not has_template:
        raise UsageError(f"{name} has no chat template.", "Leave out --set chat=true.")
    if chat is None:
        return has_template and place.converses
    return chat


def place_of(name: str) -> ModelPath:
    """Where a model's files are: what is in llama.cpp's format is converted into the cache."""
    if name == "smollm2":  # the embedded default's weights, asked as it is asked
        from gnomon.models.llamacpp.smollm2 import weights

        return ModelPath(_converted(weights()), converses=False)
    if name == "minilm":  # an encoder without a head: to be probed or finetuned
        from gnomon.models.similarity import minilm_folder

        return ModelPath(str(minilm_folder()))
    if name.endswith(".gguf"):
        return ModelPath(_converted(Path(name).expanduser()))
    if name.startswith("~"):
        return ModelPath(str(Path(name).expanduser()))
    return ModelPath(name)


def _converted(file: Path) -> str:
    from gnomon.models.llamacpp.conversion import converted

    return str(converted(file))
