"""Witnesses of what is left open: scenes and plans in which a claim is true, and false."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations, product
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

import numpy as np

from gnomon.errors import UsageError
from gnomon.files import package_data, read_yaml
from gnomon.proofs.meaning.formulas import Formula, every, quantity, some
from gnomon.proofs.meaning.relations.contact import resting
from gnomon.proofs.meaning.stories import EARLIER, NOW, WINDS, SentenceReading, When, reading_named
from gnomon.proofs.meaning.texts import StatedText
from gnomon.proofs.meaning.vocabulary import kinds_of_nouns
from gnomon.proofs.solver import Proof, Theory, Witness
from gnomon.scenes.descriptions import other_nouns
from gnomon.scenes.pictures import draw, survey, viewer_of, write_png
from gnomon.scenes.scenes import Placed, Scene
from gnomon.scenes.things import Thing, things

# Staging a proof: real sizes, a floor and some room between things, so that it can be drawn.
#
# The solver is asked once more, with these wishes on top of the premises; wishes that cannot be
# met are dropped, the last first.


FRAMES = (3, 5, 8, 14, 30, 80, 400)  # metres from the middle that a scene may take up
NARROW = (3, 5, 8, 11, 14)  # within which nothing need hide anything
GAP = 0.3  # metres between things that stand side by side
UNHIDDEN = 0.8  # of their widths, how far things are apart across the line of sight
SMALLEST_PLACE = 1.5  # metres from the middle of a room or a field to its edge


@cache
def _cast_list() -> dict[str, list[str]]:
    found: dict[str, list[str]] = read_yaml(package_data("space/cast.yaml"))
    return found


def cast_of(text: StatedText, nouns: Mapping[str, str] | None = None) -> dict[str, Thing]:
    """A thing for everybody whom a text names and who can be drawn; `nouns` says what they are."""
    found: dict[str, Thing] = {}
    taken: set[str] = set()
    for name, kinds in text.kinds.items():
        noun = (nouns or {}).get(name, name.replace("-", " "))
        chosen = _thing_for(noun, kinds | kinds_of_nouns().get(noun, frozenset()), taken)
        if chosen:
            taken.add(chosen)
            found[name] = things()[chosen]
    return found


def _thing_for(noun: str, kinds: frozenset[str], taken: set[str]) -> str:
    noun = other_nouns().get(noun, noun)
    if noun in things():
        return noun
    for kind, names in _cast_list().items():
        if kind in kinds or (kind == "thing" and not kinds):
            free = [name for name in names if name not in taken]
            return (free or names)[0]
    return ""


class WitnessScene:
    """A text under a reading, with the things that play its parts."""

    def __init__(
        self, text: StatedText, reading: SentenceReading, cast: Mapping[str, Thing]
    ) -> None:
        self.cast = dict(cast)
        self.story, self.premises, self.claims = text.formulas(reading)
        self.things = [name for name in text.kinds if name in self.cast]
        self.places = [name for name in text.kinds if name not in self.cast]

    def witness(self, claim: int, truth: bool) -> Witness | None:
        """Numbers for a scene in which the premises hold and a claim is true, or false."""
        wanted = self.claims[claim] if truth else ~self.claims[claim]
        support, gaps = self._support(), self._gaps()
        sizes = list(self._sizes())
        ground = self._ground_floor()
        clear = [*ground, *support, *self._gaps(stacked=False), *self._sight()]
        spread = [*ground, *support, *gaps, *self._sight()]
        attempts = [(clear, NARROW), (spread, NARROW), ([*support, *gaps], FRAMES)]
        attempts += [(gaps, FRAMES), ([], FRAMES)]
        for wishes, frames in attempts:
            for frame in frames:
                stage = [*sizes, *self._frame(frame), *wishes, *self.premises, wanted]
                theory = Theory([*self.story.background(), *stage], [])
                found = theory.witness([])
                if found is not None:
                    return found
        return None

    def _sizes(self) -> Iterator[Formula]:
        for name in self.things:
            x, y, z = self.cast[name].size
            side = round(max(x, y), 3)  # a square, since it may be turned
            for axis, size in (("x", side), ("y", side), ("z", round(z, 3))):
                self.story.low(name, axis, NOW)
                yield quantity(f"{name}.half-{axis}").same(size / 2)
            if self.story.may_have_legs(name):
                yield quantity(f"{name}.legs").same(self.cast[name].beneath or z * 0.9)
        for name, axis in product(self._placed(), ("x", "y")):
            yield quantity(f"{name}.half-{axis}") >= SMALLEST_PLACE

    def _ground_floor(self) -> list[Formula]:
        """Rooms, houses and fields begin at the same height."""
        return [self.story.low(name, "z", NOW).same(0) for name in self._placed()]

    def _placed(self) -> list[str]:
        """The places whose sides matter."""
        placed, moment = self.story.placed, self.story.moment
        return [name for name in self.places if (name, moment(name, NOW)) in placed]

    def _frame(self, frame: float) -> Iterator[Formula]:
        for name in (*self.things, *self.places):
            for axis in ("x", "y"):
                yield self.story.middle(name, axis, NOW) <= frame
                yield self.story.middle(name, axis, NOW) >= -frame

    def _support(self) -> list[Formula]:
        """Everything stands on the floor, or in the middle of another thing's top or hollow."""
        found = []
        for name in self.things:
            ways = [self.story.low(name, "z", NOW).same(0)]
            if self.cast[name].living or self.cast[name].place == "outdoors":
                found += ways
                continue
            for other in self.things:
                if other == name:
                    continue
                if self.cast[other].top:
                    centred = self._over(name, other)
                    ways.append(resting(self.story, When(), name, other) & centred)
                if self._is_container(other):
                    ways.append(self.story.within(name, other, NOW))
            found.append(some(ways))
        return found

    def _over(self, upper: str, lower: str) -> Formula:
        parts = []
        for axis in ("x", "y"):
            there = self.story.middle(lower, axis, NOW)
            side = quantity(f"{lower}.half-{axis}") * 0.4
            parts.append(self.story.middle(upper, axis, NOW) <= there + side)
            parts.append(self.story.middle(upper, axis, NOW) >= there - side)
        return every(parts)

    def _gaps(self, *, stacked: bool = True) -> list[Formula]:
        """Things stand apart, unless one is on, in or under the other."""
        found = []
        for one, other in combinations(self.things, 2):
            ways = [self._column(one, other)] if stacked else []
            for axis in ("x", "y"):
                for left, right in ((one, other), (other, one)):
                    end = self.story.high(left, axis, NOW) + GAP
                    ways.append(end <= self.story.low(right, axis, NOW))
            found.append(some(ways))
        return found

    def _sight(self) -> list[Formula]:
        """Seen from the south, things do not hide one another."""
        found = []
        for one, other in combinations(self.things, 2):
            ways = [self._column(one, other)]
            widths = quantity(f"{one}.half-x") + quantity(f"{other}.half-x")
            for left, right in ((one, other), (other, one)):
                offset = self.story.middle(right, "x", NOW) - self.story.middle(left, "x", NOW)
                ways.append(offset >= widths * UNHIDDEN)
            found.append(some(ways))
        return found

    def _column(self, one: str, other: str) -> Formula:
        """One is on, in or under the other."""
        ways = []
        for a, b in ((one, other), (other, one)):
            ways.append(resting(self.story, When(), a, b))
            ways.append(self.story.high(a, "z", NOW) <= self.story.underside(b, NOW))
            if self._is_container(b):
                ways.append(self.story.within(a, b, NOW))
        return some(ways)

    def _is_container(self, name: str) -> bool:
        """Whether a thing has a hollow, and the text speaks of it."""
        return bool(self.cast[name].cavity) and name in self.story.holding


