"""Line drawings of a scene as SVG: its plan from above, and a view that can be turned.

Both show where things are, not what they look like: names, sides and distances can be read off.
Each is one self-contained element; the view is turned by dragging it or with the arrow keys, and
stands still where scripts do not run.
"""

import json
import re
from collections.abc import Iterable, Sequence
from math import cos, hypot, pi, radians, sin, tan
from xml.sax.saxutils import escape as escape_xml

import numpy as np
from numpy.typing import NDArray

from gnomon.files import package_data, read_yaml
from gnomon.scenes.bodies import Body
from gnomon.scenes.scenes import Scene, check_scene
from gnomon.scenes.solids import SLANT, Camera, Solid, camera_of, project, solids_of
from gnomon.scenes.things import Vector, palette, thing_named

SIDE = 384.0  # of a drawing
EDGE = 24.0  # kept free around a plan
ROUND = 12  # corners that stand for a circle
LETTERS = 12.0  # the size of names
ARROW = 0.12  # of the plan's width, the length of the viewer's sides
Points = Sequence[tuple[float, float]]
_FORBIDDEN = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # in XML


def plan(scene: Scene) -> str:
    """The scene from above, the viewer below: footprints, fronts, names, and a metre.

    >>> from gnomon.scenes.scenes import Placed, Viewer
    >>> cup = Placed(id="cup", thing="cup", at=(0, 0, 0))
    >>> drawn = plan(Scene(things=(cup,), viewer=Viewer(eye=(0, -1, 0.5), at=(0, 0, 0))))
    >>> drawn.startswith("<svg"), ">cup<" in drawn
    (True, True)
    """
    check_scene(scene)
    bodies = [Body(placed) for placed in scene.things]
    turned = _Turned(scene)
    outlines = [turned.outline(body) for body in bodies]
    paper = _Paper([*_all_points(outlines), turned.eye])

    drawn = [paper.places(outline) for outline in outlines]
    parts = [_viewer(paper, turned)]
    by_height = sorted(range(len(bodies)), key=lambda number: bodies[number].high)
    for number in by_height:
        parts.append(_polygon(drawn[number], _main_colour(scene, number)))
        if bodies[number].thing.front:
            parts.append(_front(drawn[number]))
    parts += _names(scene, drawn)
    parts.append(_metre(paper))
    return _svg(parts, "Plan from above", _said(scene))


def turnable(scene: Scene) -> str:
    """The scene as its viewer sees it, in flat colours; with a script, it can be turned."""
    check_scene(scene)
    camera = camera_of(scene.viewer)
    solids = solids_of(scene)
    polygons = []
    for solid in sorted(solids, key=lambda each: -_distance(each, camera)):
        outline = _outline(_surface(solid), camera)
        if outline:
            polygons.append(_polygon(outline, _shown(solid.colour)))
    return _svg(
        ["<g>", *polygons, "</g>"],
        "The scene; drag it, or use the arrow keys, to turn it",
        _said(scene),
        turned=_for_script(solids, camera, scene),
    )


def turnable_file(scene: Scene) -> str:
    """The view as a file of its own, with its script."""
    drawn = turnable(scene).removesuffix("</svg>")
    return f"{drawn}<script><![CDATA[{turning_script()}]]></script></svg>\n"


def turning_script() -> str:
    """What turns the views of a page: plain JavaScript without anything from outside."""
    return package_data("space/turning.js").read_text(encoding="utf-8")


class _Turned:
    """Plan coordinates in which the viewer looks straight up the drawing."""

    def __init__(self, scene: Scene) -> None:
        eye, at = scene.viewer.eye, scene.viewer.at
        length = hypot(at[0] - eye[0], at[1] - eye[1])
        self._ahead = ((at[0] - eye[0]) / length, (at[1] - eye[1]) / length)
        self.eye = self.point((eye[0], eye[1]))
        self.half_angle = radians(scene.viewer.angle / 2)

    def point(self, at: tuple[float, float]) -> tuple[float, float]:
        ahead_x, ahead_y = self._ahead
        return (at[0] * ahead_y - at[1] * ahead_x, at[0] * ahead_x + at[1] * ahead_y)

    def outline(self, body: Body) -> Points:
        return [self.point(corner) for corner in body.corners]


class _Paper:
    """From metres to places on the drawing, so that all of some points are on it."""

    def __init__(self, points: Points) -> None:
        across = [x for x, _ in points]
        along = [y for _, y in points]
        self._left, self._low = min(across), min(along)
        width, height = max(across) - self._left, max(along) - self._low
        room = SIDE - 2 * EDGE
        self.metre = room / max(width, height, 0.1)
        self._shift_x = EDGE + (room - width * self.metre) / 2
        self._shift_y = EDGE + (room - height * self.metre) / 2

    def place(self, point: tuple[float, float]) -> tuple[float, float]:
        x = self._shift_x + (point[0] - self._left) * self.metre
        y = SIDE - self._shift_y - (point[1] - self._low) * self.metre
        return x, y

    def places(self, points: Points) -> Points:
        return [self.place(point) for point in points]


