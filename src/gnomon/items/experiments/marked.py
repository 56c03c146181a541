"""YAML in which every value knows its line, so that an error can say where it stands."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gnomon.errors import UsageError, unknown
from gnomon.files import read_text, read_yaml

LARGEST = 2**20  # bytes of a file


@dataclass(frozen=True)
class Marked:
    """A value of a YAML file: a scalar, a list of these, or these by name."""

    value: Any
    file: str
    line: int

    def wrong(self, message: str, hint: str) -> UsageError:
        """The error for a value that cannot be used, with its place."""
        return UsageError(f"{self.file}:{self.line}: {message}", hint)

    def fields(self, what: str, known: tuple[str, ...]) -> dict[str, Marked]:
        """The values by name, if all names are known."""
        found = self.mapping(what)
        for name, each in found.items():
            if name not in known:
                near = unknown("setting", name, known)
                raise each.wrong(near.message, near.hint)
        return found

    def fields_or(self, name: str, what: str, known: tuple[str, ...]) -> dict[str, Marked]:
        """The values by name; a value that stands alone has the name that is given."""
        if isinstance(self.value, dict):
            return self.fields(what, known)
        return {name: self}

    def mapping(self, what: str) -> dict[str, Marked]:
        """The values by name."""
        if not isinstance(self.value, dict):
            raise self.wrong(f"{what} must be names with values.", "Write `name: value` lines.")
        return self.value

    def entries(self, what: str) -> list[Marked]:
        """The values of a list; one value that is no list is a list of one."""
        if isinstance(self.value, dict):
            raise self.wrong(f"{what} must be a list.", "Begin each of its lines with a dash: `- `")
        if isinstance(self.value, list):
            return self.value
        return [self]

    def text(self, what: str) -> str:
        """A text that is not empty."""
        if isinstance(self.value, str) and self.value.strip():
            return self.value.strip()
        raise self.wrong(f"{what} must be a text.", "Put it in quotes if it looks like a number.")

    def whole(self, what: str, least: int) -> int:
        """A whole number."""
        is_number = isinstance(self.value, int) and not isinstance(self.value, bool)
        if is_number and self.value >= least:
            return int(self.value)
        raise self.wrong(f"{what} must be a whole number, {least} or more.", "Correct the number.")

    def plain(self) -> Any:
        """The value without lines."""
        if isinstance(self.value, dict):
            return {name: each.plain() for name, each in self.value.items()}
        if isinstance(self.value, list):
            return [each.plain() for each in self.value]
        return self.value


def read_marked(file: Path) -> Marked:
    """The content of a YAML file. What repeats itself by reference is refused."""
    import yaml

    read_yaml(file, limit=LARGEST)  # says what is wrong with the YAML itself
    loader = yaml.SafeLoader(read_text(file, limit=LARGEST))
    try:
        node = loader.get_single_node()
        if node is None:
            raise UsageError(f"{file} is empty.", "Name benchmarks in it: docs/running.md.")
        return _marked(node, loader, str(file), set())
    finally:
        loader.dispose()


def _marked(node: Any, loader: Any, file: str, seen: set[int]) -> Marked:
    import yaml

    line = node.start_mark.line + 1
    if id(node) in seen:
        raise UsageError(
            f"{file}:{line}: a value is repeated by reference.", "Write it out instead of & and *."
        )
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        return Marked([_marked(each, loader, file, seen) for each in node.value], file, line)
    if not isinstance(node, yaml.MappingNode):
        return Marked(loader.construct_object(node), file, line)
    found: dict[str, Marked] = {}
    for key, value in node.value:
        name = str(loader.construct_object(key))
        if name in found:
            raise UsageError(
                f"{file}:{key.start_mark.line + 1}: '{name}' is set twice.", "Remove one of them."
            )
        found[name] = _at_line(_marked(value, loader, file, seen), key.start_mark.line + 1)
    return Marked(found, file, line)


def _at_line(value: Marked, line: int) -> Marked:
    """A value with the line of its name, which is where people look."""
    if isinstance(value.value, dict | list):
        return value
    return Marked(value.value, value.file, line)
