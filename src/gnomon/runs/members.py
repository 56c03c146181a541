"""The workers of a crew: who comes, who is ready, who is done without, who replaces the dead."""

from __future__ import annotations

import time
import warnings
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from gnomon.errors import GnomonError, ModelError, ModelWarning, RunError
from gnomon.runs import determining
from gnomon.runs.sites import Site, Worker
from gnomon.runs.station import Ready, decode_ready
from gnomon.runs.workers import About

STARTS = 3  # workers in a row that may die while they load the model or are shown the items
DEATHS = 20  # workers in a row that may die without a single answer between them
PATIENCE = 600.0  # seconds without a single worker, be it one that still loads the model
MORE_MEMORY = (
    "What was answered is kept. Look into the workers' logs, give them more memory, and give the "
    "same command again."
)


@dataclass(eq=False)
class Member:
    """A worker, what it was asked and has not answered yet, and what it did."""

    worker: Worker
    calls: dict[int, tuple[str, Any]] = field(default_factory=dict)
    place: str = ""  # where it is, once it has been started
    open: bool = False
    ready: bool = False
    since: float = 0.0
    items: int = 0
    kept_replies: dict[str, int] = field(default_factory=dict)


class Members:
    """All workers that there are at a time, on one site."""

    def __init__(self, site: Site, files: dict[str, str]) -> None:
        self.site = site
        self._files = files  # of the model, as the driver sees them
        self._all: dict[Worker, Member] = {}
        self._number = 0
        self._supply: tuple[Any, ...] | None = None  # what is shown to a model before it is asked
        self._refusals: list[str] = []  # to be told once there is a worker to go on with
        self._failed_starts = 0
        self._deaths = 0  # since the last answer
        self.have_answered = False  # anything at all
        self._idle_since = time.monotonic()
        self.lost = 0
        self.first: Ready | None = None  # what the first worker said of the model
        for _ in range(site.count):
            self._hire()

    def get(self, worker: Worker) -> Member | None:
        """The member of a worker; none if it is dead or done without."""
        return self._all.get(worker)

    def ready(self) -> list[Member]:
        """Those that can be asked."""
        return [member for member in self._all.values() if member.ready]

    def kept_replies(self) -> dict[str, int]:
        """How many kept replies all of them used, by day."""
        return dict(sum((Counter(each.kept_replies) for each in self._all.values()), Counter()))

    def least_busy(self) -> Member | None:
        """The one that can be asked and has the least to do."""
        return min(self.ready(), key=lambda member: len(member.calls), default=None)

    def call(self, member: Member, method: str, about: Any, *arguments: Any) -> None:
        """Ask a worker for something; `about` is kept until it has answered."""
        self._number += 1
        member.calls[self._number] = (method, about)
        member.worker.call(self._number, method, *arguments)

    def show(self, *supply: Any) -> None:
        """Let all workers see the items, now and when they come later; nothing if they need not."""
        self._supply = supply
        for member in list(self._all.values()):
            if member.open:
                self._make_ready(member)

    def welcome(self, member: Member, value: bytes) -> None:
        """A worker has opened the model: it must be the model that the others have."""
        ready = decode_ready(value)
        first = self.first or ready
        changed = _differences(ready.about, first.about, self._files)
        if changed:
            error = RunError(
                f"The model of {member.place} is not the one of the others: "
                f"{', '.join(changed)} differs.",
                "Put the same files and the same Gnomon on every machine.",
            )
            self.refuse(member, error)
            return
        self.first = first
        member.open = True
        if self._supply is not None:
            self._make_ready(member)

    def start(self, member: Member) -> None:
        """A worker can be asked."""
        self._failed_starts = 0
        member.ready = True
        member.since = time.monotonic()
        self._tell_refusals()

    def refuse(self, member: Member, error: GnomonError) -> None:
        """Do without a worker that cannot open the model; if there is no other, end."""
        self._dismiss(member)
        if not self._all:
            raise error
        self._refusals.append(f"{member.place} is done without: {error}")
        if self.ready():
            self._tell_refusals()

    def bury(self, member: Member, reason: str, *, suspect: bool = False) -> None:
        """A worker is dead: another takes its place.

        A death of what others died of before says nothing of the workers, if they can answer.
        """
        self._dismiss(member)
        self.lost += 1
        if member.ready:
            if not suspect or not self.have_answered:
                self._count_death(reason)
            self._hire()
        elif self._may_start(reason):
            self._hire()

    def answered(self) -> None:
        """One of them has answered something: not all of them die."""
        self._deaths = 0
        self.have_answered = True

    def check_patience(self) -> None:
        """End if for too long no worker could be started."""
        now = time.monotonic()
        if any(member.place for member in self._all.values()):
            self._idle_since = now
        elif now - self._idle_since > PATIENCE:
            raise ModelError(
                f"No worker could be started within {PATIENCE / 60:.0f} minutes.",
                "Is there room for one? Look at the cluster, or ask for less with "
                "--cpus-per-worker and --gpus-per-worker. What was answered is kept.",
            )

    def _tell_refusals(self) -> None:
        """Told only when there is somebody to go on with: else the error says it."""
        for refusal in self._refusals:
            warnings.warn(refusal, ModelWarning, stacklevel=2)
        self._refusals = []

    def _hire(self) -> None:
        worker = self.site.hire()
        member = self._all[worker] = Member(worker)
        self.call(member, "hello", None)
        self.call(member, "open", None)

    def _dismiss(self, member: Member) -> None:
        del self._all[member.worker]
        self.site.dismiss(member.worker)

    def _make_ready(self, member: Member) -> None:
        if self._supply:
            self.call(member, "prepare", None, *self._supply)
        else:
            self.start(member)

    def _count_death(self, reason: str) -> None:
        """One more died: an error if that were too many."""
        self._deaths += 1
        if self._deaths >= DEATHS:
            raise ModelError(
                f"{DEATHS} workers died one after the other without an answer: {reason}.",
                MORE_MEMORY,
            )

    def _may_start(self, reason: str) -> bool:
        """Whether to start another one for one that never began; an error if none is left."""
        self._failed_starts += 1
        if self._failed_starts < STARTS:
            return True
        if not self._all:
            raise ModelError(
                f"Workers die while they load the model: {reason}.",
                "Give each more memory or try fewer workers, and see that the same Gnomon is "
                "installed on every machine. A script must start the run below "
                'if __name__ == "__main__": since each worker reads the script.',
            )
        return False


def _differences(now: About, before: About, files: dict[str, str]) -> list[str]:
    """In what a worker's model differs from that of the others, or from what the driver sees."""
    changed = _changed(files or before.files, now.files)
    changed += _changed(determining(before.description), determining(now.description))
    if now.version != before.version:
        changed.append("the version of Gnomon")
    return sorted(set(changed))


def _changed(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    return [key for key in before.keys() | now.keys() if before.get(key) != now.get(key)]