def _all_points(outlines: Iterable[Points]) -> list[tuple[float, float]]:
    found: list[tuple[float, float]] = []
    for outline in outlines:
        found += outline
    return found


def _viewer(paper: _Paper, turned: _Turned) -> str:
    """The eye, and how wide it sees."""
    x, y = paper.place(turned.eye)
    length = ARROW * SIDE
    aside = length * tan(min(turned.half_angle, pi / 3))
    sides = f"M{x - aside:.1f} {y - length:.1f} L{x:.1f} {y:.1f} L{x + aside:.1f} {y - length:.1f}"
    return (
        f'<path d="{sides}" fill="none" stroke="#777" stroke-dasharray="3 3"/>'
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="#777"/>'
    )


def _front(outline: Points) -> str:
    """The side that is a thing's front: the first of its outline, drawn thick."""
    (x1, y1), (x2, y2) = outline[0], outline[1]
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
        'stroke="#d73c00" stroke-width="3"/>'
    )


def _names(scene: Scene, outlines: Sequence[Points]) -> list[str]:
    """The names, each in the middle of its thing, or below names that are there already."""
    taken: list[tuple[float, float]] = []
    found = []
    for placed, outline in zip(scene.things, outlines, strict=True):
        x = sum(point[0] for point in outline) / len(outline)
        y = sum(point[1] for point in outline) / len(outline) + LETTERS / 3
        room = LETTERS * 0.6 * len(placed.id)
        while any(abs(x - a) < room and abs(y - b) < LETTERS for a, b in taken):
            y += LETTERS
        taken.append((x, y))
        found.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" font-size="{LETTERS:.0f}" '
            'font-family="sans-serif" fill="#111" stroke="#fff" stroke-width="3" '
            f'paint-order="stroke">{_escape(placed.id)}</text>'
        )
    return found


def _metre(paper: _Paper) -> str:
    """A bar that is a metre long, or a tenth of one where a metre does not fit."""
    fits = paper.metre <= SIDE / 3
    length, words = (paper.metre, "1 m") if fits else (paper.metre / 10, "10 cm")
    low = SIDE - 8
    return (
        f'<line x1="8" y1="{low:.1f}" x2="{8 + length:.1f}" y2="{low:.1f}" stroke="#444" '
        f'stroke-width="2"/><text x="8" y="{low - 4:.1f}" font-size="{LETTERS - 3:.0f}" '
        f'font-family="sans-serif" fill="#444">{words}</text>'
    )


def _polygon(outline: Points, colour: str) -> str:
    corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in outline)
    return f'<polygon points="{corners}" fill="{colour}" stroke="#222" stroke-width="0.6"/>'


def _main_colour(scene: Scene, number: int) -> str:
    placed = scene.things[number]
    name = placed.colour or thing_named(placed.thing).parts[0].colour
    return _shown(palette()[name])


def _shown(colour: tuple[float, float, float]) -> str:
    """Linear light as the six digits of a style sheet, a little lighter than in a picture."""
    digits = ""
    for part in colour:
        level = (0.15 + 0.85 * part) ** (1 / 2.2)
        digits += f"{round(255 * min(level, 1.0)):02x}"
    return f"#{digits}"


def _svg(parts: Iterable[str], title: str, description: str, turned: str = "") -> str:
    more = f' class="turnable" tabindex="0" data-turn="{_escape(turned)}"' if turned else ""
    side = f"{SIDE:.0f}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {side} {side}" role="img"{more}>'
        f"<title>{_escape(title)}</title><desc>{_escape(description)}</desc>"
        f'<rect width="{side}" height="{side}" fill="#f4f2ed"/>{"".join(parts)}</svg>'
    )


def _said(scene: Scene) -> str:
    """What is in the scene, for those who do not see it."""
    return ", ".join(placed.id for placed in scene.things)


def _escape(text: str) -> str:
    return escape_xml(_FORBIDDEN.sub("", text), {'"': "&quot;"})


def _distance(solid: Solid, camera: Camera) -> float:
    offset = solid.centre - camera.eye
    return float((offset * offset).sum())


def _surface(solid: Solid) -> Vector:
    """Points whose hull is about the shape of a solid."""
    unit = np.array(_unit_points(solid.shape, solid.narrow))
    axes = np.linalg.inv(solid.inverse)
    return np.asarray(solid.centre + unit @ axes.T, dtype=np.float64)


