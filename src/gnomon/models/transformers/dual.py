"""Dual encoders (CLIP, SigLIP): a text and a picture are encoded apart, and compared by similarity.

Every text and every picture is encoded once in a run, as far as a bounded memory reaches; pictures
once for all runs, as far as the cache of features does.
"""

import json
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

import torch

from gnomon.downloads.catalogue import cache_folder
from gnomon.errors import DataError
from gnomon.grouped import chunks
from gnomon.keep import KeptTensors, TensorKeep
from gnomon.keep import key_of as cache_key
from gnomon.models.choices import alike, take
from gnomon.models.comparison import TextPair, Written
from gnomon.models.transformers.loading import longest_text, on_cpu
from gnomon.models.transformers.tokens import surrounding_tokens, written
from gnomon.records import Image
from gnomon.vision.images import Pixels, Prepared, decode_bytes, file_of, pixels, see, stored


def tensor_of(picture: Pixels, image: Image, image_processor: Any) -> Any:
    """What a model is shown of a picture: channels, rows and columns."""
    try:
        made = image_processor(images=picture, return_tensors="pt")
    except (ValueError, ZeroDivisionError) as error:  # a strip too narrow to be resized
        size = f"{picture.width} x {picture.height}"
        reason = " ".join(str(error).split())[:120]
        raise DataError(
            f"a picture of {size} pixels does not fit the model: {reason}",
            "Crop the picture.",
            file=image.path,
        ) from error
    return made["pixel_values"][0]


def prepared(images: Sequence[Image], image_processor: Any) -> Iterator[tuple[str, Prepared[Any]]]:
    """The key of each picture and what the model is shown of it, or why it cannot be shown."""

    def make(image: Image) -> Any:
        return tensor_of(pixels(image), image, image_processor)

    for image, found in zip(images, see(images, make), strict=True):
        yield image.identity, found


def pictures_in_a_pass(model: Any) -> int:
    """How many pictures are computed at once: few fill a CPU."""
    return 8 if on_cpu(model) else 64


def shape_of(tensor: Any) -> tuple[int, ...]:
    """The size of a tensor."""
    return tuple(tensor.shape)


MEMORY = 64 * 2**20  # bytes of features of each sort that are at hand
TEXTS_IN_A_PASS = 64


class Memory:
    """Features that are at hand; what was used least recently is forgotten first."""

    def __init__(self, most_bytes: int = MEMORY) -> None:
        self.most_bytes = most_bytes
        self._bytes = 0
        self._kept: OrderedDict[str, Any] = OrderedDict()

    def __contains__(self, key: str) -> bool:
        return key in self._kept

    def get(self, key: str) -> Any:
        """The features that are kept under a key."""
        self._kept.move_to_end(key)
        return self._kept[key]

    def keep(self, key: str, features: Any) -> None:
        """Keep features, and forget others if there are too many."""
        self._kept[key] = features
        self._bytes += features.nbytes
        while self._bytes > self.most_bytes and len(self._kept) > 1:
            _, gone = self._kept.popitem(last=False)
            self._bytes -= gone.nbytes


class Sight(NamedTuple):
    """A picture that is to be encoded, or whose features the cache knows."""

    name: str  # in the cache
    pixels: Any = None
    features: Any = None


