"""The answers of one run as columns: what every measure and every figure of the report reads.

Rows are the items that were asked, in their order. Labels, groups and tags are integer codes into
small vocabularies, so a million answers fit in a few hundred megabytes and no measure loops over
rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gnomon.contracts import Laws
from gnomon.errors import UsageError, nearest, unknown
from gnomon.forms import RIGHT
from gnomon.measures.columns import Codes, Column, Floats, coded
from gnomon.measures.units import Sharing, Units, shared_units
from gnomon.measures.written import WrittenMarks

if TYPE_CHECKING:
    from gnomon.contracts import Benchmark
    from gnomon.records import Answer, Item
    from gnomon.runs import LastLook, Run

Flags = NDArray[np.bool_]
# hashes of each row's context and text, good within one process; none if these are not known
Wordings = Callable[[], NDArray[np.int64] | None]
NO_LAWS = Laws()
BY_GROUP = Sharing()
# Columns that every table has beside its tags.
MOST_NAMED = 3  # benchmarks in a message
AND, IS = "+", "="  # in slices: class+premises, expression=between
BUILT_IN = ("form", "group", "gold", "choice", "cardinality")


class Kinds(NamedTuple):
    """The distinct pairs of choices and gold that occur, padded to the longest: a handful."""

    choices: Codes  # [kinds, width] label codes, -1 beyond the end
    gold: Flags  # [kinds, width] which choices are right
    first: Codes  # [kinds] the place of the right choice that the item names first


class Samples(NamedTuple):
    """Several answers to each item: how many, and the share of them that is right."""

    number: Floats
    right: Floats

    def take(self, rows: NDArray[Any]) -> Samples:
        """The same for some of the rows."""
        return Samples(self.number[rows], self.right[rows])


class Details:
    """What is read of the items only if somebody asks: their tags, and hashes of what they ask."""

    def __init__(self, tags: Callable[[], Mapping[str, Column]], wordings: Wordings) -> None:
        self._tags, self._wordings = tags, wordings

    @cached_property
    def tags(self) -> Mapping[str, Column]:
        """A column for each tag."""
        return self._tags()

    @cached_property
    def wordings(self) -> NDArray[np.int64] | None:
        """A hash of each row's context and text; none if these are not known."""
        return self._wordings()

    def take(self, rows: NDArray[Any]) -> Details:
        """The same for some of the rows."""
        return Details(
            lambda: {name: column.take(rows) for name, column in self.tags.items()},
            lambda: _cut(self.wordings, rows),
        )


@dataclass(frozen=True)
class RunFacts:
    """Who was asked what, and which run it is."""

    benchmark: str = ""
    model: str = ""  # what it is called
    spec: str = ""  # which it is, if that is not what it is called
    # of the items, or of the model, if known: runs that differ only here can be aggregated
    seed: Any = None
    # what tells runs of one model apart, seeds included
    settings: Mapping[str, Any] = field(default_factory=dict)
    asked: Mapping[str, str] = field(default_factory=dict)  # how: prompt, shots, chat and so on
    folder: str = ""  # of the run, as it was given
    digest: str = ""  # of all items of the run: tables with the same one are about the same items
    total: int = 0  # items of the run, of which those that were asked are rows
    shard: str = ""  # which part of the run this is, such as 3/8; empty for a whole one
    last_look: LastLook | None = None  # of a run that stops by itself

    @property
    def looked(self) -> float:
        """How many times as wide intervals are as those of a run with a fixed number of items."""
        return 1.0 if self.last_look is None else self.last_look.looked


def facts_of(run: Run, benchmark: Benchmark | None = None) -> dict[str, Any]:
    """What a table says of its run, and what its benchmark says of units and laws."""
    from gnomon.measures.cautions import asked_how
    from gnomon.measures.runlabels import settings_of

    manifest = run.manifest
    about = RunFacts(
        benchmark=run.benchmark,
        model=manifest.name or run.model,
        spec=run.model,
        seed=manifest.model_options.get("seed", manifest.options.get("seed")),
        settings=settings_of(run),
        asked=asked_how(manifest),
        folder=run.path.as_posix(),
        digest=manifest.items_sha256,
        total=manifest.whole_items or manifest.counts.items,
        shard=manifest.shard,
        last_look=manifest.last_look,
    )
    if benchmark is None:
        return {"about": about}
    return {"about": about, "sharing": Sharing.of(benchmark), "laws": benchmark.laws}


