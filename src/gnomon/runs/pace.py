"""How fast a run goes: a small file in its folder while it goes, for the viewer.

It is rewritten about once a second, and no answer depends on it: whoever finds none, or an old one,
goes by the log.
"""

import time
from contextlib import suppress
from pathlib import Path

import msgspec

PACE = "pace.json"
EVERY = 1.0  # seconds between two states of the file
STALE = 120.0  # seconds after which it says nothing about now
LARGEST = 4 * 2**20  # bytes that are read: 10,000 workers take 1 MB


class WorkerPace(msgspec.Struct, frozen=True):
    """How much one worker did: its name says where it is."""

    name: str
    items: int
    seconds: float  # since it was ready


class Pace(msgspec.Struct, kw_only=True):
    """How fast a run goes, by the process that writes its log."""

    asked: int = 0  # items, by this process and its workers
    seconds: float = 0.0  # since the first
    left: int = 0  # items
    workers: list[WorkerPace] = []
    wanted: int = 1
    lost: int = 0
    at: float = 0.0  # time.time() of writing

    @property
    def speed(self) -> float:
        """Items a second; 0 while that is not known."""
        return self.asked / self.seconds if self.asked and self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """How long the rest takes at this speed; none if that is not known, or nothing is left."""
        return self.left / self.speed if self.speed and self.left else None


def pace_in_words(pace: Pace) -> str:
    """Items a second, of all and of each worker, and how long still.

    >>> pace_in_words(Pace(asked=100, seconds=10.0, left=100))
    '10.0 items/s · 10 s left'
    >>> pace_in_words(Pace(asked=9, seconds=3.0, left=9, wanted=4, lost=1,
    ...     workers=[WorkerPace("a", 3, 2.0), WorkerPace("b", 6, 3.0)]))
    '3.0 items/s · 2 of 4 workers, 1.5 to 2.0 each, 1 lost · 3 s left'
    """
    parts = []
    if pace.speed:
        parts.append(f"{pace.speed:,.1f} items/s")
    if pace.wanted > 1 or pace.lost:
        parts.append(_workers_in_words(pace))
    if pace.seconds_left is not None:
        parts.append(f"{duration(pace.seconds_left)} left")
    return " · ".join(parts)


def _workers_in_words(pace: Pace) -> str:
    ready = len(pace.workers)
    words = f"{ready:,} workers"
    if ready != pace.wanted:
        words = f"{ready:,} of {pace.wanted:,} workers"
    at_work = [each for each in pace.workers if each.items and each.seconds > 0]
    speeds = [each.items / each.seconds for each in at_work]
    if speeds:
        slowest, fastest = f"{min(speeds):,.1f}", f"{max(speeds):,.1f}"
        each = slowest if slowest == fastest else f"{slowest} to {fastest}"
        words += f", {each} each"
    if pace.lost:
        words += f", {pace.lost:,} lost"
    return words


def duration(seconds: float) -> str:
    """A time as people say it.

    >>> duration(4), duration(75), duration(7300)
    ('4 s', '1 min 15 s', '2 h 01 min')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02} min"
    if minutes:
        return f"{minutes} min {rest:02} s"
    return f"{rest} s"


class PaceFile:
    """Keeps the file up to date, and removes it at the end. A disk that refuses it is no fault."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / PACE
        self._next = time.monotonic() + EVERY

    def is_due(self) -> bool:
        """Whether the file is to be written again."""
        return time.monotonic() >= self._next

    def write(self, pace: Pace) -> None:
        """Replace the file in one step."""
        self._next = time.monotonic() + EVERY
        pace.at = time.time()
        part = self._file.with_suffix(".part")
        with suppress(OSError):
            part.unlink(missing_ok=True)  # whoever sent the run may have put a link there
            part.write_bytes(msgspec.json.encode(pace))
            part.replace(self._file)

    def remove(self) -> None:
        """Leave nothing behind."""
        with suppress(OSError):
            self._file.unlink(missing_ok=True)


def read_pace(folder: Path) -> Pace | None:
    """How fast a run goes now; none if nobody is at work on it, or nobody says so."""
    file = folder / PACE
    try:
        if not file.is_file() or file.stat().st_size > LARGEST:
            return None
        pace = msgspec.json.decode(file.read_bytes(), type=Pace)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return pace if abs(time.time() - pace.at) < STALE else None
