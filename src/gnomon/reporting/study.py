"""A study is what a report says about one benchmark: its items, once, and every model's answers to
them side by side.

Runs over the same items share one list of items; answers become arrays aligned with it, so that
comparing models, finding the worst groups and packing the item table are a few operations on
arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gnomon.contracts import Benchmark
from gnomon.errors import GnomonError
from gnomon.measures.runlabels import labels, settings_of
from gnomon.measures.table import Table
from gnomon.records import Item
from gnomon.reporting.words import model_name
from gnomon.runs import Run

NOT_ASKED, NO_ANSWER = -2, -1


@dataclass
class Entrant:
    """One run in a study: its table of answers, and the same for each item of the study.

    The table holds the items that were asked: what a run that is going on has not come to yet is no
    mistake.
    """

    run: Run
    label: str
    table: Table
    total: int  # items of the run, asked or not
    places: NDArray[np.int64]  # for each row of the table, the position of its item in the study
    choice: NDArray[np.int32]  # index into the item's choices, NO_ANSWER or NOT_ASKED
    right: NDArray[np.bool_]
    sure: NDArray[
        np.float64
    ]  # probability of the picked choice among the choices; NaN without scores
    gold: NDArray[np.float64]  # probability of the right choices together; NaN without scores
    replies: dict[int, str] = field(
        default_factory=dict
    )  # what models that talk said, and why others failed

    @property
    def asked(self) -> NDArray[np.bool_]:
        """Which items of the study the model was asked."""
        return np.asarray(self.choice != NOT_ASKED)

    @property
    def scored(self) -> bool:
        """Whether the model gave scores."""
        return bool(np.isfinite(self.gold).any())


@dataclass
class Study:
    """All runs on one benchmark."""

    name: str  # NAME@SOURCE
    spec: Benchmark | None  # none if this installation does not know the benchmark
    items: list[Item]
    entrants: list[Entrant]

    @property
    def base(self) -> str:
        """The benchmark's name without its source."""
        return self.name.partition("@")[0]

    @property
    def noun(self) -> str:
        """What the groups of the benchmark are called."""
        return self.spec.noun if self.spec else "groups"

    @property
    def labels(self) -> list[str]:
        """The entrants' names."""
        return [e.label for e in self.entrants]

    def item_sets(self) -> list[list[int]]:
        """The entrants (as positions) that were asked the same items, together; the sets with most
        items first."""
        found: dict[bytes, list[int]] = {}
        for i, e in enumerate(self.entrants):
            found.setdefault(np.packbits(e.asked).tobytes(), []).append(i)
        return sorted(found.values(), key=lambda members: -len(self.entrants[members[0]].table))

    def groups(self) -> dict[str, NDArray[np.int64]]:
        """Positions of the items of each group that has a name."""
        found: dict[str, list[int]] = {}
        for i, item in enumerate(self.items):
            if item.group:
                found.setdefault(item.group, []).append(i)
        return {name: np.array(where) for name, where in found.items()}


def studies(runs: Sequence[Run], *, reply_limit: int = 300) -> list[Study]:
    """The runs by benchmark, in the order given; within each, models in the order in which they
    first occur."""
    by_name: dict[str, list[Run]] = {}
    models = list(dict.fromkeys(run.model for run in runs))
    for run in sorted(
        runs, key=lambda run: models.index(run.model)
    ):  # so that a model keeps its colour on the page
        by_name.setdefault(run.benchmark, []).append(run)
    return [_study(name, members, reply_limit) for name, members in by_name.items()]


def known_benchmark(name: str) -> Benchmark | None:
    """The benchmark that NAME@SOURCE names, or none if this installation lacks it."""
    from gnomon import registry

    try:
        return registry.benchmark(name.partition("@")[0])
    except (GnomonError, ImportError, AttributeError):
        return None


def labels_of(runs: Sequence[Run]) -> list[str]:
    """A short name for each run: the model's, with the options that tell two runs of one model
    apart."""
    return labels([model_name(run.model) for run in runs], [settings_of(run) for run in runs])


def _study(name: str, runs: list[Run], reply_limit: int) -> Study:
    items: list[Item] = []
    index: dict[tuple[str, str, str], int] = {}
    known: dict[
        str, NDArray[np.int64]
    ] = {}  # the digest of a run's items -> their positions in the study
    places = []
    for run in runs:
        digest = run.manifest.items_sha256
        if not digest or digest not in known:
            where = []
            for item in run.items():
                at = index.setdefault((item.id, item.context, item.text), len(items))
                if at == len(items):
                    items.append(item)
                where.append(at)
            places.append(np.array(where, dtype=np.int64))
            if digest:
                known[digest] = places[-1]
        else:
            places.append(known[digest])
    spec = known_benchmark(name)
    entrants = [
        _entrant(run, label, at, len(items), spec, reply_limit)
        for run, label, at in zip(runs, labels_of(runs), places, strict=True)
    ]
    return Study(name, spec, items, entrants)


def _entrant(
    run: Run,
    label: str,
    places: NDArray[np.int64],
    n: int,
    spec: Benchmark | None,
    reply_limit: int,
) -> Entrant:
    table = Table.of_run(run, spec)
    numbers = np.asarray(table.numbers)
    table = table.where(numbers < len(places))  # a run may have grown between two looks
    asked = places[np.asarray(table.numbers)]
    rows = np.arange(len(table))
    choice = np.full(n, NOT_ASKED, dtype=np.int32)
    right = np.zeros(n, dtype=bool)
    sure, gold = np.full(n, np.nan), np.full(n, np.nan)
    choice[asked] = np.where(table.picked >= 0, table.picked, NO_ANSWER)
    right[asked] = table.right
    if table.scores is not None and table.scale != "none":
        chances = table.probabilities
        sure[asked] = np.where(table.picked >= 0, chances[rows, table.picked], np.nan)
        gold[asked] = np.where(table.gold_at, chances, 0.0).sum(axis=1)
    replies = _replies(run, places, reply_limit)
    return Entrant(run, label, table, len(places), asked, choice, right, sure, gold, replies)


def _replies(run: Run, places: NDArray[np.int64], limit: int) -> dict[int, str]:
    """The beginnings of what models that talk said, by the item's position; a failure's reason
    where there is none."""
    found = {}
    for number, reply, error in run.replies(limit + 1):
        if number < len(places):
            said = reply if reply is not None else f"error: {error}"
            found[int(places[number])] = said[:limit] + "…" if len(said) > limit else said
    return found
