"""The page of a knowledge folder: for each object what the pictures say of it, and their crops.

One self-contained file, bounded: what was seen in most pictures comes first.
"""

import base64
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from io import BytesIO
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from gnomon.errors import DataError
from gnomon.files import read_json, read_jsonl
from gnomon.look.findings import OPPOSITE
from gnomon.look.masks import corners_of
from gnomon.look.records import RegionPlace, Trouble, switches
from gnomon.reports.shell import asset, page, write_page
from gnomon.reports.words import counted, percentage
from gnomon.vision.detection import Box
from gnomon.vision.images import Pixels, decode
from gnomon.vision.knowledge import PropertyFinding

SIDE = 112  # pixels of the longer side
QUALITY = 70
MARGIN = 0.15  # of a box, around it
FRAMES = ("#ffffff", "#ff9d2e")  # of the first thing and of the second


class Crop(NamedTuple):
    """What is to be shown: one region, or two of one picture."""

    regions: tuple[str, ...]


def read_places(folder: Path) -> dict[str, RegionPlace]:
    """The regions that findings name, by id."""
    file = folder / "regions.jsonl"
    if not file.exists():
        return {}
    return {place.id: place for _, place in read_jsonl(file, RegionPlace)}


def crops_as_uris(crops: Iterable[Crop], places: Mapping[str, RegionPlace]) -> dict[Crop, str]:
    """Each crop as a data URI; one whose picture is gone, or is none, is left out.

    Pictures are decoded one after the other, each once.
    """
    by_file: dict[str, list[Crop]] = {}
    for crop in crops:
        known = [places[region] for region in crop.regions if region in places]
        if len(known) == len(crop.regions) and len({place.file for place in known}) == 1:
            by_file.setdefault(known[0].file, []).append(crop)
    found = {}
    for file, wanted in by_file.items():
        try:
            picture = decode(file)
        except DataError:
            continue
        for crop in wanted:
            found[crop] = _uri(picture, [places[region].box for region in crop.regions])
    return found


