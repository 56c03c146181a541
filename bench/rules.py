"""Rules that know nothing of space: what each of them sees of an item.

A rule sees signs (words, pairs of them, characters), numbers (lengths, overlap) or the vector that
an encoder gives a part of the input. Most learn, as `heldout.py` says. In sets that ask which of
two things is greater they learn "greater" or "lesser" rather than the label, and see the two names
in that order, so that "Is a cow smaller than an ant?" counts with "An ant is [MASK] than a cow".
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from gnomon.contracts import Benchmark
from gnomon.models.classifiers import all_words, hypothesis_words
from gnomon.records import Item

# tags that name what an item is about: the first of which it has all
NAMES = (
    ("obj_a", "obj_b"),
    ("subj", "obj"),
    ("kind_of_object", "kind_of_person"),
    ("object", "person"),
    ("object",),
)
NEGATORS = frozenset(
    "not no never nobody nothing none nowhere neither nor cannot without hardly barely".split()
)
AWAY = frozenset("away off out outside beyond apart far".split())
EDGE = 6  # words from the front and from the end whose places are seen
GRAMS = range(2, 6)  # characters that stand together
Targets = Mapping[str, str]


class Rule(NamedTuple):
    """A rule that learns: its name, what it sees, and when it has something to see."""

    name: str
    sees: Callable[[Item, Benchmark], Any]
    kind: Literal["signs", "numbers", "vectors"]
    applies: Callable[[Item], bool]


class Compared(NamedTuple):
    """Two names in the order in which they are compared, and what each choice says of the first."""

    first: str
    second: str
    targets: Targets


def words(text: str) -> list[str]:
    """Words in lower case, and the blank."""
    return re.findall(r"[\w']+|\[mask\]", text.lower())


def premise_words(item: Item, about: Benchmark) -> list[str]:
    """Words and pairs of neighbouring words of the premises alone."""
    found = words(item.context)
    return found + [f"{one} {two}" for one, two in pairwise(found)]


def word_pairs(item: Item, about: Benchmark) -> list[str]:
    """Neighbouring words of premises and text, with the full stops between them."""
    found = []
    for part, text in (("context", item.context), ("text", item.text)):
        tokens = re.findall(r"[\w']+|\[mask\]|[.,;?]", text.lower())
        found.extend(f"{part}: {one} {two}" for one, two in pairwise(tokens))
    return found


def characters(item: Item, about: Benchmark) -> list[str]:
    """Runs of two to five characters of premises, text and each of the names."""
    found: set[str] = set()
    parts = [item.context, item.text, *names(item, about)]
    for part, text in zip("ct12", parts, strict=False):
        padded = f" {text.lower()} "
        for size in GRAMS:
            found.update(part + padded[at : at + size] for at in range(len(padded) - size + 1))
    return sorted(found)


def placed_words(item: Item, about: Benchmark) -> list[str]:
    """Words with their places, counted from the front and from the end."""
    found = []
    for part, text in (("context", item.context), ("text", item.text)):
        tokens = words(text)
        for place, word in enumerate(tokens[:EDGE]):
            found.append(f"{part} {place}: {word}")
        for place, word in enumerate(reversed(tokens[-EDGE:])):
            found.append(f"{part} -{place}: {word}")
    return found


def lengths(item: Item, about: Benchmark) -> list[float]:
    """Characters, words and sentences of the parts, and of the names."""
    found: list[float] = []
    for text in (item.context, item.text, *names(item, about)):
        found += [len(text), len(words(text)), text.count(".")]
    found.append(len(item.context) - len(item.text))
    compared = comparison(item, about)
    if compared:
        found.append(len(compared.first) - len(compared.second))
    return found


def overlap(item: Item, about: Benchmark) -> list[float]:
    """How many words premises and text share, or the two names, and where these stand."""
    before, after = words(item.context), words(item.text)
    named = [words(name) for name in names(item, about)]
    shared = [word for word in after if word in before]
    places = [before.index(word) for word in shared]
    last_places = [len(before) - before[::-1].index(word) for word in shared]
    in_order = sum(one <= two for one, two in pairwise(places))
    return [
        len(shared),
        len(shared) / max(1, len(after)),
        len(set(before) - set(after)),
        len(set(after) - set(before)) if before else 0,
        min(places, default=-1),
        max(last_places, default=-1) - len(before),
        float(np.mean(places)) if places else -1.0,
        in_order / max(1, len(places) - 1),
        len(set(named[0]) & set(named[-1])) if len(named) > 1 else 0,
    ]


def negators(item: Item, about: Benchmark) -> list[float]:
    """Counts of not, never, without ..., and of away, off, out ... in each part."""
    found: list[float] = []
    for text in (item.context, item.text):
        tokens = words(text)
        found.append(sum(word in NEGATORS or word.endswith("n't") for word in tokens))
        found.append(sum(word in AWAY for word in tokens))
    return found


def names(item: Item, about: Benchmark) -> tuple[str, ...]:
    """What an item is about: two things in the order in which they are compared, or one."""
    compared = comparison(item, about)
    if compared:
        return compared.first, compared.second
    for tags in NAMES:
        if all(tag in item.tags for tag in tags):
            return tuple(item.tags[tag] for tag in tags)
    return ()


def comparison(item: Item, about: Benchmark) -> Compared | None:
    """How an item of a set of comparisons is put; none in other sets."""
    order = about.laws.order
    if order:
        first, second = item.tags[order.first], item.tags[order.second]
        said = dict.fromkeys(order.greater, "greater") | dict.fromkeys(order.lesser, "lesser")
        if set(item.choices) <= set(said):
            return Compared(first, second, {choice: said[choice] for choice in item.choices})
        asked = said.get(item.tags.get(order.word, ""))
        answers = {"yes": "greater", "no": "lesser"}
        if asked == "lesser":
            return Compared(second, first, answers)
        return Compared(first, second, answers) if asked else None
    relations = about.laws.relations
    if not relations or "entailment" in item.choices:
        return None
    for greater, lesser in relations.converse:
        if greater in item.choices and lesser in item.choices:
            targets = dict.fromkeys(item.choices, "level")
            targets |= {greater: "greater", lesser: "lesser"}
            return Compared(item.tags[relations.first], item.tags[relations.second], targets)
    return None


def longer_name(items: Sequence[Item], about: Benchmark) -> list[str | None]:
    """Untrained: the thing with the longer name is greater; nothing where they are equally long."""
    found: list[str | None] = []
    for item in items:
        compared = comparison(item, about)
        assert compared is not None
        further = len(compared.first) - len(compared.second)
        said = {target: choice for choice, target in compared.targets.items()}
        if further == 0:
            found.append(None)
        else:
            found.append(said["greater" if further > 0 else "lesser"])
    return found


def constant(items: Sequence[Item], about: Benchmark) -> list[str | None]:
    """The best constant label for each set of choices, chosen with the labels in sight."""
    counts: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for item in items:
        counts[item.choices].update(item.gold)
    return [counts[item.choices].most_common(1)[0][0] for item in items]


def _always(item: Item) -> bool:
    return True


def _has_context(item: Item) -> bool:
    return bool(item.context)


def _has_names(item: Item) -> bool:
    return any(all(tag in item.tags for tag in tags) for tags in NAMES)


def _is_part(item: Item) -> bool:
    """Whether the text is a part of the question, and not the whole."""
    return bool(item.context or item.images)


LEARNT = (
    Rule("hypothesis only", lambda item, about: hypothesis_words(item), "signs", _always),
    Rule("premise only", premise_words, "signs", _has_context),
    Rule("words", lambda item, about: all_words(item), "signs", _always),
    Rule("word pairs", word_pairs, "signs", _always),
    Rule("characters", characters, "signs", _always),
    Rule("word positions", placed_words, "signs", _always),
    Rule("lengths", lengths, "numbers", _always),
    Rule("overlap", overlap, "numbers", _always),
    Rule("negators", negators, "numbers", _always),
)


class Encoder:
    """Vectors of texts by a sentence encoder: the mean over its tokens, of length 1."""

    def __init__(self, folder: Path) -> None:
        from transformers import AutoModel, AutoTokenizer

        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.model = AutoModel.from_pretrained(folder).float().eval()
        self.known: dict[str, np.ndarray] = {}

    def learn(self, texts: Sequence[str], batch: int = 64) -> None:
        """Encode texts together, which is much faster than one by one."""
        import torch

        missing = sorted(set(texts) - set(self.known), key=len)
        for start in range(0, len(missing), batch):
            part = missing[start : start + batch]
            inputs = self.tokenizer(part, padding=True, truncation=True, return_tensors="pt")
            with torch.inference_mode():
                states = self.model(**inputs).last_hidden_state
            mask = inputs["attention_mask"][..., None]
            vectors = ((states * mask).sum(1) / mask.sum(1)).numpy()
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            self.known |= dict(zip(part, vectors, strict=True))

    def rules(self) -> tuple[Rule, ...]:
        """What the encoder makes of a part of the input."""
        return (
            Rule("MiniLM of the premise", self._premise, "vectors", _has_context),
            Rule("MiniLM of the hypothesis", self._hypothesis, "vectors", _is_part),
            Rule("MiniLM of the names", self._names, "vectors", _has_names),
        )

    def texts(self, items: Sequence[Item], about: Benchmark) -> list[str]:
        """All that its rules encode."""
        found: list[str] = []
        for item in items:
            found += names(item, about)
            if _has_context(item):
                found.append(item.context)
            if _is_part(item):
                found.append(item.text)
        return found

    def _premise(self, item: Item, about: Benchmark) -> np.ndarray:
        return self.known[item.context]

    def _hypothesis(self, item: Item, about: Benchmark) -> np.ndarray:
        return self.known[item.text]

    def _names(self, item: Item, about: Benchmark) -> np.ndarray:
        vectors = [self.known[name] for name in names(item, about)]
        if len(vectors) > 1:
            vectors.append(np.abs(vectors[0] - vectors[1]))
        return np.concatenate(vectors)