@dataclass(frozen=True)
class Table:
    """The items of one run with the answers to them.

    >>> from gnomon.records import Answer, Item
    >>> item = Item(id="1", form="choice", text="?", choices=("no", "yes"), gold=("yes",),
    ...             tags={"scale": "size"})
    >>> table = Table.of([(item, Answer(item="1", choice="yes"))], benchmark="scales")
    >>> table.right.tolist(), [key for key, part in table.by("scale")]
    ([True], ['size'])
    """

    ids: NDArray[np.object_]
    labels: tuple[str, ...]  # every label that is a choice or was answered
    choice: Codes  # what was answered, as a code into labels; -1 for nothing
    # the same as a position among the item's choices; -1 for nothing or a label that is no choice
    picked: Codes
    kind: Codes  # row of `kinds`
    kinds: Kinds
    failed: Flags  # the model failed on the item
    group: Column
    form: Column
    details: Details
    # [rows, width] aligned with the choices, NaN beyond the end or unknown
    scores: Floats | None = None
    scale: str = "none"  # of the scores: log-probability, probability or none
    sharing: Sharing = BY_GROUP  # what items share, and so what varies independently
    laws: Laws = NO_LAWS
    numbers: NDArray[np.int64] | None = None  # the rows' items in the run's log
    samples: Samples | None = None  # where any item was answered more than once
    marks: WrittenMarks | None = None  # where answers of any item are written
    about: RunFacts = RunFacts()

    @classmethod
    def of(
        cls,
        rows: Iterable[tuple[Item, Answer | None]],
        *,
        benchmark: str = "",
        model: str = "",
        scale: str = "none",
        sharing: Sharing = BY_GROUP,
        laws: Laws = NO_LAWS,
        seed: Any = None,
    ) -> Table:
        """A table of items with their answers; an item without one was not asked, and is no row.

        Further samples of an item follow its first answer.
        """
        from gnomon.measures.rows import build, with_samples

        asked: list[tuple[Any, ...]] = []
        further = []
        total = 0
        for item, answer in rows:
            if answer is not None and answer.sample:
                further.append((item.id, answer.choice))
                continue
            total += 1
            if answer is not None:
                asked.append((item, answer.scores, answer.choice, answer.error))
        about = RunFacts(benchmark=benchmark, model=model, seed=seed, total=total)
        table = build(asked, about=about, scale=scale, sharing=sharing, laws=laws)
        return with_samples(table, further)

    @classmethod
    def of_run(cls, run: Run, benchmark: Benchmark | None = None) -> Table:
        """The table of a run folder; its benchmark says what the units are and which laws hold."""
        from gnomon.measures.rows import build_run

        return build_run(run, scale=run.manifest.scale, **facts_of(run, benchmark))

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def benchmark(self) -> str:
        """NAME@SOURCE."""
        return self.about.benchmark

    @property
    def model(self) -> str:
        """What it is called: the user's own name for it, or else its spec."""
        return self.about.model

    @property
    def spec(self) -> str:
        """Which model it is, whatever it is called."""
        return self.about.spec or self.about.model

    @property
    def tags(self) -> Mapping[str, Column]:
        """A column for each tag that any item has."""
        return self.details.tags

    @property
    def settings(self) -> Mapping[str, Any]:
        """What tells runs of one model apart, seeds included."""
        return self.about.settings

    @property
    def total(self) -> int:
        """How many items the run has, asked or not."""
        return self.about.total

    @cached_property
    def right(self) -> Flags:
        """Whether the answer is one of the right labels; a missing or failed answer is not."""
        flags: Flags = self.kinds.gold[self.kind, self.picked] & (self.picked >= 0)
        if self.marks is None:
            return flags
        return np.asarray(np.where(self.marks.judged, self.marks.value[RIGHT] == 1, flags))

    @property
    def credit(self) -> Floats:
        """How right each answer is: 1 or 0; of several samples or points, the share that is."""
        if self.samples is not None:
            return self.samples.right
        if self.marks is None:
            return self.right.astype(float)
        return np.asarray(np.where(self.marks.judged, self.marks.value[RIGHT], self.right))

    @cached_property
    def judged(self) -> Table:
        """The rows whose items name a right answer: a scene to be painted has none to compare with.

        Measures are over these rows.
        """
        has_gold: Flags = np.asarray(self.kinds.gold.any(axis=1))
        if has_gold.all() or not len(self):
            return self
        rows = has_gold[self.kind]
        if self.marks is not None:
            rows = rows | self.marks.judged
        return self.where(rows)

    @property
    def marks_only(self) -> bool:
        """Whether all answers are written."""
        return self.marks is not None and bool(self.marks.judged.all())

    @property
    def answered(self) -> Flags:
        """Whether a label was read from the model's reply."""
        return np.asarray(self.choice >= 0)

    @cached_property
    def choices(self) -> Codes:
        """[rows, width] label codes of each item's choices, -1 beyond the end."""
        return self.kinds.choices[self.kind]

    @cached_property
    def gold_at(self) -> Flags:
        """[rows, width] which of the item's choices are right."""
        flags: Flags = self.kinds.gold[self.kind]
        return flags

    @cached_property
    def gold(self) -> Flags:
        """[rows, labels] which labels are right."""
        return self._kind_gold[self.kind]

    @cached_property
    def first_right(self) -> Codes:
        """The first of the right labels as the item names them, for each row."""
        first = self.kinds.choices[np.arange(len(self.kinds.first)), self.kinds.first]
        return np.asarray(first[self.kind], dtype=np.int64)

    @cached_property
    def cardinality(self) -> Codes:
        """How many labels are right, for each row."""
        return np.asarray(self.kinds.gold.sum(axis=1)[self.kind])

    @cached_property
    def probabilities(self) -> Floats:
        """[rows, width] the scores as probabilities over the choices, zero beyond the end.

        Log-probabilities go through a softmax over the choices, probabilities are renormalised. A
        score that is not a number counts as probability zero; a row without any usable score is NaN
        throughout.
        """
        real = self.choices >= 0
        if self.scores is None:
            return np.where(real, np.nan, 0.0)
        usable = real & ~np.isnan(self.scores)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            if self.scale == "log-probability":
                known = np.where(usable, self.scores, -np.inf)
                weights = np.exp(known - known.max(axis=1, keepdims=True))
            else:
                weights = np.where(usable & (self.scores >= 0), self.scores, 0.0)
            total = weights.sum(axis=1, keepdims=True)
            shares = weights / np.where(total > 0, total, np.nan)
        return np.asarray(np.where(real, shares, 0.0))

    @cached_property
    def clusters(self) -> Units:
        """The units that each row shares with others, of every kind: what measures add up by."""
        return shared_units(self)

    def column(self, name: str) -> Column:
        """A tag, or one of "form", "group", "gold", "choice", "cardinality" (of gold), as codes."""
        if name in self.tags:
            return self.tags[name]
        if name == "form":
            return self.form
        if name == "group":
            return self.group
        if name == "choice":
            return Column(self.choice, self.labels)
        if name == "gold":
            return self._by_kind([", ".join(gold) for gold in self._gold_labels()])
        if name == "cardinality":
            return self._by_kind([str(count) for count in self.kinds.gold.sum(axis=1).tolist()])
        raise unknown_tag(name, [self])

    def _by_kind(self, texts: list[str]) -> Column:
        """A column whose value depends on the row's kind alone."""
        column = coded(texts)
        return column._replace(codes=column.codes[self.kind])

    def _gold_labels(self) -> Iterator[list[str]]:
        """For each kind its right labels, in the order of all labels."""
        for flags in self._kind_gold:
            yield [self.labels[code] for code in np.flatnonzero(flags)]

    def has(self, tag: str) -> bool:
        """Whether `by` can slice the table by this name, or by all that it combines."""
        return self._has_one(tag) or all(map(self._has_part, tag.split(AND)))

    def _has_one(self, tag: str) -> bool:
        return self.has_column(tag) or f"{tag}s" in self.tags

    def _has_part(self, part: str) -> bool:
        tag, _, value = part.partition(IS)
        return self._has_one(tag) and (IS not in part or value in self.values_of(tag))

    def values_of(self, tag: str) -> set[str]:
        """All values of a tag, or of its plural that lists several."""
        if self.has_column(tag):
            return set(self.column(tag).values)
        return set().union(*_lists(self.tags[f"{tag}s"]))

    def has_column(self, name: str) -> bool:
        """Whether there is a tag or other column of this name."""
        return name in BUILT_IN or name in self.tags

    def where(self, rows: Flags | Codes) -> Table:
        """The rows that a mask or an index picks."""
        if rows.dtype == bool:
            rows = np.flatnonzero(rows)
        return replace(
            self,
            ids=self.ids[rows],
            choice=self.choice[rows],
            picked=self.picked[rows],
            kind=self.kind[rows],
            failed=self.failed[rows],
            group=self.group.take(rows),
            form=self.form.take(rows),
            details=self.details.take(rows),
            scores=_cut(self.scores, rows),
            numbers=_cut(self.numbers, rows),
            samples=self.samples.take(rows) if self.samples else None,
            marks=self.marks.take(rows) if self.marks else None,
        )

    def by(self, tag: str) -> Iterator[tuple[str, Table]]:
        """The parts of the table that share a value of a tag, in order; rows without one last.

        A tag such as "expressions" that lists several values with commas is taken apart by its
        singular: a row is then in the part of each of its values. "class+premises" combines two
        tags, and "expression=between" tells the rows with one value from all others.
        """
        if not self._has_one(tag):
            if AND in tag:
                yield from self._by_both(tag)
                return
            if IS in tag:
                yield from self._by_value(tag)
                return
        if tag not in self.tags and f"{tag}s" in self.tags:
            yield from self._by_listed(self.tags[f"{tag}s"])
            return
        column = self.column(tag)
        order = np.argsort(column.codes, kind="stable")
        codes, starts = np.unique(column.codes[order], return_index=True)
        parts = dict(zip(codes.tolist(), np.split(order, starts[1:]), strict=False))
        without = parts.pop(-1, None)
        for code in sorted(parts, key=lambda code: in_order(column.values[code])):
            yield column.values[code], self.where(parts[code])
        if without is not None:
            yield "", self.where(without)

    def _by_both(self, tags: str) -> Iterator[tuple[str, Table]]:
        """The parts by the first tag, and each of them by the others."""
        first, _, others = tags.partition(AND)
        for key, part in self.by(first):
            for other, smaller in part.by(others):
                yield f"{key} {AND} {other}", smaller

    def _by_value(self, text: str) -> Iterator[tuple[str, Table]]:
        """The rows with one value of a tag, and all others."""
        tag, _, value = text.partition(IS)
        if self.has_column(tag):
            column = self.column(tag)
            holds = [value == each for each in column.values]
        else:
            column = self.column(f"{tag}s")
            holds = [value in each for each in _lists(column)]
        with_value = np.array([*holds, False])[column.codes]
        for key, rows in ((value, with_value), (f"other than {value}", ~with_value)):
            if rows.any():
                yield key, self.where(rows)

    def _by_listed(self, column: Column) -> Iterator[tuple[str, Table]]:
        lists = _lists(column)
        present = set(column.codes.tolist())
        without = -1 in present
        values: set[str] = set()
        for code in present - {-1}:
            values |= lists[code]
        for value in sorted(values, key=in_order):
            holds = np.array([value in parts for parts in lists] + [False])
            yield value, self.where(np.flatnonzero(holds[column.codes]))
        if without:
            yield "", self.where(np.flatnonzero(column.codes < 0))

    @cached_property
    def _kind_gold(self) -> Flags:
        flags = np.zeros((len(self.kinds.choices), len(self.labels)), dtype=bool)
        kind, place = np.nonzero(self.kinds.gold)
        flags[kind, self.kinds.choices[kind, place]] = True
        return flags


