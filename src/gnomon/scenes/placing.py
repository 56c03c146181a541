"""Where things stand: poses, what is impossible, and scenes in which statements are true."""

import random
from collections.abc import Sequence
from math import atan2, cos, degrees, hypot, radians, sin
from typing import Literal, NamedTuple

import msgspec

from gnomon.errors import UsageError
from gnomon.lexicon.statements import Statement
from gnomon.scenes.bodies import Body, BodyPair, Plan, thresholds
from gnomon.scenes.pictures import find_view
from gnomon.scenes.relations import decide
from gnomon.scenes.scenes import Placed, Scene, Viewer
from gnomon.scenes.things import Cavity, Thing, Top, thing_named, things

# What can be: nothing floats, nothing runs through another thing, and what rests has room.


SLACK = 1e-6  # metres


def impossibilities(scene: Scene) -> list[str]:
    """What cannot be in a scene, in sentences; none if all is well.

    >>> from gnomon.scenes.scenes import Viewer
    >>> cup = Placed(id="cup", thing="cup", at=(0, 0, 1))
    >>> impossibilities(Scene(things=(cup,), viewer=Viewer(eye=(0, -3, 1), at=(0, 0, 0))))
    ['cup floats.']
    """
    bodies = [Body(placed) for placed in scene.things]
    found = []
    for number, body in enumerate(bodies):
        others = bodies[:number] + bodies[number + 1 :]
        if not is_supported(body, others, scene):
            found.append(f"{body.name} floats.")
        for other in bodies[:number]:
            if interpenetrate(BodyPair(body, other, scene)):
                found.append(f"{body.name} and {other.name} run through one another.")
    return found


def is_supported(body: Body, others: Sequence[Body], scene: Scene) -> bool:
    """Whether a thing stands on the ground, or on or in another thing."""
    if abs(body.low) <= thresholds()["contact"]:
        return True
    for other in others:
        pair = BodyPair(body, other, scene)
        if pair.is_on or pair.is_in:
            return True
    return False


def interpenetrate(pair: BodyPair) -> bool:
    """Whether the boxes of two things overlap although neither has room for the other."""
    contact = thresholds()["contact"]
    common = min(pair.a.high, pair.b.high) - max(pair.a.low, pair.b.low)
    if common <= contact or _overlap(pair) <= contact or pair.nested:
        return False
    return not (has_room(pair) or has_room(pair.flipped))


def _overlap(pair: BodyPair) -> float:
    """How deep the boxes are in one another, in plan; negative if they are apart."""
    depth = float("inf")
    for direction in (pair.a.right, pair.a.back, pair.b.right, pair.b.back):
        apart = abs(pair.offset[0] * direction[0] + pair.offset[1] * direction[1])
        depth = min(depth, pair.a.reach(direction) + pair.b.reach(direction) - apart)
    return depth


def has_room(pair: BodyPair) -> bool:
    """Whether the subject stands on or in the ground with its whole plan."""
    if pair.is_on and pair.b.top is not None:
        return _is_within(pair, pair.b.top.at, pair.b.top.size)
    if pair.is_in and pair.b.cavity is not None:
        return _is_within(pair, pair.b.cavity.at, pair.b.cavity.size)
    return False


def _is_within(pair: BodyPair, at: Plan, size: Plan) -> bool:
    scale = pair.b.placed.scale
    x, y = pair.b.locate(pair.a.at)
    free_x = size[0] * scale / 2 - abs(x - at[0] * scale) - pair.a.reach(pair.b.right)
    free_y = size[1] * scale / 2 - abs(y - at[1] * scale) - pair.a.reach(pair.b.back)
    return min(free_x, free_y) >= -SLACK


def may_hold(room: Top | Cavity | None, thing: Thing) -> bool:
    """Whether a thing may plausibly stand there, by its name or its kind."""
    return room is not None and (thing.name in room.holds or thing.kind in room.holds)


def is_free(placed: Placed, others: Sequence[Placed], scene: Scene) -> bool:
    """Whether a thing can be there, given what stands there already."""
    body = Body(placed)
    bodies = [Body(other) for other in others]
    if not is_supported(body, bodies, scene):
        return False
    for other in bodies:
        pair = BodyPair(body, other, scene)
        rests = pair.is_on or pair.is_in
        if (rests and not has_room(pair)) or interpenetrate(pair):
            return False
    return True


# Poses that a thing may take by another one: on it, in it, beneath it, beside it, flush with it.
#
# A pose is only proposed here; whether the thing can be there is decided above.


