"""The embedded eyes: a small detector and a depth network look, plain rules decide captions.

It is a real model of vision that needs no torch and answers in a tenth of a second, and a baseline
for larger ones: it knows what a box and a distance tell, and no more. Where it does not see a thing
that the caption names, or has no rule for the relation, true and false are equally likely to it, or
it gives no answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from math import log
from typing import Any, NamedTuple

from msgspec.structs import replace

from gnomon.contracts import Scale, Takes
from gnomon.errors import UsageError, check_no_name
from gnomon.lexicon.statements import Statement, read_presence, read_statement
from gnomon.models.comparison import log_sigmoid
from gnomon.records import Answer, Image, Item, pick
from gnomon.scenes.pictures import scene_in, survey
from gnomon.scenes.things import things
from gnomon.vision.detection import (
    Box,
    Detection,
    Detector,
    FastDepth,
    PlacedBox,
    class_of,
    distance_of,
    margin,
)
from gnomon.vision.images import Pixels, pixels, see

CLEAR = 6.0  # steepness of the logistic curve from margins to probabilities
NEARER = re.compile(r"\bwhich is (?:nearer|closer) to the camera\b", re.IGNORECASE)
EXACT_SIDE = 224  # pixels of the survey that eyes without error take
SAME_PLACE = 0.7  # boxes that overlap more are of one thing


class View(NamedTuple):
    """What the eyes see in one picture."""

    things: list[Detection]
    distances: Any  # a map, or none without depth


def eyes(
    name: str,
    *,
    depth: bool = True,
    least: float = 0.1,
    presence: float = 0.3,
    abstain: bool = False,
    exact: bool = False,
) -> Eyes | ExactEyes:
    """A detector of 90 kinds of thing and a depth map. The first time, 19 MB are fetched.

    depth      look at distances, too; no decides "in front of" by which thing stands lower
    least      how sure the detector must be of a thing that a caption takes for granted
    presence   how sure it must be to say that a thing is there
    abstain    give no answer where a thing is not seen or no rule is known; otherwise true and
               false get one half each, and the first choice is taken
    exact      see what is drawn: boxes and distances of the scene that lies beside a picture
    """
    check_no_name("eyes", name)
    for option, value in (("least", least), ("presence", presence)):
        if not 0 < value < 1:
            raise UsageError(f"{option} must be between 0 and 1, not {value}.", "Try 0.1.")
    if exact:
        return ExactEyes(depth=depth, least=least, presence=presence, abstain=abstain)
    far = FastDepth() if depth else None
    return Eyes(Detector(), far, least=least, presence=presence, abstain=abstain)


class Eyes:
    """Answers captions about pictures by boxes, distances and rules."""

    spec = "eyes"
    takes: frozenset[Takes] = frozenset({"image"})  # captions of pictures
    scale: Scale = "log-probability"
    batch = 64

    def __init__(
        self,
        detector: Detector | Drawn,
        depth: FastDepth | None,
        *,
        least: float,
        presence: float,
        abstain: bool = False,
    ) -> None:
        self.detector, self.depth = detector, depth
        self.least, self.presence, self.abstain = least, presence, abstain

    def describe(self) -> dict[str, Any]:
        """What determines the answers."""
        return {
            "detector": "SSD-MobileNetV3-Large (COCO)",
            "depth": "FastDepth (NYUv2)" if self.depth else "",
            "least": self.least,
            "presence": self.presence,
            "abstain": self.abstain,
        }

    def answer(self, items: Sequence[Item]) -> list[Answer]:
        """One answer for each item; each picture is looked at once."""
        images: dict[str, Image] = {}
        for item in items:
            for image in item.images[:1]:
                images.setdefault(image.identity, image)
        views = self.views(images)
        return [self._answer(item, views) for item in items]

    def views(self, images: dict[str, Image]) -> dict[str, View | str]:
        """What is seen in each picture, or why nothing is."""
        views: dict[str, View | str] = {}
        for key, seen in zip(images, see(images.values(), pixels), strict=True):
            views[key] = seen.trouble if seen.made is None else self.look(seen.made)
        return views

    def look(self, picture: Pixels) -> View:
        """All that the eyes see in a picture."""
        distances = self.depth.distances(picture) if self.depth else None
        return View(self.detector.find(picture), distances)

    def _answer(self, item: Item, views: dict[str, View | str]) -> Answer:
        which = NEARER.search(item.text) and len(item.choices) == 2
        if not which and (item.form != "caption" or set(item.choices) != {"true", "false"}):
            return Answer(item=item.id, error="eyes judge captions that are true or false")
        if len(item.images) != 1:
            error = f"eyes look at one picture, the item has {len(item.images)}"
            return Answer(item=item.id, error=error)
        view = views[item.images[0].identity]
        if isinstance(view, str):
            return Answer(item=item.id, error=view)
        text = item.text
        if which:  # whether the first is the nearer one
            text = f"The {item.choices[0]} is in front of the {item.choices[1]}."
        found, seen = self.judge(text, view)
        reply = json.dumps(seen)
        if found is None:
            if self.abstain:
                return Answer(item=item.id, reply=reply)
            found = 0.0
        true, false = log_sigmoid(CLEAR * found), log_sigmoid(-CLEAR * found)
        yes = item.choices[0] if which else "true"
        scores = tuple(true if choice == yes else false for choice in item.choices)
        return replace(pick(item, scores), reply=reply)

    def judge(self, caption: str, view: View) -> tuple[float | None, dict[str, Any]]:
        """How clearly a caption is true (above 0) or false, and what was seen; none: no answer."""
        presence = read_presence(caption)
        if presence is not None:
            margin_there, seen = self._presence(presence.thing.lower(), view)
            return _turned(margin_there, presence.denied), seen
        said = read_statement(caption)
        if said is None:
            return None, {"unread": caption}
        pair = self._pair(said, view)
        if isinstance(pair, str):
            return None, {"unseen": pair}
        subject, ground = (self._place(each, view) for each in pair)
        found = _turned(margin(said.relation, subject, ground), said.denied)
        seen = {said.subject: _shown(subject), said.ground: _shown(ground)}
        if found is None:
            seen["no rule"] = said.relation
        return found, seen

    def _presence(self, noun: str, view: View) -> tuple[float | None, dict[str, Any]]:
        if class_of(noun, self.detector.labels) is None:
            return None, {"unseen": noun}
        found = self._candidates(noun, view)
        best = max((each.confidence for each in found), default=0.0)
        return log((best + 0.01) / self.presence), {noun: round(best, 3)}

    def _candidates(self, noun: str, view: View) -> list[Detection]:
        label = class_of(noun, self.detector.labels)
        return [each for each in view.things if each.label == label]

    def _pair(self, said: Statement, view: View) -> tuple[Detection, Detection] | str:
        """The two things that a caption speaks of, in two places; or which is not seen."""
        first, second = self._sure(said.subject, view), self._sure(said.ground, view)
        if not first:
            return said.subject
        best: tuple[float, Detection, Detection] | None = None
        for a in first:
            for b in second:
                sure = a.confidence * b.confidence
                apart = a.label != b.label or a.box != b.box
                if not apart or a.box.overlap(b.box) > SAME_PLACE:
                    continue
                if best is None or sure > best[0]:
                    best = (sure, a, b)
        return best[1:] if best else said.ground

    def _sure(self, noun: str, view: View) -> list[Detection]:
        return [each for each in self._candidates(noun, view) if each.confidence >= self.least]

    def _place(self, thing: Detection, view: View) -> PlacedBox:
        if view.distances is None:
            return PlacedBox(thing.box)
        return PlacedBox(thing.box, distance_of(thing.box, view.distances))


class ExactEyes(Eyes):
    """Eyes without error: they see what was drawn, so that only their rules can be wrong."""

    def __init__(self, *, depth: bool, least: float, presence: float, abstain: bool) -> None:
        self._sees_depth = depth
        names = Drawn(list(things()))
        super().__init__(names, None, least=least, presence=presence, abstain=abstain)

    def describe(self) -> dict[str, Any]:
        """What determines the answers."""
        depth = "of the scene" if self._sees_depth else ""
        return {**super().describe(), "detector": "boxes of the scene", "depth": depth}

    def views(self, images: dict[str, Image]) -> dict[str, View | str]:
        """The boxes of the things that were drawn, and how far they are."""
        return {key: self._drawn(image) for key, image in images.items()}

    def _drawn(self, image: Image) -> View | str:
        scene = scene_in(image.path)
        if scene is None:
            return "no scene lies beside the picture"
        seen = survey(scene, EXACT_SIDE)
        found = []
        for placed in scene.things:
            edges = seen.boxes[placed.id]
            if edges is not None:
                left, top, right, bottom = (edge / EXACT_SIDE for edge in edges)
                found.append(Detection(placed.thing, 1.0, Box(left, top, right, bottom)))
        return View(found, seen.depth if self._sees_depth else None)


class Drawn(NamedTuple):
    """In place of a detector: the names of all things that can be drawn."""

    labels: list[str]

    def find(self, picture: Pixels, names: Sequence[str] = ()) -> list[Detection]:
        """Nothing: what is there is read from the scene."""
        return []


def _turned(found: float | None, denied: bool) -> float | None:
    """How clearly a statement is true that may deny what was found."""
    return -found if denied and found is not None else found


def _shown(place: PlacedBox) -> dict[str, Any]:
    """A place as the reply says it."""
    found: dict[str, Any] = {"box": [round(edge, 3) for edge in place.box]}
    if place.distance is not None:
        found["distance"] = round(place.distance, 2)
    return found
