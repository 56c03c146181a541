"""Words and shapes of texts that come with one label too often."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from gnomon.audit.finding import LEVEL, SHOWN, TINY, Finding, share
from gnomon.audit.learning import LabelRates
from gnomon.audit.partialinput import tried_against_rates
from gnomon.audit.subject import ALL_WORDS, Signs, Subject, words_of
from gnomon.measures.columns import CodeBook, Floats
from gnomon.reports.words import percent

WORDS = "words"
LEAST_ITEMS = 20  # with a word, before its labels can be called biased
LEAST_GROUPS = 5
MOST_DECIDED = 0.01  # share of the items that a word may decide beyond what is expected


class Bias(NamedTuple):
    """How far the labels of a word are from what the offers beside it let expect."""

    word: str
    label: str
    items: int
    with_label: float  # share
    decided: float  # items that have the label beyond what is expected, or lack it
    p: float


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
    tests = 2 * len(biases) * len(subject.answers.targets)  # each label too often, or too rarely
    far = [bias for bias in biases if bias.p * tests <= LEVEL]
    far.sort(key=lambda bias: (bias.p, -bias.decided, bias.word))
    matters = any(bias.decided > MOST_DECIDED * len(subject.answers) for bias in far)
    lucky = min([1.0, *(bias.p * tests for bias in biases)])
    having = _items_with(signs, far)
    witnesses = "groups" if by_groups else "items"
    says = (
        f"{len(far):,} of {len(biases):,} words ({_where(field)}) come with one label more often "
        f"or more rarely than what is offered lets expect, over {witnesses}; they stand in "
        f"{percent(share(len(having), len(subject.answers)))} of the items"
    )
    if far:
        says += f": {_listed(far)}"
    finding = Finding(
        check=WORDS,
        part=f"{field}, by {witnesses}",
        value=share(len(far), len(biases)),
        chance=0.0,
        p=lucky,
        alarm=matters,
        says=f"{says}.",
        n=len(biases),
    )
    return subject.about_answers(finding, having)


def _where(field: str) -> str:
    return "all of them" if field == ALL_WORDS else f"those of the {field}"


def _has_groups(subject: Subject) -> bool:
    """Whether items have groups; two things that are compared are no group."""
    audited = subject.audited
    return audited.has_groups and all(len(kin) == 1 for kin in audited.kin)


def _groups(subject: Subject) -> np.ndarray:
    names = [subject.audited.kin[row][0] for row in subject.answers.rows]
    _, codes = np.unique(names, return_inverse=True)
    return np.asarray(codes)


def _biases(subject: Subject, signs: Signs, groups: np.ndarray, least: int) -> list[Bias]:
    """The label that is furthest off for each word that is frequent enough."""
    answers = subject.answers
    number = len(signs.names)
    items = np.bincount(signs.codes, minlength=number)
    pair, sign_of = _pairs(signs, groups)
    witnesses = np.bincount(sign_of, minlength=number)
    enough = np.flatnonzero((items >= LEAST_ITEMS) & (witnesses >= least))

    best = np.ones(number)
    label = np.zeros(number, dtype=np.int64)
    decided = np.zeros(number)
    share_with = np.zeros(number)
    row, place = np.nonzero(answers.choices >= 0)
    for target in range(len(answers.targets)):
        expected = np.zeros(len(answers))
        mine = answers.choices[row, place] == target
        expected[row[mine]] = answers.expected[row[mine], place[mine]]
        right = answers.votes[:, target]
        surplus = (right - expected)[signs.rows]
        total = np.bincount(signs.codes, weights=surplus, minlength=number)
        mean = np.bincount(signs.codes, weights=expected[signs.rows], minlength=number)
        of_pairs = np.bincount(pair, weights=surplus, minlength=len(sign_of))
        spread = np.bincount(sign_of, weights=of_pairs**2, minlength=number)
        luck = _luck(total, mean, items, spread, witnesses)
        with_target = np.bincount(signs.codes, weights=right[signs.rows], minlength=number)
        further = luck < best
        best = np.where(further, luck, best)
        label = np.where(further, target, label)
        decided = np.where(further, np.abs(total), decided)
        share_with = np.where(further, with_target / np.maximum(items, 1), share_with)

    found = []
    for code in enough:
        name = answers.targets[label[code]]
        figures = float(share_with[code]), float(decided[code]), float(best[code])
        found.append(Bias(signs.names[code], name, int(items[code]), *figures))
    return found


def _pairs(signs: Signs, groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The pair of group and sign of each entry, and the sign of each pair."""
    count = int(groups.max(initial=0)) + 1
    keys, pair = np.unique(signs.codes * count + groups[signs.rows], return_inverse=True)
    return np.asarray(pair).reshape(-1), keys // count


def _luck(
    total: np.ndarray,
    mean: np.ndarray,
    items: np.ndarray,
    spread: np.ndarray,
    witnesses: np.ndarray,
) -> Floats:
    """At most how likely labels go with a word so often, or so rarely, where only offers matter.

    Chernoff's bound for a binomial; items of groups that go together count as fewer, and there are
    never more independent ones than witnesses.
    """
    items = np.maximum(items, 1)
    rate = np.clip(mean / items, TINY, 1 - TINY)
    binomial = items * rate * (1 - rate)
    count = items * np.minimum(1.0, binomial / np.maximum(spread, TINY))
    count = np.where(spread > binomial, np.minimum(count, witnesses), count)
    seen = np.clip(rate + total / items, 0.0, 1.0)
    above = seen * np.log(np.maximum(seen, TINY) / rate)
    below = (1 - seen) * np.log(np.maximum(1 - seen, TINY) / (1 - rate))
    return np.asarray(np.exp(-count * (above + below)))


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
    off, _ = tried_against_rates(subject, LabelRates(subject.answers, shape_of), "at random")
    finding = Finding(
        check=SHAPES,
        part=field,
        value=value,
        chance=chance,
        p=off.p,
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
