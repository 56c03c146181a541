from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.reports.charts import axes, panels, plots, svg

HOSTILE = st.text(max_size=40) | st.sampled_from(
    ["</svg><script>alert(1)</script>", '" onload="x', "a\x00b\x0b", "‮left"]
)


def drawn(body: axes.ChartBody, title: str = "t") -> Any:
    """The drawing, parsed: fails if it is not well-formed XML."""
    return ElementTree.fromstring(
        svg.standalone(svg.drawing(axes.WIDTH, body.height, [body.markup], title, "d", "n"))
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
    root = drawn(
        plots.bars(estimates, dict.fromkeys(range(12), name), name, links={name: name}), name
    )
    assert scripts(root) == []


@given(HOSTILE)
def test_no_name_breaks_out_of_the_other_charts(name: str) -> None:
    bodies = [
        plots.curves([plots.Curve(name, 0, ((0.1, 0.2), (0.5, 0.9)), dots=True)] * 2, name, name),
        plots.boxes([plots.BoxPlot(name, 0, 0.2, 0.4, 0.6, 1, (0.9,))], name),
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
    found = axes.ticks(low, low + span)
    assert 1 <= len(found) <= 8
    assert all(low - span * 1e-6 <= value <= low + span * (1 + 1e-6) for value in found)


def test_a_figure_for_paper_carries_its_own_colours() -> None:
    picture = svg.standalone(
        svg.drawing(10, 10, [svg.mark(svg.DrawnPoint(1, 1), 0)], "t", "d", "n")
    )
    assert svg.LIGHT["s0"] in picture
    assert "var(" not in picture


def test_more_series_than_colours_still_look_different() -> None:
    looks = {svg.mark(svg.DrawnPoint(0, 0), series) for series in range(14)}
    assert len(looks) == 14


THEMES = [svg.LIGHT, svg.DARK]
SERIES = [f"s{i}" for i in range(svg.HUES)]
# How colours look without one of the three kinds of cones (Machado and others 2009, severity 1).
SIGHTS = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}


@pytest.mark.parametrize("theme", THEMES, ids=["light", "dark"])
@pytest.mark.parametrize("ground", ["paper", "ground"])
def test_series_stand_out_from_what_they_are_drawn_on(theme: dict[str, str], ground: str) -> None:
    """WCAG 1.4.11: graphics need a contrast of 3 to 1; text 4.5 to 1."""
    low = [name for name in SERIES if contrast(theme[name], theme[ground]) < 3]
    assert low == []
    assert contrast(theme["soft"], theme[ground]) >= 4.5
    assert contrast(theme["ink"], theme[ground]) >= 7


@pytest.mark.parametrize("theme", THEMES, ids=["light", "dark"])
@pytest.mark.parametrize(
    ("sight", "least"),
    [("normal", 0.1), ("protanopia", 0.1), ("deuteranopia", 0.1), ("tritanopia", 0.06)],
)
def test_series_can_be_told_apart_by_colour_blind_readers(
    theme: dict[str, str], sight: str, least: float
) -> None:
    """Distances in OKLab, where 0.02 can just be seen side by side."""
    seen = [perceived(theme[name], sight) for name in SERIES]
    distances = [float(np.linalg.norm(one - two)) for one, two in combinations(seen, 2)]
    assert min(distances) >= least


def linear(colour: str) -> np.ndarray[Any, Any]:
    parts = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def perceived(colour: str, sight: str) -> np.ndarray[Any, Any]:
    """A colour in OKLab, as one of the sights sees it."""
    seen = np.clip(np.array(SIGHTS[sight]) @ linear(colour), 0, 1)
    cones = (
        (0.4122214708, 0.5363325363, 0.0514459929),
        (0.2119034982, 0.6806995451, 0.1073969566),
        (0.0883024619, 0.2817188376, 0.6299787005),
    )
    lab = (
        (0.2104542553, 0.7936177850, -0.0040720468),
        (1.9779984951, -2.4285922050, 0.4505937099),
        (0.0259040371, 0.7827717662, -0.8086757660),
    )
    return np.asarray(np.array(lab) @ np.cbrt(np.array(cones) @ seen))


def contrast(one: str, two: str) -> float:
    luminance = sorted(float(linear(colour) @ (0.2126, 0.7152, 0.0722)) for colour in (one, two))
    return (luminance[1] + 0.05) / (luminance[0] + 0.05)
