"""Points are drawn on the picture: the region, and who pointed where."""

from __future__ import annotations

import pytest

from gnomon.records import Item
from gnomon.reports.pointed import RIGHT, WRONG, pointed

REGIONS = {
    "box 10 20 30 40 in 200x100": "<rect",
    "polygon 0 0 50 0 0 50 in 200x100": "<polygon",
    "point 5 5 in 200x100": "<circle",
    "mask 4x2 1 2 1 4": "<path",
}


@pytest.mark.parametrize("gold", REGIONS)
def test_region_and_points_are_drawn(gold):
    item = Item(id="1", form="point", text="?", gold=(gold,))
    drawn = pointed(
        item, "", [("a <b>", "(1, 1)", True), ("c", "(0, 1)", False), ("d", None, False)]
    )
    assert REGIONS[gold] in drawn
    assert RIGHT in drawn
    assert WRONG in drawn
    assert "a &lt;b&gt;" in drawn
    assert "<b>" not in drawn


def test_nothing_is_drawn_where_the_size_is_not_known():
    assert pointed(Item(id="1", form="point", text="?"), "", []) == ""
