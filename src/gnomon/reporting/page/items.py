"""The item table as compact data: columns, coded against small dictionaries, deflated and written
as base64.

The page unpacks it in the reader's browser when the table is first needed, so that a hundred
thousand items neither weigh much nor slow the first view.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np

from gnomon.records import Item
from gnomon.reporting.study import Study

MOST = 100_000  # items in the table of one benchmark
TEXT_LIMIT = 600  # characters of a sentence or story that the table shows
TAG_VALUES = 60  # a tag with more values than this is no filter
FIRST = 0x30  # codes are written as characters from here on
NONE, ABSENT = FIRST - 1, FIRST - 2  # no answer or no score; not asked


class Packed(NamedTuple):
    """One benchmark's items for the page."""

    name: str
    shown: int
    left_out: int
    data: str  # base64 of deflated JSON


def pack(study: Study) -> Packed:
    """Items and answers of a study for the page's item table."""
    count = min(len(study.items), MOST)
    raw = msgspec.json.encode(columns(study, count))
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    data = base64.b64encode(deflate.compress(raw) + deflate.flush()).decode()
    return Packed(study.name, count, len(study.items) - count, data)


def columns(study: Study, count: int) -> dict[str, Any]:
    """The columns, before they are compressed."""
    items = study.items[:count]
    return {
        "name": study.name,
        "n": count,
        "id": [item.id for item in items],
        "text": [clip(item.text) for item in items],
        "context": coded(clip(item.context) for item in items),
        "group": coded(item.group for item in items),
        "choices": coded(item.choices for item in items),
        "gold": coded(" / ".join(item.gold) for item in items),
        "image": coded(_images(item)[:200] for item in items),
        "tags": {tag: coded(item.tags.get(tag, "") for item in items) for tag in filters(study)},
        "runs": [
            {
                "label": e.label,
                "choice": _characters(
                    np.where(
                        e.choice[:count] >= 0,
                        e.choice[:count] + FIRST,
                        np.where(e.choice[:count] == -1, NONE, ABSENT),
                    )
                ),
                "right": _characters(e.right[:count].astype(int) + FIRST),
                "sure": _hundredths(e.sure[:count]) if e.scored else "",
                "gold": _hundredths(e.gold[:count]) if e.scored else "",
                "reply": {str(i): clip(text, 300) for i, text in e.replies.items() if i < count},
            }
            for e in study.entrants
        ],
    }


def filters(study: Study) -> list[str]:
    """Tags by which the table can be filtered: those the benchmark slices by, else those with few
    values."""
    values: dict[str, set[str]] = {}
    for item in study.items[:MOST]:
        for tag, value in item.tags.items():
            seen = values.setdefault(tag, set())
            if len(seen) <= TAG_VALUES:
                seen.add(value)
    declared = study.spec.slices if study.spec else ()
    few = [
        tag
        for tag in values
        if 1 < len(values[tag]) <= TAG_VALUES and len(values[tag]) <= len(study.items) / 2
    ]
    chosen = [tag for tag in declared if tag in few]
    return chosen + [tag for tag in few if tag not in chosen][: max(0, 6 - len(chosen))]


def coded(values: Iterable[Any]) -> dict[str, Any]:
    """Different values and, for each row, which.

    >>> coded(["a", "b", "a"])
    {'values': ['a', 'b'], 'codes': [0, 1, 0]}
    """
    index: dict[Any, int] = {}
    codes = [index.setdefault(value, len(index)) for value in values]
    return {"values": list(index), "codes": codes}


def clip(text: str, limit: int = TEXT_LIMIT) -> str:
    """At most so many characters, and an ellipsis for the rest."""
    return text if len(text) <= limit else text[:limit] + "…"


def _characters(codes: Sequence[int] | np.ndarray[Any, Any]) -> str:
    return "".join(map(chr, np.asarray(codes).tolist()))


def _hundredths(values: np.ndarray[Any, Any]) -> str:
    with np.errstate(invalid="ignore"):
        whole = np.where(np.isfinite(values), np.rint(np.clip(values, 0, 1) * 100) + FIRST, NONE)
    return _characters(whole.astype(int))


def _images(item: Item) -> str:
    return " ".join(image.path for image in item.images)
