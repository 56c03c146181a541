"""Do the labels follow? Premises and hypothesis that can be read as facts are given to the prover.

A label is held against two readings of directions, as half-spaces and as lines. One that holds in
neither is an alarm; one that holds in one only hangs on a reading.
"""

from __future__ import annotations

from collections.abc import Iterator

from gnomon.audit.clauses import Use, clauses
from gnomon.audit.finding import SHOWN, Example, Finding, percent, share
from gnomon.audit.questions import Question
from gnomon.audit.subject import Subject
from gnomon.errors import MissingExtraError

CHECK = "proof"
READINGS: tuple[Use, ...] = ("loosely", "directly")
VERDICTS = {"entailment", "contradiction", "neutral"}
Verdicts = dict[Use, str]


def proof(subject: Subject) -> Iterator[Finding]:
    """Labels that hold in no reading, in some, and in all."""
    try:
        proved = dict(_proved(subject))
    except MissingExtraError as error:
        yield Finding(check=CHECK, says=f"{error.message} {error.hint}")
        return
    if not proved:
        says = "No premises and hypothesis are plain sentences about where two things are."
        yield Finding(check=CHECK, says=says)
        return
    held = {number: _held(subject.questions[number], found) for number, found in proved.items()}
    for part, counts in (
        ("no reading", range(1)),
        ("some readings", range(1, len(READINGS))),
        ("every reading", range(len(READINGS), len(READINGS) + 1)),
    ):
        numbers = [number for number, times in held.items() if times in counts]
        yield _finding(subject, part, numbers, proved)


def _proved(subject: Subject) -> Iterator[tuple[int, Verdicts]]:
    """The verdict in each reading, for every question that can be read."""
    for number, question in enumerate(subject.questions):
        if not VERDICTS.issuperset(question.choices) or len(question.texts) < 2:
            continue
        *contexts, claim = question.texts
        found = verdicts(" ".join(contexts), claim)
        if found:
            yield number, found


def verdicts(premises: str, claim: str) -> Verdicts:
    """What premises make of a claim in each reading; empty if they cannot be read."""
    from gnomon.audit.proving import shapes_of, verdict

    given, said = clauses(premises), clauses(claim)
    found: Verdicts = {}
    if not given or len(said) != 1:
        return found
    for reading in READINGS:
        shapes = shapes_of([*given, *said], reading)
        if shapes is None:
            return {}
        found[reading] = verdict(shapes)
    return found


def _held(question: Question, found: Verdicts) -> int:
    """In how many readings the label is right."""
    return sum(verdict in question.gold for verdict in found.values())


def _finding(
    subject: Subject, part: str, numbers: list[int], proved: dict[int, Verdicts]
) -> Finding:
    value = share(len(numbers), len(proved))
    says = (
        f"{len(numbers):,} of {len(proved):,} labels that can be proved ({percent(value)}) hold in "
        f"{part}"
    )
    if part == "no reading" and numbers:
        says += f": {_by_group(subject, numbers)}"
    unread = len(subject.questions) - len(proved)
    return Finding(
        check=CHECK,
        part=part,
        value=value,
        chance=0.0 if part == "no reading" else None,
        alarm=part == "no reading" and bool(numbers),
        says=f"{says}. {unread:,} items cannot be read.",
        n=len(proved),
        behind=len(numbers),
        items=subject.ids(numbers),
        examples=_examples(subject, numbers, proved) if part != "every reading" else (),
    )


def _by_group(subject: Subject, numbers: list[int]) -> str:
    """How many of each group, the largest first."""
    counts: dict[str, int] = {}
    for number in numbers:
        group = subject.questions[number].group or "no group"
        counts[group] = counts.get(group, 0) + 1
    largest = sorted(counts, key=lambda group: (-counts[group], group))
    return ", ".join(f"{counts[group]:,} of {group}" for group in largest[:SHOWN])


def _examples(
    subject: Subject, numbers: list[int], proved: dict[int, Verdicts]
) -> tuple[Example, ...]:
    """One of each group, with what is proved."""
    shown: dict[str, int] = {}
    for number in numbers:
        shown.setdefault(subject.questions[number].group, number)
    found = []
    for number in list(shown.values())[:SHOWN]:
        plain = subject.audited.example(number)
        said = ", ".join(f"{reading} {verdict}" for reading, verdict in proved[number].items())
        found.append(Example(ids=plain.ids, text=f"{plain.text} (proved: {said})"))
    return tuple(found)
