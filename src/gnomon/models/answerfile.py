"""A model whose answers were given elsewhere: `answers:FILE` reads them and passes them on as they
are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from gnomon.answerfiles.joining import read_predictions
from gnomon.contracts import ANYTHING, Benchmark, Scale
from gnomon.errors import DataError, UsageError
from gnomon.records import Answer, Item


class FileAnswers:
    """Answers from a file, by item id. An item that the file does not have fails with that
    reason."""

    scale: Scale = "none"
    takes = ANYTHING
    batch = 1024

    def __init__(self, file: str) -> None:
        self.spec = f"answers:{file}"
        self._file = file
        self._answers: dict[str, Answer] = {}

    def describe(self) -> dict[str, Any]:
        """The file's name and hash."""
        return {
            "file": Path(self._file).name,
            "sha256": sha256(Path(self._file).read_bytes()).hexdigest(),
        }

    def prepare(self, items: Iterable[Item], benchmark: Benchmark) -> None:
        """Read the file and join it with the items."""
        found = read_predictions(self._file, items)
        self._answers = {item.id: answer for item, answer in found if answer is not None}

    def answer(self, items: Sequence[Item]) -> list[Answer]:
        """The answers that the file has."""
        return [
            self._answers.get(item.id) or Answer(item=item.id, error="not in the file of answers")
            for item in items
        ]


def answers(name: str) -> FileAnswers:
    """The model `answers:FILE`."""
    if not name:
        raise UsageError(
            "The model answers needs a file.", "For example: answers:predictions.jsonl"
        )
    if not Path(name).is_file():
        raise DataError(
            "there is no such file.", "Give a file of answers: answers:FILE.", file=name
        )
    return FileAnswers(name)
