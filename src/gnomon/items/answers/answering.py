"""From what a file says about one item to an Answer.

Choices are matched by their text, never by their place in another program's list.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gnomon.errors import DataError
from gnomon.forms import is_written
from gnomon.models.reading.assertion import question_of
from gnomon.models.reading.replies import explain
from gnomon.models.reading.written import read_written
from gnomon.records import Answer, Item, Prediction, pick

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?inf(inity)?|nan", re.ASCII | re.I)
NAN = float("nan")


def answer_of(item: Item, said: Prediction, file: Path) -> Answer:
    """The answer to an item, by what a file says about it."""
    if said.error:
        return Answer(item=item.id, error=said.error, reply=said.reply)
    choices = _own_names(item, said, file)
    scores = _scores(item, said, choices, file)
    if said.place is not None:
        choice = choices[said.place]
        return Answer(item=item.id, choice=choice, scores=scores, reply=said.reply)
    if said.label is not None:
        return _labelled(item, said.label.strip(), scores, said.reply)
    if scores is not None:
        return pick(item, scores)
    if said.reply is not None:
        return _read(item, said, choices)
    if isinstance(said.scores, Mapping):
        raise DataError(
            f"there is no answer to item '{item.id}'.",
            f"Give a column label, or a column for each of its choices: {', '.join(item.choices)}.",
            file=file,
            line=said.line,
        )
    return Answer(item=item.id)


def _own_names(item: Item, said: Prediction, file: Path) -> Sequence[str]:
    """The item's own names of the choices, in the order in which the file lists them."""
    if said.choices is None:
        if said.place is not None:
            raise _mismatch(item, said, file)
        return item.choices
    names = {_plain(choice): choice for choice in item.choices}
    listed = [_plain(choice) for choice in said.choices]
    if sorted(listed) != sorted(names) or len(names) != len(item.choices):
        raise _mismatch(item, said, file)
    return [names[choice] for choice in listed]


def _plain(choice: str) -> str:
    return choice.strip().casefold()


def _mismatch(item: Item, said: Prediction, file: Path) -> DataError:
    listed = ", ".join(said.choices or ()) or "none"
    return DataError(
        f"the file has other choices for item '{item.id}': {listed}.",
        f"The benchmark has: {', '.join(item.choices)}. Give the benchmark that was asked, or "
        "write the answers as a table with the columns id and label.",
        file=file,
        line=said.line,
    )


def _labelled(
    item: Item, label: str, scores: tuple[float, ...] | None, reply: str | None
) -> Answer:
    choice = label if label in item.choices else None
    free = read_written(item, label)
    if free is not None and (choice is None or is_written(item)):
        choice = free.said
    return Answer(item=item.id, choice=choice, scores=scores, reply=reply or label or None)


def _read(item: Item, said: Prediction, choices: Sequence[str]) -> Answer:
    """Read the reply. A letter in it means something only where the file lists the choices."""
    words = [[choice] for choice in choices]
    letters = said.choices is not None
    free = read_written(item, said.reply or "", letters=letters)
    if free is not None:
        return Answer(item=item.id, choice=free.said, reply=said.reply, rule=free.rule)
    found = explain(said.reply or "", words, letters=letters, question=question_of(item))
    choice = None if found.place is None else choices[found.place]
    return Answer(item=item.id, choice=choice, reply=said.reply, rule=found.rule)


def _scores(
    item: Item, said: Prediction, choices: Sequence[str], file: Path
) -> tuple[float, ...] | None:
    """One for each of the item's choices, in its order."""
    given = said.scores
    if given is None:
        return None
    if isinstance(given, Mapping):
        columns = [choice for choice in item.choices if choice in given]
        if not columns or (said.label is not None and len(columns) < len(item.choices)):
            return None  # the columns hold something else
        return tuple(_number(given.get(choice), said, file) for choice in item.choices)
    if not isinstance(given, list) or len(given) != len(item.choices):
        raise DataError(
            f"there must be {len(item.choices)} scores, one for each choice of item '{item.id}'.",
            f"Give a score for each of these: {', '.join(item.choices)}.",
            file=file,
            line=said.line,
        )
    by_choice = dict(zip(choices, given, strict=True))
    return tuple(_number(by_choice[choice], said, file) for choice in item.choices)


def _number(value: Any, said: Prediction, file: Path) -> float:
    """A number as programs write it; nothing is NaN. Python's float takes 1_0 and other digits."""
    if value is None or value == "":
        return NAN
    if isinstance(value, str) and NUMBER.fullmatch(value.strip()):
        return float(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            pass
    shown = str(value)[:40] if isinstance(value, str) else type(value).__name__
    raise DataError(
        f"a score is not a number: {shown}.",
        "Write it as 0.25, -1.5 or 1e-3.",
        file=file,
        line=said.line,
    )
