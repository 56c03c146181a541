"""Models that know nothing: the floor under every figure.

`random` guesses by a hash of seed and item, so that its answers do not depend on order or batch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from gnomon.contracts import ANYTHING, Benchmark, Scale, Takes
from gnomon.errors import UsageError
from gnomon.records import Answer, Item


@dataclass
class RuleModel:
    """A model that answers each item by a rule, without looking at its text."""

    spec: str
    rule: Callable[[Item], str | None]
    facts: dict[str, Any] = field(default_factory=dict)
    prepare: Callable[[Iterable[Item], Benchmark], None] | None = None
    takes: frozenset[Takes] = ANYTHING  # no picture would change the answer
    scale: Scale = "none"
    batch: int = 64

    def describe(self) -> dict[str, Any]:
        """The facts that determine the answers."""
        return dict(self.facts)

    def size(self, item: Item) -> int:
        """Every item costs the same: nothing is read."""
        return 1

    def answer(self, items: Sequence[Item]) -> list[Answer]:
        """One answer for each item."""
        return [Answer(item=item.id, choice=self.rule(item)) for item in items]


def random(name: str, *, model_seed: int = 0) -> RuleModel:
    """A seeded guess among the choices, whatever the order of the items and the batches.

    model_seed   another number gives other guesses
    """
    _refuse_name("random", name)

    def rule(item: Item) -> str | None:
        if not item.choices:
            return None
        digest = blake2b(f"{model_seed}\0{item.id}".encode(), digest_size=8).digest()
        return item.choices[int.from_bytes(digest) % len(item.choices)]

    return RuleModel("random", rule, {"model_seed": model_seed})


def constant(name: str) -> RuleModel:
    """Always the same label. An item that does not offer it gets no answer."""
    if not name:
        raise UsageError("The model constant needs a label.", "For example: constant:yes")

    def prepare(items: Iterable[Item], benchmark: Benchmark) -> None:
        offered: dict[str, None] = {}
        for item in items:
            if name in item.choices:
                return
            offered |= dict.fromkeys(item.choices)
        hint = f"Choose one of: {_listed(list(offered))}." if offered else "They offer no choices."
        raise UsageError(f"No item offers the label '{name}'.", hint)

    def rule(item: Item) -> str | None:
        return name if name in item.choices else None

    return RuleModel(f"constant:{name}", rule, prepare=prepare)


def majority(name: str) -> RuleModel:
    """The label that is right most often among the items with the same choices.

    It looks at the right answers of the run's own items, in whatever order their choices stand; the
    earlier choice wins a tie.
    """
    _refuse_name("majority", name)
    counts: dict[frozenset[str], Counter[str]] = {}

    def prepare(items: Iterable[Item], benchmark: Benchmark) -> None:
        for item in items:
            offered = frozenset(item.choices)
            if offered not in counts:
                counts[offered] = Counter(dict.fromkeys(item.choices, 0))
            counts[offered].update(item.gold)

    def rule(item: Item) -> str | None:
        right = counts.get(frozenset(item.choices)) or dict.fromkeys(item.choices, 0)
        return max(right, key=right.__getitem__, default=None)

    return RuleModel("majority", rule, prepare=prepare)


def _listed(labels: Sequence[str], most: int = 20) -> str:
    text = ", ".join(labels[:most])
    rest = len(labels) - most
    return f"{text} and {rest} more" if rest > 0 else text


def _refuse_name(scheme: str, name: str) -> None:
    if name:
        raise UsageError(
            f"The model {scheme} takes no name, but was given '{name}'.", f"Write just {scheme}."
        )
