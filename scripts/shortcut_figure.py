"""The figure of what the benchmarks give away, drawn from the table of docs/benchmarks.md by a hook of mkdocs.

The table is folded below it. Every row has a dot for the worst rule of the fresh set and one for that of the
published set, in points off chance with its 95 % interval.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

MARK = "<!-- drawn: shortcuts -->"
ROW = re.compile(
    r"^\| `(?P<name>[\w-]+)@(?P<source>\w+)` \|[^|]*\|[^|]*\| (?:\*\*)?(?P<rule>[a-z ]+?) "
    r"(?P<value>[+-][\d.]+) \((?P<low>[+-][\d.]+) to (?P<high>[+-][\d.]+)\)",
    re.MULTILINE,
)
WIDTH, LEFT, RIGHT, ROW_HEIGHT, TOP = 900, 190, 20, 30, 56
LOWEST, HIGHEST = -10, 55  # points off chance
TICKS = (0, 10, 20, 30, 40, 50)
UNALARMING = 3  # points on either side of chance


class Shortcut(NamedTuple):
    """The worst rule of one set, in points off chance."""

    name: str
    source: str
    rule: str
    value: float
    low: float
    high: float


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by mkdocs for each page: put the figure in the place of its mark."""
    if MARK not in markdown:
        return markdown
    return markdown.replace(MARK, figure(shortcuts(markdown)))


def shortcuts(markdown: str) -> list[Shortcut]:
    """The rows of the table."""
    found = []
    for row in ROW.finditer(markdown):
        numbers = (float(row[part]) for part in ("value", "low", "high"))
        found.append(Shortcut(row["name"], row["source"], row["rule"], *numbers))
    return found


def figure(found: list[Shortcut]) -> str:
    """A row for each benchmark, with its two sets."""
    names = list(dict.fromkeys(shortcut.name for shortcut in found))
    height = TOP + ROW_HEIGHT * len(names) + 30
    drawn = [
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="Points off chance of the worst '
        'rule that knows nothing of space, for each fresh and published set; the numbers are in the table">',
        *_axis(height),
        *_legend(),
    ]
    for number, name in enumerate(names):
        y = TOP + ROW_HEIGHT * (number + 0.5)
        drawn.append(f'<text x="0" y="{y + 4}">{name}</text>')
        sets = [shortcut for shortcut in found if shortcut.name == name]
        for place, shortcut in enumerate(sorted(sets, key=lambda each: each.source)):
            drawn += _dot(shortcut, y - 6 + 12 * place)
    drawn.append("</svg>")
    return (
        '<figure class="drawn" tabindex="0">'
        + "".join(drawn)
        + f"<figcaption>{CAPTION}</figcaption></figure>"
    )


CAPTION = (
    "What the worst rule that knows nothing of space gets right, in points off chance, with its 95 % interval. "
    "Fresh sets stay near chance; most published sets do not. The grey band is 3 points to either side."
)


def _x(points: float) -> float:
    share = (points - LOWEST) / (HIGHEST - LOWEST)
    return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)


def _axis(height: int) -> list[str]:
    bottom = height - 24
    band = _x(UNALARMING) - _x(-UNALARMING)
    drawn = [
        f'<rect class="band" x="{_x(-UNALARMING)}" y="{TOP - 8}" width="{band:.1f}" height="{bottom - TOP + 8}"/>'
    ]
    for tick in TICKS:
        label = "chance" if tick == 0 else f"+{tick}"
        drawn.append(f'<path class="axis" d="M{_x(tick)} {TOP - 8}V{bottom}"/>')
        drawn.append(
            f'<text class="soft" text-anchor="middle" x="{_x(tick)}" y="{bottom + 18}">{label}</text>'
        )
    return drawn


def _legend() -> list[str]:
    return [
        f'<circle class="fresh" cx="{LEFT + 6}" cy="18" r="5"/><text x="{LEFT + 18}" y="22">fresh</text>',
        f'<circle class="published" stroke-width="2" cx="{LEFT + 86}" cy="18" r="4.5"/>'
        f'<text x="{LEFT + 98}" y="22">published</text>',
    ]


def _dot(shortcut: Shortcut, y: float) -> list[str]:
    low = max(shortcut.low, LOWEST)
    high = min(shortcut.high, HIGHEST)
    title = f"{shortcut.name}@{shortcut.source}: {shortcut.rule} {shortcut.value:+.1f}"
    return [
        f'<g class="{shortcut.source}"><title>{title} ({shortcut.low:+.1f} to {shortcut.high:+.1f})</title>',
        f'<path stroke-width="2" d="M{_x(low)} {y}H{_x(high)}"/>',
        f'<circle stroke-width="2" cx="{_x(shortcut.value)}" cy="{y}" r="4.5"/></g>',
    ]
