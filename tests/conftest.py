"""Fixtures that all tests share."""

import os
from pathlib import Path

os.environ.setdefault(
    "OMP_NUM_THREADS", "1"
)  # workers share the cores; threads of theirs would only fight over them

import pytest
from hypothesis import settings

settings.register_profile(
    "gnomon", deadline=None
)  # a busy machine is not a failure; timing belongs in bench/
settings.load_profile("gnomon")

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with the authors' published files: GNOMON_SHARED, or ../shared beside the
    project."""
    folder = Path(os.environ.get("GNOMON_SHARED", ROOT.parent / "shared"))
    if not (folder / "data").is_dir():
        pytest.skip("the authors' published files are not here (set GNOMON_SHARED)")
    return folder


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
