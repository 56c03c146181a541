"""The map of the house, drawn from the arrows that tests/test_architecture.py checks (rooms.yaml beside this file).

A hook of mkdocs: `<!-- rooms -->` in docs/architecture.md is replaced by a drawing and a table.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from gnomon.graphs import strong_components

FILE = Path(__file__).parent / "rooms.yaml"
MARK = "<!-- rooms -->"
WIDTH, HEIGHT = 104, 34  # of a room, in pixels
ACROSS, DOWN = 128, 76  # from one room to the next


class Map(NamedTuple):
    """What every room may use, what each owns, and which rooms it uses besides."""

    foundation: dict[str, str]
    owns: dict[str, str]
    uses: dict[str, list[str]]


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by mkdocs for each page: put the map in the place of the mark."""
    if MARK not in markdown:
        return markdown
    return markdown.replace(MARK, f"{drawing(house())}\n\n{table(house())}")


@cache
def house() -> Map:
    """The map as the file has it."""
    content = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    rooms = content["rooms"]
    return Map(
        foundation=content["foundation"],
        owns={name: room["owns"] for name, room in rooms.items()},
        uses={name: room.get("uses", []) for name, room in rooms.items()},
    )


def layers(uses: Mapping[str, list[str]]) -> list[list[str]]:
    """The rooms from the bottom up: each stands above all that it uses; rooms that use each other stand side by side.

    >>> layers({"a": [], "b": ["a"], "c": ["d", "b"], "d": ["c"]})
    [['a'], ['b'], ['c', 'd']]
    """
    together = {}
    for component in strong_components(uses):
        for room in component:
            together[room] = frozenset(component)
    heights: dict[frozenset[str], int] = {}

    def height(group: frozenset[str]) -> int:
        if group not in heights:
            below = {together[other] for room in group for other in uses[room]} - {group}
            heights[group] = 1 + max(map(height, below), default=-1)
        return heights[group]

    found: list[list[str]] = []
    for room in uses:
        level = height(together[room])
        while len(found) <= level:
            found.append([])
        found[level].append(room)
    return found


def drawing(plan: Map) -> str:
    """The rooms as boxes in layers, with a line from each to the rooms that it uses."""
    levels = layers(plan.uses)
    most = max(map(len, levels))
    places = {}
    for level, rooms in enumerate(levels):
        left = (most - len(rooms)) * ACROSS / 2
        for number, room in enumerate(rooms):
            places[room] = (left + number * ACROSS + 12, (len(levels) - 1 - level) * DOWN + 12)
    width, height = most * ACROSS + 12, (len(levels) - 1) * DOWN + HEIGHT + 24
    parts = [
        f'<svg class="rooms" viewBox="0 0 {width} {height}" role="img" '
        'aria-label="Rooms of Gnomon and which uses which" font-family="inherit" font-size="14">'
    ]
    for room, others in plan.uses.items():
        x, y = places[room]
        for other in others:
            there_x, there_y = places[other]
            parts.append(
                f'<line x1="{x + WIDTH / 2}" y1="{y + HEIGHT / 2}" x2="{there_x + WIDTH / 2}" '
                f'y2="{there_y + HEIGHT / 2}" stroke="currentColor" stroke-opacity=".25"/>'
            )
    for room, (x, y) in places.items():
        parts.append(
            f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="5" '
            'fill="var(--md-default-bg-color, white)" stroke="currentColor"/>'
            f'<text x="{x + WIDTH / 2}" y="{y + 22}" text-anchor="middle" fill="currentColor">'
            f"{escape(room)}</text>"
        )
    return "\n".join([*parts, "</svg>"])


def table(plan: Map) -> str:
    """The rooms from the top down: what each owns, and which rooms it uses."""
    rows = ["| room | what it owns | uses |", "| --- | --- | --- |"]
    for rooms in reversed(layers(plan.uses)):
        for room in rooms:
            others = ", ".join(f"`{other}`" for other in plan.uses[room])
            rows.append(f"| `{room}` | {plan.owns[room]} | {others or 'none'} |")
    for module, owned in plan.foundation.items():
        rows.append(f"| `{module}` | {owned} | any room may use it |")
    return "\n".join(rows)
