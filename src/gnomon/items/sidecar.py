"""The file beside a file of items that says what they are: items.yaml beside items.jsonl.

It gives a title, measures, units, slices, a prompt and the columns. Beside a dataset folder's data
it is called gnomon.yaml.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from gnomon.contracts import Benchmark
from gnomon.errors import DataError, UsageError, unknown
from gnomon.files import read_text, read_yaml, shape_problem
from gnomon.items.mapping import ColumnMap, read_map
from gnomon.records import FORMS
from gnomon.registry import benchmark, measure

NAME = "gnomon.yaml"  # in a dataset folder
LARGEST = 2**18  # bytes
_HINT = "docs/own.md lists the fields of this file."


class Sidecar(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a sidecar may say; all of it may be left out."""

    like: str = ""  # a benchmark of Gnomon's, whose measures, units and laws hold here too
    title: str = ""
    summary: str = ""
    skill: str = ""  # what a model that does well knows, as in "knows ..."
    measures: tuple[str, ...] = ()
    units: tuple[tuple[str, ...], ...] = ()  # kinds of unit, each by the tags that hold them
    unit_nouns: tuple[str, ...] = ()
    groups: str = ""  # what the groups are called: templates, pairs
    slices: tuple[str, ...] = ()
    tag_words: dict[str, str] = {}
    form: str = ""  # of all items
    prompt: str = ""  # by which the items are put unless another is chosen
    map: str | dict[str, str | tuple[str, ...]] = ""
    chance: float | None = None  # what a guess gets, as the author reckons: `gnomon audit` compares
    licence: str = ""
    citation: str = ""


FIELDS = Sidecar.__struct_fields__


def sidecar_path(path: Path) -> Path:
    """Where the sidecar of a file or of a dataset folder is, if there is one."""
    if path.is_dir():
        return path / NAME
    return path.with_name(path.name.removesuffix(".gz")).with_suffix(".yaml")


def read_sidecar(path: Path) -> Sidecar:
    """What the sidecar of a file or folder says; an empty one if there is none."""
    file = sidecar_path(path)
    if file == path or not file.is_file():  # an lm-eval task is a YAML file itself
        return Sidecar()
    try:
        return _read(file)
    except DataError as error:
        if path.is_dir():
            raise
        beside = f"{file.name} stands beside {path.name} and is read as its description"
        error.hint = f"{error.hint}\n{beside}; rename it if it is not."
        raise


def _read(file: Path) -> Sidecar:
    raw = read_yaml(file, limit=LARGEST)
    if raw is None:
        return Sidecar()
    if not isinstance(raw, dict):
        raise DataError("it is not a list of fields.", "Write FIELD: VALUE.", file=file)
    for name in raw:
        if name not in FIELDS:
            error = unknown("field of a sidecar", str(name), FIELDS)
            line = _line_of(file, str(name))
            raise DataError(error.message, f"{error.hint} {_HINT}", file=file, line=line)
    try:
        found = msgspec.convert(_with_lists(raw), Sidecar)
    except msgspec.ValidationError as error:
        raise _wrong(file, error) from None
    _check(file, found)
    return _with_prompt(file, found)


def _with_lists(raw: dict[str, Any]) -> dict[str, Any]:
    """One name where a list of names is meant is a list of one."""
    found = dict(raw)
    for name in ("measures", "slices", "unit_nouns"):
        if isinstance(found.get(name), str):
            found[name] = [found[name]]
    units = found.get("units")
    if isinstance(units, str):
        units = [units]
    if isinstance(units, list):
        found["units"] = [[kind] if isinstance(kind, str) else kind for kind in units]
    return found


def _wrong(file: Path, error: Exception) -> DataError:
    """What is of the wrong type, with the line of its field."""
    problem = shape_problem(error)
    name = re.split(r"[^a-z_]", problem)[0]
    return DataError(f"{problem}.", _HINT, file=file, line=_line_of(file, name))


def _line_of(file: Path, name: str) -> int:
    for number, line in enumerate(read_text(file, limit=LARGEST).splitlines(), start=1):
        if name and line.startswith((f"{name}:", f'"{name}"', f"'{name}'")):
            return number
    return 0


@contextmanager
def _told_at(file: Path, field: str) -> Iterator[None]:
    """What is wrong inside is told with the line of the field."""
    try:
        yield
    except UsageError as error:
        line = _line_of(file, field)
        raise DataError(error.message, error.hint, file=file, line=line) from None


def _check(file: Path, found: Sidecar) -> None:
    with _told_at(file, "measures"):
        for name in found.measures:
            measure(name)
    with _told_at(file, "map"):
        columns(found)
    with _told_at(file, "like"):
        if found.like:
            benchmark(found.like)
    with _told_at(file, "form"):
        if found.form and found.form not in FORMS:
            raise unknown("form", found.form, FORMS)
    with _told_at(file, "unit_nouns"):
        kinds, nouns = len(found.units), len(found.unit_nouns)
        if nouns not in (0, kinds):
            raise UsageError(
                f"there are {kinds} kinds of units and {nouns} unit_nouns.",
                "Give a noun for each kind, or leave unit_nouns out.",
            )
    with _told_at(file, "chance"):
        if found.chance is not None and not 0 <= found.chance <= 1:
            raise UsageError(
                f"a chance of {found.chance:g} is no fraction.",
                "Give a number from 0 to 1, such as 0.25.",
            )


def _with_prompt(file: Path, found: Sidecar) -> Sidecar:
    """The sidecar with its prompt file as seen from here."""
    if not found.prompt.endswith((".yaml", ".yml")):
        return found
    path = file.parent / found.prompt
    if not path.is_file():
        raise DataError(
            f"there is no prompt file '{found.prompt}' beside it.",
            "Give its path from this folder, or the name of a prompt of Gnomon's.",
            file=file,
            line=_line_of(file, "prompt"),
        )
    return msgspec.structs.replace(found, prompt=path.as_posix())


def columns(sidecar: Sidecar) -> ColumnMap:
    """The columns that a sidecar names."""
    return read_map(sidecar.map)


def described(plain: Benchmark, sidecar: Sidecar) -> Benchmark:
    """A benchmark with what the sidecar says of it."""
    changes: dict[str, Any] = {}
    for name in ("title", "summary", "skill", "measures", "unit_nouns", "slices", "prompt"):
        if getattr(sidecar, name):
            changes[name] = getattr(sidecar, name)
    if sidecar.units:
        changes["units"] = sidecar.units
        changes.setdefault("unit_nouns", ())
    if sidecar.groups:
        changes["noun"] = sidecar.groups
    if sidecar.tag_words:
        changes["tag_words"] = {**plain.tag_words, **sidecar.tag_words}
    return replace(plain, **changes) if changes else plain
