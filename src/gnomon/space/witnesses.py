"""Witnesses: scenes in which a claim is true, or false, and the premises hold."""

from __future__ import annotations

import re

from gnomon.space.solving import Witness

_CENTRE = re.compile(r"(.+)@(\d)\.([xyz])")


def centres(witness: Witness | None) -> dict[str, dict[str, float]]:
    """Where things are in a witness: the centre of each along the axes that matter, now."""
    found: dict[str, dict[str, float]] = {}
    if witness is None:
        return found
    latest: dict[str, int] = {}
    for quantity, value in witness.values.items():
        match = _CENTRE.fullmatch(quantity)
        if match is None:
            continue
        name, moment, axis = match[1], int(match[2]), match[3]
        if moment < latest.get(name, 0) or moment == 3:
            continue
        if moment > latest.get(name, -1):
            latest[name] = moment
            found[name] = {}
        found[name][axis] = round(float(value), 3)
    return found
