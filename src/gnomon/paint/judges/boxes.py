"""The judge by boxes: where two things are, and how large they are, by a rule that has a name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import hypot
from typing import Any

from gnomon.errors import UsageError, check_known
from gnomon.files import package_data, read_yaml
from gnomon.paint.records import (
    FoundThing,
    JudgeVerdict,
    Painted,
    PaintQuestion,
    ThingsFound,
    Truth,
    asked_of,
)
from gnomon.records import Item
from gnomon.vision.detection import (
    Box,
    DepthModel,
    Detection,
    ObjectFinder,
    PlacedBox,
    class_of,
    distance_of,
    margin,
)
from gnomon.vision.images import Pixels

# Which relation two boxes in a picture stand in: six published rules on the same boxes.
#
# Each rule gives the relations that hold of the first box to the second, with a strength: the
# clearer the case, the larger. Boxes are in pixels with y downwards, so above is the smaller y.
# None of the rules looks at depth; whatever they leave out, none of them holds.


Strengths = Mapping[str, float]  # of the relations that hold
RELATIONS = ("inside", "above", "below", "beside", "left", "right")
DEFAULT = "paper"

GENEVAL_MARGIN = 0.1  # of the two sizes: offsets up to this do not count
GENEVAL_SHARE = 0.5  # of the distance that an offset must make up: directions within 60 degrees
GENEVAL_NOTHING = 1e-3  # pixels
COMPBENCH_OVERLAP = 0.1  # intersection over union up to which boxes are apart
COMPBENCH_NEAR = 150.0  # pixels


@dataclass(frozen=True)
class JudgeRule:
    """A named rule. `single`: it judges only pictures with exactly one box of each thing."""

    name: str
    says: str
    relations: Callable[[Box, Box], Strengths]
    single: bool = False


def rule_of(name: str) -> JudgeRule:
    """The rule of a name."""
    check_known("rule", name, RULES)
    return RULES[name]


def in_pixels(box: Box, width: int, height: int) -> Box:
    """A box that was in shares of its picture."""
    return Box(box.left * width, box.top * height, box.right * width, box.bottom * height)


def _paper(a: Box, b: Box) -> Strengths:
    """Inside if within the box; else above, below or beside by the larger of the two offsets.

    An offset that is exactly diagonal counts as above or below, as in the released code.
    """
    if _within(a, b):
        return {"inside": 1.0}
    across, up = _offsets(a, b)
    if across == up == 0:
        return {}
    if abs(up) >= abs(across):
        return _height(up, abs(up))
    return _side(across, abs(across))


def _released(a: Box, b: Box) -> Strengths:
    """The paper's rule as its code has it, which takes the larger y for the higher place."""
    swapped = {"above": "below", "below": "above"}
    return {swapped.get(relation, relation): size for relation, size in _paper(a, b).items()}


def _visor(a: Box, b: Box) -> Strengths:
    """By the sign of each offset between the middles, one across and one up."""
    across, up = _offsets(a, b)
    found: dict[str, float] = {}
    if across:
        found |= _side(across, abs(across))
    if up:
        found |= _height(up, abs(up))
    return found


def _geneval(a: Box, b: Box) -> Strengths:
    """By offsets beyond a tenth of the two sizes that make up half of the distance or more."""
    across, up = _offsets(a, b)
    beyond_across = _beyond(across, GENEVAL_MARGIN * (a.width + b.width))
    beyond_up = _beyond(up, GENEVAL_MARGIN * (a.height + b.height))
    if max(abs(beyond_across), abs(beyond_up)) < GENEVAL_NOTHING:
        return {}
    distance = hypot(across, up)
    share_across, share_up = beyond_across / distance, beyond_up / distance
    found: dict[str, float] = {}
    if abs(share_across) > GENEVAL_SHARE:
        found |= _side(across, abs(share_across))
    if abs(share_up) > GENEVAL_SHARE:
        found |= _height(up, abs(share_up))
    return found


