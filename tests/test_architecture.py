"""The arrows of the house: a part of the program knows only the words to its left."""

import ast
from pathlib import Path

import pytest

import gnomon

HOME = Path(gnomon.__file__).parent

# Room -> rooms and modules it may import (itself always). What is not named here may import nothing
# of ours.
ALLOWED = {
    "errors": set(),
    "records": set(),
    "redaction": set(),
    "files": {"errors"},
    "contracts": {"records", "measures"},  # measures for types only
    "options": {"errors"},
    "registry": {"contracts", "errors", "options"},
    "runs": {"errors", "records"},
    "fingerprint": set(),
    "fetching": {"errors", "files", "fingerprint"},
    "writing": {"errors", "records"},
    "answerfiles": {"contracts", "errors", "files", "models", "options", "records", "registry"},
    "itemsource": {"contracts", "errors", "options", "records", "registry"},
    "language": {"contracts", "errors", "files", "records"},
    "benchmarks": {"contracts", "errors", "fetching", "files", "language", "records", "vision"},
    "vision": {"errors", "files", "fingerprint", "records"},
    "probing": {"contracts", "errors", "files", "records"},
    "models": {
        "contracts",
        "errors",
        "fetching",
        "files",
        "fingerprint",
        "options",
        "answerfiles",
        "probing",
        "records",
        "redaction",
        "runs",
    },
    "engine": {
        "",
        "contracts",
        "fingerprint",
        "errors",
        "records",
        "redaction",
        "registry",
        "runs",
        "itemsource",
    },
    "measures": {"contracts", "errors", "files", "records", "registry", "runs", "vision"},
    "reporting": {
        "",
        "contracts",
        "errors",
        "files",
        "measures",
        "records",
        "registry",
        "runs",
        "api",
        "writing",
    },
    "data": set(),
    "api": {
        "contracts",
        "engine",
        "errors",
        "measures",
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
    room = file.relative_to(HOME).parts[0].removesuffix(".py")
    if room not in FREE:
        assert room in ALLOWED, f"{room} is a new room: say in ALLOWED what it may import"
        assert imports(file) - {room} <= ALLOWED[room]


def test_nothing_imports_the_command_line():
    for file in MODULES:
        if file.relative_to(HOME).parts[0].removesuffix(".py") not in FREE:
            assert "cli" not in imports(file), str(file)


def test_no_room_is_called_utils():
    assert not {m.stem for m in MODULES} & {"utils", "helpers", "common", "base", "misc"}
