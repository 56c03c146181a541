"""What a server's API must say to be asked, what is kept of its replies, and what may be spent.

Another API is one module with a class of this shape and a factory beside it: retries, budgets,
pictures, kept replies and the reading of answers are shared by all (`openai` is the first).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import msgspec

from gnomon.contracts import Scale, Takes
from gnomon.errors import ModelError, UsageError
from gnomon.models.choices import log_sum
from gnomon.models.servers.pictures import SentPicture


class Tokens(NamedTuple):
    """Tokens that a request reads and writes."""

    read: int
    written: int

    def plus(self, other: Tokens) -> Tokens:
        """Both together."""
        return Tokens(self.read + other.read, self.written + other.written)


FREE = Tokens(0, 0)


@dataclass
class Budget:
    """What may be spent and what has been. Prices are per million tokens."""

    price_input: float = 0.0
    price_output: float = 0.0
    max_cost: float | None = None
    max_tokens: int | None = None
    cost: float = 0.0
    tokens: int = 0

    def reserve(self, most: Tokens) -> None:
        """Set aside what a request may cost at most, or say that the budget is spent."""
        cost = self._cost(most)
        if self.max_cost is not None and self.cost + cost > self.max_cost:
            raise ModelError(
                f"The budget is spent: {self.cost:.4f} of {self.max_cost:g}, and the next request "
                f"may cost {cost:.4f}.",
                "What was answered is kept. Give the command again to spend as much again, or a "
                "larger one with --set max_cost=N.",
            )
        if self.max_tokens is not None and self.tokens + sum(most) > self.max_tokens:
            raise ModelError(
                f"The budget is spent: {self.tokens:,} of {self.max_tokens:,} tokens, and the next "
                f"request may take {sum(most):,}.",
                "What was answered is kept. Give the command again to spend as much again, or a "
                "larger budget_tokens.",
            )
        self.cost += cost
        self.tokens += sum(most)

    def settle(self, reserved: Tokens, used: Tokens) -> None:
        """Replace what was set aside by what was used."""
        self.cost += self._cost(used) - self._cost(reserved)
        self.tokens += sum(used) - sum(reserved)

    def _cost(self, tokens: Tokens) -> float:
        price = tokens.read * self.price_input + tokens.written * self.price_output
        return price / 1e6


class Completion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All of a reply that is used or kept."""

    text: str
    used: Tokens
    first: dict[str, float] = {}  # what could have come first, with log-probabilities
    offsets: tuple[int, ...] = ()  # of an echoed prompt: where each token begins
    logprobs: tuple[float | None, ...] = ()  # and how likely it is after those before it
    cut: bool = False  # it was too long to be kept whole
    unfinished: bool = False  # the server ended it at the limit of tokens


class MalformedError(Exception):
    """A reply with status 200 that cannot be used."""


class ServerApi(Protocol):
    """How a model is asked by one kind of server."""

    scheme: str  # what stands before the model's name, as in openai:NAME
    model: str
    path: str  # where requests go, below the server's address
    scale: Scale
    takes: frozenset[Takes]
    converses: bool  # it is given the turns of a conversation, not one text
    logprobs: bool  # it is asked for what could have come first
    echo: bool  # it gives back a whole text with its log-probabilities
    limits: Sequence[int]  # tokens of a reply: at first, and each time that it was cut

    def describe(self) -> dict[str, Any]:
        """What of this determines the answers."""

    def for_reply(
        self, said: str | list[dict[str, str]], limit: int, answers: Sequence[str]
    ) -> dict[str, Any]:
        """A request for a reply of so many tokens; if that is constrained, one of the answers."""

    def for_echo(self, text: str) -> dict[str, Any]:
        """A request that gives back its own text with log-probabilities."""

    def sent(self, body: dict[str, Any], pictures: Sequence[SentPicture]) -> dict[str, Any]:
        """A request as it is sent: in words that this server knows, and with its pictures."""

    def estimate(self, body: dict[str, Any]) -> Tokens:
        """The most tokens that a request is likely to use, its pictures aside."""

    def parse(self, raw: bytes, asked: RequestFacts) -> Completion:
        """What is kept of a reply; a `MalformedError` says that it cannot be used."""

    def learns_words(self, complaint: str, sent: dict[str, Any]) -> bool:
        """Whether a refused request may be sent again in other words that mean the same."""

    def refused(self, complaint: str, sent: dict[str, Any]) -> tuple[str, str] | None:
        """The parameter that a server complains about, and what to do without it."""


class RequestFacts(NamedTuple):
    """What of a request decides how its reply is read."""

    most: Tokens  # that it may use, by our own estimate
    secrets: Sequence[str] = ()  # which are not kept
    pictures: Sequence[str] = ()  # nor are they
    picture_tokens: int = 0  # their part of `most`


def scores_of(
    alternatives: dict[str, float], answers: Sequence[Sequence[str]]
) -> tuple[float, ...] | None:
    """The log-probability of each choice, from the first token's alternatives.

    None if the token that came, which leads, begins no answer. A token counts for the one choice
    whose answer it begins. A choice that is not among the alternatives is at most as likely as the
    least of them and as all that is left.

    >>> scores_of({"True": -0.1, " false": -2.5, "I": -4.0}, [["True"], ["False"]])
    (-0.1, -2.5)
    """
    found: list[list[float]] = [[] for _ in answers]
    for token, value in alternatives.items():
        owner = _begins(token, answers)
        if owner is not None:
            found[owner].append(value)
        elif not any(found):
            return None
    if not any(found):
        return None
    left = 1.0 - sum(math.exp(value) for value in alternatives.values())
    bound = min(min(alternatives.values()), math.log(max(left, 1e-9)))
    return tuple(log_sum(values) if values else bound for values in found)


def first_choice(alternatives: dict[str, float], answers: Sequence[Sequence[str]]) -> int | None:
    """The choice that the token which came first begins, if it begins one and no other.

    >>> first_choice({"True": -0.1, " false": -2.5}, [["True"], ["False"]])
    0
    """
    if not alternatives:
        return None
    return _begins(next(iter(alternatives)), answers)


def echo_score(completion: Completion, start: int) -> float:
    """The sum over the tokens of an echoed prompt that reach beyond its first characters."""
    ends = [*completion.offsets[1:], math.inf]
    total = 0.0
    for value, end in zip(completion.logprobs, ends, strict=False):
        if end > start and value is not None:
            total += value
    return total


def _begins(token: str, answers: Sequence[Sequence[str]]) -> int | None:
    """The one choice that has an answer beginning with this token, if there is one and no other."""
    text = token.strip().casefold()
    if not text:
        return None
    owners = []
    for place, ways in enumerate(answers):
        if any(word.casefold().startswith(text) for word in ways):
            owners.append(place)
    return owners[0] if len(owners) == 1 else None


def check_positive(option: str, value: float) -> None:
    """Refuse an option that must be above 0 and is not."""
    if not value > 0:
        raise UsageError(
            f"The option {option} must be above 0, not {value}.", "Give more, or leave it out."
        )


# Replies that were paid for, kept on disk for the run that they were given to.
#
