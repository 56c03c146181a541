"""Can every item be asked and judged? Ids, labels, choices, empty texts, and counts as claimed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from gnomon.audit.finding import Finding
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
        yield subject.faults(CHECK, kind, numbers, FAULTS[kind])
    yield from _counts(subject)


def _faults(question: Question, ids: Counter[str]) -> Iterator[str]:
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
            check=CHECK,
            part=f"count {where}".rstrip(),
            value=float(found[split]),
            chance=float(claimed),
            alarm=found[split] != claimed,
            says=f"There are {found[split]:,} items {where}".rstrip()
            + f"; {claimed:,} are claimed.",
            n=found[split],
        )
