"""A scene: things with poses, a viewer, and links between things; JSON in and out.

A scene says where things are and nothing else: what stands on or in what, and every other relation,
follows from the poses (relations.py), so a scene cannot contradict itself.
"""

from math import hypot, isfinite
from pathlib import Path
from typing import Literal

import msgspec

from gnomon.errors import DataError, unknown
from gnomon.files import read_json
from gnomon.records import digest
from gnomon.scenes.things import Triple, palette, thing_named

MOST_THINGS = 200
MOST_LINKS = 100
LONGEST_NAME = 60
FARTHEST = 1000.0  # metres from the origin
SCALES = (0.05, 20.0)
ANGLES = (5.0, 120.0)
MOST_BYTES = 2**20  # of a scene's file
HINT = "The fields of a scene are listed in docs/scenes.md."


class Placed(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A thing in its place."""

    id: str
    thing: str  # its name in data/things
    at: Triple  # the middle of its base, in metres: x right, y away, z up
    turn: float = 0.0  # degrees, counter-clockwise as seen from above; at 0 its front looks to -y
    scale: float = 1.0
    colour: str = ""  # in place of its main colour
    group: str = ""  # things of one group are spoken of together: the chairs around the table
    lacks: tuple[str, ...] = ()  # names of parts that are missing


class Viewer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who looks: an eye, the point it looks at, and how wide it sees."""

    eye: Triple
    at: Triple
    angle: float = 40.0  # degrees, across the picture


class Scene(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One world.

    >>> cup = Placed(id="cup", thing="cup", at=(0, 0, 0))
    >>> scene = Scene(things=(cup,), viewer=Viewer(eye=(0, -1, 0.5), at=(0, 0, 0)))
    >>> from_json(to_json(scene)) == scene
    True
    """

    things: tuple[Placed, ...]
    viewer: Viewer
    links: tuple[tuple[str, str], ...] = ()  # pairs of ids that a rope joins
    place: Literal["indoors", "outdoors"] = "indoors"
    look: int = 0  # seed of floor, wall and light; below 0 they stay whichever camera looks
    wall: float = 0.0  # metres ahead of the eye; at 0 it stands behind all things

    @property
    def still(self) -> bool:
        """Whether light and floor are the same from every side, for worlds of several cameras."""
        return self.look < 0

    def placed(self, id: str) -> Placed:
        """The thing of this id."""
        for placed in self.things:
            if placed.id == id:
                return placed
        raise unknown("thing in the scene", id[:LONGEST_NAME], [p.id for p in self.things])

    def digest(self) -> str:
        """A short name: scenes that are alike in every field share it."""
        plain = msgspec.convert(msgspec.to_builtins(self), Scene)  # 1 and 1.0 are the same length
        return digest(to_json(plain))


def to_json(scene: Scene) -> str:
    """The scene as one line of JSON."""
    return msgspec.json.encode(scene).decode()


def from_json(text: str) -> Scene:
    """The scene that a JSON text describes, checked."""
    try:
        scene = msgspec.json.decode(text, type=Scene)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise DataError(f"not a scene: {error}.", HINT) from None
    check_scene(scene)
    return scene


def read_scene(file: str | Path) -> Scene:
    """The scene of a JSON file, checked."""
    scene = read_json(file, Scene, limit=MOST_BYTES, hint=HINT)
    check_scene(scene, file)
    return scene


def check_scene(scene: Scene, file: str | Path = "") -> None:
    """Raise an error that names the first field of a scene that cannot be."""
    problem = _problem_of_scene(scene)
    if problem:
        raise DataError(f"{problem}.", HINT, file=file)


def _problem_of_scene(scene: Scene) -> str:
    if not scene.things:
        return "'things' is empty"
    if len(scene.things) > MOST_THINGS:
        return f"'things' has {len(scene.things):,} entries; a scene has at most {MOST_THINGS}"
    ids: set[str] = set()
    for number, placed in enumerate(scene.things):
        problem = _problem_of_placed(placed)
        if placed.id in ids:
            problem = f".id: '{placed.id}' is used twice"
        if problem:
            return f"things[{number}]{problem}"
        ids.add(placed.id)
    if not 0 <= scene.wall <= 2 * FARTHEST:
        return f"'wall' must be from 0 to {2 * FARTHEST:.0f}"
    return _problem_of_links(scene, ids) or _problem_of_viewer(scene.viewer)


def _problem_of_placed(placed: Placed) -> str:
    if not 0 < len(placed.id) <= LONGEST_NAME or "." in placed.id:
        return f".id must have 1 to {LONGEST_NAME} characters, none of them a full stop"
    thing = thing_named(placed.thing)
    if not _is_near(placed.at):
        return f".at must be three numbers from -{FARTHEST:.0f} to {FARTHEST:.0f}"
    if not isfinite(placed.turn):
        return ".turn is not a number"
    if not SCALES[0] <= placed.scale <= SCALES[1]:
        return f".scale must be from {SCALES[0]} to {SCALES[1]}"
    if placed.colour and placed.colour not in palette():
        return f".colour: there is no colour named '{placed.colour[:LONGEST_NAME]}'"
    for name in placed.lacks:
        if name not in thing.part_names():
            return f".lacks: a {thing.name} has no part named '{name[:LONGEST_NAME]}'"
    return ""


def _problem_of_links(scene: Scene, ids: set[str]) -> str:
    if len(scene.links) > MOST_LINKS:
        return f"'links' has more than {MOST_LINKS} entries"
    for number, (first, second) in enumerate(scene.links):
        if first == second:
            return f"links[{number}] joins a thing to itself"
        for id in (first, second):
            if id not in ids:
                return f"links[{number}]: no thing has the id '{id[:LONGEST_NAME]}'"
    return ""


def _problem_of_viewer(viewer: Viewer) -> str:
    if not _is_near(viewer.eye) or not _is_near(viewer.at):
        return f"the viewer's eye and at must be numbers from -{FARTHEST:.0f} to {FARTHEST:.0f}"
    if not ANGLES[0] <= viewer.angle <= ANGLES[1]:
        return f"the viewer's angle must be from {ANGLES[0]:.0f} to {ANGLES[1]:.0f} degrees"
    if viewer.eye[2] <= 0:
        return "the viewer's eye is not above the ground"
    if hypot(viewer.at[0] - viewer.eye[0], viewer.at[1] - viewer.eye[1]) < 1e-6:
        return "the viewer looks straight up or down, so that left and right mean nothing"
    return ""


def _is_near(point: Triple) -> bool:
    return all(abs(value) <= FARTHEST for value in point)  # false for NaN, too
