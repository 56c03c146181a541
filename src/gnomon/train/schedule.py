"""How long, how fast and by which seeds a model is trained: plain numbers, checked."""

from __future__ import annotations

from math import ceil, isnan
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from gnomon.errors import UsageError

Count = Annotated[int, Meta(ge=1)]
Whole = Annotated[int, Meta(ge=0)]
Positive = Annotated[float, Meta(gt=0)]
NotNegative = Annotated[float, Meta(ge=0)]
Seed = Annotated[int, Meta(ge=0, le=2**63 - 1)]  # as numpy and torch take it
LAST = "last"  # as `best`: no measure chooses
LOWER = ("loss", "perplexity")  # measures of which less is better
Precision = Literal["float32", "bfloat16", "float16"]


class Seeds(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Three draws that are independent of each other."""

    data: Seed = 0  # which items are drawn, and into which part
    order: Seed = 0  # the order of the items, and what dropout leaves out
    weights: Seed = 0  # the values that new weights begin with


class Schedule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How long and how fast: the recipe's section `schedule`."""

    epochs: Whole = 3
    steps: Whole = 0  # instead of epochs, where not 0
    batch: Count = 16  # items in a batch; the learner follows it
    accumulate: Count = 1  # batches in a step
    learning_rate: Positive = 5e-5
    optimizer: Literal["adamw", "adam"] = "adamw"
    weight_decay: NotNegative = 0.0
    warmup: NotNegative = 0.0  # a share of all steps below 1, else a number of steps
    decay: Literal["linear", "constant"] = "linear"
    clip: NotNegative = 1.0  # the longest gradient; 0 for any length
    precision: Precision = "float32"
    patience: Whole = 0  # evaluations without a better score before stopping; 0 never stops early
    evaluate_every: Whole = 0  # in steps; 0 for the end of each epoch
    save_every: Whole = 0  # in steps; in any case with better weights and every minute
    best: str = "accuracy"  # the measure on dev that chooses the weights; `last` for the last ones
    better: Literal["", "higher", "lower"] = ""  # by default as fits the measure

    def steps_in_epoch(self, batches: int | None) -> int | None:
        """How many steps an epoch of so many batches has.

        >>> Schedule(accumulate=4).steps_in_epoch(10)
        3
        """
        return None if batches is None else ceil(batches / self.accumulate)

    def total_steps(self, batches: int | None) -> int:
        """How many steps there will be, if nothing stops earlier.

        >>> Schedule(epochs=2, accumulate=4).total_steps(10)
        6
        """
        if self.steps:
            return self.steps
        in_epoch = self.steps_in_epoch(batches)
        if in_epoch is None:
            raise UsageError(
                "How long an epoch of these data is, is not known.",
                "Count steps in the recipe's schedule, for instance steps: 10000.",
            )
        return self.epochs * in_epoch

    def rate(self, step: int, total: int) -> float:
        """The learning rate of a step, counted from 0.

        >>> schedule = Schedule(learning_rate=1.0, warmup=2)
        >>> [schedule.rate(step, 6) for step in range(6)]
        [0.0, 0.5, 1.0, 0.75, 0.5, 0.25]
        """
        warm = self.warmup if self.warmup >= 1 else self.warmup * total
        if step < warm:
            return self.learning_rate * step / warm
        if self.decay == "constant":
            return self.learning_rate
        return self.learning_rate * max(0.0, (total - step) / max(1.0, total - warm))

    def is_better(self, score: float, best: float | None) -> bool:
        """Whether a score is better than the best so far; one that is undefined never is.

        >>> Schedule(best="loss").is_better(2.0, 3.0)
        True
        """
        if best is None or isnan(best):
            return True
        return score < best if self._prefers_lower else score > best

    @property
    def _prefers_lower(self) -> bool:
        if self.better:
            return self.better == "lower"
        return self.best in LOWER
