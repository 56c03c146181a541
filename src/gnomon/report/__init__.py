"""What people see: tables, figures, pages, the viewer. Calling the package writes a page: it is `gnomon.report(...)`.

`gnomon.report` is a function for users and a package for the import system, which puts the package in the place of a
function of that name as soon as one of its modules is imported. So the package itself can be called.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gnomon.runs import Run


class _Report(ModuleType):
    def __call__(
        self,
        runs: Run | str | Path | Sequence[Run | str | Path],
        output: str | Path = "report.html",
        *,
        figures: str | Path | None = None,
    ) -> Path:
        """Write one self-contained page about runs, and with `figures` each figure to that folder; give its path."""
        from gnomon.api import report

        return report(runs, output, figures=figures)


sys.modules[__name__].__class__ = _Report
