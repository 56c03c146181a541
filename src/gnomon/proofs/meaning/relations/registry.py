"""The relations by name, as the lexicon calls them."""

from __future__ import annotations

from collections.abc import Callable

from gnomon.proofs.meaning.formulas import Formula

Relation = Callable[..., Formula]
RELATIONS: dict[str, Relation] = {}


def relation(function: Relation) -> Relation:
    """Make a function known to the lexicon under its own name."""
    RELATIONS[function.__name__.rstrip("_")] = function
    return function
