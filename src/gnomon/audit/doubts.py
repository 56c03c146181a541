"""What people say against labels: their votes, and the marks that they set in the viewer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from gnomon.audit.finding import LISTED, SHOWN, Finding, share, so_many
from gnomon.audit.sets import AuditSet, Doubted
from gnomon.audit.subject import Subject
from gnomon.forms import is_right
from gnomon.grouped import grouped
from gnomon.records import digest
from gnomon.reports.words import percent
from gnomon.runs import Run, wording_of

# The marks "label doubtful" that people set in the viewer: read from runs, put to the questions.
#
# A mark is on an item of a run, by its id and its words. In a file that has no ids it is found by
# the words alone, if only one question has them.


class Mark(NamedTuple):
    """An item that people marked: its id and a digest of its words."""

    item: str
    wording: str


def with_marks(audited: AuditSet, runs: Sequence[Run]) -> AuditSet:
    """The set with what people marked beside these runs, and how the runs did on that."""
    marked = comments_on(runs)
    places = _places(audited, {mark.wording for mark in marked})
    questions = list(audited.questions)
    for mark, comments in marked.items():
        number = _place(mark, places)
        if number is not None:
            wrong, asked = _wrong(mark, runs)
            doubted = Doubted(tuple(comments), wrong, asked)
            questions[number] = questions[number]._replace(doubted=doubted)
    return replace(audited, questions=questions, marks=len(marked))


def comments_on(runs: Iterable[Run]) -> dict[Mark, list[str]]:
    """What was written to each mark, most often nothing; each comment once."""
    found: dict[Mark, list[str]] = {}
    for run in runs:
        for doubt in run.notes.doubts.values():
            comments = found.setdefault(Mark(doubt.item, doubt.wording), [])
            if doubt.comment and doubt.comment not in comments:
                comments.append(doubt.comment)
    return found


Places = dict[str, dict[str, int]]  # the questions with some words, by their ids


def _places(audited: AuditSet, wordings: set[str]) -> Places:
    found: Places = {}
    for number, question in enumerate(audited.questions):
        wording = digest(*_context_and_text(audited, question.texts))
        if wording in wordings:
            found.setdefault(wording, {})[question.id] = number
    return found


def _context_and_text(audited: AuditSet, texts: Sequence[str]) -> tuple[str, str]:
    """What stands before the question, and the question, each of several fields in one."""
    before: list[str] = []
    asked: list[str] = []
    for field, text in zip(audited.fields, texts, strict=True):
        part = before if field in audited.contexts else asked
        part.append(text)
    return " ".join(before), " ".join(asked)


def _place(mark: Mark, places: Places) -> int | None:
    same_words = places.get(mark.wording, {})
    if mark.item in same_words:
        return same_words[mark.item]
    if len(same_words) == 1:
        return next(iter(same_words.values()))
    return None


def _wrong(mark: Mark, runs: Iterable[Run]) -> tuple[int, int]:
    """How many runs got an item wrong, of how many that were asked it."""
    wrong = asked = 0
    for run in runs:
        item, answer = run.row(mark.item) or (None, None)
        if item is None or answer is None or wording_of(item) != mark.wording:
            continue
        asked += 1
        wrong += not is_right(item, answer.choice)
    return wrong, asked


# Do people agree with the labels? Votes against them, by tag, and labels that lost the vote.


DISPUTES = "disputes"
# share of the items that may have a vote, or most votes, against their label
MOST_DISPUTED = {"dissent": 0.1, "majority": 0.0}
OF_VOTES = ("dissent", "split")  # tags that say nothing about what is asked
LEAST_ITEMS = 60  # of a tag's value, before it is called disputed


def disputes(subject: Subject) -> Iterator[Finding]:
    """Items that somebody voted against, those that most voted against, and the worst tags."""
    against = _votes_against(subject)
    if not against:
        yield Finding(
            check=DISPUTES, says="There are no votes of people, so nothing can be disputed."
        )
        return
    disputed = [number for number, share_against in against.items() if share_against > 0]
    yield _finding(subject, "dissent", disputed, len(against), "have a vote against their label")
    lost = [number for number, share_against in against.items() if share_against > 0.5]
    yield _finding(subject, "majority", lost, len(against), "have most votes against their label")
    for tag in subject.audited.slices:
        if tag not in OF_VOTES:
            yield from _worst(subject, tag, against)


def _votes_against(subject: Subject) -> dict[int, float]:
    """The share of votes against the label, for each question that has votes."""
    found = {}
    for number, question in enumerate(subject.questions):
        if question.votes and question.votes.total:
            found[number] = 1 - question.votes.agreeing / question.votes.total
    return found


def _finding(subject: Subject, part: str, numbers: list[int], voted: int, verb: str) -> Finding:
    value = share(len(numbers), voted)
    finding = Finding(
        check=DISPUTES,
        part=part,
        value=value,
        chance=0.0,
        alarm=value > MOST_DISPUTED[part],
        says=f"{so_many(len(numbers), voted)} ({percent(value)}) {verb}.",
        n=voted,
    )
    return subject.about(finding, numbers)


def _worst(subject: Subject, tag: str, against: dict[int, float]) -> Iterator[Finding]:
    """The values of a tag whose items are disputed most."""
    members = grouped(against, lambda number: subject.questions[number].item.tags.get(tag, ""))

    disputed: dict[str, list[int]] = {}
    shares: dict[str, float] = {}
    for value, numbers in members.items():
        if value and len(numbers) >= LEAST_ITEMS:
            disputed[value] = [number for number in numbers if against[number] > 0]
            shares[value] = share(len(disputed[value]), len(numbers))
    if len(shares) < 2:
        return

    worst = sorted(shares, key=lambda value: (-shares[value], value))
    listed = ", ".join(f"{value} ({percent(shares[value])})" for value in worst[:SHOWN])
    finding = Finding(
        check=DISPUTES,
        part=f"by {tag}",
        value=shares[worst[0]],
        says=f"Of the values of '{tag}' these are disputed most: {listed}.",
        n=len(members[worst[0]]),
    )
    yield subject.about(finding, disputed[worst[0]])


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
