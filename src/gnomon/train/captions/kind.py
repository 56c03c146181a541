"""Recipes of kind captions: which files are read, and which model learns from them."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import Meta

from gnomon.errors import DamagedDataWarning, DataError, UsageError, check_known
from gnomon.train.captions.corpus import Corpus, CorpusRequest, open_corpus
from gnomon.train.recipes import Material, Recipe, TrainingKind, TrainingOutcome

if TYPE_CHECKING:
    from gnomon.train.captions.learner import CaptionLearner

# what transformers raises where a model cannot be made of a config
WRONG_CONFIG = (ValueError, TypeError, LookupError, ArithmeticError, RuntimeError)
Count = Annotated[int, Meta(ge=1)]
Share = Annotated[float, Meta(gt=0, lt=1)]


class CaptionData(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The section `data`: which captions there are, and what is held out of them."""

    files: str | list[str] = []
    least_words: Count = 2  # as ViPhy's authors; shorter captions have no context
    held_out: Share = 0.1  # of the pictures, or of the captions where no picture is named
    most_held_out: Count = 4000  # captions: half choose the best weights, half test them


class CaptionSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The section `captions`: the model where it is new, its tokens, and what is hidden."""

    config: dict[str, Any] = {}  # of a new model, as its config.json says it; needs model_type
    tokenizer: str = ""  # a name or folder; else the model's, or one that is trained
    vocabulary: Count = 8000  # tokens of one that is trained
    length: Annotated[int, Meta(ge=4)] = 32  # tokens of a row, marks included
    layout: Literal["padded", "packed"] = "padded"  # a caption in a row, or as many as fit
    special_tokens: bool = True  # as models are asked later; ViPhy's authors left them out
    masked: Share = 0.15  # of the tokens


def read(recipe: Recipe) -> Material:
    """The captions as tokens, and what became of them."""
    files = _files(recipe.data)
    if not recipe.model and "model_type" not in recipe.settings.config:
        raise UsageError(
            "The recipe names no model to go on with, and no config of a new one.",
            "Write model: NAME, or captions: with config: and in it model_type: bert.",
        )
    corpus = open_corpus(_wanted(recipe, files))
    facts = corpus.facts
    if facts.damaged:
        warnings.warn(
            f"{facts.damaged:,} lines or elements cannot be read and are left out, "
            f"such as {'; '.join(facts.damages)}.",
            DamagedDataWarning,
            stacklevel=2,
        )
    digests: dict[str, Any] = {"corpus": corpus.about()}
    for file, digest in zip(files, corpus.digests, strict=True):
        digests[file.name] = {"sha256": digest}
    return Material(corpus, digests)


def open_learner(recipe: Recipe, material: Material) -> CaptionLearner:
    """A new model, or one that goes on learning, with the captions."""
    from gnomon.train.captions.learner import CaptionLearner

    corpus: Corpus = material.content
    model = _loaded(recipe) if recipe.model else _new(recipe, corpus.tokenizer)
    _check_fit(model, corpus.tokenizer, recipe)
    return CaptionLearner(model, corpus, recipe.settings, recipe.schedule.batch, recipe.seeds.order)


def _files(data: CaptionData) -> tuple[Path, ...]:
    named = [data.files] if isinstance(data.files, str) else data.files
    if not named:
        raise UsageError("The recipe names no file of captions.", "Add it: --set captions=FILE")
    files = tuple(Path(name).expanduser() for name in named)
    for file in files:
        if not file.is_file():
            raise DataError("there is no such file.", "Check the path.", file=file)
    return files


def _wanted(recipe: Recipe, files: tuple[Path, ...]) -> CorpusRequest:
    data: CaptionData = recipe.data
    settings: CaptionSettings = recipe.settings
    marks = 2 if settings.special_tokens else 0
    return CorpusRequest(
        files=files,
        tokenizer=settings.tokenizer or recipe.model,
        vocabulary=settings.vocabulary,
        reads=settings.config.get("max_position_embeddings", settings.length),
        longest=settings.length - marks,
        least_words=data.least_words,
        held_out=data.held_out,
        most_held_out=data.most_held_out,
        seed=recipe.seeds.data,
    )


def _loaded(recipe: Recipe) -> Any:
    from gnomon.models.transformers.hf import place_of
    from gnomon.models.transformers.loading import Loading, load

    wanted = Loading(kind="masked", dtype="float32")
    return load(place_of(recipe.model).path, wanted).model


def _new(recipe: Recipe, tokenizer: Any) -> Any:
    """A model of the recipe's config with random weights."""
    from huggingface_hub.errors import StrictDataclassError

    from gnomon.models.transformers.loading import best_device, libraries, quiet

    torch, transformers = libraries()
    said = {
        **recipe.settings.config,
        "vocab_size": len(tokenizer),
        "pad_token_id": tokenizer.pad_token_id,
    }
    torch.manual_seed(recipe.seeds.weights)
    try:
        with quiet():
            usual = transformers.AutoConfig.for_model(said["model_type"])
            for name in said:  # transformers would pass over a field that it does not know
                known = {*usual.to_dict(), *usual.attribute_map}
                check_known("field of captions.config", name, known)
            config = transformers.AutoConfig.for_model(**said)
            model = transformers.AutoModelForMaskedLM.from_config(config)
    except (*WRONG_CONFIG, StrictDataclassError) as error:
        reason = " ".join(str(error).split())[:160]
        raise UsageError(
            f"A model of the recipe's config cannot be made: {reason}",
            "Correct captions: config: in the recipe; its fields are those of a config.json.",
        ) from None
    return model.to(best_device())


def _check_fit(model: Any, tokenizer: Any, recipe: Recipe) -> None:
    """Refuse a model that cannot read the rows."""
    room = model.get_input_embeddings().num_embeddings
    if len(tokenizer) > room:
        raise UsageError(
            f"The tokenizer has {len(tokenizer):,} tokens, the model has room for {room:,}.",
            "Leave captions.tokenizer out, so that the model's own is used.",
        )
    longest = getattr(model.config, "max_position_embeddings", recipe.settings.length)
    if recipe.settings.length > longest:
        raise UsageError(
            f"Rows have {recipe.settings.length} tokens, the model reads at most {longest}.",
            f"Write captions.length: {longest} or less.",
        )


def results(outcome: TrainingOutcome) -> str:
    """How well captions are foretold that training never saw, in words."""
    found = []
    for part, scores in {"captions that chose the weights": outcome.best, **outcome.tests}.items():
        model, counts = scores["perplexity"], scores["unigram_perplexity"]
        found.append(
            f"Of {part}, each token is hidden once and told from the others with a perplexity of "
            f"{model:.2f}; counts of tokens alone (a unigram model) come to {counts:.2f}."
        )
    return "\n\n".join(found)


KIND = TrainingKind(
    summary="a masked language model, pretrained on captions",
    data=CaptionData,
    settings=CaptionSettings,
    read=read,
    open_learner=open_learner,
    shorthand={"captions": "data.files"},
    results=results,
    measures=("perplexity",),
)
