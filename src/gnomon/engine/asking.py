"""A batch put to a model: one bad item does not spoil the others, and a batch too large for memory
is halved."""

from __future__ import annotations

from collections.abc import Sequence

from gnomon.contracts import Model
from gnomon.engine.batches import Numbered, default_size, halves
from gnomon.errors import GnomonError, ModelError
from gnomon.records import Answer

BUDGET, BATCH = 16_384, 64  # tokens and items in a batch, unless the model says otherwise


class Asker:
    """Asks a model batch by batch: finds the item that fails, and halves the batch when memory runs
    out."""

    def __init__(self, model: Model) -> None:
        self._answer = model.answer
        self.size = getattr(model, "size", default_size)
        self.budget = int(getattr(model, "budget", BUDGET))
        self.batch = int(getattr(model, "batch", BATCH))

    def ask(self, batch: Sequence[Numbered]) -> list[Answer]:
        """One answer for each item; an item that fails alone is answered with its error."""
        items = [item for _, item in batch]
        try:
            answers = list(self._answer(items))
        except (GnomonError, KeyboardInterrupt, SystemExit):
            raise
        except Exception as error:
            if len(batch) == 1:
                return [Answer(item=items[0].id, error=_reason(error))]
            if _out_of_memory(error):
                self.batch = max(1, len(batch) // 2)
            return [answer for half in halves(batch) for answer in self.ask(half)]
        if [answer.item for answer in answers] != [item.id for item in items]:
            raise ModelError(
                "The model did not give one answer for each item in order.",
                "This is a fault of the model's code: see gnomon.contracts.Model.",
            )
        return [
            answer
            if answer.choice is None or answer.choice in item.choices
            else Answer(
                item=item.id,
                reply=answer.reply,
                error=f"picked {answer.choice!r}, which is not a choice",
            )
            for item, answer in zip(items, answers, strict=True)
        ]


def _out_of_memory(error: Exception) -> bool:
    return (
        isinstance(error, MemoryError)
        or "OutOfMemory" in type(error).__name__
        or "out of memory" in str(error).lower()
    )


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}"[:500] if text else type(error).__name__
