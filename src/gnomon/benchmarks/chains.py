"""Stories about where things are, and a question: yes, no, or the story does not say.

The dials of bAbI 17, StepGame and SpartQA with labels that are proved. Stories come in trios, which
ask the same question of the same words in another order: one says yes, one no, and one leaves it
open. `hops` is how many facts the answer needs; two arrangements of the things show that an open
question is open.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, cycle, islice, permutations, product
from random import Random
from typing import Any, NamedTuple

from msgspec.structs import replace

from gnomon.benchmarks.chains_pictures import pictured, scenes_of
from gnomon.benchmarks.descriptions import described
from gnomon.benchmarks.illustrating import draw_pictures
from gnomon.benchmarks.offering import numbers, offered, option_counts
from gnomon.contracts import Laws, Listing, RelationLaw
from gnomon.errors import UsageError, check_known
from gnomon.files import package_data, read_yaml
from gnomon.grouped import GOLD, tally
from gnomon.options import several
from gnomon.proofs.chainfacts import VERDICTS, ChainFact, Story, Verdict
from gnomon.proofs.chains import FAMILIES, Trio, make_trio
from gnomon.records import MASK, Item, digest

# Which stories are told: every combination of the dials in turn.


class _Wanted(NamedTuple):
    """One trio that is asked for."""

    hops: int
    family: str
    distractors: int
    world: _World
    person: str


def planned(
    *,
    hops: Sequence[int],
    distractors: Sequence[int],
    families: Sequence[str],
    persons: Sequence[str],
    namings: Sequence[str],
    random: Random,
) -> Iterator[_Wanted]:
    """Every combination in turn, over and over, each time in another order."""
    told = {family: _settings(family, namings, persons) for family in families}
    kinds = []
    for family, steps, others in product(families, hops, distractors):
        if told[family] and make_trio(family, steps, others, Random(0)) is not None:
            kinds.append((family, steps, others))
    if not kinds:
        raise UsageError(
            "No story has these hops, distractors, directions and names together.",
            "Chains of 1 hop need 2 distractors, and eight directions 2 hops; boxes in a hall have "
            "no names.",
        )
    settings = {family: cycle(found) for family, found in told.items()}
    while True:
        random.shuffle(kinds)
        for family, steps, others in kinds:
            world, who = next(settings[family])
            yield _Wanted(steps, family, others, world, who)


def _settings(
    family: str, namings: Sequence[str], persons: Sequence[str]
) -> list[tuple[_World, str]]:
    found = []
    for world, who in product(worlds_of(family), persons):
        if world.naming in namings:
            found.append((world, who))
    return found


# Stories of facts in words: worlds with their things, ways to say a relation, and who tells it.


PERSONS = ("first", "third")
NAMINGS = ("names", "things")
NAMED = ("people", "zones")  # that have names of their own


@dataclass(frozen=True)
class _World:
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

    world: _World
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


def telling(world: _World, person: str, facts: int, *, shuffle: bool, random: Random) -> Telling:
    """Draw names, wordings and an order for stories of that many facts."""
    names = random.sample(_names(world.things), facts + 1)
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


def worlds_of(family: str, naming: str = "") -> list[_World]:
    """The worlds of a family, or those of them in which things are named so."""
    found = []
    for world in worlds().values():
        if world.family == family and naming in ("", world.naming):
            found.append(world)
    return found


@cache
def worlds() -> dict[str, _World]:
    """Every world by its name."""
    found = {}
    for name, content in _words()["worlds"].items():
        found[name] = _World(name, **content)
    return found


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


# The benchmark.


STORIES = 400
MOST_TRIED = 20  # stories for each that is asked with several options
MOST_HOPS, MOST_DISTRACTORS = 10, 8
ASKED = ("one", "pairs")
FORMS = ("story", "picture")
IN_PICTURES = {"directions": "four", "person": "third", "naming": "things", "ask": "one"}


def fresh(
    *,
    seed: int = 0,
    stories: int = STORIES,
    hops: str = "",
    distractors: str = "",
    directions: str = "",
    person: str = "",
    naming: str = "",
    shuffle: bool = True,
    ask: str = "one",
    options: str = "",
    form: str = "story",
    size: int = 384,
) -> Iterator[Item]:
    """Trios of stories in the same words: one says yes, one says no, one does not say.

    seed         draws stories, things and wordings
    stories      how many trios; each has three items
    hops         how many facts an answer needs, 1 to 10 (in pictures 1 to 4): a number, or a range
                 such as 2-5; else all
    distractors  facts that it does not need, 0 to 8 (in pictures 0 to 2): a number or a range;
                 else 2-4 (in pictures 2)
    directions   four (left, right, above, below), eight (of both axes, and the same place; from 2
                 hops), solids (six of whole boxes, and inside) or places (inside, outside,
                 touching, near, far), with commas between them; else all
    person       first (I am one of them, or I look on) or third; else both
    naming       names (people, zones) or things; else both
    shuffle      no tells the chain in order, and then the distractors
    ask          one question a story, or pairs: about every two things of the chain, both ways
                 round, for `gnomon score --beliefs` (labels are then not balanced)
    options      2, 3 ... or a range such as 2-4: ask which word says how the two things are, among
                 so many, one item for each number; only of stories that rule so many out
    form         story, or picture: the things stand on a floor, and a caption (left of, right of,
                 behind, in front of) is true of one picture and false of its twin
    size         pixels of a picture's side
    """
    if stories < 1:
        raise UsageError(f"There must be 1 trio or more, not {stories}.", "Give --set stories=400.")
    check_known("choice of questions", ask, ASKED)
    check_known("form", form, FORMS)
    if form == "picture":
        _check_pictured(
            directions=directions, person=person, naming=naming, ask=ask, options=options
        )
        dials = _picture_dials(seed=seed, stories=stories, hops=hops, distractors=distractors)
        return (item for item, _ in pictured(**dials, size=size))
    plan = planned(
        hops=numbers(hops or "1-10", "hops", 1, MOST_HOPS),
        distractors=numbers(distractors or "2-4", "distractors", 0, MOST_DISTRACTORS),
        families=several(directions, FAMILIES, "family of directions"),
        persons=several(person, PERSONS, "person"),
        namings=several(naming, NAMINGS, "way of naming"),
        random=Random(f"{seed}/plan"),
    )
    if options:
        return _with_options(seed, plan, stories, options, shuffle=shuffle)
    return _told_stories(seed, islice(plan, stories), ask, shuffle=shuffle)


def _with_options(
    seed: int, plan: Iterable[_Wanted], stories: int, options: str, *, shuffle: bool
) -> Iterator[Item]:
    """So many stories that rule out enough words, each with its fact among several words."""
    wanted = option_counts(options)[-1]
    some = islice(plan, MOST_TRIED * stories)
    made = _told_stories(seed, some, "which", shuffle=shuffle)
    enough = (item for item in made if len(item.choices) >= wanted)
    first = next(enough, None)
    if first is None:
        raise UsageError(
            f"No story of these directions rules out {wanted - 1} of their words.",
            "Offer fewer, or choose others: --set directions=eight",
        )
    return offered(chain([first], islice(enough, stories - 1)), options)


def _told_stories(seed: int, plan: Iterable[_Wanted], ask: str, *, shuffle: bool) -> Iterator[Item]:
    for number, wanted in enumerate(plan):
        random = Random(f"{seed}/{number}")
        trio = make_trio(wanted.family, wanted.hops, wanted.distractors, random)
        assert trio is not None, wanted  # the plan has only what can be made
        facts = len(trio.stories["yes"])
        told = telling(wanted.world, wanted.person, facts, shuffle=shuffle, random=random)
        yield from _items(trio, told, wanted, ask)


def _check_pictured(**options: str) -> None:
    """Refuse what pictures do not have, rather than pass over it."""
    for name, value in options.items():
        if value and value != IN_PICTURES.get(name):
            raise UsageError(
                f"Pictures have no {name}={value}.", f"Leave --set {name}={value} out."
            )


def illustrate(items: Iterable[Item], **options: Any) -> Iterator[Item]:
    """Draw the pictures of items, if they have any."""
    if options["form"] != "picture":
        yield from items
        return
    scenes = scenes_of(**_picture_dials(**options), size=options["size"])
    yield from draw_pictures(items, scenes, **options)


def _picture_dials(
    *, seed: int, stories: int, hops: str, distractors: str, **_: Any
) -> dict[str, Any]:
    return {
        "seed": seed,
        "stories": stories,
        "hops": numbers(hops or "1-4", "hops", 1, MOST_HOPS),
        "distractors": numbers(distractors or "2", "distractors", 0, MOST_DISTRACTORS),
    }


def _items(trio: Trio, told: Telling, wanted: _Wanted, ask: str) -> Iterator[Item]:
    contexts = {verdict: told.context(trio.stories[verdict]) for verdict in VERDICTS}
    group = f"{wanted.family}/{wanted.hops}/{digest(*contexts.values())}"
    if ask == "which":
        yield _which(trio, told, _item(told, wanted, group, contexts["yes"], trio.question, "yes"))
        return
    for verdict in VERDICTS:
        story = trio.stories[verdict]
        for asked, answer in _questions(trio, story, verdict, ask):
            yield _item(told, wanted, group, contexts[verdict], asked, answer)


def _questions(
    trio: Trio, story: Story, verdict: Verdict, ask: str
) -> Iterator[tuple[ChainFact, Verdict]]:
    if ask == "one":
        yield trio.question, verdict
        return
    for one, two in permutations(range(trio.hops + 1), 2):
        asked = ChainFact(trio.question.relation, one, two)
        yield asked, trio.family.logic.verdict(story, asked)


def _which(trio: Trio, told: Telling, item: Item) -> Item:
    """The item as a gap: its word, and those that the story rules out of the same two things."""
    asked = trio.question
    right = told.world.phrase(asked.relation)
    words = []
    for relation in told.world.relations:
        other = ChainFact(relation, asked.first, asked.second)
        said = told.world.phrase(relation)
        if not said:  # "contains" fills no gap after "is"
            continue
        if said == right or trio.family.logic.verdict(trio.stories["yes"], other) == "no":
            words.append(said)
    one, two = told.names[asked.first], _object(told.names[asked.second])
    verb = "am" if one == "I" else "is"
    text = _as_sentence(f"{one} {verb} {MASK} {two}.")
    named = f"{item.tags['directions']}/{item.tags['hops']}/{digest(item.context, text)}"
    choices = tuple(dict.fromkeys(words))
    return replace(item, id=named, form="cloze", text=text, choices=choices, gold=(right,))


def _item(
    told: Telling, wanted: _Wanted, group: str, context: str, asked: ChainFact, answer: Verdict
) -> Item:
    text = told.question(asked)
    return Item(
        id=f"{wanted.family}/{wanted.hops}/{digest(context, text)}",
        form="choice",
        context=context,
        text=text,
        choices=VERDICTS,
        gold=(answer,),
        group=group,
        tags={
            "hops": str(wanted.hops),
            "distractors": str(wanted.distractors),
            "directions": wanted.family,
            "relation": told.world.phrase(asked.relation),
            "person": wanted.person,
            "world": wanted.world.name,
            "naming": wanted.world.naming,
            "story": digest(context),
            "obj_a": told.names[asked.first],
            "obj_b": told.names[asked.second],
        },
    )


def statistics(items: Sequence[Item]) -> list[Listing]:
    """Right answers by hops and by what is asked: each is right equally often."""
    return [
        _answers(items, "hops", "Right answers by the facts that they need"),
        _answers(items, "relation", "Right answers by what is asked"),
    ]


def _answers(items: Sequence[Item], tag: str, title: str) -> Listing:
    counts = tally(items, tag, GOLD)
    labels = items[0].choices if items else VERDICTS
    rows = []
    values = {item.tags[tag] for item in items}
    for value in sorted(values, key=_by_number):
        rows.append((value, *(counts[value, label] for label in labels)))
    return Listing(title, (tag, *labels), tuple(rows))


def _by_number(value: str) -> tuple[int, str]:
    return (int(value), "") if value.isdecimal() else (0, value)


def _law() -> RelationLaw:
    """What must hold between the answers to one story, in the words of its questions."""
    converse: dict[str, str] = {}
    symmetric: list[str] = []
    transitive: list[str] = []
    for world in worlds().values():
        family = FAMILIES[world.family]
        for relation in family.asked:
            phrase = world.phrase(relation)
            opposite = family.converse[relation]
            if opposite == relation:
                symmetric.append(phrase)
                continue
            transitive.append(phrase)
            if opposite in family.asked and phrase not in converse.values():
                converse[phrase] = world.phrase(opposite)
    return RelationLaw(
        first="obj_a",
        second="obj_b",
        within=("story",),
        symmetric=tuple(dict.fromkeys(symmetric)),
        converse=tuple(converse.items()),
        transitive=tuple(dict.fromkeys(transitive)),
    )


CHAINS = described(
    "chains",
    "chains",
    sources={"fresh": fresh},
    statistics=statistics,
    illustrators={"fresh": illustrate},
    laws=Laws(relations=_law()),
)
