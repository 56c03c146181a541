"""A file of answers, joined with the items by their ids, and the model that gives them."""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from math import isnan
from pathlib import Path
from typing import Any, NamedTuple

from gnomon.contracts import ANYTHING, AnswerFormat, Benchmark, Scale
from gnomon.errors import AnswerFileWarning, DataError, UsageError
from gnomon.files import read_lines
from gnomon.fingerprint import sha256_of
from gnomon.grouped import first_few
from gnomon.items.answers import own
from gnomon.items.answers.answering import answer_of
from gnomon.options import check_options
from gnomon.records import Answer, Item, Prediction, pick

NOT_THERE = "not in the file of answers"
MOST_ANSWERS = 2_000_000
MOST_TEXT = 256 * 2**20  # characters of all replies together
SHOWN = 3  # ids in a note


class Joined(NamedTuple):
    """Every item with its answer; an item that the file lacks has a failed one.

    `rows` can be read once. `notes`, sentences on what does not fit, is complete after that.
    """

    rows: Iterator[tuple[Item, Answer]]
    notes: list[str]


def read_predictions(
    file: str | Path, items: Iterable[Item], *, column: str = "", filter: str = ""
) -> Joined:
    """The items with the answers that a file has for them.

    column   of a table: the one that holds the answer, where several could
    filter   of a log of lm-eval: whose replies count, where there are several
    """
    path = Path(file)
    found = _by_item(_predictions(path, column=column, filter=filter), path)
    notes: list[str] = []
    return Joined(_rows(path, items, found, notes), notes)


def _predictions(file: Path, **options: str) -> Iterator[Prediction]:
    """What the file says, in whichever format it is."""
    if file.exists() and not file.is_file():  # a pipe can be read only once
        raise DataError("this is not a file.", "Give the path of a file.", file=file)
    format = _format(file)
    given = {name: value for name, value in options.items() if value}
    check_options(f"A file of the format {format.name}", format.read, given)
    return format.read(file, **given)


def _format(file: Path) -> AnswerFormat:
    from gnomon.registry import answer_formats

    head: list[str] = []
    if file.suffix != ".eval":
        head = [line for _, line in islice(read_lines(file), 3)]
    for known in answer_formats().values():
        if known.recognises(file, head):
            return known
    return own.FORMAT


def _by_item(predictions: Iterable[Prediction], file: Path) -> dict[str | int, Prediction]:
    found: dict[str | int, Prediction] = {}
    text = 0
    for said in predictions:
        before = found.setdefault(said.item, said)
        if before is not said:
            raise DataError(
                f"the id '{said.item}' was there already, in line {before.line}.",
                "Remove one of the two.",
                file=file,
                line=said.line,
            )
        text += len(said.reply or "")
        if len(found) > MOST_ANSWERS or text > MOST_TEXT:
            raise DataError(
                f"the file holds more than {MOST_ANSWERS:,} answers or "
                f"{MOST_TEXT // 2**20} MB of replies.",
                "Split it, and score the parts with the options that made their items.",
                file=file,
                line=said.line,
            )
    return found


def _rows(
    file: Path, items: Iterable[Item], found: dict[str | int, Prediction], notes: list[str]
) -> Iterator[tuple[Item, Answer]]:
    """Join item by item; what is left in `found` at the end belongs to no item."""
    used = total = 0
    against: list[str] = []
    odd: list[str] = []
    for place, item in enumerate(items):
        total += 1
        said = found.pop(item.id, None) or found.pop(place, None)
        if said is None:
            yield item, Answer(item=item.id, error=NOT_THERE)
            continue
        used += 1
        answer = answer_of(item, said, file)
        if _contradicts_itself(item, answer):
            against.append(item.id)
        if _on_no_scale(answer):
            odd.append(item.id)
        yield item, answer
    _check_joined(file, used, found)
    notes += _missing(file, used, total)
    unknown = list(map(str, found))
    remarks = (
        (
            unknown,
            f"of {used + len(unknown):,} answers are to no item of the benchmark, and are left out",
        ),
        (
            against,
            "answers have a choice that is not the one with the highest score; the choice counts",
        ),
        (
            odd,
            "answers have scores that are neither probabilities (0 to 1) nor log-probabilities "
            "(below 0); measures of calibration mean nothing",
        ),
    )
    for ids, remark in remarks:
        if ids:
            notes.append(f"{file}: {len(ids):,} {remark}: {first_few(ids, SHOWN)}.")


def _check_joined(file: Path, used: int, spare: dict[str | int, Prediction]) -> None:
    if not used:
        raise DataError(
            "no id in the file is the id of an item.",
            "Give the benchmark, its source and its options as they were when the answers were "
            "made.",
            file=file,
        )
    if any(isinstance(name, int) for name in spare):  # joined by place: all may be out of step
        raise DataError(
            f"the file has {len(spare):,} more predictions than there are items.",
            "Give the split or the limit that the predictions were made for.",
            file=file,
        )


def _missing(file: Path, used: int, total: int) -> list[str]:
    if used == total:
        return []
    note = f"{file} has no answer to {total - used:,} of {total:,} items: they count as failed."
    if 2 * used < total:
        note += " If the items were made or run with --limit or other options, give the same here."
    return [note]


def _contradicts_itself(item: Item, answer: Answer) -> bool:
    if answer.scores is None or answer.choice is None:
        return False
    if pick(item, answer.scores).choice is None:
        return False
    chosen = answer.scores[item.choices.index(answer.choice)]
    return isnan(chosen) or any(score > chosen for score in answer.scores)


def _on_no_scale(answer: Answer) -> bool:
    """Neither all in 0 to 1 (probabilities) nor all below 0 (log-probabilities), rounding aside."""
    known = [score for score in answer.scores or () if not isnan(score)]
    if not known or max(known) <= 1e-6:
        return False
    return min(known) < 0 or max(known) > 1 + 1e-6


# A model whose answers were given elsewhere: `answers:FILE` reads them and passes them on.


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
