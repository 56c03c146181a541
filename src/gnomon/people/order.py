"""The order in which one person meets the items: shuffled by name and seed, the same every time.

Beside the items there may be repeats, which measure self-agreement, and catch items with a known
answer, which measure attention. A person cannot tell them from the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Literal, NamedTuple

import msgspec

from gnomon.errors import UsageError
from gnomon.people.tasks import Option, Task, question_of
from gnomon.records import Item

SlotKind = Literal["item", "repeat", "catch"]
INSTRUCTED = "This is to see whether items are read: please choose “{label}”."


class Slot(NamedTuple):
    """One place in a person's order."""

    key: str  # names the slot whatever its place: item/3, repeat/3, catch/0
    kind: SlotKind
    number: int  # of the item in the run, or of the catch item
    item: Item


def slots_for(
    person: str,
    items: Sequence[Item],
    *,
    seed: int = 0,
    repeat: int = 0,
    catch: Sequence[Item] = (),
) -> tuple[Slot, ...]:
    """All slots of a person, in order. A repeat comes at least half the set after its item.

    >>> item = Item(id="1", form="choice", text="?", choices=("no", "yes"))
    >>> [slot.key for slot in slots_for("ann", [item], repeat=1)]
    ['item/0', 'repeat/0']
    """
    draw = Random(f"{seed}\0{person}")
    total = len(items)
    numbers = list(range(total))
    draw.shuffle(numbers)

    placed: list[tuple[float, Slot]] = []
    for place, number in enumerate(numbers):
        placed.append((place, Slot(f"item/{number}", "item", number, items[number])))
    early = numbers[: most_repeats(total)]
    for number in draw.sample(early, min(repeat, len(early))):
        where = draw.uniform(numbers.index(number) + total / 2, total)
        placed.append((where, Slot(f"repeat/{number}", "repeat", number, items[number])))
    for number, item in enumerate(catch):
        where = draw.uniform(0, total)
        placed.append((where, Slot(f"catch/{number}", "catch", number, item)))

    placed.sort(key=lambda pair: pair[0])
    return tuple(slot for _, slot in placed)


def most_repeats(items: int) -> int:
    """How many items can come twice, at least half the set apart: those of the first half."""
    return (items + 1) // 2


def instructed(task: Task, items: Sequence[Item], count: int, seed: int = 0) -> list[Item]:
    """Catch items that say which answer to choose, on the pattern of some of the items."""
    if task.kind not in ("choose", "scale", "validate"):
        raise UsageError(
            f"Catch items of the task {task.kind} cannot be made up.",
            "Give a file of items with known answers: --catch FILE.jsonl",
        )
    draw = Random(f"{seed}\0catch")
    found = []
    for number in range(count):
        pattern = draw.choice(items)
        option = draw.choice(_telling_options(task, pattern))
        asked = msgspec.structs.replace(
            pattern,
            id=f"catch/{number}",
            text=INSTRUCTED.format(label=option.label),
            context="",
            gold=(_choice_of(task, option),),
        )
        found.append(asked)
    return found


def _telling_options(task: Task, item: Item) -> list[Option]:
    """The options that stand for a choice: to ask for "makes no sense" would be odd."""
    options = question_of(task, item).parts[0].options
    return [option for option in options if _choice_of(task, option)]


def _choice_of(task: Task, option: Option) -> str:
    return task.points[option.value].choice if task.points else option.value
