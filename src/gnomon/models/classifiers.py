"""Trained baselines that show shortcuts: words of an item or its hypothesis, or its pictures alone.

An item is answered by a classifier that never saw what the benchmark holds out of training (a
family, its objects, an action; else its group). What it gets right above chance lies in the form of
the items. What is held out must not show by its absence, or a balanced set would push a baseline
below chance: labels weigh as in the whole set, and only words of what is asked are learnt.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, pairwise
from typing import Any, NamedTuple

from gnomon.contracts import ANYTHING, Benchmark, Scale
from gnomon.errors import DataError, ModelError, UsageError, check_no_name, importing
from gnomon.models.choices import Thing, ask_those_without_trouble, take
from gnomon.records import Answer, Image, Item, pick
from gnomon.vision.images import Pixels, Prepared, pixels, see

FLOOR = 1e-9  # probability of a label that the training items never had
_WORD = re.compile(r"[\w']+|\[mask\]")
Features = Callable[[Item], list[str]]
HoldOut = tuple[tuple[str, ...], ...]
Home = frozenset[int]


def hypothesis_only(name: str, *, folds: int = 5, hold_out: str = "") -> Classifier:
    """Sees the words of the hypothesis, question or caption, but neither premises nor story.

    folds      into how many parts the items are divided: each is answered by a classifier that was
               trained on the others
    hold_out   tags of what must not be in training and test at once, such as
               "family; obj_a, obj_b": the first list of which an item has every tag counts, and
               its group if it has none (default: what the benchmark says)
    """
    return Classifier("hypothesis-only", name, hypothesis_words, folds, hold_out)


def bag_of_words(name: str, *, folds: int = 5, hold_out: str = "") -> Classifier:
    """Sees which words stand in the context and which in the text, but not their order.

    folds      into how many parts the items are divided: each is answered by a classifier that was
               trained on the others
    hold_out   tags of what must not be in training and test at once, such as
               "family; obj_a, obj_b": the first list of which an item has every tag counts, and
               its group if it has none (default: what the benchmark says)
    """
    return Classifier("bag-of-words", name, all_words, folds, hold_out)


def hypothesis_words(item: Item) -> list[str]:
    """Words and pairs of neighbouring words of the text alone.

    >>> hypothesis_words(Item(id="1", form="entailment", context="Ann sits.", text="Ann stands."))
    ['ann', 'stands', 'ann stands']
    """
    words = _words(item.text)
    pairs = [f"{one} {two}" for one, two in pairwise(words)]
    return words + pairs


def all_words(item: Item) -> list[str]:
    """The words of the context, marked as such, and those of the text."""
    before = [f"context:{word}" for word in _words(item.context)]
    return before + _words(item.text)


class Classifier:
    """Logistic regression over sets of words, trained on what is not held out (cross-fitting)."""

    scale: Scale = "log-probability"
    takes = ANYTHING  # of items with pictures it measures what their words give away
    batch = 1024

    def __init__(self, spec: str, name: str, features: Features, folds: int, hold_out: str) -> None:
        check_no_name(spec, name)
        if folds < 2:
            raise UsageError(
                f"{spec} needs at least two folds, not {folds}.", "Leave the option out for five."
            )
        self.spec, self.features, self.folds = spec, features, folds
        self.hold_out = hold_out_of(hold_out)  # as the user says
        self._hold_out = self.hold_out  # or, in a run, as the benchmark does
        with importing("A trained baseline", "baselines"):
            import sklearn
        self._sklearn = sklearn
        self._folds = Folds((), folds)
        self._trained: dict[Home, _Trained] = {}

    def describe(self) -> dict[str, Any]:
        """How it is trained. The items that it is trained on are those of the run."""
        alternatives = [list(tags) for tags in self.hold_out]
        return {
            "kind": self.spec,
            "folds": self.folds,
            "hold_out": alternatives or "as the benchmark says",
            "classifier": "logistic regression",
            "scikit-learn": self._sklearn.__version__,
        }

    def prepare(self, items: Iterable[Item], benchmark: Benchmark) -> None:
        """Train one classifier for each fold, on all items of the other folds."""
        self._hold_out = self.hold_out or benchmark.hold_out
        examples = []
        for item in items:
            examples.append(LabelledWords(self.units(item), self.features(item), item.gold))
        self._folds = Folds([example.units for example in examples], self.folds)
        homes = [self._folds.home(example.units) for example in examples]

        asked: dict[Home, set[str]] = {}
        for home, example in zip(homes, examples, strict=True):
            asked.setdefault(home, set()).update(example.words)

        parts = outside(homes, examples)
        if not any(parts.values()):
            raise ModelError(
                f"{self.spec} must be trained on other groups than it is asked, "
                "but there is only one.",
                "Run it on more items.",
            )
        self._trained = {}
        for home, part in parts.items():
            self._trained[home] = _train(weighted(part, examples), asked[home])

    def answer(self, items: Sequence[Item]) -> list[Answer]:
        """The probability of each choice, from the classifier that never saw the item's group."""
        if not self._trained:
            raise ModelError(
                f"{self.spec} has not been trained.",
                "Call prepare(items, benchmark) first; `gnomon run` does.",
            )
        members: dict[Home, list[int]] = {}
        for number, item in enumerate(items):
            home = self._folds.home(self.units(item))
            members.setdefault(home, []).append(number)

        answers: dict[int, Answer] = {}
        for home, numbers in members.items():
            texts = [self.features(items[number]) for number in numbers]
            rows = self._trained[home].probabilities(texts)
            for number, row in zip(numbers, rows, strict=True):
                answers[number] = pick(items[number], _scores(items[number], row))
        return [answers[number] for number in range(len(items))]

    def units(self, item: Item) -> tuple[str, ...]:
        """What an item must not share with what its classifier was trained on."""
        return units(item, self._hold_out)


