"""How the items of a study relate to those that the paper's models answered."""

from __future__ import annotations

from functools import cache

import msgspec

from gnomon.files import package_data, read_yaml


class PaperItems(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is known of a benchmark's items beside the paper's."""

    fresh: str = ""
    published: str = ""
    models: str = ""  # what to know of the published models, in whole sentences
    per_group: int = 0  # items of a group that the paper's models answered, rounded; 0: unknown


# said of runs on a part of the published items
WHICH = "The methods below say which of the published items these runs answered."
NEARLY = 0.95  # of the paper's items in a group, whose number is rounded, are as many


@cache
def known_items() -> dict[str, PaperItems]:
    """The facts by benchmark."""
    return msgspec.convert(read_yaml(package_data("published/items.yaml")), dict[str, PaperItems])


def paper_items(benchmark: str) -> PaperItems:
    """The facts on a benchmark, with or without its source.

    >>> paper_items("spacenli@fresh").per_group
    200
    """
    return known_items().get(benchmark.partition("@")[0], PaperItems())


def fewer_than_paper(items_each: float, benchmark: str) -> bool:
    """Whether groups have fewer items than the paper's; not where that is not known.

    >>> fewer_than_paper(199.6, "spacenli"), fewer_than_paper(20, "spacenli")
    (False, True)
    """
    return items_each < NEARLY * paper_items(benchmark).per_group


def relation(benchmark: str) -> str:
    """In which way the items of NAME@SOURCE relate to the paper's, in a sentence or two.

    >>> relation("spacenli@published")
    'The methods below say which of the published items these runs answered.'
    """
    known = paper_items(benchmark)
    source = benchmark.partition("@")[2]
    if source == "published":
        told = WHICH
        if known.published:
            told = f"{known.published[:1].upper()}{known.published[1:]}."
        return f"{told} {known.models}".rstrip()
    what = "other items"
    if source == "fresh" and known.fresh:
        what += f": {known.fresh}"
    return f"The paper's models answered the published items; these runs answered {what}."
