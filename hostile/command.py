"""A gnomon command as a person gives it, in this process."""

from __future__ import annotations

import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
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


def command(*words: str) -> Ended:
    """Give a command; what escapes it is a fault of Gnomon."""
    from gnomon.cli import main

    out, told = StringIO(), StringIO()
    argv, sys.argv = sys.argv, ["gnomon", *words]
    try:
        with redirect_stdout(out), redirect_stderr(told):
            code = main(list(words)) or 0
    except SystemExit as stop:
        code = int(stop.code or 0)
    finally:
        sys.argv = argv
    return Ended(code, out.getvalue(), told.getvalue())
