"""Poses that a thing may take by another one: on it, in it, beneath it, beside it, flush with it.

A pose is only proposed here; whether the thing can be there is decided in standing.py.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from math import atan2, cos, degrees, hypot, radians, sin

import msgspec

from gnomon.scenes.bodies import Body
from gnomon.scenes.scenes import Placed
from gnomon.scenes.things import Cavity, Thing, Top, thing_named

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


def cluster(rng: random.Random, ids: Sequence[str], thing: Thing, far: float) -> list[Placed]:
    """Things of one kind close together, so far from the origin."""
    direction = radians(rng.choice((0, 180)) + rng.uniform(-30, 30))
    step = 1.15 * hypot(*thing.size[:2])
    turn = rng.uniform(0, 360)
    placed = []
    for number, id in enumerate(ids):
        row, column = divmod(number, 2)
        x = far * cos(direction) + (column - 0.5) * step + rng.uniform(-0.05, 0.05) * step
        y = far * sin(direction) + (row - 0.5) * step + rng.uniform(-0.05, 0.05) * step
        own = (turn + rng.gauss(0, 10)) % 360
        placed.append(Placed(id=id, thing=thing.name, at=(x, y, 0.0), turn=own))
    return placed
