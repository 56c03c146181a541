"""Whether a process is at work on a run: by its lock, which the system drops with the process."""

from __future__ import annotations

import os
from pathlib import Path

from gnomon.errors import RunError
from gnomon.runs.manifest import LOCK

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


def is_in_use(folder: Path) -> bool:
    """Whether a process is at work on a run. Looking does not keep others from looking."""
    if fcntl is None:
        return _cannot_be_taken(folder)
    try:
        lock = os.open(folder / LOCK, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:  # nobody has ever worked on it, or it is a link: no lock of ours
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # a disk that knows no locks
        return False
    finally:
        os.close(lock)
    return False


def _cannot_be_taken(folder: Path) -> bool:
    from filelock import FileLock, Timeout

    if not (folder / LOCK).exists():
        return False
    lock = FileLock(folder / LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return True
    except OSError:  # a disk that cannot be written is in nobody's use
        return False
    lock.release()
    return False


def check_not_in_use(folder: Path) -> None:
    """Refuse a run that another process is at work on."""
    if is_in_use(folder):
        raise RunError(f"Another process is at work on {folder}.", "Wait for it, or stop it.")
