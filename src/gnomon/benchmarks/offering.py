"""How many words are offered for the same fact: right among two, wrong among three.

A fact is asked once for each number of options. Those of a smaller number are among those of a
larger one, and stand in the same order, so that nothing but the further words differs.
"""

from collections.abc import Iterable, Iterator, Sequence
from random import Random

from msgspec.structs import replace

from gnomon.errors import UsageError
from gnomon.records import Item

MOST_OPTIONS = 20


def numbers(text: str, what: str, least: int, most: int) -> list[int]:
    """The numbers of a range such as 2-5, or one number."""
    first, _, last = text.partition("-")
    if first.isdecimal() and (last or first).isdecimal():
        found = list(range(int(first), int(last or first) + 1))
        if found and least <= found[0] and found[-1] <= most:
            return found
    raise UsageError(
        f"'{text}' is no number or range of {what} from {least} to {most}.",
        f"Write --set {what}=2 or --set {what}=2-4.",
    )


def option_counts(options: str) -> list[int]:
    """How many words to offer, each number once; empty for all that there are."""
    return numbers(options, "options", 2, MOST_OPTIONS) if options else []


def offered(items: Iterable[Item], options: str) -> Iterator[Item]:
    """Each item once for each number of options, of which one is right; as they are without any."""
    counts = option_counts(options)
    for item in items:
        if not counts:
            yield item
        else:
            yield from _offers(item, counts)


def _offers(item: Item, counts: Sequence[int]) -> Iterator[Item]:
    draw = Random(f"{item.id}/options")
    wrong = [word for word in item.choices if word not in item.gold]
    if len(wrong) + 1 < counts[-1]:
        raise UsageError(
            f"Item '{item.id}' has {len(item.choices)} words to choose from, of which "
            f"{len(item.gold)} are right: {counts[-1]} cannot be offered.",
            "Give fewer: --set options=2, or a range such as 2-3.",
        )
    right = draw.choice(item.gold)
    draw.shuffle(wrong)
    for count in counts:
        among = {right, *wrong[: count - 1]}
        yield replace(
            item,
            id=f"{item.id}/{count}",
            choices=tuple(word for word in item.choices if word in among),
            gold=(right,),
            tags={**item.tags, "options": str(count), "fact": item.tags.get("fact", item.id)},
        )
