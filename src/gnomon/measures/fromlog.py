"""A table straight from a run's log: texts of items are not kept, and not even decoded.

Tags and wordings are read from the log in a further pass, if anybody asks for one.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from gnomon.measures.building import Bare, Builder, Row, chunks
from gnomon.measures.columns import Column, TagColumns, Tags, Wordings
from gnomon.measures.table import Table

if TYPE_CHECKING:
    from gnomon.runs import AskedRow, Run


class Tagged(msgspec.Struct, frozen=True, gc=False):
    """The part of an Item that slices need."""

    tags: dict[str, str] = {}


class Worded(msgspec.Struct, frozen=True, gc=False):
    """The part of an Item that people read."""

    text: str
    context: str = ""


_bare = msgspec.json.Decoder(Bare).decode
_tagged = msgspec.json.Decoder(Tagged).decode
_worded = msgspec.json.Decoder(Worded).decode
_floats = msgspec.json.Decoder(list[float | None]).decode


def build_run(run: Run, **about: Any) -> Table:
    """The table of a run's log; `about` are the further fields of Table."""
    builder = Builder()
    numbers = array("q")
    for chunk in chunks(run.asked()):
        builder.add(_decoded(run, chunk))
        numbers.extend([asked.n for asked in chunk])
    return builder.done(
        Tags(lambda: _tags(run, numbers)),
        wordings=Wordings(lambda: _wordings(run, numbers)),
        numbers=np.frombuffer(numbers, dtype=np.int64),
        **about,
    )


def _decoded(run: Run, chunk: Sequence[AskedRow]) -> list[Row]:
    try:
        return [
            (_bare(record), _floats(scores) if scores else None, choice, error)
            for _, record, scores, choice, error in chunk
        ]
    except (msgspec.MsgspecError, TypeError) as error:
        raise run.damaged(error) from None


def _tags(run: Run, numbers: Sequence[int]) -> dict[str, Column]:
    found = TagColumns()
    try:
        for chunk in chunks(_records(run, numbers)):
            found.extend([_tagged(record).tags for record in chunk])
    except msgspec.MsgspecError as error:
        raise run.damaged(error) from None
    return found.done()


def _wordings(run: Run, numbers: Sequence[int]) -> NDArray[np.int64]:
    hashes = array("q")
    try:
        for record in _records(run, numbers):
            item = _worded(record)
            hashes.append(hash((item.context, item.text)))
    except msgspec.MsgspecError as error:
        raise run.damaged(error) from None
    return np.frombuffer(hashes, dtype=np.int64)


def _records(run: Run, numbers: Sequence[int]) -> Iterator[str]:
    """The items of these numbers, which ascend. A run that is going on may have grown since."""
    wanted = iter(numbers)
    want = next(wanted, None)
    for n, record in run.records():
        if n == want:
            yield record
            want = next(wanted, None)
