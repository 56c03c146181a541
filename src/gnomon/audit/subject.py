"""A set under audit: its answers as arrays and the words of its texts, each made once."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from msgspec import structs

from gnomon.audit.finding import LISTED, SHOWN, Finding, fault, so_many
from gnomon.audit.sets import AuditItem, AuditSet, Splits
from gnomon.measures.columns import CodeBook, Floats
from gnomon.measures.units import Units

# Texts as the signs that occur in them: words, and pairs of neighbouring words, as sparse rows.


WORD = re.compile(r"\w+(?:'\w+)?|<|>|=")


def words_of(text: str) -> list[str]:
    """The words of a text, in lower case and in order.

    >>> words_of("The cat isn't on the mat.")
    ['the', 'cat', "isn't", 'on', 'the', 'mat']
    """
    return WORD.findall(text.lower())


def words_and_pairs(text: str) -> list[str]:
    """The words of a text and the pairs of neighbours among them.

    >>> words_and_pairs("On the mat")
    ['on', 'the', 'mat', 'on the', 'the mat']
    """
    words = words_of(text)
    return words + [f"{one} {two}" for one, two in pairwise(words)]


@dataclass(frozen=True)
class Signs:
    """Which signs occur in which row: the signs of row i are codes[starts[i] : starts[i + 1]]."""

    codes: np.ndarray
    starts: np.ndarray
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.starts) - 1

    @cached_property
    def rows(self) -> np.ndarray:
        """The row of each entry."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))


def signs_of(texts: Sequence[str], split: Callable[[str], list[str]] = words_and_pairs) -> Signs:
    """The signs of each text, each once."""
    names = CodeBook()
    known: dict[str, list[int]] = {}  # sets of templates repeat their texts
    codes: list[int] = []
    lengths = []
    for text in texts:
        mine = known.get(text)
        if mine is None:
            mine = known[text] = [names[sign] for sign in dict.fromkeys(split(text))]
        codes += mine
        lengths.append(len(mine))
    starts = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    return Signs(np.array(codes, dtype=np.int64), starts, tuple(names))


# The right answers of a set as arrays: what each choice stands for, and which choices are right.
#
# Where few labels recur, they are what a rule can learn. Where each question has choices of its
# own, there is nothing to learn of labels, and only their places and words are looked at.


MOST_TARGETS = 64  # labels; more of them are no labels but answers in words
LEAST_USES = 5  # of a label, on average


@dataclass(frozen=True)
class Answers:
    """Questions that can be answered, with the meaning of their choices."""

    rows: np.ndarray  # which questions: those with two choices or more and a right one among them
    targets: tuple[str, ...]  # what choices stand for
    choices: np.ndarray  # [rows, width] codes of targets, -1 beyond the last choice
    gold: np.ndarray  # [rows, width] which choices are right

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def chance(self) -> Floats:
        """What a guess gets, for each row."""
        return np.asarray(self.gold.sum(axis=1) / (self.choices >= 0).sum(axis=1))

    @cached_property
    def has_labels(self) -> bool:
        """Whether labels recur, so that they can be learnt."""
        few = 0 < len(self.targets) <= MOST_TARGETS
        return few and len(self) >= LEAST_USES * len(self.targets)

    @cached_property
    def votes(self) -> Floats:
        """[rows, targets] one vote for each row, which several right labels share."""
        found = np.zeros((len(self), len(self.targets)))
        row, place = np.nonzero(self.gold)
        weights = 1 / self.gold.sum(axis=1)[row]
        np.add.at(found, (row, self.choices[row, place]), weights)
        return found

    @cached_property
    def right(self) -> tuple[np.ndarray, list[str]]:
        """The right answer of each row as a code, and what the codes mean; several are one."""
        names = CodeBook()
        codes = []
        for mine in self.votes > 0:
            together = [
                target for target, is_right in zip(self.targets, mine, strict=True) if is_right
            ]
            codes.append(names[" or ".join(together)])
        return np.array(codes, dtype=np.int64), list(names)

    @cached_property
    def offers(self) -> np.ndarray:
        """The set of targets that each row chooses among, as a code."""
        ordered = np.sort(self.choices, axis=1)
        _, codes = np.unique(ordered, axis=0, return_inverse=True)
        return np.asarray(codes).reshape(-1)

    def credit(self, scores: Floats) -> Floats:
        """What the best of scores [rows, targets] earns; equally good choices share."""
        offered = self.choices >= 0
        mine = np.take_along_axis(scores, np.where(offered, self.choices, 0), axis=1)
        mine = np.where(offered, mine, -np.inf)
        return best_credit(mine, self.gold)

    def credit_of(self, target: int) -> Floats:
        """What always giving one answer earns; a guess where it is not offered."""
        named = self.choices == target
        right = (named & self.gold).any(axis=1)
        return np.where(named.any(axis=1), right, self.chance)

    @cached_property
    def constant(self) -> Floats:
        """What the best constant answer to each set of choices earns, chosen in sight of labels."""
        found = self.chance.copy()
        for offer in range(int(self.offers.max(initial=-1)) + 1):
            mine = self.offers == offer
            best = self.votes[mine].sum(axis=0).argmax()
            found[mine] = self.credit_of(int(best))[mine]
        return found


def best_credit(scores: Floats, gold: np.ndarray) -> Floats:
    """What the choice with the highest score earns on each row; equally good ones share."""
    best = scores >= scores.max(axis=1, keepdims=True) - 1e-9
    return np.asarray((best & gold).sum(axis=1) / best.sum(axis=1))


def answers_of(audited: AuditSet, *, as_written: bool = False) -> Answers:
    """The answers of the questions that can be answered; choices as written, or what they say."""
    words = CodeBook()
    rows = []
    codes = []
    right = []
    for number, question in enumerate(audited.questions):
        gold = set(question.gold)
        if len(question.choices) < 2 or not gold or not gold <= set(question.choices):
            continue
        rows.append(number)
        meaning = str if as_written else question.target
        codes.append([words[meaning(choice)] for choice in question.choices])
        right.append([choice in gold for choice in question.choices])

    width = max(map(len, codes), default=0)
    choices = np.full((len(rows), width), -1, dtype=np.int64)
    gold_at = np.zeros((len(rows), width), dtype=bool)
    for place, (mine, marks) in enumerate(zip(codes, right, strict=True)):
        choices[place, : len(mine)] = mine
        gold_at[place, : len(marks)] = marks
    return Answers(np.array(rows, dtype=np.int64), tuple(words), choices, gold_at)


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

    @property
    def fields_and_all(self) -> list[str]:
        """The fields that have words and, if there are several, all of them together."""
        return [*self.fields, ALL_WORDS] if len(self.fields) > 1 else list(self.fields)

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
        ids = tuple(self.questions[number].id for number in numbers[:LISTED])
        shown = tuple(self.audited.example(number) for number in numbers[:SHOWN])
        return structs.replace(finding, behind=len(numbers), items=ids, examples=shown)

    def about_answers(self, finding: Finding, rows: np.ndarray) -> Finding:
        """The finding with the answers that it is about."""
        return self.about(finding, self.answers.rows[rows].tolist())

    def faults(self, check: str, part: str, numbers: Sequence[int], verb: str) -> Finding:
        """What some of the questions do that none should."""
        total = len(self.questions)
        says = f"{so_many(len(numbers), total)} {verb}."
        finding = fault(check, part, len(numbers), total, says)
        return self.about(finding, numbers)
