"""Which relation two boxes in a picture stand in: six published rules on the same boxes.

Each rule gives the relations that hold of the first box to the second, with a strength: the clearer
the case, the larger. Boxes are in pixels with y downwards, so above is the smaller y. None of the
rules looks at depth; whatever they leave out, none of them holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import hypot

from gnomon.errors import check_known
from gnomon.vision.detection import Box

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
