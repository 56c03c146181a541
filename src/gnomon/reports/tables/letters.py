"""Letters for significance: two models differ if and only if they share no letter.

The compact letter display of H.-P. Piepho (2004), by insertion and absorption.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from gnomon.records import letter_of


def letters(names: Sequence[str], differing: Iterable[tuple[str, str]]) -> Mapping[str, str]:
    """The letters of each name, given the pairs that differ; the first name has the first letter.

    >>> letters(["best", "near", "far"], [("best", "far")])
    {'best': 'a', 'near': 'ab', 'far': 'b'}
    """
    groups = [frozenset(names)]
    for one, two in differing:
        groups = _without_absorbed(_split(groups, one, two))

    order = {name: place for place, name in enumerate(names)}
    groups.sort(key=lambda group: sorted(order[name] for name in group))
    found = dict.fromkeys(names, "")
    for place, group in enumerate(groups):
        for name in group:
            found[name] += letter_of(place)
    return found


def _split(groups: Sequence[frozenset[str]], one: str, two: str) -> list[frozenset[str]]:
    """The groups, with those that hold both of a pair in two copies, each without one of them."""
    found = []
    for group in groups:
        if {one, two} <= group:
            found += [group - {one}, group - {two}]
        else:
            found.append(group)
    return found


def _without_absorbed(groups: Sequence[frozenset[str]]) -> list[frozenset[str]]:
    """The groups that are not part of another one, each once."""
    distinct = list(dict.fromkeys(groups))
    found = []
    for group in distinct:
        if not any(group < other for other in distinct):
            found.append(group)
    return found
