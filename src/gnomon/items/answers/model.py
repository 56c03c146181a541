"""A model whose answers were given elsewhere: `answers:FILE` reads them and passes them on."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from gnomon.contracts import ANYTHING, Benchmark, Scale
from gnomon.errors import AnswerFileWarning, DataError, UsageError
from gnomon.fingerprint import sha256_of
from gnomon.items.answers.joining import read_predictions
from gnomon.records import Answer, Item


class FileAnswers:
    """Answers from a file, by item id. An item that the file lacks fails with that reason."""

    scale: Scale = "none"
    takes = ANYTHING
    batch = 1024
    answered_before = True  # so nothing about the items can be changed any more

    def __init__(self, file: str, *, column: str = "", filter: str = "") -> None:
        self.spec = f"answers:{file}"
        self._file = Path(file)
        self._column = column
        self._filter = filter
        self._answers: dict[str, Answer] = {}

    def describe(self) -> dict[str, Any]:
        """The file's name and hash."""
        return {"file": self._file.name, "sha256": sha256_of(self._file)}

    def prepare(self, items: Iterable[Item], benchmark: Benchmark) -> None:
        """Read the file and join it with the items; what does not fit is a warning."""
        found = read_predictions(self._file, items, column=self._column, filter=self._filter)
        self._answers = {item.id: answer for item, answer in found.rows}
        for note in found.notes:
            warnings.warn(note, AnswerFileWarning, stacklevel=2)

    def answer(self, items: Sequence[Item]) -> list[Answer]:
        """The answers that the file has, and a failure for each that it lacks."""
        return [self._answers[item.id] for item in items]


def answers(name: str, *, column: str = "", filter: str = "") -> FileAnswers:
    """Answers from a file that `gnomon score --answers FILE` can read too.

    column   of a table: the column that holds the answer, where several could
    filter   of a log of lm-eval: whose replies count, where there are several
    """
    if not name:
        raise UsageError(
            "The model answers needs a file.", "For example: answers:predictions.jsonl"
        )
    if not Path(name).is_file():
        raise DataError(
            "there is no such file.", "Give a file of answers: answers:FILE.", file=name
        )
    return FileAnswers(name, column=column, filter=filter)
