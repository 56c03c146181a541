"""What a model makes of pictures: computed once, kept, and put where their tokens stand.

Models whose `forward` takes `mm_encoder_outputs` are given what they made of a picture before; the
others are given its pixels each time.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import torch

from gnomon.grouped import grouped
from gnomon.keep import KeptTensors, TensorKeep
from gnomon.models.transformers.showing import Shown

Tensors = tuple[torch.Tensor, ...]
PIXELS = "pixel"  # how the names of inputs begin that nothing but the part that sees wants
AT_ONCE = 16  # pictures that a model looks at in one pass


class Made(NamedTuple):
    """What a model made of pictures that are shown together."""

    pictures: Tensors  # one for each, or one for all (`stacked`)
    stacked: bool
    layers: tuple[Tensors, ...] = ()  # for each layer that is given some of its own


class Looking:
    """Looks at pictures with a model, or remembers what it saw."""

    def __init__(self, model: Any, store: TensorKeep | None = None) -> None:
        self.model, self.store = model, store
        self.device = next(model.parameters()).device
        self._look: Any = getattr(model.base_model, "get_image_features", None)
        takes = inspect.signature(model.forward).parameters
        self.remembers = self._look is not None and "mm_encoder_outputs" in takes

    def look(self, many: Sequence[Shown]) -> None:
        """See to it that the model has looked at each, where it can remember what it saw."""
        if not self.remembers:
            return
        new = [each for each in dict.fromkeys(many) if each.tensors and each.features is None]
        for fresh in grouped(new, shape_of).values():
            for start in range(0, len(fresh), AT_ONCE):
                self._look_at(fresh[start : start + AT_ONCE])

    def inputs(self, many: Sequence[Shown]) -> dict[str, Any]:
        """What the model must be given for pictures that are alike, one entry for each row."""
        found: dict[str, Any] = {}
        for name in many[0].tensors:
            found[name] = self._joined(name, many)
        if many[0].features is not None:
            found["mm_encoder_outputs"] = {"image": _join([shown.features for shown in many])}
        return found

    def remember(self, key: str) -> Shown | None:
        """Pictures at which the model looked in an earlier run; none if it did not."""
        if self.store is None or not self.remembers:
            return None
        entry = self.store.read(key)
        if entry is None:
            return None
        try:
            return _shown(entry, self.device)
        except (KeyError, ValueError):  # an entry of another shape: it is made again
            return None

    def _look_at(self, many: Sequence[Shown]) -> None:
        wanted = inspect.signature(self._look).parameters
        given = [name for name in many[0].tensors if name in wanted]
        inputs = {name: self._joined(name, many) for name in given}
        with torch.inference_mode():
            seen = self._look(**inputs, return_dict=True)
        for shown, made in zip(many, _split(seen, len(many)), strict=True):
            shown.features = made
            for name in list(shown.tensors):
                if name.startswith(PIXELS):
                    del shown.tensors[name]
            if self.store is not None and shown.key:
                self.store.write(shown.key, _entry(shown))

    def _joined(self, name: str, many: Sequence[Shown]) -> torch.Tensor:
        joined = torch.cat([shown.tensors[name] for shown in many]).to(self.device)
        return joined.to(self.model.dtype) if joined.is_floating_point() else joined


def shape_of(shown: Shown) -> tuple[Any, ...]:
    """What must be equal for pictures to go into one pass."""
    shapes: list[Any] = [(name, *value.shape) for name, value in sorted(shown.tensors.items())]
    if shown.features is not None:
        shapes += [tuple(each.shape) for each in shown.features.pictures]
    return tuple(shapes)


def _split(seen: Any, count: int) -> Iterator[Made]:
    """What a model made of pictures of one shape, for each."""
    whole = seen.pooler_output
    layers = getattr(seen, "deepstack_features", None) or ()
    stacked = isinstance(whole, torch.Tensor)
    share = len(whole) // count
    for number in range(count):
        own = slice(number * share, (number + 1) * share)
        pictures = (whole[own],) if stacked else tuple(whole[own])
        yield Made(pictures, stacked, tuple(tuple(layer[own]) for layer in layers))


def _join(many: Sequence[Made]) -> Any:
    """What a model made of several pictures, as it would have given it."""
    pictures: list[torch.Tensor] = []
    layers: list[list[torch.Tensor]] = [[] for _ in many[0].layers]
    for made in many:
        pictures += made.pictures
        for layer, parts in zip(layers, made.layers, strict=True):
            layer += parts
    return SimpleNamespace(
        pooler_output=torch.cat(pictures) if many[0].stacked else pictures,
        deepstack_features=layers or None,
    )


def _entry(shown: Shown) -> KeptTensors:
    """Pictures as they are kept on disk."""
    tensors = {f"given.{name}": value for name, value in shown.tensors.items()}
    for place, picture in enumerate(shown.features.pictures):
        tensors[f"picture.{place}"] = picture
    for layer, parts in enumerate(shown.features.layers):
        for place, part in enumerate(parts):
            tensors[f"layer.{layer}.{place}"] = part
    texts = {
        "before": shown.before,
        "after": shown.after,
        "types": json.dumps(shown.types),
        "stacked": json.dumps(shown.features.stacked),
    }
    return KeptTensors(tensors, texts)


def _shown(entry: KeptTensors, device: torch.device) -> Shown:
    given: dict[str, torch.Tensor] = {}
    pictures: dict[int, torch.Tensor] = {}
    layers: dict[int, dict[int, torch.Tensor]] = {}
    for name, value in entry.tensors.items():
        what, _, rest = name.partition(".")
        if what == "given":
            given[rest] = value
        elif what == "picture":
            pictures[int(rest)] = value.to(device)
        else:
            layer, _, place = rest.partition(".")
            layers.setdefault(int(layer), {})[int(place)] = value.to(device)
    made = Made(
        _in_order(pictures),
        bool(json.loads(entry.texts["stacked"])),
        tuple(_in_order(layers[layer]) for layer in sorted(layers)),
    )
    types = {}
    for name, found in json.loads(entry.texts["types"]).items():
        types[name] = {int(token): kind for token, kind in found.items()}
    return Shown(entry.texts["before"], entry.texts["after"], given, types, made)


def _in_order(parts: dict[int, torch.Tensor]) -> Tensors:
    return tuple(parts[place] for place in sorted(parts))
