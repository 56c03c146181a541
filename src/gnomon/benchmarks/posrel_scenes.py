"""People doing things with objects: the authors' scenes of `posrel`, and the same with hyponyms.

The actions with an object put the person in two places; see posrel_fresh.py for our own scenes.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, NoReturn

import msgspec

from gnomon.downloads.catalogue import expected
from gnomon.errors import DataError, UsageError
from gnomon.files import find, package_data, read_jsonl, read_yaml
from gnomon.language.sampling import draws
from gnomon.language.surface import indefinite_article
from gnomon.language.world import Entity

RELATIONS = ("inside", "above", "below", "beside")  # in the order of the authors' labels 0 to 3
SCENES = ("data/posrel/data.json", "posrel/data.json", "posrel.json", "data.json")
SENTENCE = re.compile(r"An? (?P<person>[^.]+?) (?P<verb>\w+|is \w+ing) the (?P<object>[^.]+)\. ?")


class ActionScene(NamedTuple):
    """A person does something with an object.

    `other` is where another action with it puts the person.
    """

    text: str
    person: str
    verb: str  # as in the sentence: "drives", "is driving"
    action: str  # the same in both tenses: "drives"
    object: str
    relation: str
    other: str
    pronoun: str
    stands_for: tuple[str, str] | None = None  # the person and object that hyponyms replace
    group: str = ""  # the action and object of a fresh scene, of which this may be one variant
    wording: str = ""  # which wording of a fresh scene's action


class _Row(msgspec.Struct):
    """A line of the authors' data.json."""

    text: str
    label: int
    obj_a: str
    obj_b: str


def published_scenes(folder: str | Path) -> list[ActionScene]:
    """The scenes of the authors' data.json. Their sentences end in a space, and are kept so."""
    file = find(folder, *SCENES, what="the positional set")
    pronouns: dict[str, str] = read_yaml(package_data("posrel/scenes.yaml"))["pronouns"]
    rows: list[tuple[int, _Row, str]] = []
    actions: dict[tuple[str, int], str] = {}
    labels: dict[str, set[int]] = {}
    for line, row in read_jsonl(file, _Row):
        verb = _verb(row, pronouns)
        if not verb:
            _refuse(f"the sentence {row.text[:60]!r} is not '{_shape(row)}'", file, line)
        if not 0 <= row.label < len(RELATIONS):
            _refuse(f"the field label is {row.label}, not 0 to 3", file, line)
        rows.append((line, row, verb))
        labels.setdefault(row.obj_b, set()).add(row.label)
        if " " not in verb:
            actions[row.obj_b, row.label] = verb

    scenes = []
    for line, row, verb in rows:
        others = labels[row.obj_b] - {row.label}
        if len(others) != 1:
            _refuse(f"the object {row.obj_b!r} has {len(others) + 1} relations, not 2", file, line)
        scene = ActionScene(
            text=row.text,
            person=row.obj_a,
            verb=verb,
            action=actions.get((row.obj_b, row.label), verb),
            object=row.obj_b,
            relation=RELATIONS[row.label],
            other=RELATIONS[others.pop()],
            pronoun=pronouns[row.obj_a],
        )
        scenes.append(scene)
    return scenes


def _refuse(problem: str, file: Path, line: int) -> NoReturn:
    hint = expected("spatial-commonsense", SCENES[0])
    raise DataError(f"{problem}.", hint, file=file, line=line)


def _shape(row: _Row) -> str:
    return f"A {row.obj_a[:20]} does something with the {row.obj_b[:20]}."


def _verb(row: _Row, people: Collection[str]) -> str:
    """What the person does, or nothing if the sentence is not of the known shape."""
    found = SENTENCE.fullmatch(row.text)
    if found is None or row.obj_a not in people:
        return ""
    if (found["person"], found["object"]) != (row.obj_a, row.obj_b):
        return ""
    return found["verb"]


def generalised(scenes: Iterable[ActionScene], seed: int, per_group: int) -> Iterator[ActionScene]:
    """The scenes with hyponyms for person and object.

    All actions and tenses get the same ones, so balance is kept.
    """
    if per_group < 1:
        raise UsageError(
            f"There must be 1 pair of hyponyms or more for each person and object, "
            f"not {per_group}.",
            "Give --set per_group=1.",
        )
    kinds: dict[str, list[str]] = read_yaml(package_data("posrel/hyponyms.yaml"))
    pairs: dict[tuple[str, str], list[tuple[str, str]]] = {}
    used: set[tuple[str, str]] = set()
    for scene in scenes:
        key = (scene.person, scene.object)
        if key not in pairs:
            people, things = _hyponyms(kinds, scene.person), _hyponyms(kinds, scene.object)
            random = Random(f"{seed}/{scene.person}/{scene.object}")
            pairs[key] = _pairs(people, things, random, per_group, used)
        for person, thing in pairs[key]:
            made = scene._replace(person=person, object=thing, stands_for=key)
            yield made._replace(text=_sentence(made))


