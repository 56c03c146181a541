"""Words and shapes of texts that come with one label too often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from gnomon.audit.finding import SHOWN, Finding, share
from gnomon.audit.subject import ALL_WORDS, Signs, Subject, words_of
from gnomon.measures.columns import CodeBook, Floats
from gnomon.reports.words import percent

WORDS = "words"
LEAST_ITEMS = 20  # with a word, before its labels can be called biased
LEAST_GROUPS = 5
FAR = 5.0  # standard errors; of ten thousand words of a sound set none would be so far off
MOST_WORDS = 0.1  # share of the words that may be: some words have to mean something


class Bias(NamedTuple):
    """How far the labels of a word are from those of the set, in standard errors."""

    word: str
    label: str
    z: float
    items: int
    with_label: float  # share


def words(subject: Subject) -> Iterator[Finding]:
    """The words of each field, and of all."""
    if not subject.answers.has_labels:
        yield Finding(check=WORDS, says="No label recurs, so words cannot go with one.")
        return
    for field in subject.fields_and_all:
        yield _finding(subject, field, by_groups=False)
        if _has_groups(subject):
            yield _finding(subject, field, by_groups=True)


def _finding(subject: Subject, field: str, *, by_groups: bool) -> Finding:
    signs = subject.words(field)
    groups = _groups(subject) if by_groups else np.arange(len(subject.answers))
    biases = _biases(subject, signs, groups, LEAST_GROUPS if by_groups else LEAST_ITEMS)
    far = [bias for bias in biases if abs(bias.z) > FAR]
    far.sort(key=lambda bias: (-abs(bias.z), bias.word))
    value = share(len(far), len(biases))
    witnesses = "groups" if by_groups else "items"
    says = (
        f"{len(far):,} of {len(biases):,} words ({_where(field)}) come with one label too often or "
        f"too rarely, by more than {FAR:g} standard errors over {witnesses}"
    )
    if far:
        says += f": {_listed(far)}"
    finding = Finding(
        check=WORDS,
        part=f"{field}, by {witnesses}",
        value=value,
        chance=0.0,
        alarm=value > MOST_WORDS and len(far) > 1,
        says=f"{says}.",
        n=len(biases),
    )
    return subject.about_answers(finding, _items_with(signs, far))


def _where(field: str) -> str:
    return "all of them" if field == ALL_WORDS else f"those of the {field}"


def _has_groups(subject: Subject) -> bool:
    """Whether items have groups; two things that are compared are no group."""
    return subject.audited.has_groups and all(len(one.kin) == 1 for one in subject.answered)


def _groups(subject: Subject) -> np.ndarray:
    names = [question.kin[0] for question in subject.answered]
    _, codes = np.unique(names, return_inverse=True)
    return np.asarray(codes)


def _biases(subject: Subject, signs: Signs, groups: np.ndarray, least: int) -> list[Bias]:
    """The label that is furthest off for each word that is frequent enough."""
    answers = subject.answers
    items = np.bincount(signs.codes, minlength=len(signs.names))
    pair, sign_of = _pairs(signs, groups)
    witnesses = np.bincount(sign_of, minlength=len(signs.names))
    enough = (items >= LEAST_ITEMS) & (witnesses >= least)

    codes, labels = answers.right
    best = np.zeros(len(signs.names))
    label = np.zeros(len(signs.names), dtype=np.int64)
    for target in range(len(labels)):
        z = _deviations(signs, codes == target, pair, sign_of)
        with_target = np.bincount(signs.codes, codes[signs.rows] == target, len(signs.names))
        further = (np.abs(z) > np.abs(best)) & (with_target > 0)
        best = np.where(further, z, best)
        label = np.where(further, target, label)

    with_label = np.bincount(
        signs.codes, weights=codes[signs.rows] == label[signs.codes], minlength=len(signs.names)
    )
    found = []
    for code in np.flatnonzero(enough):
        name = labels[label[code]]
        of_label = float(with_label[code] / items[code])
        found.append(Bias(signs.names[code], name, float(best[code]), int(items[code]), of_label))
    return found


def _pairs(signs: Signs, groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The pair of group and sign of each entry, and the sign of each pair."""
    count = int(groups.max(initial=0)) + 1
    keys, pair = np.unique(signs.codes * count + groups[signs.rows], return_inverse=True)
    return np.asarray(pair), keys // count


