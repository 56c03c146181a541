"""Fixtures that all tests share."""

import os
import shutil
import signal
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

# Workers share the cores; threads of theirs would only fight over them.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
from hypothesis import HealthCheck, settings

# A busy machine is not a failure; timing belongs in bench/. Each run draws the same examples, so that
# no change fails by what was drawn for it; to look for new ones, set GNOMON_EXPLORE.
settings.register_profile(
    "gnomon",
    deadline=None,
    derandomize=not os.environ.get("GNOMON_EXPLORE"),
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("gnomon")

ROOT = Path(__file__).parent.parent
NO_FILES = "the authors' published files are not here (set GNOMON_SHARED)"
# In CI, which is a Linux, a skipped test fails unless its reason has one of these in it; and why it may.
MAY_SKIP_IN_CI = {
    NO_FILES: "nobody but the authors may give them away",
    "root may write anywhere": "a container runs as root",
    "no named pipes": "some systems have none",
    "the weights cannot be fetched": "a machine may be offline",
    "GNOMON_LARGE_WEIGHTS": "they need more memory than most machines have",
    "there is no Chromium": "make installs one where it may",
    "Label Studio is not installed": "it is large, and has a virtualenv of its own: make people",
    "polars is not installed": "it is no dependency: frames are of what the user has",
    "pandas is not installed": "it is no dependency: frames are of what the user has",
    "there is no TrueType font": "a bare image has none, and nothing can be embedded",
    "there is no pdftotext": "poppler is a package of the system",
    "there is no pdflatex": "texlive is large, and a package of the system",
    "lm-eval is not installed": "it brings 30 packages, and has a virtualenv of its own: bench/roundtrip.py",
    "there is no C compiler": "the killing library is built on the spot; small images have none",
}


BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A headless Chromium from the distribution's packages; a process can have one of them only."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    chromium = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if chromium is None:
        pytest.skip("there is no Chromium here (install one, or set CHROMIUM)")
    with sync_api.sync_playwright() as play:
        found = play.chromium.launch(executable_path=chromium)
        yield found
        found.close()


@pytest.fixture(scope="session")
def shared() -> Path:
    """The authors' published files: the folder GNOMON_SHARED, or ../shared beside the project."""
    folder = Path(os.environ.get("GNOMON_SHARED", ROOT.parent / "shared"))
    if not (folder / "data").is_dir():
        pytest.skip(NO_FILES)
    return folder


def _fail_if_skipped_in_ci(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Turn a skip without an excuse into a failure: CI must not lose tests without a word."""
    expected_failure = hasattr(report, "wasxfail")
    if os.environ.get("CI") != "true" or not report.skipped or expected_failure:
        return
    told = report.longrepr
    reason = told[2] if isinstance(told, tuple) else str(told)
    if any(excuse in reason for excuse in MAY_SKIP_IN_CI):
        return
    report.outcome = "failed"
    report.longrepr = (
        f"{reason}\nIn CI nothing is skipped but for the reasons of MAY_SKIP_IN_CI in "
        "tests/conftest.py. Install what is missing."
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Look at each test."""
    report = yield
    _fail_if_skipped_in_ci(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Look at each module: one that needs a package skips as a whole."""
    report = yield
    _fail_if_skipped_in_ci(report)
    return report


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
    """Each test works in a folder of its own: none depends on another, or on where pytest began."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def plugin(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The plug-in packages gnomon-dice and gnomon-guess, as if they were installed."""
    folder = ROOT / "tests" / "plugin"
    monkeypatch.syspath_prepend(folder)
    return folder


class Tab:
    """A page of the browser that records what it should not do: errors, requests, scripts."""

    def __init__(self, context: Any, allowed: str) -> None:
        self.page = context.new_page()
        self.errors: list[str] = []
        self.strays: list[str] = []
        self.page.on(
            "console",
            lambda message: self.errors.append(message.text) if message.type == "error" else None,
        )
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on(
            "request",
            lambda request: (
                None if request.url.startswith(allowed) else self.strays.append(request.url)
            ),
        )
        self.page.on(
            "dialog", lambda dialog: (self.errors.append("a dialog opened"), dialog.dismiss())
        )


@pytest.fixture
def tab(browser: Any) -> Iterator[Callable[..., Tab]]:
    """Open a page at an address: tab(url, width=..., scheme=...)."""
    contexts = []

    def show(
        url: str,
        *,
        width: int = 1280,
        scheme: str = "light",
        scripts: bool = True,
        allowed: str = "",
        before: str = "",
    ) -> Tab:
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=scheme,
            java_script_enabled=scripts,
            reduced_motion="reduce",
        )
        contexts.append(context)
        context.set_default_timeout(120_000)  # a busy machine is slow
        if before:  # a script that runs before those of the page
            context.add_init_script(before)
        found = Tab(context, allowed or url)
        found.page.goto(url)
        return found

    yield show
    for context in contexts:
        context.close()
