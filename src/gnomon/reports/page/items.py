"""The item table as compact data, and the addresses of its views."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import msgspec
import numpy as np
from numpy.typing import NDArray

from gnomon.forms import gold_in_words
from gnomon.records import WRITTEN, Image, Item
from gnomon.reports.pictures import Album
from gnomon.reports.prompts import prompt_of
from gnomon.reports.study import NO_ANSWER, NOT_ASKED, Entrant, Study
from gnomon.reports.words import clip

MOST = 100_000  # items in the table of one benchmark
REPLY, PICTURES, PROMPT = 300, 200, 4000  # characters that the table shows
PROMPTS = 2_000  # items whose prompts it holds
TAG_VALUES = 60  # a tag with more values than this is no filter
TAGS = 6  # filters that the table offers
FIRST = 0x30  # codes are written as characters from here on
NONE, ABSENT = FIRST - 1, FIRST - 2  # no answer or no score; not asked


class Packed(NamedTuple):
    """One benchmark's items for the page."""

    name: str
    title: str
    shown: int
    left_out: int
    data: str  # base64 of deflated JSON


def pack(study: Study, album: Album) -> Packed:
    """Items and answers of a study for the page's item table."""
    count = min(len(study.items), MOST)
    raw = msgspec.json.encode(columns(study, count, album))
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    data = base64.b64encode(deflate.compress(raw) + deflate.flush()).decode()
    return Packed(study.name, study.title, count, len(study.items) - count, data)


def columns(study: Study, count: int, album: Album) -> dict[str, Any]:
    """The columns, before they are compressed."""
    items = study.items[:count]

    def column(value_of: Callable[[Item], Any]) -> dict[str, Any]:
        return coded(map(value_of, items))

    tags = {}
    for tag in filters(study):
        column_of_tag = coded(item.tags.get(tag, "") for item in items)
        words = [study.words(tag, value) if value else "" for value in column_of_tag["values"]]
        tags[tag] = {**column_of_tag, "title": study.words(tag), "words": words}
    return {
        "name": study.name,
        "n": count,
        "id": [item.id for item in items],
        "text": [clip(item.text) for item in items],
        "context": column(lambda item: clip(item.context)),
        "group": column(lambda item: item.group),
        "choices": column(lambda item: item.choices),
        "gold": column(_gold),
        "image": column(lambda item: clip(pictures(item), PICTURES)),
        "thumbnails": _of_pictures(items, album.thumbnails),
        "sketches": _of_pictures(items, album.sketches),
        "tags": tags,
        "runs": [_answers(entrant, items) for entrant in _models_first(study)],
    }


def _gold(item: Item) -> str:
    return gold_in_words(item) if item.form in WRITTEN else " / ".join(item.gold)


def _of_pictures(items: Sequence[Item], show: Callable[[Item], tuple[str, ...]]) -> dict[str, Any]:
    """What is shown of the items' pictures, once for items that have the same."""
    shown: dict[tuple[Image, ...], tuple[str, ...]] = {}
    for item in items:
        if item.images not in shown:
            shown[item.images] = show(item)
    return coded(shown[item.images] for item in items)


def pictures(item: Item) -> str:
    """The pictures of an item as the page names them: without the folders of this machine."""
    return " ".join(_name(image) for image in item.images)


def _name(image: Image) -> str:
    path = PurePath(image.path)
    return path.name if path.is_absolute() else image.path


def _models_first(study: Study) -> list[Entrant]:
    """The runs in the order of their columns: guesses and shortcuts behind the models."""
    return sorted(study.entrants, key=lambda entrant: entrant.is_baseline)


def _answers(entrant: Entrant, items: Sequence[Item]) -> dict[str, Any]:
    """What one model answered to the first items."""
    count = len(items)
    choice = entrant.choice[:count]
    codes = choice + FIRST
    codes[choice == NO_ANSWER] = NONE
    codes[choice == NOT_ASKED] = ABSENT
    replies = {}
    for i, reply in entrant.replies.items():
        if i < count:
            replies[str(i)] = clip(reply, REPLY)
    rules = {str(i): rule for i, rule in entrant.rules.items() if i < count}
    costs = {str(i): cost for i, cost in entrant.costs.items() if i < count}
    found: dict[str, Any] = {
        "label": entrant.label,
        "series": entrant.series,
        "choice": _characters(codes),
        "right": _characters(entrant.right[:count] + FIRST),
        "sure": "",
        "gold": "",
        "reply": replies,
        "rule": rules,
        "written": {str(i): said for i, said in entrant.written.items() if i < count},
        "cost": costs,
        "prompt": _prompts(entrant, items),
    }
    if entrant.scored:
        found["sure"] = _hundredths(entrant.sure[:count])
        found["gold"] = _hundredths(entrant.gold[:count])
    return found


def _prompts(entrant: Entrant, items: Sequence[Item]) -> dict[str, Any] | None:
    """What the model read for each of the first items; none where its manifest does not keep it."""
    if not entrant.run.manifest.asking:
        return None
    asked = zip(items[:PROMPTS], entrant.asked.tolist(), strict=False)
    return coded(_prompt(entrant, item) if was_asked else "" for item, was_asked in asked)


def _prompt(entrant: Entrant, item: Item) -> str:
    found = prompt_of(entrant.run, item)
    if found is None or found.trouble:
        return ""
    parts = [found.text]
    for message in found.messages:
        parts.append(f"[{message.get('role', '')}]\n{message.get('content', '')}")
    scored = [each.text for each in found.scored]
    if scored:
        parts.append("Scored: " + " | ".join(scored))
    return clip("\n".join(filter(None, parts)), PROMPT)


def filters(study: Study) -> list[str]:
    """Tags to filter the table by: the benchmark's slices first, then those with few values."""
    values: dict[str, set[str]] = {}
    for item in study.items[:MOST]:
        for tag, value in item.tags.items():
            seen = values.setdefault(tag, set())
            if len(seen) <= TAG_VALUES:
                seen.add(value)

    most = min(TAG_VALUES, len(study.items) / 2)
    few = [tag for tag, seen in values.items() if 1 < len(seen) <= most]
    chosen = [tag for tag in study.slices if tag in few]
    others = [tag for tag in few if tag not in chosen]
    return chosen + others[: max(0, TAGS - len(chosen))]


def coded(values: Iterable[Any]) -> dict[str, Any]:
    """Different values and, for each row, which.

    >>> coded(["a", "b", "a"])
    {'values': ['a', 'b'], 'codes': [0, 1, 0]}
    """
    index: dict[Any, int] = {}
    codes = [index.setdefault(value, len(index)) for value in values]
    return {"values": list(index), "codes": codes}


def _characters(codes: NDArray[Any]) -> str:
    return "".join(map(chr, codes.tolist()))


def _hundredths(values: NDArray[np.float64]) -> str:
    known = np.isfinite(values)
    codes = np.full(len(values), NONE)
    codes[known] = np.rint(np.clip(values[known], 0, 1) * 100) + FIRST
    return _characters(codes)


# Addresses of views of the item table: what a link must say for the page to show those items.


def items_address(benchmark: str, *, model: str = "", tags: Mapping[str, str] | None = None) -> str:
    """The address, within the page, of some items of a benchmark: those that a model was asked.

    >>> items_address("scales@fresh", tags={"gap": "1"})
    '#items?b=scales%40fresh&t.gap=1'
    """
    asked = {"b": benchmark}
    if model:
        asked["o"] = f"asked:{model}"
    for tag, value in (tags or {}).items():
        asked[f"t.{tag}"] = value
    return f"#items?{urlencode(asked, quote_via=quote, safe='')}"
