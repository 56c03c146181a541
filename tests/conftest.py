"""Fixtures that all tests share."""

import os
import signal
from pathlib import Path

# Workers share the cores; threads of theirs would only fight over them.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
from hypothesis import settings

# A busy machine is not a failure; timing belongs in bench/.
settings.register_profile("gnomon", deadline=None)
settings.load_profile("gnomon")

ROOT = Path(__file__).parent.parent
NO_FILES = "the authors' published files are not here (set GNOMON_SHARED)"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The authors' published files: the folder GNOMON_SHARED, or ../shared beside the project."""
    folder = Path(os.environ.get("GNOMON_SHARED", ROOT.parent / "shared"))
    if not (folder / "data").is_dir():
        pytest.skip(NO_FILES)
    return folder


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how much of the proof was left out: a green run without the files proves less."""
    skipped = terminalreporter.stats.get("skipped", [])
    count = sum(NO_FILES in str(report.longrepr) for report in skipped)
    if count:
        terminalreporter.write_line(
            f"{count} tests against the authors' published files were skipped: they are not here. "
            "Set GNOMON_SHARED to the folder that holds data/.",
            yellow=True,
        )


if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as for a job in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test works in a folder of its own, so that none depends on another or on where pytest
    was started."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def plugin(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The plug-in package gnomon-dice (a benchmark `dice`, a model `slow`), as if it were
    installed."""
    folder = ROOT / "tests" / "plugin"
    monkeypatch.syspath_prepend(folder)
    return folder