def hold_out_of(text: str) -> HoldOut:
    """The alternatives that a user writes as "family; obj_a, obj_b"."""
    alternatives = []
    for part in text.split(";"):
        tags = tuple(tag.strip() for tag in part.split(",") if tag.strip())
        if tags:
            alternatives.append(tags)
    return tuple(alternatives)


def units(item: Item, hold_out: HoldOut = ()) -> tuple[str, ...]:
    """What an item must not share with what its classifier was trained on.

    These are the values of tags, or its group.

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


class LabelledWords(NamedTuple):
    """What a classifier may learn from an item."""

    units: tuple[str, ...]
    words: list[str]
    gold: tuple[str, ...]


def assign_folds(groups: Sequence[str], folds: int) -> dict[str, int]:
    """A fold for each group, all folds of about the same size whatever the order of the items.

    >>> assign_folds(["a", "a", "a", "b", "c"], 2)
    {'a': 0, 'b': 1, 'c': 1}
    """
    sizes = Counter(groups)
    largest_first = sorted(sizes, key=lambda group: (-sizes[group], group))
    filled = [0] * min(folds, len(sizes))
    found = {}
    for group in largest_first:
        emptiest = filled.index(min(filled))
        filled[emptiest] += sizes[group]
        found[group] = emptiest
    return found


class Folds:
    """In which folds items are, by the units that they must not share."""

    def __init__(self, units: Iterable[Sequence[str]], folds: int) -> None:
        self._fold = assign_folds(list(chain.from_iterable(units)), folds)

    def home(self, units: Iterable[str]) -> Home:
        """The folds of an item: two where its two objects lie in different ones.

        -1 is that of what was not there.
        """
        return frozenset(self._fold.get(unit, -1) for unit in units)


def outside(homes: Sequence[Home], examples: Sequence[Thing]) -> dict[Home, list[Thing]]:
    """For each home the examples that share no fold with it."""
    found = {}
    for home in dict.fromkeys(homes):
        pairs = zip(homes, examples, strict=True)
        found[home] = [example for other, example in pairs if home.isdisjoint(other)]
    return found


def weighted(
    part: Sequence[LabelledWords], whole: Sequence[LabelledWords]
) -> Iterator[tuple[list[str], str, float]]:
    """The words, a right label and its weight, for each right label of a part's examples.

    Labels weigh as they do in the whole; several right labels share one vote.
    """
    everywhere = _frequencies(whole)
    here = _frequencies(part)
    for example in part:
        for label in example.gold:
            weight = everywhere[label] / here[label] / len(example.gold)
            yield example.words, label, weight


def _frequencies(examples: Iterable[LabelledWords]) -> dict[str, float]:
    found: dict[str, float] = {}
    for example in examples:
        for label in example.gold:
            found[label] = found.get(label, 0.0) + 1 / len(example.gold)
    return found


class _Trained:
    """A vocabulary and a classifier; or each label's share, where there is nothing to learn."""

    def __init__(self, shares: dict[str, float], vectorizer: Any = None, model: Any = None) -> None:
        self.shares, self.vectorizer, self.model = shares, vectorizer, model

    def probabilities(self, texts: list[list[str]]) -> list[dict[str, float]]:
        """For each text the probability of each label."""
        if self.model is None:
            return [self.shares] * len(texts)
        labels = [str(label) for label in self.model.classes_]
        rows = self.model.predict_proba(self.vectorizer.transform(texts)).tolist()
        return [dict(zip(labels, row, strict=True)) for row in rows]


def _train(examples: Iterable[tuple[list[str], str, float]], words: Iterable[str]) -> _Trained:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression

    texts: list[list[str]] = []
    labels: list[str] = []
    weights: list[float] = []
    shares: dict[str, float] = {}
    for text, label, weight in examples:
        texts.append(text)
        labels.append(label)
        weights.append(weight)
        shares[label] = shares.get(label, 0.0) + weight

    vocabulary = sorted(words)
    if len(shares) < 2 or not vocabulary:
        total = sum(weights)
        return _Trained({label: share / total for label, share in shares.items()})

    vectorizer = CountVectorizer(analyzer=list, binary=True, vocabulary=vocabulary)
    model = LogisticRegression(max_iter=2000, tol=1e-3)
    model.fit(vectorizer.fit_transform(texts), labels, sample_weight=weights)
    return _Trained(shares, vectorizer, model)


