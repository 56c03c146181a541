"""Items in batches by token budget, and a batch put to a model: one bad item spoils no other.

Items with the same pictures stand together, then those of like length, so that padding is small,
with shared beginnings adjacent. A batch that is too large for the memory is halved.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import msgspec

from gnomon.contracts import Model
from gnomon.errors import GnomonError, ModelError
from gnomon.forms import is_written
from gnomon.records import Answer, Item

Numbered = tuple[int, Item]


def default_size(item: Item) -> int:
    """Tokens in an item, roughly: a quarter of its characters."""
    return 1 + (len(item.context) + len(item.text)) // 4


def in_batches(
    items: Sequence[Numbered], size: Callable[[Item], int], budget: int, most: int
) -> Iterator[list[Numbered]]:
    """Split items into batches of at most `most` items and `budget` tokens."""
    sizes = [size(item) for _, item in items]
    return in_sized_batches(items, sizes, budget, most)


def in_sized_batches(
    items: Sequence[Numbered], sizes: Sequence[int], budget: int, most: int
) -> Iterator[list[Numbered]]:
    """The same for items whose sizes are known.

    Each item counts as long as the longest of its batch.

    Within a window the items are sorted by their pictures, so that each is looked at once, then by
    length, in steps of a quarter, then by their beginnings. An item that is larger than the budget
    comes alone.
    """
    sized = [
        (_pictures(item), _step(tokens), item.context, item.text, tokens, n, item)
        for (n, item), tokens in zip(items, sizes, strict=True)
    ]
    sized.sort(key=lambda row: row[:4])
    batch: list[Numbered] = []
    longest = 0
    for *_, tokens, n, item in sized:
        longest = max(longest, tokens)
        if batch and (len(batch) == most or longest * (len(batch) + 1) > budget):
            yield batch
            batch, longest = [], tokens
        batch.append((n, item))
    if batch:
        yield batch


def _pictures(item: Item) -> tuple[str, ...]:
    """Which pictures an item shows."""
    if not item.images:
        return ()
    return tuple(image.identity for image in item.images)


def halves(batch: Sequence[Numbered]) -> list[Sequence[Numbered]]:
    """A batch in two parts, of sizes that differ by at most one."""
    cuts = [0, (len(batch) + 1) // 2, len(batch)]
    return [batch[a:b] for a, b in pairwise(cuts)]


def _step(tokens: int) -> int:
    """The step that a length falls into: 1, 2, 3, 4, 5, 6-7, 8-9, 10-12 ...

    Lengths of one step differ by less than a quarter.
    """
    return tokens if tokens < 4 else 4 * tokens.bit_length() + (tokens >> (tokens.bit_length() - 3))


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
    chosen = answer.choice is not None and not is_written(item)
    if chosen and answer.choice not in item.choices:
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
