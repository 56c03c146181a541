"""What holds of every fresh set: an id stands for one question, and words do not give the answers
away."""

from __future__ import annotations

import importlib
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, cycle, permutations
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon import load
from gnomon.records import Item
from gnomon.registry import BENCHMARKS, benchmark

# The built-in ones: a plug-in that is installed here has its own tests.
FRESH = [name for name in BENCHMARKS if "fresh" in benchmark(name).sources]
# Options that change what is drawn or how it is asked; few items each, so that many seeds can be
# tried.
OPTIONS: dict[str, list[dict[str, object]]] = {
    "scales": [{}, {"form": "choice"}, {"scale": "size", "pairs": 400, "bands": "3-10"}],
    "posrel": [{}, {"form": "both"}],
    "posrel-general": [{}, {"form": "both", "per_group": 2}],
    "spacenli": [{"per_group": 1}, {"per_group": 3}, {"per_group": 0}],
    "spatialqa": [{"per_group": 1}, {"per_group": 7}, {"per_group": 2, "paired": True}],
    "viphy-color": [{}, {"each": 20, "prompt": "question"}, {"each": 0}],
    "viphy-size": [{"pairs": 100}, {"pairs": 300, "prompt": "finetune"}],
    "viphy-size-subtype": [{"pairs": 100}, {"bands": "10-100"}],
    "viphy-size-transitive": [{"pairs": 100}, {}],
    "viphy-spatial": [{}, {"levels": 2}, {"blocks": 100}],
    "vsr": [{"quads": 3}, {"quads": 3, "form": "text"}, {"quads": 2, "controls": "only"}],
    "chains": [
        {"stories": 40},
        {"stories": 9, "ask": "pairs"},
        {"hops": "3", "shuffle": False, "stories": 20},
    ],
    "views": [{"facts": 22}, {"facts": 8, "ways": "words,plan"}, {"facts": 8, "frames": "probe"}],
    "calculus": [{"quads": 20}, {"quads": 9, "ask": "which"}, {"calculi": "rcc8", "ways": "plain"}],
}
# Finding scenes takes longer than drawing words: fewer of them are tried.
FEWER: dict[str, dict[str, object]] = {
    "spatialqa": {"per_group": 10},
    "vsr": {"quads": 20},
    "views": {"facts": 200, "kinds": "motion,person,far-up,same,plan,sight,route,joint"},
}
# Sets whose pairs are drawn in twos that balance each other.
IN_TWINS = ["scales", "viphy-size", "viphy-size-subtype"]


def drawn(name: str, seeds: list[int]) -> Iterator[Item]:
    """Items by both seeds with the first options, and by one of them with each of the others."""
    first, *others = OPTIONS[name]
    draws = [(first, seed) for seed in seeds]
    draws += zip(others, cycle(seeds), strict=False)
    for options, seed in draws:
        yield from load(name, seed=seed, **options).without_pictures()


def test_every_fresh_set_is_tried():
    assert set(OPTIONS) == set(FRESH)


@pytest.mark.parametrize("name", FRESH)
@settings(max_examples=2, deadline=None)
@given(seeds=st.lists(st.integers(0, 10**6), min_size=2, max_size=2, unique=True))
def test_an_id_stands_for_one_question_whatever_the_seed_and_the_options(
    name: str, seeds: list[int]
):
    known: dict[str, Item] = {}
    ids: dict[tuple[object, ...], str] = {}
    for item in drawn(name, seeds):
        assert known.setdefault(item.id, item) == item
        shown = [image.path for image in item.images]
        question = (item.form, item.context, item.text, item.choices, item.group, *shown)
        assert ids.setdefault(question, item.id) == item.id
        assert len(item.id) <= 120
        assert " " not in item.id
    assert len(known) == len(ids) > 10


@pytest.fixture(scope="module")
def battery():
    """bench/shortcuts.py, whose folder is on the path while it is loaded, as for a script."""
    pytest.importorskip("sklearn")
    bench = Path(__file__).parents[2] / "bench"
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(bench)
        yield importlib.import_module("shortcuts")
        for name in ("shortcuts", "sets", "heldout", "encoder", "rules"):
            sys.modules.pop(name)


