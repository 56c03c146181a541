"""In CI a test that is skipped without an excuse is a failure."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]
CONFTEST = Path(__file__).with_name("conftest.py")
NEEDS_A_PACKAGE = """
import pytest

def test_a(): pytest.importorskip("no_such_package")
"""
MODULE_NEEDS_A_PACKAGE = """
import pytest

pytest.importorskip("no_such_package", reason="an extra is not installed")

def test_a(): pass
def test_b(): pass
"""
EXCUSED = """
import pytest

@pytest.mark.skipif(True, reason="root may write anywhere")
def test_a(): pass

def test_b(shared): pass

@pytest.mark.xfail(reason="known", strict=True)
def test_c(): assert False
"""
SKIPS_IN_PASSING = """
import pytest

@pytest.mark.skip(reason="not today")
def test_a(): pass

@pytest.fixture
def late(): pytest.skip("later")

def test_b(late): pass
"""


@pytest.fixture
def outcomes(pytester, monkeypatch):
    """Run a module under the conftest of these tests; how many tests ended in which way."""

    def run(module: str, *, ci: str) -> dict[str, int]:
        monkeypatch.setenv("CI", ci)
        monkeypatch.setenv("GNOMON_SHARED", str(pytester.path / "nowhere"))
        pytester.makeconftest(CONFTEST.read_text())
        pytester.makepyfile(module)
        return pytester.runpytest_inprocess("-p", "no:cacheprovider").parseoutcomes()

    return run


def test_a_missing_package_fails_in_ci(outcomes):
    assert outcomes(NEEDS_A_PACKAGE, ci="true") == {"failed": 1}


def test_a_missing_package_of_a_whole_module_fails_in_ci(outcomes):
    assert outcomes(MODULE_NEEDS_A_PACKAGE, ci="true") == {"errors": 1}


def test_a_skip_by_a_mark_or_a_fixture_fails_in_ci(outcomes):
    found = outcomes(SKIPS_IN_PASSING, ci="true")
    assert "skipped" not in found
    assert sum(found.values()) == 2


def test_an_excused_skip_and_an_expected_failure_stay_what_they_are_in_ci(outcomes):
    assert outcomes(EXCUSED, ci="true") == {"skipped": 2, "xfailed": 1}


@pytest.mark.parametrize(
    ("module", "skipped"),
    [(NEEDS_A_PACKAGE, 1), (MODULE_NEEDS_A_PACKAGE, 1), (SKIPS_IN_PASSING, 2)],
)
def test_elsewhere_tests_may_skip(outcomes, module, skipped):
    assert outcomes(module, ci="") == {"skipped": skipped}
