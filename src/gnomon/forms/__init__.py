"""Answer forms: what tells a form of items apart whose answer is no single choice.

A form is one record here: what its items must have, how good an answer is, what a guess gets, and
how a right answer is written. Everything else (table, prompts, reports, people) asks this table.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from gnomon.forms import lists, numbers, regions
from gnomon.forms.numbers import Asked as Asked

RIGHT = "right"  # the mark that every form gives: 1 for right, 0 for wrong, or between
Marks = Mapping[str, float]  # by name; NaN where a mark is not defined


class Judgeable(Protocol):
    """An item, or as much of it as judging needs."""

    @property
    def form(self) -> str:
        """How the question is put."""

    @property
    def choices(self) -> tuple[str, ...]:
        """The labels to choose from."""

    @property
    def gold(self) -> tuple[str, ...]:
        """What is right."""


@dataclass(frozen=True)
class AnswerForm:
    """One form. An answer that is none is judged too: it is wrong, and has no error to measure."""

    problem: Callable[[tuple[str, ...], tuple[str, ...]], str]
    marks: Callable[[tuple[str, ...], tuple[str, ...], str | None], Marks]
    # what someone gets who does not look: by chance, or by the best constant answer
    guesses: Callable[[Sequence[Asked]], list[Marks]]
    # an answer that needs no question, in words, and as it is for each item
    shortcut: Callable[[Sequence[Asked]], tuple[str, list[str]]]
    right_answer: Callable[[Asked], str]  # as a model would write it
    in_words: Callable[[Asked], str]  # the right answer for people
    measures: tuple[str, ...]  # shown beside accuracy
    scored: bool = False  # whether choices, where an item has some, can be scored one by one


ANSWER_FORMS: dict[str, AnswerForm] = {
    "number": AnswerForm(
        numbers.problem,
        numbers.marks,
        numbers.guesses,
        numbers.shortcut,
        numbers.right_answer,
        numbers.in_words,
        ("mean_relative_accuracy", "log_error"),
        scored=True,
    ),
    "set": AnswerForm(
        lists.set_problem,
        lists.set_marks,
        lists.set_guesses,
        lists.set_shortcut,
        lists.right_answer,
        lists.set_in_words,
        ("jaccard", "set_f1"),
    ),
    "point": AnswerForm(
        regions.problem,
        regions.marks,
        regions.guesses,
        regions.shortcut,
        regions.right_answer,
        regions.in_words,
        ("point_distance",),
    ),
    "order": AnswerForm(
        lists.order_problem,
        lists.order_marks,
        lists.order_guesses,
        lists.order_shortcut,
        lists.right_answer,
        lists.order_in_words,
        ("kendall",),
    ),
}


def is_written(item: Judgeable) -> bool:
    """Whether the answer must be written: there are no choices that could be scored instead."""
    form = ANSWER_FORMS.get(item.form)
    return form is not None and not (form.scored and item.choices)


def credit(item: Judgeable, said: str | None) -> float:
    """How right an answer is, from 0 to 1."""
    form = ANSWER_FORMS.get(item.form)
    if form is None:
        return float(said in item.gold)
    if not item.gold:
        return 0.0
    return form.marks(item.choices, item.gold, said)[RIGHT]


def is_right(item: Judgeable, said: str | None) -> bool:
    """Whether an answer is right."""
    return credit(item, said) == 1


def gold_in_words(item: Judgeable) -> str:
    """The right answer as people read it."""
    form = ANSWER_FORMS.get(item.form)
    if form is None or not item.gold:
        return " or ".join(item.gold)
    return form.in_words(Asked(item.choices, item.gold))
