"""Composition of spatial relations as questions: A is r to B and B is s to C; may A be t to C?

Questions come in quads: two pairs of premises and two conclusions, each conclusion possible after
one pair and impossible after the other. So neither premises nor conclusion alone say anything. Each
quad is asked in everyday words and in made-up ones that are defined by these.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from gnomon.benchmarks.calculus_draws import Block, Quad, blocks_of, quads_of
from gnomon.benchmarks.calculus_words import WAYS, Speaker, likeness, speaker
from gnomon.benchmarks.choosing import several
from gnomon.contracts import Benchmark, Listing
from gnomon.errors import UsageError, check_known
from gnomon.proofs.calculus import NAMES, Cell, Relation, calculus
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


def _quad_items(quad: Quad, ways: Sequence[str]) -> Iterator[Item]:
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
                against=quad.cells[1 - quad.cells.index(cell)],
            )


def _block_items(block: Block, ways: Sequence[str]) -> Iterator[Item]:
    """Four pairs of premises with the same four answers, each of which is right once."""
    said = speaker(block.calculus.name, block.used, f"{block.seed}/which/{block.number}")
    group = f"{block.calculus.name}/which/{digest(said.scene, repr(block.cells))}"
    numbers = tuple(str(number) for number, _ in enumerate(block.answers, 1))
    for way in ways:
        text = said.list_of(way, block.answers)
        for cell, number in zip(block.cells, numbers, strict=True):
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


_TAG_WORDS = {
    "calculus": "kind of relations",
    "calculus=rcc8": "regions (RCC-8)",
    "calculus=allen": "intervals (Allen)",
    "calculus=cardinal": "points of the compass",
    "calculus=rectangle": "rectangles",
    "way": "wording",
    "way=plain": "everyday words",
    "way=anonymous": "made-up words",
    "possible": "relations that are possible",
    "possible=1": "only 1",
    "first": "first premise",
    "second": "second premise",
    "asked": "relation asked about",
    "cell": "pair of premises",
}

CALCULUS = Benchmark(
    name="calculus",
    title="Which relations are possible",
    skill="relation algebra",
    tag_words=_TAG_WORDS,
    summary="which relations of A to C are possible if A is r to B and B is s to C",
    sources={"fresh": fresh},
    full={"quads": 400},
    measures=("accuracy", "macro_f1", "consistency"),
    slices=("calculus", "way", "possible"),
    units=(("group",),),
    unit_nouns=("quads",),
    noun="quads",
    hold_out=(("cell", "against"), ("cell",)),  # other seeds ask the same premises
    statistics=statistics,
    whole_groups=("fresh",),
)
