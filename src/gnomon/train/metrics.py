"""The log of training, metrics.jsonl: a line for each step and for each evaluation.

Nothing in it depends on the clock, so that the same training writes the same lines. Lines beyond
the last checkpoint, whole or torn, are dropped when training goes on from there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from gnomon.items.writing import atomic_file

FILE = "metrics.jsonl"


class MetricsLine(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One step (with its loss and rate) or one evaluation (with scores on dev)."""

    step: int  # counted from 1
    epoch: float
    loss: float | None = None
    rate: float | None = None
    dev: dict[str, float] | None = None


class MetricsLog:
    """Appends lines to the file of a folder."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / FILE

    def begin(self, step: int) -> None:
        """Keep the lines up to a step, and no others."""
        kept = [line for line in read_metrics(self.file) if line.step <= step]
        with atomic_file(self.file) as part:
            part.write_bytes(_encoded(kept))

    def add(self, lines: Iterable[MetricsLine]) -> None:
        """Append lines."""
        with self.file.open("ab") as stream:
            stream.write(_encoded(lines))


def read_metrics(file: Path) -> list[MetricsLine]:
    """The lines of a log, up to the first that a killed process left unfinished."""
    return list(_whole_lines(file)) if file.is_file() else []


def _whole_lines(file: Path) -> Iterator[MetricsLine]:
    decode = msgspec.json.Decoder(MetricsLine).decode
    for text in file.read_bytes().split(b"\n")[:-1]:
        try:
            yield decode(text)
        except msgspec.MsgspecError:
            return


def _encoded(lines: Iterable[MetricsLine]) -> bytes:
    encode = msgspec.json.Encoder().encode
    return b"".join(encode(line) + b"\n" for line in lines)
