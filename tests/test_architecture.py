"""The arrows of the house: a part of the program knows only the words to its left."""

import ast
import re
from pathlib import Path

import pytest

import gnomon
from gnomon import registry

HOME = Path(gnomon.__file__).parent
TEXTS = (".py", ".css", ".js", ".j2", ".md", ".yaml", ".csv", ".html")

# Room -> rooms and modules it may import (itself always). What is not named here may import nothing
# of ours.
ALLOWED = {
    "errors": set(),
    "durable": set(),
    "naming": {"errors"},
    "modelpaths": {"errors"},
    "experiments": {
        "errors",
        "files",
        "itemsource",
        "naming",
        "options",
        "ownitems",
        "probing",
        "redaction",
        "registry",
        "runs",
    },
    "spreading": set(),
    "records": set(),
    "redaction": set(),
    "graphs": set(),
    "grouped": set(),
    "files": {"errors"},
    "contracts": {"records", "measures"},  # measures for types only
    "options": {"errors"},
    "unknownnames": {"errors"},
    "registry": {"contracts", "errors", "modelpaths", "naming", "options", "unknownnames"},
    "sharding": {"errors"},
    "tabular": {"errors"},
    "runs": {"durable", "errors", "naming", "records", "sharding", "tabular"},
    "fingerprint": set(),
    "fetching": {"errors", "files", "fingerprint"},
    "canary": set(),
    "writing": {"canary", "errors", "records"},
    "itemfiles": {
        "canary",
        "contracts",
        "errors",
        "files",
        "ownitems",
        "records",
        "registry",
        "writing",
    },
    "ownitems": {
        "canary",
        "contracts",
        "errors",
        "fetching",
        "files",
        "records",
        "registry",
        "vision",
        "writing",
    },
    # what other programs are given: items, and the prompt by which Gnomon asks them
    "exporting": {
        "canary",
        "contracts",
        "errors",
        "grouped",
        "itemsource",
        "",
        "probing",
        "records",
        "registry",
        "vision",
        "writing",
    },
    "audit": {
        "answerfiles",
        "contracts",
        "errors",
        "files",
        "graphs",
        "grouped",
        "itemsource",
        "measures",
        "models",
        "ownitems",
        "records",
        "runs",
        "space",
        "spreading",
    },
    "answerfiles": {"contracts", "errors", "files", "models", "options", "records", "registry"},
    "itemsource": {
        "contracts",
        "errors",
        "itemfiles",
        "options",
        "records",
        "registry",
        "sharding",
        "spreading",
        "tabular",
    },
    "language": {"contracts", "errors", "files", "grouped", "records"},
    "benchmarks": {
        "contracts",
        "errors",
        "fetching",
        "files",
        "graphs",
        "language",
        "records",
        "space",
        "vision",
    },
    "vision": {"errors", "fetching", "files", "fingerprint", "records", "space", "writing"},
    "probing": {
        "contracts",
        "errors",
        "fetching",
        "files",
        "grouped",
        "records",
        "vision",
        "writing",
    },
    # what teaches models knows them; prompts, which models put to use, do not
    "probing/training": {
        "contracts",
        "errors",
        "files",
        "grouped",
        "itemfiles",
        "itemsource",
        "measures",
        "models",
        "records",
        "vision",
        "writing",
    },
    "probing/captions": {
        "errors",
        "fetching",
        "files",
        "fingerprint",
        "models",
        "vision",
        "writing",
    },
    "probing/looking": {"errors", "models", "records", "vision"},
    "space": {"errors", "fetching", "files", "grouped", "language", "records"},
    "models": {
        "contracts",
        "errors",
        "fetching",
        "files",
        "fingerprint",
        "grouped",
        "modelpaths",
        "options",
        "answerfiles",
        "probing",
        "records",
        "redaction",
        "runs",
        "vision",
    },
    "synthesis": {
        "contracts",
        "durable",
        "errors",
        "fetching",
        "files",
        "fingerprint",
        "measures",
        "models",
        "options",
        "records",
        "redaction",
        "registry",
        "runs",
        "space",
        "vision",
        "writing",
    },
    "fewshot": {
        "",
        "errors",
        "itemsource",
        "options",
        "probing",
        "records",
        "registry",
    },
    "prompting": {"errors", "models", "records", "runs"},
    "engine": {
        "",
        "contracts",
        "fingerprint",
        "errors",
        "naming",
        "records",
        "redaction",
        "registry",
        "runs",
        "itemsource",
        "spreading",
    },
    "measures": {
        "contracts",
        "errors",
        "files",
        "graphs",
        "grouped",
        "records",
        "registry",
        "runs",
        "vision",
    },
    "reporting": {
        "",
        "audit",
        "contracts",
        "errors",
        "files",
        "experiments",
        "grouped",
        "measures",
        "naming",
        "prompting",
        "records",
        "registry",
        "runs",
        "api",
        "space",
        "tabular",
        "vision",
        "writing",
    },
    "people": {
        "",
        "contracts",
        "durable",
        "errors",
        "files",
        "grouped",
        "itemfiles",
        "itemsource",
        "measures",
        "records",
        "redaction",
        "registry",
        "reporting",
        "runs",
        "spreading",
        "synthesis",
        "vision",
    },
    "data": set(),
    "api": {
        "contracts",
        "engine",
        "errors",
        "fewshot",
        "measures",
        "models",  # a plain function, asked as one
        "probing",  # the prompts there are
        "records",
        "registry",
        "reporting",
        "runs",
        "itemsource",
    },
}
FREE = {"cli", "__init__", "__main__"}  # the command line and the public names may import all


