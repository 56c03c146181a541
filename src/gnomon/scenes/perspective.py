"""Questions of perspective: another's left and right, where one stands and walks, who sees what."""

from collections.abc import Iterator, Sequence
from itertools import permutations
from math import hypot
from random import Random
from typing import NamedTuple

from msgspec.structs import replace

from gnomon.scenes.bodies import Body, dot, minus
from gnomon.scenes.pictures import survey, viewer_of
from gnomon.scenes.scenes import Placed, Scene, Viewer
from gnomon.scenes.worlds import (
    MARGIN,
    SURVEY,
    ViewDials,
    ViewQuestion,
    around,
    bearing,
    choices_of,
    floor_distance,
    free_place,
    is_clear,
    moved_to,
    new_look,
    question_text,
    rounded,
    rounded_viewer,
    scattered,
    sees,
    spot_of,
    view_words,
)

# person: the target stays where it is and the subject turns, so that the viewer's answer is always
# the same and right in half.


QUADRANTS = (45.0, 135.0, 225.0, 315.0)  # where the target is from the subject; 0 is away
HEADINGS = {"towards the camera": 0.0, "right": 90.0, "away from the camera": 180.0, "left": 270.0}
SWAY = 12.0  # degrees by which headings and quadrants vary
FRAMES = ("own",)
PROBED = ("unstated", "viewer", "own")


def person(rng: Random, dials: ViewDials, number: int) -> list[ViewQuestion] | None:
    """What someone has to the left, right, in front and behind: four headings, two questions."""
    subject = rng.choice(list(view_words()["fronted"]))
    around_it: list[str] = view_words()["fronted"][subject]
    count = max(1, dials.things - 1) if dials.things else rng.randint(2, 4)
    names = rng.sample(around_it, min(count, len(around_it)))
    placed = _around_subject(rng, subject, names, QUADRANTS[number % 4])
    if placed is None:
        return None
    frames = PROBED if dials.frames == "probe" else FRAMES
    look, above = new_look(rng), rng.uniform(20, 32)
    found: list[ViewQuestion] = []
    for heading, turn in HEADINGS.items():
        turned = replace(placed[0], turn=round(turn + rng.uniform(-SWAY, SWAY), 1) % 360)
        things = (turned, *placed[1:])
        viewer = rounded_viewer(viewer_of(things, above=above))
        scene = Scene(things=things, viewer=viewer, place="outdoors", look=look)
        if not sees(scene, (subject, names[0]), share=0.6):
            return None
        for frame in frames:
            found += _sides(scene, subject, names[0], heading, frame)
    return found


def _around_subject(
    rng: Random, subject: str, names: Sequence[str], quadrant: float
) -> list[Placed] | None:
    """The subject in the middle, the target at a quadrant of it, others anywhere."""
    middle = Placed(id=subject, thing=subject, at=(0.0, 0.0, 0.0))
    target = Placed(id=names[0], thing=names[0], at=(0.0, 0.0, 0.0), turn=float(rng.randrange(360)))
    sizes = Body(middle).diagonal / 2, Body(target).diagonal / 2
    distance = sum(sizes) + rng.uniform(0.3, 0.8)
    spot = around((0.0, 0.0), distance, quadrant + rng.uniform(-SWAY, SWAY))
    placed = [middle, moved_to(target, *spot)]
    for name in names[1:]:
        room = 1.4 * distance
        free = free_place(rng, name, placed, room, gap=0.3 + sizes[0])
        if free is None:
            return None
        placed.append(free)
    return placed


def _sides(
    scene: Scene, subject: str, target: str, heading: str, frame: str
) -> Iterator[ViewQuestion]:
    """Left or right, in front or behind, in the frame that the question names."""
    body = Body(scene.placed(subject))
    way = minus(spot_of(scene.placed(target)), body.at)
    own = {
        "sides": "right" if dot(way, (body.front[1], -body.front[0])) > 0 else "left",
        "depth": "in front" if dot(way, body.front) > 0 else "behind",
    }
    viewer = {  # the camera looks to +y
        "sides": "right" if way[0] > 0 else "left",
        "depth": "in front" if way[1] < 0 else "behind",
    }
    for axis, choices in (("sides", choices_of("sides")), ("depth", choices_of("depth"))):
        agree = own[axis] == viewer[axis]
        tags = {"heading": heading, "frame": frame, "axis": axis, "thing": subject}
        if frame != "viewer":
            tags["cue"] = "consistent" if agree else "counter"
        yield ViewQuestion(
            question_text(f"{frame} {axis}", subject=subject, target=target),
            choices,
            viewer[axis] if frame == "viewer" else own[axis],
            (scene,),
            tags,
            scene,
        )


# stand and route: from one thing to another, and where a third is then.


class Walk(NamedTuple):
    """Three things by name, and how the third lies for who looks from the first to the second."""

    a: str
    b: str
    c: str
    angle: float  # degrees, clockwise, -180 to 180


