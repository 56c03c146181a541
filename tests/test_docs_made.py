"""What the site makes from the code is whole, and what the pages state as facts is what the code says."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

import gnomon
from gnomon import registry
from gnomon.registry import BENCHMARKS, COMMANDS

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"


def script(name):
    """A module of scripts/, which is no package."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def reference():
    return script("reference")


@pytest.fixture(scope="module")
def facts():
    return script("facts")


def test_every_command_has_a_page_with_every_option(reference):
    listed = reference.on_page_markdown((DOCS / "commands.md").read_text(encoding="utf-8"))
    assert "<!-- made" not in listed
    for name in COMMANDS:
        assert f"(commands/{name}.md)" in listed
        parser = reference.command_parser(name, registry.command(name))
        page = reference.command(name)
        for action in reference.visible(parser):
            assert all(option in page for option in action.option_strings), (name, action)


def test_every_option_has_words_in_the_reference(reference):
    assert not [name for name in COMMANDS if "(no words yet)" in reference.command(name)]


def test_every_command_has_a_counterpart_in_python_or_a_reason(reference):
    """The names are there, and those that are promised are public."""
    told = yaml.safe_load(reference.COUNTERPARTS.read_text(encoding="utf-8"))
    assert sorted(told) == sorted(COMMANDS)
    for command, about in told.items():
        promised, within = about.get("python", []), about.get("within", [])
        assert promised or within or about.get("why"), command
        for name in [*promised, *within]:
            assert callable(thing_named(name)), name
        for name in promised:
            room, _, last = name.rpartition(".")
            assert last in importlib.import_module(room).__all__, name
    assert len([about for about in told.values() if "python" in about]) >= 14


def thing_named(name):
    """What a dotted name leads to, in a fresh `import gnomon` or in one of its modules."""
    room, _, last = name.rpartition(".")
    return getattr(importlib.import_module(room), last)


def test_the_python_reference_has_every_public_name(reference):
    page = reference.on_page_markdown((DOCS / "api.md").read_text(encoding="utf-8"))
    named = set(re.findall(r"^### (\w+)", page, re.M))
    assert named == {name for name in gnomon.__all__ if not name.startswith("_")}


def test_the_fields_of_a_record_are_explained_by_their_comments(reference):
    assert "`gold`\n:   the labels that count as right" in reference.documented("Item")


@pytest.mark.parametrize(
    ("signed", "wanted"),
    [
        (lambda a, *, b="x": a, "f(a, *, b='x')"),
        (lambda *many, **more: many, "f(*many, **more)"),
        (lambda a=print: a, "f(a=...)"),
    ],
)
def test_a_signature_is_written_as_in_code(reference, signed, wanted):
    assert reference.signature("f", signed).replace(" = ", "=") == wanted


def test_help_that_looks_like_markdown_is_shown_as_it_is(reference):
    assert reference.escaped("a_b <c> `d_e`") == r"a\_b \<c\> `d_e`"


def test_the_facts_of_the_benchmarks_are_what_the_code_says(facts):
    page = facts.PAGE.read_text(encoding="utf-8")
    assert facts.filled(page, facts.stated_sizes(page)) == page, "run python scripts/facts.py"


@pytest.mark.parametrize("name", ["posrel", "viphy-color", "viphy-size"])
def test_full_sizes_are_what_the_code_makes(facts, name):
    page = facts.PAGE.read_text(encoding="utf-8")
    assert facts.stated_sizes(page)[name] == facts.full_size(name)


def test_the_full_size_of_scenes_is_four_items_a_quad(facts):
    """To find all quads takes minutes, and two show how many items each makes."""
    two = list(gnomon.load("vsr@fresh", quads=2, form="text").items())
    quads = registry.benchmark("vsr").full["quads"]
    page = facts.PAGE.read_text(encoding="utf-8")
    assert facts.stated_sizes(page)["vsr"] == quads * len(two) // 2


def test_the_guide_has_a_section_for_every_benchmark_whose_facts_were_measured(facts):
    sections = re.findall(r"^## [\w-]+ \{#([\w-]+)\}", facts.PAGE.read_text(encoding="utf-8"), re.M)
    assert sorted(sections) == sorted(facts.measured())
    assert set(sections) <= BENCHMARKS.keys()
    assert len(sections) >= 14


