"""Is a question there twice, with two labels, or in two splits?"""

from __future__ import annotations

from collections.abc import Iterator

from gnomon.audit.finding import SHOWN, Finding, share
from gnomon.audit.questions import Question
from gnomon.audit.subject import Subject

CHECK = "duplicates"
Twins = list[list[int]]  # numbers of questions that are the same


def duplicates(subject: Subject) -> Iterator[Finding]:
    """Repeats, conflicting labels, and questions that are in several splits."""
    same: dict[tuple[object, ...], list[int]] = {}
    for number, question in enumerate(subject.questions):
        same.setdefault(_asked(question), []).append(number)
    twins = [numbers for numbers in same.values() if len(numbers) > 1]

    further = sum(map(len, twins)) - len(twins)
    yield _finding(subject, "repeats", twins, further, "repeat an earlier one word for word")

    torn = [numbers for numbers in twins if _several(subject, numbers, "gold")]
    both = sum(map(len, torn))
    yield _finding(subject, "conflicts", torn, both, "are asked twice with different right answers")

    if subject.audited.splits is not None:
        split = [numbers for numbers in twins if _several(subject, numbers, "split")]
        yield _finding(subject, "across splits", split, sum(map(len, split)), "are in two splits")


def _asked(question: Question) -> tuple[object, ...]:
    """What makes a question the same: its words, its picture and what can be answered."""
    texts = tuple(" ".join(text.split()) for text in question.texts)
    return (*texts, question.picture, frozenset(question.choices))


def _several(subject: Subject, numbers: list[int], what: str) -> bool:
    values = set()
    for number in numbers:
        value = getattr(subject.questions[number], what)
        values.add(tuple(sorted(value)) if what == "gold" else value)
    return len(values) > 1


def _finding(subject: Subject, part: str, twins: Twins, count: int, verb: str) -> Finding:
    total = len(subject.questions)
    behind = [number for numbers in twins for number in numbers]
    how_many = f"{count:,} of {total:,} items" if count else f"None of {total:,} items"
    return Finding(
        check=CHECK,
        part=part,
        value=share(count, total),
        chance=0.0,
        alarm=count > 0,
        says=f"{how_many} {verb}.",
        n=total,
        behind=count,
        items=subject.ids(behind),
        examples=tuple(subject.audited.example(*numbers[:2]) for numbers in twins[:SHOWN]),
    )
