"""A set under audit: its answers as arrays and the words of its texts, each made once."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from typing import Any

import numpy as np
from msgspec import structs

from gnomon.audit.finding import LISTED, SHOWN, Finding, alone, fault, so_many
from gnomon.audit.sets import AuditItem, AuditSet, Splits
from gnomon.measures.columns import CodeBook, Floats
from gnomon.measures.units import Units
from gnomon.records import WRITTEN

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

    def of_rows(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The signs of some rows, and for each of them which of these rows it is of."""
        lengths = self.starts[rows + 1] - self.starts[rows]
        place = np.repeat(np.arange(len(rows)), lengths)
        ends = np.cumsum(lengths)
        within = np.arange(len(place)) - np.repeat(ends - lengths, lengths)
        return self.codes[np.repeat(self.starts[rows], lengths) + within], place

    def frequent(self, most: int) -> Signs:
        """The signs that occur more than once, and of these the most frequent ones."""
        uses = np.bincount(self.codes, minlength=len(self.names))
        kept = np.flatnonzero(uses > 1)
        if len(kept) > most:
            kept = np.sort(kept[np.argsort(-uses[kept], kind="stable")[:most]])
        code = np.full(len(self.names), -1, dtype=np.int64)
        code[kept] = np.arange(len(kept))
        there = code[self.codes] >= 0
        lengths = np.bincount(self.rows[there], minlength=len(self))
        starts = np.concatenate([[0], np.cumsum(lengths)])
        names = tuple(self.names[number] for number in kept)
        return Signs(code[self.codes[there]], starts, names)


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
STEPS = 20  # towards the strengths of labels; with one offer the first is exact
LEAST_STRENGTH = 1e-6


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

    @cached_property
    def same_offer(self) -> bool:
        """Whether all rows choose among the same targets."""
        return int(self.offers.max(initial=0)) == 0

    @cached_property
    def shares(self) -> Floats:
        """[rows, width] the vote of each row, which several right choices share."""
        return np.asarray(self.gold / np.maximum(self.gold.sum(axis=1, keepdims=True), 1))

    @cached_property
    def offered_targets(self) -> Floats:
        """[rows, targets] which targets each row chooses among."""
        found = np.zeros((len(self), len(self.targets)))
        row, place = np.nonzero(self.choices >= 0)
        found[row, self.choices[row, place]] = 1
        return found

    @cached_property
    def expected(self) -> Floats:
        """[rows, width] how often each choice would be right if only the offer mattered.

        Each target has a strength, and is right in proportion to it among those that are offered
        with it (Luce's choice rule), so that each is right as often in all as it is.
        """
        offered = self.choices >= 0
        keys = np.where(offered, self.choices, 0)
        size = len(self.targets)
        right = np.bincount(keys[offered], weights=self.shares[offered], minlength=size)
        strength = np.ones(size)
        for _ in range(STEPS):
            mine = np.where(offered, strength[keys], 0)
            inverse = np.where(offered, 1 / mine.sum(axis=1, keepdims=True), 0)
            chances = np.bincount(keys[offered], weights=inverse[offered], minlength=size)
            strength = np.maximum(right, LEAST_STRENGTH) / np.maximum(chances, LEAST_STRENGTH)
        mine = np.where(offered, strength[keys], 0)
        return np.asarray(mine / mine.sum(axis=1, keepdims=True))

    def by_choice(self, scores: Floats, rows: np.ndarray) -> Floats:
        """Scores [rows, targets] of some rows as those of their choices."""
        choices = self.choices[rows]
        offered = choices >= 0
        mine = np.take_along_axis(scores, np.where(offered, choices, 0), axis=1)
        return np.where(offered, mine, -np.inf)

    def credit(self, scores: Floats) -> Floats:
        """What the best of scores [rows, targets] earns; equally good choices share."""
        return best_credit(self.by_choice(scores, np.arange(len(self))), self.gold)

    def credit_of(self, target: int) -> Floats:
        """What always giving one answer earns; a guess where it is not offered."""
        named = self.choices == target
        right = (named & self.gold).any(axis=1)
        return np.where(named.any(axis=1), right, self.chance)


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
        if question.item.form in WRITTEN or question.is_prompt:
            continue
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
LEAST_GROUPS = 40  # that can be told from luck; fewer can hardly be enough
MOST_VALUES = 100  # of a tag
LEAST_WITH = 8  # items with a value of a tag, on average
NO_TAGS = (
    "benchmark",
    "votes",
    "agreement",
    "proof",
)  # which are made beside the answers, or after


class Subject:
    """The set that is audited. Arrays of answers, signs and units have a row for each answer."""

    def __init__(self, audited: AuditSet) -> None:
        self.audited = audited
        self._signs: dict[str, Signs] = {}
        self._words: dict[str, Signs] = {}
        self.folded: dict[str, Any] = {}  # ways of holding out, with what label rates get

    @cached_property
    def tags(self) -> dict[str, np.ndarray]:
        """What items are marked with and few values recur of, as codes: group, split, author ...

        A column that only says the right answer in other words, or names answers, is no mark.
        """
        answers = {choice for one in self.answered for choice in one.choices}
        most = min(MOST_VALUES, len(self.answered) // LEAST_WITH)
        names = dict.fromkeys(["group", *(tag for one in self.answered for tag in one.item.tags)])
        found = {}
        for name in names:
            words = CodeBook()
            codes = np.array([words[one.unit(name)] for one in self.answered], dtype=np.int64)
            is_mark = 1 < len(words) <= most and not answers.issuperset(words)
            if is_mark and name not in NO_TAGS and not self._says_gold(codes):
                found[name] = codes
        return found

    def _says_gold(self, codes: np.ndarray) -> bool:
        """Whether codes stand one for one for the right answers, or for their places."""
        names = CodeBook()
        golds = np.array([names["|".join(one.gold)] for one in self.answered], dtype=np.int64)
        for right in (golds, self.answers.gold.argmax(axis=1)):
            pairs = len(np.unique(np.stack([codes, right], axis=1), axis=0))
            if pairs == len(np.unique(codes)) == len(np.unique(right)):
                return True
        return False

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
    def grouped(self) -> bool:
        """Whether there are groups enough that they, not items, can be what varies by luck."""
        kin = set(chain.from_iterable(self.audited.kin))
        return self.audited.has_groups and len(kin) >= LEAST_GROUPS

    @cached_property
    def independent(self) -> Units:
        """What varies by luck: groups, things that are compared or, with few of them, items."""
        count = len(self.answers)
        if not self.grouped:
            return alone(count)
        words = CodeBook()
        kin = [self.audited.kin[row] for row in self.answers.rows]
        width = max(map(len, kin))
        codes = np.full((count, width), -1, dtype=np.int64)
        for row, mine in enumerate(kin):
            codes[row, : len(mine)] = [words[unit] for unit in mine]
        return Units(codes, (width,), ("groups",))

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