LEAST_WAY = 0.8  # metres between things of a walk
ROOM = 2.0  # metres from the middle of a floor to its sides


def layout(rng: Random, dials: ViewDials, least: int = 5) -> Scene | None:
    """Things all over a floor, seen from well above."""
    count = dials.things or rng.randint(least, least + 2)
    standing = view_words()["standing"]
    names = rng.sample(standing, min(count, len(standing)))
    placed = scattered(rng, names, ROOM)
    if placed is None:
        return None
    viewer = rounded_viewer(viewer_of(placed, above=rng.uniform(28, 40), angle=45))
    scene = Scene(things=tuple(placed), viewer=viewer, place="outdoors", look=new_look(rng))
    return scene if sees(scene, names) else None


def walks(scene: Scene) -> list[Walk]:
    """Every way to look from one thing to another, with a third thing, where all is clear."""
    found = []
    spots = {placed.id: spot_of(placed) for placed in scene.things}
    for a, b, c in permutations(spots, 3):
        ways = floor_distance(spots[a], spots[b]), floor_distance(spots[a], spots[c])
        if min(ways) < LEAST_WAY:
            continue
        angle = bearing(minus(spots[c], spots[a]), minus(spots[b], spots[a]))
        if is_clear(angle):
            found.append(Walk(a, b, c, angle))
    return found


def stand(rng: Random, dials: ViewDials, number: int) -> list[ViewQuestion] | None:
    """Each of the four quarters once, in one world; in every other world the angle in degrees."""
    scene = layout(rng, dials)
    if scene is None:
        return None
    by_quarter: dict[str, list[Walk]] = {choice: [] for choice in choices_of("stand")}
    for walk in walks(scene):
        by_quarter[_quarter(walk.angle)].append(walk)
    if not all(by_quarter.values()):
        return None
    chosen = [rng.choice(some) for some in by_quarter.values()]
    if number % 2:
        return [_turned(scene, walk) for walk in chosen]
    found = []
    for walk in chosen:
        text = question_text("stand", a=walk.a, b=walk.b, c=walk.c)
        tags = {"angle": angle_band(abs(walk.angle))}
        choices = choices_of("stand")
        found.append(ViewQuestion(text, choices, _quarter(walk.angle), (scene,), tags, scene))
    return found


def _turned(scene: Scene, walk: Walk) -> ViewQuestion:
    """How far one must turn, in degrees."""
    text = question_text("degrees", a=walk.a, b=walk.b, c=walk.c)
    gold = f"{abs(walk.angle):.0f} degrees"
    tags = {"angle": angle_band(abs(walk.angle))}
    return ViewQuestion(text, (), gold, (scene,), tags, scene)


def _quarter(angle: float) -> str:
    return ("front " if abs(angle) < 90 else "back ") + ("right" if angle > 0 else "left")


