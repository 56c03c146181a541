"""Which pictures show the same two things, and what was left out on the way to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from gnomon.errors import DataError, UsageError
from gnomon.files import read_jsonl
from gnomon.look.readers.reading import Gallery
from gnomon.records import Item
from gnomon.scenes.scenes import read_scene
from gnomon.vision.instances import Instances

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


def gallery_of(images: str) -> Gallery | None:
    """The photographs in a folder, if one is given."""
    return Gallery(Path(images)) if images else None


def _whole_path(file: Path) -> str:
    return file.resolve().as_posix()


def _changed(file: Path) -> int:
    """When a file was last changed: one that was is read again."""
    return file.stat().st_mtime_ns if file.exists() else 0
