"""Judging the judge: what it says of pictures of which one knows what they show.

On scenes: items of the run are drawn by our renderer, once as they should be and once with another
of their choices true. On photos: pairs of things that people have marked, whose own boxes say under
the judge's rule what it should find.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from heapq import nsmallest
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import msgspec

from gnomon.downloads.catalogue import cache_folder
from gnomon.errors import DataError
from gnomon.items.writing import atomic_file
from gnomon.look.records import AnnotatedPicture, Region
from gnomon.measures.correcting import Trial
from gnomon.paint.judging.boxes import BoxJudge
from gnomon.paint.judging.rules import in_pixels
from gnomon.paint.judging.voting import vote
from gnomon.paint.painters.render import edition, picture_of
from gnomon.paint.records import Judge, Painted, Picture, asked_of, seed_of
from gnomon.records import Answer, Item, digest
from gnomon.vision.detection import Box
from gnomon.vision.images import decode, decode_bytes

SIDE = 256  # pixels of a drawn scene
SEED = 20_261  # of drawn scenes, so that they are not those of synth:render
POSITIONS = ("inside", "above", "below", "beside")


class Said(NamedTuple):
    """What an item's right answer is, and what a judge said where it was true, and where not."""

    gold: str
    right: str | None
    wrong: str | None


def trial_of(judge: Judge, items: Iterable[Item], count: int, pictures: int = 1) -> Trial:
    """How a judge fares on drawn scenes of `count` of the items; kept for the next run."""
    chosen = _chosen(items, count)
    known = [msgspec.json.encode(item).decode() for item in chosen]
    about = msgspec.json.encode(judge.describe(), order="sorted").decode()
    key = digest("\n".join([about, edition(), str(pictures), str(SIDE), *known]))
    file = cache_folder() / "trials" / f"{key}.json"
    kept = _read(file)
    if kept is not None:
        return kept
    found = try_on_scenes(judge, chosen, pictures)
    file.parent.mkdir(parents=True, exist_ok=True)
    with atomic_file(file) as part:
        part.write_bytes(msgspec.json.encode(found._asdict()))
    return found


def try_on_scenes(judge: Judge, items: Sequence[Item], pictures: int = 1) -> Trial:
    """How a judge fares on drawn scenes: half show the right answer, half another one."""
    said = said_of_scenes(judge, items, pictures)
    said_shown = sum(right == gold for gold, right, _ in said)
    said_other = sum(wrong == gold for gold, _, wrong in said)
    recognised = sum((right is not None) + (wrong is not None) for _, right, wrong in said)
    return Trial(len(said), said_shown, len(said), said_other, recognised)


def said_of_scenes(judge: Judge, items: Sequence[Item], pictures: int = 1) -> list[Said]:
    """What a judge says of drawn scenes; items that the renderer cannot draw are left out."""
    found = []
    with TemporaryDirectory(prefix="gnomon-trial-") as folder:
        for item in items:
            right = _judged(judge, item, item.gold[0], pictures, Path(folder))
            wrong = _judged(judge, item, _another(item), pictures, Path(folder))
            if right is not None and wrong is not None:
                found.append(Said(item.gold[0], right.choice, wrong.choice))
    return found


class PhotoTrial(NamedTuple):
    """How a judge by boxes fares on photos whose things people have marked."""

    pairs: int  # of single things, in either order
    recognised: int  # of which it sees both
    agreed: int  # and finds the relation that their own boxes have


def try_on_photos(judge: BoxJudge, scenes: Iterable[AnnotatedPicture]) -> PhotoTrial:
    """How a judge by boxes fares on marked photos, among inside, above, below and beside."""
    judge = judge.remembering()
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
            choice = judge.look(item, painted, picture, None).choice
            recognised += choice is not None
            agreed += choice == POSITIONS.index(expected)
    return PhotoTrial(pairs, recognised, agreed)


def _chosen(items: Iterable[Item], count: int) -> list[Item]:
    """So many scenes that can be drawn, drawn by their ids: the same whatever the order."""
    fit = (
        item
        for item in items
        if item.form == "scene" and len(item.gold) == 1 and asked_of(item) is not None
    )
    return nsmallest(count, fit, key=_lot)


def _lot(item: Item) -> bytes:
    return sha256(item.id.encode(errors="surrogatepass")).digest()


def _another(item: Item) -> str:
    """A choice that is not right, the same each time."""
    wrong = [choice for choice in item.choices if choice not in item.gold]
    return wrong[seed_of(item.id, 0, SEED) % len(wrong)]


def _judged(judge: Judge, item: Item, choice: str, pictures: int, folder: Path) -> Answer | None:
    """What a judge says of scenes in which a choice is true; none if they cannot be drawn."""
    painted, verdicts = [], []
    for number, made in enumerate(_drawn(item, choice, pictures)):
        if made is None:
            return None
        file = folder / "scene.png"
        file.write_bytes(made.content)
        each = Painted(
            item=item.id,
            number=number,
            prompt=item.text,
            seed=0,
            file=str(file),
            sha256=sha256(made.content).hexdigest(),
        )
        painted.append(each)
        verdicts.append(judge.look(item, each, decode_bytes(made.content, file), made.truth))
    return vote(item, painted, verdicts)


def _drawn(item: Item, choice: str, pictures: int) -> Iterator[Picture | None]:
    for number in range(pictures):
        made = picture_of(item, choice, seed_of(item.id, number, SEED), SIDE)
        yield made if isinstance(made, Picture) else None


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


def _read(file: Path) -> Trial | None:
    """A trial that was kept; none if there is none, or if it is damaged."""
    try:
        found = msgspec.json.decode(file.read_bytes(), type=dict[str, int])
        return Trial(**found)
    except (OSError, msgspec.MsgspecError, TypeError):
        return None
