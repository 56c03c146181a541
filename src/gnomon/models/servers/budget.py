"""What may be spent at a server and what has been: tokens, and money by the million tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from gnomon.errors import ModelError


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
                "larger --set max_cost.",
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
