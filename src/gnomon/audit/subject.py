"""A set of questions with what several checks need of it, made once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
from msgspec import structs

from gnomon.audit.coding import Answers, answers_of
from gnomon.audit.finding import SHOWN, Finding, first_ids, share, so_many
from gnomon.audit.sets import AuditItem, AuditSet, Splits
from gnomon.audit.signs import Signs, signs_of, words_and_pairs, words_of
from gnomon.measures.units import Units

ALL_WORDS = "all words"


class Subject:
    """The set that is audited. Arrays of answers, signs and units have a row for each answer."""

    def __init__(self, audited: AuditSet) -> None:
        self.audited = audited
        self._signs: dict[str, Signs] = {}
        self._words: dict[str, Signs] = {}

    @property
    def questions(self) -> list[AuditItem]:
        """All questions, also those that cannot be answered."""
        return self.audited.questions

    @cached_property
    def answers(self) -> Answers:
        """The right answers."""
        return answers_of(self.audited)

    @cached_property
    def units(self) -> Units:
        """What the answers share."""
        return self.audited.units[self.answers.rows]

    @cached_property
    def answered(self) -> list[AuditItem]:
        """The questions that can be answered."""
        return [self.questions[row] for row in self.answers.rows]

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """The fields that have words in at least one question."""
        found = []
        for field in self.audited.fields:
            if any(map(str.strip, self.audited.column(field))):
                found.append(field)
        return tuple(found)

    def texts(self, field: str) -> list[str]:
        """The texts of a field, or of all of them, of the questions that can be answered."""
        if field == ALL_WORDS:
            return [" / ".join(question.texts) for question in self.answered]
        place = self.audited.fields.index(field)
        return [question.texts[place] for question in self.answered]

    def signs(self, field: str) -> Signs:
        """Words and pairs of neighbouring words of a field."""
        if field not in self._signs:
            self._signs[field] = signs_of(self.texts(field), words_and_pairs)
        return self._signs[field]

    def words(self, field: str) -> Signs:
        """Words of a field."""
        if field not in self._words:
            self._words[field] = signs_of(self.texts(field), words_of)
        return self._words[field]

    @cached_property
    def splits(self) -> Splits | None:
        """Which answers are for testing and which may be learnt from, if the authors say."""
        whole = self.audited.splits
        if whole is None:
            return None
        rows = self.answers.rows
        learnt = {name: mine[rows] for name, mine in whole.learnt.items()}
        found = Splits(whole.test[rows], whole.test_name, learnt)
        return found if found.test.any() else None

    def about(self, finding: Finding, numbers: Sequence[int]) -> Finding:
        """The finding with the questions that it is about."""
        shown = tuple(self.audited.example(number) for number in numbers[:SHOWN])
        return structs.replace(
            finding, behind=len(numbers), items=self.ids(numbers), examples=shown
        )

    def about_answers(self, finding: Finding, rows: np.ndarray) -> Finding:
        """The finding with the answers that it is about."""
        return self.about(finding, self.answers.rows[rows].tolist())

    def faults(self, check: str, part: str, numbers: Sequence[int], verb: str) -> Finding:
        """What some of the questions do that none should."""
        total = len(self.questions)
        finding = Finding(
            check=check,
            part=part,
            value=share(len(numbers), total),
            chance=0.0,
            alarm=bool(numbers),
            says=f"{so_many(len(numbers), total)} {verb}.",
            n=total,
        )
        return self.about(finding, numbers)

    def ids(self, numbers: Iterable[int]) -> tuple[str, ...]:
        """The ids of some questions, the first few."""
        return first_ids(self.questions[number].id for number in numbers)