def imports(file: Path) -> set[str]:
    """The rooms of ours that a module imports, anywhere in it; "" is gnomon itself."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: imports are absolute here"
            if node.module == "gnomon":
                found |= {
                    f"gnomon.{alias.name}" if _is_module(alias.name) else "gnomon"
                    for alias in node.names
                }
            else:
                found.add(node.module or "")
    return {[*name.split("."), ""][1] for name in found if name.split(".")[0] == "gnomon"}


def _is_module(name: str) -> bool:
    return (HOME / f"{name}.py").exists() or (HOME / name).is_dir()


MODULES = sorted(HOME.rglob("*.py"))


@pytest.mark.parametrize("file", MODULES, ids=[str(m.relative_to(HOME)) for m in MODULES])
def test_module_imports_only_what_stands_to_its_left(file):
    room = room_of(file)
    if room not in FREE:
        assert room in ALLOWED, f"{room} is a new room: say in ALLOWED what it may import"
        assert imports(file) - set(room.split("/")) <= ALLOWED[room]


def room_of(file: Path) -> str:
    """The room of a module, or the room within a room that has arrows of its own."""
    parts = file.relative_to(HOME).parts
    inner = "/".join(parts[:2])
    return inner if inner in ALLOWED else parts[0].removesuffix(".py")


INNER = sorted(room for room in ALLOWED if "/" in room)


@pytest.mark.parametrize("inner", INNER)
def test_a_room_within_a_room_is_known_to_that_room_alone(inner):
    outer = inner.split("/")[0]
    name = f"gnomon.{inner.replace('/', '.')}"
    for file in MODULES:
        if room_of(file) in FREE or file.is_relative_to(HOME / outer):
            continue
        assert name not in file.read_text(encoding="utf-8"), str(file)


def test_nothing_imports_the_command_line():
    for file in MODULES:
        if file.relative_to(HOME).parts[0].removesuffix(".py") not in FREE:
            assert "cli" not in imports(file), str(file)


def test_no_room_is_called_utils():
    assert not {m.stem for m in MODULES} & {"utils", "helpers", "common", "base", "misc"}


def names_of_benchmarks(file: Path) -> set[str]:
    """The benchmarks that a module's code names in its texts; what a docstring says is no code."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = set()
    for node in ast.walk(tree):
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
            docstrings.add(id(node.body[0].value))
    found = set()
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in docstrings
        ):
            found |= set(BENCHMARK.findall(node.value))
    return found


# Some names are words of everyday English, so they count only where they can be nothing else.
WORDS = {"scales", "chains", "calculus"}
BENCHMARK = re.compile(
    r"\b(?:spacenli|spatialqa|relativesize|posrel|viphy|vsr|(?:scales|chains|calculus)@\w*)\b"
)


def test_the_names_that_are_looked_for_are_those_of_the_benchmarks():
    for name in registry.BENCHMARKS.keys() - WORDS:
        assert BENCHMARK.search(name), f"{name} is a new benchmark: let the next test look for it"


@pytest.mark.parametrize("file", MODULES, ids=[str(m.relative_to(HOME)) for m in MODULES])
def test_nothing_but_benchmarks_and_the_registry_names_a_benchmark(file):
    where = file.relative_to(HOME).parts[0]
    if where not in ("benchmarks", "data", "registry.py"):
        assert names_of_benchmarks(file) == set()
        assert "benchmarks" not in imports(file)


def test_no_file_holds_both_sides_of_a_merge():
    """Python would not compile; a style sheet silently loses its rules."""
    root = HOME.parent.parent
    texts = [file for file in HOME.rglob("*") if file.suffix in TEXTS]
    for folder in ("docs", "tests", "scripts"):
        texts += [file for file in (root / folder).rglob("*") if file.suffix in TEXTS]
    assert len(texts) > 500
    marks = [b"\n" + sign * 7 + b" " for sign in (b"<", b">")]
    found = [str(file) for file in texts if any(mark in file.read_bytes() for mark in marks)]
    assert found == []
