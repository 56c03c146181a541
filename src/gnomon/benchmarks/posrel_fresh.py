"""The fresh scenes of `posrel`: actions and objects are crossed, so that neither says the place.

A scene is an action with an object, and only both together have a place: who keeps dry thanks to
the umbrella is below it, thanks to the tent inside; who decorates the umbrella is beside it. A seed
draws as many scenes of each place, as evenly as possible for every action and every object, and
casts every person equally often in each place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from random import Random
from typing import Any, NamedTuple

from gnomon.benchmarks.posrel_scenes import RELATIONS, Scene
from gnomon.errors import UsageError
from gnomon.files import package_data, read_yaml
from gnomon.language.surface import indefinite_article
from gnomon.language.world import Entity

ANYONE = "anyone"


class Fact(NamedTuple):
    """Where a person is who does something with an object."""

    action: str
    object: str
    relation: str


class Cast(NamedTuple):
    """Who and what may appear: people by age, and the names of an object."""

    people: Mapping[str, Sequence[str]]  # adults, children
    names: Mapping[str, Sequence[str]]  # of an object that is not listed: its own
    pronouns: Mapping[str, str]  # of a person who is not listed: "the nurse"
    ages: Mapping[str, str]  # what a person stands for, in the general set

    def who_may(self, who: str) -> list[str]:
        """The people of whom an action is plausible: adults, children or anyone."""
        if who == ANYONE:
            return [*self.people["adults"], *self.people["children"]]
        return list(self.people[who])


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
    people = kinds["people"]
    ages = dict.fromkeys(people["adults"], "adult") | dict.fromkeys(people["children"], "child")
    return _staged(table, Cast(people, kinds["objects"], {}, ages), seed, count, variants)


def _staged(
    table: Mapping[str, Any], cast: Cast, seed: int, count: int, variants: int
) -> Iterator[Scene]:
    if count < 0 or variants < 1:
        raise UsageError(
            f"{count} scenes with {variants} variants each cannot be drawn.",
            "Give 0 scenes (all) or more, and 1 variant (per_group) or more.",
        )
    facts = facts_of(table)
    random = Random(seed)
    chosen = drawn(facts, count, random) if count else facts
    entries = [table["actions"][fact.action.replace(" ", "_")] for fact in chosen]
    people = casting(chosen, [entry["who"] for entry in entries], cast, random)
    for number, fact in enumerate(chosen):
        other = _other(fact.relation, number // len(RELATIONS))
        own = Random(f"{seed}/{fact.action}/{fact.object}")
        yield from _variants(fact, other, entries[number], cast, people[number], own, variants)


def casting(facts: Sequence[Fact], who: Sequence[str], cast: Cast, random: Random) -> list[str]:
    """A person for each fact: everybody equally often in every relation, as far as is plausible.

    Some actions are for adults and some for children. Where anyone may act, those who are short in
    the relation do: otherwise "a boy" would be below more often than "a man".
    """
    parts: dict[int, str] = {}
    for relation in RELATIONS:
        places = [place for place, fact in enumerate(facts) if fact.relation == relation]
        random.shuffle(places)
        places.sort(key=lambda place: who[place] == ANYONE)  # they fill up what the others leave
        taken: Counter[str] = Counter()
        for place in places:
            people = cast.who_may(who[place])
            least = min(taken[person] for person in people)
            person = random.choice([person for person in people if taken[person] == least])
            taken[person] += 1
            parts[place] = person
    return [parts[place] for place in range(len(facts))]


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
    fact: Fact,
    other: str,
    entry: Mapping[str, Any],
    cast: Cast,
    first: str,
    random: Random,
    count: int,
) -> Iterator[Scene]:
    """Different people, names and wordings of one fact, `count` of them or as many as there are.

    The first has the person who was cast.
    """
    names = cast.names.get(fact.object, (fact.object,))
    told = (random.choice(names), random.randrange(len(entry["say"])))
    ways = [(first, *told)]
    others = product(cast.who_may(entry["who"]), names, range(len(entry["say"])))
    rest = [way for way in others if way != ways[0]]
    ways += random.sample(rest, min(count - 1, len(rest)))
    for person, name, wording in ways:
        yield Scene(
            text=_sentence(entry["say"][wording], person, name),
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
