"""What Gnomon needs at run time is pinned, fits, and is under a licence that we accept."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = """
[project]
name = "toy"
dependencies = ["msgspec>=0.1", "pyyaml<6"]
[project.optional-dependencies]
more = ["numpy>=1"]
dev = ["pytest>=8"]
"""


@pytest.fixture(scope="module")
def audit():
    pytest.importorskip("packaging")
    spec = importlib.util.spec_from_file_location("audit", ROOT / "scripts" / "audit.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_nothing_is_wrong_with_what_gnomon_needs(audit):
    assert len(audit.needed()) > 20
    assert list(audit.problems()) == []


def test_a_missing_pin_and_a_pin_out_of_range_are_told(audit, tmp_path):
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    (tmp_path / "constraints.txt").write_text("# versions\nPyYAML==6.0.3\nnumpy==2.1.0\n")
    assert list(audit.problems(tmp_path)) == [
        "msgspec is not pinned in constraints.txt.",
        "pyyaml is pinned to 6.0.3, but gnomon needs <6.",
    ]


def test_what_only_developers_need_is_not_looked_at(audit, tmp_path):
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    assert "pytest" not in audit.needed(tmp_path)


@pytest.mark.parametrize(
    ("licence", "allowed"),
    [
        ("MIT", True),
        ("MPL-2.0 AND MIT", True),
        ("Apache-2.0 OR GPL-3.0-only", True),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("MIT AND GPL-3.0-only", False),
        ("Proprietary", False),
        ("", False),
    ],
)
def test_licences_are_read_as_expressions(audit, licence, allowed):
    assert audit.is_allowed(licence) is allowed


def test_the_table_in_the_guide_is_this_one(audit):
    page = (ROOT / "docs" / "decisions.md").read_text(encoding="utf-8")
    listed = page.partition("## Licences of runtime dependencies")[2]
    for package in audit.packages():
        assert f"| {package.name} | {package.version} |" in listed
