"""How long a run will take: a handful of items are asked and timed, as a run would ask them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from gnomon.contracts import Model
from gnomon.errors import ModelError
from gnomon.items.limits import spread
from gnomon.items.source import ItemSource
from gnomon.records import Answer, Item
from gnomon.registry import ModelSpec
from gnomon.runs.asking import Asker
from gnomon.runs.batches import in_batches

SAMPLE = 12  # items that are timed
WARM_UP = 4  # items that are asked before, since the first ones are slower


class Timing(NamedTuple):
    """What a handful of items took."""

    items: int
    seconds: float  # of the clock
    cpu_seconds: float  # of this process, over all its threads
    loading: float  # seconds until the model was ready, once a run
    tokens: int | None = None  # that were read and written, where the model says so

    def seconds_for(self, items: int) -> float:
        """How long so many items take, by the clock: an estimate.

        >>> Timing(10, 5.0, 9.0, 2.0).seconds_for(100)
        52.0
        """
        return self.loading + items * self.seconds / self.items


def time_items(source: ItemSource, spec: ModelSpec) -> Timing:
    """Ask a model a few items, spread over the whole, and time them; nothing is kept."""
    items = list(source.items())
    chosen = [items[i] for i in spread(len(items), SAMPLE + WARM_UP)]
    if not chosen:
        raise ModelError(f"{source.name} has no items to time.", "Choose other options.")
    began = time.perf_counter()
    model = spec.open()
    try:
        prepare = getattr(model, "prepare", None)
        if prepare:
            prepare(iter(items), source.benchmark)
        warm, timed = chosen[:WARM_UP], chosen[WARM_UP:] or chosen
        _ask(model, warm)
        loading = time.perf_counter() - began
        return _timed(model, timed, loading)
    finally:
        with suppress(AttributeError):
            model.close()  # type: ignore[attr-defined]


def _timed(model: Model, items: Sequence[Item], loading: float) -> Timing:
    clock, processor = time.perf_counter(), time.process_time()
    answers = _ask(model, items)
    seconds, cpu = time.perf_counter() - clock, time.process_time() - processor
    failed = [answer.error for answer in answers if answer.error]
    if len(failed) == len(answers):
        raise ModelError(
            f"{model.spec} failed on all {len(items)} items that were tried: {failed[0]}.",
            "Make a short run with `gnomon run ... --limit 10` and look at it.",
        )
    counts = [_tokens(answer) for answer in answers]
    known = [count for count in counts if count is not None]
    tokens = sum(known) if len(known) == len(answers) else None
    return Timing(len(items), seconds, cpu, loading, tokens)


def _ask(model: Model, items: Sequence[Item]) -> list[Answer]:
    """Ask in batches, as a run does."""
    asker = Asker(model)
    found = []
    numbered = list(enumerate(items))
    for batch in in_batches(numbered, asker.size, asker.budget, asker.batch):
        found += [answer for _, answer in asker.ask(batch)]
    return found


def _tokens(answer: Answer) -> int | None:
    """How many tokens were read and written for an answer, where that is known."""
    if answer.tokens is not None or answer.tokens_read is None:
        return answer.tokens
    return answer.tokens_read + (answer.tokens_written or 0)
