"""The marks "label doubtful" that people set in the viewer: read from runs, put to the questions.

A mark is on an item of a run, by its id and its words. In a file that has no ids it is found by the
words alone, if only one question has them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from gnomon.audit.sets import AuditSet, Doubted
from gnomon.records import Answer, Item, digest
from gnomon.runs import Run, wording_of


class Mark(NamedTuple):
    """An item that people marked: its id and a digest of its words."""

    item: str
    wording: str


def with_marks(audited: AuditSet, runs: Sequence[Run]) -> AuditSet:
    """The set with what people marked beside these runs, and how the runs did on that."""
    marked = comments_on(runs)
    places = _places(audited, {mark.wording for mark in marked})
    questions = list(audited.questions)
    for mark, comments in marked.items():
        number = _place(mark, places)
        if number is not None:
            wrong, asked = _wrong(mark, runs)
            doubted = Doubted(tuple(comments), wrong, asked)
            questions[number] = questions[number]._replace(doubted=doubted)
    return replace(audited, questions=questions, marks=len(marked))


def comments_on(runs: Iterable[Run]) -> dict[Mark, list[str]]:
    """What was written to each mark, most often nothing; each comment once."""
    found: dict[Mark, list[str]] = {}
    for run in runs:
        for doubt in run.notes.doubts.values():
            comments = found.setdefault(Mark(doubt.item, doubt.wording), [])
            if doubt.comment and doubt.comment not in comments:
                comments.append(doubt.comment)
    return found


Places = dict[str, dict[str, int]]  # the questions with some words, by their ids


def _places(audited: AuditSet, wordings: set[str]) -> Places:
    found: Places = {}
    for number, question in enumerate(audited.questions):
        wording = digest(*_context_and_text(audited, question.texts))
        if wording in wordings:
            found.setdefault(wording, {})[question.id] = number
    return found


def _context_and_text(audited: AuditSet, texts: Sequence[str]) -> tuple[str, str]:
    """What stands before the question, and the question, each of several fields in one."""
    before: list[str] = []
    asked: list[str] = []
    for field, text in zip(audited.fields, texts, strict=True):
        part = before if field in audited.contexts else asked
        part.append(text)
    return " ".join(before), " ".join(asked)


def _place(mark: Mark, places: Places) -> int | None:
    same_words = places.get(mark.wording, {})
    if mark.item in same_words:
        return same_words[mark.item]
    if len(same_words) == 1:
        return next(iter(same_words.values()))
    return None


def _wrong(mark: Mark, runs: Iterable[Run]) -> tuple[int, int]:
    """How many runs got an item wrong, of how many that were asked it."""
    wrong = asked = 0
    for run in runs:
        item, answer = run.row(mark.item) or (None, None)
        if item is None or answer is None or wording_of(item) != mark.wording:
            continue
        asked += 1
        wrong += _is_wrong(item, answer)
    return wrong, asked


def _is_wrong(item: Item, answer: Answer) -> bool:
    return answer.choice not in item.gold
