"""Fields within fields: what a row holds under a dotted name such as question.stem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

MISSING = object()


def value_at(row: Mapping[str, Any], name: str) -> Any:
    """What a row holds under a name, or under a.b for a field of an object; MISSING if nothing.

    >>> value_at({"choices": {"text": ["in", "on"]}}, "choices.text")
    ['in', 'on']
    >>> value_at({"choices": [{"text": "in"}, {"text": "on"}]}, "choices.text")
    ['in', 'on']
    """
    if name in row:
        return row[name]
    outer, dot, inner = name.partition(".")
    if not dot or outer not in row:
        return MISSING
    value = row[outer]
    if isinstance(value, Mapping):
        return value_at(value, inner)
    if isinstance(value, list):
        return _in_list(value, inner)
    return MISSING


def _in_list(values: Sequence[Any], name: str) -> Any:
    """The value at a number, such as choices.0; or what each of the objects holds under a name."""
    by_number = dict(zip(map(str, range(len(values))), values, strict=True))
    found = value_at(by_number, name)
    if found is not MISSING:
        return found
    if not values or not all(isinstance(value, Mapping) for value in values):
        return MISSING
    every = [value_at(value, name) for value in values]
    return MISSING if MISSING in every else every


def columns_of(row: Mapping[str, Any]) -> list[str]:
    """The columns of a row; where the question is an object, as in ARC, its fields instead.

    >>> columns_of({"id": "1", "question": {"stem": "Where?", "choices": []}})
    ['id', 'question.stem', 'question.choices']
    """
    found = []
    for name, value in row.items():
        if name == "question" and isinstance(value, Mapping):
            found += [f"{name}.{inner}" for inner in value]
        else:
            found.append(name)
    return found


def with_fields(row: Mapping[str, Any]) -> list[str]:
    """The columns of a row, and the fields of those that are objects."""
    found = list(row)
    for name, value in row.items():
        if isinstance(value, Mapping):
            found += [f"{name}.{inner}" for inner in value]
    return found
