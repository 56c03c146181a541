"""Which cells of a composition table are asked together, so that each gives nothing away alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from functools import cache
from itertools import product
from random import Random
from typing import NamedTuple

from gnomon.proofs.calculus import Calculus, Cell, Relation

MOST_CELLS = 400  # of a large table that are considered, or four for each quad that is wanted
PARTNERS = 40  # cells with which a cell may be paired
CONCLUSIONS = 6  # that are tried for each of the two cells
REPEATED = 10  # how much more it counts that a conclusion repeats a premise, than how it does
MOST_DROPPED = 0.5  # of the quads, where a table has too few cells that balance
# how far a conclusion repeats its premises: several signs, of which each is to say nothing
Likeness = Callable[[Cell, Relation], tuple[Hashable, ...]]


class Quad(NamedTuple):
    """Two pairs of premises and two conclusions, each possible after one pair only."""

    calculus: Calculus
    seed: int
    number: int
    cells: tuple[Cell, Cell]
    asked: tuple[Relation, Relation]

    @property
    def used(self) -> tuple[Relation, ...]:
        """Every relation that occurs."""
        return *self.cells[0], *self.cells[1], *self.asked


class Block(NamedTuple):
    """Four pairs of premises that each leave one relation, all different."""

    calculus: Calculus
    seed: int
    number: int
    cells: tuple[Cell, ...]
    answers: tuple[Relation, ...]

    @property
    def used(self) -> tuple[Relation, ...]:
        """Every relation that occurs."""
        found = list(self.answers)
        for cell in self.cells:
            found += cell
        return tuple(found)


def quads_of(calculus: Calculus, count: int, seed: int, alike: Likeness) -> Iterator[Quad]:
    """Up to `count` quads; no cell is in two of them.

    A conclusion that repeats a premise is more often possible than one that does not. So quads are
    chosen such that it is as often asked where it is not: `alike` says how far a conclusion repeats
    premises, and each value is to be right as often as wrong.
    """
    alike = cache(alike)
    random = Random(f"{seed}/{calculus.name}")
    free = _drawn_cells(calculus, count, random)
    random.shuffle(free)
    chosen: list[Quad] = []
    lean: Counter[Hashable] = Counter()  # how often a likeness was right rather than wrong
    while free and len(chosen) < count:
        one = free.pop()
        offers = _offers(calculus, one, free, random)
        if not offers:
            continue
        best = min(offers, key=lambda quad: _leaning(lean, _leans(quad, alike)))
        lean.update(_leans(best, alike))
        free.remove(best.cells[1])
        chosen.append(best)
    for number, quad in enumerate(_without_lean(chosen, lean, alike)):
        yield quad._replace(seed=seed, number=number)


def _without_lean(quads: list[Quad], lean: Counter[Hashable], alike: Likeness) -> list[Quad]:
    """The quads without those that make likeness tell, as long as most are left."""
    kept = list(quads)
    for _ in range(int(len(quads) * MOST_DROPPED)):
        removals = [_negative(_leans(quad, alike)) for quad in kept]
        changes = [_leaning(lean, removal) for removal in removals]
        least = min(changes)
        if least >= 0:
            break
        place = changes.index(least)
        lean.update(removals[place])
        del kept[place]
    return kept


def _negative(lean: Counter[Hashable]) -> Counter[Hashable]:
    return Counter({sign: -step for sign, step in lean.items()})


def _drawn_cells(calculus: Calculus, count: int, random: Random) -> list[Cell]:
    """Pairs of premises that rule something out; of a large table a sample."""
    cells = list(calculus.cells)
    most = max(MOST_CELLS, 4 * count)
    if len(cells) > most:
        cells = random.sample(cells, most)
    return [cell for cell in cells if not calculus.is_open(cell)]


def _offers(calculus: Calculus, one: Cell, others: list[Cell], random: Random) -> list[Quad]:
    """Quads of a cell with some others, with several conclusions each."""
    found = []
    partners = 0
    for two in others:
        first, second = calculus.compose(*one), calculus.compose(*two)
        if not first - second or not second - first:
            continue  # all that one allows, the other does, too
        partners += 1
        only_first = _closest(calculus, first - second, two, random)
        only_second = _closest(calculus, second - first, one, random)
        for asked in product(only_first, only_second):
            found.append(Quad(calculus, 0, 0, (one, two), asked))
        if partners == PARTNERS:
            break
    return found


def _closest(
    calculus: Calculus, relations: Iterable[Relation], cell: Cell, random: Random
) -> list[Relation]:
    """Some of the relations, those first that the cell rules out on one axis only."""
    per_axis = []
    for first, second in zip(*cell, strict=True):
        per_axis.append(calculus.table[first, second])

    def misses(relation: Relation) -> int:
        allowed = [name in names for name, names in zip(relation, per_axis, strict=True)]
        return allowed.count(False)

    options = sorted(relations)
    random.shuffle(options)
    options.sort(key=misses)
    return options[:CONCLUSIONS]


def _leans(quad: Quad, alike: Likeness) -> Counter[Hashable]:
    """For each likeness, how much oftener it is right than wrong in a quad."""
    found: Counter[Hashable] = Counter()
    for row, cell in enumerate(quad.cells):
        for column, asked in enumerate(quad.asked):
            for sign in alike(cell, asked):
                found[sign] += 1 if row == column else -1
    return found


def _leaning(before: Mapping[Hashable, int], change: Mapping[Hashable, int]) -> int:
    """How much further from balance a change would leave the whole: less is better."""
    further = 0
    for sign, step in change.items():
        weight = REPEATED if isinstance(sign, bool) else 1
        further += weight * ((before[sign] + step) ** 2 - before[sign] ** 2)
    return further


def blocks_of(calculus: Calculus, count: int, seed: int) -> Iterator[Block]:
    """Up to `count` blocks of four cells with one answer each; no cell is in two of them."""
    random = Random(f"{seed}/{calculus.name}/which")
    waiting: dict[Relation, list[Cell]] = {}
    for cell in _drawn_cells(calculus, count, random):
        if calculus.possibilities(*cell) == 1:
            (answer,) = calculus.compose(*cell)
            waiting.setdefault(answer, []).append(cell)
    for cells in waiting.values():
        random.shuffle(cells)

    for number in range(count):
        fullest = sorted(waiting, key=lambda answer: (-len(waiting[answer]), answer))
        answers = [answer for answer in fullest if waiting[answer]][:4]
        if len(answers) < 4:
            return
        random.shuffle(answers)
        chosen = tuple(waiting[answer].pop() for answer in answers)
        yield Block(calculus, seed, number, chosen, tuple(answers))
