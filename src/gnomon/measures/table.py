"""The answers of one run as columns: what every measure and every figure of the report reads.

Rows are the items that were asked, in their order. Labels, groups and tags are integer codes into small vocabularies, so
a million answers fit in a few hundred megabytes and no measure loops over rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gnomon.contracts import Laws
from gnomon.errors import UsageError
from gnomon.measures.columns import Column, Tags, Wordings
from gnomon.measures.statistics import Codes, Floats, Statistics

if TYPE_CHECKING:
    from gnomon.contracts import Benchmark
    from gnomon.records import Answer, Item
    from gnomon.runs import Run

__all__ = ["Column", "Statistics", "Table"]

Flags = NDArray[np.bool_]
NO_LAWS = Laws()
BUILT_IN = (
    "form",
    "group",
    "gold",
    "choice",
    "cardinality",
)  # columns that every table has beside its tags


class Kinds(NamedTuple):
    """The distinct pairs of choices and gold that occur, padded to the longest: most tables have a
    handful."""

    choices: Codes  # [kinds, width] label codes, -1 beyond the end
    gold: Flags  # [kinds, width] which choices are right


@dataclass(frozen=True)
class Table:
    """The items of one run with the answers to them.

    >>> from gnomon.records import Answer, Item
    >>> item = Item(id="1", form="choice", text="?", choices=("no", "yes"), gold=("yes",), tags={"scale": "size"})
    >>> table = Table.of([(item, Answer(item="1", choice="yes"))], benchmark="scales", model="constant:yes")
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
    tags: Tags
    scores: Floats | None = (
        None  # [rows, width] aligned with the choices, NaN beyond the end or unknown
    )
    benchmark: str = ""
    model: str = ""
    scale: str = "none"  # of the scores: log-probability, probability or none
    cluster: str = "group"  # what varies independently: "group", or the name of a tag
    laws: Laws = NO_LAWS
    # of the items, or of the model, if known: runs that differ only here can be aggregated
    seed: Any = None
    settings: Mapping[str, Any] = field(
        default_factory=dict
    )  # what tells runs of one model apart, seeds included
    folder: str = ""  # of the run, as it was given
    digest: str = ""  # of all items of the run: tables with the same one are about the same items
    wordings: Wordings | None = None  # what was asked, as hashes; none if that is not known
    total: int = 0  # items of the run, of which those that were asked are rows
    numbers: NDArray[np.int64] | None = None  # the rows' items in the run's log

    @classmethod
    def of(
        cls,
        rows: Iterable[tuple[Item, Answer | None]],
        *,
        benchmark: str = "",
        model: str = "",
        scale: str = "none",
        cluster: str = "group",
        laws: Laws | None = None,
        seed: Any = None,
    ) -> Table:
        """A table of items with their answers. An item without one was not asked and is left
        out."""
        from gnomon.measures.building import build

        rows = list(rows)
        asked = []
        for item, answer in rows:
            if answer is not None:
                asked.append((item, answer.scores, answer.choice, answer.error))
        return build(
            asked,
            total=len(rows),
            benchmark=benchmark,
            model=model,
            scale=scale,
            cluster=cluster,
            laws=laws or Laws(),
            seed=seed,
        )

    @classmethod
    def of_run(cls, run: Run, benchmark: Benchmark | None = None) -> Table:
        """The table of a run folder; its benchmark says what clusters are and which laws hold."""
        from gnomon.measures.building import build_run
        from gnomon.measures.runlabels import settings_of

        manifest = run.manifest
        seed = manifest.model_options.get("seed", manifest.options.get("seed"))
        return build_run(
            run,
            benchmark=run.benchmark,
            model=run.model,
            scale=manifest.scale,
            seed=seed,
            cluster=benchmark.units[0] if benchmark else "group",
            laws=benchmark.laws if benchmark else Laws(),
            settings=settings_of(run),
            folder=run.path.as_posix(),
            digest=manifest.items_sha256,
            total=manifest.counts.items,
        )

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def right(self) -> Flags:
        """Whether the answer is one of the right labels; a missing or failed answer is not."""
        flags: Flags = self.kinds.gold[self.kind, self.picked] & (self.picked >= 0)
        return flags

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
        """The first of the right labels, for each row."""
        first = self.kinds.choices[np.arange(len(self.kinds.gold)), self.kinds.gold.argmax(axis=1)]
        return np.asarray(first[self.kind])

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
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            if self.scale == "log-probability":
                known = np.where(np.isnan(self.scores) | ~real, -np.inf, self.scores)
                weights = np.exp(known - known.max(axis=1, keepdims=True))
            else:
                weights = np.where(
                    np.isnan(self.scores) | ~real | (self.scores < 0), 0.0, self.scores
                )
            total = weights.sum(axis=1, keepdims=True)
            return np.asarray(np.where(real, weights / np.where(total > 0, total, np.nan), 0.0))

    @cached_property
    def clusters(self) -> Codes:
        """The independent cluster of each row; -1 for a row that is a cluster of its own."""
        return self.group.codes if self.cluster == "group" else self.column(self.cluster).codes

    def column(self, name: str) -> Column:
        """A tag, or one of "form", "group", "gold", "choice", "cardinality" (of gold), as codes."""
        if name in self.tags:
            return self.tags[name]
        if name in ("form", "group"):
            return self.form if name == "form" else self.group
        if name == "choice":
            return Column(self.choice, self.labels)
        if name in ("gold", "cardinality"):
            names = (
                [", ".join(self.labels[i] for i in np.flatnonzero(row)) for row in self._kind_gold]
                if name == "gold"
                else [str(count) for count in self.kinds.gold.sum(axis=1).tolist()]
            )
            values = tuple(dict.fromkeys(names))
            code = {value: i for i, value in enumerate(values)}
            return Column(
                np.array([code[name] for name in names], dtype=np.int32)[self.kind], values
            )
        known = ", ".join([*self.tags, *BUILT_IN])
        raise UsageError(
            f"The items of {self.benchmark or 'this table'} have no tag '{name}'.",
            f"They have: {known}.",
        )

    def has(self, tag: str) -> bool:
        """Whether `by` can slice the table by this name."""
        return tag in self.tags or f"{tag}s" in self.tags or tag in BUILT_IN

    def where(self, rows: Flags | Codes) -> Table:
        """The rows that a mask or an index picks."""
        return replace(
            self,
            ids=self.ids[rows],
            choice=self.choice[rows],
            picked=self.picked[rows],
            kind=self.kind[rows],
            failed=self.failed[rows],
            group=self.group._replace(codes=self.group.codes[rows]),
            form=self.form._replace(codes=self.form.codes[rows]),
            tags=self.tags.take(rows),
            scores=None if self.scores is None else self.scores[rows],
            wordings=None if self.wordings is None else self.wordings.take(rows),
            numbers=None if self.numbers is None else self.numbers[rows],
        )

    def by(self, tag: str) -> Iterator[tuple[str, Table]]:
        """The parts of the table that share a value of a tag, in the order of the values; rows
        without one last.

        A tag such as "expressions" that lists several values with commas is taken apart by its
        singular: a row is then in the part of each of its values.
        """
        if tag not in self.tags and f"{tag}s" in self.tags:
            yield from self._by_listed(self.tags[f"{tag}s"])
            return
        column = self.column(tag)
        order = np.argsort(column.codes, kind="stable")
        codes, starts = np.unique(column.codes[order], return_index=True)
        parts = (
            dict(zip(codes.tolist(), np.split(order, starts[1:]), strict=True))
            if len(order)
            else {}
        )
        for code in sorted(
            parts, key=lambda code: in_order(column.values[code]) if code >= 0 else (2, 0.0, "")
        ):
            yield column.values[code] if code >= 0 else "", self.where(parts[code])

    def _by_listed(self, column: Column) -> Iterator[tuple[str, Table]]:
        lists = [{part.strip() for part in text.split(",")} for text in column.values]
        present = set(column.codes.tolist())
        values = {part for code, parts in enumerate(lists) if code in present for part in parts}
        for value in sorted(values, key=in_order):
            holds = np.array([value in parts for parts in lists] + [False])
            yield value, self.where(np.flatnonzero(holds[column.codes]))
        if -1 in present:
            yield "", self.where(np.flatnonzero(column.codes < 0))

    @cached_property
    def _kind_gold(self) -> Flags:
        flags = np.zeros((len(self.kinds.choices), len(self.labels)), dtype=bool)
        kind, place = np.nonzero(self.kinds.gold)
        flags[kind, self.kinds.choices[kind, place]] = True
        return flags


def in_order(value: str) -> tuple[int, float, str]:
    """A sorting key: numbers by size, then words by alphabet."""
    try:
        number = float(value)
    except ValueError:
        return 1, 0.0, value
    return (0, number, "") if number == number else (1, 0.0, value)
