"""Whether people agree with themselves: items that they judged twice."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gnomon.people.votes import Votes


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