def _compbench(a: Box, b: Box) -> Strengths:
    """By the larger offset, the less the more the boxes overlap; near within 150 pixels."""
    across, up = _offsets(a, b)
    overlap = a.overlap(b)
    apart = 1.0 if overlap < COMPBENCH_OVERLAP else COMPBENCH_OVERLAP / overlap
    near = 1.0
    if min(abs(across), abs(up)) >= COMPBENCH_NEAR:
        near = COMPBENCH_NEAR / max(abs(across), abs(up))
    found: dict[str, float] = {}
    if abs(across) > abs(up):
        found = _side(across, apart)
    elif abs(up) > abs(across):
        found = _height(up, apart)
    return {**found, "beside": near}


def _heim(a: Box, b: Box) -> Strengths:
    """By the larger offset between the top left corners; boxes at one corner count as below."""
    across, up = a.left - b.left, b.top - a.top
    if abs(across) > abs(up):
        return _side(across, abs(across))
    return _height(up, abs(up))


def _side(across: float, strength: float) -> dict[str, float]:
    """Beside, on the side to which an offset points."""
    return {"beside": strength, "left" if across < 0 else "right": strength}


def _height(up: float, strength: float) -> dict[str, float]:
    """Above or below, as an offset points."""
    return {"above" if up > 0 else "below": strength}


def _within(a: Box, b: Box) -> bool:
    across = b.left <= a.left and a.right <= b.right
    return across and b.top <= a.top and a.bottom <= b.bottom


def _offsets(a: Box, b: Box) -> tuple[float, float]:
    """How far the middle of A is to the right of that of B, and how far above it."""
    across = (a.left + a.right - b.left - b.right) / 2
    up = (b.top + b.bottom - a.top - a.bottom) / 2
    return across, up


def _beyond(offset: float, margin: float) -> float:
    """What is left of an offset without a margin, with its sign."""
    if abs(offset) <= margin:
        return 0.0
    return offset - margin if offset > 0 else offset + margin


RULES = {
    rule.name: rule
    for rule in (
        JudgeRule("paper", "spatial commonsense, Table 7: the right way up", _paper),
        JudgeRule(
            "released", "the code of spatial commonsense: above and below swapped", _released
        ),
        JudgeRule("visor", "VISOR: the signs of the offsets between the middles", _visor),
        JudgeRule("geneval", "GenEval: offsets beyond the things' sizes", _geneval),
        JudgeRule("compbench", "T2I-CompBench: the larger offset, and little overlap", _compbench),
        JudgeRule("heim", "HEIM: the top left corners, one box of each thing", _heim, single=True),
    )
}


MIDDLE, MEAN = DISTANCES = ("middle", "mean")  # where in a box its distance is read
LEAST = 0.4  # how sure a detector must be; the embedded one lists much that is not there
GREATER = ("larger", "taller")
OWN_FRAMES = ("own", "subject")  # left and right of a thing as it faces, not as one sees it


def boxes_judge(
    *,
    detector: str = "ssd",
    depth: str = "fastdepth",
    distance: str = MIDDLE,
    rule: str = DEFAULT,
    least: float = LEAST,
) -> BoxJudge:
    """A judge by boxes.

    detector  ssd (embedded), hf:NAME, or true for what the renderer knows
    depth     fastdepth (embedded), hf:NAME, none, or true for what the renderer knows
    distance  middle (the median of a box's middle half) or mean (of all of it: the paper's)
    rule      what two boxes tell of a position
    least     how sure the detector must be of a thing
    """
    from gnomon.models.detectors import open_depth, open_detector

    if not 0 < least < 1:
        raise UsageError(f"least must be between 0 and 1, not {least}.", "Try 0.2.")
    if depth == "true" and detector != "true":
        raise UsageError(
            "True distances are known of true boxes only.", "Add detector=true, or leave depth out."
        )
    check_known("distance", distance, DISTANCES)
    about = {"detector": detector, "depth": depth}
    if distance != MIDDLE:
        about["distance"] = distance
    if detector == "true":
        known = depth != "none"
        return BoxJudge(rule_of(rule), true_depth=known, least=least, about=about)
    finder, far = open_detector(detector), open_depth(depth)
    whole = distance == MEAN
    return BoxJudge(rule_of(rule), finder, far, whole_box=whole, least=least, about=about)


