"""Trained baselines that show shortcuts: a bag of words over all text, or over the hypothesis
alone.

An item is answered by a classifier that never saw its family, its objects, its action or, where it
has none of these, its group: so it cannot know from other items how large an elephant is, and what
it gets right above chance lies in the form of the items. What is left out must not show by its
absence, or a balanced set would push a baseline below chance: labels weigh as they do in the whole
set, and only words that occur in what is asked are learnt.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from gnomon.contracts import ANYTHING, Benchmark, Scale
from gnomon.errors import MissingExtraError, ModelError, UsageError
from gnomon.records import Answer, Item, pick

FLOOR = 1e-9  # probability of a label that the training items never had
_WORD = re.compile(r"[\w']+|\[MASK\]")
Features = Callable[[Item], list[str]]


def hypothesis_only(name: str, *, folds: int = 5, hold_out: str = "") -> Classifier:
    """Sees the hypothesis, question or caption, but neither premises nor story.

    `hold_out` are the tags of what is never trained on and asked at once: of several lists, such as
    "family; obj_a, obj_b", the first of which an item has all; items that have none go by their
    group. Left empty, the benchmark says what to hold out: families of patterns share hypotheses
    and have every label, so with one pattern left out its siblings would point away from its label.
    """
    return Classifier("hypothesis-only", name, hypothesis_words, folds, hold_out)


def bag_of_words(name: str, *, folds: int = 5, hold_out: str = "") -> Classifier:
    """Sees which words stand in the context and which in the text, but not their order; `hold_out`
    as above."""
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
    """Logistic regression over sets of words, trained on the other families or groups
    (cross-fitting)."""

    scale: Scale = "log-probability"
    takes = ANYTHING  # of items with pictures it measures what their words give away
    batch = 1024

    def __init__(self, spec: str, name: str, features: Features, folds: int, hold_out: str) -> None:
        if name:
            raise UsageError(f"{spec} takes no name, but '{name}' was given.", f"Write -m {spec}.")
        if folds < 2:
            raise UsageError(
                f"{spec} needs at least two folds, not {folds}.", "Leave the option out for five."
            )
        self.spec, self.features, self.folds = spec, features, folds
        self.hold_out = hold_out_of(hold_out)
        self._sklearn = _scikit_learn()
        self._fold: dict[str, int] = {}
        self._trained: dict[frozenset[int], _Trained] = {}

    def describe(self) -> dict[str, Any]:
        """How it is trained. The items that it is trained on are those of the run, whose hash is in
        the manifest."""
        return {
            "kind": self.spec,
            "folds": self.folds,
            "hold_out": [list(tags) for tags in self.hold_out] or "as the benchmark says",
            "classifier": "logistic regression",
            "scikit-learn": self._sklearn.__version__,
        }

    def prepare(self, items: Iterable[Item], benchmark: Benchmark) -> None:
        """Train one classifier for each fold, on all items of the other folds."""
        self.hold_out = self.hold_out or benchmark.hold_out
        examples = [
            Example(units(item, self.hold_out), self.features(item), item.gold) for item in items
        ]
        self._fold = assign_folds(
            [unit for example in examples for unit in example.units], self.folds
        )
        homes = {self._home(example.units) for example in examples}
        parts = {
            home: [one for one in examples if not home & self._home(one.units)] for home in homes
        }
        if not any(parts.values()):
            raise ModelError(
                f"{self.spec} must be trained on other groups than it is asked, but there is only one.",
                "Run it on more items.",
            )
        asked: dict[frozenset[int], set[str]] = {home: set() for home in homes}
        for example in examples:
            asked[self._home(example.units)].update(example.words)
        self._trained = {
            home: _train(weighted(part, examples), asked[home]) for home, part in parts.items()
        }

    def answer(self, items: Sequence[Item]) -> list[Answer]:
        """The probability of each choice, from the classifier that never saw the item's group."""
        if not self._trained:
            raise ModelError(
                f"{self.spec} has not been trained.",
                "Call prepare(items) first; `gnomon run` does.",
            )
        members: dict[frozenset[int], list[int]] = {}
        for number, item in enumerate(items):
            members.setdefault(self._home(units(item, self.hold_out)), []).append(number)
        answers: dict[int, Answer] = {}
        for home, numbers in members.items():
            rows = self._trained[home].probabilities(
                [self.features(items[number]) for number in numbers]
            )
            for number, row in zip(numbers, rows, strict=True):
                answers[number] = pick(items[number], _scores(items[number], row))
        return [answers[number] for number in range(len(items))]

    def _home(self, units: Iterable[str]) -> frozenset[int]:
        """The folds of an item: two where its two objects lie in different ones."""
        return frozenset(self._fold[unit] for unit in units)