def angle_band(angle: float) -> str:
    """Thirty degrees to which an angle belongs.

    >>> angle_band(44.0)
    '30-60'
    """
    low = min(150, int(angle // 30) * 30)
    return f"{low}-{low + 30}"


def route(rng: Random, dials: ViewDials, number: int) -> list[ViewQuestion] | None:
    """A turn on a walk and on the way back; and on which side a thing is at the end of a walk."""
    scene = layout(rng, dials)
    if scene is None:
        return None
    by_side: dict[str, list[Walk]] = {"left": [], "right": []}
    for walk in _turns(scene):
        if is_clear(walk.angle, (0.0, 180.0, -180.0)):
            by_side["right" if walk.angle > 0 else "left"].append(walk)
    if not all(by_side.values()):
        return None
    there = rng.choice(by_side["left"])
    back = Walk(there.c, there.b, there.a, -there.angle)
    asked = [("turn", there), ("turn", back)]
    asked += [("arrival", rng.choice(some)) for some in by_side.values()]
    told = _told_walk(rng, scene) if number % 2 else ""
    found = []
    for name, walk in asked:
        text = question_text(name, a=walk.a, b=walk.b, c=walk.c)
        gold = "right" if walk.angle > 0 else "left"
        tags = {"angle": angle_band(abs(walk.angle)), "part": name}
        tags["wording"] = "route" if told else "survey"
        sides = choices_of("sides")
        found.append(ViewQuestion(text, sides, gold, (scene,), tags, scene, context=told))
    return found


def _told_walk(rng: Random, scene: Scene) -> str:
    """The world as a walk from thing to thing: every place follows from lengths and turns."""
    order = rng.sample(list(scene.things), len(scene.things))
    spots = [spot_of(placed) for placed in order]
    told = [f"You stand at the {order[0].id} and face the {order[1].id}."]
    ahead = minus(spots[1], spots[0])
    for number in range(1, len(order)):
        way = minus(spots[number], spots[number - 1])
        turn = bearing(way, ahead)
        length = f"walk {100 * hypot(*way):.0f} cm straight to the {order[number].id}"
        side = "right" if turn > 0 else "left"
        if number == 1:
            told.append(f"You {length}.")
        else:
            told.append(f"There you turn {abs(turn):.0f} degrees to the {side}, and {length}.")
        ahead = way
    return " ".join(told)


def _turns(scene: Scene) -> Iterator[Walk]:
    """From a to b and on to c: by how much one turns at b."""
    spots = {placed.id: spot_of(placed) for placed in scene.things}
    for a, b, c in permutations(spots, 3):
        before, after = minus(spots[b], spots[a]), minus(spots[c], spots[b])
        if min(hypot(*before), hypot(*after)) >= LEAST_WAY:
            yield Walk(a, b, c, bearing(after, before))


# sight: what a person sees, with the same things in every picture.


EYES = 0.93  # height of a person's eyes, as a share of the person's
SEEN, HIDDEN = 0.2, 0.01  # shares of a thing: so much is seen, no more than that is hidden
FIELD = 120.0  # degrees that a person sees
WALL = "block 1.5 x 0.16 x 2.1"


def sight(rng: Random, dials: ViewDials, number: int) -> list[ViewQuestion] | None:
    """Whether the person sees a thing: a wall, a refrigerator, or a turned back may prevent it."""
    name = rng.choice(view_words()["seen"])
    side = rng.choice((-1, 1))
    distance = rng.uniform(2.6, 3.4)
    target = Placed(id=name, thing=name, at=(0.0, 0.0, 0.0), turn=float(rng.randrange(360)))
    target = moved_to(target, side * distance / 2, rng.uniform(-0.3, 0.3))
    facing = 90.0 if side > 0 else 270.0
    look, above = new_look(rng), rng.uniform(30, 42)
    found = []
    for reason in ("wall", "refrigerator", "field of view"):
        for can in (True, False):
            turn = facing + rng.uniform(-20, 20)
            if reason == "field of view" and not can:
                turn += rng.choice((-1, 1)) * rng.uniform(125, 180)
            start = -side * rounded(distance / 2)
            at = (start, 0.0, 0.0)
            who = Placed(id="person", thing="person", at=at, turn=round(turn % 360, 1))
            between = "" if can or reason == "field of view" else reason
            things = (who, target, *_obstacles(rng, between, spot_of(target), start))
            viewer = rounded_viewer(viewer_of(things, above=above))
            scene = Scene(things=things, viewer=viewer, place="outdoors", look=look)
            if not sees(scene, ("person", name), share=0.4) or can_see(scene, name) is not can:
                return None
            text = question_text("sight", target=name)
            gold = "yes" if can else "no"
            tags = {"reason": reason}
            found.append(ViewQuestion(text, choices_of("sight"), gold, (scene,), tags, scene))
    return found


def _obstacles(
    rng: Random, between: str, target: tuple[float, float], start: float
) -> tuple[Placed, Placed]:
    """A wall and a refrigerator: one of them in the line of sight, or both behind it."""
    share = rng.uniform(0.4, 0.6)
    middle = (start + (target[0] - start) * share, target[1] * share)
    wall = Placed(id="wall", thing=WALL, at=(0.0, 0.0, 0.0), turn=90.0, colour="pale grey")
    fridge = Placed(id="refrigerator", thing="refrigerator", at=(0.0, 0.0, 0.0))
    aside = [(-rng.uniform(0.9, 1.3), 1.9), (rng.uniform(0.9, 1.3), 1.9)]
    rng.shuffle(aside)
    wall = replace(moved_to(wall, *aside[0]), turn=float(rng.randrange(-15, 15)))
    fridge = moved_to(fridge, *aside[1])
    if between == "wall":
        wall = replace(moved_to(wall, *middle), turn=90.0 + rng.randrange(-12, 12))
    elif between == "refrigerator":
        fridge = moved_to(fridge, *middle)
    return wall, fridge


def can_see(scene: Scene, target: str) -> bool | None:
    """Whether the person sees a thing; none where that is not clear."""
    who = scene.placed("person")
    body = Body(who)
    way = minus(spot_of(scene.placed(target)), body.at)
    off = abs(bearing(way, body.front))
    if abs(off - FIELD / 2) < MARGIN:
        return None
    if off > FIELD / 2:
        return False
    height = round(body.height * EYES, 3)
    eye = (who.at[0], who.at[1], height)
    at = (eye[0] + body.front[0], eye[1] + body.front[1], height)
    others = tuple(placed for placed in scene.things if placed.id != "person")
    inner = replace(scene, things=others, viewer=Viewer(eye=eye, at=at, angle=FIELD))
    seen = survey(inner, 2 * SURVEY)
    share = seen.visible[target] if seen.boxes[target] else 0.0
    if share >= SEEN:
        return True
    return False if share <= HIDDEN else None
