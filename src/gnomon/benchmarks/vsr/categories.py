"""What published and fresh items share: the labels, and the categories of relations."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from gnomon.files import package_data, read_yaml

CHOICES = ("false", "true")


def category(relation: str) -> str:
    """The meta-category of a relation; "none" for the one relation (congruent) that has none.

    >>> category("among"), category("congruent")
    ('Unallocated', 'none')
    """
    return _categories().get(relation, "none")


@cache
def _categories() -> dict[str, str]:
    table: dict[str, Iterable[str]] = read_yaml(package_data("vsr/categories.yaml"))
    found: dict[str, str] = {}
    for name, relations in table.items():
        found |= dict.fromkeys(relations, name)
    return found
