"""Do people agree with the labels? Votes against them, by tag, and labels that lost the vote."""

from __future__ import annotations

from collections.abc import Iterator

from gnomon.audit.finding import SHOWN, Finding, percent, share
from gnomon.audit.subject import Subject

CHECK = "disputes"
MOST = 0.1  # share of the items that may have a vote against their label
OF_VOTES = ("dissent", "split")  # tags that say nothing about what is asked
LEAST_ITEMS = 60  # of a tag's value, before it is called disputed


def disputes(subject: Subject) -> Iterator[Finding]:
    """Items that somebody voted against, those that most voted against, and the worst tags."""
    voted = [
        number for number, one in enumerate(subject.questions) if one.votes and one.votes.total
    ]
    if not voted:
        yield Finding(check=CHECK, says="There are no votes of people, so nothing can be disputed.")
        return
    against = [number for number in voted if _is_disputed(subject, number)]
    yield _finding(subject, "dissent", against, voted, "have a vote against their label", MOST)
    lost = [number for number in voted if _has_lost(subject, number)]
    yield _finding(subject, "majority", lost, voted, "have most votes against their label", 0.0)
    for tag in subject.audited.slices:
        if tag in OF_VOTES:
            continue
        found = _worst(subject, tag, voted)
        if found:
            yield found


def _is_disputed(subject: Subject, number: int) -> bool:
    votes = subject.questions[number].votes
    return votes is not None and votes.agreeing < votes.total


def _has_lost(subject: Subject, number: int) -> bool:
    votes = subject.questions[number].votes
    return votes is not None and 2 * votes.agreeing < votes.total


def _finding(
    subject: Subject, part: str, numbers: list[int], voted: list[int], verb: str, most: float
) -> Finding:
    value = share(len(numbers), len(voted))
    return Finding(
        check=CHECK,
        part=part,
        value=value,
        chance=0.0,
        alarm=value > most,
        says=f"{len(numbers):,} of {len(voted):,} items ({percent(value)}) {verb}.",
        n=len(voted),
        behind=len(numbers),
        items=subject.ids(numbers),
        examples=tuple(subject.audited.example(number) for number in numbers[:SHOWN]),
    )


def _worst(subject: Subject, tag: str, voted: list[int]) -> Finding | None:
    """The values of a tag whose items are disputed most."""
    members: dict[str, list[int]] = {}
    for number in voted:
        value = subject.questions[number].tags.get(tag)
        if value:
            members.setdefault(value, []).append(number)
    shares = {}
    for value, numbers in members.items():
        if len(numbers) >= LEAST_ITEMS:
            shares[value] = share(sum(_is_disputed(subject, one) for one in numbers), len(numbers))
    if len(shares) < 2:
        return None
    worst = sorted(shares, key=lambda value: (-shares[value], value))
    listed = ", ".join(f"{value} ({percent(shares[value])})" for value in worst[:SHOWN])
    behind = [number for number in members[worst[0]] if _is_disputed(subject, number)]
    return Finding(
        check=CHECK,
        part=f"by {tag}",
        value=shares[worst[0]],
        says=f"Of the values of '{tag}' these are disputed most: {listed}.",
        n=len(members[worst[0]]),
        behind=len(behind),
        items=subject.ids(behind),
        examples=tuple(subject.audited.example(number) for number in behind[:SHOWN]),
    )
