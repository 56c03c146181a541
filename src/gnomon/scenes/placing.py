"""Plausible scenes: random ones by seed, and ones in which given statements are true.

Things are put one after another: poses are proposed on, in, beneath and beside what stands there
already, and the first one that can be (standing.py) and says what it should is taken.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Literal, NamedTuple

import msgspec

from gnomon.errors import UsageError
from gnomon.lexicon.statements import Statement
from gnomon.scenes.bodies import Body, Pair
from gnomon.scenes.poses import GAPS, SHORT_GAPS, proposal
from gnomon.scenes.relations import decide
from gnomon.scenes.scenes import Placed, Scene, Viewer
from gnomon.scenes.standing import is_free, may_hold
from gnomon.scenes.things import Thing, thing_named, things
from gnomon.scenes.viewing import find_view

MOST_PROPOSALS = 600  # poses that are tried for one thing
MOST_ATTEMPTS = 40  # scenes that are tried for one seed
MOST_ARRANGEMENTS = 10  # scenes that are tried for some statements
LEAST_PIXELS = 12  # of 96 x 96, for a thing of a random scene to count as seen
LEAST_ASKED = 2  # the same for a thing that was asked for, however small
MOST_HIDDEN = 0.7  # share of a thing that was asked for
KEPT_OFF_FLOORS = ("tableware", "food", "device", "clothing", "tool")
SIZES = (0.12, 5.0)  # how much smaller or larger than its ground a thing beside it may be

ANYONE = Viewer(eye=(0.0, -10.0, 3.0), at=(0.0, 0.0, 0.0))  # while things are being placed


class Dials(NamedTuple):
    """What can be set about a random scene."""

    things: int = 4
    distance: float = 1.0  # of the viewer; at 1 the things fill the picture
    hidden: float = 0.5  # the share of a thing that others may hide


def random_scene(seed: int, dials: Dials | None = None) -> Scene:
    """A plausible scene; the same seed and dials always give the same one."""
    dials = dials or Dials()
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
        pair = Pair(body, Body(other), scene)
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
