"""calculus: every answer is in the table, and each premise and each conclusion is right half the time."""

import re
from collections import Counter

import pytest

from gnomon.benchmarks.calculus import CALCULUS, fresh, speaker, statistics
from gnomon.errors import GnomonError
from gnomon.files import package_data, read_yaml
from gnomon.proofs.calculus import NAMES, calculus

WORDS = read_yaml(package_data("calculi/words.yaml"))


@pytest.fixture(scope="module")
def items():
    return list(fresh(seed=3))


def relation(text: str) -> tuple[str, ...]:
    return tuple(text.split(" / "))


def test_every_answer_is_what_the_table_says(items):
    assert {item.tags["calculus"] for item in items} == set(NAMES)
    for item in items:
        table = calculus(item.tags["calculus"])
        possible = table.compose(relation(item.tags["first"]), relation(item.tags["second"]))
        answer = "yes" if relation(item.tags["asked"]) in possible else "no"
        assert item.gold == (answer,)
        assert item.tags["possible"] == str(len(possible))


def test_the_words_say_what_the_tags_say(items):
    """Read back from the sentences, in everyday words and through the definitions."""
    for item in items:
        name = item.tags["calculus"]
        own = WORDS[name]
        a, b, c = re.match(r"(\w+), (\w+) and (\w+)", item.context).groups()
        verbs = dict(re.findall(r'"X (\w+) Y" means that ([^.]*)\.', item.context))
        assert bool(verbs) == (item.tags["way"] == "anonymous")

        def said(tag, one, two, item=item, own=own, verbs=verbs):
            parts = []
            for part in relation(item.tags[tag]):
                clause = own["clauses"][part]
                if verbs:
                    meant = clause.format(X="X", Y="Y")
                    (verb,) = [verb for verb, meaning in verbs.items() if meaning == meant]
                    parts.append(f"{one} {verb} {two}")
                else:
                    parts.append(clause.format(X=one, Y=two))
            if "axes" in own:
                parts = [f"{axis} {part}" for axis, part in zip(own["axes"], parts, strict=True)]
            return ", and ".join(parts)

        premises = [said("first", a, b), said("second", b, c)]
        told = " ".join(f"{text[0].upper()}{text[1:]}." for text in premises)
        assert item.context.endswith(told)
        assert said("asked", a, c) in item.text


def test_premises_and_conclusions_say_nothing_alone(items):
    quads = {}
    for item in items:
        quads.setdefault((item.group, item.tags["way"]), []).append(item)
    assert len(quads) > 200
    for own in quads.values():
        assert len(own) == 4
        for part in ("context", "text"):
            right = Counter((getattr(item, part), item.gold[0]) for item in own)
            assert len(right) == 4
            assert set(right.values()) == {1}


def test_no_pair_of_premises_is_in_two_quads(items):
    seen = {}
    for item in items:
        cell = item.tags["calculus"], item.tags["first"], item.tags["second"]
        assert seen.setdefault(cell, item.group) == item.group


def test_a_quad_is_asked_in_both_ways_with_the_same_answers(items):
    facts = {}
    for item in items:
        facts.setdefault(item.tags["fact"], {})[item.tags["way"]] = item.gold
    assert len(facts) * 2 == len(items)
    for answers in facts.values():
        assert answers["plain"] == answers["anonymous"]


def test_a_conclusion_that_repeats_a_premise_is_as_often_impossible(items):
    repeats = Counter()
    for item in items:
        first, second, asked = (relation(item.tags[tag]) for tag in ("first", "second", "asked"))
        if asked in (first, second):
            repeats[item.gold[0]] += 1
    assert repeats.total() > 100
    assert abs(repeats["yes"] / repeats.total() - 0.5) < 0.1


def test_one_of_four_must_hold_and_each_is_right_once():
    blocks = {}
    for item in fresh(seed=1, quads=8, ask="which"):
        table = calculus(item.tags["calculus"])
        assert item.tags["possible"] == "1"
        assert table.possibilities(relation(item.tags["first"]), relation(item.tags["second"])) == 1
        blocks.setdefault((item.group, item.tags["way"]), []).append(item)
    assert len(blocks) > 40
    for own in blocks.values():
        assert len({item.text for item in own}) == 1
        assert sorted(item.gold[0] for item in own) == ["1", "2", "3", "4"]


def test_the_right_number_is_that_of_the_only_relation():
    for item in fresh(seed=2, quads=5, ask="which", calculi="rcc8,cardinal", ways="plain"):
        name = item.tags["calculus"]
        table = calculus(name)
        (only,) = table.table[item.tags["first"], item.tags["second"]]
        a, _, c = re.match(r"(\w+), (\w+) and (\w+)", item.context).groups()
        clause = WORDS[name]["clauses"][only].format(X=a, Y=c)
        assert f"({item.gold[0]}) {clause}." in item.text


def test_seeds_share_no_question():
    one = {(item.context, item.text) for item in fresh(seed=0)}
    assert not one & {(item.context, item.text) for item in fresh(seed=1)}


def test_made_up_words_are_no_names_and_each_is_used_once():
    said = speaker("allen", [("before",), ("meets",), ("during",)], "0")
    assert len(set(said.verbs.values())) == 3
    assert len(set(WORDS["names"])) == len(WORDS["names"])
    assert len(set(WORDS["verbs"])) == len(WORDS["verbs"])
    assert not set(WORDS["names"]) & {verb.capitalize() for verb in WORDS["verbs"]}


@pytest.mark.parametrize(
    "options", [{"quads": 0}, {"calculi": "rcc9"}, {"ways": "sung"}, {"ask": "what"}]
)
def test_options_that_mean_nothing_are_refused(options):
    with pytest.raises(GnomonError):
        list(fresh(**options))


def test_show_counts_the_tables(items):
    (table,) = statistics(items)
    assert table.rows[0] == ("rcc8", 8, 64, 193, 27, 3)
    assert CALCULUS.whole_groups == ("fresh",)
