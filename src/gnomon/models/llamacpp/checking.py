"""What is refused before llama.cpp sees it: files that are none of its own, senseless sizes."""

from __future__ import annotations

import os
from pathlib import Path

from gnomon.errors import ModelError, UsageError

MAGIC = b"GGUF"


def check_sizes(context: int, new_tokens: int, threads: int) -> None:
    """Refuse numbers with which nothing could be asked."""
    for name, value, least in (
        ("context", context, 1),
        ("new_tokens", new_tokens, 1),
        ("threads", threads, 0),
    ):
        if value < least:
            raise UsageError(
                f"The option {name} must be at least {least}, not {value}.", "Give a larger number."
            )


def check_file(file: Path, give_one: str = "Give the path of a .gguf file: gguf:PATH.") -> None:
    """Refuse a file that is missing or not a GGUF file, before llama.cpp sees it."""
    if not file.exists():
        raise ModelError(f"{file}: there is no such file.", give_one)
    if not file.is_file():  # a pipe would be waited for without end
        raise ModelError(f"{file} is not an ordinary file.", give_one)
    try:
        with file.open("rb") as stream:
            head = stream.read(8)
    except OSError as error:
        raise ModelError(f"{file} cannot be read: {error.strerror}.", give_one) from None
    if head[:4] != MAGIC or len(head) < 8:
        raise ModelError(
            f"{file} is not a GGUF file: it does not begin as one.",
            "Models in other formats load with hf:PATH.",
        )


def available_cores() -> int:
    """The cores this process may use: its share of them, if it is one of several workers."""
    cores = os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    share = os.environ.get("OMP_NUM_THREADS", "")
    if share.isdecimal() and int(share) > 0:
        return min(int(share), cores)
    return cores
