"""Can every item be asked and judged? Ids, labels, choices, empty texts, and counts as claimed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from gnomon.audit.finding import SHOWN, Finding, share
from gnomon.audit.sets import AuditItem
from gnomon.audit.subject import Subject

INTEGRITY = "integrity"
FAULTS = {
    "ids": "have no id, or the id of another item",
    "gold": "have no right answer, or one that is not among the choices",
    "choices": "have fewer than two choices, or the same choice twice",
    "texts": "have no text",
}


def integrity(subject: Subject) -> Iterator[Finding]:
    """One finding for each kind of fault, and one for each count that was claimed."""
    ids = Counter(question.id for question in subject.questions)
    faulty: dict[str, list[int]] = {kind: [] for kind in FAULTS}
    for number, question in enumerate(subject.questions):
        for kind in _faults(question, ids):
            faulty[kind].append(number)
    for kind, numbers in faulty.items():
        yield subject.faults(INTEGRITY, kind, numbers, FAULTS[kind])
    if subject.audited.unasked:
        yield _rows(subject)
    yield from _counts(subject)


def _rows(subject: Subject) -> Finding:
    """Rows of a file that are no items at all."""
    unasked = subject.audited.unasked
    rows = subject.audited.total + len(unasked)
    listed = "; ".join(unasked[:SHOWN])
    return Finding(
        check=INTEGRITY,
        part="rows",
        value=share(len(unasked), rows),
        chance=0.0,
        alarm=True,
        says=f"{len(unasked):,} of {rows:,} rows cannot be asked: {listed}.",
        n=rows,
        behind=len(unasked),
    )


def _faults(question: AuditItem, ids: Counter[str]) -> Iterator[str]:
    choices, gold = set(question.choices), set(question.gold)
    if not question.id or ids[question.id] > 1:
        yield "ids"
    if not gold or not gold <= choices:
        yield "gold"
    if len(choices) < max(2, len(question.choices)):
        yield "choices"
    if not "".join([*question.texts, question.picture]).strip():
        yield "texts"


def _counts(subject: Subject) -> Iterator[Finding]:
    """Whether there are as many items as somebody says, in all and of each split."""
    audited = subject.audited
    found = Counter(question.split for question in subject.questions)
    found[""] = audited.total or len(audited)
    for split, claimed in audited.claimed.items():
        where = f"of {split}".removesuffix("of ").rstrip()
        yield Finding(
            check=INTEGRITY,
            part=f"count {where}".rstrip(),
            value=float(found[split]),
            chance=float(claimed),
            alarm=found[split] != claimed,
            says=f"There are {found[split]:,} items {where}".rstrip()
            + f"; {claimed:,} are claimed.",
            n=found[split],
        )