class BoxJudge:
    """Decides by boxes, distances and a rule. `detector` none: the boxes that the renderer knows.

    `depth` none: no distances; `true_depth`: those that the renderer knows.
    """

    def __init__(
        self,
        rule: JudgeRule,
        detector: ObjectFinder | None = None,
        depth: DepthModel | None = None,
        *,
        true_depth: bool = False,
        whole_box: bool = False,
        least: float = LEAST,
        about: dict[str, Any] | None = None,
    ) -> None:
        self.rule, self.detector, self.depth = rule, detector, depth
        self.true_depth, self.whole_box, self.least = true_depth, whole_box, least
        self.about = about or {}

    def describe(self) -> dict[str, Any]:
        """What determines the verdicts."""
        return {"judge": "boxes", "rule": self.rule.name, "least": self.least, **self.about}

    def look(self, item: Item, painted: Painted, picture: Pixels) -> JudgeVerdict:
        """What the picture shows."""
        asked = asked_of(item)
        if asked is None:
            return abstain("the item does not name two things")
        frame = item.tags.get("frame", "")
        if frame in OWN_FRAMES:
            return abstain(f"boxes do not show the frame '{frame}' that the relation is meant in")
        if self.detector is None:
            seen = told_by(asked, painted.truth, depth=self.true_depth)
        else:
            distance = _distances(picture, self.depth, whole_box=self.whole_box)
            seen = found_by(asked, picture, self.detector, distance, self.least)
        return self.decide(item, asked, seen, picture.size)

    def decide(
        self, item: Item, asked: PaintQuestion, seen: ThingsFound, size: tuple[int, int]
    ) -> JudgeVerdict:
        """The choice that what was seen stands for, in a picture of so many pixels."""
        first, second = seen.first, seen.second
        shown = _shown(asked, seen)
        if first is None or second is None:
            pairs = zip(asked[:2], (first, second), strict=True)
            unseen = [name for name, thing in pairs if thing is None]
            return abstain("not seen: " + ", ".join(unseen), **shown)
        if self.rule.single and asked.kind == "position" and seen.extras:
            return abstain("there is more than one of a thing", **shown)
        if asked.kind == "position":
            strengths = self._positions(item.choices, first, second, size)
        else:
            strengths = _extents(item.choices, asked, first, second, size)
        if isinstance(strengths, str):
            return abstain(strengths, **shown)
        return _clearest(strengths, {**shown, "rule": self.rule.name})

    def _positions(
        self, choices: tuple[str, ...], first: FoundThing, second: FoundThing, size: tuple[int, int]
    ) -> list[float] | str:
        """How clearly each choice holds, 0 if it does not; or why nothing can be said."""
        words = [relation_of(choice) for choice in choices]
        if None not in words:
            boxes = (in_pixels(thing.box, *size) for thing in (first, second))
            holding = self.rule.relations(*boxes)
            return [holding.get(word or "", 0.0) for word in words]
        places = [PlacedBox(thing.box, thing.distance) for thing in (first, second)]
        margins = [margin(choice, *places) for choice in choices]
        missing = [c for c, found in zip(choices, margins, strict=True) if found is None]
        if missing:
            return "no rule sees " + ", ".join(missing)
        return [max(0.0, found or 0.0) for found in margins]


def relation_of(choice: str) -> str | None:
    """The relation of the rules that the words of a choice name; none if it is another one.

    >>> relation_of("to the left of"), relation_of("facing")
    ('left', None)
    """
    return _words().get(choice.strip().lower())


def abstain(reason: str, **seen: Any) -> JudgeVerdict:
    """No verdict, and why."""
    return JudgeVerdict(None, (), {**seen, "abstains": reason})


def extent(thing: FoundThing, kind: str, size: tuple[int, int]) -> float:
    """How large or tall a thing is, up to a factor: as it looks, and by its distance if known.

    What is twice as far away looks half as tall, and its area a quarter.
    """
    box = in_pixels(thing.box, *size)
    if kind == "size":
        return box.area * (thing.distance or 1.0) ** 2
    return box.height * (thing.distance or 1.0)


