"""Of what kind things are: from the classes of a mini world, or from the things that are drawn."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from gnomon.files import package_data
from gnomon.language.patterns import Pattern
from gnomon.language.world import World, parse_world
from gnomon.proofs.meaning.lexicon import grammar_words
from gnomon.scenes.things import Thing, things

Kinds = dict[str, frozenset[str]]
PERSON = frozenset({"living", "person", "fronted"})
_OF_WORLD: dict[int, tuple[World, list[frozenset[str]]]] = {}


def kinds_of_slots(patterns: Iterable[Pattern]) -> Kinds:
    """The kinds that all fillers of a slot share; none where a world does not tell."""
    found: Kinds = {}
    for pattern in patterns:
        by_number = _kinds_by_number(pattern.world)
        for slot in pattern.slots:
            if slot.words:
                continue
            shared: frozenset[str] | None = None
            for filler in slot.domain:
                own = by_number[filler]
                shared = own if shared is None else shared & own
            found[slot.name] = shared or frozenset()
    return found


def _kinds_by_number(world: World) -> list[frozenset[str]]:
    """The kinds of each entity of a world; worked out once."""
    known = _OF_WORLD.get(id(world))
    if known is not None and known[0] is world:
        return known[1]
    gathered: list[set[str]] = [set() for _ in world.entities]
    for name, members in world.classes.items():
        for number in members:
            gathered[number].update(grammar_words().kinds.get(name, ()))
    found = [frozenset(kinds) for kinds in gathered]
    _OF_WORLD.clear()
    _OF_WORLD[id(world)] = (world, found)
    return found


@cache
def kinds_of_nouns() -> Kinds:
    """The kinds of the nouns and names of the mini world that ships, and of things that are drawn.

    >>> "room" in kinds_of_nouns()["kitchen"]
    True
    """
    found: Kinds = {}
    for name, thing in things().items():
        found[name] = _kinds_of_thing(thing)
    world = parse_world(package_data("patterns/world.yaml").read_text(encoding="utf-8"))
    for entity, kinds in zip(world.entities, _kinds_by_number(world), strict=True):
        found[entity.name] = kinds | found.get(entity.name, frozenset())
    return found


def kinds_of_names(sentences: Iterable[list[str]]) -> Kinds:
    """The kinds of those whom free sentences name; an unknown name is a person's."""
    nouns = kinds_of_nouns()
    found: Kinds = {}
    for words in sentences:
        for word in words:
            if word.startswith("@"):
                name = word[1:]
                unknown = PERSON if name[0].isupper() else frozenset[str]()
                found[name] = nouns.get(name.replace("-", " "), unknown)
    return found


def _kinds_of_thing(thing: Thing) -> frozenset[str]:
    found = {"ground"}
    if thing.living:
        found |= {"living", "person"} if thing.name == "person" else {"living"}
    if thing.front:
        found.add("fronted")
    if thing.cavity:
        found.add("hollow")
    if thing.beneath:
        found.add("legged")
    return frozenset(found)
