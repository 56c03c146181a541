"""Where true begins: thresholds of a score, fitted on items that are not the ones to be judged.

Some scores, such as the similarity of a text and a picture, say more or less but not yes or no. The
threshold that separates true from false best is fitted on a development split where the items have
one; else each item is judged by a threshold that was fitted on what the benchmark lets it share
nothing with (cross-fitting).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

from gnomon.contracts import Benchmark
from gnomon.models.classifiers import Folds, Home, outside, units
from gnomon.records import Item

DEV = ("dev", "val", "valid", "validation", "development")  # as splits are tagged
ENOUGH = 50  # examples of a relation that may have a threshold of its own
FOLDS = 5


class ScoredExample(NamedTuple):
    """A score whose truth is known."""

    relation: str
    score: float
    truth: bool
    units: tuple[str, ...]
    dev: bool

    @classmethod
    def of(cls, item: Item, score: float, truth: bool, benchmark: Benchmark) -> ScoredExample:
        """What is learnt from an item."""
        relation = item.tags.get("relation", "")
        dev = item.tags.get("split", "") in DEV
        return cls(relation, score, truth, units(item, benchmark.hold_out), dev)


class RelationThresholds(NamedTuple):
    """One threshold for all, and one for each relation that had enough examples."""

    general: float
    by_relation: dict[str, float]

    def at(self, relation: str) -> float:
        """The threshold of a relation."""
        return self.by_relation.get(relation, self.general)


class FittedThresholds:
    """Thresholds fitted on a development split, or for each item on what is held out from it."""

    def __init__(self, examples: Sequence[ScoredExample], benchmark: Benchmark) -> None:
        self.hold_out = benchmark.hold_out
        dev = [example for example in examples if example.dev]
        self.on_dev = 0 < len(dev) < len(examples)
        self.count = len(dev) if self.on_dev else len(examples)
        self._folds = Folds([example.units for example in examples], FOLDS)
        self._cuts: dict[Home, RelationThresholds] = {}
        if self.on_dev:
            self._cuts[frozenset()] = fit(dev)
            return
        homes = [self._folds.home(example.units) for example in examples]
        for home, others in outside(homes, examples).items():
            if others:
                self._cuts[home] = fit(others)

    def at(self, item: Item) -> float | None:
        """The threshold for an item; none if there was nothing to fit it on."""
        home = self._folds.home(units(item, self.hold_out))
        cut = self._cuts.get(frozenset() if self.on_dev else home)
        if cut is None:
            return None
        return cut.at(item.tags.get("relation", ""))

    def describe(self) -> dict[str, Any]:
        """What was fitted, for the manifest."""
        general = sorted(round(cut.general, 4) for cut in self._cuts.values())
        found: dict[str, Any] = {"items": self.count, "thresholds": general}
        if not self.on_dev:
            return {"on": f"items held out, in {FOLDS} folds", **found}
        (cut,) = self._cuts.values()
        own = {name: round(value, 4) for name, value in sorted(cut.by_relation.items())}
        return {"on": "the development split", **found, "by_relation": own}


def fit(examples: Sequence[ScoredExample]) -> RelationThresholds:
    """The thresholds that separate some examples best."""
    by_relation: dict[str, list[ScoredExample]] = defaultdict(list)
    for example in examples:
        by_relation[example.relation].append(example)

    own = {}
    for relation, group in by_relation.items():
        if relation and len(group) >= ENOUGH:
            own[relation] = best_threshold(group)
    return RelationThresholds(best_threshold(examples), own)


def best_threshold(examples: Sequence[ScoredExample]) -> float:
    """The threshold of the highest balanced accuracy; of several equal ones the middle one.

    Balanced, so that the share of true examples, which the held-out ones change, has no say.

    >>> scores = {0.1: False, 0.2: False, 0.6: True, 0.8: True}
    >>> best_threshold([ScoredExample("", s, t, (), False) for s, t in scores.items()])
    0.4
    """
    import numpy as np

    scores = np.array([example.score for example in examples])
    truths = np.array([example.truth for example in examples])
    order = np.argsort(scores, kind="stable")
    scores, truths = scores[order], truths[order]

    false_below = np.concatenate(([0], np.cumsum(~truths)))
    true_below = np.concatenate(([0], np.cumsum(truths)))
    caught_false = false_below / max(1, false_below[-1])
    caught_true = 1 - true_below / max(1, true_below[-1])
    quality = caught_false + caught_true

    # a threshold lies between two neighbours, or just beyond the ends
    bounds = np.concatenate(([scores[0] - 1], scores, [scores[-1] + 1]))
    cuts = (bounds[:-1] + bounds[1:]) / 2
    quality[1:-1][scores[1:] == scores[:-1]] = -1  # equal scores are not separated

    best = np.flatnonzero(quality >= quality.max() - 1e-12)
    return float(cuts[best[len(best) // 2]])
