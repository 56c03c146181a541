"""A child process that may die: it holds an object, does its methods, and is found dead.

A child is started by command rather than forked, so that a script needs no guard and threads do no
harm. It has a process group of its own: Ctrl-C in a terminal reaches its parent alone, which says
what becomes of it. It ends when the one who started it does. What it sends is data and never
unpickled: compiled code that crashes may write anything.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import struct
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import IO, Any

import msgspec

from gnomon.errors import DataError, GnomonError, ModelError, RunError, UsageError

FEW = 3  # tasks for which no child is started
MOMENT, LIVELY, MINUTE = 2.0, 0.2, 60.0  # seconds before a notice, and between two
GRACE = 2.0  # seconds for a child to end by itself
INTERRUPTED = 130  # exit code after Ctrl-C
LENGTH = struct.Struct("<Q")  # before each reply
LARGEST = 2**31  # bytes of a reply
VALUE, ERROR, FAULT = "value", "error", "fault"
ERRORS = {error.__name__: error for error in (UsageError, DataError, RunError, ModelError)}
Watch = Callable[[int, int], None]  # is told how many tasks are done, of how many


class ChildDiedError(Exception):
    """The process is gone; the text says how it ended."""

    def __init__(self, reason: str, code: int | None = None) -> None:
        super().__init__(reason)
        self.code = code


class ChildFaultError(Exception):
    """A method raised what is no error for people; the text is its type and its words."""


class ChildReply(msgspec.Struct, array_like=True):
    """What became of a call: its value, an error for people in words, or a fault of the code."""

    kind: str
    value: Any = None
    words: tuple[str, ...] = ()


def attempt(function: Callable[..., Any], *arguments: Any) -> ChildReply:
    """What a function gives, or why it gives nothing, as it travels from a child."""
    try:
        return ChildReply(VALUE, function(*arguments))
    except GnomonError as error:
        return ChildReply(ERROR, words=(type(error).__name__, error.message, error.hint))
    except Exception as error:  # a model is a stranger's code and may fail in any way
        text = " ".join(str(error).split())
        return ChildReply(FAULT, words=(f"{type(error).__name__}: {text}", traceback.format_exc()))


def value_of(reply: ChildReply) -> Any:
    """The value of a call; an error for people is raised as it was there."""
    if reply.kind == VALUE:
        return reply.value
    words = [*reply.words, "", "", ""]
    if reply.kind == ERROR:
        raise ERRORS.get(words[0], ModelError)(words[1], words[2])
    fault = ChildFaultError(words[0])
    fault.add_note(words[1])
    raise fault


class Child:
    """A process with an object in it: what `make` gives there for the arguments.

    `make` is a class or function at the top level of a module, which the child imports. A child
    that is told to `stop_with_parent` is interrupted at whatever it does when the parent is gone;
    others finish what they are at.
    """

    def __init__(
        self,
        make: Callable[..., Any],
        *arguments: Any,
        environment: Mapping[str, str] | None = None,
        stop_with_parent: bool = False,
    ) -> None:
        paths = os.pathsep.join(path for path in sys.path if path)
        self._process: subprocess.Popen[bytes] = subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-P", "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": paths, **(environment or {})},
            process_group=0 if os.name == "posix" else None,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests, self._replies = self._process.stdin, self._process.stdout
        with suppress(OSError):  # that it is dead is found at the first call
            self._send((sys.argv, stop_with_parent, make, arguments))

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def call(self, method: str, *arguments: Any) -> Any:
        """What a method of the object gives: strings, numbers, bytes, lists and mappings.

        An error for people is raised here as it was there. Ctrl-C is passed on.
        """
        try:
            self._send((method, arguments))
            reply = self._receive()
        except (OSError, EOFError, ValueError, msgspec.MsgspecError):
            raise self._died() from None
        return value_of(reply)

    def close(self) -> None:
        """Let the child end, after what it is at."""
        self._let_go()
        self._process.wait()

    def end(self) -> None:
        """Let the child end, or end it."""
        self._let_go()
        try:
            self._process.wait(GRACE)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """End the child at once; a thread that waits for its reply finds it dead."""
        self._process.kill()
        self._process.wait()

    def _let_go(self) -> None:
        for pipe in (self._requests, self._replies):
            with suppress(OSError):  # a child that died has not read everything
                pipe.close()

    def _died(self) -> ChildDiedError:
        """How the child ended; one that only said nonsense is ended."""
        self._let_go()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE)
        code = self._process.returncode
        self.kill()
        if code is None or code >= 0:
            return ChildDiedError(f"the process ended ({how_it_ended(code)})", code)
        return ChildDiedError(f"the process was ended by {how_it_ended(code)}", code)

    def _send(self, value: Any) -> None:
        pickle.dump(value, self._requests)
        self._requests.flush()

    def _receive(self) -> ChildReply:
        while True:
            try:
                (length,) = LENGTH.unpack(self._read(LENGTH.size))
                break
            except KeyboardInterrupt:
                self._process.send_signal(signal.SIGINT)
        if length > LARGEST:
            raise ValueError("this is no reply")
        return msgspec.msgpack.decode(self._read(length), type=ChildReply)

    def _read(self, size: int) -> bytes:
        found = self._replies.read(size)
        if len(found) < size:
            raise EOFError
        return found


def how_it_ended(code: int | None) -> str:
    """An exit code in words.

    >>> how_it_ended(3), how_it_ended(-9)
    ('exit code 3', 'SIGKILL')
    """
    if code is None or code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:  # a signal that this Python has no name for
        return f"signal {-code}"


def cores() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def do_jobs(
    job: Callable[[Any], Any],
    tasks: Sequence[Any],
    *,
    processes: int = 0,
    watch: Watch | None = None,
) -> Iterator[Any]:
    """The results of a job for all tasks, in their order.

    job        a function at the top level of a module; takes and gives what JSON can hold
    processes  how many work side by side; 0 for as many as there are cores
    """
    count = min(processes or cores(), len(tasks))
    if count <= 1 or len(tasks) <= FEW or not sys.executable:
        yield from _watched(map(job, tasks), len(tasks), watch)
        return
    children = _Children(job)
    threads = ThreadPoolExecutor(count)
    try:
        yield from _watched(threads.map(children.do, tasks), len(tasks), watch)
    finally:
        threads.shutdown(cancel_futures=True)  # after Ctrl-C only the tasks at hand are finished
        children.close()


class Notice:
    """Says on standard error what is being made, once it takes longer than a moment.

    On a terminal a line that counts; elsewhere a line now and then.
    """

    def __init__(self, title: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._title, self._clock = title, clock
        self._next = clock() + MOMENT
        self._shown = False

    def __call__(self, done: int, total: int) -> None:
        """Say how far it is, if that is due."""
        now = self._clock()
        ends = done == total and self._shown
        if now < self._next and not ends:
            return
        live = sys.stderr.isatty()
        self._next = now + (LIVELY if live else MINUTE)
        if ends and not live:
            return
        start = "\r" if live and self._shown else ""
        end = "" if live and not ends else "\n"
        self._shown = True
        sys.stderr.write(f"{start}{self._title}: {done:,}/{total:,}{end}")
        sys.stderr.flush()


def _watched(results: Iterator[Any], total: int, watch: Watch | None) -> Iterator[Any]:
    for done, result in enumerate(results, start=1):
        if watch:
            watch(done, total)
        yield result


class _Children:
    """Children that do one job, one for each thread that asks."""

    def __init__(self, job: Callable[[Any], Any]) -> None:
        self._job = job
        self._own = threading.local()
        self._all: list[Child] = []

    def do(self, task: Any) -> Any:
        """Let the child of this thread do one task."""
        if not hasattr(self._own, "child"):
            self._own.child = Child(ChildJob, self._job)
            self._all.append(self._own.child)
        try:
            return self._own.child.call("do", task)
        except ChildDiedError as death:
            hint = "Give the command again: what is done is kept."
            raise DataError(f"a process ended before its time: {death}.", hint) from None

    def close(self) -> None:
        for child in self._all:
            child.close()


class ChildJob:
    """In a child: a function that is done for one task after the other."""

    def __init__(self, job: Callable[[Any], Any]) -> None:
        self._job = job

    def do(self, task: Any) -> Any:
        """The result for one task."""
        try:
            return self._job(task)
        except OSError as error:
            raise DataError(f"{error}.", "Check the disk and the folder's permissions.") from None


def _serve() -> int:
    """In the child: do what is asked until nobody asks any more."""
    # not sys.stdin itself, whose lock a thread that reads would hold when Python ends
    requests, replies = os.fdopen(os.dup(0), "rb"), sys.stdout.buffer
    sys.stdout = sys.stderr  # nothing else may be said there
    try:
        sys.argv, stop_with_parent, make, arguments = pickle.load(requests)  # noqa: S301 - ours
        calls: queue.SimpleQueue[Any] = queue.SimpleQueue()
        listening = (requests, calls, stop_with_parent)
        threading.Thread(target=_listen, args=listening, daemon=True).start()
        made = attempt(make, *arguments)
        while (call := calls.get()) is not None:
            method, arguments = call
            answer = made
            if made.kind == VALUE:
                answer = attempt(getattr(made.value, method), *arguments)
            content = msgspec.msgpack.encode(answer)
            replies.write(LENGTH.pack(len(content)) + content)
            replies.flush()
        close = getattr(made.value, "close", None)
        if close:
            close()
    except KeyboardInterrupt:
        return INTERRUPTED
    except (BrokenPipeError, EOFError):  # nobody waits for the result
        os.dup2(os.open(os.devnull, os.O_WRONLY), replies.fileno())
    return 0


def _listen(requests: IO[bytes], calls: queue.SimpleQueue[Any], stop_with_parent: bool) -> None:
    """Read on while the object is busy, so that the end of the parent is noticed."""
    try:
        while True:
            calls.put(pickle.load(requests))  # noqa: S301 - from our own parent
    except (EOFError, OSError, pickle.UnpicklingError):
        if stop_with_parent:
            os.kill(os.getpid(), signal.SIGINT)
    finally:
        calls.put(None)


if __name__ == "__main__":
    sys.exit(_serve())
