"""Audited sets: items with what the checks need beside them, from a benchmark, runs or files."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np

from gnomon.audit.finding import Example, shortened
from gnomon.measures.columns import CodeBook
from gnomon.measures.units import KindOfUnit, Units
from gnomon.records import Item

TEST = ("test", "testing", "eval", "evaluation")
DEVELOPMENT = ("dev", "val", "valid", "validation", "development")
TRAIN = ("train", "training")


class VoteCount(NamedTuple):
    """How many people agreed with the label, of how many."""

    agreeing: int
    total: int


class Doubted(NamedTuple):
    """What people said of a label that they doubt, and how many runs that were asked got wrong."""

    comments: tuple[str, ...]
    wrong: int
    asked: int


class Compared(NamedTuple):
    """Two things that are compared, what each choice says of the first, and where that holds."""

    first: str
    second: str
    targets: Mapping[str, str]  # of each choice: greater, lesser or level
    scope: tuple[str, ...] = ()  # facts of other scopes, such as other premises, are other facts


class AuditItem(NamedTuple):
    """An item, and what is derived of it for the checks."""

    item: Item
    texts: tuple[str, ...]  # its words, one text for each field of the set
    held_out: tuple[str, ...] = ()  # what must not be in training and test at once
    votes: VoteCount | None = None
    doubted: Doubted | None = None
    compared: Compared | None = None

    @property
    def id(self) -> str:
        """The item's own."""
        return self.item.id

    @property
    def choices(self) -> tuple[str, ...]:
        """What can be answered."""
        return self.item.choices

    @property
    def gold(self) -> tuple[str, ...]:
        """What is right."""
        return self.item.gold

    @property
    def group(self) -> str:
        """What belongs together: a template, a pattern, a pair."""
        return self.item.group

    @property
    def is_prompt(self) -> bool:
        """Whether a painter is told what to paint, so that nothing is asked."""
        if self.item.form != "scene":
            return False
        return not self.choices or "relation" in self.item.tags

    @property
    def split(self) -> str:
        """The part of the set, such as train or test."""
        return self.item.tags.get("split", "")

    @property
    def picture(self) -> str:
        """The pictures by their names; empty without any."""
        images = self.item.images
        if not images:
            return self.item.tags.get("image_id", "")
        return images[0].path if len(images) == 1 else " + ".join(image.path for image in images)

    @property
    def things(self) -> tuple[str, ...]:
        """The two things that are compared; none in other questions."""
        if self.compared is None:
            return ()
        return self.compared.first, self.compared.second

    def unit(self, tag: str) -> str:
        """What a question shares with others, by a tag; its group or picture; empty if nothing."""
        own = {"group": self.group, "picture": self.picture}
        return own.get(tag) or self.item.tags.get(tag, "")

    def target(self, choice: str) -> str:
        """What a choice says: itself or, in comparisons, that the first thing is greater."""
        return self.compared.targets[choice] if self.compared else choice


GROUPS = KindOfUnit(("group",), "groups")
PICTURES = KindOfUnit(("picture",), "pictures")


class Splits(NamedTuple):
    """Which questions are for training, for development and for testing, as the authors say."""

    test: np.ndarray
    test_name: str
    learnt: dict[str, np.ndarray]  # what may be learnt from: all parts; those for training