def _uri(picture: Pixels, boxes: list[Box]) -> str:
    around = _around(boxes)
    corners = corners_of(around, picture.width, picture.height, least=SIDE // 2)
    small = picture.crop(corners)
    small.thumbnail((SIDE, SIDE))
    if len(boxes) > 1:
        scale = small.width / (corners.right - corners.left)
        _frame(small, picture, boxes, (corners.left, corners.top), scale)
    content = BytesIO()
    small.save(content, "JPEG", quality=QUALITY)
    return "data:image/jpeg;base64," + base64.b64encode(content.getvalue()).decode()


def _around(boxes: list[Box]) -> Box:
    """The box around some boxes, with a margin."""
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    box = Box(min(lefts), min(tops), max(rights), max(bottoms))
    across, down = MARGIN * box.width, MARGIN * box.height
    return Box(
        max(0.0, box.left - across),
        max(0.0, box.top - down),
        min(1.0, box.right + across),
        min(1.0, box.bottom + down),
    )


def _frame(
    small: Pixels, picture: Pixels, boxes: list[Box], start: tuple[int, int], scale: float
) -> None:
    """Draw a frame around each of two things."""
    from PIL import ImageDraw

    pen = ImageDraw.Draw(small)
    for box, colour in zip(boxes, FRAMES, strict=False):
        left = (box.left * picture.width - start[0]) * scale
        top = (box.top * picture.height - start[1]) * scale
        right = max(left + 3, (box.right * picture.width - start[0]) * scale)
        bottom = max(top + 3, (box.bottom * picture.height - start[1]) * scale)
        pen.rectangle((left, top, right, bottom), outline="#000000", width=3)
        pen.rectangle((left + 1, top + 1, right - 1, bottom - 1), outline=colour, width=1)


MOST_OBJECTS = 3000
MOST_PAIRS = 60  # of an object, those seen in most pictures


class Seen(NamedTuple):
    """A finding from the side of one object: of a pair, the other object and the labels so."""

    finding: PropertyFinding
    other: str = ""
    turned: bool = False  # whether the object is the second of the pair

    def labels(self) -> dict[str, dict[str, Any]]:
        """Share, interval, count and regions of each label."""
        found = {}
        for label, share in self.finding.distribution.items():
            low, high = self.finding.intervals.get(label, (0.0, 1.0))
            found[self.side(label)] = {
                "share": share,
                "low": low,
                "high": high,
                "count": self.finding.counts.get(label, 0),
            }
        return found

    def side(self, label: str) -> str:
        """What a label of the finding says from this side."""
        return OPPOSITE[label] if self.turned else label

    def examples(self) -> dict[str, tuple[str, ...]]:
        """Regions by label; of pairs, this object's first."""
        found = {}
        for label, regions in self.finding.examples.items():
            pairs = zip(regions[1::2], regions[0::2], strict=False)
            swapped = tuple(chain.from_iterable(pairs))
            found[self.side(label)] = swapped if self.turned else regions
        return found


class _KnownThing(NamedTuple):
    """All that is known of one object."""

    name: str
    pictures: int
    colour: Seen | None
    sizes: list[Seen]
    elevations: list[Seen]


class Contents(NamedTuple):
    """What the page shows, and how much there is in all."""

    things: list[_KnownThing]
    objects: int
    manifest: Mapping[str, Any]
    troubles: int


def read_contents(folder: Path) -> Contents:
    """The findings of a folder by object, those of the most pictures first."""
    colours = {finding.what: Seen(finding) for finding in _findings(folder, "colour")}
    sizes = _by_object(folder, "size")
    elevations = _by_object(folder, "elevation")
    things = []
    for name in {*colours, *sizes, *elevations}:
        thing = _KnownThing(name, 0, colours.get(name), sizes[name], elevations[name])
        things.append(thing._replace(pictures=_pictures(thing)))
    things.sort(key=lambda thing: (-thing.pictures, thing.name))

    manifest: dict[str, Any] = {}
    if (folder / "manifest.json").exists():
        manifest = read_json(folder / "manifest.json", dict[str, Any])
    return Contents(things[:MOST_OBJECTS], len(things), manifest, _troubles(folder))


def _findings(folder: Path, property: str) -> Iterator[PropertyFinding]:
    file = folder / f"{property}.jsonl"
    if file.exists():
        for _, finding in read_jsonl(file, PropertyFinding):
            yield finding


def _by_object(folder: Path, property: str) -> defaultdict[str, list[Seen]]:
    found: defaultdict[str, list[Seen]] = defaultdict(list)
    for finding in _findings(folder, property):
        first, second = finding.objects
        found[first].append(Seen(finding, second))
        found[second].append(Seen(finding, first, turned=True))
    for name, seen in found.items():
        seen.sort(key=lambda each: (-each.finding.pictures, each.other, each.finding.scene))
        found[name] = seen[:MOST_PAIRS]
    return found


def _pictures(thing: _KnownThing) -> int:
    """In how many pictures an object was seen, at least."""
    counts = [seen.finding.pictures for seen in (*thing.sizes, *thing.elevations)]
    if thing.colour:
        counts.append(thing.colour.finding.pictures)
    return max(counts, default=0)


def _troubles(folder: Path) -> int:
    file = folder / "troubles.jsonl"
    return sum(1 for _ in read_jsonl(file, Trouble)) if file.exists() else 0


TEMPLATES = Path(__file__).parent / "assets"
MOST_CROPS = 900  # about 3 kB each
CROPS_OF_A_COLOUR = 3
CROPS_OF_A_PAIR = 2  # of each label
PAIRS_WITH_CROPS = 12  # of an object, and of each property
WORDS = {"size": {">": "larger than", "<": "smaller than"}}
WORDS["elevation"] = {">": "higher up than", "=": "level with", "<": "lower down than"}


def write_knowledge_page(folder: str | Path) -> Path:
    """Write DIR/page.html from what is in the folder, and return its path."""
    home = Path(folder)
    contents = read_contents(home)
    uris = crops_as_uris(_wanted(contents.things), read_places(home))
    numbers = {crop: number for number, crop in enumerate(uris)}
    data = {
        "objects": [_object(thing, numbers) for thing in contents.things],
        "crops": list(uris.values()),
    }
    file = home / "page.html"
    write_page(file, _rendered(contents, data))
    return file


def _rendered(contents: Contents, data: dict[str, Any]) -> str:
    from markupsafe import Markup

    on = contents.manifest.get("switches", ())
    encoded = msgspec.json.encode(data).decode().replace("<", "\\u003c")
    return page(
        "knowledge.html.j2",
        asset("page.js"),
        asset("knowledge.js", TEMPLATES),
        style=asset("knowledge.css", TEMPLATES),
        folder=TEMPLATES,
        title=_title(contents),
        subtitle=_subtitle(contents),
        faults=[(name, switch.says) for name, switch in switches().items() if name in on],
        agreement=_agreement(contents),
        things=[_row(thing) for thing in contents.things],
        left_out=contents.objects - len(contents.things),
        data=Markup(encoded),  # noqa: S704 - JSON in which nothing opens a tag
    )


def _title(contents: Contents) -> str:
    pictures = contents.manifest.get("pictures")
    shown = counted(pictures, "pictures") if isinstance(pictures, int) else "the pictures"
    return f"What {shown} show"


def _subtitle(contents: Contents) -> str:
    mode = contents.manifest.get("mode", "")
    parts = [counted(contents.objects, "objects")]
    if isinstance(mode, str) and mode:
        parts.append(f"mode {mode}")
    if contents.troubles:
        parts.append(f"{counted(contents.troubles, 'troubles')} in troubles.jsonl")
    return " · ".join(parts)


def _agreement(contents: Contents) -> list[dict[str, str]]:
    rows = []
    for record in contents.manifest.get("agreement", ()):
        share, low, high = (record.get(key) for key in ("share", "low", "high"))
        rows.append(
            {
                "property": record["property"],
                "beside": record["beside"],
                "meet": f"{record['meet']:,}",
                "share": percentage(share),
                "interval": "" if low is None else f"{percentage(low)} to {percentage(high)}",
                "disagree": "; ".join(record.get("disagree", ())[:5]),
            }
        )
    return rows


def _row(thing: _KnownThing) -> dict[str, Any]:
    """A line of the table of objects."""
    typical = thing.colour.finding.typical if thing.colour else ()
    return {
        "name": thing.name,
        "pictures": thing.pictures,
        "colours": ", ".join(typical),
        "sizes": len(thing.sizes),
        "elevations": len(thing.elevations),
    }


def _object(thing: _KnownThing, crops: dict[Crop, int]) -> dict[str, Any]:
    """What the page's script shows of an object."""
    found: dict[str, Any] = {"name": thing.name, "pictures": thing.pictures, "pairs": []}
    if thing.colour:
        labels = thing.colour.labels()
        for label, regions in thing.colour.examples().items():
            if label in labels:
                labels[label]["crops"] = _numbers(_colour_crops(regions), crops)
        found["colour"] = {
            "typical": thing.colour.finding.typical,
            "pictures": thing.colour.finding.pictures,
            "labels": labels,
        }
    for property, seen in (("size", thing.sizes), ("elevation", thing.elevations)):
        if seen:
            pairs = [_pair(each, WORDS[property], crops) for each in seen]
            found["pairs"].append({"property": property, "pairs": pairs})
    return found


def _pair(seen: Seen, words: dict[str, str], crops: dict[Crop, int]) -> dict[str, Any]:
    examples = seen.examples()
    labels = {}
    for label, about in seen.labels().items():
        shown = _numbers(_pair_crops(examples.get(label, ())), crops)
        labels[words[label]] = {**about, "crops": shown}
    return {
        "other": seen.other,
        "scene": seen.finding.scene,
        "pictures": seen.finding.pictures,
        "typical": [words[seen.side(label)] for label in seen.finding.typical],
        "labels": labels,
    }


def _numbers(wanted: list[Crop], crops: dict[Crop, int]) -> list[int]:
    return [crops[crop] for crop in wanted if crop in crops]


def _colour_crops(regions: tuple[str, ...]) -> list[Crop]:
    return [Crop((region,)) for region in regions[:CROPS_OF_A_COLOUR]]


def _pair_crops(regions: tuple[str, ...]) -> list[Crop]:
    pairs = zip(regions[0::2], regions[1::2], strict=False)
    return [Crop(pair) for pair in islice(pairs, CROPS_OF_A_PAIR)]


def _wanted(things: list[_KnownThing]) -> list[Crop]:
    """The crops of the objects that were seen most, until there are enough."""
    every = chain.from_iterable(map(_crops_of, things))
    return list(islice(dict.fromkeys(every), MOST_CROPS))


def _crops_of(thing: _KnownThing) -> Iterator[Crop]:
    if thing.colour:
        for regions in thing.colour.examples().values():
            yield from _colour_crops(regions)
    for seen in (*thing.sizes[:PAIRS_WITH_CROPS], *thing.elevations[:PAIRS_WITH_CROPS]):
        for regions in seen.examples().values():
            yield from _pair_crops(regions)
