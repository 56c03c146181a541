"""The arrows of the house: a part of the program knows only the words to its left."""

import ast
import re
from functools import cache
from pathlib import Path

import yaml

import gnomon
from gnomon import registry

HOME = Path(gnomon.__file__).parent
TEXTS = (".py", ".css", ".js", ".j2", ".md", ".yaml", ".csv", ".html")

ROOMS = yaml.safe_load((HOME.parents[1] / "scripts" / "rooms.yaml").read_text(encoding="utf-8"))
# What every room may use: modules that know nothing of rooms; "" is the version.
FOUNDATION = {*ROOMS["foundation"], ""}
# Room -> rooms that it may use besides.
ARROWS = {name: set(room.get("uses", ())) for name, room in ROOMS["rooms"].items()} | {
    "data": set()
}
FREE = {"cli", "__init__", "__main__"}  # the command line and the public names may import all


@cache
def nodes(file: Path) -> list[ast.AST]:
    """All that a module consists of."""
    return list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))


@cache
def imports(file: Path) -> set[str]:
    """The rooms of ours that a module imports, anywhere in it; "" is gnomon itself."""
    found = set()
    for node in nodes(file):
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


def test_modules_import_only_what_stands_to_the_left_of_their_room():
    wrong = []
    for file in MODULES:
        room = room_of(file)
        if room in FREE:
            continue
        if room in FOUNDATION:
            allowed = FOUNDATION | {"measures"}  # contracts: for types only
        else:
            assert room in ARROWS, (
                f"{room} is a new room: say in scripts/rooms.yaml what it owns and may import"
            )
            allowed = FOUNDATION | ARROWS[room] | {room}
        wrong += [f"{file.relative_to(HOME)}: {other}" for other in imports(file) - allowed]
    assert wrong == []


def room_of(file: Path) -> str:
    """The room of a module, or the module itself where it stands in none."""
    return file.relative_to(HOME).parts[0].removesuffix(".py")


def test_the_map_names_what_is_there_and_no_arrow_that_is_not_used():
    used: dict[str, set[str]] = {room: set() for room in ARROWS}
    for file in MODULES:
        used.setdefault(room_of(file), set()).update(imports(file))
    there = {room_of(file) for file in MODULES} - FREE
    assert there == FOUNDATION - {""} | ARROWS.keys()
    assert {room: uses - used[room] for room, uses in ARROWS.items() if uses - used[room]} == {}


def test_nothing_imports_the_command_line():
    for file in MODULES:
        if file.relative_to(HOME).parts[0].removesuffix(".py") not in FREE:
            assert "cli" not in imports(file), str(file)


def test_no_room_is_called_utils():
    assert not {m.stem for m in MODULES} & {"utils", "helpers", "common", "base", "misc"}


def names_of_benchmarks(file: Path) -> set[str]:
    """The benchmarks that a module's code names in its texts; what a docstring says is no code."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = set()
    for node in nodes(file):
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
            docstrings.add(id(node.body[0].value))
    found = set()
    for node in nodes(file):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in docstrings
        ):
            found |= set(BENCHMARK.findall(node.value))
    return found


# Some names are words of everyday English, so they count only where they can be nothing else.
NAMES = "|".join(map(re.escape, registry.BENCHMARKS))
BENCHMARK = re.compile(rf"\b(?:spacenli|spatialqa|relativesize|posrel|viphy|vsr|(?:{NAMES})@\w*)\b")


def test_nothing_but_benchmarks_and_the_registry_names_a_benchmark():
    for file in MODULES:
        where = file.relative_to(HOME).parts[0]
        if where not in ("benchmarks", "data", "registry.py"):
            assert names_of_benchmarks(file) == set(), str(file)
            assert "benchmarks" not in imports(file), str(file)


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


def test_only_three_modules_speak_http_and_each_reads_within_bounds():
    # Files are fetched by one, models and Label Studio are asked by the others.
    clients = ("httpx", "urllib.request", "http.client", "requests", "aiohttp", "urllib3")
    opening = re.compile(rf"^\s*(?:import|from) (?:{'|'.join(map(re.escape, clients))})\b", re.M)
    found = {}
    for file in sorted(HOME.rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        if opening.search(text):
            found[file.relative_to(HOME).as_posix()] = "BoundedReply(" in text
    assert found == {
        "downloads/download.py": False,  # it writes to a file, up to the size that is known
        "models/servers/remote.py": True,
        "people/labelstudio/server.py": True,
    }
