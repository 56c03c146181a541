"""What is audited: questions in one neutral form, whatever file or benchmark they come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from gnomon.audit.finding import Example, shortened
from gnomon.measures.columns import Vocabulary
from gnomon.measures.units import Units

TEST = ("test", "testing", "eval", "evaluation")
DEVELOPMENT = ("dev", "val", "valid", "validation", "development")
TRAIN = ("train", "training")


class Votes(NamedTuple):
    """How many people agreed with the label, of how many."""

    agreeing: int
    total: int


class Compared(NamedTuple):
    """Two things that are compared, what each choice says of the first, and where that holds."""

    first: str
    second: str
    targets: Mapping[str, str]  # of each choice: greater, lesser or level
    scope: tuple[str, ...] = ()  # facts of other scopes, such as other premises, are other facts


class Question(NamedTuple):
    """One question."""

    id: str
    texts: tuple[str, ...]  # one for each field of the set
    choices: tuple[str, ...]
    gold: tuple[str, ...]
    group: str = ""  # what belongs together: a template, a pattern, a pair
    split: str = ""
    picture: str = ""
    held_out: tuple[str, ...] = ()  # what must not be in training and test at once
    votes: Votes | None = None
    compared: Compared | None = None
    tags: Mapping[str, str] = {}

    @property
    def kin(self) -> tuple[str, ...]:
        """What a classifier that is asked this question must not have seen."""
        return self.held_out or (self.group or f"item {self.id}",)

    def target(self, choice: str) -> str:
        """What a choice says: itself or, in comparisons, that the first thing is greater."""
        return self.compared.targets[choice] if self.compared else choice


class UnitKind(NamedTuple):
    """What questions share, by the tags that hold it, and what it is called."""

    tags: tuple[str, ...]
    noun: str


class Splits(NamedTuple):
    """Which questions are for training, for development and for testing, as the authors say."""

    test: np.ndarray
    test_name: str
    learnt: dict[str, np.ndarray]  # what may be learnt from: all parts; those for training


@dataclass(frozen=True)
class QuestionSet:
    """The questions of one audit."""

    name: str
    fields: tuple[str, ...]  # what the texts of a question are called
    questions: list[Question]
    kinds: tuple[UnitKind, ...] = ()  # what questions share, and so what varies independently
    benchmark: str = ""  # NAME@SOURCE, where it is one of the registry
    slices: tuple[str, ...] = ()  # tags worth a look of their own
    total: int = 0  # questions that there are, if not all were read
    claimed: Mapping[str, int] = field(default_factory=dict)  # how many there should be
    relation: str = ""  # the tag that names the relation between two things, if there is one

    def __len__(self) -> int:
        return len(self.questions)

    def text(self, number: int) -> str:
        """A question as people read it."""
        one = self.questions[number]
        texts = [text for text in one.texts if text]
        if one.picture:
            texts.insert(0, f"[{one.picture}]")
        return shortened(" / ".join(texts))

    def example(self, *numbers: int) -> Example:
        """One or several questions with their labels, as an example."""
        lines = []
        for number in numbers:
            gold = " or ".join(self.questions[number].gold)
            lines.append(f"{self.text(number)} → {gold}")
        ids = tuple(self.questions[number].id for number in numbers)
        return Example(ids=ids, text="\n".join(lines))

    def column(self, name: str) -> list[str]:
        """The texts of a field."""
        place = self.fields.index(name)
        return [question.texts[place] for question in self.questions]

    @cached_property
    def has_groups(self) -> bool:
        """Whether some questions belong together: they share a group, or what they are about."""
        shared: set[str] = set()
        for question in self.questions:
            shared.update(question.kin)
        return 1 < len(shared) < len(self)

    @cached_property
    def units(self) -> Units:
        """What each question shares with others; a question that shares nothing is its own unit."""
        kinds = [kind for kind in self.kinds if self._has(kind)]
        if not kinds and self.has_groups:
            kinds = [UnitKind(("group",), "groups")]
        if not kinds:
            alone = np.full((len(self), 1), -1, dtype=np.int64)
            return Units(alone, (1,), ("items",))
        columns = []
        for kind in kinds:
            columns += self._codes(kind)
        tags = tuple(len(kind.tags) for kind in kinds)
        nouns = tuple(kind.noun for kind in kinds)
        return Units(np.stack(columns, axis=1), tags, nouns)

    def _has(self, kind: UnitKind) -> bool:
        """Whether the questions have the tags of a kind of unit."""
        first = self.questions[:1]
        return any(self._value(question, kind.tags[0]) for question in first)

    def _codes(self, kind: UnitKind) -> list[np.ndarray]:
        words = Vocabulary()
        columns = []
        for tag in kind.tags:
            values = [self._value(question, tag) for question in self.questions]
            codes = [words[value] if value else -1 for value in values]
            columns.append(np.array(codes, dtype=np.int64))
        return columns

    def _value(self, question: Question, tag: str) -> str:
        if tag == "group":
            return question.group
        if tag == "picture":
            return question.picture
        return question.tags.get(tag, "")

    @cached_property
    def splits(self) -> Splits | None:
        """The part that is for testing and the parts before it; none without both."""
        names = [question.split for question in self.questions]
        known = {name.lower(): name for name in names if name}
        train = [known[name] for name in TRAIN if name in known]
        development = [known[name] for name in DEVELOPMENT if name in known]
        test = [known[name] for name in TEST if name in known]
        if not test and train:
            test, development = development[:1], []
        if not test or not (train or development):
            return None
        split = np.array(names, dtype=object)
        learnt = {}
        for parts in ([*train, *development], train):
            if parts:
                learnt[" and ".join(parts)] = np.isin(split, parts)
        return Splits(split == test[0], test[0], learnt)