_CENTRE = re.compile(r"(.+)@(\d)\.([xyz])")
TURNS = (180.0, 90.0, 0.0, 270.0)  # of what faces north, east, south, west
VIEWS = ((0, 26), (12, 30), (-12, 30), (0, 42), (18, 38), (-18, 38), (0, 60), (0, 75))
SEEN_WELL = 0.6  # share of each thing that is not hidden
SEEN_AT_ALL = 0.1


class ShownWitness(NamedTuple):
    """A witness that can be drawn."""

    says: str  # what it shows
    witness: Witness
    stage: WitnessScene


def shown_for(
    text: StatedText, proof: Proof, nouns: Mapping[str, str] | None = None
) -> list[ShownWitness]:
    """The witnesses of a proof: two if the claim is left open, else one."""
    wanted = {
        "neutral": (("it could be", True), ("it need not be", False)),
        "entailment": (("so it is", True),),
        "contradiction": (("so it is not", False),),
    }.get(proof.verdict, ())
    found = []
    for says, truth in wanted:
        stage = WitnessScene(text, reading_named(proof.reading), cast_of(text, nouns))
        witness = stage.witness(0, truth)
        if witness is not None:
            found.append(ShownWitness(says, witness, stage))
    return found


def draw_witnesses(
    text: StatedText, proof: Proof, file: str | Path, nouns: Mapping[str, str] | None = None
) -> None:
    """Write the witnesses of a proof side by side: as a picture (.png) or a plan (.svg)."""
    shown = shown_for(text, proof, nouns)
    if not shown:
        raise UsageError(
            "There is no scene to draw: the premises cannot all be true.", "Leave --picture out."
        )
    if str(file).lower().endswith(".svg"):
        Path(file).write_text(plan_of(shown), encoding="utf-8")
        return
    panels = []
    for each in shown:
        scene = scene_of(each)
        if scene is None:
            raise UsageError(
                "These cannot all be seen in one picture.", "Give a file that ends in .svg."
            )
        panels += [draw(scene, 384).rgb, np.full((384, 8, 3), 255, dtype=np.uint8)]
    write_png(file, np.concatenate(panels[:-1], axis=1))


