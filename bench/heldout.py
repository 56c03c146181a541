"""Learners that never saw what an item is about, and intervals that know what items share.

Items are asked in blocks. Whoever answers a block was trained on items that share none of its units
(families, objects, actions: what the benchmark holds out). Of a fresh set these come from other
seeds. What is held out must not show by its absence, or a rule would fall below chance in a
balanced set for that reason alone: labels weigh in training as in the whole, only signs that occur
in the block are learnt, and items that balance one another are left out together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gnomon.contracts import Benchmark
from gnomon.measures.intervals import Interval, interval
from gnomon.measures.statistics import mean_of
from gnomon.measures.table import Table
from gnomon.measures.units import Sharing
from gnomon.models.classifiers import assign_folds, units
from gnomon.records import Answer, Item
from rules import Rule, Targets, comparison

FOLDS = 5
SCALE = 0.3  # of the coordinates of vectors, so that the learner's penalty counts
Home = frozenset[int]


@dataclass
class Sight:
    """An item, what a rule sees of it, what it is about, and the folds in which that lies."""

    item: Item
    seen: Any
    units: tuple[str, ...]
    home: Home = frozenset()


class Examples(NamedTuple):
    """Rows, what is to be learnt from each, and with how many votes."""

    rows: list[int]
    targets: list[str]
    votes: list[float]

    def totals(self) -> dict[str, float]:
        """The votes of each target."""
        found: dict[str, float] = {}
        for target, vote in zip(self.targets, self.votes, strict=True):
            found[target] = found.get(target, 0.0) + vote
        return found

    def weights(self, shares: Mapping[str, float]) -> list[float]:
        """Votes that give each target its share of the whole."""
        totals = self.totals()
        found = []
        for target, vote in zip(self.targets, self.votes, strict=True):
            found.append(vote * shares[target] / totals[target])
        return found


class Learner:
    """One rule, trained on what shares nothing with the items that are asked."""

    def __init__(self, rule: Rule, about: Benchmark) -> None:
        self.rule, self.about = rule, about
        self.shares: Mapping[str, float] = {}  # of what is to be learnt, in all that may be

    def answer(
        self, asked: Sequence[Item], train: Sequence[Item], bundles: Sequence[int] = ()
    ) -> list[str | None]:
        """An answer to each item; `train` may be the same items.

        Bundles say which items of another `train` balance one another, by a number for each item.
        """
        self.shares = self._examples(train).totals()
        sights = self._sights(asked)
        sights_of_train = sights if train is asked else self._sights(train)
        _assign_homes(sights, sights_of_train)
        if bundles:
            _join_homes(sights_of_train, bundles)

        found: list[str | None] = [None] * len(asked)
        blocks = _by_home(sights)
        for home in sorted(blocks, key=sorted):
            rows = blocks[home]
            block = [sights[row] for row in rows]
            outside = [sight for sight in sights_of_train if home.isdisjoint(sight.home)]
            for row, choice in zip(rows, self._block(block, outside), strict=True):
                found[row] = choice
        return found

    def _sights(self, items: Sequence[Item]) -> list[Sight]:
        found = []
        for item in items:
            seen = self.rule.sees(item, self.about)
            found.append(Sight(item, seen, units(item, self.about.hold_out)))
        return found

    def _block(self, block: list[Sight], outside: list[Sight]) -> list[str | None]:
        """Answers to items that share their folds, from a model of what lies in the others."""
        nothing: list[str | None] = [None] * len(block)
        examples = self._examples([sight.item for sight in outside])
        if len(examples.totals()) < 2:
            return nothing

        seen = [sight.seen for sight in block]
        asked, learnt = self._matrices(seen, [sight.seen for sight in outside])
        if not asked.shape[1]:
            return nothing

        model = self._model()
        weights = examples.weights(self.shares)
        model.fit(learnt[examples.rows], examples.targets, sample_weight=weights)
        column = {target: number for number, target in enumerate(model.classes_)}
        choices = []
        for sight, row in zip(block, model.predict_proba(asked), strict=True):
            choices.append(_pick(sight.item, self._targets(sight.item), row, column))
        return choices

    def _examples(self, items: Sequence[Item]) -> Examples:
        """What is to be learnt from items; several right labels share one vote."""
        found = Examples([], [], [])
        for row, item in enumerate(items):
            targets = self._targets(item)
            for label in item.gold:
                found.rows.append(row)
                found.targets.append(targets[label])
                found.votes.append(1 / len(item.gold))
        return found

    def _targets(self, item: Item) -> Targets:
        """What each choice stands for."""
        compared = comparison(item, self.about)
        if compared:
            return compared.targets
        return {choice: choice for choice in item.choices}

    def _matrices(self, seen: list[Any], seen_in_part: list[Any]) -> tuple[Any, Any]:
        """What is asked and what is learnt, a row for each item."""
        if self.rule.kind == "signs":
            return _signs(seen, seen_in_part)
        asked = np.array(seen, dtype=float)
        learnt = np.array(seen_in_part, dtype=float)
        if self.rule.kind == "numbers":
            return asked, learnt
        centre = learnt.mean(axis=0)
        spread = learnt.std(axis=0) + 1e-9
        return (asked - centre) / spread * SCALE, (learnt - centre) / spread * SCALE

    def _model(self) -> Any:
        if self.rule.kind == "numbers":
            from sklearn.ensemble import HistGradientBoostingClassifier

            return HistGradientBoostingClassifier(max_iter=40, max_leaf_nodes=8, random_state=0)
        from sklearn.linear_model import LogisticRegression

        # a looser tolerance stops at the start where each sign is rare, and sees nothing
        return LogisticRegression(max_iter=500, tol=1e-4)


def _assign_homes(asked: Sequence[Sight], train: Sequence[Sight]) -> None:
    """Say of each item in which folds it lies: in two where its two objects lie apart."""
    every: list[str] = []
    for sight in (*asked, *train):
        every.extend(sight.units)
    fold = assign_folds(every, FOLDS)
    for sight in (*asked, *train):
        sight.home = frozenset(fold[unit] for unit in sight.units)


def _join_homes(sights: Sequence[Sight], bundles: Sequence[int]) -> None:
    """Let the items of a bundle lie wherever one of them does.

    A bundle then is in training as a whole or not at all. Halves of bundles would lean: where
    wordy things are large in what is asked, the pairs that make up for it are left to learn from.
    """
    homes: dict[int, Home] = {}
    for sight, bundle in zip(sights, bundles, strict=True):
        homes[bundle] = homes.get(bundle, frozenset()) | sight.home
    for sight, bundle in zip(sights, bundles, strict=True):
        sight.home = homes[bundle]


def _by_home(sights: Sequence[Sight]) -> dict[Home, list[int]]:
    """The rows of the items that lie in the same folds."""
    found: dict[Home, list[int]] = {}
    for row, sight in enumerate(sights):
        found.setdefault(sight.home, []).append(row)
    return found


def _signs(seen: list[Any], seen_in_part: list[Any]) -> tuple[Any, Any]:
    """Whether each sign that is asked occurs, for what is asked and for what is learnt."""
    from sklearn.feature_extraction.text import CountVectorizer

    vocabulary = sorted(set().union(*seen))
    if not vocabulary:
        return np.empty((len(seen), 0)), np.empty((len(seen_in_part), 0))
    counter = CountVectorizer(analyzer=list, binary=True, lowercase=False, vocabulary=vocabulary)
    return counter.transform(seen), counter.transform(seen_in_part)


def _pick(item: Item, targets: Targets, row: np.ndarray, column: dict[str, int]) -> str | None:
    """The choice whose target is most probable; nothing where several are equally so."""
    probabilities = []
    for choice in item.choices:
        known = column.get(targets[choice])
        probabilities.append(0.0 if known is None else row[known])
    best = max(probabilities)
    if sum(best - each < 1e-9 for each in probabilities) > 1:
        return None
    return item.choices[probabilities.index(best)]


def beyond_chance(
    items: Sequence[Item], said: Sequence[str | None], about: Benchmark
) -> tuple[Interval, float, str]:
    """Accuracy less chance with its 95 % interval, chance, and the units; no answer is a guess."""
    chances = [len(item.gold) / len(item.choices) for item in items]
    gaps = []
    rows = []
    for item, choice, chance in zip(items, said, chances, strict=True):
        gaps.append(0.0 if choice is None else (choice in item.gold) - chance)
        rows.append((item, Answer(item=item.id, choice=choice)))
    chance = float(np.mean(chances))
    table = Table.of(rows, sharing=Sharing.of(about))
    statistics = mean_of(gaps, table.clusters, bounds=(-chance, 1 - chance))
    return interval(statistics), chance, statistics.units
