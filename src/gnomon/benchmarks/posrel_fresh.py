"""The fresh scenes of `posrel`: actions and objects are crossed, so that neither says the place.

A scene is an action with an object, and only both together have a place: who keeps dry thanks to
the umbrella is below it, thanks to the tent inside; who decorates the umbrella is beside it. A seed
draws as many scenes of each place, and as evenly as possible for every action and every object.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from gnomon.benchmarks.posrel_scenes import RELATIONS, Scene
from gnomon.errors import UsageError
from gnomon.files import package_data, read_yaml
from gnomon.language.sampling import draws
from gnomon.language.surface import indefinite_article
from gnomon.language.world import Entity


class Fact(NamedTuple):
    """Where a person is who does something with an object."""

    action: str
    object: str
    relation: str


class Cast(NamedTuple):
    """Who and what may appear: people by group, and the names of an object."""

    people: Mapping[str, Sequence[str]]
    names: Mapping[str, Sequence[str]]  # of an object that is not listed: its own
    pronouns: Mapping[str, str]  # of a person who is not listed: "the nurse"
    ages: Mapping[str, str]  # what a person stands for, in the general set


def read_table() -> dict[str, Any]:
    """The actions, people and options of data/posrel/scenes.yaml."""
    table: dict[str, Any] = read_yaml(package_data("posrel/scenes.yaml"))
    return table


def facts_of(table: Mapping[str, Any]) -> list[Fact]:
    """All scenes of the table, in its order."""
    facts = []
    for action, entry in table["actions"].items():
        for relation in RELATIONS:
            for thing in entry.get(relation, ()):
                facts.append(Fact(action.replace("_", " "), thing, relation))
    return facts


def fresh_scenes(seed: int, count: int, variants: int) -> Iterator[Scene]:
    """Scenes of a man, a woman, a boy or a girl."""
    table = read_table()
    cast = Cast(table["people"], {}, table["pronouns"], {})
    return _staged(table, cast, seed, count, variants)


def general_scenes(seed: int, count: int, variants: int) -> Iterator[Scene]:
    """The same scenes with people by what they are and with kinds of the objects."""
    table = read_table()
    kinds = read_yaml(package_data("posrel/kinds.yaml"))
    adults, children = kinds["people"]["adults"], kinds["people"]["children"]
    people = {"adults": adults, "children": children, "anyone": [*adults, *children]}
    ages = dict.fromkeys(adults, "adult") | dict.fromkeys(children, "child")
    return _staged(table, Cast(people, kinds["objects"], {}, ages), seed, count, variants)


def _staged(
    table: Mapping[str, Any], cast: Cast, seed: int, count: int, variants: int
) -> Iterator[Scene]:
    if count < 0 or variants < 1:
        raise UsageError(
            f"{count} scenes with {variants} variants each cannot be drawn.",
            "Give 0 scenes (all) or more, and 1 variant (--per-group) or more.",
        )
    facts = facts_of(table)
    chosen = drawn(facts, count, Random(seed)) if count else facts
    for number, fact in enumerate(chosen):
        entry = table["actions"][fact.action.replace(" ", "_")]
        random = Random(f"{seed}/{fact.action}/{fact.object}")
        other = _other(fact.relation, number // len(RELATIONS))
        yield from _variants(fact, other, entry, cast, random, variants)


def _other(relation: str, round_: int) -> str:
    """The wrong place that is asked about: each of the three in turn."""
    step = 1 + round_ % (len(RELATIONS) - 1)
    return RELATIONS[(RELATIONS.index(relation) + step) % len(RELATIONS)]


def drawn(facts: Sequence[Fact], count: int, random: Random) -> list[Fact]:
    """`count` facts at most, as many of each relation, evenly for every action and object.

    One after the other is taken whose action and whose object are so far short of its relation. It
    is looked for in two random thirds of the facts, so that seeds differ.
    """
    places = _places(facts)
    left: dict[str, list[Fact]] = {}
    for relation in RELATIONS:
        own = [fact for fact in facts if fact.relation == relation]
        offered = max(count // len(RELATIONS), len(own) * 2 // 3)
        left[relation] = random.sample(own, min(offered, len(own)))
    taken: Counter[tuple[str, ...]] = Counter()

    def surplus(fact: Fact) -> tuple[int, int]:
        action, thing, relation = fact
        of_action = places[action] * taken[action, relation] - taken[action,]
        of_object = places[thing] * taken[thing, relation] - taken[thing,]
        # a word of one object recurs in many scenes, so an uneven object gives more away
        return of_action + 3 * of_object, taken[action,] + taken[thing,]

    chosen = []
    for _ in range(min(count // len(RELATIONS), *map(len, left.values()))):
        for relation in RELATIONS:
            fact = min(left[relation], key=surplus)
            left[relation].remove(fact)
            chosen.append(fact)
            for name in (fact.action, fact.object):
                taken[name, relation] += 1
                taken[name,] += 1
    return chosen


def _places(facts: Sequence[Fact]) -> Counter[str]:
    """How many relations each action and each object has."""
    found: set[tuple[str, str]] = set()
    for action, thing, relation in facts:
        found |= {(action, relation), (thing, relation)}
    return Counter(name for name, _ in found)


def _variants(
    fact: Fact, other: str, entry: Mapping[str, Any], cast: Cast, random: Random, count: int
) -> Iterator[Scene]:
    """Different people, names and wordings of one fact, `count` of them or as many as there are."""
    people = cast.people[entry["who"]]
    names = cast.names.get(fact.object, (fact.object,))
    wordings = entry["say"]
    total = len(people) * len(names) * len(wordings)
    for rank in draws(total, count, random):
        rest, wording = divmod(rank, len(wordings))
        person = people[rest % len(people)]
        name = names[rest // len(people)]
        yield Scene(
            text=_sentence(wordings[wording], person, name),
            person=person,
            verb=fact.action,
            action=fact.action,
            object=name,
            relation=fact.relation,
            other=other,
            pronoun=cast.pronouns.get(person, f"the {person}"),
            group=f"{fact.action}/{fact.object}",
            wording=str(wording + 1),
            stands_for=(cast.ages[person], fact.object) if cast.ages else None,
        )


def _sentence(wording: str, person: str, thing: str) -> str:
    named = f"{indefinite_article(Entity(person))} {person}"
    capital = named[0].upper() + named[1:]
    return wording.format(Person=capital, person=named, thing=thing)
