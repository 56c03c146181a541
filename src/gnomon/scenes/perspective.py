"""Questions of perspective: another's left and right, and where one stands and walks."""

from collections.abc import Iterator, Sequence
from itertools import permutations
from math import hypot
from random import Random
from typing import NamedTuple

from msgspec.structs import replace

from gnomon.scenes import worlds
from gnomon.scenes.bodies import Body, dot, minus
from gnomon.scenes.scenes import Placed, Scene
from gnomon.scenes.worlds import ViewDials, ViewQuestion

# person: the target stays where it is and the subject turns, so that the viewer's answer is always
# the same and right in half.


QUADRANTS = (45.0, 135.0, 225.0, 315.0)  # where the target is from the subject; 0 is away
HEADINGS = {"towards the camera": 0.0, "right": 90.0, "away from the camera": 180.0, "left": 270.0}
SWAY = 12.0  # degrees by which headings and quadrants vary
FRAMES = ("own",)
PROBED = ("unstated", "viewer", "own")


def person(rng: Random, dials: ViewDials, number: int) -> list[ViewQuestion] | None:
    """What someone has to the left, right, in front and behind: four headings, two questions."""
    look, above = worlds.new_look(rng), rng.uniform(20, 32)
    fronted = worlds.view_words()["fronted"]
    subject = rng.choice(worlds.fitting(look, fronted))
    around_it = worlds.fitting(look, fronted[subject])
    count = dials.things - 1 if dials.things else rng.randint(2, 4)
    names = rng.sample(around_it, min(count, len(around_it)))
    placed = _around_subject(rng, subject, names, QUADRANTS[number % 4])
    if placed is None:
        return None
    frames = PROBED if dials.frames == "probe" else FRAMES
    found: list[ViewQuestion] = []
    for heading, turn in HEADINGS.items():
        turned = replace(placed[0], turn=round(turn + rng.uniform(-SWAY, SWAY), 1) % 360)
        things = (turned, *placed[1:])
        viewer = worlds.camera_on(things, above=above)
        scene = worlds.seen_world(things, viewer, look, (subject, names[0]), share=0.6)
        if scene is None:
            return None
        for frame in frames:
            found += _sides(scene, subject, names[0], heading, frame)
    return found


def _around_subject(
    rng: Random, subject: str, names: Sequence[str], quadrant: float
) -> list[Placed] | None:
    """The subject in the middle, the target at a quadrant of it, others anywhere."""
    middle = Placed(id=subject, thing=subject, at=(0.0, 0.0, 0.0))
    target = worlds.placed_at(rng, names[0])
    sizes = Body(middle).diagonal / 2, Body(target).diagonal / 2
    distance = sum(sizes) + rng.uniform(0.3, 0.8)
    spot = worlds.around((0.0, 0.0), distance, quadrant + rng.uniform(-SWAY, SWAY))
    placed = [middle, worlds.moved_to(target, *spot)]
    for name in names[1:]:
        room = 1.4 * distance
        free = worlds.free_place(rng, name, placed, room, gap=0.3 + sizes[0])
        if free is None:
            return None
        placed.append(free)
    return placed


