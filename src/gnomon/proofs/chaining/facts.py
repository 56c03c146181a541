"""A story is a list of facts; a question is a fact that may follow, be ruled out or stay open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol, TypeVar

Verdict = Literal["yes", "no", "cannot tell"]
VERDICTS: tuple[Verdict, ...] = ("yes", "no", "cannot tell")


class Fact(NamedTuple):
    """A relation of one thing to another; things are numbers."""

    relation: str
    first: int
    second: int

    @property
    def turned(self) -> Fact:
        """The same words with the two things exchanged: another fact."""
        return Fact(self.relation, self.second, self.first)


Story = Sequence[Fact]


def things_of(facts: Story) -> list[int]:
    """Every thing that facts are about."""
    found: set[int] = set()
    for fact in facts:
        found |= {fact.first, fact.second}
    return sorted(found)


Model = TypeVar("Model")


class Logic(Protocol[Model]):
    """Decides exactly what follows from stories of one family of relations.

    A model is an arrangement of the things, in which each fact is true or false.
    """

    def verdict(self, story: Story, question: Fact) -> Verdict:
        """Whether a consistent story says yes, says no or leaves the question open."""
        ...

    def model(self, story: Story, question: Fact, *, true: bool) -> Model | None:
        """An arrangement in which the story holds and the question does (or not), if any."""
        ...

    def holds(self, fact: Fact, model: Model) -> bool:
        """Whether a fact is true in an arrangement, by looking at it alone."""
        ...


def core(logic: Logic[Model], story: Story, question: Fact) -> list[Fact] | None:
    """The facts without which the verdict is lost, if they give it by themselves.

    Then they are the only smallest proof. None if there are several proofs, or nothing follows.
    """
    found = logic.verdict(story, question)
    if found == "cannot tell":
        return None
    needed = []
    for place, fact in enumerate(story):
        others = [*story[:place], *story[place + 1 :]]
        if logic.verdict(others, question) != found:
            needed.append(fact)
    if logic.verdict(needed, question) != found:
        return None
    return needed


def is_open(logic: Logic[Model], story: Story, question: Fact) -> bool:
    """Whether two arrangements show that the question is open: both have every fact, one has it."""
    for true in (True, False):
        found = logic.model(story, question, true=true)
        if found is None:
            return False
        if logic.holds(question, found) != true:
            return False
        if not all(logic.holds(fact, found) for fact in story):
            return False
    return True
