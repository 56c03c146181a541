"""The tokenizer and the processor that belong to a model: one that knows words, one that sees.

transformers chooses the class of a tokenizer by the kind of model. Some models were trained with
another one (many Korean and Chinese ALBERTs use BERT's), and then it makes, without a word, a
tokenizer to which every text is unknown. Many processors also take videos, for which transformers
needs torchvision. Where that is absent, the same class is made without its video part: still
pictures do not need it.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from importlib.util import find_spec
from typing import Any

from gnomon.errors import MissingExtraError, ModelError

# of a processor whose video part is absent
FAULTS = (AttributeError, ImportError, RecursionError, ValueError)
# what a setting may be to stand in a manifest
PLAIN = (bool, int, float, str, list, tuple, dict)
# settings of image processors that say how they are called, not what comes out
UNIMPORTANT = frozenset(
    """_processor_class auto_map device disable_grouping image_processor_type input_data_format
    processor_class return_tensors""".split()
)


def load_processor(name: str, **source: Any) -> Any:
    """The processor of a hub name or folder, for still pictures at least."""
    import transformers

    if find_spec("PIL") is None:
        raise MissingExtraError("A model that sees", "vision")
    try:
        processor = transformers.AutoProcessor.from_pretrained(name, **source)
    except FAULTS:
        found = _class_of(name, **source)
        if found is None:
            raise
        try:
            with _counts_spelt_out(found):
                processor = still(found).from_pretrained(name, **source)
        except FAULTS as trouble:
            raise trouble from None  # pictures alone fail, too: it is not for want of videos

    if not hasattr(processor, "image_processor"):
        raise ModelError(
            f"{name} has no image processor, so no picture can be shown to it.",
            "Put its preprocessor_config.json and processor_config.json next to its weights.",
        )
    return processor


def still(whole: Any) -> Any:
    """A class of processor without its parts for videos and sounds."""
    parts = whole.get_attributes()

    class Still(whole):  # type: ignore[misc]
        """As the class that it is made of, for pictures alone."""

        @classmethod
        def _load_part(cls, part: str, name: str, source: dict[str, Any]) -> Any:
            import transformers

            if part in ("image_processor", "video_processor"):  # the latter only has sizes to say
                return transformers.AutoImageProcessor.from_pretrained(name, **source)
            if "tokenizer" in part:
                return cls._load_tokenizer_from_pretrained(part, name, **source)
            return None  # for sounds

        @classmethod
        def _get_arguments_from_pretrained(
            cls, name: str, processor_dict: Any = None, **source: Any
        ) -> list[Any]:
            return [cls._load_part(part, name, source) for part in parts]

        def check_argument_for_proper_class(self, part: str, given: Any) -> Any:
            if given is None or part == "video_processor":
                return None
            return super().check_argument_for_proper_class(part, given)

    Still.__name__ = whole.__name__
    return Still


def image_settings(processor: Any) -> dict[str, Any]:
    """What the image processor is and does, for the manifest.

    Implementations of the same processor resize in different ways, so its class counts, too.
    """
    pictures = processor.image_processor
    found: dict[str, Any] = {"class": type(pictures).__name__}
    for setting, value in sorted(pictures.to_dict().items()):
        if isinstance(value, Enum):  # how it resamples
            found[setting] = value.name.lower()
        elif setting not in UNIMPORTANT and isinstance(value, PLAIN):
            found[setting] = json.loads(json.dumps(value, default=str))  # as a manifest holds it
    return found


def _class_of(name: str, **source: Any) -> Any:
    """The class of processor that belongs to a model, by its files or by its kind of config."""
    import transformers
    from transformers.models.auto.processing_auto import PROCESSOR_MAPPING

    written, _ = transformers.ProcessorMixin.get_processor_dict(
        name, revision=source.get("revision")
    )
    named = written.get("processor_class", "")
    if named and hasattr(transformers, named):
        return getattr(transformers, named)
    config = transformers.AutoConfig.from_pretrained(name, **source)
    try:
        return PROCESSOR_MAPPING[type(config)]
    except KeyError:
        return None


@contextmanager
def _counts_spelt_out(whole: Any) -> Iterator[None]:
    """While inside, a processor that spells out how many frames a video has may lack the speller.

    SmolVLM asks for the package num2words even where there is no video.
    """
    module: Any = sys.modules.get(whole.__module__)
    if getattr(module, "num2words", str) is not None:
        yield
        return
    module.num2words = str
    try:
        yield
    finally:
        module.num2words = None


# --- the tokenizer that belongs to a model: one that knows words, not only its special tokens ----


def load_tokenizer(name: str, **source: Any) -> Any:
    """The tokenizer of a hub name or folder: as transformers finds it, else BERT's."""
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(name, **source)
    if knows_words(tokenizer):
        return tokenizer
    other = transformers.BertTokenizerFast.from_pretrained(name, **source)
    if knows_words(other):
        return other
    raise ModelError(
        f"The tokenizer of {name} knows no words: all text would be the same to it.",
        "Put the files of its own tokenizer (tokenizer.json, vocab.txt ...) next to its weights.",
    )


def knows_words(tokenizer: Any) -> bool:
    """Whether there is anything in its vocabulary but special tokens."""
    return len(tokenizer) > len(set(tokenizer.all_special_tokens))