def _extents(
    choices: tuple[str, ...],
    asked: PaintQuestion,
    first: FoundThing,
    second: FoundThing,
    size: tuple[int, int],
) -> list[float] | str:
    known = [thing.distance is not None for thing in (first, second)]
    if known[0] != known[1]:  # one of them alone would compare unlike things
        first, second = first._replace(distance=None), second._replace(distance=None)
    ratio = extent(first, asked.kind, size) / extent(second, asked.kind, size)
    if ratio == 1:
        return "both are of one size"
    greater = ratio > 1
    clear = ratio if greater else 1 / ratio
    return [clear if (choice in GREATER) == greater else 0.0 for choice in choices]


def _clearest(strengths: list[float], seen: dict[str, Any]) -> JudgeVerdict:
    """The choice that holds most clearly; none if none holds or two do alike."""
    best = max(strengths)
    if best <= 0:
        return abstain("none of the choices holds", **seen)
    if strengths.count(best) > 1:
        return abstain("several choices hold alike", **seen)
    total = sum(strengths)
    scores = tuple(strength / total for strength in strengths)
    return JudgeVerdict(strengths.index(best), scores, seen)


def _shown(asked: PaintQuestion, seen: ThingsFound) -> dict[str, Any]:
    """What was seen, as a reply says it."""
    found: dict[str, Any] = {}
    for name, thing in zip(asked[:2], seen[:2], strict=True):
        if thing is not None:
            found[name] = {"box": [round(edge, 4) for edge in thing.box]}
            found[name]["confidence"] = round(thing.confidence, 3)
        if thing is not None and thing.distance is not None:
            found[name]["distance"] = round(thing.distance, 3)
    return {"things": found}


@cache
def _words() -> dict[str, str]:
    found: dict[str, str] = {}
    for relation, words in read_yaml(package_data("vision") / "judging.yaml").items():
        found |= dict.fromkeys(words, relation)
    return found


# Finding an item's two things in a picture: by a detector and a depth map, or by the renderer.


SAME_PLACE = 0.7  # boxes of one class that overlap more are of one thing
LEAST_VISIBLE = 0.02  # share of a thing that must be seen; less is hidden


def found_by(
    asked: PaintQuestion,
    picture: Pixels,
    detector: ObjectFinder,
    distance: Callable[[Detection], float | None],
    least: float,
) -> ThingsFound:
    """What a detector and a depth map see of the two things."""
    names = (asked.first, asked.second)
    classes: tuple[str, ...] = names
    if detector.labels is not None:
        classes = tuple(class_of(name, detector.labels) or "" for name in names)
    seen = [each for each in detector.find(picture, names) if each.confidence >= least]
    of_each = []
    for name, label in zip(names, classes, strict=True):
        things = []
        for each in _apart([each for each in seen if each.label == label]):
            things.append(FoundThing(name, each.box, each.confidence, distance(each)))
        of_each.append(things)
    if classes[0] == classes[1]:  # two things of one class: the two surest boxes
        of_each = [of_each[0][:1], of_each[1][1:]]
    first, second = of_each
    extras = (*first[1:], *second[1:])
    return ThingsFound(first[0] if first else None, second[0] if second else None, extras)


def told_by(asked: PaintQuestion, truth: Truth | None, *, depth: bool) -> ThingsFound:
    """What the renderer knows of the two things; nothing of a picture that it did not make."""
    if truth is None:
        return ThingsFound(None, None)
    found: list[FoundThing | None] = []
    for each in (truth.first, truth.second):
        distance = each.distance if depth else None
        thing = FoundThing(each.name, each.box, 1.0, distance)
        found.append(thing if each.visible >= LEAST_VISIBLE else None)
    first, second = found
    return ThingsFound(first, second)


def _distances(
    picture: Pixels, depth: DepthModel | None, *, whole_box: bool
) -> Callable[[Detection], float | None]:
    """How far a detection is away, for those whose distance is wanted."""
    if depth is None:
        return lambda detection: None
    distances = depth.distances(picture)

    def distance(detection: Detection) -> float | None:
        found = distance_of(detection.box, distances, whole=whole_box)
        if not 0 < found < float("inf"):  # nor what is no number
            return None
        return found if depth.far_is_large else 1 / found

    return distance


def _apart(detections: Sequence[Detection]) -> list[Detection]:
    """Detections of one class without those that show the same thing again."""
    kept: list[Detection] = []
    for each in detections:
        if all(each.box.overlap(other.box) <= SAME_PLACE for other in kept):
            kept.append(each)
    return kept
