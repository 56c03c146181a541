"""Stories about where things are, and a question: yes, no, or the story does not say.

The dials of bAbI 17, StepGame and SpartQA with labels that are proved. Stories come in trios, which
ask the same question of the same words in another order: one says yes, one no, and one leaves it
open. `hops` is how many facts the answer needs; two arrangements of the things show that an open
question is open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, permutations
from pathlib import Path
from random import Random
from typing import Any

from gnomon.benchmarks.chains_pictures import draw_pictures, pictured, scenes_of
from gnomon.benchmarks.chains_plan import Wanted, numbers, planned
from gnomon.benchmarks.chains_words import NAMINGS, PERSONS, Telling, telling, worlds
from gnomon.benchmarks.choosing import several
from gnomon.benchmarks.counting import GOLD, tally
from gnomon.contracts import Benchmark, Laws, Listing, RelationLaw
from gnomon.errors import UsageError, check_known
from gnomon.proofs.chainfacts import VERDICTS, ChainFact, Story, Verdict
from gnomon.proofs.chains import FAMILIES, Trio, make_trio
from gnomon.records import Item, digest

STORIES = 400
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
                 round, for `gnomon beliefs` (labels are then not balanced)
    form         story, or picture: the things stand on a floor, and a caption (left of, right of,
                 behind, in front of) is true of one picture and false of its twin
    size         pixels of a picture's side
    """
    if stories < 1:
        raise UsageError(f"There must be 1 trio or more, not {stories}.", "Give --set stories=400.")
    check_known("choice of questions", ask, ASKED)
    check_known("form", form, FORMS)
    if form == "picture":
        _check_pictured(directions=directions, person=person, naming=naming, ask=ask)
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
    return _told_stories(seed, islice(plan, stories), ask, shuffle=shuffle)


def _told_stories(seed: int, plan: Iterable[Wanted], ask: str, *, shuffle: bool) -> Iterator[Item]:
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
        if value and value != IN_PICTURES[name]:
            raise UsageError(
                f"Pictures have no {name}={value}.", f"Leave --set {name}={value} out."
            )


def illustrate(
    items: Iterable[Item],
    *,
    folder: Path | None = None,
    processes: int = 0,
    watch: Callable[[int, int], None] | None = None,
    **options: Any,
) -> Iterator[Item]:
    """Draw the pictures of items, if they have any."""
    if options["form"] != "picture":
        yield from items
        return
    size = options["size"]
    scenes = scenes_of(**_picture_dials(**options), size=size)
    yield from draw_pictures(
        items, scenes, size=size, folder=folder, processes=processes, watch=watch
    )


def _picture_dials(
    *, seed: int, stories: int, hops: str, distractors: str, **_: Any
) -> dict[str, Any]:
    return {
        "seed": seed,
        "stories": stories,
        "hops": numbers(hops or "1-4", "hops", 1, MOST_HOPS),
        "distractors": numbers(distractors or "2", "distractors", 0, MOST_DISTRACTORS),
    }


def _items(trio: Trio, told: Telling, wanted: Wanted, ask: str) -> Iterator[Item]:
    contexts = {verdict: told.context(trio.stories[verdict]) for verdict in VERDICTS}
    group = f"{wanted.family}/{wanted.hops}/{digest(*contexts.values())}"
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


def _item(
    told: Telling, wanted: Wanted, group: str, context: str, asked: ChainFact, answer: Verdict
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


_TAG_WORDS = {
    "hops": "facts in the chain",
    "hops=1": "1 fact",
    **{f"hops={n}": f"{n} facts" for n in range(2, 11)},
    "directions": "kind of directions",
    "directions=places": "inside, outside, near ...",
    "directions=four": "four directions",
    "directions=eight": "eight directions",
    "directions=solids": "six directions of boxes",
    "distractors": "facts that do not matter",
    "person": "who tells the story",
    "person=first": "told by I",
    "person=third": "told about others",
    "naming": "names of the things",
    "naming=names": "invented names",
    "naming=things": "known things",
    "relation": "relation asked about",
    "world": "where the story takes place",
    "obj_a": "thing named first",
    "obj_b": "thing named second",
}

CHAINS = Benchmark(
    name="chains",
    title="What follows from a story about places",
    skill="chains of facts about places",
    tag_words=_TAG_WORDS,
    summary="what follows from a story about where things are: yes, no, or it does not say",
    sources={"fresh": fresh},
    full={"stories": 2000},
    measures=("accuracy", "macro_f1", "group_right"),
    slices=("hops", "directions", "distractors", "person", "naming"),
    units=(("group",),),
    unit_nouns=("trios",),
    noun="trios",
    statistics=statistics,
    laws=Laws(relations=_law()),
    whole_groups=("fresh",),
    illustrators={"fresh": illustrate},
)
