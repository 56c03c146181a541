"""Fresh elevations for ViPhy's questions, from the heights at which things are in a room.

Items come in towers: two things at one height, two at a clearly lower one and two at a clearly
higher one, in one room. A tower asks of its three level pairs and of six others, both ways round:
every label is right equally often, and nothing that is asked about is always above or below.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from random import Random
from typing import NamedTuple

from gnomon.benchmarks.viphy.files import Comparison
from gnomon.benchmarks.viphy.items import pair_item, prompt_of, types, with_levels
from gnomon.benchmarks.viphy.order import Pair
from gnomon.errors import UsageError
from gnomon.files import package_data, read_yaml
from gnomon.records import Item

Span = Sequence[float]  # lowest and highest point
Things = Mapping[str, Span]
Placed = tuple[str, Pair]  # a room, and two of its things
# Centimetres between the top of one thing and the foot of another that is clearly higher.
GAP = 25
# Centimetres: level things stand on one surface (or hang from one), and are about equally tall.
SAME_SURFACE = 2
SAME_EXTENT = 12
MOST_USES = 12  # towers of a room that one of its things may be in
LEAN = 4  # by how many pairs the longer name may be the higher one more often than the lower one
SMALL_WORDS = {"of"}


class Tower(NamedTuple):
    """Three pairs of level things, each clearly higher than the next."""

    room: str
    high: Pair
    middle: Pair
    low: Pair


class Question(NamedTuple):
    """A thing, another that is level with it or clearly lower, and which of the two."""

    first: str
    second: str
    label: str


def fresh_spatial(
    *, seed: int = 0, blocks: int = 60, prompt: str = "cloze", levels: int = 3
) -> Iterator[Item]:
    """Everyday things in many kinds of room, every label right equally often.

    seed    draws the blocks
    blocks  how many at most, 0 for all; each makes eighteen items about six things
    prompt  how to ask, as in Table 2: cloze, question or finetune
    levels  2 drops the pairs that are level; else 3
    """
    chosen = with_levels(prompt_of("spatial", prompt, fresh=True), levels)
    for row in elevations(seed, blocks):
        if set(row.typical) <= set(chosen.labels):
            yield pair_item("spatial", row, chosen, types(row.first, row.second))


def elevations(seed: int, blocks: int) -> list[Comparison]:
    """Pairs of things in a room, each both ways round, with every label right equally often."""
    if blocks < 0:
        raise UsageError(f"{blocks} is not a number of blocks.", "Give one or more, or 0 for all.")
    rooms: Mapping[str, Things] = read_yaml(package_data("viphy/elevations.yaml"))
    rows = []
    for room, questions in _Draw(rooms, Random(f"{seed}/elevation")).blocks(blocks):
        for first, second, label in questions:
            back = "<" if label == ">" else label
            rows.append(Comparison(first, second, {}, (label,), room))
            rows.append(Comparison(second, first, {}, (back,), room))
    return rows


def relation_of(a: Span, b: Span) -> str:
    """ ">" if a is clearly above b, "=" if they are level, "" if it depends on how one looks.

    Stricter than the paper (appendix A.3: the lowest point above the other's centre), so that no
    label is in doubt: whether a bowl is above the table that it stands on is not asked.

    >>> relation_of([90, 110], [0, 60]), relation_of([90, 110], [90, 115])
    ('>', '=')
    """
    if a[0] - b[1] >= GAP:
        return ">"
    if b[0] - a[1] >= GAP:
        return "<"
    nearer, further = sorted((abs(a[0] - b[0]), abs(a[1] - b[1])))
    if nearer <= SAME_SURFACE and further <= SAME_EXTENT:
        return "="
    return ""


class _Draw:
    """Draws blocks, and remembers what was asked.

    No pair is asked twice, every thing is used once before any is used again (by room), and the
    longer name is the higher thing's as often as the lower's.
    """

    def __init__(self, rooms: Mapping[str, Things], draw: Random) -> None:
        self.draw = draw
        self.uses: Counter[tuple[str, str]] = Counter()
        self.asked: set[Placed] = set()
        self.lean = 0
        self.above: dict[Placed, list[Pair]] = {}
        self.below: dict[Placed, list[Pair]] = {}
        for room, things in rooms.items():
            level = _level_pairs(things)
            feet = {pair: min(things[name][0] for name in pair) for pair in level}
            tops = {pair: max(things[name][1] for name in pair) for pair in level}
            for pair in level:
                highest, lowest = tops[pair] + GAP, feet[pair] - GAP
                self.above[room, pair] = [one for one in level if feet[one] >= highest]
                self.below[room, pair] = [one for one in level if tops[one] <= lowest]

    def blocks(self, wanted: int) -> list[tuple[str, list[Question]]]:
        """As many as wanted, all there are if 0."""
        middles = self.draw.sample(list(self.above), len(self.above))
        drawn: list[tuple[str, list[Question]]] = []
        for limit in range(1, MOST_USES + 1):
            middles.sort(key=self._used)
            for room, middle in middles:
                block = self._block(room, middle, limit)
                if block:
                    drawn.append((room, block))
                if wanted and len(drawn) == wanted:
                    return drawn
        return drawn

    def _block(self, room: str, middle: Pair, limit: int) -> list[Question]:
        """The questions of a tower with this pair in the middle; none if there is no such tower."""
        if not self._is_free(room, middle, limit):
            return []
        above = [pair for pair in self.above[room, middle] if self._is_free(room, pair, limit)]
        below = [pair for pair in self.below[room, middle] if self._is_free(room, pair, limit)]
        towers = [Tower(room, high, middle, low) for high, low in product(above, below)]
        for tower in self.draw.sample(towers, len(towers)):
            questions = _questions(tower, self.draw)
            if self._fits(tower, questions):
                self._take(tower, questions)
                return questions
        return []

    def _used(self, placed: Placed) -> int:
        room, pair = placed
        return sum(self.uses[room, thing] for thing in pair)

    def _is_free(self, room: str, pair: Pair, limit: int) -> bool:
        most_used = max(self.uses[room, thing] for thing in pair)
        return most_used < limit and (room, pair) not in self.asked

    def _fits(self, tower: Tower, questions: Sequence[Question]) -> bool:
        if _share_a_word(*tower.high, *tower.middle, *tower.low):
            return False
        if abs(self.lean + _leaning(questions)) > LEAN:
            return False
        return not any((tower.room, question[:2]) in self.asked for question in questions)

    def _take(self, tower: Tower, questions: Sequence[Question]) -> None:
        for thing in (*tower.high, *tower.middle, *tower.low):
            self.uses[tower.room, thing] += 1
        for question in questions:
            self.asked.add((tower.room, question[:2]))
        self.lean += _leaning(questions)


def _level_pairs(things: Things) -> list[Pair]:
    pairs = []
    for a, b in combinations(things, 2):
        if relation_of(things[a], things[b]) == "=":
            pairs.append((a, b))
    return pairs


def _questions(tower: Tower, draw: Random) -> list[Question]:
    """The level pairs, and three of the four pairs between the middle and what is above or below.

    Three, so that there are twice as many as level ones.
    """
    level = [Question(*pair, "=") for pair in (tower.high, tower.middle, tower.low)]
    upper = draw.sample(list(product(tower.high, tower.middle)), 3)
    lower = draw.sample(list(product(tower.middle, tower.low)), 3)
    return [*level, *(Question(*pair, ">") for pair in upper + lower)]


def _share_a_word(*names: str) -> bool:
    words: list[str] = []
    for name in names:
        words += set(name.split()) - SMALL_WORDS
    return len(set(words)) < len(words)


def _leaning(questions: Sequence[Question]) -> int:
    """In how many pairs the higher thing has the longer name, less those where it is shorter."""
    leaning = 0
    for higher, lower, label in questions:
        if label == ">":
            leaning += (len(higher) > len(lower)) - (len(higher) < len(lower))
    return leaning
