"""Readings: what a sentence leaves open and a reader supplies, as named switches."""

from __future__ import annotations

from functools import cache

import msgspec

from gnomon.errors import unknown
from gnomon.files import package_data, read_yaml


class Reading(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One way to understand the words; every switch is explained in readings.yaml."""

    name: str = "ordinary"
    says: str = ""
    whole: bool = False  # directions compare whole boxes, not centres
    sharp: bool = False  # near and far are thresholds, and things may be of any size
    open_plan: bool = False  # rooms, cities and countries may overlap, and things straddle walls
    loose: bool = False  # what is between two things need not be in line with them
    viewer: bool = False  # in front and behind are the viewer's, whatever the thing's own front
    ghostly: bool = False  # bodies may share their place
    passing: bool = False  # what has happened need not have lasted

    @property
    def switches(self) -> set[str]:
        """The switches that it throws."""
        return {field for field in self.__struct_fields__[2:] if getattr(self, field)}

    @property
    def grants_less(self) -> bool:
        """Whether it only drops assumptions: what the ordinary reading leaves open stays open."""
        return self.sharp or self.open_plan or self.ghostly


@cache
def readings() -> dict[str, Reading]:
    """All readings by name; the first one is the ordinary one.

    >>> list(readings())[0]
    'ordinary'
    """
    found = {}
    for name, entry in read_yaml(package_data("space/meaning/readings.yaml")).items():
        found[name] = msgspec.convert({"name": name, **entry}, Reading)
    return found


def reading_named(name: str) -> Reading:
    """The reading of a name."""
    if name not in readings():
        raise unknown("reading", name[:60], readings())
    return readings()[name]
