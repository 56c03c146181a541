"""Do the labels follow? Premises and hypothesis that can be read as facts are given to the prover.

A label is held against two readings of directions, as half-spaces and as lines. One that holds in
neither is an alarm; one that holds in one only hangs on a reading.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from msgspec import structs

from gnomon.audit.clauses import clauses
from gnomon.audit.finding import SHOWN, Example, Finding, percent, share
from gnomon.audit.subject import Subject
from gnomon.errors import MissingExtraError
from gnomon.lexicon.relations import Use

PROOF = "proof"
READINGS: tuple[Use, ...] = ("loosely", "directly")
PARTS = ("no reading", "some readings", "every reading")
VERDICTS = {"entailment", "contradiction", "neutral"}
Verdicts = dict[Use, str]


def proof(subject: Subject) -> Iterator[Finding]:
    """Labels that hold in no reading, in some, and in all."""
    try:
        proved = dict(_proved(subject))
    except MissingExtraError as error:
        yield Finding(check=PROOF, says=f"{error.message} {error.hint}")
        return
    if not proved:
        says = "No premises and hypothesis are plain sentences about where two things are."
        yield Finding(check=PROOF, says=says)
        return
    held: dict[str, list[int]] = {part: [] for part in PARTS}
    for number, found in proved.items():
        right = [verdict in subject.questions[number].gold for verdict in found.values()]
        held[_part(right)].append(number)
    for part, numbers in held.items():
        yield _reading_finding(subject, part, numbers, proved)


def _part(right: list[bool]) -> str:
    """Whether a label is right in all readings, in some or in none."""
    none, some, every = PARTS
    if all(right):
        return every
    return some if any(right) else none


def _proved(subject: Subject) -> Iterator[tuple[int, Verdicts]]:
    """The verdict in each reading, for every question that can be read."""
    for number, question in enumerate(subject.questions):
        if not VERDICTS.issuperset(question.choices):
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


def _reading_finding(
    subject: Subject, part: str, numbers: list[int], proved: dict[int, Verdicts]
) -> Finding:
    value = share(len(numbers), len(proved))
    unread = len(subject.questions) - len(proved)
    says = (
        f"{len(numbers):,} of {len(proved):,} labels that can be proved ({percent(value)}) hold in "
        f"{part}"
    )
    by_group = Counter(subject.questions[number].group or "no group" for number in numbers)
    wrong = part == PARTS[0] and bool(numbers)
    if wrong:
        listed = [f"{times:,} of {group}" for group, times in by_group.most_common(SHOWN)]
        says += f": {', '.join(listed)}"
    finding = Finding(
        check=PROOF,
        part=part,
        value=value,
        alarm=wrong,
        says=f"{says}. {unread:,} items cannot be read.",
        n=len(proved),
    )
    shown = _examples(subject, numbers, proved)
    return structs.replace(subject.about(finding, numbers), examples=shown)


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
