"""Two pictures with the same two things, for people to say what differs (VSR, section 2.1).

Two things are drawn, then two pictures that have exactly one of each, neither of them too small.
An annotator chooses a relation that makes the caption true of one picture and false of the other.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from random import Random
from typing import NamedTuple

from gnomon.benchmarks.descriptions import described
from gnomon.benchmarks.vsr.files import all_relations, relations_without_is
from gnomon.contracts import Listing
from gnomon.errors import DataError, FewItemsWarning, UsageError
from gnomon.files import read_jsonl
from gnomon.records import Image, Item, digest
from gnomon.scenes.scenes import read_scene
from gnomon.vision.images import PictureFolder, describe
from gnomon.vision.instances import Instances

AREA = 30_000.0  # square pixels of the smallest instance that is shown
MOST_USES = 3  # pairs in which a picture is shown
NAME = "vsr-pairs"


class _Drawn(NamedTuple):
    """A pair of pictures with their two things."""

    concepts: Concepts
    pictures: tuple[str, str]


def from_instances(
    *,
    instances: str = "",
    images: str = "",
    count: int = 100,
    seed: int = 0,
    area: float = AREA,
    most: int = MOST_USES,
) -> Iterator[Item]:
    """Pairs of photographs, by the instances that COCO marks in them.

    instances  COCO's file, such as instances_train2017.json
    images     a folder with the photographs; without it they are named by their addresses
    count      how many pairs
    seed       draws things, pictures and their order
    area       the least area of each thing, in square pixels
    most       in how many pairs a picture is shown at most
    """
    found = found_in_instances(instances, images, area)
    gallery = gallery_of(images)
    for pair in drawn_pairs(found.pictures, count, seed, most):
        shown = tuple(_photo(picture, gallery) for picture in pair.pictures)
        yield contrast_item(pair, shown)


def from_scenes(
    *, scenes: str = "", count: int = 100, seed: int = 0, most: int = MOST_USES
) -> Iterator[Item]:
    """Pairs of drawn pictures, from a set of scenes.

    scenes  a folder that `gnomon make vsr@fresh -o DIR` wrote, or one with scenes and their
            pictures: NAME.json and NAME.png, as `gnomon scene` writes them
    count   how many pairs
    seed    draws things, pictures and their order
    most    in how many pairs a picture is shown at most
    """
    found = found_in_scenes(scenes)
    for pair in drawn_pairs(found.pictures, count, seed, most):
        yield contrast_item(pair, tuple(map(describe, pair.pictures)))


def drawn_pairs(
    pictures: Mapping[Concepts, Sequence[str]], count: int, seed: int, most: int
) -> Iterator[_Drawn]:
    """Pairs drawn with a seed: two things, each as likely as any others, then two pictures.

    No pair comes twice, and no picture in more than `most` pairs. There may be fewer than asked.
    """
    _check(count, most)
    random = Random(seed)
    used: dict[str, int] = {}
    shown: set[tuple[Concepts, frozenset[str]]] = set()
    left = {concepts: list(names) for concepts, names in sorted(pictures.items())}
    keys = list(left)
    asked = count
    while keys and count:
        place = random.randrange(len(keys))
        concepts = keys[place]
        pair = _two_of(left[concepts], concepts, shown, used, most, random)
        if pair is None:  # nothing is left of these two things
            keys[place] = keys[-1]
            keys.pop()
            continue
        shown.add((concepts, frozenset(pair)))
        for name in pair:
            used[name] = used.get(name, 0) + 1
        first, second = random.sample(concepts, 2)
        yield _Drawn((first, second), pair)
        count -= 1
    if count:
        warnings.warn(
            f"There are only {asked - count:,} pairs, not {asked:,}. Give more pictures, or let "
            "each be shown more often (--set most=N) or things be smaller (--set area=N).",
            FewItemsWarning,
            stacklevel=2,
        )


def _two_of(
    names: list[str],
    concepts: Concepts,
    shown: set[tuple[Concepts, frozenset[str]]],
    used: Mapping[str, int],
    most: int,
    random: Random,
) -> tuple[str, str] | None:
    """Two of the pictures that are not used up and were not shown together; none if there are none.

    Pictures that are used up are taken out of the list.
    """
    names[:] = [name for name in names if used.get(name, 0) < most]
    if len(names) < 2:
        return None
    for _ in range(20):
        one, two = random.sample(names, 2)
        if (concepts, frozenset((one, two))) not in shown:
            return one, two
    fresh = [pair for pair in combinations(names, 2) if (concepts, frozenset(pair)) not in shown]
    return random.choice(fresh) if fresh else None


def contrast_item(pair: _Drawn, images: Sequence[Image]) -> Item:
    """The question that an annotator is asked; nobody knows its answer yet."""
    first, second = pair.concepts
    names = [Path(picture).name for picture in pair.pictures]
    return Item(
        id=f"pairs/{digest(*sorted(pair.concepts), *sorted(names))}",
        form="choice",
        text=f"The {first} (is) ... the {second}: true of one picture, false of the other.",
        choices=all_relations(),
        group=" / ".join(sorted(pair.concepts)),
        tags={
            "task": "contrast",
            "subj": first,
            "obj": second,
            "image": names[0],
            "image_2": names[1],
            "without_is": ", ".join(relations_without_is()),
            "benchmark": NAME,
            "captions": "vsr",
        },
        images=tuple(images),
    )


def account_of_instances(
    *, instances: str = "", images: str = "", area: float = AREA, **_: object
) -> Listing:
    """What each filter leaves out."""
    return _account(found_in_instances(instances, images, area))


def account_of_scenes(*, scenes: str = "", **_: object) -> Listing:
    """What each filter leaves out."""
    return _account(found_in_scenes(scenes))


def _account(found: Found) -> Listing:
    return Listing("What pairs were drawn from", ("what", "n"), tuple(found.counts))


def _photo(picture: str, gallery: PictureFolder | None) -> Image:
    if gallery is None:
        return Image(path=picture)
    return describe(Path(gallery.file_of(picture)).resolve())


def _check(count: int, most: int) -> None:
    for name, value in (("count", count), ("most", most)):
        if value < 1:
            raise UsageError(f"The {name} must be 1 or more, not {value}.", "Give a larger one.")


PAIRS = described(
    "vsr",
    NAME,
    sources={"coco": from_instances, "scenes": from_scenes},
    accounts={"coco": account_of_instances, "scenes": account_of_scenes},
)


# Which pictures show the same two things, and what was left out on the way to them.


SCENES = (
    "Make a set with `gnomon make vsr@fresh -o scenes`, or scenes with `gnomon scene -o 1.json -o "
    "1.png`, and give their folder: --set scenes=DIR."
)
ITEMS = "items.jsonl"

Concepts = tuple[str, str]
Count = tuple[str, int]  # what, and how many


class Found(NamedTuple):
    """The pictures of each two things, and what was left out on the way."""

    pictures: Mapping[Concepts, Sequence[str]]  # names or paths, in order
    counts: Sequence[Count]


def found_in_instances(file: str, images: str, area: float) -> Found:
    """Pictures that have exactly one of each thing, neither smaller than the area."""
    if not file:
        raise UsageError(
            "Pairs of photographs need the file that says what is in them.",
            "Give COCO's with --set instances=FILE, or draw pairs of scenes: vsr-pairs@scenes.",
        )
    return _in_instances(file, images, area, _changed(Path(file)))


@lru_cache(maxsize=1)
def _in_instances(file: str, images: str, area: float, changed: int) -> Found:
    read = Instances(Path(file))
    gallery = gallery_of(images)
    small = missing = singles = 0
    things: dict[int, list[str]] = {}
    for single in read.singles():
        singles += 1
        if single.area < area:
            small += 1
        elif gallery is not None and not gallery.file_of(read.photos[single.image].name):
            missing += 1
        else:
            things.setdefault(single.image, []).append(single.name)
    pictures: dict[Concepts, list[str]] = {}
    for image, names in things.items():
        photo = read.photos[image]
        shown = photo.name if images else photo.address or photo.name
        _add(pictures, names, shown)
    alone = sum(len(names) == 1 for names in things.values())
    kinds = read.kinds()
    counts = [
        ("pictures in the file", len(read.photos)),
        ("instances in them", read.count),
        ("kinds of thing in a picture", kinds),
        ("left out: several of the kind", kinds - singles),
        (f"left out: smaller than {area:,.0f} square pixels", small),
        ("left out: the picture is not in the folder", missing),
        ("left out: nothing else is left in the picture", alone),
    ]
    return _found(pictures, counts)


def found_in_scenes(folder: str) -> Found:
    """Drawn pictures that have exactly one of each thing."""
    if not folder:
        raise UsageError("Pairs of drawn pictures need a set of scenes.", SCENES)
    place = Path(folder)
    if (place / ITEMS).is_file():
        return _in_items(place / ITEMS)
    drawn = sorted(file for file in place.glob("*.json") if file.with_suffix(".png").is_file())
    if not drawn:
        raise DataError("there are no scenes with pictures in it.", SCENES, file=place)
    return _in_scene_files(drawn)


def _in_items(file: Path) -> Found:
    """A set of items about two things each, of which there may be several."""
    pictures: dict[Concepts, list[str]] = {}
    items = several = 0
    for _, item in read_jsonl(file, Item):
        items += 1
        things = [item.tags.get(tag, "") for tag in ("subj", "obj")]
        if item.tags.get("several") or not item.images or not all(things):
            several += 1
            continue
        _add(pictures, things, _whole_path(file.parent / item.images[0].path))
    counts = [("items in the set", items), ("left out: several of a thing, or no picture", several)]
    return _found(pictures, counts)


def _in_scene_files(files: Iterable[Path]) -> Found:
    """Scenes with any number of things."""
    pictures: dict[Concepts, list[str]] = {}
    scenes = several = 0
    for file in files:
        scenes += 1
        number = Counter(placed.thing for placed in read_scene(file).things)
        single = [thing for thing, count in number.items() if count == 1]
        several += len(number) - len(single)
        _add(pictures, single, _whole_path(file.with_suffix(".png")))
    counts = [("scenes with a picture", scenes), ("left out: several of the kind", several)]
    return _found(pictures, counts)


def _add(pictures: dict[Concepts, list[str]], things: Iterable[str], shown: str) -> None:
    """Note a picture for every two of the things in it, once."""
    for one, two in combinations(sorted(things), 2):
        names = pictures.setdefault((one, two), [])
        if not names or names[-1] != shown:
            names.append(shown)


def _found(pictures: Mapping[Concepts, list[str]], counts: list[Count]) -> Found:
    """What is left where two things share two pictures."""
    several = {}
    images: set[str] = set()
    for concepts, names in pictures.items():
        once = list(dict.fromkeys(names))
        if len(once) > 1:
            several[concepts] = once
            images.update(once)
    more = [
        ("two things that share a picture", len(pictures)),
        ("left out: they share only one", len(pictures) - len(several)),
        ("two things to draw", len(several)),
        ("pictures to draw", len(images)),
    ]
    return Found(several, [*counts, *more])


def gallery_of(images: str) -> PictureFolder | None:
    """The photographs in a folder, if one is given."""
    return PictureFolder(Path(images)) if images else None


def _whole_path(file: Path) -> str:
    return file.resolve().as_posix()


def _changed(file: Path) -> int:
    """When a file was last changed: one that was is read again."""
    return file.stat().st_mtime_ns if file.exists() else 0