def _deviations(
    signs: Signs, labelled: np.ndarray, pair: np.ndarray, sign_of: np.ndarray
) -> Floats:
    """z of one label for each sign: the label's surplus over the error that witnesses show.

    The error is that of a binomial, or what the groups show if that is more.
    """
    rate = labelled.mean()
    surplus = labelled[signs.rows] - rate
    number = len(signs.names)
    total = np.bincount(signs.codes, weights=surplus, minlength=number)
    variance = np.bincount(signs.codes, minlength=number) * rate * (1 - rate)
    if len(sign_of) < len(pair):
        of_pairs = np.bincount(pair, weights=surplus, minlength=len(sign_of))
        of_groups = np.bincount(sign_of, weights=of_pairs**2, minlength=number)
        variance = np.maximum(variance, of_groups)
    return np.asarray(total / np.sqrt(np.maximum(variance, 1e-9)))


def _listed(far: list[Bias]) -> str:
    shown = []
    for bias in far[:SHOWN]:
        shown.append(f"'{bias.word}' is '{bias.label}' in {percent(bias.with_label)}")
    return ", ".join(shown)


def _items_with(signs: Signs, far: list[Bias]) -> np.ndarray:
    """The items that have one of the words, those with the furthest word first."""
    names = [bias.word for bias in far]
    order = {name: place for place, name in enumerate(names)}
    places = np.array([order.get(name, len(names)) for name in signs.names], dtype=np.int64)
    best = np.full(len(signs), len(names))
    np.minimum.at(best, signs.rows, places[signs.codes])
    having = np.flatnonzero(best < len(names))
    return having[np.argsort(best[having], kind="stable")]


# Is the set a few sentences, filled again and again? Shapes are texts with rare words masked.
#
# The names of two things that are compared are masked, too: they fill a shape, however frequent.


SHAPES = "shapes"
RARE = 0.01  # of the items have a word that is kept
MOST_SHAPED = 0.1  # share of the items that may have a shape with one label
MASKED = "_"


def shapes(subject: Subject) -> Iterator[Finding]:
    """The shapes of each field and of all."""
    if not subject.answers.has_labels:
        yield Finding(check=SHAPES, says="No label recurs, so shapes cannot go with one.")
        return
    for field in subject.fields_and_all:
        yield _shape_finding(subject, field)


def shapes_of(texts: Sequence[str]) -> list[str]:
    """Each text with its rare words masked; what stands for a name is masked already.

    >>> shapes_of(["Ann sits", "Bob sits"] * 100 + ["Eve sits"])[-1]
    '_ sits'
    """
    uses: Counter[str] = Counter()
    for text, times in Counter(texts).items():
        for word in set(words_of(text)):
            uses[word] += times
    least = RARE * len(texts)
    known: dict[str, str] = {}
    for text in texts:
        if text not in known:
            kept = [word if uses[word] >= least else MASKED for word in words_of(text)]
            known[text] = " ".join(kept)
    return [known[text] for text in texts]


def _without_names(subject: Subject, field: str) -> list[str]:
    found = []
    for question, text in zip(subject.answered, subject.texts(field), strict=True):
        for name in question.things:
            text = text.replace(name, MASKED)
        found.append(text)
    return found


def _shape_finding(subject: Subject, field: str) -> Finding:
    labels, names = subject.answers.right
    shape_of, shapes = _coded(shapes_of(_without_names(subject, field)))
    counts = np.zeros((shapes, len(names)), dtype=np.int64)
    np.add.at(counts, (shape_of, labels), 1)
    sizes = counts.sum(axis=1)
    single = (sizes > 1) & (counts.max(axis=1) == sizes)
    behind = np.flatnonzero(single[shape_of])

    total = len(labels)
    value, chance = share(len(behind), total), _expected(sizes, counts.sum(axis=0) / total)
    finding = Finding(
        check=SHAPES,
        part=field,
        value=value,
        chance=chance,
        alarm=value > chance + MOST_SHAPED,
        says=(
            f"With rare words masked, {total:,} items have {shapes:,} shapes ({field}); "
            f"{percent(value)} of the items have a shape that always has the same label, where "
            f"{percent(chance)} would by chance."
        ),
        n=total,
    )
    largest_first = np.argsort(-sizes[shape_of[behind]], kind="stable")
    return subject.about_answers(finding, behind[largest_first])


def _coded(texts: list[str]) -> tuple[np.ndarray, int]:
    """A number for each different text, and how many there are."""
    names = CodeBook()
    codes = [names[text] for text in texts]
    return np.array(codes, dtype=np.int64), len(names)


def _expected(sizes: np.ndarray, rates: np.ndarray) -> float:
    """The share of items with one label for their shape, if labels had nothing to do with it."""
    several = sizes[sizes > 1]
    all_alike = (rates[None, :] ** several[:, None]).sum(axis=1)
    return float((several * all_alike).sum() / max(1, sizes.sum()))
