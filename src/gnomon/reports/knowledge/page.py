"""Writes the page of a knowledge folder: search an object, see what is known of it, and why.

One self-contained file. Crops are bounded: those of the objects that were seen in most pictures.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from gnomon.look.modes import switches
from gnomon.reports.knowledge.contents import Contents, Seen, Thing, read_contents
from gnomon.reports.knowledge.crops import Crop, crops_as_uris, read_places
from gnomon.reports.shell import asset, page, write_page
from gnomon.reports.words import counted, percentage

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

    encoded = msgspec.json.encode(data).decode().replace("<", "\\u003c")
    return page(
        "knowledge.html.j2",
        asset("page.js"),
        asset("knowledge.js", TEMPLATES),
        style=asset("knowledge.css", TEMPLATES),
        folder=TEMPLATES,
        title=_title(contents),
        subtitle=_subtitle(contents),
        faults=_faults(contents),
        agreement=_agreement(contents),
        things=[_row(thing) for thing in contents.things],
        left_out=contents.objects - len(contents.things),
        data=Markup(encoded),  # noqa: S704 - JSON in which nothing opens a tag
    )


def _title(contents: Contents) -> str:
    pictures = contents.manifest.get("pictures")
    if isinstance(pictures, int):
        return f"What {counted(pictures, 'pictures')} show"
    return "What the pictures show"


def _subtitle(contents: Contents) -> str:
    mode = contents.manifest.get("mode", "")
    parts = [counted(contents.objects, "objects")]
    if isinstance(mode, str) and mode:
        parts.append(f"mode {mode}")
    if contents.troubles:
        parts.append(f"{counted(contents.troubles, 'troubles')} in troubles.jsonl")
    return " · ".join(parts)


def _faults(contents: Contents) -> list[tuple[str, str]]:
    """The switches of the mode, with what they do."""
    on = contents.manifest.get("switches", ())
    known = switches()
    return [(name, known[name].says) for name in known if name in on]


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


def _row(thing: Thing) -> dict[str, Any]:
    """A line of the table of objects."""
    typical = thing.colour.finding.typical if thing.colour else ()
    return {
        "name": thing.name,
        "pictures": thing.pictures,
        "colours": ", ".join(typical),
        "sizes": len(thing.sizes),
        "elevations": len(thing.elevations),
    }


def _object(thing: Thing, crops: dict[Crop, int]) -> dict[str, Any]:
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
    found = []
    for first, second in zip(regions[0::2], regions[1::2], strict=False):
        found.append(Crop((first, second)))
    return found[:CROPS_OF_A_PAIR]


def _wanted(things: list[Thing]) -> list[Crop]:
    """The crops of the objects that were seen most, until there are enough."""
    found: dict[Crop, None] = {}
    for thing in things:
        for crop in _crops_of(thing):
            if len(found) == MOST_CROPS:
                return list(found)
            found[crop] = None
    return list(found)


def _crops_of(thing: Thing) -> Iterator[Crop]:
    if thing.colour:
        for regions in thing.colour.examples().values():
            yield from _colour_crops(regions)
    for seen in (*thing.sizes[:PAIRS_WITH_CROPS], *thing.elevations[:PAIRS_WITH_CROPS]):
        for regions in seen.examples().values():
            yield from _pair_crops(regions)
