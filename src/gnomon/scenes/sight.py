"""Questions of sight: what a person sees, or whoever stands in a doorway, behind what hides it."""

from collections.abc import Sequence
from itertools import permutations
from math import cos, radians, sin
from random import Random
from typing import NamedTuple

from msgspec.structs import replace

from gnomon.scenes import worlds
from gnomon.scenes.bodies import Body, Plan, minus
from gnomon.scenes.pictures import survey
from gnomon.scenes.scenes import Placed, Scene, Viewer
from gnomon.scenes.worlds import ViewDials, ViewQuestion

EYES = 0.93  # height of a person's eyes, as a share of the person's
DOOR_EYES = 1.5  # metres: the height of the eyes of who stands in a doorway
SEEN, HIDDEN = 0.2, 0.01  # shares of a thing: so much is seen, no more than that is hidden
FIELD = 120.0  # degrees that a person sees
WALL = "block 1.5 x 0.16 x 2.1"
SCREEN = "block 1.3 x 0.08 x 1.7"
JAMB, LINTEL = "block 0.9 x 0.14 x 2.1", "block 0.9 x 0.14 x 0.2"
DOOR = 2.7  # metres from the middle of a place to its doorway
SCREENINGS = 60  # ways of standing screens that are tried
COUNTED = 5  # things of which some are seen from the door
EACH = 3  # pictures for each of two numbers


class Onlooker(NamedTuple):
    """An eye within a world that looks straight ahead."""

    eye: tuple[float, float, float]
    ahead: Plan


def sight(rng: Random, dials: ViewDials, number: int) -> list[ViewQuestion] | None:
    """In turn: whether a person sees a thing, how many are seen from a door, which one eye sees."""
    makers = (_can_the_person_see, _how_many_from_the_door, _hidden_from_one)
    return makers[number % len(makers)](rng)


def seen_by(scene: Scene, who: Onlooker, ids: Sequence[str]) -> list[bool | None]:
    """Whether an onlooker sees each of some things; none where that is not clear."""
    at = (who.eye[0] + who.ahead[0], who.eye[1] + who.ahead[1], who.eye[2])
    others = []
    for placed in scene.things:
        if worlds.spot_of(placed) != who.eye[:2] or placed.id != "person":
            others.append(placed)
    viewer = Viewer(eye=who.eye, at=at, angle=FIELD)
    seen = survey(replace(scene, things=tuple(others), viewer=viewer), 2 * worlds.SURVEY)
    found: list[bool | None] = []
    for id in ids:
        off = abs(worlds.bearing(minus(worlds.spot_of(scene.placed(id)), who.eye[:2]), who.ahead))
        share = seen.visible[id] if seen.boxes[id] else 0.0
        if abs(off - FIELD / 2) < worlds.MARGIN or (off < FIELD / 2 and HIDDEN < share < SEEN):
            found.append(None)
        else:
            found.append(off < FIELD / 2 and share >= SEEN)
    return found


def _person_eye(person: Placed) -> Onlooker:
    body = Body(person)
    return Onlooker((person.at[0], person.at[1], round(body.height * EYES, 3)), body.front)


# Whether the person sees a thing: a wall, a refrigerator or a turned back may prevent it.


