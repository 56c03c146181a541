"""What published and fresh items share: the labels, and the categories of relations."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from gnomon.files import package_data, read_yaml

CHOICES = ("false", "true")
WITHOUT_CATEGORY = ("congruent",)  # annotators used it, but the paper's list lacks it


def category(relation: str) -> str:
    """The meta-category of a relation; "none" for the one relation (congruent) that has none.

    >>> category("among"), category("congruent")
    ('Unallocated', 'none')
    """
    return _categories().get(relation, "none")


def all_relations() -> tuple[str, ...]:
    """The 71 relations that annotators choose from, by category.

    The paper's list has 71 entries, of which "among" is two; its data have one more relation.

    >>> len(all_relations())
    71
    """
    return (*_categories(), *WITHOUT_CATEGORY)


@cache
def _categories() -> dict[str, str]:
    table: dict[str, Iterable[str]] = read_yaml(package_data("vsr/categories.yaml"))
    found: dict[str, str] = {}
    for name, relations in table.items():
        found |= dict.fromkeys(relations, name)
    return found