SHORT_GAPS = (0.0, 0.05, 0.1, 0.15, 0.3, 0.5)  # of the mean diagonal
GAPS = (*SHORT_GAPS, 0.8, 1.2, 1.6, 3.0, 4.6)


def proposal(
    rng: random.Random, id: str, thing: Thing, ground: Placed, gaps: Sequence[float]
) -> Placed:
    """A thing on, in, beneath or beside another one."""
    support = thing_named(ground.thing)
    ways = ["beside", "beside"]
    if support.top is not None:
        ways += ["on", "on"]
    if support.cavity is not None:
        ways += ["in", "in"]
    if support.beneath:
        ways.append("beneath")
    way = rng.choice(ways)
    if way == "on" and support.top is not None:
        return resting(rng, id, thing, ground, support.top, support.top.height)
    if way == "in" and support.cavity is not None:
        return resting(rng, id, thing, ground, support.cavity, support.cavity.floor)
    if way == "beneath":
        shift_x, shift_y = rng.uniform(-0.3, 0.3), rng.uniform(-0.3, 0.3)
        x, y = Body(ground).point(shift_x * support.size[0], shift_y * support.size[1])
        turn = ground.turn + rng.choice((0, 90, 180, 270))
        return Placed(id=id, thing=thing.name, at=(x, y, ground.at[2]), turn=turn % 360)
    return beside(rng, id, thing, ground, gaps)


def resting(
    rng: random.Random, id: str, thing: Thing, ground: Placed, room: Top | Cavity, height: float
) -> Placed:
    """A thing on a top or in a cavity: in its middle, at its edge, or anywhere on it."""
    turn = ground.turn + rng.choice((0, 90, 180, 270, rng.uniform(0, 360)))
    candidate = Placed(id=id, thing=thing.name, at=(0.0, 0.0, 0.0), turn=turn % 360)
    body, base = Body(candidate), Body(ground)
    free_x = max(0.0, room.size[0] / 2 - body.reach(base.right) / ground.scale)
    free_y = max(0.0, room.size[1] / 2 - body.reach(base.back) / ground.scale)
    share_x, share_y = rng.uniform(-1, 1), rng.uniform(-1, 1)
    style = rng.choice(("middle", "edge", "anywhere", "anywhere"))
    if style == "middle":
        share_x = share_y = 0.0
    elif style == "edge":
        share_y = rng.choice((-1, 1)) * 0.995
    x, y = base.point(room.at[0] + share_x * free_x, room.at[1] + share_y * free_y)
    z = ground.at[2] + height * ground.scale
    return msgspec.structs.replace(candidate, at=(x, y, z))


def beside(
    rng: random.Random, id: str, thing: Thing, ground: Placed, gaps: Sequence[float]
) -> Placed:
    """A thing on the same level: mostly straight left, right, before or behind."""
    direction = rng.choice((0, 90, 180, 270)) + rng.gauss(0, 7)
    if rng.random() < 0.25:
        direction = rng.uniform(0, 360)
    if rng.random() < 0.3:
        direction += ground.turn
    way = (cos(radians(direction)), sin(radians(direction)))
    to_ground = degrees(atan2(-way[0], way[1]))  # the turn with which it looks at the ground
    turns = (to_ground, to_ground + 180, ground.turn, ground.turn + 90, rng.uniform(0, 360))
    turn = rng.choice(turns) + rng.gauss(0, 3)
    body = Body(Placed(id=id, thing=thing.name, at=(0.0, 0.0, 0.0), turn=turn % 360))
    base = Body(ground)
    gap = rng.choice(gaps) * (body.diagonal + base.diagonal) / 2
    far = body.reach(way) + base.reach(way) + gap
    at = (ground.at[0] + way[0] * far, ground.at[1] + way[1] * far, ground.at[2])
    return msgspec.structs.replace(body.placed, at=at)


def flush(rng: random.Random, id: str, thing: Thing, ground: Placed) -> Placed:
    """A thing whose side lies against a side of another one."""
    turn = (ground.turn + rng.choice((0, 90, 180, 270))) % 360
    body = Body(Placed(id=id, thing=thing.name, at=(0.0, 0.0, 0.0), turn=turn))
    base = Body(ground)
    along, across = rng.choice(((base.right, base.back), (base.back, base.right)))
    far = rng.choice((-1, 1)) * (body.reach(along) + base.reach(along))
    aside = rng.uniform(-0.5, 0.5) * base.reach(across)
    x = ground.at[0] + far * along[0] + aside * across[0]
    y = ground.at[1] + far * along[1] + aside * across[1]
    return msgspec.structs.replace(body.placed, at=(x, y, ground.at[2]))


