"""Which cells of a composition table are asked together, so that each gives nothing away alone."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from gnomon.space.calculi.tables import Calculus, Cell, Relation

MOST_CELLS = 400  # of a large table that are considered for each quad that is wanted
ROUNDS = 20  # pairings of which the one that uses most cells is taken


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


def quads_of(calculus: Calculus, count: int, seed: int) -> Iterator[Quad]:
    """Up to `count` quads; no cell is in two of them."""
    random = Random(f"{seed}/{calculus.name}")
    cells = _drawn_cells(calculus, count, random)
    pairs: list[tuple[Cell, Cell]] = []
    for _ in range(ROUNDS):
        random.shuffle(cells)
        found = _paired(calculus, cells)
        if len(found) > len(pairs):
            pairs = found
        if len(pairs) >= count:
            break
    for number, (one, two) in enumerate(pairs[:count]):
        asked = _only(calculus, one, two, random), _only(calculus, two, one, random)
        yield Quad(calculus, seed, number, (one, two), asked)


def _drawn_cells(calculus: Calculus, count: int, random: Random) -> list[Cell]:
    """Pairs of premises that rule something out; of a large table a sample."""
    cells = list(calculus.cells)
    most = max(MOST_CELLS, 4 * count)
    if len(cells) > most:
        cells = random.sample(cells, most)
    return [cell for cell in cells if not calculus.is_open(cell)]


def _paired(calculus: Calculus, cells: list[Cell]) -> list[tuple[Cell, Cell]]:
    """Each cell with the next that is free and of which neither allows all that the other does."""
    free = list(cells)
    found = []
    while free:
        one = free.pop()
        for place, two in enumerate(free):
            if _differ(calculus, one, two):
                found.append((one, free.pop(place)))
                break
    return found


def _differ(calculus: Calculus, one: Cell, two: Cell) -> bool:
    first, second = calculus.compose(*one), calculus.compose(*two)
    return bool(first - second) and bool(second - first)


def _only(calculus: Calculus, one: Cell, two: Cell, random: Random) -> Relation:
    """A relation that one cell allows and the other does not: on as few axes as can be."""
    per_axis = []
    for first, second in zip(*two, strict=True):
        per_axis.append(calculus.table[first, second])

    def misses(relation: Relation) -> int:
        allowed = [name in names for name, names in zip(relation, per_axis, strict=True)]
        return allowed.count(False)

    options = sorted(calculus.compose(*one) - calculus.compose(*two))
    fewest = min(map(misses, options))
    return random.choice([relation for relation in options if misses(relation) == fewest])


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
