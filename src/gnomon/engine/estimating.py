"""What a run would take: items, tokens, time from a probe of a few items, disk, money.

A model that can say what it would cost, such as one of a server, is not asked. Others are asked a
few items, spread over lengths, and what they answer is not kept: a plan changes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from gnomon.contracts import Model
from gnomon.engine.asking import Asker
from gnomon.engine.batches import in_batches
from gnomon.engine.folders import run_folder
from gnomon.engine.manifests import check_takes
from gnomon.engine.workers import about_model
from gnomon.errors import GnomonError, ModelError
from gnomon.itemsource import ItemSource
from gnomon.records import Item
from gnomon.registry import ModelSpec
from gnomon.runs import MANIFEST, Run
from gnomon.spreading import middles

FEWEST, MOST = 4, 12  # items of each benchmark that are asked
SHARE = 50  # of so many items one is asked, between these two
ANSWER_BYTES = 160  # of an answer in the log, beside its item
OVERHEAD = 1.4  # how much larger a log is than what it holds


class Estimate(NamedTuple):
    """What one run would take."""

    items: int  # in all
    left: int  # of these, items that have no answer yet
    read: int  # tokens that the model reads for those
    written: int  # tokens that it may write, where that is known
    seconds: float | None  # none for a model that is not asked
    bytes: int
    cost: float | None  # none where prices are not known


@dataclass
class Opened:
    """A model that is ready to be probed, and how long it took to get ready."""

    model: Model
    spec: ModelSpec
    seconds: float
    is_warm: bool = False  # the first question takes longer, and is asked before others are timed


@contextmanager
def opened(spec: ModelSpec) -> Iterator[Opened]:
    """The model, loaded, and closed at the end."""
    began = time.perf_counter()
    model = spec.open()
    try:
        yield Opened(model, spec, time.perf_counter() - began)
    finally:
        close: Callable[[], None] | None = getattr(model, "close", None)
        if close:
            close()


def estimate(
    source: ItemSource, who: Opened, runs: str | Path = "runs", *, blind: bool = False
) -> Estimate:
    """What a run would take that asks what is left of a source."""
    began = time.perf_counter()
    items = list(source.items())
    making = time.perf_counter() - began
    if not items:
        raise ModelError(f"{source.name} has no items.", "Choose other options.")
    check_takes(about_model(who.model, {}), items[0], blind=blind)
    left = _left(items, run_folder(source, who.spec, runs, blind=blind))
    if blind:
        left = [msgspec.structs.replace(item, images=()) for item in left]
    size = sum(len(msgspec.json.encode(item)) + ANSWER_BYTES for item in items)
    read, written, seconds = 0, 0, 0.0
    expected = getattr(who.model, "expected", None)
    known_seconds: float | None = None
    if expected is not None:
        for item in left:
            tokens = expected(item)
            read, written = read + tokens[0], written + tokens[1]
    elif left:
        asker = Asker(who.model)
        read = sum(asker.size(item) for item in left)
        seconds = _seconds(source, who, asker, items, left)
    if expected is None:
        known_seconds = making + seconds
    return Estimate(
        items=len(items),
        left=len(left),
        read=read,
        written=written,
        seconds=known_seconds,
        bytes=int(OVERHEAD * size),
        cost=_cost(who.spec.options, read, written),
    )


def _left(items: Sequence[Item], folder: Path) -> list[Item]:
    """The items that an earlier run has no answer to."""
    if not (folder / MANIFEST).exists():
        return list(items)
    try:
        answered = {item.id for item, _ in Run.open(folder).answers()}
    except GnomonError:  # the run itself will say what is wrong
        return list(items)
    return [item for item in items if item.id not in answered]


def _seconds(
    source: ItemSource, who: Opened, asker: Asker, items: Sequence[Item], left: Sequence[Item]
) -> float:
    """How long the model takes for what is left, from a few items of all lengths."""
    began = time.perf_counter()
    prepare = getattr(who.model, "prepare", None)
    if prepare:
        prepare(iter(items), source.benchmark)
    preparing = time.perf_counter() - began
    by_length = sorted(left, key=asker.size)
    most = min(MOST, max(FEWEST, len(left) // SHARE))
    probed = [by_length[place] for place in middles(len(by_length), most)]
    if not who.is_warm:
        _ask(asker, probed[:1])
        who.is_warm = True
    began = time.perf_counter()
    answers = _ask(asker, probed)
    taken = time.perf_counter() - began
    failed = [error for error in answers if error]
    if len(failed) == len(probed):
        raise ModelError(
            f"{who.spec.spec} failed on all {len(probed)} items that were tried: {failed[0]}.",
            "Make a short run with `gnomon run ... --limit 10` and look at it.",
        )
    return preparing + taken / len(probed) * len(left)


def _ask(asker: Asker, items: Sequence[Item]) -> list[str | None]:
    """Ask in batches, as a run does; what went wrong with each."""
    found: list[str | None] = []
    numbered = list(enumerate(items))
    for batch in in_batches(numbered, asker.size, asker.budget, asker.batch):
        found += [answer.error for _, answer in asker.ask(batch)]
    return found


def _cost(options: dict[str, Any], read: int, written: int) -> float | None:
    prices = options.get("price_input"), options.get("price_output")
    if prices[0] is None or prices[1] is None:
        return None
    return (read * float(prices[0]) + written * float(prices[1])) / 1e6