def _lists(column: Column) -> list[set[str]]:
    """The values in each text of a tag that lists several."""
    return [set(map(str.strip, text.split(","))) for text in column.values]


def _cut(column: NDArray[Any] | None, rows: Flags | Codes) -> NDArray[Any] | None:
    return None if column is None else column[rows]


def in_order(value: str) -> tuple[int, float, str]:
    """A sorting key: numbers by size, then words by alphabet."""
    try:
        number = float(value)
    except ValueError:
        return 1, 0.0, value
    if isnan(number):
        return 1, 0.0, value
    return 0, number, ""


def unknown_tag(name: str, tables: Sequence[Table]) -> UsageError:
    """Say that no item of the tables has a tag, with the nearest and with what there is.

    Of a slice that combines several, it is about the first that no table has.
    """
    for part in name.split(AND):
        if any(table.has(part) for table in tables):
            continue
        name, _, value = part.partition(IS)
        having = [table for table in tables if table.has(name)]
        if having:
            return unknown(
                f"value of {name}", value, set().union(*(t.values_of(name) for t in having))
            )
        break
    tags: dict[str, list[str]] = {}
    for table in tables:
        tags.setdefault(table.benchmark or "this table", list(table.tags))
    near = nearest(name, dict.fromkeys([*chain.from_iterable(tags.values()), *BUILT_IN]))
    hint = [f"Did you mean {' or '.join(near)}?"] if near else []
    if "," in name:
        hint = [f"Write tags apart: --by {name.replace(',', ' --by ')}"]
    if len(tags) == 1:
        known = dict.fromkeys([*chain.from_iterable(tags.values()), *BUILT_IN])
        hint.append(f"Choose one of: {', '.join(known)}.")
    elif not near:
        each = [f"{name} has {', '.join(own) or 'no tags'}" for name, own in tags.items()]
        hint.append(f"Any has {', '.join(BUILT_IN)}; {'; '.join(each)}.")
    whose = f"{len(tags)} benchmarks" if len(tags) > MOST_NAMED else " and ".join(tags)
    return UsageError(f"The items of {whose} have no tag '{name}'.", " ".join(hint))
