"""Do people agree with the labels? Votes against them, by tag, and labels that lost the vote."""

from __future__ import annotations

from collections.abc import Iterator

from gnomon.audit.finding import SHOWN, Finding, percent, share, so_many
from gnomon.audit.subject import Subject
from gnomon.grouped import grouped

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