@pytest.mark.parametrize("name", FRESH)
def test_rules_that_know_nothing_of_space_are_at_chance(battery, name: str):
    """As docs/benchmarks.md has it: not 3 points off chance with an interval that excludes it."""
    about = benchmark(name)
    options = FEWER.get(name, {})
    # the rules choose among labels: items that ask for a number are left out
    asked = [item for item in load(name, seed=0, **options).without_pictures() if item.choices]
    train = [item for item in load(name, seed=1, **options).without_pictures() if item.choices]
    drawn = battery.Drawn(name, about, asked, train)
    for rule in ("hypothesis only", "words", "negators"):
        found = battery.row(drawn, rule, answers(battery, rule, drawn))
        assert not found["alarm"], found


@pytest.mark.parametrize("name", ["scales", "viphy-size", "viphy-spatial"])
def test_the_spelling_of_names_gives_nothing_away(battery, name: str):
    """Not even -berry or -boat: things that share a head or a word are held out together."""
    asked = list(load(name, seed=0).items())
    train = list(load(name, seed=1).items())
    drawn = battery.Drawn(name, benchmark(name), asked, train)
    found = battery.row(drawn, "characters", answers(battery, "characters", drawn))
    assert not found["alarm"], found


@pytest.mark.parametrize("name", IN_TWINS)
def test_the_places_of_words_give_nothing_away(battery, name: str):
    """Neither "a" or "an" nor the number of words in a name."""
    (drawn,) = battery.every_set([f"{name}@fresh"], "", 0)
    found = battery.row(drawn, "word positions", answers(battery, "word positions", drawn))
    assert not found["alarm"], found


def answers(battery, rule, drawn):
    learnt = {one.name: one for one in battery.LEARNT}
    learner = battery.Learner(learnt[rule], drawn.about)
    return learner.answer(drawn.asked, drawn.train, drawn.bundles)


def pairs() -> list[Item]:
    """Which of 40 things is larger, each pair in both orders: the even one always is."""
    items = []
    for one, two in permutations(range(40), 2):
        if abs(one - two) in (1, 3, 7, 11):
            items.append(pair(one, two))
    return items


def pair(one: int, two: int) -> Item:
    return Item(
        id=f"{one}/{two}",
        form="cloze",
        text=f"A thing{one} is [MASK] than a thing{two}.",
        choices=("larger", "smaller"),
        gold=("smaller" if one % 2 else "larger",),
        group=f"{min(one, two)} / {max(one, two)}",
        tags={"obj_a": f"thing{one}", "obj_b": f"thing{two}"},
    )


def test_a_planted_shortcut_is_an_alarm(battery):
    items = [
        Item(
            id=f"{family}/{label}",
            form="entailment",
            context="It is not so." if label == "contradiction" else "It is so.",
            text=f"Family {family} is here.",
            choices=("entailment", "contradiction"),
            gold=(label,),
            group=f"{family}/{label}",
            tags={"family": str(family)},
        )
        for family in range(40)
        for label in ("entailment", "contradiction")
    ]
    drawn = battery.Drawn("planted", benchmark("spacenli"), items, items)
    for rule in ("negators", "premise only", "characters"):
        found = battery.row(drawn, rule, answers(battery, rule, drawn))
        assert found["accuracy"] == 100
        assert found["alarm"]
    found = battery.row(drawn, "hypothesis only", answers(battery, "hypothesis only", drawn))
    assert found["difference"] == 0
    assert not found["alarm"]


def test_words_that_are_rare_each_are_an_alarm_together(battery):
    items = []
    for family in range(400):
        cue = family // 4
        items.append(
            Item(
                id=str(family),
                form="entailment",
                context=f"It is cue{cue}.",
                text="It is here.",
                choices=("entailment", "contradiction"),
                gold=("contradiction" if cue % 2 else "entailment",),
                tags={"family": str(family)},
            )
        )
    drawn = battery.Drawn("rare", benchmark("spacenli"), items, items)
    found = battery.row(drawn, "premise only", answers(battery, "premise only", drawn))
    assert found["accuracy"] == 100


@pytest.mark.parametrize("name", IN_TWINS)
def test_in_each_bundle_the_longer_name_is_as_often_right_as_wrong(battery, name: str):
    about = benchmark(name)
    (drawn,) = battery.every_set([f"{name}@fresh"], "", 0)
    assert len(drawn.bundles) == len(drawn.train)
    leans: Counter[int] = Counter(dict.fromkeys(drawn.bundles, 0))
    said = battery.longer_name(drawn.train, about)
    for item, bundle, choice in zip(drawn.train, drawn.bundles, said, strict=True):
        if choice is not None:
            leans[bundle] += 1 if choice in item.gold else -1
    assert len(leans) > 100
    assert not any(leans.values())


