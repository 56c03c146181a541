"""Composition tables: computed again from arrangements, and the laws that any calculus has."""

from itertools import combinations, product

import numpy as np
import pytest

from gnomon.proofs.calculus import (
    ALLEN_RELATIONS,
    CARDINAL_RELATIONS,
    NAMES,
    allen_relation,
    calculus,
    cardinal_relation,
)

RCC8 = ("DC", "EC", "PO", "TPP", "NTPP", "TPPi", "NTPPi", "EQ")
CONVERSE = {
    "rcc8": {"TPP": "TPPi", "NTPP": "NTPPi"},
    "allen": {
        "before": "after",
        "meets": "met by",
        "overlaps": "overlapped by",
        "starts": "started by",
        "during": "contains",
        "finishes": "finished by",
    },
    "cardinal": {
        "north": "south",
        "east": "west",
        "north-east": "south-west",
        "south-east": "north-west",
    },
}


def rcc8_of_boxes() -> np.ndarray:
    """Which relations of A to B, B to C and A to C occur together, over all boxes of a grid.

    Three boxes have six ends on each axis, so ends at 0 to 5 are enough.
    """
    stretches = np.array(list(combinations(range(6), 2)))
    boxes = np.array([(*x, *y) for x, y in product(stretches, stretches)])
    low, high = boxes[:, [0, 2]], boxes[:, [1, 3]]
    a_low, a_high, b_low, b_high = low[:, None], high[:, None], low[None], high[None]
    apart = ((a_high < b_low) | (a_low > b_high)).any(-1)
    touching = ((a_high == b_low) | (a_low == b_high)).any(-1)
    equal = ((a_low == b_low) & (a_high == b_high)).all(-1)
    within = ((a_low >= b_low) & (a_high <= b_high)).all(-1)
    well_within = ((a_low > b_low) & (a_high < b_high)).all(-1)
    relation = np.select(
        [apart, touching, equal, well_within, within, well_within.T, within.T],
        [RCC8.index(name) for name in ("DC", "EC", "EQ", "NTPP", "TPP", "NTPPi", "TPPi")],
        RCC8.index("PO"),
    )
    seen = np.zeros(8**3, dtype=bool)
    for row in relation:
        seen[np.unique(row[:, None] * 64 + relation * 8 + row[None, :])] = True
    return seen.reshape(8, 8, 8)


def test_the_table_of_rcc8_is_what_boxes_can_do():
    found = rcc8_of_boxes()
    assert found.sum() == 193
    table = calculus("rcc8")
    assert table.names == RCC8
    for one, two in product(range(8), repeat=2):
        possible = {RCC8[code] for code in np.flatnonzero(found[one, two])}
        assert table.table[RCC8[one], RCC8[two]] == possible, (RCC8[one], RCC8[two])


@pytest.mark.parametrize(
    ("cell", "possible"),
    [
        (("EC", "TPPi"), {"DC", "EC"}),
        (("TPP", "NTPP"), {"NTPP"}),
        (("TPPi", "TPP"), {"PO", "TPP", "TPPi", "EQ"}),
        (("NTPPi", "NTPP"), {"PO", "TPP", "NTPP", "TPPi", "NTPPi", "EQ"}),
        (("DC", "NTPPi"), {"DC"}),
        (("PO", "PO"), set(RCC8)),
    ],
)
def test_cells_of_rcc8_are_those_of_the_papers(cell, possible):
    assert calculus("rcc8").table[cell] == possible


@pytest.mark.parametrize(
    ("name", "relations", "cells", "triples", "single", "open_cells"),
    [
        ("rcc8", 8, 64, 193, 27, 3),
        ("allen", 13, 169, 409, 97, 3),
        ("cardinal", 9, 81, 169, 49, 4),
        ("rectangle", 169, 28_561, 167_281, 9_409, 9),
    ],
)
def test_sizes_of_the_tables(name, relations, cells, triples, single, open_cells):
    table = calculus(name)
    found = list(table.cells)
    sizes = [table.possibilities(*cell) for cell in found]
    assert len(list(table.relations)) == relations
    assert len(found) == cells
    assert sum(sizes) == triples
    assert sizes.count(1) == single
    assert sum(map(table.is_open, found)) == open_cells


@pytest.mark.parametrize("name", CONVERSE)
def test_composition_turned_round_is_the_composition_of_the_converses(name):
    table = calculus(name)
    other = {relation: relation for relation in table.names}
    for one, two in CONVERSE[name].items():
        other |= {one: two, two: one}
    assert set(other) == set(table.names)
    for one, two in product(table.names, repeat=2):
        turned = table.table[other[two], other[one]]
        assert {other[relation] for relation in turned} == table.table[one, two]


@pytest.mark.parametrize(
    ("name", "same"), [("rcc8", "EQ"), ("allen", "equals"), ("cardinal", "same place")]
)
def test_the_same_thing_passes_every_relation_on(name, same):
    table = calculus(name)
    for relation in table.names:
        assert table.table[relation, same] == table.table[same, relation] == {relation}


def test_exactly_one_relation_holds_of_any_two():
    stretches = list(combinations(range(6), 2))
    found = {allen_relation(one, two) for one, two in product(stretches, repeat=2)}
    assert found == set(ALLEN_RELATIONS)
    points = list(product(range(3), range(3)))
    found = {cardinal_relation(one, two) for one, two in product(points, repeat=2)}
    assert found == set(CARDINAL_RELATIONS)


def test_rectangles_compose_on_each_axis_by_itself():
    table, line = calculus("rectangle"), calculus("allen")
    first, second = ("meets", "during"), ("starts", "overlaps")
    along = line.table["meets", "starts"]
    across = line.table["during", "overlaps"]
    assert table.compose(first, second) == set(product(along, across))
    assert set(NAMES) == {"rcc8", "allen", "cardinal", "rectangle"}
