"""Stories of facts in words: worlds with their things, ways to say a relation, and who tells it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from random import Random
from typing import Any

from gnomon.files import package_data, read_yaml
from gnomon.proofs.chainfacts import ChainFact, Story

PERSONS = ("first", "third")
NAMINGS = ("names", "things")
NAMED = ("people", "zones")  # that have names of their own


@dataclass(frozen=True)
class World:
    """What stories of one family are about."""

    name: str
    family: str
    things: str
    scene: str
    relations: Mapping[str, Sequence[str]]  # ways to say each; questions use the first

    @property
    def naming(self) -> str:
        """Whether things are called by names of their own."""
        return "names" if self.things in NAMED else "things"

    def phrase(self, relation: str) -> str:
        """How a question says a relation, without its verb: "to the left of"."""
        return self.relations[relation][0].partition(" ")[2]


@dataclass(frozen=True)
class Telling:
    """How the stories of one trio are told: the same for all three."""

    world: World
    person: str
    names: Sequence[str]  # of the things, by number; "I" for the one who tells
    # which way to say a relation for the first time, the second ...: so that stories in which it is
    # said of other pairs have the same words
    ways: Sequence[int]
    frames: Sequence[str]  # around each fact
    order: Sequence[int]  # in which the facts are told

    def context(self, story: Story) -> str:
        """The scene and the facts."""
        parts = [self.world.scene]
        said: Counter[str] = Counter()
        for place in self.order:
            fact = story[place]
            way = self.ways[said[fact.relation]]
            said[fact.relation] += 1
            parts.append(self.frames[place].format(sentence=self._clause(fact, way)))
        return " ".join(map(_as_sentence, parts))

    def question(self, asked: ChainFact) -> str:
        """Is the one so to the other?"""
        one, two = self.names[asked.first], _object(self.names[asked.second])
        verb = "Am" if one == "I" else "Is"
        text = f"{verb} {one} {self.world.phrase(asked.relation)} {two}?"
        return str(_words()["question"]).format(question=text)

    def _clause(self, fact: ChainFact, way: int) -> str:
        ways = self.world.relations[fact.relation]
        predicate = ways[way % len(ways)]
        one, two = self.names[fact.first], _object(self.names[fact.second])
        if one == "I":
            predicate = _in_first_person(predicate)
        return f"{one} {predicate} {two}."


def telling(world: World, person: str, facts: int, *, shuffle: bool, random: Random) -> Telling:
    """Draw names, wordings and an order for stories of that many facts."""
    names = _drawn_names(world, facts + 1, random)
    frames = ["{sentence}"] * facts
    if person == "first" and world.things == "people":
        names[random.randrange(len(names))] = "I"
    elif person == "first":
        frames = random.choices(_words()["witness"], k=facts)
    order = list(range(facts))
    if shuffle:
        random.shuffle(order)
    ways = [random.randrange(6) for _ in range(facts)]
    return Telling(world, person, names, ways, frames, order)


def worlds_of(family: str, naming: str = "") -> list[World]:
    """The worlds of a family, or those of them in which things are named so."""
    found = []
    for world in worlds().values():
        if world.family == family and naming in ("", world.naming):
            found.append(world)
    return found


@cache
def worlds() -> dict[str, World]:
    """Every world by its name."""
    found = {}
    for name, content in _words()["worlds"].items():
        found[name] = World(name, **content)
    return found


def _drawn_names(world: World, count: int, random: Random) -> list[str]:
    return random.sample(_names(world.things), count)


@cache
def _names(things: str) -> list[str]:
    """All that may be named: the clock, the red box, Anna."""
    source = _words()["things"][things]
    if isinstance(source, list):
        return source if things in NAMED else [f"the {noun}" for noun in source]
    if "from" in source:
        content: dict[str, Any] = read_yaml(package_data(source["from"]))
        return list(content["names"])
    pairs = product(_words()["colours"], source["nouns"])
    return [f"the {colour} {noun}" for colour, noun in pairs]


def _as_sentence(text: str) -> str:
    return text[0].upper() + text[1:]


def _object(name: str) -> str:
    return "me" if name == "I" else name


def _in_first_person(predicate: str) -> str:
    verb, _, rest = predicate.partition(" ")
    return f"am {rest}" if verb == "is" else predicate


@cache
def _words() -> dict[str, Any]:
    content: dict[str, Any] = read_yaml(package_data("chains.yaml"))
    return content
