"""The jobs of the harness: each is a process of its own, and none outlives the harness.

Every process of a job carries a mark in its environment, by which it is found again, even in a session
of its own. A guard holds one end of a pipe: however the harness ends, the guard ends what has its mark.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from typing import NamedTuple

from hostile.tally import KEPT, Tally, loaded

ROOT = Path(__file__).parent.parent
MARK = "GNOMON_HOSTILE"
LONGEST = 1500  # seconds of one job, on a machine that has much else to do
GRACE = 5.0  # seconds in which the helpers of a job may end after it


class Job(NamedTuple):
    """A module with its arguments, and the part to which it belongs."""

    part: str
    words: tuple[str, ...]
    waits: bool = False  # most of its time, so that it runs beside two others

    @property
    def command(self) -> str:
        """What repeats it by hand."""
        return f"python -m hostile.{' '.join(self.words)}"


@dataclass(frozen=True)
class Done:
    """What a job found, what it said beside, and what it took."""

    job: Job
    found: dict[str, Tally]
    said: str
    seconds: float
    busy: float  # seconds of processor time, of all its processes

    @property
    def faults(self) -> int:
        return sum(tally.faulty for tally in self.found.values())

    @property
    def tried(self) -> int:
        return sum(tally.tried for tally in self.found.values())


class Harness(NamedTuple):
    """What all jobs of one harness share: the start of their marks, and a folder for what they write."""

    mark: str
    scratch: Path


@contextmanager
def harness() -> Iterator[Harness]:
    """A folder for the jobs, and a guard who ends all of them should this process be killed."""
    scratch = Path(tempfile.mkdtemp(prefix="gnomon-hostile-"))
    made = Harness(f"{MARK}={scratch}/", scratch)
    watched, held = os.pipe()
    guard = os.fork()
    if guard == 0:
        os.close(held)
        _guard(made, watched)
    os.close(watched)
    try:
        yield made
    finally:
        os.close(held)
        os.waitpid(guard, 0)


def _guard(made: Harness, watched: int) -> None:
    """Wait until the harness is gone, end its processes, and remove what they wrote but kept inputs."""
    try:
        os.setsid()
        os.read(watched, 1)
        end_marked(made.mark)
        for path in made.scratch.iterdir():
            if not path.name.startswith(KEPT):
                shutil.rmtree(path, ignore_errors=True)
        with suppress(OSError):  # kept inputs stay
            made.scratch.rmdir()
    finally:
        os._exit(0)


def marked(mark: str) -> list[int]:
    """The processes that carry a mark."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it ended, or it is another user's
            if mark.encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
    return found


def end_marked(mark: str) -> int:
    """Kill all processes with a mark until there are none; how many there were."""
    ended = set()
    while found := marked(mark):
        for process in found:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        ended.update(found)
        time.sleep(0.02)
    return len(ended)


def done(job: Job, number: int, within: Harness) -> Done:
    """Do a job in a process of its own."""
    folder = within.scratch / str(number)
    folder.mkdir()
    mark = f"{MARK}={folder}\0"
    module, *words = job.words
    command = [sys.executable, "-m", f"hostile.{module}", *words, "--json"]
    environment = {**os.environ, "TMPDIR": str(folder), MARK: str(folder)}
    began = time.monotonic()
    with (folder / "out").open("w") as out, (folder / "said").open("w") as said:
        process = subprocess.Popen(
            command, stdout=out, stderr=said, cwd=ROOT, env=environment, start_new_session=True
        )
        late = Timer(LONGEST, end_marked, [mark])
        late.start()
        _, status, usage = os.wait4(process.pid, 0)
        late.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.monotonic() - began
    told = (folder / "said").read_text(errors="replace")
    found = _found(job, (folder / "out").read_text(errors="replace"), process.returncode, told)
    _look_for_processes_left(mark, found)
    _clear(folder, within.scratch)
    return Done(job, found, told, seconds, usage.ru_utime + usage.ru_stime)


def _found(job: Job, printed: str, code: int, told: str) -> dict[str, Tally]:
    """What a job printed; one that ended otherwise than by a fault it tells has failed itself."""
    found: dict[str, Tally] = {}
    with suppress(ValueError):
        found = loaded(printed)
    if code and not any(tally.faulty for tally in found.values()):
        failed = found.setdefault(job.command, Tally())
        failed.fault("failed", f"the attack itself ended with {code}: {told[-300:]}")
    return found


def _look_for_processes_left(mark: str, found: dict[str, Tally]) -> None:
    """A process that outlives its job is a fault, and is ended."""
    until = time.monotonic() + GRACE
    while marked(mark) and time.monotonic() < until:
        time.sleep(0.1)
    left = end_marked(mark)
    if left:
        tally = found.setdefault("processes", Tally())
        tally.fault("failed", f"{left} processes were left behind")


def _clear(folder: Path, scratch: Path) -> None:
    """Remove what a job wrote, but the inputs with faults."""
    for kept in folder.glob(f"{KEPT}*"):
        kept.rename(scratch / kept.name)
    shutil.rmtree(folder, ignore_errors=True)
