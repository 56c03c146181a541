"""Is the set a few sentences, filled again and again? Shapes are texts with rare words masked.

The names of two things that are compared are masked, too: they fill a shape, however frequent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from gnomon.audit.finding import Finding, percent, share
from gnomon.audit.subject import ALL_WORDS, Subject, words_of
from gnomon.measures.columns import Vocabulary

SHAPES = "shapes"
RARE = 0.01  # of the items have a word that is kept
MOST_SHAPED = 0.1  # share of the items that may have a shape with one label
MASKED = "_"


def shapes(subject: Subject) -> Iterator[Finding]:
    """The shapes of each field and of all."""
    if not subject.answers.has_labels:
        yield Finding(check=SHAPES, says="No label recurs, so shapes cannot go with one.")
        return
    fields = list(subject.fields)
    if len(fields) > 1:
        fields.append(ALL_WORDS)
    for field in fields:
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
    names = Vocabulary()
    codes = [names[text] for text in texts]
    return np.array(codes, dtype=np.int64), len(names)


def _expected(sizes: np.ndarray, rates: np.ndarray) -> float:
    """The share of items with one label for their shape, if labels had nothing to do with it."""
    several = sizes[sizes > 1]
    all_alike = (rates[None, :] ** several[:, None]).sum(axis=1)
    return float((several * all_alike).sum() / max(1, sizes.sum()))