HoldOut = tuple[tuple[str, ...], ...]


def hold_out_of(text: str) -> HoldOut:
    """The alternatives that a user writes as "family; obj_a, obj_b"."""
    alternatives = []
    for part in text.split(";"):
        tags = tuple(tag.strip() for tag in part.split(",") if tag.strip())
        if tags:
            alternatives.append(tags)
    return tuple(alternatives)


def units(item: Item, hold_out: HoldOut = ()) -> tuple[str, ...]:
    """What an item must not share with what its classifier was trained on: values of tags, or its
    group.

    >>> item = Item(id="1", form="cloze", text="An ant is [MASK] than a cow.",
    ...             choices=("larger", "smaller"), gold=("smaller",), group="ant / cow",
    ...             tags={"obj_a": "ant", "obj_b": "cow"})
    >>> units(item, (("family",), ("obj_a", "obj_b"))), units(item)
    (('ant', 'cow'), ('ant / cow',))
    """
    for tags in hold_out:
        found = tuple(item.tags.get(tag, "") for tag in tags)
        if all(found):
            return found
    return (item.group or f"item {item.id}",)


class Example(NamedTuple):
    """What a classifier may learn from an item."""

    units: tuple[str, ...]
    words: list[str]
    gold: tuple[str, ...]


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
    for group in sorted(
        sizes, key=lambda group: (-sizes[group], group)
    ):  # the largest first, into the emptiest
        fold = filled.index(min(filled))
        filled[fold] += sizes[group]
        found[group] = fold
    return found


def weighted(
    part: Sequence[Example], whole: Sequence[Example]
) -> Iterator[tuple[list[str], str, float]]:
    """The words, a right label and its weight of each example of a part; labels weigh as they do in
    the whole."""
    everywhere, here = _frequencies(whole), _frequencies(part)
    for example in part:
        for label in example.gold:
            yield example.words, label, everywhere[label] / here[label] / len(example.gold)


def _frequencies(examples: Iterable[Example]) -> dict[str, float]:
    found: dict[str, float] = {}
    for example in examples:
        for label in example.gold:
            found[label] = found.get(label, 0.0) + 1 / len(example.gold)
    return found


class _Trained:
    """A vocabulary and a classifier; or each label's share, where there were no words or fewer than
    two labels."""

    def __init__(self, shares: dict[str, float], vectorizer: Any = None, model: Any = None) -> None:
        self.shares, self.vectorizer, self.model = shares, vectorizer, model

    def probabilities(self, texts: list[list[str]]) -> list[dict[str, float]]:
        if self.model is None:
            return [self.shares for _ in texts]
        rows = self.model.predict_proba(self.vectorizer.transform(texts))
        return [
            dict(zip(map(str, self.model.classes_), map(float, row), strict=True)) for row in rows
        ]


def _train(examples: Iterable[tuple[list[str], str, float]], words: Iterable[str]) -> _Trained:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression

    found, vocabulary = list(examples), sorted(words)
    shares: dict[str, float] = {}
    for _, label, weight in found:
        shares[label] = shares.get(label, 0.0) + weight
    if len(shares) < 2 or not vocabulary:
        return _Trained({label: share / sum(shares.values()) for label, share in shares.items()})
    texts, labels, weights = (list(column) for column in zip(*found, strict=True))
    vectorizer = CountVectorizer(
        analyzer=_as_it_is, binary=True, lowercase=False, vocabulary=vocabulary
    )
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
