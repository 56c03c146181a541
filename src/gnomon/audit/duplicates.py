"""Is a question there twice, with two labels, or in two splits?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from msgspec import structs

from gnomon.audit.finding import SHOWN, Finding, share, so_many
from gnomon.audit.sets import AuditItem
from gnomon.audit.subject import Subject
from gnomon.grouped import grouped

DUPLICATES = "duplicates"
Twins = list[list[int]]  # numbers of questions that are the same


def duplicates(subject: Subject) -> Iterator[Finding]:
    """Repeats, conflicting labels, and questions that are in several splits."""
    asked = list(map(_asked, subject.questions))
    same = grouped(range(len(asked)), asked.__getitem__)
    twins = [numbers for numbers in same.values() if len(numbers) > 1]

    further = sum(map(len, twins)) - len(twins)
    yield _twins_finding(subject, "repeats", twins, further, "repeat an earlier one word for word")

    torn = [numbers for numbers in twins if len(_labels(subject, numbers)) > 1]
    both = sum(map(len, torn))
    yield _twins_finding(subject, "conflicts", torn, both, "are asked twice with different right answers")

    if subject.audited.splits is not None:
        split = [numbers for numbers in twins if len(_splits(subject, numbers)) > 1]
        yield _twins_finding(subject, "across splits", split, sum(map(len, split)), "are in two splits")


def _asked(question: AuditItem) -> tuple[object, ...]:
    """What makes a question the same: its words, its picture and what can be answered."""
    texts = [" ".join(text.split()) for text in question.texts]
    return (*texts, question.picture, frozenset(question.choices))


def _labels(subject: Subject, numbers: list[int]) -> set[frozenset[str]]:
    return {frozenset(subject.questions[number].gold) for number in numbers}


def _splits(subject: Subject, numbers: list[int]) -> set[str]:
    return {subject.questions[number].split for number in numbers}


def _twins_finding(subject: Subject, part: str, twins: Twins, count: int, verb: str) -> Finding:
    """So many faults, shown as pairs."""
    behind = list(chain.from_iterable(twins))
    pairs = [subject.audited.example(*numbers[:2]) for numbers in twins[:SHOWN]]
    total = len(subject.questions)
    return structs.replace(
        subject.faults(DUPLICATES, part, behind, verb),
        value=share(count, total),
        says=f"{so_many(count, total)} {verb}.",
        behind=count,
        examples=tuple(pairs),
    )
