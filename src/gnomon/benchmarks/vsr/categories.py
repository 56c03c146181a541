"""What published and fresh items share: the labels, and the categories of relations."""

from __future__ import annotations

from gnomon.lexicon.relations import lexicon

CHOICES = ("false", "true")
NONE = "none"  # of "congruent": annotators used it, but the paper's list lacks it


def category(relation: str) -> str:
    """The meta-category of a relation; "none" for the one relation (congruent) that has none.

    >>> category("among"), category("congruent")
    ('Unallocated', 'none')
    """
    known = lexicon().relations.get(relation)
    return NONE if known is None else known.category or NONE


def all_relations() -> tuple[str, ...]:
    """The 71 relations that annotators choose from, by category.

    The paper's list has 71 entries, of which "among" is two; its data have one more relation.

    >>> len(all_relations())
    71
    """
    in_categories = [each for each in lexicon().relations.values() if each.category]
    by_category = sorted(in_categories, key=lambda each: each.category)
    return tuple(each.name for each in by_category)


def relations_without_is() -> tuple[str, ...]:
    """The relations that are verbs of their own.

    >>> relations_without_is()
    ('contains', 'consists of', 'has as a part')
    """
    return tuple(name for name in all_relations() if name in lexicon().verbs)