def ring(rng: random.Random, ids: Sequence[str], thing: Thing, middle: Thing) -> list[Placed]:
    """Things of one kind around the origin, where another one stands, each looking at it."""
    first = rng.uniform(0, 360)
    width = max(thing.size[:2])
    around = len(ids) * width / 5.2  # so that neighbours do not touch
    radius = max(around, (hypot(*thing.size[:2]) + hypot(*middle.size[:2])) / 2)
    radius *= rng.uniform(1.1, 1.35)
    placed = []
    for number, id in enumerate(ids):
        direction = first + 360 * number / len(ids) + rng.uniform(-8, 8)
        x, y = radius * cos(radians(direction)), radius * sin(radians(direction))
        turn = degrees(atan2(-x, y)) + rng.gauss(0, 6)
        placed.append(Placed(id=id, thing=thing.name, at=(x, y, 0.0), turn=turn % 360))
    return placed


MOST_PROPOSALS = 600  # poses that are tried for one thing
MOST_ATTEMPTS = 40  # scenes that are tried for one seed
MOST_ARRANGEMENTS = 10  # scenes that are tried for some statements
LEAST_PIXELS = 12  # of 96 x 96, for a thing of a random scene to count as seen
LEAST_ASKED = 2  # the same for a thing that was asked for, however small
MOST_HIDDEN = 0.7  # share of a thing that was asked for
KEPT_OFF_FLOORS = ("tableware", "food", "device", "clothing", "tool")
SIZES = (0.12, 5.0)  # how much smaller or larger than its ground a thing beside it may be

ANYONE = Viewer(eye=(0.0, -10.0, 3.0), at=(0.0, 0.0, 0.0))  # while things are being placed


class SceneOptions(NamedTuple):
    """What can be set about a random scene."""

    things: int = 4
    distance: float = 1.0  # of the viewer; at 1 the things fill the picture
    hidden: float = 0.5  # the share of a thing that others may hide


def random_scene(seed: int, dials: SceneOptions | None = None) -> Scene:
    """A plausible scene; the same seed and dials always give the same one."""
    dials = dials or SceneOptions()
    if not 1 <= dials.things <= 12:
        hint = "Ask for 1 to 12 things."
        raise UsageError(f"A random scene cannot have {dials.things} things.", hint)
    if not 0.5 <= dials.distance <= 10 or not 0 <= dials.hidden <= 1:
        hint = "Give a distance from 0.5 to 10 and a hidden share from 0 to 1."
        raise UsageError("The dials of the random scene do not fit.", hint)
    for attempt in range(MOST_ATTEMPTS):
        rng = random.Random(f"scene {seed} {attempt}")
        placed = _random_things(rng, dials.things)
        if len(placed) < dials.things:
            continue
        scene = find_view(rng, placed, dials.distance, dials.hidden, LEAST_PIXELS)
        if scene is not None:
            return scene
    raise UsageError(
        f"No scene of {dials.things} things was found in which at most "
        f"{dials.hidden:.0%} of each is hidden.",
        "Ask for fewer things, or let more be hidden.",
    )


def arrange(names: dict[str, str], statements: Sequence[Statement], seed: int = 0) -> Scene:
    """A scene of things by id in which all statements are true, each about an earlier thing.

    >>> scene = arrange({"cup": "cup", "table": "dining table"}, [Statement("cup", "on", "table")])
    >>> decide(scene, "cup", "on", "table").truth
    True
    """
    for attempt in range(MOST_ARRANGEMENTS):
        rng = random.Random(f"arrange {seed} {attempt}")
        placed = _arranged(rng, names, statements)
        if placed is None:
            continue
        scene = find_view(rng, placed, 1.0, MOST_HIDDEN, LEAST_ASKED)
        if scene is not None and all(_holds(scene, statement) for statement in statements):
            return scene
    said = ", ".join(f"{s.subject} {s.relation} {s.ground}" for s in statements)
    raise UsageError(
        f"No scene was found in which this is true and can be seen: {said or ', '.join(names)}.",
        "Check that the things fit on, in or under one another, and that nothing must float.",
    )


def _holds(scene: Scene, statement: Statement) -> bool:
    """Whether a statement is true for the viewer."""
    fact = decide(scene, statement.subject, statement.relation, statement.ground, frame="viewer")
    return fact.truth is True


def _arranged(
    rng: random.Random, names: dict[str, str], statements: Sequence[Statement]
) -> list[Placed] | None:
    placed: list[Placed] = []
    for id in _grounds_first(names, statements):
        about = [s for s in statements if s.subject == id]
        found = _put(rng, id, names[id], placed, about)
        if found is None:
            return None
        placed.append(found)
    return placed


