from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.reporting.charts import panels, plots, svg

HOSTILE = st.text(max_size=40) | st.sampled_from(
    ["</svg><script>alert(1)</script>", '" onload="x', "a\x00b\x0b", "‮left"]
)


def drawn(body: plots.Body, title: str = "t") -> Any:
    """The drawing, parsed: fails if it is not well-formed XML."""
    return ElementTree.fromstring(
        svg.standalone(svg.drawing(plots.WIDTH, body.height, [body.markup], title, "d", "n"))
    )


def scripts(root: Any) -> list[str]:
    return [node.tag for node in root.iter() if "script" in node.tag] + [
        key for node in root.iter() for key in node.attrib if key.lower().startswith("on")
    ]


@given(
    st.lists(st.tuples(HOSTILE, st.integers(0, 11), st.floats(0, 1)), min_size=1, max_size=8),
    HOSTILE,
)
def test_no_name_breaks_out_of_a_bar_chart(rows: list[tuple[str, int, float]], name: str) -> None:
    estimates = [
        plots.Estimate(key, series, value, value / 2, value) for key, series, value in rows
    ]
    root = drawn(plots.bars(estimates, [name] * 12, name), name)
    assert scripts(root) == []


@given(HOSTILE)
def test_no_name_breaks_out_of_the_other_charts(name: str) -> None:
    bodies = [
        plots.curves([plots.Curve(name, 0, ((0.1, 0.2), (0.5, 0.9)), dots=True)] * 2, name, name),
        plots.boxes([plots.Box(name, 0, 0.2, 0.4, 0.6, 1, (0.9,))], name),
        panels.panels(
            [
                panels.scatter_panel(name, [panels.Dot(0.1, 0.2, 3, name)], name, name, 0.5),
                panels.matrix_panel(
                    name, [name, "b"], [name, "b"], [[0.1, None], [1, 0.5]], name, name
                ),
                panels.stacked_panel(name, [panels.Stack(name, 0.5, 0.5, 0.5)], (name, name), name),
            ]
        ),
    ]
    for body in bodies:
        assert scripts(drawn(body, name)) == []


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_ticks_are_few_and_within_bounds(low: float, span: float) -> None:
    found = plots.ticks(low, low + span)
    assert len(found) <= 8
    assert all(low - span * 1e-6 <= value <= low + span * (1 + 1e-6) for value in found)


def test_a_figure_for_paper_carries_its_own_colours() -> None:
    picture = svg.standalone(svg.drawing(10, 10, [svg.mark(svg.Point(1, 1), 0)], "t", "d", "n"))
    assert svg.LIGHT["s0"] in picture
    assert "var(" not in picture


def test_more_series_than_colours_still_look_different() -> None:
    looks = {svg.mark(svg.Point(0, 0), series) for series in range(14)}
    assert len(looks) == 14


@pytest.mark.parametrize("theme", [svg.LIGHT, svg.DARK])
def test_series_stand_out_from_the_paper(theme: dict[str, str]) -> None:
    """WCAG 1.4.11: graphics need a contrast of 3 to 1; text 4.5 to 1."""
    for name in [f"s{i}" for i in range(svg.HUES) if i != 5]:
        assert contrast(theme[name], theme["paper"]) >= 3, name
    assert contrast(theme["soft"], theme["paper"]) >= 4.5
    assert contrast(theme["ink"], theme["paper"]) >= 7


def contrast(one: str, two: str) -> float:
    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(one), luminance(two)), reverse=True)
    return (high + 0.05) / (low + 0.05)
