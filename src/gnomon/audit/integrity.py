"""Can every item be asked and judged? Ids, labels, choices, empty texts, and counts as claimed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from gnomon.audit.finding import SHOWN, Finding, share
from gnomon.audit.questions import Question
from gnomon.audit.subject import Subject

CHECK = "integrity"
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
        yield _finding(subject, kind, numbers)
    yield from _counts(subject)


def _faults(question: Question, ids: Counter[str]) -> Iterator[str]:
    if not question.id or ids[question.id] > 1:
        yield "ids"
    gold = set(question.gold)
    if not gold or not gold <= set(question.choices):
        yield "gold"
    if len(question.choices) < 2 or len(set(question.choices)) < len(question.choices):
        yield "choices"
    if not any(map(str.strip, question.texts)) and not question.picture:
        yield "texts"


def _finding(subject: Subject, kind: str, numbers: list[int]) -> Finding:
    total = len(subject.questions)
    count = f"{len(numbers):,} of {total:,} items" if numbers else f"None of {total:,} items"
    return Finding(
        check=CHECK,
        part=kind,
        value=share(len(numbers), total),
        chance=0.0,
        alarm=bool(numbers),
        says=f"{count} {FAULTS[kind]}.",
        n=total,
        behind=len(numbers),
        items=subject.ids(numbers),
        examples=tuple(subject.audited.example(number) for number in numbers[:SHOWN]),
    )


def _counts(subject: Subject) -> Iterator[Finding]:
    """Whether there are as many items as somebody says."""
    audited = subject.audited
    found = Counter(question.split for question in subject.questions)
    for split, claimed in audited.claimed.items():
        there = found[split] if split else audited.total or len(audited)
        where = f" of {split}" if split else ""
        yield Finding(
            check=CHECK,
            part=f"count{where}",
            value=float(there),
            chance=float(claimed),
            alarm=there != claimed,
            says=f"There are {there:,} items{where}; {claimed:,} are claimed.",
            n=there,
        )