class DualEncoder:
    """The similarity of texts and pictures, scaled as the model was trained.

    SigLIP was trained to tell matches from others one by one, so its similarity is the log-odds of
    a probability. CLIP was trained to choose among texts.
    """

    pictures = 1
    asks = False
    usual_contrast = "opposite"
    batch = 128

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        processor: Any,
        *,
        about: Mapping[str, Any] | None = None,
        most_kept: int = 0,
    ) -> None:
        self.model, self.tokenizer = model, tokenizer
        self.image_processor = processor.image_processor
        self.probable = hasattr(model, "logit_bias")
        self.longest = longest_text(model, tokenizer)
        self.in_a_pass = pictures_in_a_pass(model)
        self.scale = float(model.logit_scale.detach().exp())
        self.bias = float(model.logit_bias.detach()) if self.probable else 0.0
        self._texts = Memory()
        self._pictures = Memory()
        self._made_by = _made_by(about or {})
        self._cache = TensorKeep(cache_folder() / "features", most_kept)

    def describe(self) -> dict[str, Any]:
        """What determines its numbers."""
        return {"scaled_by": round(self.scale, 6), "bias": round(self.bias, 6)}

    def look(self, images: Sequence[Image]) -> dict[str, Prepared[Any]]:
        """The features of each picture."""
        found: dict[str, Prepared[Any]] = {}
        new: list[Image] = []
        for image in images:
            key = image.identity
            if key in self._pictures:
                found[key] = Prepared(self._pictures.get(key))
            else:
                new.append(image)
        for key, seen in self._encoded_pictures(new):
            found[key] = seen
            if seen.made is not None:
                self._pictures.keep(key, seen.made)
        return found

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """The tokens of each text."""
        return list(map(len, self.tokenizer(list(texts))["input_ids"]))

    def written(self, texts: Sequence[str]) -> list[Written]:
        """Each text as it is read; what fills it up to a length is left out."""
        return written(self.tokenizer, texts)

    def around(self) -> dict[str, Any]:
        """What stands around each text."""
        return surrounding_tokens(self.tokenizer)

    def cannot_answer(self, answer: str) -> str:
        """Nothing is asked, so nothing is answered."""
        return ""

    def odds(self, pairs: Sequence[TextPair], seen: Mapping[str, Prepared[Any]]) -> list[float]:
        """The scaled similarity of each text and its picture."""
        texts = self._text_features({pair.text for pair in pairs})
        found = []
        for text, (picture,), _ in pairs:
            similarity = float(texts[text] @ seen[picture].made)
            found.append(self.scale * similarity + self.bias)
        return found

    def _encoded_pictures(self, images: Sequence[Image]) -> Iterator[tuple[str, Prepared[Any]]]:
        """The features of pictures, computed while the next ones are read."""
        waiting: list[tuple[str, Sight]] = []
        for image, seen in zip(images, see(images, self._sight), strict=True):
            key = image.identity
            if seen.made is None:
                yield key, Prepared(None, seen.trouble)
            elif seen.made.features is not None:
                yield key, Prepared(_unit(seen.made.features))
            else:
                waiting.append((key, seen.made))
            if len(waiting) == self.in_a_pass:
                yield from self._picture_features(waiting)
                waiting = []
        yield from self._picture_features(waiting)

    def _sight(self, image: Image) -> Sight:
        """A picture's features out of the cache, else its pixels."""
        content = stored(image)
        name = cache_key(self._made_by, image.sha256 or sha256(content).hexdigest())
        if self._keeps:
            entry = self._cache.read(name)
            if entry and "features" in entry.tensors:
                return Sight(name, features=entry.tensors["features"])
        picture = decode_bytes(content, file_of(image))
        return Sight(name, pixels=tensor_of(picture, image, self.image_processor))

    def _picture_features(
        self, sights: Sequence[tuple[str, Sight]]
    ) -> Iterator[tuple[str, Prepared[Any]]]:
        shapes = [shape_of(sight.pixels) for _, sight in sights]
        for numbers in alike(shapes, self.in_a_pass):
            part = take(sights, numbers)
            pixels = torch.stack([sight.pixels for _, sight in part])
            with torch.inference_mode():
                made = self.model.get_image_features(pixels.to(self.model.device, self.model.dtype))
            for (key, sight), row in zip(part, _pooled(made), strict=True):
                if self._keeps:
                    self._cache.write(sight.name, KeptTensors({"features": row}, {}))
                yield key, Prepared(_unit(row))

    @property
    def _keeps(self) -> bool:
        """Whether features are kept on disk: there is room, and the weights have a name."""
        return bool(self._cache.most_bytes and self._made_by)

    def _text_features(self, texts: set[str]) -> dict[str, Any]:
        found = {text: self._texts.get(text) for text in texts if text in self._texts}
        new = sorted(texts - found.keys(), key=lambda text: (len(text), text))
        for part in chunks(new, TEXTS_IN_A_PASS):
            with torch.inference_mode():
                made = self.model.get_text_features(**self._encoded(part))
            for text, row in zip(part, _pooled(made), strict=True):
                found[text] = _unit(row)
                self._texts.keep(text, found[text])
        return found

    def _encoded(self, texts: list[str]) -> dict[str, Any]:
        """Texts as tokens; SigLIP was trained on texts of full length, whose padding it reads."""
        if self.probable:
            full = {"padding": "max_length", "max_length": self.longest}
            inputs = self.tokenizer(texts, return_tensors="pt", **full)
            return {"input_ids": inputs["input_ids"].to(self.model.device)}
        inputs = self.tokenizer(texts, padding=True, return_tensors="pt").to(self.model.device)
        return {name: inputs[name] for name in ("input_ids", "attention_mask")}


def _made_by(about: Mapping[str, Any]) -> str:
    """What decides the features of a picture, beside the picture; empty if it cannot be named."""
    if not about.get("revision"):
        return ""
    names = ("architecture", "revision", "dtype", "quantise", "image_processor", "transformers")
    return json.dumps({name: about.get(name) for name in names}, sort_keys=True, default=str)


def _pooled(output: Any) -> Any:
    """The rows of features, which newer versions of transformers give as a part of an output."""
    return getattr(output, "pooler_output", output).float().cpu()


def _unit(features: Any) -> Any:
    """Features of length one, as 64-bit numbers, so that their products add no noise."""
    exact = features.double()
    return exact / exact.norm()
