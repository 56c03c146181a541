"""Many workers as one: batches are handed out, and what a dead worker held is asked elsewhere.

A batch whose worker dies twice is halved until the item that kills is found, which is then listed
as failed. A worker that dies is replaced. All of this is plain bookkeeping over events of a site,
and so the same for processes and for Ray.
"""

from __future__ import annotations

import time
import warnings
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from gnomon.contracts import Benchmark
from gnomon.engine.batches import Numbered, default_size
from gnomon.engine.parcels import Parcel, Parcels
from gnomon.engine.sites import Event, Site, Worker
from gnomon.engine.station import Failure, decode_ready, decode_reply, encode, packed
from gnomon.engine.storing import WINDOW, in_chunks
from gnomon.engine.workers import About, Done, Window, check_can_be_shared
from gnomon.errors import DataError, GnomonError, ModelError, ModelWarning, RunError, UsageError
from gnomon.records import Item
from gnomon.registry import known_benchmark
from gnomon.runs import determining
from gnomon.runs.pace import WorkerPace

DEPTH = 2  # batches that a worker holds: one that it is at, and one so that it need not wait
TICK = 0.5  # seconds after which whoever watches is told, even if nothing came back
STARTS = 3  # workers in a row that may die while they load the model
DEATHS = 20  # workers in a row that may die without a single answer between them
PATIENCE = 600.0  # seconds without a single worker, be it one that still loads the model
ERRORS = {error.__name__: error for error in (UsageError, DataError, RunError)}


@dataclass
class Sizes:
    """Sizes of the items of a window, once they are known."""

    window: Window
    found: list[int] | None = None


@dataclass(eq=False)
class Member:
    """A worker, what it was asked and has not answered yet, and what it did."""

    worker: Worker
    calls: dict[int, tuple[str, Any]] = field(default_factory=dict)
    open: bool = False
    ready: bool = False
    place: str = ""  # where it is, once it has been started
    since: float = 0.0
    items: int = 0