@dataclass(frozen=True)
class AuditSet:
    """The questions of one audit."""

    name: str
    fields: tuple[str, ...]  # what the texts of a question are called
    questions: list[AuditItem]
    kinds: tuple[KindOfUnit, ...] = ()  # what questions share, and so what varies independently
    benchmark: str = ""  # NAME@SOURCE, where it is one of the registry
    slices: tuple[str, ...] = ()  # tags worth a look of their own
    total: int = 0  # items that there are, if not all were read
    claimed: Mapping[str, int] = field(default_factory=dict)  # how many there should be
    contexts: tuple[str, ...] = ("context",)  # fields that several questions may be about
    marks: int | None = None  # doubtful labels that were read from runs; none if none were given
    unasked: tuple[str, ...] = ()  # rows of a file that are no items, and why

    def __len__(self) -> int:
        return len(self.questions)

    def text(self, number: int) -> str:
        """A question as people read it."""
        one = self.questions[number]
        shown = [f"[{one.picture}]" * bool(one.picture), *one.texts]
        return shortened(" / ".join(filter(None, shown)))

    def example(self, *numbers: int) -> Example:
        """One or several questions with their labels, as an example."""
        lines = []
        for number in numbers:
            gold = " or ".join(self.questions[number].gold)
            lines.append(f"{self.questions[number].id}: {self.text(number)} → {gold}")
        ids = tuple(self.questions[number].id for number in numbers)
        return Example(ids=ids, text="\n".join(lines))

    def column(self, name: str) -> list[str]:
        """The texts of a field."""
        place = self.fields.index(name)
        return [question.texts[place] for question in self.questions]

    @cached_property
    def kin(self) -> list[tuple[str, ...]]:
        """For each question what a rule that is asked it must not have seen.

        What the benchmark holds out; else the group, the picture or the context, whichever recurs.
        """
        alone: list[tuple[str, ...]] = [(f"item {number}",) for number in range(len(self))]
        for shared in self._shared():
            kin = [mine or own for mine, own in zip(shared, alone, strict=True)]
            if 1 < len(set(chain.from_iterable(kin))) < len(self):
                return kin
        return alone

    def _shared(self) -> Iterator[list[tuple[str, ...]]]:
        yield [
            question.held_out or (question.group,) * bool(question.group)
            for question in self.questions
        ]
        yield [(question.picture,) * bool(question.picture) for question in self.questions]
        places = [place for place, name in enumerate(self.fields) if name in self.contexts]
        if 0 < len(places) < len(self.fields):
            texts = ["\n".join(one.texts[place] for place in places) for one in self.questions]
            yield [(text,) * bool(text.strip()) for text in texts]

    @cached_property
    def has_groups(self) -> bool:
        """Whether some questions belong together: they share a group, or what they are about."""
        shared = set(chain.from_iterable(self.kin))
        return 1 < len(shared) < len(self)

    @cached_property
    def units(self) -> Units:
        """What each question shares with others; a question that shares nothing is its own unit."""
        kinds = [kind for kind in self.kinds if self._has(kind)]
        if not kinds:
            words = CodeBook()
            kin = [words[mine[0]] for mine in self.kin]
            noun = "groups" if self.has_groups else "items"
            return Units(np.array(kin, dtype=np.int64)[:, None], (1,), (noun,))
        columns = list(chain.from_iterable(map(self._codes, kinds)))
        tags = tuple(len(kind.tags) for kind in kinds)
        nouns = tuple(kind.noun for kind in kinds)
        return Units(np.stack(columns, axis=1), tags, nouns)

    def _has(self, kind: KindOfUnit) -> bool:
        """Whether the questions have the tags of a kind of unit: all have them, or none."""
        return any(question.unit(kind.tags[0]) for question in self.questions[:1])

    def _codes(self, kind: KindOfUnit) -> list[np.ndarray]:
        words = CodeBook({"": -1})
        columns = []
        for tag in kind.tags:
            codes = [words[question.unit(tag)] for question in self.questions]
            columns.append(np.array(codes, dtype=np.int64))
        return columns

    @cached_property
    def splits(self) -> Splits | None:
        """The part that is for testing and the parts before it; none without both."""
        names = [question.split for question in self.questions]
        train, development, test = _parts(names)
        before = [*train, *development]
        if not test or not before:
            return None
        split = np.array(names, dtype=object)
        learnt = {" and ".join(before): np.isin(split, before)}
        if train:
            learnt[" and ".join(train)] = np.isin(split, train)
        return Splits(split == test[0], test[0], learnt)


def _parts(names: Iterable[str]) -> tuple[list[str], list[str], list[str]]:
    """The splits for training, development and testing; without the last, development is it."""
    known = {name.lower(): name for name in names}
    train = [known[name] for name in TRAIN if name in known]
    development = [known[name] for name in DEVELOPMENT if name in known]
    test = [known[name] for name in TEST if name in known]
    if train and not test:
        return train, [], development[:1]
    return train, development, test
