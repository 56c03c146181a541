"""Rules that know nothing of space: what each of them sees of an item.

A rule sees signs (words, pairs of them, characters), numbers (lengths, overlap) or the vector that
an encoder gives a part of the input (`encoder.py`). Most learn, as `heldout.py` says. In sets that
ask which of two things is greater they learn "greater" or "lesser" rather than the label, and see
the two names in that order: "Is a cow smaller than an ant?" counts with "An ant is [MASK] than a
cow".
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np

from gnomon.audit import sources
from gnomon.audit.sets import Compared
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


def words(text: str) -> list[str]:
    """Words in lower case, and the blank."""
    return re.findall(r"[\w']+|\[mask\]", text.lower())


def premise_words(item: Item, about: Benchmark) -> list[str]:
    """Words and pairs of neighbouring words of the premises alone."""
    found = words(item.context)
    return found + neighbours(found)


def neighbours(tokens: Sequence[str]) -> list[str]:
    """Pairs of tokens that stand next to each other."""
    return [f"{one} {two}" for one, two in pairwise(tokens)]


def word_pairs(item: Item, about: Benchmark) -> list[str]:
    """Neighbouring words of premises and text, with the full stops between them."""
    found = []
    for part, text in (("context", item.context), ("text", item.text)):
        tokens = re.findall(r"[\w']+|\[mask\]|[.,;?]", text.lower())
        for pair in neighbours(tokens):
            found.append(f"{part}: {pair}")
    return found


def characters(item: Item, about: Benchmark) -> list[str]:
    """Runs of two to five characters of premises, text and each of the names."""
    found: set[str] = set()
    parts = [item.context, item.text, *names(item, about)]
    for part, text in zip("ct12", parts, strict=False):
        for run in runs_of(f" {text.lower()} "):
            found.add(part + run)
    return sorted(found)


def runs_of(text: str) -> Iterator[str]:
    """The runs of two to five characters of a text."""
    for size in GRAMS:
        for start in range(len(text) - size + 1):
            yield text[start : start + size]


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
    shared = [word for word in after if word in before]
    only_before = set(before) - set(after)
    only_after = set(after) - set(before)
    return [
        len(shared),
        len(shared) / max(1, len(after)),
        len(only_before),
        len(only_after) if before else 0,
        *places_of(shared, before),
        words_in_both(names(item, about)),
    ]


def places_of(shared: Sequence[str], before: Sequence[str]) -> list[float]:
    """Where shared words stand in the premises: first, last and mean place, and if in order."""
    if not shared:
        return [-1, -1 - len(before), -1.0, 0.0]
    first = [before.index(word) for word in shared]
    reverse = before[::-1]
    last = [len(before) - reverse.index(word) for word in shared]
    in_order = sum(one <= two for one, two in pairwise(first))
    return [
        min(first),
        max(last) - len(before),
        float(np.mean(first)),
        in_order / max(1, len(shared) - 1),
    ]


def words_in_both(named: Sequence[str]) -> int:
    """How many words two names share."""
    if len(named) < 2:
        return 0
    return len(set(words(named[0])) & set(words(named[-1])))


def negators(item: Item, about: Benchmark) -> list[float]:
    """Counts of not, never, without ..., and of away, off, out ... in each part."""
    found: list[float] = []
    for text in (item.context, item.text):
        tokens = words(text)
        found.append(sum(map(is_negator, tokens)))
        found.append(sum(word in AWAY for word in tokens))
    return found


def is_negator(word: str) -> bool:
    """Whether a word denies something."""
    return word in NEGATORS or word.endswith("n't")


def names(item: Item, about: Benchmark) -> tuple[str, ...]:
    """What an item is about: two things in the order in which they are compared, or one."""
    compared = comparison(item, about)
    if compared:
        return compared.first, compared.second
    return tuple(item.tags[tag] for tag in tags_of_names(item))


def tags_of_names(item: Item) -> tuple[str, ...]:
    """The tags that hold what an item is about."""
    for tags in NAMES:
        if item.tags.keys() >= set(tags):
            return tags
    return ()


def comparison(item: Item, about: Benchmark) -> Compared | None:
    """How an item of a set of comparisons is put; none in other sets."""
    return sources.comparison(item, about.laws)


def longer_name(items: Sequence[Item], about: Benchmark) -> list[str | None]:
    """Untrained: the thing with the longer name is greater; nothing where they are equally long."""
    found: list[str | None] = []
    for item in items:
        compared = comparison(item, about)
        assert compared is not None
        choice_of = {target: choice for choice, target in compared.targets.items()}
        further = len(compared.first) - len(compared.second)
        if further > 0:
            found.append(choice_of["greater"])
        elif further < 0:
            found.append(choice_of["lesser"])
        else:
            found.append(None)
    return found


def constant(items: Sequence[Item], about: Benchmark) -> list[str | None]:
    """The best constant label for each set of choices, chosen with the labels in sight."""
    counts: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for item in items:
        counts[item.choices].update(item.gold)

    best = {}
    for choices, golds in counts.items():
        best[choices] = golds.most_common(1)[0][0]
    return [best[item.choices] for item in items]


def _always(item: Item) -> bool:
    return True


def has_context(item: Item) -> bool:
    return bool(item.context)


def has_names(item: Item) -> bool:
    return bool(tags_of_names(item))


def is_part(item: Item) -> bool:
    """Whether the text is a part of the question, and not the whole."""
    return bool(item.context or item.images)


LEARNT = (
    Rule("hypothesis only", lambda item, about: hypothesis_words(item), "signs", _always),
    Rule("premise only", premise_words, "signs", has_context),
    Rule("words", lambda item, about: all_words(item), "signs", _always),
    Rule("word pairs", word_pairs, "signs", _always),
    Rule("characters", characters, "signs", _always),
    Rule("word positions", placed_words, "signs", _always),
    Rule("lengths", lengths, "numbers", _always),
    Rule("overlap", overlap, "numbers", _always),
    Rule("negators", negators, "numbers", _always),
)