class Crew:
    """The workers of a run on one site."""

    def __init__(self, site: Site, files: dict[str, str] | None = None) -> None:
        self._site = site
        self._files = files or {}  # of the model, as the driver sees them
        self._members: dict[Worker, Member] = {}
        self._parcels = Parcels()
        self._number = 0
        self._prepared = False  # whether the items were shown, or need not be
        self._supply: Any = None
        self._benchmark = ""
        self._done: list[Done] = []
        self._verdicts: list[Done] = []  # items to blame, if workers can answer others
        self._lost = 0
        self._failed_starts = 0
        self._deaths = 0  # since the last answer
        self._idle_since = time.monotonic()
        self._about: About | None = None
        self.budget = 0
        self.batch = 0
        for _ in range(site.count):
            self._hire()
        while self._about is None:
            self._pump()

    @property
    def about(self) -> About:
        """What the model says of itself, by the worker that spoke last."""
        assert self._about is not None
        return self._about

    def prepare(self, items: Iterable[Item], benchmark: Benchmark) -> None:
        """Let every worker's model see the items, if it wants to; wait for the first."""
        check_can_be_shared(self.about)
        if self.about.prepares:
            if known_benchmark(benchmark.name) is not benchmark:
                raise UsageError(
                    f"{self.about.spec} must see all items first, and workers elsewhere do not "
                    f"know the benchmark {benchmark.name}.",
                    "Register the benchmark by an entry point, or leave out --workers.",
                )
            self._benchmark = benchmark.name
            self._supply = self._site.lay_out(encode(chunk) for chunk in in_chunks(items))
        self._prepared = True
        for member in list(self._members.values()):
            if member.open:
                self._make_ready(member)
        while not self._ready():
            self._pump()

    def keep(self, folder: Path) -> None:
        """Nothing: models that make files were refused."""

    def measured(self, windows: Iterable[Window]) -> Iterator[tuple[Window, list[int]]]:
        """Each window with the size of each item; workers count the next while they are asked."""
        ahead: deque[Sizes] = deque()
        most = 1 + self._site.count * DEPTH * self.batch // WINDOW
        for window in windows:
            ahead.append(self._sizes(window))
            if len(ahead) > most:
                yield self._when_known(ahead.popleft())
        while ahead:
            yield self._when_known(ahead.popleft())

    def work(self, batches: Iterable[Sequence[Numbered]]) -> Iterator[list[Done]]:
        """Ask all batches, in whatever order they come back."""
        coming = iter(batches)
        while True:
            self._hand_out(coming)
            if not self._parcels and not self._busy() and not self._done:
                yield self._verdicts
                return
            if not self._done:
                self._pump()
            done, self._done = self._done, []
            yield done

    def paces(self) -> tuple[list[WorkerPace], int, int]:
        """What each worker did so far, how many there are to be, and how many died."""
        now = time.monotonic()
        found = []
        for member in self._ready():
            found.append(WorkerPace(member.place, member.items, now - member.since))
        return found, self._site.count, self._lost

    def close(self) -> None:
        """End all workers."""
        self._site.close()

    # Handing out

    def _hand_out(self, coming: Iterator[Sequence[Numbered]]) -> None:
        """Give batches to workers that have room, and plan the next one."""
        while True:
            if not self._parcels:
                self._parcels.give_back(map(Parcel, islice(coming, 1)))
            member = self._roomiest()
            parcel = self._parcels.next() if member else None
            if member is None or parcel is None:
                return
            self._call(member, "ask", parcel, packed(parcel.batch))

    def _roomiest(self) -> Member | None:
        """The worker with the least to do, if it can take a batch."""
        best = min(self._ready(), key=lambda member: len(member.calls), default=None)
        return best if best is not None and len(best.calls) < DEPTH else None

    def _ready(self) -> list[Member]:
        return [member for member in self._members.values() if member.ready]

    def _busy(self) -> bool:
        return any(member.calls for member in self._ready())

    def _call(self, member: Member, method: str, about: Any, *arguments: Any) -> None:
        self._number += 1
        member.calls[self._number] = (method, about)
        member.worker.call(self._number, method, *arguments)

    # Sizes of items

    def _sizes(self, window: Window) -> Sizes:
        sizes = Sizes(window)
        member = min(self._ready(), key=lambda member: len(member.calls), default=None)
        if self.about.sizes and member is not None:
            self._call(member, "sizes", sizes, packed(window))
        else:
            _guess(sizes)
        return sizes

    def _when_known(self, sizes: Sizes) -> tuple[Window, list[int]]:
        while sizes.found is None:
            self._pump()
        return sizes.window, sizes.found

    # What comes back

    def _pump(self) -> None:
        """Wait a moment for something to come back, and take it."""
        for event in self._site.wait(TICK):
            member = self._members.get(event.worker)
            if member is None:  # what a dead worker had said before
                continue
            if event.died:
                self._bury(member, event.died)
            elif event.number in member.calls:
                self._take(member, event)
        self._check_patience()

    def _take(self, member: Member, event: Event) -> None:
        method, about = member.calls.pop(event.number)
        if isinstance(event.value, Failure):
            error = _error_of(event.value)
            if method not in ("open", "prepare"):
                raise error
            self._refuse(member, error)
        elif method == "sizes":
            about.found = event.value
        elif method == "ask":
            self._take_answers(member, about, event.value)
        elif method == "hello":
            member.place = event.value
        elif method == "open":
            self._welcome(member, event.value)
        else:
            self._learn(event.value)
            self._start(member)

    def _take_answers(self, member: Member, parcel: Parcel, value: bytes) -> None:
        reply = decode_reply(value)
        if reply.description is not None:
            self.about.description = reply.description
        self.batch = min(self.batch, reply.batch, self._parcels.answered(parcel))
        self._deaths = 0
        self._done += self._verdicts
        self._verdicts = []
        member.items += len(parcel.batch)
        numbers = [number for number, _ in parcel.batch]
        answers = [(numbers[place], answer) for place, answer in reply.answers]
        self._done.append(Done(parcel.batch, answers, reply.seconds))

    # Coming and going

    def _hire(self) -> None:
        worker = self._site.hire()
        member = self._members[worker] = Member(worker)
        self._call(member, "hello", None)
        self._call(member, "open", None)

    def _welcome(self, member: Member, value: bytes) -> None:
        """A worker has opened the model: it must be the model that the others have."""
        about = decode_ready(value).about
        self._failed_starts = 0
        changed = _differences(about, self._about, self._files)
        if changed:
            error = RunError(
                f"The model of {member.place} is not the one of the others: "
                f"{', '.join(changed)} differs.",
                "Put the same files and the same Gnomon on every machine.",
            )
            self._refuse(member, error)
            return
        if self._about is None:
            self._learn(value)
        member.open = True
        if self._prepared:
            self._make_ready(member)

    def _make_ready(self, member: Member) -> None:
        if self.about.prepares:
            self._call(member, "prepare", None, self._supply, self._benchmark)
        else:
            self._start(member)

    def _learn(self, value: bytes) -> None:
        ready = decode_ready(value)
        if self._about is None:
            self.batch = ready.batch
        self._about, self.budget = ready.about, ready.budget

    def _start(self, member: Member) -> None:
        member.ready = True
        member.since = time.monotonic()

    def _refuse(self, member: Member, error: GnomonError) -> None:
        """Do without a worker that cannot open the model; if there is no other, end."""
        del self._members[member.worker]
        self._site.dismiss(member.worker)
        if not self._members:
            raise error
        who = member.place or member.worker.name
        warnings.warn(f"{who} is done without: {error}", ModelWarning, stacklevel=2)

    def _bury(self, member: Member, reason: str) -> None:
        """A worker is dead: what it held goes to others, and another takes its place."""
        del self._members[member.worker]
        self._site.dismiss(member.worker)
        self._lost += 1
        asked = []
        for method, about in member.calls.values():
            if method == "sizes":
                _guess(about)
            elif method == "ask":
                asked.append(about)
        if asked:
            self._verdicts += self._parcels.blame(asked[0], reason)
            self._parcels.give_back(asked[1:])
        if self._may_hire(member, reason):
            self._hire()

    def _may_hire(self, dead: Member, reason: str) -> bool:
        """Whether it makes sense to start another worker; an error if none is left to go on."""
        if dead.ready:
            self._deaths += 1
            if self._deaths >= DEATHS:
                raise ModelError(
                    f"{DEATHS} workers died one after the other without an answer: {reason}.",
                    "What was answered is kept. Look into the workers' logs, give them more "
                    "memory, and give the same command again.",
                )
            return True
        self._failed_starts += 1
        if self._failed_starts < STARTS:
            return True
        if not self._members:
            raise ModelError(
                f"Workers die while they load the model: {reason}.",
                "Does the model fit into memory, and is the same Gnomon installed on every "
                "machine? Try fewer workers.",
            )
        return False

    def _check_patience(self) -> None:
        """End if for too long no worker could be started."""
        now = time.monotonic()
        if any(member.place for member in self._members.values()):
            self._idle_since = now
        elif now - self._idle_since > PATIENCE:
            raise ModelError(
                f"No worker could be started within {PATIENCE / 60:.0f} minutes.",
                "Is there room for one? Look at the cluster, or ask for less with "
                "--cpus-per-worker and --gpus-per-worker. What was answered is kept.",
            )


def _guess(sizes: Sizes) -> None:
    sizes.found = [default_size(item) for _, item in sizes.window]


def _error_of(failure: Failure) -> GnomonError:
    return ERRORS.get(failure.kind, ModelError)(failure.message, failure.hint)


def _differences(now: About, before: About | None, files: dict[str, str]) -> list[str]:
    """In what a worker's model differs from that of the others, or from what the driver sees."""
    if before is None:
        before = now
    changed = _changed(files or before.files, now.files)
    changed += _changed(determining(before.description), determining(now.description))
    if now.version != before.version:
        changed.append("the version of Gnomon")
    return sorted(set(changed))


def _changed(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    return [key for key in before.keys() | now.keys() if before.get(key) != now.get(key)]
