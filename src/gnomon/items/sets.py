"""Public benchmarks of others by name: what each asks, where its files are, and how they are read.

None of their data are here: `set:NAME` reads the files in the folder that `--data` names.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from gnomon.contracts import Benchmark
from gnomon.errors import UsageError, unknown
from gnomon.files import find, package_data, read_yaml
from gnomon.items.itemfiles import items_to_ask, options_of_file
from gnomon.items.mapping import map_of, write_map
from gnomon.records import Item

PREFIX = "set:"
SOURCE = "set"


class NamedSet(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is known of a benchmark of others (data/sets.yaml)."""

    asks: str
    files: tuple[str, ...]
    where: str
    licence: str
    opened: str  # "file" if its own file was read here, "form" if rows in its form were, "no"
    map: dict[str, str | tuple[str, ...]] = {}
    audit: str = ""  # what was found in its file; empty if nobody here could audit it
    note: str = ""


@cache
def named_sets() -> dict[str, NamedSet]:
    """All sets by their names."""
    return msgspec.convert(read_yaml(package_data("sets.yaml")), dict[str, NamedSet])


def set_named(name: str) -> NamedSet:
    """The set of a name, with or without the prefix."""
    plain = name.removeprefix(PREFIX)
    if plain not in named_sets():
        raise unknown("set", plain, named_sets())
    return named_sets()[plain]


def benchmark_of_set(spec: str) -> Benchmark:
    """A set of others as a benchmark with one source."""
    known = set_named(spec)

    def items(
        *, data: str = "", map: str = "", split: str = "", images: str = ""
    ) -> Iterator[Item]:
        """The items of the set.

        data     the folder with the authors' files
        map      which column holds what, if not as the catalogue says
        split    only this split, such as test
        images   the folder from which paths of pictures start; none to ask without them
        """
        given = {"data": data, "map": map, "split": split, "images": images}
        _, options = opened_set(spec, given)
        return items_to_ask(**options)

    name = spec.removeprefix(PREFIX)
    return Benchmark(name=name, summary=known.asks, sources={SOURCE: items})


def opened_set(spec: str, options: Mapping[str, Any]) -> tuple[Benchmark, dict[str, Any]]:
    """The benchmark and the options with which the files of a set are read."""
    known = set_named(spec)
    if not options.get("data"):
        raise UsageError(
            f"{spec} needs its authors' files: {' or '.join(known.files[:2])}.",
            f"Fetch them ({known.where}), and give their folder with --data DIR.",
        )
    file = find(Path(str(options["data"])), *known.files, what=f"the file of {spec}")
    given = {name: value for name, value in options.items() if name != "data"}
    if known.map and not given.get("map"):
        given["map"] = write_map(map_of(known.map))
    name = spec.removeprefix(PREFIX)
    plain = Benchmark(name=name, summary=known.asks, sources={SOURCE: items_to_ask})
    return plain, options_of_file(file, given)