def _sides(
    scene: Scene, subject: str, target: str, heading: str, frame: str
) -> Iterator[ViewQuestion]:
    """Left or right, in front or behind, in the frame that the question names."""
    body = Body(scene.placed(subject))
    way = minus(worlds.spot_of(scene.placed(target)), body.at)
    own = {
        "sides": "right" if dot(way, (body.front[1], -body.front[0])) > 0 else "left",
        "depth": "in front" if dot(way, body.front) > 0 else "behind",
    }
    viewer = {  # the camera looks to +y
        "sides": "right" if way[0] > 0 else "left",
        "depth": "in front" if way[1] < 0 else "behind",
    }
    for axis, choices in (
        ("sides", worlds.choices_of("sides")),
        ("depth", worlds.choices_of("depth")),
    ):
        agree = own[axis] == viewer[axis]
        tags = {"heading": heading, "frame": frame, "axis": axis, "thing": subject}
        if frame != "viewer":
            tags["cue"] = "consistent" if agree else "counter"
        yield ViewQuestion(
            worlds.question_text(f"{frame} {axis}", subject=subject, target=target),
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

    def names(self) -> dict[str, str]:
        """The three things, for a question."""
        return {"a": self.a, "b": self.b, "c": self.c}


LEAST_WAY = 0.8  # metres between things of a walk
ROOM = 2.0  # metres from the middle of a floor to its sides


def layout(rng: Random, dials: ViewDials) -> Scene | None:
    """Things all over a floor, seen from well above."""
    look = worlds.new_look(rng)
    placed = worlds.scattered(
        rng, worlds.some_standing(rng, look, dials.things or rng.randint(5, 7)), ROOM
    )
    if placed is None:
        return None
    viewer = worlds.camera_on(placed, above=rng.uniform(28, 40), angle=45)
    return worlds.seen_world(placed, viewer, look)


def walks(scene: Scene) -> list[Walk]:
    """Every way to look from one thing to another, with a third thing."""
    found = []
    spots = {placed.id: worlds.spot_of(placed) for placed in scene.things}
    for a, b, c in permutations(spots, 3):
        ways = worlds.floor_distance(spots[a], spots[b]), worlds.floor_distance(spots[a], spots[c])
        if min(ways) < LEAST_WAY:
            continue
        angle = worlds.bearing(minus(spots[c], spots[a]), minus(spots[b], spots[a]))
        found.append(Walk(a, b, c, angle))
    return found


def stand(rng: Random, dials: ViewDials, number: int) -> list[ViewQuestion] | None:
    """In turn: each quarter twice in one world, each of eight directions, and degrees."""
    scene = layout(rng, dials)
    if scene is None:
        return None
    eighths = number % 3 == 1
    sectors = worlds.choices_of("eighths" if eighths else "stand")
    by_sector: dict[str, list[Walk]] = {choice: [] for choice in sectors}
    for walk in walks(scene):
        sector = _eighth(walk.angle) if eighths else _quarter(walk.angle)
        if sector:
            by_sector[sector].append(walk)
    each = 8 // len(sectors)
    found = []
    for sector, some in by_sector.items():
        if len(some) < each:
            return None
        for walk in rng.sample(some, each):
            text, choices, gold = worlds.question_text("stand", **walk.names()), sectors, sector
            if number % 3 == 2:
                text, choices = worlds.question_text("degrees", **walk.names()), ()
                gold = f"{abs(walk.angle):.0f} degrees"
            tags = {"angle": angle_band(abs(walk.angle)), "choices": str(len(choices))}
            found.append(ViewQuestion(text, choices, gold, (scene,), tags, scene))
    return found


def _quarter(angle: float) -> str:
    """The quarter of a direction; empty where it is not clear."""
    if not worlds.is_clear(angle):
        return ""
    return ("front " if abs(angle) < 90 else "back ") + ("right" if angle > 0 else "left")


def _eighth(angle: float) -> str:
    """The eighth of a direction, clockwise from the front; empty where it is not clear."""
    nearest = round(angle / 45)
    if abs(angle - 45 * nearest) > 45 / 2 - worlds.MARGIN:
        return ""
    return worlds.choices_of("eighths")[nearest % 8]


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
        if worlds.is_clear(walk.angle, (0.0, 180.0, -180.0)):
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
        text = worlds.question_text(name, **walk.names())
        gold = "right" if walk.angle > 0 else "left"
        tags = {"angle": angle_band(abs(walk.angle)), "part": name}
        tags["wording"] = "route" if told else "survey"
        sides = worlds.choices_of("sides")
        found.append(ViewQuestion(text, sides, gold, (scene,), tags, scene, context=told))
    return found


def _told_walk(rng: Random, scene: Scene) -> str:
    """The world as a walk from thing to thing: every place follows from lengths and turns."""
    order = rng.sample(list(scene.things), len(scene.things))
    spots = [worlds.spot_of(placed) for placed in order]
    told = [f"You stand at the {order[0].id} and face the {order[1].id}."]
    ahead = minus(spots[1], spots[0])
    for number in range(1, len(order)):
        way = minus(spots[number], spots[number - 1])
        turn = worlds.bearing(way, ahead)
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
    spots = {placed.id: worlds.spot_of(placed) for placed in scene.things}
    for a, b, c in permutations(spots, 3):
        before, after = minus(spots[b], spots[a]), minus(spots[c], spots[b])
        if min(hypot(*before), hypot(*after)) >= LEAST_WAY:
            yield Walk(a, b, c, worlds.bearing(after, before))
