"""Workers that are processes of this machine, each with a pipe to the driver."""

from __future__ import annotations

import multiprocessing
import os
import queue
import signal
import struct
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from tempfile import TemporaryDirectory
from typing import Any

from gnomon.registry import ModelSpec
from gnomon.runs.sites import Event, Worker
from gnomon.runs.station import Station

LENGTH = struct.Struct("<Q")  # before each chunk of items
GRACE = 2.0  # seconds for a worker to end by itself


class ProcessWorker:
    """A process and the pipe to it."""

    def __init__(self, process: SpawnProcess, pipe: Connection) -> None:
        self.process, self.pipe = process, pipe
        self.name = f"process {process.pid}"

    def call(self, number: int, method: str, *arguments: Any) -> None:
        """Ask it for something; that it is dead is found when its reply is waited for."""
        with suppress(OSError):
            self.pipe.send((number, method, arguments))


class ProcessSite:
    """Processes of this machine."""

    def __init__(self, spec: ModelSpec, count: int, *, run: str = "", blind: bool) -> None:
        self.count = count
        threads = max(1, (os.cpu_count() or 1) // count)
        self._start = (spec, run, blind, os.getcwd(), threads)
        self._workers: dict[Connection, ProcessWorker] = {}
        self._folder: TemporaryDirectory[str] | None = None

    def hire(self) -> ProcessWorker:
        """Start a process. Ctrl-C in a terminal is for the driver alone."""
        context = multiprocessing.get_context("spawn")
        mine, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, *self._start), daemon=True)
        with _interrupts_held_back():
            process.start()
        theirs.close()
        worker = ProcessWorker(process, mine)
        self._workers[mine] = worker
        return worker

    def dismiss(self, worker: Worker) -> None:
        """End a process."""
        assert isinstance(worker, ProcessWorker)
        self._workers.pop(worker.pipe, None)
        worker.pipe.close()
        worker.process.kill()
        worker.process.join()

    def wait(self, seconds: float) -> list[Event]:
        """What came back through the pipes; one that was closed belongs to a dead process."""
        events = []
        for pipe in wait(list(self._workers), seconds):
            assert isinstance(pipe, Connection)
            worker = self._workers[pipe]
            try:
                number, value = pipe.recv()
                events.append(Event(worker, number, value))
            except (EOFError, OSError):
                worker.process.join(GRACE)
                events.append(Event(worker, died=_how_it_ended(worker.process.exitcode)))
        return events

    def lay_out(self, chunks: Iterable[bytes]) -> FileOfItems:
        """Put the items into a file that only this user can read."""
        self._folder = TemporaryDirectory(prefix="gnomon-items-")
        file = os.path.join(self._folder.name, "items")
        with open(file, "wb") as out:
            for chunk in chunks:
                out.write(LENGTH.pack(len(chunk)) + chunk)
        return FileOfItems(file)

    def close(self) -> None:
        """End all processes: politely, then not."""
        workers = list(self._workers.values())
        for worker in workers:
            worker.pipe.close()
        for worker in workers:
            worker.process.join(GRACE)
            if worker.process.exitcode is None:
                worker.process.kill()
                worker.process.join()
        self._workers = {}
        if self._folder:
            self._folder.cleanup()


class FileOfItems:
    """Chunks of items in a file, each after its length; every reading begins anew."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __iter__(self) -> Iterator[bytes]:
        with open(self._path, "rb") as stream:
            while head := stream.read(LENGTH.size):
                (length,) = LENGTH.unpack(head)
                yield stream.read(length)


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """While inside, processes are started that Ctrl-C does not reach: they inherit what is held."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _how_it_ended(code: int | None) -> str:
    if code is None or code >= 0:
        return f"the process ended (exit code {code})"
    try:
        return f"the process was ended by {signal.Signals(-code).name}"
    except ValueError:  # a signal that this Python has no name for
        return f"the process was ended by signal {-code}"


def _serve(
    pipe: Connection, spec: ModelSpec, run: str, blind: bool, folder: str, threads: int
) -> None:
    """In the worker: do what is asked, until the driver closes the pipe or is gone."""
    os.environ.setdefault("OMP_NUM_THREADS", str(threads))
    station = Station(spec, run=run, blind=blind, folder=folder)
    calls: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(pipe, calls), daemon=True).start()
    while (call := calls.get()) is not None:
        number, method, arguments = call
        value = station.call(method, *arguments)
        try:
            pipe.send((number, value))
        except OSError:  # the driver is gone
            break
    station.close()


def _listen(pipe: Connection, calls: queue.SimpleQueue[Any]) -> None:
    """Read on while the model is busy: else driver and worker might wait for each other to read."""
    try:
        while True:
            calls.put(pipe.recv())
    except (EOFError, OSError):
        calls.put(None)
