"""The words for things that several parts of the program share (data/lexicon/things.yaml)."""

from functools import cache

import msgspec

from gnomon.files import package_data, read_yaml


class ThingWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Other nouns by name, nouns by class, and which things have a front, a face, a plural."""

    nouns: dict[str, tuple[str, ...]]
    classes: dict[str, tuple[str, ...]]
    fronts: frozenset[str]
    faces: frozenset[str]
    plurals: dict[str, str]


@cache
def thing_words() -> ThingWords:
    """The words that ship."""
    return msgspec.convert(read_yaml(package_data("lexicon/things.yaml")), ThingWords)


@cache
def names_by_noun() -> dict[str, str]:
    """The name of a thing by each other noun for it.

    >>> names_by_noun()["sofa"]
    'couch'
    """
    names: dict[str, str] = {}
    for name, nouns in thing_words().nouns.items():
        names |= dict.fromkeys(nouns, name)
    return names
