"""What a run would take: items, tokens, time from a probe of a few items, disk, money.

A model that can say what it would cost, such as one of a server, is not asked. Others are asked a
few items, spread over lengths, and what they answer is not kept: a plan changes nothing.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import msgspec

from gnomon.contracts import Model
from gnomon.errors import GnomonError, ModelError
from gnomon.items.limits import middles, spread
from gnomon.items.source import ItemSource
from gnomon.records import Answer, Item
from gnomon.registry import ModelSpec
from gnomon.runs import MANIFEST, Run
from gnomon.runs.batches import Asker, in_batches
from gnomon.runs.identity import run_folder
from gnomon.runs.plan import check_takes
from gnomon.runs.usage import cost_of
from gnomon.runs.workers import about_model, close_model, prepare_model

SAMPLE = 12  # items that are timed
WARM_UP = 4  # items that are asked before, since the first ones are slower
TOGETHER = 5  # items of each benchmark that are asked in a batch, after one alone
ANSWER_BYTES = 160  # of an answer in the log, beside its item
OVERHEAD = 1.4  # how much larger a log is than what it holds


class RunEstimate(NamedTuple):
    """What one run would take."""

    items: int  # in all
    left: int  # of these, items that have no answer yet
    read: int  # tokens that the model reads for those
    written: int  # tokens that it may write, where that is known
    seconds: float | None  # by the clock; none for a model that is not asked
    cpu_seconds: float | None  # of this process: what the clock says depends on who else is at work
    bytes: int
    cost: float | None  # none where prices are not known


class Times(NamedTuple):
    """Seconds by the clock, and of the processor."""

    seconds: float = 0.0
    cpu: float = 0.0


class Clock:
    """Says how long something took."""

    def __init__(self) -> None:
        self._began = time.perf_counter(), time.process_time()

    def taken(self) -> Times:
        """Since the clock was made."""
        clock, processor = self._began
        return Times(time.perf_counter() - clock, time.process_time() - processor)


@dataclass
class Opened:
    """A model that is ready to be probed, and how long it took to get ready."""

    model: Model
    spec: ModelSpec
    loading: Times
    is_warm: bool = False  # the first question takes longer, and is asked before others are timed


@contextmanager
def opened(spec: ModelSpec) -> Iterator[Opened]:
    """The model, loaded, and closed at the end."""
    clock = Clock()
    model = spec.open()
    try:
        yield Opened(model, spec, clock.taken())
    finally:
        close_model(model)


def estimate(
    source: ItemSource, who: Opened, runs: str | Path = "runs", *, blind: bool = False
) -> RunEstimate:
    """What a run would take that asks what is left of a source."""
    clock = Clock()
    items = list(source.items())
    making = clock.taken()
    if not items:
        raise ModelError(f"{source.name} has no items.", "Choose other options.")
    check_takes(about_model(who.model, {}), items[0], blind=blind)
    left = _left(items, run_folder(source, who.spec, runs, blind=blind))
    if blind:
        left = [msgspec.structs.replace(item, images=()) for item in left]
    size = sum(len(msgspec.json.encode(item)) + ANSWER_BYTES for item in items)
    read, written = 0, 0
    asking: Times | None = Times()
    expected = getattr(who.model, "expected", None)
    if expected is not None:
        asking = None
        for item in left:
            tokens = expected(item)
            read, written = read + tokens[0], written + tokens[1]
    elif left:
        asker = Asker(who.model)
        read = sum(asker.size(item) for item in left)
        asking = _times(source, who, asker, items, left)
    return RunEstimate(
        items=len(items),
        left=len(left),
        read=read,
        written=written,
        seconds=None if asking is None else making.seconds + asking.seconds,
        cpu_seconds=None if asking is None else making.cpu + asking.cpu,
        bytes=int(OVERHEAD * size),
        cost=cost_of(read, written, who.spec.options),
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


def _times(
    source: ItemSource, who: Opened, asker: Asker, items: Sequence[Item], left: Sequence[Item]
) -> Times:
    """How long the model takes for what is left, from a few items of all lengths.

    What the items of a batch share, such as the beginning of a prompt, is often read once: one item
    alone and several together tell that apart from what each item takes.
    """
    clock = Clock()
    prepare_model(who.model, iter(items), source.benchmark)
    preparing = clock.taken()
    by_length = sorted(left, key=asker.size)
    single = by_length[len(by_length) // 2]
    probed = [by_length[place] for place in middles(len(by_length), TOGETHER)]
    if not who.is_warm:
        _ask(asker, [single])
        who.is_warm = True
    clock = Clock()
    answers = _ask(asker, [single])
    alone = clock.taken()
    clock = Clock()
    answers += _ask(asker, probed)
    together = clock.taken()
    _check_some_answered(who.spec, answers)
    planned = in_batches(list(enumerate(left)), asker.size, asker.budget, asker.batch)
    batches = 1 + sum(1 for _ in planned)  # the first one of a run is a small one of its own
    rest = [
        extrapolated(one, several, len(probed), len(left), batches)
        for one, several in zip(alone, together, strict=True)
    ]
    return Times(preparing.seconds + rest[0], preparing.cpu + rest[1])


def extrapolated(alone: float, together: float, several: int, items: int, batches: int) -> float:
    """The time of so many items in batches, from that of one item and of several in a batch.

    >>> extrapolated(3.0, 6.0, 4, 100, 2)  # two for each batch, one for each item
    104.0
    >>> extrapolated(1.0, 4.0, 4, 100, 2)
    100.0
    """
    mean = together / several
    if several == 1:
        return mean * items
    each = (together - alone) / (several - 1)
    each = min(mean, max(each, mean / several))  # a clock that was disturbed says anything
    shared = max(0.0, together - several * each)
    return each * items + shared * batches


def _ask(asker: Asker, items: Sequence[Item]) -> list[Answer]:
    """Ask in batches, as a run does."""
    answers: list[Answer] = []
    for batch in in_batches(list(enumerate(items)), asker.size, asker.budget, asker.batch):
        answers += [answer for _, answer in asker.ask(batch)]
    return answers


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
    getting_ready = Clock()
    with opened(spec) as who:
        asker = Asker(who.model)
        prepare_model(who.model, iter(items), source.benchmark)
        _ask(asker, chosen[:WARM_UP])
        loading = getting_ready.taken().seconds
        timed = chosen[WARM_UP:] or chosen
        clock = Clock()
        answers = _ask(asker, timed)
        times = clock.taken()
    _check_some_answered(spec, answers)
    counts = [_tokens(answer) for answer in answers]
    known = [count for count in counts if count is not None]
    tokens = sum(known) if len(known) == len(answers) else None
    return Timing(len(timed), times.seconds, times.cpu, loading, tokens)


def _check_some_answered(spec: ModelSpec, answers: Sequence[Answer]) -> None:
    failed = [answer.error for answer in answers if answer.error]
    if len(failed) == len(answers):
        raise ModelError(
            f"{spec.spec} failed on all {len(answers)} items that were tried: {failed[0]}.",
            "Make a short run with `gnomon run ... --limit 10` and look at it.",
        )


def _tokens(answer: Answer) -> int | None:
    """How many tokens were read and written for an answer, where that is known."""
    if answer.tokens is not None or answer.tokens_read is None:
        return answer.tokens
    return answer.tokens_read + (answer.tokens_written or 0)