def scene_of(shown: ShownWitness) -> Scene | None:
    """The things of a witness, with a viewer in the south who sees as much of each as possible."""
    placed = []
    for number, name in enumerate(shown.stage.things):
        placed.append(_placed(shown, name, number))
    if not placed:
        return None
    outdoors = any(shown.stage.cast[name].place == "outdoors" for name in shown.stage.things)
    best, most = None, -1.0
    for around, above in VIEWS:
        viewer = viewer_of(placed, around=around, above=above)
        scene = Scene(
            things=tuple(placed),
            viewer=viewer,
            place="outdoors" if outdoors else "indoors",
            look=5,
        )
        least = least_seen(scene)
        if least > most:
            best, most = scene, least
        if most >= SEEN_WELL:
            break
    return best if most > SEEN_AT_ALL else None


def least_seen(scene: Scene) -> float:
    """The share of the thing that is hidden most."""
    return min(survey(scene, 96).visible.values())


def _placed(shown: ShownWitness, name: str, number: int) -> Placed:
    stage, values = shown.stage, shown.witness.values
    thing = stage.cast[name]
    x = float(stage.story.middle(name, "x", NOW).value(values))
    y = float(stage.story.middle(name, "y", NOW).value(values))
    z = _height(shown, name)
    colour = ""
    if list(stage.cast.values()).count(thing) > 1 and thing.colours:
        colour = thing.colours[number % len(thing.colours)]
    return Placed(id=name, thing=thing.name, at=(x, y, z), turn=_turn(shown, name), colour=colour)


