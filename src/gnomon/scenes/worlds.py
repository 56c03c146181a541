"""Worlds of several cameras: things on a floor, who looks at them, and questions about them.

A question has one right answer that follows from the poses with a margin. Questions come in matched
sets: the same things, words and cameras, of which nothing but the asked fact differs.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from math import atan2, cos, degrees, hypot, radians, sin
from random import Random
from typing import Any, Literal, NamedTuple

import numpy as np
from msgspec.structs import replace

from gnomon.files import package_data, read_yaml
from gnomon.scenes.bodies import Body, Plan, dot, minus, plan_distance
from gnomon.scenes.descriptions import describe_scene
from gnomon.scenes.pictures import survey, viewer_of
from gnomon.scenes.scenes import Placed, Scene, Viewer
from gnomon.scenes.surroundings import FLAT, NARROWEST
from gnomon.scenes.things import thing_named

MARGIN = 15.0  # degrees that a direction keeps from the border of another answer
RATIO = 1.25  # the least ratio of two distances that are compared
PLACINGS = 200  # that are tried for a thing
SURVEY = 96  # pixels of the survey that says what is seen
LOOKS = 1000


class ViewDials(NamedTuple):
    """What may be set for all kinds."""

    things: int = 0  # how many stand in a world; 0: it varies
    angle: int = 0  # degrees between two cameras, or of a turned shape; 0: it varies
    ratio: float = 0.0  # of two distances that are compared; 0: it varies
    frames: str = "stated"  # or probe


class PlanView(NamedTuple):
    """A world from above, with its camera at the bottom."""

    scene: Scene


Shown = Scene | PlanView


class ViewQuestion(NamedTuple):
    """One question: what is shown, in order, what is asked, and what is right."""

    text: str
    choices: tuple[str, ...]  # none: the answer is a number
    gold: str
    shows: tuple[Shown, ...]
    tags: dict[str, str]
    scene: Scene | None = None  # the one world that it is about, where words or a plan will do
    text_in_words: str = ""  # where words take another question
    context: str = ""  # the world in words, where a description of the scene will not do


@cache
def view_words() -> dict[str, Any]:
    """Questions, choices and things of data/views.yaml."""
    content: dict[str, Any] = read_yaml(package_data("views.yaml"))
    return content


def question_text(name: str, **names: str) -> str:
    """A question of the file, with names of things put in."""
    return str(view_words()["questions"][name]).format(**names)


def choices_of(name: str) -> tuple[str, ...]:
    """Answers of the file."""
    return tuple(view_words()["choices"][name])


# Where things stand.


def new_look(rng: Random) -> int:
    """A floor, sky and light that stay the same from every side."""
    return -1 - rng.randrange(LOOKS)


def is_indoors(look: int) -> bool:
    """Whether a look is that of a room: one in two."""
    return look % 2 == 1


def fitting(look: int, names: Iterable[str]) -> list[str]:
    """Those of some things that may stand in a world of this look."""
    if not is_indoors(look):
        return list(names)
    return [name for name in names if thing_named(name).place != "outdoors"]


def some_standing(rng: Random, look: int, count: int) -> list[str]:
    """Things that are told apart at a glance."""
    names = fitting(look, view_words()["standing"])
    return rng.sample(names, min(count, len(names)))


def placed_at(rng: Random, name: str, spot: Plan = (0.0, 0.0)) -> Placed:
    """A thing on the floor, turned anyhow."""
    at = (rounded(spot[0]), rounded(spot[1]), 0.0)
    return Placed(id=name, thing=name, at=at, turn=float(rng.randrange(360)))


def scattered(
    rng: Random, names: Sequence[str], room: float, *, gap: float = 0.35
) -> list[Placed] | None:
    """Things at random places of a square floor, none near another; none if there is no room."""
    placed: list[Placed] = []
    for name in names:
        free = free_place(rng, name, placed, room, gap)
        if free is None:
            return None
        placed.append(free)
    return placed


def free_place(
    rng: Random, name: str, others: Iterable[Placed], room: float, gap: float
) -> Placed | None:
    """A thing at a random place that keeps clear of others."""
    there = list(others)
    for _ in range(PLACINGS):
        placed = placed_at(rng, name, (rng.uniform(-room, room), rng.uniform(-room, room)))
        if keeps_clear(placed, there, gap):
            return placed
    return None


def keeps_clear(placed: Placed, others: Iterable[Placed], gap: float) -> bool:
    """Whether so many metres lie between a thing and each of some others."""
    body = Body(placed)
    return all(plan_distance(body, Body(other)) >= gap for other in others)


def rounded(length: float) -> float:
    """A length in whole millimetres."""
    return round(length, 3)


def moved_to(placed: Placed, x: float, y: float) -> Placed:
    """A thing at another place of the floor."""
    return replace(placed, at=(rounded(x), rounded(y), placed.at[2]))


def mirrored_things(things: Iterable[Placed]) -> tuple[Placed, ...]:
    """Left and right exchanged."""
    found = []
    for placed in things:
        x, y, z = placed.at
        found.append(replace(placed, at=(-x, y, z), turn=-placed.turn % 360))
    return tuple(found)


# Directions and distances.


def bearing(way: Plan, ahead: Plan) -> float:
    """Degrees from one direction to another, clockwise from above, -180 to 180."""
    right = (ahead[1], -ahead[0])
    return degrees(atan2(dot(way, right), dot(way, ahead)))


def is_clear(angle: float, borders: Sequence[float] = (0.0, 90.0, 180.0, -90.0, -180.0)) -> bool:
    """Whether a direction keeps clear of the borders between answers."""
    return all(abs(angle - border) >= MARGIN for border in borders)


def spot_of(placed: Placed) -> Plan:
    """Where a thing stands in plan."""
    return placed.at[0], placed.at[1]


def floor_distance(first: Plan, second: Plan) -> float:
    """Metres between two places of the floor."""
    return hypot(*minus(first, second))


def around(place: Plan, distance: float, angle: float) -> Plan:
    """The place that lies at an angle from another: 0 away from the camera, 90 to its right."""
    turn = radians(angle)
    return place[0] + distance * sin(turn), place[1] + distance * cos(turn)


def eye_of(viewer: Viewer) -> Plan:
    """Where a camera stands in plan."""
    return viewer.eye[0], viewer.eye[1]


# What is seen.


def rounded_viewer(viewer: Viewer) -> Viewer:
    """A camera whose lengths are whole millimetres."""
    x, y, z = (rounded(value) for value in viewer.eye)
    u, v, w = (rounded(value) for value in viewer.at)
    return Viewer(eye=(x, y, z), at=(u, v, w), angle=viewer.angle)


def camera_on(things: Sequence[Placed], **options: float) -> Viewer:
    """A camera that has all of some things in its picture (see viewer_of)."""
    return rounded_viewer(viewer_of(things, **options))


def seen_world(
    things: Iterable[Placed],
    viewer: Viewer,
    look: int,
    ids: Iterable[str] = (),
    *,
    share: float = 0.5,
    least: int = 24,
) -> Scene | None:
    """A room or a garden; none if a good part of each thing, or of those named, is not seen."""
    chosen = tuple(things)
    if is_indoors(look) and not _fits_a_room(chosen):
        return None
    place: Literal["indoors", "outdoors"] = "indoors" if is_indoors(look) else "outdoors"
    scene = Scene(things=chosen, viewer=viewer, place=place, look=look)
    wanted = set(ids) or {each.id for each in chosen}
    return scene if wanted <= seen_ids(scene, share=share, least=least) else None


def _fits_a_room(things: Iterable[Placed]) -> bool:
    """Whether no thing reaches into what stands against the walls."""
    for placed in things:
        for corner in Body(placed).corners:
            if max(abs(corner[0]), abs(corner[1])) > NARROWEST - FLAT:
                return False
    return True


def seen_ids(scene: Scene, *, share: float, least: int = 24) -> set[str]:
    """The things of which the camera sees a good part."""
    seen = survey(scene, SURVEY)
    pixels = np.bincount(seen.mask.ravel(), minlength=len(scene.things) + 1)
    found = set()
    for number, placed in enumerate(scene.things, start=1):
        if pixels[number] >= least and seen.visible[placed.id] >= share:
            found.add(placed.id)
    return found


def in_words(scene: Scene, wording: int) -> str:
    """The world in words, and where the camera is."""
    eye, at = scene.viewer.eye, scene.viewer.at
    south = 100 * hypot(eye[0] - at[0], eye[1] - at[1])
    camera = (
        f"The camera, from which you look, is {south:.1f} cm south of the mark, at height "
        f"{100 * eye[2]:.1f} cm."
    )
    return f"{describe_scene(scene, wording % 2)}\n{camera}"


def plan_legend(scene: Scene) -> str:
    """What the colours of a plan stand for."""
    names = list(view_words()["plan colours"])
    entries = []
    for number, placed in enumerate(scene.things):
        entries.append(f"{names[number % len(names)]}: {placed.id}")
    legend = "; ".join(entries)
    return str(view_words()["legend"]).format(entries=legend[0].upper() + legend[1:])