def _can_the_person_see(rng: Random) -> list[ViewQuestion] | None:
    """Three reasons, each with a picture where the thing is seen and one where it is not."""
    look, above = worlds.new_look(rng), rng.uniform(30, 42)
    name = rng.choice(worlds.fitting(look, worlds.view_words()["seen"]))
    side = rng.choice((-1, 1))
    distance = rng.uniform(2.6, 3.4)
    target = worlds.placed_at(rng, name, (side * distance / 2, rng.uniform(-0.3, 0.3)))
    facing = 90.0 if side > 0 else 270.0
    found = []
    for reason in ("wall", "refrigerator", "field of view"):
        for can in (True, False):
            turn = facing + rng.uniform(-20, 20)
            if reason == "field of view" and not can:
                turn += rng.choice((-1, 1)) * rng.uniform(125, 180)
            who = _person((-side * distance / 2, 0.0), turn)
            between = "" if can or reason == "field of view" else reason
            things = (who, target, *_obstacles(rng, between, worlds.spot_of(target), who.at[0]))
            viewer = worlds.camera_on(things, above=above)
            scene = worlds.seen_world(things, viewer, look, ("person", name), share=0.4)
            if scene is None or seen_by(scene, _person_eye(who), [name]) != [can]:
                return None
            text = worlds.question_text("sight", target=name)
            gold = "yes" if can else "no"
            tags = {"reason": reason, "part": "person"}
            found.append(
                ViewQuestion(text, worlds.choices_of("sight"), gold, (scene,), tags, scene)
            )
    return found


def _person(spot: Plan, turn: float) -> Placed:
    at = (worlds.rounded(spot[0]), worlds.rounded(spot[1]), 0.0)
    return Placed(id="person", thing="person", at=at, turn=round(turn % 360, 1))


def _obstacles(rng: Random, between: str, target: Plan, start: float) -> tuple[Placed, Placed]:
    """A wall and a refrigerator: one of them in the line of sight, or both behind it."""
    share = rng.uniform(0.4, 0.6)
    middle = (start + (target[0] - start) * share, target[1] * share)
    wall = Placed(id="wall", thing=WALL, at=(0.0, 0.0, 0.0), turn=90.0, colour="pale grey")
    fridge = Placed(id="refrigerator", thing="refrigerator", at=(0.0, 0.0, 0.0))
    aside = [(-rng.uniform(0.9, 1.3), 1.9), (rng.uniform(0.9, 1.3), 1.9)]
    rng.shuffle(aside)
    wall = replace(worlds.moved_to(wall, *aside[0]), turn=float(rng.randrange(-15, 15)))
    fridge = worlds.moved_to(fridge, *aside[1])
    if between == "wall":
        wall = replace(worlds.moved_to(wall, *middle), turn=90.0 + rng.randrange(-12, 12))
    elif between == "refrigerator":
        fridge = worlds.moved_to(fridge, *middle)
    return wall, fridge


# From a door: two walls with a gap, and screens that hide what is behind them.


def _doorway(rng: Random) -> tuple[list[Placed], Onlooker]:
    """A doorway at the back or at a side, and who stands in it and looks straight in."""
    turn = rng.choice((0, 90, 270))
    ahead = (round(sin(radians(turn)), 3), -round(cos(radians(turn)), 3))
    middle = (-DOOR * ahead[0], -DOOR * ahead[1])
    parts = []
    for id, block, aside, up in (
        ("post 1", JAMB, 0.9, 0.0),
        ("post 2", JAMB, -0.9, 0.0),
        ("lintel", LINTEL, 0.0, 1.9),
    ):
        at = (
            worlds.rounded(middle[0] - aside * ahead[1]),
            worlds.rounded(middle[1] + aside * ahead[0]),
            up,
        )
        parts.append(Placed(id=id, thing=block, at=at, turn=float(turn), colour="terracotta"))
    return parts, Onlooker((worlds.rounded(middle[0]), worlds.rounded(middle[1]), DOOR_EYES), ahead)


def _screen(rng: Random, name: str, start: Plan, target: Plan) -> Placed:
    """A screen across the line from an eye to a place."""
    share = rng.uniform(0.4, 0.75)
    way = minus(target, start)
    turn = -worlds.bearing(way, (0.0, 1.0)) + rng.uniform(-15, 15)
    at = (worlds.rounded(start[0] + share * way[0]), worlds.rounded(start[1] + share * way[1]), 0.0)
    return Placed(id=name, thing=SCREEN, at=at, turn=round(turn % 360, 1), colour="pale grey")


