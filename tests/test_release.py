"""What is released says the same everywhere, is small, and shows a page that leads nowhere wrong."""

import importlib.util
import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
import yaml

import gnomon

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
HEAVY = {
    "torch",
    "transformers",
    "scipy",
    "pandas",
    "scikit-learn",
    "opencv-python-headless",
    "pillow",
    "ray",
    "spacy",
}


def name_of(requirement: str) -> str:
    return re.match(r"[\w.-]+", requirement)[0].lower().replace("_", "-")


def needed_by(name: str, seen: set[str]) -> set[str]:
    """All distributions that an installation of a name brings, extras aside."""
    if name in seen:
        return seen
    seen.add(name)
    for requirement in metadata.requires(name) or []:
        if "extra ==" not in requirement and not skipped(requirement):
            needed_by(name_of(requirement), seen)
    return seen


def skipped(requirement: str) -> bool:
    """Whether it is for another system or an older Python."""
    try:
        metadata.distribution(name_of(requirement))
    except metadata.PackageNotFoundError:
        return ";" in requirement
    return False


def test_the_core_pulls_nothing_heavy():
    found = set()
    for requirement in PROJECT["dependencies"]:
        needed_by(name_of(requirement), found)
    assert not found & HEAVY
    assert len(found) <= 10, sorted(found)


def test_the_version_is_the_same_everywhere():
    version = gnomon.__version__
    assert re.fullmatch(r"\d+\.\d+\.\d+", version)
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["version"] == version
    sections = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    assert sections[0] == version
    assert f"version {version}}}" in (ROOT / "docs" / "cite.md").read_text(encoding="utf-8")
    assert f"version {version}." in (ROOT / "docs" / "stability.md").read_text(encoding="utf-8")


def test_the_workflow_runs_what_ci_runs_on_every_python_that_is_promised():
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))
    job = workflow["jobs"]["all"]
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert job["strategy"]["matrix"]["python"] == named
    assert ".ci/run" in [step.get("run") for step in job["steps"]]
    assert PROJECT["requires-python"] == f">={named[0]}"


@pytest.fixture
def for_index():
    spec = importlib.util.spec_from_file_location("metadata_hook", ROOT / "scripts/metadata.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.for_index


def links(page: str) -> list[str]:
    return re.findall(r"\]\(([^)\s]+)\)", page)


def test_the_readme_of_an_index_has_no_link_that_only_a_clone_can_follow(for_index):
    page = for_index(README)
    assert any(not link.startswith("http") for link in links(README))
    assert all(link.startswith("https://") for link in links(page))
    assert "![" not in page
    assert "gnomon run quick -m smollm2" in page


def test_with_a_repository_the_links_lead_into_it(for_index):
    page = for_index("[a](docs/a.md) ![b](docs/b.png) [c](https://c)", "https://host/us/gnomon/")
    assert links(page) == [
        "https://host/us/gnomon/blob/main/docs/a.md",
        "https://host/us/gnomon/raw/main/docs/b.png",
        "https://c",
    ]


def test_the_readme_is_short_where_people_decide_to_read_on():
    before_demo = README.partition("## What the demo prints")[0]
    rows = re.findall(r"^\| (?!---|you want)", before_demo, re.M)
    assert 0 < len(rows) <= 8
    assert README.index("## What the demo prints") < README.index("## The papers")
