"""Faults of single items: ids, labels, choices, texts, counts, and items that are there twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain

from msgspec import structs

from gnomon.audit.finding import SHOWN, Finding, fault, share, so_many
from gnomon.audit.sets import AuditItem
from gnomon.audit.subject import Subject
from gnomon.grouped import grouped
from gnomon.records import WRITTEN, problem

INTEGRITY = "integrity"
FAULTS = {
    "ids": "have no id, or the id of another item",
    "gold": "have no right answer, or one that is not among the choices",
    "choices": "have fewer than two choices, or the same choice twice",
    "texts": "have no text",
}
NO_PICTURE = "have no picture, though most others have one"
FEW = 1 / 3  # a larger part of a set may be asked without pictures on purpose


def integrity(subject: Subject) -> Iterator[Finding]:
    """One finding for each kind of fault, and one for each count that was claimed."""
    ids = Counter(question.id for question in subject.questions)
    faulty: dict[str, list[int]] = {kind: [] for kind in FAULTS}
    for number, question in enumerate(subject.questions):
        for kind in _faults(question, ids):
            faulty[kind].append(number)
    for kind, numbers in faulty.items():
        yield subject.faults(INTEGRITY, kind, numbers, FAULTS[kind])
    if bare := _without_picture(subject):
        yield subject.faults(INTEGRITY, "pictures", bare, NO_PICTURE)
    if subject.audited.unasked:
        yield _rows(subject)
    yield from _counts(subject)


def _rows(subject: Subject) -> Finding:
    """Rows of a file that are no items at all."""
    unasked = subject.audited.unasked
    rows = subject.audited.total + len(unasked)
    listed = "; ".join(unasked[:SHOWN])
    says = f"{len(unasked):,} of {rows:,} rows cannot be asked: {listed}."
    finding = fault(INTEGRITY, "rows", len(unasked), rows, says)
    return structs.replace(finding, behind=len(unasked))


def _faults(question: AuditItem, ids: Counter[str]) -> Iterator[str]:
    choices, gold = set(question.choices), set(question.gold)
    if not question.id or ids[question.id] > 1:
        yield "ids"
    if question.is_prompt:
        yield from _no_texts(question)
        return
    if question.item.form in WRITTEN:
        wrong = not gold or problem(question.item)
        if wrong and question.id:
            yield "gold"
    elif not gold or not gold <= choices:
        yield "gold"
    if question.item.form not in WRITTEN and len(choices) < max(2, len(question.choices)):
        yield "choices"
    yield from _no_texts(question)


def _no_texts(question: AuditItem) -> Iterator[str]:
    """An item with words nowhere and no picture."""
    words = [*question.texts, question.picture]
    if not "".join(words).strip():
        yield "texts"


def _without_picture(subject: Subject) -> list[int]:
    """The questions that lack a picture, if they are few."""
    bare = [number for number, asked in enumerate(subject.questions) if not asked.picture]
    return bare if len(bare) <= len(subject.questions) * FEW else []


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


# Is a question there twice, with two labels, or in two splits?


DUPLICATES = "duplicates"
Twins = list[list[int]]  # numbers of questions that are the same


def duplicates(subject: Subject) -> Iterator[Finding]:
    """Repeats, conflicting labels, and questions that are in several splits."""
    twins = same_questions(subject)
    further = sum(map(len, twins)) - len(twins)
    yield _twins_finding(subject, "repeats", twins, further, "repeat an earlier one word for word")

    torn = [numbers for numbers in twins if len(_labels(subject, numbers)) > 1]
    both = sum(map(len, torn))
    yield _twins_finding(
        subject, "conflicts", torn, both, "are asked twice with different right answers"
    )

    if subject.audited.splits is not None:
        split = [numbers for numbers in twins if len(_splits(subject, numbers)) > 1]
        yield _twins_finding(
            subject, "across splits", split, sum(map(len, split)), "are in two splits"
        )


def same_questions(subject: Subject) -> Twins:
    """The questions that are there more than once."""
    asked = list(map(_asked, subject.questions))
    same = grouped(range(len(asked)), asked.__getitem__)
    return [numbers for numbers in same.values() if len(numbers) > 1]


def _asked(question: AuditItem) -> tuple[object, ...]:
    """What makes a question the same: its words, its picture and what can be answered."""
    texts = [" ".join(text.split()) for text in question.texts]
    return (*texts, question.picture, frozenset(question.choices))


def _labels(subject: Subject, numbers: list[int]) -> set[frozenset[str]]:
    return {frozenset(subject.questions[number].gold) for number in numbers}


def _splits(subject: Subject, numbers: list[int]) -> set[str]:
    return {subject.questions[number].split for number in numbers}


def _pair(subject: Subject, part: str, numbers: list[int]) -> tuple[int, int]:
    """Two of the same questions: where they differ in labels or splits, two that do."""
    first, second = numbers[:2]
    for number in numbers[1:]:
        pair = [first, number]
        if part == "conflicts" and len(_labels(subject, pair)) > 1:
            return first, number
        if part == "across splits" and len(_splits(subject, pair)) > 1:
            return first, number
    return first, second


def _twins_finding(subject: Subject, part: str, twins: Twins, count: int, verb: str) -> Finding:
    """So many faults, shown as pairs."""
    behind = list(chain.from_iterable(twins))
    pairs = [subject.audited.example(*_pair(subject, part, numbers)) for numbers in twins[:SHOWN]]
    total = len(subject.questions)
    return structs.replace(
        subject.faults(DUPLICATES, part, behind, verb),
        value=share(count, total),
        says=f"{so_many(count, total)} {verb}.",
        behind=count,
        examples=tuple(pairs),
    )