def _height(shown: ShownWitness, name: str) -> float:
    """Where a thing stands; what is on or in another goes down to its top, or into its hollow."""
    stage, values = shown.stage, shown.witness.values
    low = float(stage.story.low(name, "z", NOW).value(values))
    for other in stage.things:
        if other == name:
            continue
        base = float(stage.story.low(other, "z", NOW).value(values))
        high = float(stage.story.high(other, "z", NOW).value(values))
        lower: Thing = stage.cast[other]
        if lower.top and abs(low - high) < 1e-6 and _overlaps(shown, name, other):
            return base + lower.top.height
        if lower.cavity and shown.witness.makes(stage.story.within(name, other, NOW)):
            return base + lower.cavity.floor
    return low


def _overlaps(shown: ShownWitness, name: str, other: str) -> bool:
    story, values = shown.stage.story, shown.witness.values
    for axis in ("x", "y"):
        if story.low(name, axis, NOW).value(values) >= story.high(other, axis, NOW).value(values):
            return False
        if story.low(other, axis, NOW).value(values) >= story.high(name, axis, NOW).value(values):
            return False
    return True


def heading_of(shown: ShownWitness, name: str) -> int | None:
    """Which of the winds somebody faces now, if it matters."""
    for moment in (NOW, 0):
        for wind in range(4):
            if shown.witness.flags.get(f"{name}@{moment} faces {wind}"):
                return wind
    return None


def _turn(shown: ShownWitness, name: str) -> float:
    wind = heading_of(shown, name)
    return 0.0 if wind is None else TURNS[wind]


def centres(witness: Witness | None) -> dict[str, dict[str, float]]:
    """Where things are in a witness: the centre of each along the axes that matter, at the end."""
    found: dict[str, dict[str, float]] = {}
    if witness is None:
        return found
    latest: dict[str, int] = {}
    for unknown, value in witness.values.items():
        match = _CENTRE.fullmatch(unknown)
        if match is None or int(match[2]) == EARLIER:
            continue
        name, moment, axis = match[1], int(match[2]), match[3]
        if moment < latest.get(name, moment):
            continue
        if moment > latest.get(name, -1):
            latest[name] = moment
            found[name] = {}
        found[name][axis] = round(float(value), 3)
    return found


# Plans of witnesses: things as boxes from above, or from the side where height is what matters.


SIDE = 380.0  # of a panel
MARGIN = 50.0
SMALLEST = 0.25  # metres: a thing without a size of its own
PALETTE = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bb5566", "#777777")


class PlanBox(NamedTuple):
    """A thing in a plan."""

    name: str
    left: float
    right: float
    low: float
    high: float
    place: bool  # a room or a city: an outline only
    heading: int | None


def plan_of(shown: Sequence[ShownWitness]) -> str:
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


def _panel(shown: ShownWitness) -> str:
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


def _is_about_height(shown: ShownWitness) -> bool:
    """Whether things differ in height and stand in one column, or no other axis is spoken of."""
    values = shown.witness.values
    spoken = [name for name in values if name.endswith(f"@{NOW}.z")]
    return bool(spoken) and not shown.stage.places and _spread(shown, "z") > _spread(shown, "y")


def _spread(shown: ShownWitness, axis: str) -> float:
    story, values = shown.stage.story, shown.witness.values
    places = [float(story.middle(name, axis, NOW).value(values)) for name in shown.stage.things]
    return max(places) - min(places) if places else 0.0


def _box(shown: ShownWitness, name: str, up: str) -> PlanBox:
    story, values = shown.stage.story, shown.witness.values

    def ends(axis: str) -> tuple[float, float]:
        middle = float(values.get(f"{name}@{story.moment(name, NOW)}.{axis}", 0))
        half = max(float(values.get(f"{name}.half-{axis}", SMALLEST)), SMALLEST / 2)
        return middle - half, middle + half

    left, right = ends("x")
    low, high = ends(up)
    is_place = name in shown.stage.places
    return PlanBox(name, left, right, low, high, is_place, heading_of(shown, name))


class _Scale:
    """From metres to the paper."""

    def __init__(self, boxes: Sequence[PlanBox]) -> None:
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


def _drawn(box: PlanBox, scale: _Scale, colour: str) -> str:
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


def _arrow(box: PlanBox, x: float, y: float) -> str:
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
