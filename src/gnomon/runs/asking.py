"""A batch put to a model: one bad item spoils no other, and too large a batch is halved."""

from __future__ import annotations

import time
from collections.abc import Sequence

import msgspec

from gnomon.contracts import Model
from gnomon.errors import GnomonError, ModelError
from gnomon.records import Answer, Item
from gnomon.runs.batches import Numbered, default_size, halves

NO_ITEM: Numbered = (-1, Item(id="", form="choice", text=""))  # that no answer can be to
BUDGET, BATCH = 16_384, 64  # tokens and items in a batch, unless the model says otherwise


class Asker:
    """Asks a model batch by batch; `blind` keeps the pictures of items from it.

    It finds the item that fails, and halves the batch when memory runs out.
    """

    def __init__(self, model: Model, *, blind: bool = False) -> None:
        self._answer = model.answer
        self._blind = blind
        self.size = getattr(model, "size", default_size)
        self.budget = int(getattr(model, "budget", BUDGET))
        self.batch = int(getattr(model, "batch", BATCH))

    def ask(self, batch: Sequence[Numbered]) -> list[tuple[int, Answer]]:
        """The answers to a batch with the numbers of their items.

        An item that fails alone is answered with its error.
        """
        items = [item for _, item in batch]
        if self._blind:
            items = [msgspec.structs.replace(item, images=()) for item in items]
        began = time.perf_counter()
        try:
            answers = list(self._answer(items))
        except (GnomonError, KeyboardInterrupt, SystemExit):
            raise
        except Exception as error:  # a model is a stranger's code and may fail in any way
            if len(batch) == 1:
                number, item = batch[0]
                return [(number, Answer(item=item.id, error=_reason(error)))]
            if _out_of_memory(error):
                self.batch = max(1, len(batch) // 2)
            found = []
            for half in halves(batch):
                found += self.ask(half)
            return found
        seconds = (time.perf_counter() - began) / len(batch)
        asked = _in_order(batch, answers)
        return [
            (number, _sound(item, answer, seconds))
            for (number, item), answer in zip(asked, answers, strict=True)
        ]


def _in_order(batch: Sequence[Numbered], answers: Sequence[Answer]) -> list[Numbered]:
    """For each answer the item that it is to.

    Each item must be answered, in order; several answers to one are numbered 0, 1, 2 ...
    """
    asked: list[Numbered] = []
    coming = iter(batch)
    for answer in answers:
        if answer.sample == 0:
            asked.append(next(coming, NO_ITEM))
            sample = 0
        elif asked and answer.sample == sample + 1:
            asked.append(asked[-1])
            sample += 1
        else:
            asked.append(NO_ITEM)
        if asked[-1][1].id != answer.item:
            raise _out_of_order()
    if next(coming, None) is not None:
        raise _out_of_order()
    return asked


def _out_of_order() -> ModelError:
    return ModelError(
        "The model did not give one answer for each item in order.",
        "This is a fault of the model's code: see gnomon.contracts.Model.",
    )


def _sound(item: Item, answer: Answer, seconds: float) -> Answer:
    """The answer as it is logged: how long it took, and no choice that the item does not have."""
    if answer.choice is not None and answer.choice not in item.choices:
        return Answer(
            item=item.id,
            sample=answer.sample,
            reply=answer.reply,
            seconds=seconds,
            error=f"picked {answer.choice!r}, which is not a choice",
        )
    if answer.seconds is None:
        return msgspec.structs.replace(answer, seconds=seconds)
    return answer


def _out_of_memory(error: Exception) -> bool:
    return (
        isinstance(error, MemoryError)
        or "OutOfMemory" in type(error).__name__
        or "out of memory" in str(error).lower()
    )


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}"[:500] if text else type(error).__name__
