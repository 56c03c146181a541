"""Plans of witnesses: things as boxes from above, or from the side where height is what matters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape

from gnomon.proofs.meaning.stories import NOW, WINDS
from gnomon.proofs.witnesses import Shown, heading_of

SIDE = 380.0  # of a panel
MARGIN = 50.0
SMALLEST = 0.25  # metres: a thing without a size of its own
PALETTE = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bb5566", "#777777")


class Box(NamedTuple):
    """A thing in a plan."""

    name: str
    left: float
    right: float
    low: float
    high: float
    place: bool  # a room or a city: an outline only
    heading: int | None


def plan_of(shown: Sequence[Shown]) -> str:
    """An SVG with one panel for each witness, side by side."""
    width = SIDE * len(shown)
    parts = []
    for number, each in enumerate(shown):
        parts.append(f'<g transform="translate({SIDE * number:.0f} 0)">{_panel(each)}</g>')
    said = escape("; ".join(each.says for each in shown))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {SIDE:.0f}" '
        f'font-family="sans-serif" font-size="13" role="img"><title>{said}</title>'
        f'<rect width="{width:.0f}" height="{SIDE:.0f}" fill="#ffffff"/>{"".join(parts)}</svg>\n'
    )


def _panel(shown: Shown) -> str:
    up = "z" if _is_about_height(shown) else "y"
    boxes = [_box(shown, name, up) for name in (*shown.stage.places, *shown.stage.things)]
    scale = _Scale(boxes)
    parts = [f'<text x="{SIDE / 2:.0f}" y="22" text-anchor="middle">{escape(shown.says)}</text>']
    seen = "from the side" if up == "z" else "from above"
    foot = f'x="{SIDE / 2:.0f}" y="{SIDE - 10:.0f}" text-anchor="middle" fill="#666"'
    parts.append(f"<text {foot}>{seen}</text>")
    for number, box in enumerate(boxes):
        parts.append(_drawn(box, scale, PALETTE[number % len(PALETTE)]))
    return "".join(parts)


def _is_about_height(shown: Shown) -> bool:
    """Whether things differ in height and stand in one column, or no other axis is spoken of."""
    values = shown.witness.values
    spoken = [name for name in values if name.endswith(f"@{NOW}.z")]
    return bool(spoken) and not shown.stage.places and _spread(shown, "z") > _spread(shown, "y")


def _spread(shown: Shown, axis: str) -> float:
    story, values = shown.stage.story, shown.witness.values
    places = [float(story.middle(name, axis, NOW).value(values)) for name in shown.stage.things]
    return max(places) - min(places) if places else 0.0


def _box(shown: Shown, name: str, up: str) -> Box:
    story, values = shown.stage.story, shown.witness.values

    def ends(axis: str) -> tuple[float, float]:
        middle = float(values.get(f"{name}@{story.moment(name, NOW)}.{axis}", 0))
        half = max(float(values.get(f"{name}.half-{axis}", SMALLEST)), SMALLEST / 2)
        return middle - half, middle + half

    left, right = ends("x")
    low, high = ends(up)
    is_place = name in shown.stage.places
    return Box(name, left, right, low, high, is_place, heading_of(shown, name))


class _Scale:
    """From metres to the paper."""

    def __init__(self, boxes: Sequence[Box]) -> None:
        self.left = min(box.left for box in boxes)
        self.low = min(box.low for box in boxes)
        wide = max(box.right for box in boxes) - self.left
        tall = max(box.high for box in boxes) - self.low
        self.factor = (SIDE - 2 * MARGIN) / max(wide, tall, SMALLEST)
        self.shift = (SIDE - 2 * MARGIN - wide * self.factor) / 2

    def x(self, metres: float) -> float:
        return MARGIN + self.shift + (metres - self.left) * self.factor

    def y(self, metres: float) -> float:
        return SIDE - MARGIN - (metres - self.low) * self.factor


def _drawn(box: Box, scale: _Scale, colour: str) -> str:
    left, right, top, bottom = (
        scale.x(box.left),
        scale.x(box.right),
        scale.y(box.high),
        scale.y(box.low),
    )
    width, height = max(right - left, 6), max(bottom - top, 6)
    fill = "none" if box.place else colour
    dashes = ' stroke-dasharray="5 4"' if box.place else ""
    middle_x, middle_y = (left + right) / 2, (top + bottom) / 2
    shape = (
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}" '
        f'fill="{fill}" fill-opacity="0.55" stroke="{colour}" stroke-width="1.5"{dashes}/>'
    )
    name = escape(box.name)
    label_y = top - 4 if box.place else middle_y + 4
    label = f'<text x="{middle_x:.1f}" y="{label_y:.1f}" text-anchor="middle">{name}</text>'
    return shape + _arrow(box, middle_x, middle_y) + label


def _arrow(box: Box, x: float, y: float) -> str:
    """Where something faces."""
    if box.heading is None:
        return ""
    axis, sign = WINDS[box.heading]
    end_x = x + (26 * sign if axis == "x" else 0)
    end_y = y - (26 * sign if axis == "y" else 0)
    return (
        f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{end_x:.1f}" y2="{end_y:.1f}" stroke="#222" '
        f'stroke-width="2"/><circle cx="{end_x:.1f}" cy="{end_y:.1f}" r="3" fill="#222"/>'
    )
