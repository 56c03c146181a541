"""The three models of VSR's paper (table 7), as they are finetuned: which class, and which output.

Class 1 says that a caption is true. LXMERT has such a head from its pre-training; ViLT and
VisualBERT get a new one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from gnomon.errors import ModelError, UsageError
from gnomon.models.transformers.checkpoint import check_device, check_folder, explained
from gnomon.models.transformers.hf import place_of
from gnomon.models.transformers.loading import best_device, libraries, quiet, set_threads
from gnomon.models.transformers.processors import load_processor, load_tokenizer
from gnomon.train.looking.shows import Pixels, RegionRows, Show
from gnomon.vision.regions import open_regions

if TYPE_CHECKING:
    from gnomon.train.looking.recipe import LookSettings

LABELS = ("false", "true")


class Looker(NamedTuple):
    """A model to be finetuned, and what goes with it."""

    model: Any
    tokenizer: Any
    show: Show
    output: str  # which of the model's outputs is the logits of false and true
    processor: Any = None  # of a model that sees pixels


class Make(NamedTuple):
    """How a type of model is made to say true or false."""

    maker: str
    head: str  # what the names of weights begin with that may be new; empty if none
    config: dict[str, Any]
    sees_regions: bool
    output: str = "logits"


NAMES = {"id2label": dict(enumerate(LABELS)), "label2id": {"false": 0, "true": 1}}
MAKES = {
    "vilt": Make(
        "ViltForImagesAndTextClassification", "classifier.", {**NAMES, "num_images": 1}, False
    ),
    "lxmert": Make("LxmertForPreTraining", "", {}, True, "cross_relationship_score"),
    "visual_bert": Make("VisualBertForVisualReasoning", "cls.", NAMES, True),
}


def load_looker(name: str, settings: LookSettings, weights_seed: int) -> Looker:
    """The model of a folder or hub name, with a head that says whether a caption is true."""
    torch, transformers = libraries()
    if not name:
        raise UsageError(
            "The recipe does not say which model to begin with.",
            "Write model: with a folder or a name of the hub.",
        )
    path = place_of(name).path
    set_threads(0)
    check_device(settings.device or best_device())
    check_folder(path, allow_pickle=settings.allow_pickle)
    with quiet(), explained(name, allow_pickle=settings.allow_pickle):
        make = _make_of(transformers.AutoConfig.from_pretrained(path), name)
        torch.manual_seed(weights_seed)
        model, report = getattr(transformers, make.maker).from_pretrained(
            path,
            dtype=torch.float32,
            use_safetensors=None if settings.allow_pickle else True,
            output_loading_info=True,
            **{**make.config, **settings.config},
        )
        _check_weights(name, model, report["missing_keys"], make)
        processor = None if make.sees_regions else load_processor(path)
        tokenizer = processor.tokenizer if processor else load_tokenizer(path)
    model = model.to(settings.device or best_device())
    show = _show(name, model, processor, settings)

    return Looker(model, tokenizer, show, make.output, processor)


def _make_of(config: Any, name: str) -> Make:
    if config.model_type not in MAKES:
        raise UsageError(
            f"{name} is a {config.model_type}, which cannot be trained to look.",
            f"Choose one of these types: {', '.join(MAKES)}.",
        )
    return MAKES[config.model_type]


def _check_weights(name: str, model: Any, missing: Any, make: Make) -> None:
    """Refuse a model that lacks weights other than those of its new head."""
    absent = []
    for key, _ in model.named_parameters():
        is_new = bool(make.head) and key.startswith(make.head)
        if key in missing and not is_new:
            absent.append(key)
    if absent:
        raise ModelError(
            f"{name} has no weights for {absent[0]} and {len(absent) - 1} others.",
            "Give a model of the same type that was pretrained.",
        )


def _show(name: str, model: Any, processor: Any, settings: LookSettings) -> Show:
    if processor is not None:
        return Pixels(processor.image_processor, like_paper=settings.like_paper)
    if not settings.regions:
        raise UsageError(
            f"{name} sees regions of pictures, which a detector must have found before.",
            "Say where their features are: --set regions=PATH",
        )
    boxed = hasattr(model.config, "visual_pos_dim")
    size = model.config.visual_feat_dim if boxed else model.config.visual_embedding_dim
    return RegionRows(open_regions(settings.regions), int(size), boxed=boxed)