def _scores(item: Item, row: dict[str, float]) -> tuple[float, ...]:
    """Log-probabilities among the item's own choices."""
    found = [max(row.get(choice, 0.0), FLOOR) for choice in item.choices]
    total = sum(found)
    return tuple(math.log(value / total) for value in found)


def _words(text: str) -> list[str]:
    found: list[str] = _WORD.findall(text.lower())
    return found


# --- a trained baseline that sees pictures alone: which colours they have, and where -------------


CELLS = 4  # a side: the picture is a grid of so many cells by as many
LEVELS = 4  # of brightness of a channel, in a cell
FINE = 32  # pixels a side, of which colours are counted
SHADES = 3  # of a channel, in the count of colours
LEAST = 0.05  # the share of the picture that a colour must fill to be named


def picture_only(name: str, *, folds: int = 5, hold_out: str = "") -> PictureClassifier:
    """Sees the colours of the picture and where they are, and none of the words.

    folds      into how many parts the items are divided: each is answered by a classifier that was
               trained on the others
    hold_out   tags of what must not be in training and test at once, beside the picture, such as
               "family; obj_a, obj_b": the first list of which an item has every tag counts, and
               its group if it has none (default: what the benchmark says)
    """
    return PictureClassifier(name, folds, hold_out)


class PictureClassifier(Classifier):
    """The classifier of words, with colours in the place of words."""

    batch = 256

    def __init__(self, name: str, folds: int, hold_out: str) -> None:
        super().__init__("picture-only", name, self._colours, folds, hold_out)
        self._seen: dict[str, Prepared[list[str]]] = {}

    def describe(self) -> dict[str, Any]:
        """How it is trained, and on what of a picture."""
        grid = f"brightness of red, green and blue in {CELLS} by {CELLS} cells, and main colours"
        return {**super().describe(), "features": grid}

    def prepare(self, items: Iterable[Item], benchmark: Benchmark) -> None:
        """Look at all pictures, and train one classifier for each fold."""
        kept = list(items)
        self._look(kept)
        if not any(self._trouble(item) == "" for item in kept):
            raise ModelError(
                "picture-only sees nothing but pictures, and none of these items has one here.",
                "Run it on items with pictures that are on this machine.",
            )
        super().prepare(kept, benchmark)

    def answer(self, items: Sequence[Item]) -> list[Answer]:
        """The probability of each choice; an item whose picture cannot be seen fails."""
        self._look(items)
        troubles = [self._trouble(item) for item in items]
        ask = super().answer
        return ask_those_without_trouble(items, troubles, lambda some: ask(take(items, some)))

    def units(self, item: Item) -> tuple[str, ...]:
        """What is held out of training: as for words, and every item with the same picture.

        The tag `image` names a picture that is also shown changed, as in a mirror.
        """
        pictures = [f"picture {image.identity}" for image in item.images]
        if "image" in item.tags:
            pictures = [f"picture {item.tags['image']}"]
        return (*super().units(item), *pictures)

    def _look(self, items: Iterable[Item]) -> None:
        new: dict[str, Image] = {}
        for item in items:
            for image in item.images:
                if image.identity not in self._seen:
                    new[image.identity] = image
        for key, seen in zip(new, see(new.values(), _picture_words), strict=True):
            self._seen[key] = seen

    def _trouble(self, item: Item) -> str:
        if not item.images:
            return "there is no picture to look at"
        for image in item.images:
            seen = self._seen[image.identity]
            if seen.trouble:
                return seen.trouble
        return ""

    def _colours(self, item: Item) -> list[str]:
        found: list[str] = []
        for number, image in enumerate(item.images):
            words = self._seen[image.identity].made or []
            found += [f"{number} {word}" for word in words]
        return found


def colour_words(picture: Pixels) -> list[str]:
    """What stands where in a picture: a word for each cell and channel, and each main colour."""
    from PIL.Image import Resampling

    words = []
    small = picture.resize((CELLS, CELLS), Resampling.BOX)
    for place in range(CELLS * CELLS):
        across, down = place % CELLS, place // CELLS
        levels = _steps(small.getpixel((across, down)), LEVELS)
        for channel, level in zip("rgb", levels, strict=True):
            words.append(f"{across},{down} {channel}{level}")

    fine = picture.resize((FINE, FINE), Resampling.BOX)
    counts: dict[tuple[int, ...], int] = {}
    for count, value in fine.getcolors(FINE * FINE) or ():
        shade = _steps(value, SHADES)
        counts[shade] = counts.get(shade, 0) + count
    for shade, count in sorted(counts.items()):
        if count >= LEAST * FINE * FINE:
            words.append("main " + "".join(map(str, shade)))
    return words


def _picture_words(image: Image) -> list[str]:
    if image.path.startswith(("http://", "https://")):
        raise DataError("the picture is not on this machine.", "Fetch it first.", file=image.path)
    return colour_words(pixels(image))


def _steps(value: Any, steps: int) -> tuple[int, ...]:
    return tuple(channel * steps // 256 for channel in value)
