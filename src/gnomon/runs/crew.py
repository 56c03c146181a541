"""Many workers as one: batches are handed out, and what a dead worker held is asked elsewhere.

A batch whose worker dies twice is halved until the item that kills is found, which is then listed
as failed. A worker that dies is replaced. All of this is plain bookkeeping over events of a site,
and so the same for processes and for Ray.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from gnomon.contracts import Benchmark
from gnomon.errors import DataError, GnomonError, ModelError, RunError, UsageError
from gnomon.records import Item
from gnomon.registry import known_benchmark
from gnomon.runs.batches import Numbered, default_size
from gnomon.runs.members import MORE_MEMORY, Member, Members
from gnomon.runs.pace import WorkerPace
from gnomon.runs.parcels import Parcel, Parcels
from gnomon.runs.sites import Event, Site
from gnomon.runs.station import Failure, decode_ready, decode_reply, encode, packed
from gnomon.runs.storing import WINDOW, in_chunks
from gnomon.runs.workers import About, Done, Window, check_can_be_shared

DEPTH = 2  # batches that a worker holds: one that it is at, and one so that it need not wait
TICK = 0.5  # seconds after which whoever watches is told, even if nothing came back
ERRORS = {error.__name__: error for error in (UsageError, DataError, RunError)}


@dataclass
class Sizes:
    """Sizes of the items of a window, once they are known."""

    window: Window
    found: list[int] | None = None

    def guess(self) -> None:
        """Do without the worker that should have counted."""
        self.found = [default_size(item) for _, item in self.window]


class Crew:
    """The workers of a run on one site."""

    def __init__(self, site: Site, files: dict[str, str] | None = None) -> None:
        self._members = Members(site, files or {})
        self._parcels = Parcels()
        self._done: list[Done] = []
        self._verdicts: list[Done] = []  # items to blame, if workers can answer others
        self._fresh_first = False  # a suspect killed the last worker: can others be answered?
        while self._members.first is None:
            self._pump()
        self.about: About = self._members.first.about
        self.budget = self._members.first.budget
        self.batch = self._members.first.batch

    def prepare(self, items: Iterable[Item], benchmark: Benchmark) -> None:
        """Let every worker's model see the items, if it wants to; wait for the first."""
        check_can_be_shared(self.about)
        if self.about.prepares:
            self._check_known(benchmark)
            chunks = (encode(chunk) for chunk in in_chunks(items))
            self._members.show(self._members.site.lay_out(chunks), benchmark.name)
        else:
            self._members.show()
        while not self._members.ready():
            self._pump()

    def _check_known(self, benchmark: Benchmark) -> None:
        if known_benchmark(benchmark.name) is not benchmark:
            raise UsageError(
                f"{self.about.spec} must see all items first, and workers elsewhere do not "
                f"know the benchmark {benchmark.name}.",
                "Register the benchmark by an entry point, or leave out --workers.",
            )

    def keep(self, folder: Path) -> None:
        """Nothing: models that make files were refused."""

    def measured(self, windows: Iterable[Window]) -> Iterator[tuple[Window, list[int]]]:
        """Each window with the size of each item; workers count the next while they are asked."""
        ahead: deque[Sizes] = deque()
        most = 1 + self._members.site.count * DEPTH * self.batch // WINDOW
        for window in windows:
            ahead.append(self._sizes(window))
            if len(ahead) > most:
                yield self._when_known(ahead.popleft())
        while ahead:
            yield self._when_known(ahead.popleft())

    def work(
        self, batches: Iterable[Sequence[Numbered]], *, answered: bool = False
    ) -> Iterator[list[Done]]:
        """Ask all batches, in whatever order they come back."""
        try:
            yield from self._work(iter(batches), answered=answered)
        except GnomonError:
            yield self._taken()  # what others answered is kept
            raise

    def _work(
        self, coming: Iterator[Sequence[Numbered]], *, answered: bool
    ) -> Iterator[list[Done]]:
        while True:
            self._hand_out(coming)
            if not self._parcels and not self._busy() and not self._done:
                self._check_blame(answered=answered)
                yield self._verdicts
                return
            if not self._done:
                self._pump()
            yield self._taken()

    def _check_blame(self, *, answered: bool) -> None:
        """Refuse to blame items if workers died of all of them: it may be the workers' fault."""
        if self._verdicts and not self._members.have_answered and not answered:
            raise ModelError(
                f"All {self._members.lost} workers died before one of them answered anything.",
                MORE_MEMORY,
            )

    def _taken(self) -> list[Done]:
        """What came back since this was last asked for."""
        done, self._done = self._done, []
        return done

    def paces(self) -> tuple[list[WorkerPace], int, int]:
        """What each worker did so far, how many there are to be, and how many died."""
        now = time.monotonic()
        found = []
        for member in self._members.ready():
            found.append(WorkerPace(member.place, member.items, now - member.since))
        return found, self._members.site.count, self._members.lost

    def close(self) -> None:
        """End all workers."""
        self._members.site.close()

    def _hand_out(self, coming: Iterator[Sequence[Numbered]]) -> None:
        """Give batches to workers that have room, and plan the next one."""
        while True:
            if not self._parcels.has_fresh:
                self._parcels.give_back(map(Parcel, islice(coming, 1)))
            member = self._members.least_busy()
            if member is None or len(member.calls) >= DEPTH:
                return
            parcel = self._parcels.next(fresh_first=self._fresh_first)
            if parcel is None:
                return
            self._members.call(member, "ask", parcel, packed(parcel.batch))

    def _busy(self) -> bool:
        return any(member.calls for member in self._members.ready())

    def _sizes(self, window: Window) -> Sizes:
        sizes = Sizes(window)
        member = self._members.least_busy()
        if self.about.sizes and member is not None:
            self._members.call(member, "sizes", sizes, packed(window))
        else:
            sizes.guess()
        return sizes

    def _when_known(self, sizes: Sizes) -> tuple[Window, list[int]]:
        while sizes.found is None:
            self._pump()
        return sizes.window, sizes.found

    def _pump(self) -> None:
        """Wait a moment for something to come back, and take all of it before an error is raised.

        Answers of other workers may stand behind the error, and they are paid for.
        """
        errors = []
        for event in self._members.site.wait(TICK):
            try:
                self._take_event(event)
            except GnomonError as error:
                errors.append(error)
        if errors:
            raise errors[0]
        self._members.check_patience()

    def _take_event(self, event: Event) -> None:
        member = self._members.get(event.worker)
        if member is None:  # what a dead worker had said before
            return
        if event.died:
            self._bury(member, event.died)
        elif event.number in member.calls:
            self._take(member, event)

    def _take(self, member: Member, event: Event) -> None:
        method, about = member.calls.pop(event.number)
        if isinstance(event.value, Failure):
            error = _error_of(event.value)
            if method not in ("open", "prepare"):
                raise error
            self._members.refuse(member, error)
        elif method == "hello":
            member.place = event.value
        elif method == "open":
            self._members.welcome(member, event.value)
        elif method == "prepare":
            self.about = decode_ready(event.value).about
            self._members.start(member)
        elif method == "sizes":
            about.found = event.value
        else:
            self._take_answers(member, about, event.value)

    def _take_answers(self, member: Member, parcel: Parcel, value: bytes) -> None:
        reply = decode_reply(value)
        if reply.description is not None:
            self.about.description = reply.description
        member.kept_replies = reply.kept_replies
        self.about.kept_replies = self._members.kept_replies()
        self.batch = min(self.batch, reply.batch, self._parcels.answered(parcel))
        self._members.answered()
        self._fresh_first = False
        member.items += len(parcel.batch)
        numbers = [number for number, _ in parcel.batch]
        answers = [(numbers[place], answer) for place, answer in reply.answers]
        self._done += [*self._verdicts, Done(parcel.batch, answers, reply.seconds)]
        self._verdicts = []

    def _bury(self, member: Member, reason: str) -> None:
        """A worker is dead: what it held goes to others. The first that it held may be to blame.

        If that was a suspect, a fresh batch comes next, and the other way round: so workers are
        seen to answer although many items that kill stand together, and a batch that is too large
        is halved although all others are too large too.
        """
        asked: list[Parcel] = []
        suspect = False
        for method, about in member.calls.values():
            if method == "sizes":
                about.guess()
            elif method == "ask":
                asked.append(about)
        if asked:
            suspect = self._fresh_first = asked[0].suspect
            self._verdicts += self._parcels.blame(asked[0], reason)
            self._parcels.give_back(asked[1:])
        self._members.bury(member, reason, suspect=suspect)


def _error_of(failure: Failure) -> GnomonError:
    return ERRORS.get(failure.kind, ModelError)(failure.message, failure.hint)
