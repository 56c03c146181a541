"""A picture with what was to be pointed to, and where models pointed, as one drawing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from gnomon.forms.regions import Region, points_in, region_of
from gnomon.records import Item

SIDE = 400  # units of the drawing's longer side
ROWS = 200  # bands in which a mask is drawn at most
RIGHT, WRONG, REGION = "#157f3b", "#c0262d", "#1f6feb"


def pointed(item: Item, picture: str, answers: Sequence[tuple[str, str | None, bool]]) -> str:
    """The drawing as SVG: region, and each answer's points with the name of who gave it.

    `picture` is a data URI, or empty; an answer is a name, what was said, and whether it is right.
    Empty where nothing is known of the size of the picture.
    """
    regions = [region for region in map(region_of, item.gold) if region is not None]
    if regions:
        width, height = regions[0].width, regions[0].height
    elif item.images and item.images[0].width:
        width, height = item.images[0].width, item.images[0].height
    else:
        return ""
    scale = SIDE / max(width, height)
    across, down = width * scale, height * scale
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {across:.1f} {down:.1f}" '
        f'role="img" aria-label="The picture, what was to be pointed to, and the answers">'
    ]
    if picture:
        parts.append(f'<image href="{escape(picture)}" width="{across:.1f}" height="{down:.1f}"/>')
    for region in regions:
        parts += _drawn(region, scale)
    for name, said, right in answers:
        parts += _spots(name, said, right, scale)
    return "".join((*parts, "</svg>"))


def _drawn(region: Region, scale: float) -> Iterator[str]:
    look = f'fill="{REGION}" fill-opacity=".3" stroke="{REGION}" stroke-width="1.5"'
    if region.kind == "mask":
        yield f'<path d="{"".join(_bands(region, scale))}" fill="{REGION}" fill-opacity=".4"/>'
    elif region.kind == "box":
        (left, top), (right, bottom) = region.corners
        yield (
            f'<rect x="{left * scale:.1f}" y="{top * scale:.1f}" '
            f'width="{(right - left) * scale:.1f}" height="{(bottom - top) * scale:.1f}" {look}/>'
        )
    elif region.kind == "polygon":
        corners = " ".join(f"{x * scale:.1f},{y * scale:.1f}" for x, y in region.corners)
        yield f'<polygon points="{corners}" {look}/>'
    else:
        ((x, y),) = region.corners
        yield f'<circle cx="{x * scale:.1f}" cy="{y * scale:.1f}" r="8" {look}/>'


def _bands(region: Region, scale: float) -> Iterator[str]:
    """A mask as bands of its rows, of which only so many are looked at as are seen."""
    step = max(1, region.height // ROWS)
    for row in range(0, region.height, step):
        inside = region.mask[row]
        start = None
        for column, lit in enumerate((*inside.tolist(), False)):
            if lit and start is None:
                start = column
            elif not lit and start is not None:
                long, high = (column - start) * scale, step * scale
                yield f"M{start * scale:.1f} {row * scale:.1f}h{long:.1f}v{high:.1f}h-{long:.1f}z"
                start = None


def _spots(name: str, said: str | None, right: bool, scale: float) -> Iterator[str]:
    colour = RIGHT if right else WRONG
    for x, y in points_in(said or ""):
        across, down = x * scale, y * scale
        yield (
            f'<g><circle cx="{across:.1f}" cy="{down:.1f}" r="6" fill="{colour}" stroke="#fff" '
            f'stroke-width="2"/><text x="{across + 9:.1f}" y="{down + 4:.1f}" font-size="12" '
            f'fill="{colour}" stroke="#fff" stroke-width="3" paint-order="stroke">'
            f"{escape(name[:40])}</text></g>"
        )