def _hyponyms(kinds: Mapping[str, Sequence[str]], name: str) -> Sequence[str]:
    if name not in kinds:
        hint = expected("spatial-commonsense", SCENES[0])
        raise DataError(f"there is no list of hyponyms for {name!r}.", hint)
    return kinds[name]


def _pairs(
    people: Sequence[str],
    things: Sequence[str],
    random: Random,
    count: int,
    used: set[tuple[str, str]],
) -> list[tuple[str, str]]:
    """Different pairs, as many as there are, none of them used before."""
    total = len(people) * len(things)
    chosen: list[tuple[str, str]] = []
    for rank in draws(total, total, random):
        pair = people[rank % len(people)], things[rank // len(people)]
        if pair not in used and len(chosen) < count:
            chosen.append(pair)
    used.update(chosen)
    return chosen


def _sentence(scene: ActionScene) -> str:
    article = indefinite_article(Entity(scene.person)).capitalize()
    return f"{article} {scene.person} {scene.verb} the {scene.object}."


# The fresh scenes of `posrel`: actions and objects are crossed, so that neither says the place.
#
# A scene is an action with an object, and only both together have a place: who keeps dry thanks
# to the umbrella is below it, thanks to the tent inside; who decorates the umbrella is beside it.
# A seed draws as many scenes of each place, as evenly as possible for every action and every
# object, and casts every person equally often in each place.


ANYONE = "anyone"


class _Fact(NamedTuple):
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


def facts_of(table: Mapping[str, Any]) -> list[_Fact]:
    """All scenes of the table, in its order."""
    facts = []
    for action, entry in table["actions"].items():
        for relation in RELATIONS:
            for thing in entry.get(relation, ()):
                facts.append(_Fact(action.replace("_", " "), thing, relation))
    return facts


def fresh_scenes(seed: int, count: int, variants: int) -> Iterator[ActionScene]:
    """Scenes of a man, a woman, a boy or a girl."""
    table = read_table()
    cast = Cast(table["people"], {}, table["pronouns"], {})
    return _staged(table, cast, seed, count, variants)


def general_scenes(seed: int, count: int, variants: int) -> Iterator[ActionScene]:
    """The same scenes with people by what they are and with kinds of the objects."""
    table = read_table()
    kinds = read_yaml(package_data("posrel/kinds.yaml"))
    people = kinds["people"]
    ages = dict.fromkeys(people["adults"], "adult") | dict.fromkeys(people["children"], "child")
    return _staged(table, Cast(people, kinds["objects"], {}, ages), seed, count, variants)


def _staged(
    table: Mapping[str, Any], cast: Cast, seed: int, count: int, variants: int
) -> Iterator[ActionScene]:
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


def casting(facts: Sequence[_Fact], who: Sequence[str], cast: Cast, random: Random) -> list[str]:
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


def drawn(facts: Sequence[_Fact], count: int, random: Random) -> list[_Fact]:
    """`count` facts at most, as many of each relation, evenly for every action and object.

    One after the other is taken whose action and whose object are so far short of its relation. It
    is looked for in two random thirds of the facts, so that seeds differ.
    """
    places = _places(facts)
    left: dict[str, list[_Fact]] = {}
    for relation in RELATIONS:
        own = [fact for fact in facts if fact.relation == relation]
        offered = max(count // len(RELATIONS), len(own) * 2 // 3)
        left[relation] = random.sample(own, min(offered, len(own)))
    taken: Counter[tuple[str, ...]] = Counter()

    def surplus(fact: _Fact) -> tuple[int, int]:
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


def _places(facts: Sequence[_Fact]) -> Counter[str]:
    """How many relations each action and each object has."""
    found: set[tuple[str, str]] = set()
    for action, thing, relation in facts:
        found |= {(action, relation), (thing, relation)}
    return Counter(name for name, _ in found)


def _variants(
    fact: _Fact,
    other: str,
    entry: Mapping[str, Any],
    cast: Cast,
    first: str,
    random: Random,
    count: int,
) -> Iterator[ActionScene]:
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
        yield ActionScene(
            text=_fresh_sentence(entry["say"][wording], person, name),
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


def _fresh_sentence(wording: str, person: str, thing: str) -> str:
    named = f"{indefinite_article(Entity(person))} {person}"
    capital = named[0].upper() + named[1:]
    return wording.format(Person=capital, person=named, thing=thing)
