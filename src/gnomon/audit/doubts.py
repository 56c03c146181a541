"""Which labels do people doubt? What was marked in the viewer, and how many runs got it wrong."""

from __future__ import annotations

from collections.abc import Iterator

from gnomon.audit.finding import LISTED, Finding, share, so_many
from gnomon.audit.sets import Doubted
from gnomon.audit.subject import Subject

DOUBTS = "doubts"


def doubts(subject: Subject) -> Iterator[Finding]:
    """How many items are marked, and a finding for each: those that most runs get wrong first."""
    marks = subject.audited.marks
    if marks is None:
        says = "No runs are given whose marks in the viewer could be read (--runs DIR)."
        yield Finding(check=DOUBTS, says=says)
        return
    marked = _marked(subject)
    total = len(subject.questions)
    says = f"{so_many(len(marked), total)} are marked as doubtful in the viewer."
    if marks > len(marked):
        says += f" Marks on items that are not in this set: {marks - len(marked):,}."
    finding = Finding(
        check=DOUBTS, part="marked", value=share(len(marked), total), says=says, n=total
    )
    yield subject.about(finding, list(marked))
    for number in list(marked)[:LISTED]:
        yield _doubt_finding(subject, number, marked[number])


def _marked(subject: Subject) -> dict[int, Doubted]:
    """The items that are marked; those that the largest share of runs gets wrong first."""
    found = {}
    for number, question in enumerate(subject.questions):
        if question.doubted is not None:
            found[number] = question.doubted

    def right(number: int) -> float:
        doubted = found[number]
        return 1 - share(doubted.wrong, doubted.asked)

    return {number: found[number] for number in sorted(found, key=right)}


def _doubt_finding(subject: Subject, number: int, doubted: Doubted) -> Finding:
    says = ["The label is marked as doubtful."]
    if doubted.comments:
        says = [f"The label is doubted: {' / '.join(doubted.comments)}"]
    if doubted.asked:
        says.append(f"{so_many(doubted.wrong, doubted.asked, 'runs')} got it wrong.")
    finding = Finding(
        check=DOUBTS,
        part=subject.questions[number].id,
        value=share(doubted.wrong, doubted.asked),
        alarm=True,
        says=" ".join(says),
        n=doubted.asked,
    )
    return subject.about(finding, [number])