def _unit_points(shape: str, narrow: float) -> list[tuple[float, float, float]]:
    if shape == "ellipsoid":
        found = [(0.0, 0.0, -1.0), (0.0, 0.0, 1.0)]
        for height in (-SLANT, 0.0, SLANT):
            found += _ring(height, (1 - height * height) ** 0.5)
        return found
    if shape == "bowl":
        return [(0.0, 0.0, -1.0), *_ring(1.0, 1.0), *_ring(0.0, 0.85)]
    if shape == "cone":
        return [*_ring(-1.0, 1.0), *_ring(1.0, narrow)]
    if shape in ("cylinder", "tube", "octagon"):
        return [*_ring(-1.0, 1.0), *_ring(1.0, 1.0)]
    if shape == "roof":
        base = [(x, y, -1.0) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
        return [*base, (-1.0, 0.0, 1.0), (1.0, 0.0, 1.0)]
    return [(float(x), float(y), float(z)) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]


def _ring(height: float, radius: float) -> list[tuple[float, float, float]]:
    found = []
    for step in range(ROUND):
        angle = 2 * pi * step / ROUND
        found.append((radius * cos(angle), radius * sin(angle), height))
    return found


def _outline(points: Vector, camera: Camera) -> Points:
    """The hull of some points as the camera sees them; empty if any is behind it."""
    columns, rows, depths = project(camera, points, int(SIDE), int(SIDE))
    if float(depths.min()) <= 0:
        return []
    return hull(list(zip(columns.tolist(), rows.tolist(), strict=True)))


def hull(points: Points) -> list[tuple[float, float]]:
    """The corners of the smallest convex outline around points (Andrew 1979).

    >>> hull([(0, 0), (2, 0), (1, 1), (2, 2), (0, 2)])
    [(0, 0), (2, 0), (2, 2), (0, 2)]
    """
    ordered = sorted(set(points))
    if len(ordered) < 3:
        return ordered
    lower, upper = _chain(ordered), _chain(ordered[::-1])
    return lower[:-1] + upper[:-1]


def _chain(points: Points) -> list[tuple[float, float]]:
    found: list[tuple[float, float]] = []
    for point in points:
        while len(found) > 1 and _turn(found[-2], found[-1], point) <= 0:
            found.pop()
        found.append(point)
    return found


def _turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _for_script(solids: Sequence[Solid], camera: Camera, scene: Scene) -> str:
    """All that the script needs: points and colours, the eye and what it looks at."""
    shapes = []
    for solid in solids:
        points = np.round(_surface(solid), 3).tolist()
        shapes.append([_shown(solid.colour), points])
    about = {
        "eye": [round(value, 4) for value in scene.viewer.eye],
        "at": [round(value, 4) for value in scene.viewer.at],
        "half": round(camera.half_width, 6),
        "shapes": shapes,
    }
    return json.dumps(about, separators=(",", ":"))


# The plan as pixels: no letters, so that the same bytes come out everywhere.


SHEET = (250, 248, 243)
FINE = 3  # samples along each side of a pixel
FRONT_WEDGE = 0.16  # metres, the length of the wedge that marks a front


def plan_pixels(scene: Scene, size: int) -> NDArray[np.uint8]:
    """The plan in plain colours, in the order of the things; camera and fronts as wedges."""
    check_scene(scene)
    colours = list(read_yaml(package_data("views.yaml"))["plan colours"].values())
    bodies = [Body(placed) for placed in scene.things]
    turned = _Turned(scene)
    outlines = [turned.outline(body) for body in bodies]
    paper = _Paper([*_all_points(outlines), turned.eye])
    scale = size * FINE / SIDE
    sheet = np.full((size * FINE, size * FINE, 3), SHEET, dtype=np.uint8)
    x, y = turned.eye
    _fill(sheet, paper.places([(x - 0.12, y), (x + 0.12, y), (x, y + 0.3)]), scale, (20, 20, 20))
    for number in sorted(range(len(bodies)), key=lambda each: bodies[each].high):
        colour = colours[number % len(colours)]
        _fill(sheet, paper.places(outlines[number]), scale, colour)
        if bodies[number].thing.front:
            _fill(sheet, paper.places(_wedge(bodies[number], turned)), scale, colour)
    small = sheet.reshape(size, FINE, size, FINE, 3).mean(axis=(1, 3))
    return np.asarray(np.round(small), dtype=np.uint8)


def _wedge(body: Body, turned: _Turned) -> Points:
    """A triangle on the front side of a thing."""
    half = body.depth / 2
    middle = (body.at[0] + body.front[0] * half, body.at[1] + body.front[1] * half)
    wide = min(body.width, 3 * FRONT_WEDGE) / 2
    tip = (middle[0] + body.front[0] * FRONT_WEDGE, middle[1] + body.front[1] * FRONT_WEDGE)
    sides = []
    for sign in (-1, 1):
        aside = sign * wide
        sides.append((middle[0] + aside * body.right[0], middle[1] + aside * body.right[1]))
    return [turned.point(point) for point in (*sides, tip)]


def _fill(sheet: NDArray[np.uint8], outline: Points, scale: float, colour: Sequence[int]) -> None:
    """Fill a convex outline."""
    corners = hull([(round(x * scale, 6), round(y * scale, 6)) for x, y in outline])
    rows, columns = np.mgrid[0 : sheet.shape[0], 0 : sheet.shape[1]] + 0.5
    inside = np.ones(rows.shape, dtype=bool)
    for number, (x2, y2) in enumerate(corners):
        x1, y1 = corners[number - 1]
        inside &= (x2 - x1) * (rows - y1) - (y2 - y1) * (columns - x1) >= 0
    sheet[inside] = colour
