"""Whether people agree with themselves, and whether they read what they are asked.

A file may hold several votes of a person on an item. A page may show items again, and mix in catch
items with a known answer: those responses are no answers of the run, but stand beside it
(people.extras).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.people.extras import Extra, read_extras
from gnomon.people.votes import Votes, person_of

if TYPE_CHECKING:
    from gnomon.runs import Run


class Tally(NamedTuple):
    """So many of so many."""

    n: int = 0
    good: int = 0

    @property
    def share(self) -> float | None:
        """None of nothing."""
        return self.good / self.n if self.n else None

    def plus(self, other: Tally) -> Tally:
        """Both together."""
        return Tally(self.n + other.n, self.good + other.good)


class Care(NamedTuple):
    """How carefully a person works."""

    again: Tally = Tally()  # items that they judged twice, and how often alike
    catch: Tally = Tally()  # items whose answer is known, and how often they gave it

    def plus(self, other: Care) -> Care:
        """Both together."""
        return Care(self.again.plus(other.again), self.catch.plus(other.catch))


def care_in_votes(votes: Votes) -> dict[str, Care]:
    """For each person how often a further vote on an item is their first one again."""
    row, person, code = votes.repeats.T
    first = votes.said[row, person]
    shown = np.bincount(person[first >= 0], minlength=len(votes.people))
    alike = np.bincount(person[first == code], minlength=len(votes.people))
    found = {}
    for name, n, same in zip(votes.people, shown.tolist(), alike.tolist(), strict=True):
        found[name] = Care(again=Tally(n, same))
    return found


def care_in_runs(runs: Iterable[Run]) -> dict[str, Care]:
    """For each person what stands beside the answers of their runs."""
    found: dict[str, Care] = {}
    for run in runs:
        name = person_of(run.model)
        if name:
            mine = _care(read_extras(run.path))
            found[name] = found.get(name, Care()).plus(mine)
    return found


def _care(extras: Iterable[Extra]) -> Care:
    given = [extra for extra in extras if not extra.skipped]
    first = {extra.item: extra.response for extra in given if extra.kind == "item"}
    again = catch = Tally()
    for extra in given:
        if extra.kind == "repeat" and extra.item in first:
            again = again.plus(Tally(1, extra.response == first[extra.item]))
        elif extra.kind == "catch":
            catch = catch.plus(Tally(1, bool(extra.right)))
    return Care(again, catch)