def test_the_figure_of_shortcuts_has_a_dot_for_every_row_of_its_table():
    drawing = script("shortcut_figure")
    page = (DOCS / "benchmarks.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `[\w-]+@\w+` \|", page.partition(drawing.MARK)[2], re.M)
    assert len(drawing.shortcuts(page)) == len(rows) > 20
    assert drawing.on_page_markdown(page).count("<circle stroke-width") == len(rows)


def test_pictures_of_the_guide_are_small_and_described():
    pictures = list((DOCS / "images").iterdir())
    assert sum(picture.stat().st_size for picture in pictures) < 2_000_000
    assert all(picture.stat().st_size <= 200_000 for picture in pictures)
    for page in DOCS.glob("*.md"):
        for words, address in re.findall(r"!\[(.*?)\]\((\S+?)\)", page.read_text(encoding="utf-8")):
            assert words, f"{page.name}: say what {address} shows"


def test_the_site_loads_nothing_from_elsewhere():
    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    assert settings["theme"]["font"] is False
    assert not re.search(r"url\(|@import", (DOCS / "site.css").read_text(encoding="utf-8"))


def test_the_site_builds_without_a_warning(tmp_path):
    pytest.importorskip("mkdocs")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", str(tmp_path)]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=quiet, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    site = {page.parent.name: page for page in tmp_path.rglob("index.html")}
    assert all((tmp_path / "commands" / name / "index.html").is_file() for name in COMMANDS)
    drawn = 'aria-label="Points off chance'
    found = [name for name, page in site.items() if drawn in page.read_text("utf-8")]
    assert found == ["benchmarks-what-the-benchmarks-give-away"]
    start = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert f"Gnomon {gnomon.__version__}" in start
    assert start.index('class="doors"') < start.index("images/report.png")
    index = json.loads((tmp_path / "search" / "search_index.json").read_text(encoding="utf-8"))
    titles = [page["title"] for page in index["docs"] if "exit code" in page["title"].lower()]
    assert titles == ["Exit codes"]


def test_long_pages_are_cut_where_their_headings_are():
    pages = script("pages")
    text = "# A\n\none\n\n```sh\n## Two\n```\n\n## Two {#second}\n\ntwo\n\n### Part\n"
    first, second = pages.cut("a.md", text, {"Two": "A: two"})
    assert (first.uri, second.uri, second.title) == ("a.md", "a-second.md", "A: two")
    assert "## Two\n```" in first.text  # a comment in a block of code is no heading
    assert second.text.startswith("# A: two\n\n## Two {#second}")
    with pytest.raises(ValueError, match="has the headings"):
        pages.cut("a.md", text, {"Three": "A: three"})
    with pytest.raises(ValueError, match=r"\['Two', 'Two'\]"):
        pages.cut("a.md", f"{text}\n## Two\n", {"Two": "A: two", "Three": "A: three"})


def test_links_lead_to_the_part_that_has_the_heading():
    pages = script("pages")
    models = SimpleNamespace(file=SimpleNamespace(src_uri="models.md"))
    written = pages.on_page_markdown("[a](measures.md#intervals), [b](measures.md#slices)", models)
    assert written.startswith("#")  # the text of a long page is its first part
    faq = SimpleNamespace(file=SimpleNamespace(src_uri="faq.md"))
    led = pages.on_page_markdown("[a](measures.md#intervals), [b](measures.md#slices)", faq)
    assert led == "[a](measures-intervals.md#intervals), [b](measures.md#slices)"


def test_the_map_of_rooms_is_drawn_from_the_arrows_that_are_checked():
    rooms = script("rooms")
    page = rooms.on_page_markdown((DOCS / "architecture.md").read_text(encoding="utf-8"))
    names = rooms.house().uses
    assert page.count("<rect") == len(names) > 15
    assert page.count("<line") == sum(map(len, names.values()))
    assert all(f"| `{name}` |" in page for name in [*names, *rooms.house().foundation])


def test_the_files_that_the_page_on_the_house_names_are_there():
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:[a-z_]+/)*[a-z_]+(?:\.py|\.yaml|/))`", page)
    package = Path(gnomon.__file__).parent
    missing = [path for path in named if not ((package / path).exists() or (ROOT / path).exists())]
    assert missing == []
    assert len(named) > 25
