"""Composition of spatial relations as questions: A is r to B and B is s to C; may A be t to C?

Questions come in quads: two pairs of premises and two conclusions, each conclusion possible after
one pair and impossible after the other. So neither premises nor conclusion alone say anything. Each
quad is asked in everyday words and in made-up ones that are defined by these.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from random import Random
from typing import Any, NamedTuple

from gnomon.benchmarks.descriptions import described
from gnomon.contracts import Listing
from gnomon.errors import UsageError, check_known
from gnomon.files import package_data, read_yaml
from gnomon.options import several
from gnomon.proofs.calculus import NAMES, Calculus, Cell, Relation, calculus
from gnomon.records import Item, digest

QUADS = 60
ASKED = ("possible", "which")


def fresh(
    *, seed: int = 0, quads: int = QUADS, calculi: str = "", ways: str = "", ask: str = "possible"
) -> Iterator[Item]:
    """Cells of composition tables in quads, each in everyday words and in made-up ones.

    seed     draws premises, conclusions, names and made-up words
    quads    how many at most for each calculus; each has four items in each way
    calculi  rcc8, allen, cardinal or rectangle, with commas between them; else all
    ways     plain (everyday words) or anonymous (made-up ones); else both
    ask      possible (may A be t to C, yes or no) or which (the one relation that must hold, of
             four, where the premises leave only one)
    """
    if quads < 1:
        raise UsageError(f"There must be 1 quad or more, not {quads}.", "Give --set quads=60.")
    check_known("question", ask, ASKED)
    chosen = several(ways, WAYS, "way")
    for name in several(calculi, NAMES, "calculus"):
        if ask == "which":
            for block in blocks_of(calculus(name), quads, seed):
                yield from _block_items(block, chosen)
            continue
        for quad in quads_of(calculus(name), quads, seed, likeness(name)):
            yield from _quad_items(quad, chosen)


def _quad_items(quad: _Quad, ways: Sequence[str]) -> Iterator[Item]:
    """Both conclusions after both pairs of premises, in each way."""
    said = speaker(quad.calculus.name, quad.used, f"{quad.seed}/{quad.number}")
    group = f"{quad.calculus.name}/{digest(said.scene, repr(quad.cells), repr(quad.asked))}"
    for way in ways:
        for cell, asked in product(quad.cells, quad.asked):
            possible = asked in quad.calculus.compose(*cell)
            yield _item(
                said,
                way,
                cell,
                group,
                text=said.question(way, asked),
                choices=("yes", "no"),
                gold="yes" if possible else "no",
                possible=quad.calculus.possibilities(*cell),
                asked=_name(asked),
                conclusion=asked,
                against=quad.cells[1 - quad.cells.index(cell)],
            )


def _block_items(block: Block, ways: Sequence[str]) -> Iterator[Item]:
    """Four pairs of premises with the same four answers, each of which is right once."""
    said = speaker(block.calculus.name, block.used, f"{block.seed}/which/{block.number}")
    group = f"{block.calculus.name}/which/{digest(said.scene, repr(block.cells))}"
    numbers = tuple(str(number) for number, _ in enumerate(block.answers, 1))
    for way in ways:
        text = said.list_of(way, block.answers)
        for cell, number, answer in zip(block.cells, numbers, block.answers, strict=True):
            yield _item(
                said,
                way,
                cell,
                group,
                text=text,
                choices=numbers,
                gold=number,
                possible=1,
                asked="which",
                conclusion=answer,
            )


def _item(
    said: Speaker,
    way: str,
    cell: Cell,
    group: str,
    *,
    text: str,
    choices: tuple[str, ...],
    gold: str,
    possible: int,
    asked: str,
    conclusion: Relation,  # the one that is asked about, or the one that must hold
    against: Cell | None = None,
) -> Item:
    context = said.premises(way, cell)
    first, second = cell
    tags = {
        "calculus": said.calculus,
        "way": way,
        "possible": str(possible),
        "first": _name(first),
        "second": _name(second),
        "asked": asked,
        "conclusion": f"{said.calculus}: {_name(conclusion)}",
        "cell": _cell_name(said.calculus, cell),
        "fact": digest(group, repr(cell), asked),
    }
    if against is not None:
        tags["against"] = _cell_name(said.calculus, against)
    return Item(
        id=f"{said.calculus}/{way}/{digest(context, text, *choices)}",
        form="choice",
        context=context,
        text=text,
        choices=choices,
        gold=(gold,),
        group=group,
        tags=tags,
    )


def _cell_name(calculus: str, cell: Cell) -> str:
    return f"{calculus}: {_name(cell[0])}, {_name(cell[1])}"


def _name(relation: Relation) -> str:
    return " / ".join(relation)


def statistics(items: Sequence[Item]) -> list[Listing]:
    """How large the tables are from which the items are drawn."""
    present = {item.tags["calculus"] for item in items}
    rows = []
    for name in NAMES:
        if name in present:
            rows.append((name, *_sizes(name)))
    columns = ("calculus", "relations", "cells", "triples", "cells with one answer", "open cells")
    return [Listing("Composition tables", columns, tuple(rows))]


def _sizes(name: str) -> tuple[int, int, int, int, int]:
    table = calculus(name)
    cells = list(table.cells)
    sizes = [table.possibilities(*cell) for cell in cells]
    relations = len(list(table.relations))
    return relations, len(cells), sum(sizes), sizes.count(1), sizes.count(relations)


CALCULUS = described("calculus", "calculus", sources={"fresh": fresh}, statistics=statistics)


# Which cells of a composition table are asked together, so that each gives nothing away alone.


MOST_CELLS = 400  # of a large table that are considered, or four for each quad that is wanted
PARTNERS = 40  # cells with which a cell may be paired
CONCLUSIONS = 6  # that are tried for each of the two cells
REPEATED = 10  # how much more it counts that a conclusion repeats a premise, than how it does
MOST_DROPPED = 0.5  # of the quads, where a table has too few cells that balance
# how far a conclusion repeats its premises: several signs, of which each is to say nothing
Likeness = Callable[[Cell, Relation], tuple[Hashable, ...]]


class _Quad(NamedTuple):
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


def quads_of(calculus: Calculus, count: int, seed: int, alike: Likeness) -> Iterator[_Quad]:
    """Up to `count` quads; no cell is in two of them.

    A conclusion that repeats a premise is more often possible than one that does not. So quads are
    chosen such that it is as often asked where it is not: `alike` says how far a conclusion repeats
    premises, and each value is to be right as often as wrong.
    """
    alike = cache(alike)
    random = Random(f"{seed}/{calculus.name}")
    free = _drawn_cells(calculus, count, random)
    random.shuffle(free)
    chosen: list[_Quad] = []
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


def _without_lean(quads: list[_Quad], lean: Counter[Hashable], alike: Likeness) -> list[_Quad]:
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


def _offers(calculus: Calculus, one: Cell, others: list[Cell], random: Random) -> list[_Quad]:
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
            found.append(_Quad(calculus, 0, 0, (one, two), asked))
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


def _leans(quad: _Quad, alike: Likeness) -> Counter[Hashable]:
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


# Relations in words: everyday clauses, or made-up verbs that are defined by them.


WAYS = ("plain", "anonymous")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Speaker:
    """How the items of one quad are put: three names, a wording, and a verb for each relation."""

    calculus: str
    clauses: Mapping[str, str]
    axes: Sequence[str]  # what precedes the clause of each axis; empty where there is one
    scene: str
    names: tuple[str, str, str]
    verbs: Mapping[str, str]  # made up, of the relations that occur
    opening: str  # of the definitions
    definition: str
    possible: str  # a question about a clause
    which: str

    def question(self, way: str, asked: Relation) -> str:
        """May A be so to C?"""
        return self.possible.format(clause=self._clause(way, asked))

    def list_of(self, way: str, relations: Iterable[Relation]) -> str:
        """Which of these must hold of A and C?"""
        listed = []
        for number, relation in enumerate(relations, 1):
            listed.append(f"({number}) {self._clause(way, relation)}.")
        return " ".join([self.which, *listed])

    def premises(self, way: str, cell: Cell) -> str:
        """The scene, what made-up words mean, and how A is to B and B to C."""
        a, b, c = self.names
        parts = [self.scene]
        if way == "anonymous":
            parts += [self.opening, *self._definitions()]
        for relation, one, two in ((cell[0], a, b), (cell[1], b, c)):
            said = self._said(way, relation, one, two)
            parts.append(f"{said[0].upper()}{said[1:]}.")
        return " ".join(parts)

    def _clause(self, way: str, relation: Relation) -> str:
        return self._said(way, relation, self.names[0], self.names[2])

    def _definitions(self) -> Iterable[str]:
        for name, verb in self.verbs.items():
            clause = self.clauses[name].format(X="X", Y="Y")
            yield self.definition.format(verb=verb, clause=clause)

    def _said(self, way: str, relation: Relation, one: str, two: str) -> str:
        parts = []
        for name in relation:
            if way == "anonymous":
                parts.append(f"{one} {self.verbs[name]} {two}")
            else:
                parts.append(self.clauses[name].format(X=one, Y=two))
        if not self.axes:
            return parts[0]
        placed = [f"{axis} {part}" for axis, part in zip(self.axes, parts, strict=True)]
        return ", and ".join(placed)


def speaker(calculus: str, used: Iterable[Relation], seed: str) -> Speaker:
    """A speaker for the relations of a quad; the seed draws names, verbs and wordings."""
    random = Random(f"{seed}/{calculus}/words")
    words = _words()
    own = words[calculus]
    a, b, c = random.sample(words["names"], 3)
    occurring = sorted({name for relation in used for name in relation})
    random.shuffle(occurring)
    verbs = random.sample(words["verbs"], len(occurring))
    return Speaker(
        calculus=calculus,
        clauses=own["clauses"],
        axes=own.get("axes", ()),
        scene=own["scene"].format(A=a, B=b, C=c),
        names=(a, b, c),
        verbs=dict(zip(occurring, verbs, strict=True)),
        opening=random.choice(words["definitions"]),
        definition=words["definition"],
        possible=random.choice(words["questions"]["possible"]),
        which=random.choice(words["questions"]["which"]),
    )


def likeness(calculus: str) -> Callable[[Cell, Relation], tuple[Hashable, ...]]:
    """How far a conclusion repeats premises: at all, which on each axis, and in how many words.

    >>> likeness("cardinal")((("north",), ("east",)), ("north",))
    (True, (True, False), (6, 6, 7), 6)
    """
    clauses = _words()[calculus]["clauses"]
    known = {name: frozenset(_WORD.findall(clause)) for name, clause in clauses.items()}

    def words_of(*relations: Relation) -> set[str]:
        found: set[str] = set()
        for relation in relations:
            found.update(*[known[name] for name in relation])
        return found

    def signs(cell: Cell, asked: Relation) -> tuple[Hashable, ...]:
        found: list[Hashable] = []
        for one, two, three in zip(*cell, asked, strict=True):
            found.append((one == three, two == three))
        said = words_of(asked)
        premises = words_of(*cell)
        shared = len(said & premises)
        return asked in cell, *found, (len(said), shared, len(premises)), shared

    return signs


@cache
def _words() -> dict[str, Any]:
    content: dict[str, Any] = read_yaml(package_data("calculi/words.yaml"))
    return content
