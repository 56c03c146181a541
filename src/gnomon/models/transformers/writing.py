"""Replies of a model that sees: prompts of one length with pictures of one shape are one pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gnomon.models.choices import ModelReply, take
from gnomon.models.transformers.generating import BATCH, generate
from gnomon.models.transformers.looking import Looking, shape_of
from gnomon.models.transformers.showing import ShownPictures


def write_seeing(
    model: Any,
    tokenizer: Any,
    looking: Looking,
    prompts: Sequence[Sequence[int]],
    shown: Sequence[ShownPictures],
    new_tokens: int,
) -> list[ModelReply]:
    """A reply to each prompt, with the pictures that are shown with it."""
    looking.look(shown)
    alike: dict[tuple[Any, ...], list[int]] = {}
    for number, (prompt, pictures) in enumerate(zip(prompts, shown, strict=True)):
        alike.setdefault((len(prompt), shape_of(pictures)), []).append(number)

    replies = [ModelReply("", 0)] * len(prompts)
    for numbers in alike.values():
        for start in range(0, len(numbers), BATCH):
            some = numbers[start : start + BATCH]
            writing = Writing(model, looking, take(shown, some))
            found = generate(writing, tokenizer, take(prompts, some), new_tokens=new_tokens)
            for number, reply in zip(some, found, strict=True):
                replies[number] = reply
    return replies


class Writing:
    """A model that writes with pictures before it, one entry for each prompt of a pass."""

    def __init__(self, model: Any, looking: Looking, shown: Sequence[ShownPictures]) -> None:
        self._model, self._looking, self._shown = model, looking, shown

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def generate(self, **inputs: Any) -> Any:
        """What the model itself generates."""
        rows = inputs.pop("input_ids")
        own = self._shown[0].token_inputs(rows.tolist(), rows.device)
        return self._model.generate(**inputs, **own, **self._looking.inputs(self._shown))
