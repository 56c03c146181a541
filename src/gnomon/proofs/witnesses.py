"""Witnesses as scenes: what is left open, drawn as it could be and as it need not be."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gnomon.errors import UsageError
from gnomon.proofs.meaning.readings import reading_named
from gnomon.proofs.meaning.stories import EARLIER, NOW
from gnomon.proofs.meaning.texts import Text
from gnomon.proofs.prove import Proof
from gnomon.proofs.solving import Witness
from gnomon.proofs.staging import Stage, cast_of
from gnomon.scenes.pictures import draw, survey, write_png
from gnomon.scenes.scenes import Placed, Scene
from gnomon.scenes.things import Thing
from gnomon.scenes.viewing import viewer_of

_CENTRE = re.compile(r"(.+)@(\d)\.([xyz])")
TURNS = (180.0, 90.0, 0.0, 270.0)  # of what faces north, east, south, west
VIEWS = ((0, 26), (12, 30), (-12, 30), (0, 42), (18, 38), (-18, 38), (0, 60), (0, 75))
SEEN_WELL = 0.6  # share of each thing that is not hidden
SEEN_AT_ALL = 0.1


class Shown(NamedTuple):
    """A witness that can be drawn."""

    says: str  # what it shows
    witness: Witness
    stage: Stage


def shown_for(text: Text, proof: Proof, nouns: Mapping[str, str] | None = None) -> list[Shown]:
    """The witnesses of a proof: two if the claim is left open, else one."""
    wanted = {
        "neutral": (("it could be", True), ("it need not be", False)),
        "entailment": (("so it is", True),),
        "contradiction": (("so it is not", False),),
    }.get(proof.verdict, ())
    found = []
    for says, truth in wanted:
        stage = Stage(text, reading_named(proof.reading), cast_of(text, nouns))
        witness = stage.witness(0, truth)
        if witness is not None:
            found.append(Shown(says, witness, stage))
    return found


def draw_witnesses(
    text: Text, proof: Proof, file: str | Path, nouns: Mapping[str, str] | None = None
) -> None:
    """Write the witnesses of a proof side by side: as a picture (.png) or a plan (.svg)."""
    shown = shown_for(text, proof, nouns)
    if not shown:
        raise UsageError(
            "There is no scene to draw: the premises cannot all be true.", "Leave --picture out."
        )
    if str(file).lower().endswith(".svg"):
        from gnomon.proofs.plans import plan_of

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


def scene_of(shown: Shown) -> Scene | None:
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


def _placed(shown: Shown, name: str, number: int) -> Placed:
    stage, values = shown.stage, shown.witness.values
    thing = stage.cast[name]
    x = float(stage.story.middle(name, "x", NOW).value(values))
    y = float(stage.story.middle(name, "y", NOW).value(values))
    z = _height(shown, name)
    colour = ""
    if list(stage.cast.values()).count(thing) > 1 and thing.colours:
        colour = thing.colours[number % len(thing.colours)]
    return Placed(id=name, thing=thing.name, at=(x, y, z), turn=_turn(shown, name), colour=colour)


def _height(shown: Shown, name: str) -> float:
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


def _overlaps(shown: Shown, name: str, other: str) -> bool:
    story, values = shown.stage.story, shown.witness.values
    for axis in ("x", "y"):
        if story.low(name, axis, NOW).value(values) >= story.high(other, axis, NOW).value(values):
            return False
        if story.low(other, axis, NOW).value(values) >= story.high(name, axis, NOW).value(values):
            return False
    return True


def heading_of(shown: Shown, name: str) -> int | None:
    """Which of the winds somebody faces now, if it matters."""
    for moment in (NOW, 0):
        for wind in range(4):
            if shown.witness.flags.get(f"{name}@{moment} faces {wind}"):
                return wind
    return None


def _turn(shown: Shown, name: str) -> float:
    wind = heading_of(shown, name)
    return 0.0 if wind is None else TURNS[wind]


def centres(witness: Witness | None) -> dict[str, dict[str, float]]:
    """Where things are in a witness: the centre of each along the axes that matter, at the end."""
    found: dict[str, dict[str, float]] = {}
    if witness is None:
        return found
    latest: dict[str, int] = {}
    for quantity, value in witness.values.items():
        match = _CENTRE.fullmatch(quantity)
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
