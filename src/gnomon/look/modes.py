"""How knowledge is made: `right`, as the paper says (`paper`), or as its code does (`code`).

A mode is a set of named switches, each with a sentence that says what it does
(data/vision/modes.yaml). `right` has none; one fault alone is right+SWITCH.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import msgspec

from gnomon.errors import check_known
from gnomon.files import package_data, read_yaml


class Switch(msgspec.Struct, frozen=True):
    """Something the paper or its code does that `right` does not."""

    stage: str
    of: str  # "paper" or "code": who began it
    says: str


class Mode(NamedTuple):
    """The switches that are on.

    >>> mode = mode_named("right+swapped_axes")
    >>> mode.has("swapped_axes"), mode.has("top_point")
    (True, False)
    """

    name: str
    switches: frozenset[str]

    def has(self, switch: str) -> bool:
        """Whether a switch is on; a switch that does not exist is a mistake of ours."""
        if switch not in switches():
            raise KeyError(switch)
        return switch in self.switches

    def describe(self) -> dict[str, str]:
        """What each switch that is on does, in the order of the stages."""
        return {name: switch.says for name, switch in switches().items() if self.has(name)}


@cache
def _tables() -> tuple[dict[str, Switch], dict[str, list[str]]]:
    entry = read_yaml(package_data("vision/modes.yaml"))
    return msgspec.convert(entry["switches"], dict[str, Switch]), entry["modes"]


def switches() -> dict[str, Switch]:
    """All switches by name."""
    return _tables()[0]


def mode_named(name: str) -> Mode:
    """The mode right, paper or code, with switches added by +SWITCH.

    >>> sorted(mode_named("right").switches)
    []
    """
    base, *added = name.split("+")
    modes = _tables()[1]
    check_known("mode", base, modes)
    for switch in added:
        check_known("switch", switch, switches())
    found = frozenset(modes[base]).union(added)
    return Mode(name, found)
