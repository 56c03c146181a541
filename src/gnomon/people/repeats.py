"""Whether people agree with themselves: items that they judged twice.

A file may hold several votes of a person on an item. A page may show items again: those responses
are no answers of the run, but stand beside it (people.extras).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.people.extras import Extra, read_extras
from gnomon.people.votes import Votes, person_of

if TYPE_CHECKING:
    from gnomon.runs import Run


class SelfAgreement(NamedTuple):
    """How often a person says the same again."""

    n: int = 0
    same: int = 0

    @property
    def share(self) -> float | None:
        """None where nothing was repeated."""
        return self.same / self.n if self.n else None

    def plus(self, other: SelfAgreement) -> SelfAgreement:
        """Both together."""
        return SelfAgreement(self.n + other.n, self.same + other.same)


def repeated_votes(votes: Votes) -> dict[str, SelfAgreement]:
    """For each person how often a further vote on an item is their first one again."""
    row, person, code = votes.repeats.T
    first = votes.said[row, person]
    shown = np.bincount(person[first >= 0], minlength=len(votes.people))
    alike = np.bincount(person[first == code], minlength=len(votes.people))
    found = {}
    for name, n, same in zip(votes.people, shown.tolist(), alike.tolist(), strict=True):
        if n:
            found[name] = SelfAgreement(n, same)
    return found


def repeated_showings(runs: Iterable[Run]) -> dict[str, SelfAgreement]:
    """For each person how often an item that was shown again got the same response."""
    found: dict[str, SelfAgreement] = {}
    for run in runs:
        name = person_of(run.model)
        mine = _in_extras(read_extras(run.path)) if name else SelfAgreement()
        if mine.n:
            found[name] = found.get(name, SelfAgreement()).plus(mine)
    return found


def _in_extras(extras: Iterable[Extra]) -> SelfAgreement:
    first: dict[str, Extra] = {}
    again = []
    for extra in extras:
        if extra.skipped:
            continue
        if extra.kind == "item":
            first[extra.item] = extra
        elif extra.kind == "repeat":
            again.append(extra)
    both = [extra for extra in again if extra.item in first]
    same = [extra for extra in both if extra.response == first[extra.item].response]
    return SelfAgreement(len(both), len(same))