def worded(number: int, wordy_is_larger: bool) -> list[Item]:
    """A thing of two words and one of one word, both ways round; no other item has either."""
    wordy, plain = f"old thing{number}", f"stuff{number}"
    larger = wordy if wordy_is_larger else plain
    items = []
    for one, two in ((wordy, plain), (plain, wordy)):
        items.append(
            Item(
                id=f"{one}/{two}",
                form="cloze",
                text=f"The {one} is [MASK] than the {two}.",
                choices=("larger", "smaller"),
                gold=("larger" if one == larger else "smaller",),
                group=f"{wordy} / {plain}",
                tags={"obj_a": one, "obj_b": two},
            )
        )
    return items


def in_twins(battery, twins: list[tuple[bool, bool]]):
    """A set of pairs in twos: of each pair whether the thing of two words is the larger one."""
    items: list[Item] = []
    bundles: list[int] = []
    for number, larger in enumerate(chain(*twins)):
        pair = worded(number, larger)
        items += pair
        bundles += [number // 2] * len(pair)
    return battery.Drawn("twins", benchmark("viphy-size"), items, list(items), 1, bundles)


def test_a_set_that_is_balanced_in_twins_is_at_chance_not_below(battery):
    """Held out one by one, whatever leans one way in what is asked leans the other way in what is
    learnt."""
    either = Random(0)
    drawn = in_twins(battery, [either.choice([(True, False), (False, True)]) for _ in range(200)])
    apart = drawn._replace(bundles=())
    found = battery.row(apart, "word positions", answers(battery, "word positions", apart))
    assert found["difference"] < -3, found

    found = battery.row(drawn, "word positions", answers(battery, "word positions", drawn))
    assert found["difference"] == 0, found


def test_a_shortcut_of_58_percent_is_found_among_twins(battery):
    drawn = in_twins(battery, [(True, True)] * 64 + [(True, False)] * 336)
    found = battery.row(drawn, "word positions", answers(battery, "word positions", drawn))
    assert found["difference"] == 8, found
    assert found["alarm"], found


def test_what_other_pairs_say_of_an_object_is_no_shortcut(battery):
    """Every item is decided by its objects, but who answers it has seen neither of them."""
    about = benchmark("viphy-size")
    items = pairs()
    drawn = battery.Drawn("pairs", about, items, items)
    found = battery.row(drawn, "word positions", answers(battery, "word positions", drawn))
    assert not found["alarm"], found

    by_pair = drawn._replace(about=replace(about, hold_out=()))
    found = battery.row(by_pair, "word positions", answers(battery, "word positions", by_pair))
    assert found["alarm"], found


def test_the_longer_name_is_found_however_it_is_asked(battery):
    def asked(form, text, choices, one, two, word=""):
        tags = {"obj_a": one, "obj_b": two, "comparative": word}
        return Item(id=text, form=form, text=text, choices=choices, gold=choices[:1], tags=tags)

    items = [
        asked(
            "cloze", "A cow is [MASK] than an ant hill.", ("larger", "smaller"), "cow", "ant hill"
        ),
        asked(
            "choice",
            "Is a cow smaller than an ant hill?",
            ("yes", "no"),
            "cow",
            "ant hill",
            "smaller",
        ),
        asked(
            "choice",
            "Is an ant hill taller than a cow?",
            ("yes", "no"),
            "ant hill",
            "cow",
            "taller",
        ),
        asked("cloze", "A cow is [MASK] than a hen.", ("larger", "smaller"), "cow", "hen"),
    ]
    said = battery.longer_name(items, benchmark("scales"))
    assert said == ["smaller", "yes", "yes", None]


def test_the_worst_rule_is_the_greatest_alarm(battery):
    wide = {"rule": "wide", "difference": 9.0, "alarm": False}
    below = {"rule": "below", "difference": -6.0, "alarm": True}
    above = {"rule": "above", "difference": 4.0, "alarm": True}
    assert battery.worst([wide, above, below]) is below
    assert battery.worst([wide]) is wide
    assert battery.worst([]) is None
