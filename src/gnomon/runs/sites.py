"""Where workers are: how they are started, called and found dead. Two sites: processes, and Ray.

A worker is called by number, and its replies come back as events, in any order.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol


class Worker(Protocol):
    """A process elsewhere that holds a model; see gnomon.runs.station for what it can do."""

    name: str  # where it is, for people

    def call(self, number: int, method: str, *arguments: Any) -> None:
        """Ask it for something, without waiting."""
        ...


class Event(NamedTuple):
    """What came back from a worker: the value of a call, or that it died and why."""

    worker: Worker
    number: int = 0  # of the call
    value: Any = None
    died: str = ""


class Site(Protocol):
    """Where workers are."""

    count: int  # of workers that there are to be

    def hire(self) -> Worker:
        """Start a worker, without waiting for it. It may have to wait for room."""
        ...

    def dismiss(self, worker: Worker) -> None:
        """End a worker, or what is left of it."""
        ...

    def wait(self, seconds: float) -> list[Event]:
        """What came back since, or comes within so many seconds.

        Raises ModelError if the whole site is gone.
        """
        ...

    def lay_out(self, chunks: Iterable[bytes]) -> Any:
        """Put items where every worker can read them, and say how: an argument for `prepare`."""
        ...

    def close(self) -> None:
        """End all workers."""
        ...
