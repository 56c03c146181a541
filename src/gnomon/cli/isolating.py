"""Steps of a command in a child process, so that one that crashes does not take the others along.

Compiled code can end the process that runs it. The steps are done one after the other in one child;
if it dies, the next child goes on behind the step that killed it.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess

INTERRUPTED = 130

Step = Callable[[int], bool]  # does the step of that number, and says whether it went well


def in_children(step: Step, count: int, crashed: Callable[[int, str], None]) -> list[bool]:
    """Do the steps 0, 1, 2 ... and say of each whether it went well; `crashed` is told why not."""
    done: list[bool] = []
    while len(done) < count:
        receiver, sender = multiprocessing.Pipe(duplex=False)
        child = multiprocessing.get_context("spawn").Process(
            target=_do_steps, args=(step, len(done), count, sender)
        )
        child.start()
        sender.close()
        done += _reports(receiver, child)
        child.join()
        if child.exitcode == INTERRUPTED:
            raise SystemExit(INTERRUPTED)
        if len(done) < count:
            crashed(len(done), _how_it_ended(child.exitcode))
            done.append(False)
    return done


def _reports(receiver: Connection, child: SpawnProcess) -> Iterator[bool]:
    """What the child says of each step, until it ends. Ctrl-C is passed on to it."""
    while True:
        try:
            yield receiver.recv()
        except KeyboardInterrupt:
            if child.pid is not None:
                os.kill(child.pid, signal.SIGINT)
        except EOFError:
            return


def _how_it_ended(code: int | None) -> str:
    if code is not None and code < 0:
        return f"it ended the process ({signal.Signals(-code).name})"
    return f"it ended the process (exit code {code})"


def _do_steps(step: Step, first: int, count: int, sender: Connection) -> None:
    """In the child: do the steps and report each."""
    if hasattr(os, "setpgrp"):  # Ctrl-C in a terminal reaches the parent alone, which passes it on
        os.setpgrp()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    for number in range(first, count):
        sender.send(step(number))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGINT)
