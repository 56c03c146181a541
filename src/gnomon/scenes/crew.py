"""A crew of processes that do jobs side by side: each job is a line of JSON, and so is its result.

The workers are started by command rather than forked, so that a script needs no guard and threads
do no harm. A worker ends when the one who started it does.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import IO, Any

import msgspec

from gnomon.errors import DataError

FEW = 3  # jobs for which no worker is started
INTERRUPTED = 130
Job = Callable[[Any], Any]  # takes and gives what JSON can hold
Watch = Callable[[int, int], None]  # is told how many jobs are done, of how many


def do_jobs(
    module: str, job: Job, tasks: Sequence[Any], *, processes: int = 0, watch: Watch | None = None
) -> Iterator[Any]:
    """The results of a job for all tasks, in their order.

    module     runs `serve(job)` if it is started by `python -m`
    processes  how many work side by side; 0 for as many as there are cores
    """
    count = min(processes or cores(), len(tasks))
    if count <= 1 or len(tasks) <= FEW or not sys.executable:
        yield from _watched(map(job, tasks), len(tasks), watch)
        return
    crew = _Crew(module)
    threads = ThreadPoolExecutor(count)
    try:
        yield from _watched(threads.map(crew.ask, tasks), len(tasks), watch)
    finally:
        threads.shutdown(cancel_futures=True)  # after Ctrl-C only the tasks at hand are finished
        crew.close()


def cores() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _watched(results: Iterator[Any], total: int, watch: Watch | None) -> Iterator[Any]:
    for done, result in enumerate(results, start=1):
        if watch:
            watch(done, total)
        yield result


class _Crew:
    """Workers, one for each thread that asks."""

    def __init__(self, module: str) -> None:
        paths = [path for path in sys.path if path]
        self._environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        self._command = [sys.executable, "-P", "-m", module]
        self._own = threading.local()
        self._all: list[subprocess.Popen[bytes]] = []

    def ask(self, task: Any) -> Any:
        """Let the worker of this thread do one task."""
        worker: subprocess.Popen[bytes] | None = getattr(self._own, "worker", None)
        if worker is None:
            worker = self._own.worker = self._start()
        assert worker.stdin is not None
        assert worker.stdout is not None
        try:
            worker.stdin.write(msgspec.json.encode(task) + b"\n")
            worker.stdin.flush()
            reply = worker.stdout.readline()
        except OSError:
            reply = b""
        if not reply.endswith(b"\n"):
            hint = "Give the command again: what is done is kept."
            raise DataError("a process that draws pictures ended before its time.", hint)
        answer = msgspec.json.decode(reply)
        if "problem" in answer:
            raise DataError(answer["problem"], answer["hint"])
        return answer["result"]

    def _start(self) -> subprocess.Popen[bytes]:
        worker = subprocess.Popen(  # noqa: S603 - our own module
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=self._environment,
        )
        self._all.append(worker)
        return worker

    def close(self) -> None:
        """Let the workers end, each after the task at hand."""
        for worker in self._all:
            for stream in (worker.stdin, worker.stdout):
                if stream:
                    with suppress(OSError):  # a worker that died has not read everything
                        stream.close()
            worker.wait()


def serve(job: Job) -> int:
    """Do the jobs that come in on the standard input until it ends: what a worker does."""
    tasks, results = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # nothing else may be said there
    try:
        for line in tasks:
            _answer(job, line, results)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # nobody waits for the result
        os.dup2(os.open(os.devnull, os.O_WRONLY), results.fileno())
    return 0


def _answer(job: Job, line: bytes, results: IO[bytes]) -> None:
    try:
        answer = {"result": job(msgspec.json.decode(line))}
    except DataError as error:
        answer = {"problem": error.message, "hint": error.hint}
    except OSError as error:
        answer = {"problem": f"{error}.", "hint": "Check the disk and the folder's permissions."}
    results.write(msgspec.json.encode(answer) + b"\n")
    results.flush()
