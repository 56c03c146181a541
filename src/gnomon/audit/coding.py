"""The right answers of a set as arrays: what each choice stands for, and which choices are right.

Where few labels recur, they are what a rule can learn. Where each question has choices of its own,
there is nothing to learn of labels, and only their places and words are looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gnomon.audit.sets import AuditSet
from gnomon.measures.columns import CodeBook, Floats

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
        best = mine >= mine.max(axis=1, keepdims=True) - 1e-9
        return np.asarray((best & self.gold).sum(axis=1) / best.sum(axis=1))

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
