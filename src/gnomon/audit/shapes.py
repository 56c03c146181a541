"""Is the set a few sentences, filled again and again? Shapes are texts with rare words masked.

The names of two things that are compared are masked, too: they fill a shape, however frequent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from gnomon.audit.finding import SHOWN, Finding, percent, share
from gnomon.audit.signs import words_of
from gnomon.audit.subject import ALL_WORDS, Subject

CHECK = "shapes"
RARE = 0.01  # of the items have a word that is kept
MOST = 0.1  # share of the items that may have a shape with one label
MASK = "_"


def shapes(subject: Subject) -> Iterator[Finding]:
    """The shapes of each field and of all."""
    if not subject.answers.has_labels:
        yield Finding(check=CHECK, says="Each item has choices of its own: no label recurs.")
        return
    fields = list(subject.fields)
    if len(fields) > 1:
        fields.append(ALL_WORDS)
    for field in fields:
        yield _finding(subject, field)


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
            kept = [word if uses[word] >= least else MASK for word in words_of(text)]
            known[text] = " ".join(kept)
    return [known[text] for text in texts]


def _without_names(subject: Subject, field: str) -> list[str]:
    found = []
    for question, text in zip(subject.answered, subject.texts(field), strict=True):
        if question.compared:
            for name in (question.compared.first, question.compared.second):
                text = text.replace(name, MASK)
        found.append(text)
    return found


def _finding(subject: Subject, field: str) -> Finding:
    members: dict[str, list[int]] = {}
    for row, shape in enumerate(shapes_of(_without_names(subject, field))):
        members.setdefault(shape, []).append(row)
    golds = subject.answers.right[0].tolist()
    frequencies = Counter(golds)

    total = len(golds)
    single: list[list[int]] = []
    expected = 0.0
    for rows in members.values():
        if len(rows) < 2:
            continue
        if len({golds[row] for row in rows}) == 1:
            single.append(rows)
        for times in frequencies.values():
            expected += len(rows) * (times / total) ** len(rows)
    single.sort(key=len, reverse=True)
    behind = [row for rows in single for row in rows]
    value, chance = share(len(behind), total), expected / max(1, total)
    where = "all texts" if field == ALL_WORDS else f"the {field}"
    return Finding(
        check=CHECK,
        part=field,
        value=value,
        chance=chance,
        alarm=value > chance + MOST,
        says=(
            f"With rare words masked, {where} of {total:,} items have {len(members):,} shapes; "
            f"{percent(value)} of the items have a shape that always has the same label, where "
            f"{percent(chance)} would by chance."
        ),
        n=total,
        behind=len(behind),
        items=subject.ids(subject.answers.rows[behind]),
        examples=tuple(subject.example(rows[0]) for rows in single[:SHOWN]),
    )