def _how_many_from_the_door(rng: Random) -> list[ViewQuestion] | None:
    """The same things and three screens: two numbers, in as many pictures each."""
    look = 2 * (worlds.new_look(rng) // 2)  # a garden: rooms have doors of their own
    many = rng.choice(list(worlds.view_words()["counted"]))
    parts, who = _doorway(rng)
    placed = worlds.scattered(rng, [many] * COUNTED, 1.7, gap=0.5)
    if placed is None:
        return None
    copies = [replace(each, id=f"{many} {n}") for n, each in enumerate(placed, start=1)]
    shown = {str(seen): [] for seen in rng.sample(range(1, COUNTED), 2)}  # type: dict[str, list[Scene]]
    for _ in range(SCREENINGS):
        scene, seen = _screened(rng, copies, parts, who, look)
        pictures = shown.get(seen)
        if scene is not None and pictures is not None and len(pictures) < EACH:
            pictures.append(scene)
    found = []
    for gold, pictures in shown.items():
        if len(pictures) < EACH:
            return None
        text = worlds.question_text("from the door", many=worlds.view_words()["counted"][many])
        for scene in pictures:
            found.append(ViewQuestion(text, (), gold, (scene,), {"part": "doorway"}, scene))
    return found


def _screened(
    rng: Random, copies: list[Placed], parts: list[Placed], who: Onlooker, look: int
) -> tuple[Scene | None, str]:
    """The things behind screens that stand anyhow, and how many are seen; none if unclear."""
    targets = rng.sample(copies, 3)
    screens: list[Placed] = []
    for number, target in enumerate(targets, start=1):
        screen = _screen(rng, f"screen {number}", who.eye[:2], worlds.spot_of(target))
        if worlds.keeps_clear(screen, [*copies, *screens, *parts], 0.1):
            screens.append(screen)
    things = (*copies, *parts, *screens)
    ids = [each.id for each in copies]
    scene = worlds.seen_world(
        things, worlds.camera_on(things, above=50.0), look, ids, share=0.4, least=14
    )
    if scene is None:
        return None, ""
    seen = seen_by(scene, who, ids)
    return scene, "" if None in seen else str(seen.count(True))


def _hidden_from_one(rng: Random) -> list[ViewQuestion] | None:
    """Three things change places: hidden from the person, from the door, and from neither."""
    look = 2 * (worlds.new_look(rng) // 2)
    names = rng.sample(worlds.view_words()["seen"], 3)
    parts, door = _doorway(rng)
    spots = worlds.scattered(rng, names, 1.5, gap=0.6)
    if spots is None:
        return None
    start = (rng.choice((-1, 1)) * rng.uniform(2.0, 2.6), rng.uniform(-1.5, 1.5))
    who = _person(
        start, worlds.bearing((start[0], start[1]), (0.0, 1.0)) * -1 + rng.uniform(-12, 12)
    )
    screens = [
        _screen(rng, "screen 1", start, worlds.spot_of(spots[0])),
        _screen(rng, "screen 2", door.eye[:2], worlds.spot_of(spots[1])),
    ]
    fixed = [*parts, who, *screens]
    for number, each in enumerate(fixed[3:], start=3):
        if not worlds.keeps_clear(each, [*spots, *fixed[:number]], 0.1):
            return None
    found = []
    for order in permutations(names):
        things = [
            replace(spot, id=name, thing=name) for spot, name in zip(spots, order, strict=True)
        ]
        viewer = worlds.camera_on([*things, *fixed], above=48.0)
        scene = worlds.seen_world([*things, *fixed], viewer, look, ("person", *order), share=0.4)
        if scene is None:
            return None
        if seen_by(scene, _person_eye(who), order) != [False, True, True]:
            return None
        if seen_by(scene, door, order) != [True, False, True]:
            return None
        text = worlds.question_text("hidden from one")
        choices = tuple(names)
        tags = {"part": "two eyes"}
        found.append(ViewQuestion(text, choices, order[0], (scene,), tags, scene))
    return found
