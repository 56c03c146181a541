"""What can be: nothing floats, nothing runs through another thing, and what rests has room."""

from __future__ import annotations

from collections.abc import Sequence

from gnomon.scenes.bodies import Body, Pair, Plan
from gnomon.scenes.rules import thresholds
from gnomon.scenes.scenes import Placed, Scene
from gnomon.scenes.things import Cavity, Thing, Top

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
            if interpenetrate(Pair(body, other, scene)):
                found.append(f"{body.name} and {other.name} run through one another.")
    return found


def is_supported(body: Body, others: Sequence[Body], scene: Scene) -> bool:
    """Whether a thing stands on the ground, or on or in another thing."""
    if abs(body.low) <= thresholds().contact:
        return True
    for other in others:
        pair = Pair(body, other, scene)
        if pair.is_on or pair.is_in:
            return True
    return False


def interpenetrate(pair: Pair) -> bool:
    """Whether the boxes of two things overlap although neither has room for the other."""
    contact = thresholds().contact
    common = min(pair.a.high, pair.b.high) - max(pair.a.low, pair.b.low)
    if common <= contact or _overlap(pair) <= contact or pair.nested:
        return False
    return not (has_room(pair) or has_room(pair.flipped))


def _overlap(pair: Pair) -> float:
    """How deep the boxes are in one another, in plan; negative if they are apart."""
    depth = float("inf")
    for direction in (pair.a.right, pair.a.back, pair.b.right, pair.b.back):
        apart = abs(pair.offset[0] * direction[0] + pair.offset[1] * direction[1])
        depth = min(depth, pair.a.reach(direction) + pair.b.reach(direction) - apart)
    return depth


def has_room(pair: Pair) -> bool:
    """Whether the subject stands on or in the ground with its whole plan."""
    if pair.is_on and pair.b.top is not None:
        return _is_within(pair, pair.b.top.at, pair.b.top.size)
    if pair.is_in and pair.b.cavity is not None:
        return _is_within(pair, pair.b.cavity.at, pair.b.cavity.size)
    return False


def _is_within(pair: Pair, at: Plan, size: Plan) -> bool:
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
        pair = Pair(body, other, scene)
        rests = pair.is_on or pair.is_in
        if (rests and not has_room(pair)) or interpenetrate(pair):
            return False
    return True