def _grounds_first(names: dict[str, str], statements: Sequence[Statement]) -> list[str]:
    """The ids in an order in which every ground comes before what is said to be somewhere by it."""
    order: list[str] = []
    waiting = list(names)
    while waiting:
        for id in waiting:
            grounds = {s.ground for s in statements if s.subject == id}
            if grounds <= set(order):
                break
        else:
            raise UsageError(
                "The statements go round in a circle.",
                "Say where each thing is by things that were placed before it.",
            )
        order.append(id)
        waiting.remove(id)
    return order


def _put(
    rng: random.Random, id: str, name: str, placed: list[Placed], about: list[Statement]
) -> Placed | None:
    """A thing in a place where what is said about it is true, or none if there is no such place."""
    if not placed:
        return Placed(id=id, thing=name, at=(0.0, 0.0, 0.0), turn=rng.uniform(-12, 12))
    for number in range(MOST_PROPOSALS):
        ground = rng.choice(placed)
        if about:
            statement = about[number % len(about)]
            ground = next(p for p in placed if p.id == statement.ground)
        gaps = SHORT_GAPS if number < MOST_PROPOSALS / 2 else GAPS
        candidate = proposal(rng, id, thing_named(name), ground, gaps)
        scene = Scene(things=(*placed, candidate), viewer=ANYONE)
        if is_free(candidate, placed, scene) and all(_holds(scene, s) for s in about):
            return candidate
    return None


def _random_things(rng: random.Random, count: int) -> list[Placed]:
    """Things that go together: all of one place, of like size, each where it may plausibly be."""
    place: Literal["indoors", "outdoors"] = rng.choice(("indoors", "outdoors"))
    pool = [thing for thing in things().values() if thing.place in (place, "both")]
    anchor = rng.choice([thing for thing in pool if _may_stand_on_floor(thing)])
    for _ in range(2):
        if anchor.top is None and anchor.cavity is None:
            anchor = rng.choice([thing for thing in pool if _may_stand_on_floor(thing)])
    first = Placed(id=anchor.name, thing=anchor.name, at=(0.0, 0.0, 0.0), turn=_turn(rng))
    placed = [_coloured(rng, first)]
    for _ in range(MOST_PROPOSALS):
        if len(placed) == count:
            break
        ground = rng.choice(placed)
        thing = _companion(rng, pool, thing_named(ground.thing))
        candidate = proposal(rng, thing.name, thing, ground, GAPS)
        scene = Scene(things=(*placed, candidate), viewer=ANYONE)
        taken = any(other.thing == thing.name for other in placed)
        if taken or not _is_plausible(candidate, placed, scene):
            continue
        if is_free(candidate, placed, scene):
            placed.append(_coloured(rng, candidate))
    return placed


def _companion(rng: random.Random, pool: list[Thing], ground: Thing) -> Thing:
    """Something to go with a thing: what it may hold, or anything."""
    held = [t for t in pool if may_hold(ground.top, t) or may_hold(ground.cavity, t)]
    if held and rng.random() < 0.7:
        return rng.choice(held)
    return rng.choice(pool)


def _may_stand_on_floor(thing: Thing) -> bool:
    """Whether one would put it on a floor: no cups, no toasters."""
    small_appliance = thing.kind == "appliance" and thing.size[2] < 0.5
    return thing.kind not in KEPT_OFF_FLOORS and not small_appliance


def _is_plausible(candidate: Placed, placed: list[Placed], scene: Scene) -> bool:
    """Whether a thing goes where it is put: by kind on or in others, by size beside them."""
    body = Body(candidate)
    on_floor = True
    for other in placed:
        pair = BodyPair(body, Body(other), scene)
        if pair.is_on or pair.is_in:
            on_floor = False
            room = pair.b.thing.top if pair.is_on else pair.b.thing.cavity
            if not may_hold(room, body.thing):
                return False
    if not on_floor:
        return True
    first = thing_named(placed[0].thing)
    ratio = max(body.thing.size) / max(first.size)
    near = max(abs(candidate.at[0]), abs(candidate.at[1])) <= 2 * max(first.size)
    return _may_stand_on_floor(body.thing) and SIZES[0] <= ratio <= SIZES[1] and near


def _turn(rng: random.Random) -> float:
    """Mostly square to the viewer, sometimes any way."""
    return (rng.choice((0, 0, 30, 330, 90, 270, rng.uniform(0, 360))) + rng.gauss(0, 6)) % 360


def _coloured(rng: random.Random, placed: Placed) -> Placed:
    colours = ("", *thing_named(placed.thing).colours)
    return msgspec.structs.replace(placed, colour=rng.choice(colours))
