"""A gnomon command as a person gives it, in this process."""

from __future__ import annotations

import sys
from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, StringIO, TextIOWrapper
from typing import NamedTuple


class Ended(NamedTuple):
    """How a command ended, and what it printed."""

    code: int
    out: str
    told: str  # on standard error

    @property
    def said(self) -> str:
        """All that it printed."""
        return self.out + self.told


def command(*words: str, encoding: str = "") -> Ended:
    """Give a command; what escapes it is a fault of Gnomon.

    What it prints is encoded if told: a character that cannot be is an error, as it is in a pipe.
    """
    from gnomon.cli import main

    out, told = _stream(encoding), _stream(encoding)
    argv, sys.argv = sys.argv, ["gnomon", *words]
    try:
        with redirect_stdout(out), redirect_stderr(told):
            code = main(list(words)) or 0
    except SystemExit as stop:
        code = int(stop.code or 0)
    finally:
        sys.argv = argv
    return Ended(code, _printed(out), _printed(told))


def _stream(encoding: str) -> StringIO | TextIOWrapper:
    if not encoding:
        return StringIO()
    return TextIOWrapper(BytesIO(), encoding=encoding, errors="strict", write_through=True)


def _printed(stream: StringIO | TextIOWrapper) -> str:
    if isinstance(stream, StringIO):
        return stream.getvalue()
    stream.flush()
    content: bytes = stream.buffer.getvalue()  # type: ignore[attr-defined]
    return content.decode(stream.encoding)
