"""Learners that never saw what an item is about, and intervals that know what items share.

Items are asked in blocks. Whoever answers a block was trained on items that share none of its units
(families, objects, actions: what the benchmark holds out). Of a fresh set these come from other
seeds. What is held out must not show by its absence, or a rule would fall below chance in a
balanced set for that reason alone: labels weigh in training as in the whole, and only signs that
occur in the block are learnt.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon.contracts import Benchmark
from gnomon.measures.intervals import Interval, interval
from gnomon.measures.sharing import Sharing
from gnomon.measures.statistics import mean_of
from gnomon.measures.table import Table
from gnomon.models.classifiers import assign_folds, units
from gnomon.records import Answer, Item
from rules import Rule, Targets, comparison

FOLDS = 5
SCALE = 0.3  # of the coordinates of vectors, so that the learner's penalty counts
Home = frozenset[int]


class Learner:
    """One rule, trained on what shares nothing with the items that are asked."""

    def __init__(self, rule: Rule, about: Benchmark) -> None:
        self.rule, self.about = rule, about
        self.shares: dict[str, float] = {}  # of what is to be learnt, in all that may be

    def answer(self, asked: Sequence[Item], train: Sequence[Item]) -> list[str | None]:
        """An answer to each item; `train` may be the same items."""
        homes, homes_of_train = self._homes(asked, train)
        _, targets, votes = self._examples(train)
        self.shares = _totals(targets, votes)
        seen = [self.rule.sees(item, self.about) for item in asked]
        seen_in_train = seen
        if train is not asked:
            seen_in_train = [self.rule.sees(item, self.about) for item in train]

        found: list[str | None] = [None] * len(asked)
        for home in sorted(set(homes), key=sorted):
            rows = [row for row, other in enumerate(homes) if other == home]
            outside = [row for row, other in enumerate(homes_of_train) if home.isdisjoint(other)]
            block = [asked[row] for row in rows]
            part = [train[row] for row in outside]
            said = self._block(
                block, [seen[row] for row in rows], part, [seen_in_train[row] for row in outside]
            )
            for row, choice in zip(rows, said, strict=True):
                found[row] = choice
        return found

    def _homes(self, asked: Sequence[Item], train: Sequence[Item]) -> tuple[list[Home], list[Home]]:
        """The folds of each item: two where its two objects lie in different ones."""
        of_asked = [units(item, self.about.hold_out) for item in asked]
        of_train = [units(item, self.about.hold_out) for item in train]
        every: list[str] = []
        for some in (*of_asked, *of_train):
            every.extend(some)
        fold = assign_folds(every, FOLDS)
        homes = [frozenset(fold[unit] for unit in some) for some in of_asked]
        homes_of_train = [frozenset(fold[unit] for unit in some) for some in of_train]
        return homes, homes_of_train

    def _block(
        self, block: list[Item], seen: list[Any], part: list[Item], seen_in_part: list[Any]
    ) -> list[str | None]:
        rows, targets, votes = self._examples(part)
        here = _totals(targets, votes)
        if len(here) < 2:
            return [None] * len(block)
        weights = [
            vote * self.shares[target] / here[target]
            for target, vote in zip(targets, votes, strict=True)
        ]
        asked, learnt = self._matrices(seen, seen_in_part)
        if not asked.shape[1]:
            return [None] * len(block)
        model = self._model()
        model.fit(learnt[rows], targets, sample_weight=weights)
        place = {target: column for column, target in enumerate(model.classes_)}
        choices = []
        for item, row in zip(block, model.predict_proba(asked), strict=True):
            choices.append(_pick(item, self._targets(item), row, place))
        return choices

    def _examples(self, part: Sequence[Item]) -> tuple[list[int], list[str], list[float]]:
        """Rows, what is to be learnt from them, and votes: several right labels share one."""
        rows: list[int] = []
        targets: list[str] = []
        votes: list[float] = []
        for row, item in enumerate(part):
            said = self._targets(item)
            for label in item.gold:
                rows.append(row)
                targets.append(said[label])
                votes.append(1 / len(item.gold))
        return rows, targets, votes

    def _targets(self, item: Item) -> Targets:
        """What each choice stands for."""
        compared = comparison(item, self.about)
        if compared:
            return compared.targets
        return {choice: choice for choice in item.choices}

    def _matrices(self, seen: list[Any], seen_in_part: list[Any]) -> tuple[Any, Any]:
        if self.rule.kind == "signs":
            from sklearn.feature_extraction.text import CountVectorizer

            vocabulary = sorted(set().union(*seen))
            if not vocabulary:
                return np.empty((len(seen), 0)), np.empty((len(seen_in_part), 0))
            counter = CountVectorizer(
                analyzer=list, binary=True, lowercase=False, vocabulary=vocabulary
            )
            return counter.transform(seen), counter.transform(seen_in_part)
        asked, learnt = np.array(seen, dtype=float), np.array(seen_in_part, dtype=float)
        if self.rule.kind == "numbers":
            return asked, learnt
        centre, spread = learnt.mean(axis=0), learnt.std(axis=0) + 1e-9
        return (asked - centre) / spread * SCALE, (learnt - centre) / spread * SCALE

    def _model(self) -> Any:
        if self.rule.kind == "numbers":
            from sklearn.ensemble import HistGradientBoostingClassifier

            return HistGradientBoostingClassifier(max_iter=40, max_leaf_nodes=8, random_state=0)
        from sklearn.linear_model import LogisticRegression

        # a looser tolerance stops at the start where each sign is rare, and sees nothing
        return LogisticRegression(max_iter=500, tol=1e-4)


def _totals(targets: Sequence[str], votes: Sequence[float]) -> dict[str, float]:
    found: dict[str, float] = {}
    for target, vote in zip(targets, votes, strict=True):
        found[target] = found.get(target, 0.0) + vote
    return found


def _pick(item: Item, targets: Targets, row: np.ndarray, place: dict[str, int]) -> str | None:
    """The choice whose target is most probable; nothing where several are equally so."""
    probabilities = [row[place[targets[c]]] if targets[c] in place else 0.0 for c in item.choices]
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
