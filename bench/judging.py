"""Judges of pictures: how far six published rules differ, what an embedded judge is worth, and
whether a score corrected for its mistakes holds the truth.

Usage: python bench/judging.py [rules] [scenes] [photos] [studies] [fits] [--photos DIR] [--json]

rules    six rules on the same 10,000 pairs of boxes: in how many per cent two rules differ
scenes   SSD and FastDepth on drawn scenes of things that SSD knows: what they recognise and get right
photos   SSD on marked photos (--photos: a folder with instances.json and photos/)
studies  500 simulated studies from the verdicts on drawn scenes: how often the interval of the
         corrected accuracy holds the share of pictures that really show what was asked
fits     simulated judges that are on the pictures as in their trial, and judges that are not: how
         often the interval holds the truth, and how often "does not fit" is said
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterable, Sequence
from itertools import combinations, permutations
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gnomon.errors import DataError
from gnomon.look.records import AnnotatedPicture, Region
from gnomon.measures.correction import Trial, corrected, recognised_alike
from gnomon.paint.judges.boxes import RELATIONS, RULES, BoxJudge, boxes_judge, in_pixels
from gnomon.paint.judges.trials import said_of_scenes
from gnomon.paint.records import Painted
from gnomon.records import Item
from gnomon.registry import benchmark
from gnomon.vision.detection import Box, Detection, ObjectFinder, class_of
from gnomon.vision.images import Pixels, decode

PAIRS = 10_000
STUDIES = 500
PICTURES, TRIED = 240, 40  # of a simulated study, and scenes of its trial, right and wrong
SIDE = 512  # pixels of the pictures that boxes are drawn in
LEAST = 0.1  # drawn things are hard to recognise for a detector of photos
POSITIONS = ("inside", "above", "below", "beside")
PARTS = ("rules", "scenes", "photos", "studies", "fits")


class Pool(NamedTuple):
    """Whether the judge said that pictures show what was asked: of those that do, and the others."""

    name: str
    shown: list[bool]
    other: list[bool]
    recognised: float


def rules() -> dict:
    """How often each two rules say different things of the same boxes, in per cent."""
    draw = random.Random(5)
    pairs = [(_box(draw), _box(draw)) for _ in range(PAIRS)]
    said = {name: [_first(name, a, b) for a, b in pairs] for name in RULES}
    differ = {}
    for one, other in combinations(RULES, 2):
        unlike = sum(x != y for x, y in zip(said[one], said[other], strict=True))
        differ[f"{one} / {other}"] = round(100 * unlike / PAIRS, 1)
    none = {name: round(100 * found.count("") / PAIRS, 1) for name, found in said.items()}
    return {"pairs": PAIRS, "differ": differ, "says nothing": none}


def _box(draw: random.Random) -> Box:
    width, height = draw.uniform(0.05, 0.6), draw.uniform(0.05, 0.6)
    left, top = draw.uniform(0, 1 - width), draw.uniform(0, 1 - height)
    return Box(SIDE * left, SIDE * top, SIDE * (left + width), SIDE * (top + height))


def _first(name: str, a: Box, b: Box) -> str:
    """What a rule says among left, right, above and below, most clearly; inside comes first."""
    holding = RULES[name].relations(a, b)
    known = [r for r in RELATIONS if r != "beside" and holding.get(r, 0) > 0]
    return max(known, key=holding.__getitem__, default="")


def pools(count: int) -> list[Pool]:
    """What SSD and FastDepth say of drawn scenes of things that SSD knows."""
    judge = boxes_judge(least=LEAST)
    found = []
    for name in ("scales", "posrel", "vsr"):
        items = [item for item in _scenes(name) if _known(item, judge)]
        said = said_of_scenes(judge, items[:count])
        decided = [choice is not None for pair in said for choice in pair[1:]]
        found.append(
            Pool(
                name,
                [right == gold for gold, right, _ in said],
                [wrong == gold for gold, _, wrong in said],
                float(np.mean(decided)) if decided else float("nan"),
            )
        )
    return found


def _scenes(name: str) -> list[Item]:
    more = {"scales": {"pairs": 1500}, "vsr": {"quads": 80}}
    found = list(benchmark(name).sources["fresh"](form="scene", **more.get(name, {})))
    random.Random(3).shuffle(found)
    return found


def _known(item: Item, judge: BoxJudge) -> bool:
    labels = judge.detector.labels
    names = (item.tags.get("thing_a", ""), item.tags.get("thing_b", ""))
    return all(class_of(name, labels) for name in names)


def scenes(found: list[Pool]) -> dict:
    """The worth of the judge on each set, and its accuracy among what it recognised."""
    rows = {}
    for pool in found:
        rows[pool.name] = {
            "scenes": len(pool.shown) + len(pool.other),
            "recognised": round(100 * pool.recognised, 1),
            "says so where it is so": round(100 * float(np.mean(pool.shown)), 1),
            "says so where it is not": round(100 * float(np.mean(pool.other)), 1),
        }
    return rows


def photos(folder: Path) -> dict:
    """SSD against marked photos at several thresholds."""
    from gnomon.look.readers.coco import coco
    from gnomon.look.records import AnnotatedPicture
    from gnomon.vision.images import PictureFolder

    rows = {}
    for least in (0.2, 0.3, 0.4, 0.5):
        judge = boxes_judge(depth="none", least=least)
        reader = coco(folder / "instances.json", PictureFolder(folder / "photos"))
        marked = (each for each in reader.scenes() if isinstance(each, AnnotatedPicture))
        trial = try_on_photos(judge, marked)
        rows[str(least)] = {
            "pairs": trial.pairs,
            "recognised": round(100 * trial.recognised / trial.pairs, 1),
            "relation equal": round(100 * trial.agreed / trial.recognised, 1),
        }
    return rows


class Remembering:
    """A detector that keeps what it found in the last picture; one of any names looks anew."""

    def __init__(self, detector: ObjectFinder) -> None:
        self.labels = detector.labels
        self._detector = detector
        self._picture: Pixels | None = None
        self._found: list[Detection] = []

    def find(self, picture: Pixels, names: Sequence[str] = ()) -> list[Detection]:
        """What may be in a picture, the surest first."""
        if self.labels is None:
            return self._detector.find(picture, names)
        if picture is not self._picture:
            self._picture, self._found = picture, self._detector.find(picture, names)
        return self._found


class PhotoTrial(NamedTuple):
    """How a judge by boxes fares on photos whose things people have marked."""

    pairs: int  # of single things, in either order
    recognised: int  # of which it sees both
    agreed: int  # and finds the relation that their own boxes have


def try_on_photos(judge: BoxJudge, scenes: Iterable[AnnotatedPicture]) -> PhotoTrial:
    """How a judge by boxes fares on marked photos, among inside, above, below and beside."""
    judge = BoxJudge(judge.rule, Remembering(judge.detector), least=judge.least)
    pairs = recognised = agreed = 0
    for scene in scenes:
        single = _single(scene)
        if len(single) < 2:
            continue
        try:
            picture = decode(scene.picture.file)
        except DataError:
            continue
        for first, second in permutations(single, 2):
            expected = _relation(judge, first.box, second.box, picture.size)
            if expected is None:
                continue
            pairs += 1
            item = _item(first.name, second.name)
            painted = Painted(item=item.id, number=0, prompt="", seed=0, file=scene.picture.file)
            choice = judge.look(item, painted, picture).choice
            recognised += choice is not None
            agreed += choice == POSITIONS.index(expected)
    return PhotoTrial(pairs, recognised, agreed)


def _single(scene: AnnotatedPicture) -> list[Region]:
    """The things of a photo of whose kind there is one alone."""
    names = [region.name for region in scene.regions]
    return [region for region in scene.regions if region.name and names.count(region.name) == 1]


def _relation(judge: BoxJudge, first: Box, second: Box, size: tuple[int, int]) -> str | None:
    boxes = (in_pixels(box, *size) for box in (first, second))
    holding = judge.rule.relations(*boxes)
    known = [relation for relation in POSITIONS if relation in holding]
    return max(known, key=holding.__getitem__, default=None)


def _item(first: str, second: str) -> Item:
    tags = {"thing_a": first, "thing_b": second}
    text = f"A {first} and a {second}."
    return Item(id=text, form="scene", text=text, choices=POSITIONS, gold=POSITIONS[:1], tags=tags)


def studies(found: list[Pool]) -> dict:
    """How often the corrected interval holds the truth, in per cent, by set and true share."""
    draw = np.random.default_rng(9)
    rows = {}
    for pool in found:
        for right in (0.2, 0.5, 0.8):
            rows[f"{pool.name} {right}"] = _held(pool, right, draw)
    return rows


def _held(pool: Pool, right: float, draw: np.random.Generator) -> dict:
    shown, other = np.array(pool.shown), np.array(pool.other)
    tried, pictures = 40, 240
    held, widths = 0, []
    for _ in range(STUDIES):
        saw = draw.choice(shown, tried)
        mistook = draw.choice(other, tried)
        trial = Trial(tried, int(saw.sum()), tried, int(mistook.sum()), tried)
        truly = draw.random(pictures) < right
        said = np.where(truly, draw.choice(shown, pictures), draw.choice(other, pictures))
        estimate = corrected(float(said.mean()), pictures, trial)
        held += estimate.low <= right <= estimate.high
        widths.append(estimate.high - estimate.low)
    width = round(100 * float(np.mean(widths)))
    return {"held": round(100 * held / STUDIES, 1), "mean width": width}


class Rates(NamedTuple):
    """How a judge is: how often it says so where it is so, and where not, and how often it decides."""

    right: float
    wrong: float
    decides_right: float
    decides_wrong: float


FITTING = (
    Rates(0.95, 0.05, 1.0, 1.0),
    Rates(0.8, 0.1, 0.9, 0.8),
    Rates(0.6, 0.1, 0.8, 0.6),
    Rates(0.37, 0.03, 0.45, 0.35),  # SSD on our drawings of posrel
)
UNFITTING = (  # in the trial, and on the pictures
    (Rates(0.37, 0.03, 0.45, 0.35), Rates(0.8, 0.1, 0.92, 0.92)),  # drawings, then photos
    (Rates(0.08, 0.07, 0.11, 0.11), Rates(0.8, 0.1, 0.92, 0.92)),
    (Rates(0.9, 0.05, 0.98, 0.98), Rates(0.3, 0.05, 0.4, 0.4)),  # the other way round
)
OTHERWISE = (Rates(0.6, 0.1, 0.8, 0.6), Rates(0.75, 0.25, 0.8, 0.6))  # decides as often


def fits() -> dict:
    """Studies of 240 pictures and a trial of 40 and 40 scenes, in per cent."""
    draw = np.random.default_rng(11)
    pairs = [("fits", rates, rates) for rates in FITTING]
    pairs += [("does not fit", *both) for both in UNFITTING]
    pairs.append(("other mistakes", *OTHERWISE))
    rows = {}
    for kind, tried, really in pairs:
        for right in (0.05, 0.2, 0.5, 0.8, 0.95):
            name = f"{kind}: {tried.right:.2f} {tried.wrong:.2f}, {right:.2f} right"
            rows[name] = _simulated(tried, really, right, draw)
    return rows


def _simulated(tried: Rates, really: Rates, right: float, draw: np.random.Generator) -> dict:
    held = unfit = 0
    for _ in range(STUDIES):
        trial = _trial_by(tried, draw)
        shown = int(draw.binomial(PICTURES, right))
        said = draw.binomial(shown, really.right) + draw.binomial(PICTURES - shown, really.wrong)
        decided = draw.binomial(shown, really.decides_right)
        decided += draw.binomial(PICTURES - shown, really.decides_wrong)
        estimate = corrected(said / PICTURES, PICTURES, trial)
        alike = recognised_alike(max(said, decided) / PICTURES, PICTURES, trial)
        unfit += not (estimate.fits and alike)
        held += bool(estimate.fits and alike and estimate.low <= right <= estimate.high)
    told = STUDIES - unfit
    holds = round(100 * held / told, 1) if told else None
    return {"said not to fit": round(100 * unfit / STUDIES, 1), "held of the others": holds}


def _trial_by(rates: Rates, draw: np.random.Generator) -> Trial:
    """A trial on 40 scenes that show what was asked and 40 that do not."""
    seen = int(draw.binomial(TRIED, rates.decides_right))
    mistaken = int(draw.binomial(TRIED, rates.decides_wrong))
    said = int(draw.binomial(seen, rates.right / rates.decides_right))
    said_other = int(draw.binomial(mistaken, rates.wrong / rates.decides_wrong))
    return Trial(TRIED, said, TRIED, said_other, seen + mistaken, seen)


def main() -> int:
    """Run the parts and print them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", help="which of them; else all that there is data for")
    parser.add_argument("--photos", type=Path, help="a folder with instances.json and photos/")
    parser.add_argument("--count", type=int, default=60, help="drawn scenes of each set")
    parser.add_argument("--json", action="store_true", help="print JSON")
    args = parser.parse_args()
    if unknown := set(args.parts) - set(PARTS):
        parser.error(f"no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    wanted = args.parts or [part for part in PARTS if part != "photos" or args.photos]
    if "photos" in wanted and not args.photos:
        parser.error("photos needs --photos DIR")
    found = {}
    if "rules" in wanted:
        found["rules"] = rules()
    if "fits" in wanted:
        found["fits"] = fits()
    if "photos" in wanted:
        found["photos"] = photos(args.photos)
    if {"scenes", "studies"} & set(wanted):
        drawn = pools(args.count)
        if "scenes" in wanted:
            found["scenes"] = scenes(drawn)
        if "studies" in wanted:
            found["studies"] = studies(drawn)
    if args.json:
        print(json.dumps(found, indent=1))
        return 0
    for part, rows in found.items():
        print(part)
        for name, row in rows.items():
            print(f"  {name:28} {row}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
