"""Trained baselines that show shortcuts: a bag of words over all text, or over the hypothesis alone.

An item is answered by a classifier that never saw its family (or its group: pattern, template, pair): what such a
baseline gets right above chance can be had without understanding.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from gnomon.contracts import Scale
from gnomon.errors import MissingExtraError, ModelError, UsageError
from gnomon.records import Answer, Item, pick

FLOOR = 1e-9  # probability of a label that the training items never had
_WORD = re.compile(r"[\w']+|\[MASK\]")
Features = Callable[[Item], list[str]]


def hypothesis_only(name: str, *, folds: int = 5, hold_out: str = "family") -> Classifier:
    """Sees the hypothesis, question or caption, but neither premises nor story.

    `hold_out` is the tag of what is never trained on and asked at once; items without it go by their group. Families
    share hypotheses and have every label, so with one pattern left out its siblings would point away from its label.
    """
    return Classifier("hypothesis-only", name, hypothesis_words, folds, hold_out)


def bag_of_words(name: str, *, folds: int = 5, hold_out: str = "family") -> Classifier:
    """Sees which words stand in the context and which in the text, but not their order; `hold_out` as above."""
    return Classifier("bag-of-words", name, all_words, folds, hold_out)


def hypothesis_words(item: Item) -> list[str]:
    """Words and pairs of neighbouring words of the text alone.

    >>> hypothesis_words(Item(id="1", form="entailment", context="Ann sits.", text="Ann stands.", choices=("a", "b"),
    ...                       gold=("a",)))
    ['ann', 'stands', 'ann stands']
    """
    words = _words(item.text)
    return [*words, *(f"{one} {two}" for one, two in pairwise(words))]


def all_words(item: Item) -> list[str]:
    """The words of the context, marked as such, and those of the text."""
    return [*(f"context:{word}" for word in _words(item.context)), *_words(item.text)]


class Classifier:
    """Logistic regression over sets of words, trained on the other families or groups (cross-fitting)."""

    scale: Scale = "log-probability"
    batch = 1024

    def __init__(self, spec: str, name: str, features: Features, folds: int, hold_out: str) -> None:
        if name:
            raise UsageError(f"{spec} takes no name, but '{name}' was given.", f"Write -m {spec}.")
        if folds < 2:
            raise UsageError(f"{spec} needs at least two folds, not {folds}.", "Leave the option out for five.")
        self.spec, self.features, self.folds, self.hold_out = spec, features, folds, hold_out
        self._sklearn = _scikit_learn()
        self._fold: dict[str, int] = {}
        self._trained: list[_Trained] = []

    def describe(self) -> dict[str, Any]:
        """How it is trained. The items that it is trained on are those of the run, whose hash is in the manifest."""
        return {
            "kind": self.spec,
            "folds": self.folds,
            "hold_out": self.hold_out,
            "classifier": "logistic regression",
            "scikit-learn": self._sklearn.__version__,
        }

    def prepare(self, items: Iterable[Item]) -> None:
        """Train one classifier for each fold, on all items of the other folds."""
        examples = [(self._unit(item), self.features(item), item.gold) for item in items]
        self._fold = assign_folds([group for group, _, _ in examples], self.folds)
        count = max(self._fold.values(), default=0) + 1
        if count < 2:
            raise ModelError(
                f"{self.spec} must be trained on other groups than it is asked, but there is only one.",
                "Run it on more items.",
            )
        self._trained = [_train(words_and_gold(examples, self._fold, fold)) for fold in range(count)]

    def answer(self, items: Sequence[Item]) -> list[Answer]:
        """The probability of each choice, from the classifier that never saw the item's group."""
        if not self._trained:
            raise ModelError(f"{self.spec} has not been trained.", "Call prepare(items) first; `gnomon run` does.")
        members: dict[int, list[int]] = {}
        for number, item in enumerate(items):
            members.setdefault(self._fold[self._unit(item)], []).append(number)
        answers: dict[int, Answer] = {}
        for fold, numbers in members.items():
            rows = self._trained[fold].probabilities([self.features(items[number]) for number in numbers])
            for number, row in zip(numbers, rows, strict=True):
                answers[number] = pick(items[number], _scores(items[number], row))
        return [answers[number] for number in range(len(items))]

    def _unit(self, item: Item) -> str:
        """What an item must not be separated from."""
        return item.tags.get(self.hold_out) or item.group or f"item {item.id}"


def assign_folds(groups: Sequence[str], folds: int) -> dict[str, int]:
    """A fold for each group, all folds of about the same size whatever the order of the items.

    >>> assign_folds(["a", "a", "a", "b", "c"], 2)
    {'a': 0, 'b': 1, 'c': 1}
    """
    sizes: dict[str, int] = {}
    for group in groups:
        sizes[group] = sizes.get(group, 0) + 1
    filled = [0] * min(folds, len(sizes))
    found = {}
    for group in sorted(sizes, key=lambda group: (-sizes[group], group)):  # the largest first, into the emptiest
        fold = filled.index(min(filled))
        filled[fold] += sizes[group]
        found[group] = fold
    return found


def words_and_gold(
    examples: Sequence[tuple[str, list[str], tuple[str, ...]]], folds: dict[str, int], fold: int
) -> Iterator[tuple[list[str], str, float]]:
    """What a fold's classifier is trained on: every other fold's words, a right label, and its weight."""
    for group, words, gold in examples:
        if folds[group] != fold:
            for label in gold:
                yield words, label, 1 / len(gold)


class _Trained:
    """A vocabulary and a classifier; or each label's share, where the training items had no words or but one label."""

    def __init__(self, shares: dict[str, float], vectorizer: Any = None, model: Any = None) -> None:
        self.shares, self.vectorizer, self.model = shares, vectorizer, model

    def probabilities(self, texts: list[list[str]]) -> list[dict[str, float]]:
        if self.model is None:
            return [self.shares for _ in texts]
        rows = self.model.predict_proba(self.vectorizer.transform(texts))
        return [dict(zip(map(str, self.model.classes_), map(float, row), strict=True)) for row in rows]


def _train(examples: Iterable[tuple[list[str], str, float]]) -> _Trained:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression

    texts, labels, weights = (list(column) for column in zip(*examples, strict=True))
    shares: dict[str, float] = {}
    for label, weight in zip(labels, weights, strict=True):
        shares[label] = shares.get(label, 0.0) + weight
    if len(shares) == 1 or not any(texts):
        return _Trained({label: share / sum(weights) for label, share in shares.items()})
    vectorizer = CountVectorizer(analyzer=_as_it_is, binary=True)
    model = LogisticRegression(max_iter=2000, tol=1e-3)
    model.fit(vectorizer.fit_transform(texts), labels, sample_weight=weights)
    return _Trained(shares, vectorizer, model)


def _as_it_is(words: list[str]) -> list[str]:
    return words


def _scores(item: Item, row: dict[str, float]) -> tuple[float, ...]:
    """Log-probabilities among the item's own choices."""
    found = [max(row.get(choice, 0.0), FLOOR) for choice in item.choices]
    return tuple(math.log(value / sum(found)) for value in found)


def _words(text: str) -> list[str]:
    return [word if word == "[MASK]" else word.lower() for word in _WORD.findall(text)]


def _scikit_learn() -> Any:
    try:
        import sklearn
    except ImportError:
        raise MissingExtraError("A trained baseline", "baselines") from None
    return sklearn
