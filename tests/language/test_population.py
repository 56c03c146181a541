"""Counting and numbering fillings: the same as going through all of them, without doing so."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.errors import DataError
from gnomon.language.patternfile import parse_bank
from gnomon.language.population import Population, shared_problems
from gnomon.language.sampling import Enumeration

ENTITIES = "pqrstuvw"
SLOTS = ("X", "Y", "Z")
sets = st.sampled_from(["a", "b", "c", "a | b", "a & c", "a - b", "{p, q}", "{w}", "(a | c) - {r}"])
atoms = st.one_of(
    st.builds(
        "{}({}, {})".format,
        st.sampled_from(["r", "s", "t"]),
        st.sampled_from(SLOTS),
        st.sampled_from(SLOTS),
    ),
    st.builds("{} in {}".format, st.sampled_from(SLOTS), sets),
    st.builds(
        "{} {} {}".format,
        st.sampled_from(SLOTS),
        st.sampled_from(["=", "!="]),
        st.sampled_from(SLOTS),
    ),
    st.builds(
        "size({}) {} size({})".format,
        st.sampled_from(SLOTS),
        st.sampled_from(["<", "<=", "="]),
        st.sampled_from(SLOTS),
    ),
    st.just("M = {now}"),
)
conditions = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.builds("not ({})".format, inner),
        st.builds("({}) and ({})".format, inner, inner),
        st.builds("({}) or ({})".format, inner, inner),
    ),
    max_leaves=4,
)


@st.composite
def patterns(draw):
    """A pattern over a drawn world of eight entities, with drawn relations, slots and
    conditions."""
    member = st.lists(st.sampled_from(ENTITIES), min_size=1, max_size=6, unique=True)
    rows = st.lists(st.builds("{} * {}".format, sets, sets), min_size=1, max_size=3)
    taken = draw(st.lists(st.builds("not {} * {}".format, sets, sets), max_size=1))
    world = {
        "classes": {"a": None, "b": None, "c": None, "rest": None, "low": None, "high": None},
        "scales": {"size": ["low", "high"]},
        "entities": {
            "a": draw(member),
            "b": draw(member),
            "c": draw(member),
            "rest": list(ENTITIES),
            "low": list("pqr"),
            "high": list("stu"),
        },
        "relations": {
            "r": draw(rows) + taken,
            "s": ["inverse of r", *draw(rows)],
            "t": [*draw(rows), "not r"],
        },
    }
    body = {
        "id": "p",
        "label": "neutral",
        "class": "projective",
        "expressions": "near",
        "premises": "{X} is near {Y} {M}",
        "hypothesis": "{Y} is near {Z}",
        "distinct": draw(st.sampled_from(["yes", "no"])),
        "slots": {slot: draw(sets) for slot in SLOTS} | {"M": {"words": ["now", "then"]}},
        "where": draw(st.lists(conditions, max_size=3)),
    }
    import json

    try:
        return parse_bank(json.dumps({"world": world, "patterns": [body]})).patterns[0]
    except DataError as error:  # a drawn set may be empty, which is refused
        if "empty" not in str(error):
            raise
        return None


def every_filling(pattern):
    words = range(2)
    entities = range(len(ENTITIES))
    return [
        filling
        for filling in product(words, entities, entities, entities)
        if pattern.allows(filling)
    ]


@settings(max_examples=150, deadline=None)
@given(patterns())
def test_population_and_enumeration_are_what_the_restrictions_allow(pattern):
    if pattern is None:
        return
    wanted = every_filling(pattern)
    population, enumeration = Population(pattern), Enumeration(pattern)
    assert sorted(population) == wanted
    assert [enumeration.unrank(rank) for rank in range(len(enumeration))] == wanted


@settings(max_examples=100, deadline=None)
@given(patterns())
def test_rank_and_unrank_are_inverse(pattern):
    if pattern is None:
        return
    for numbered in (Population(pattern), Enumeration(pattern)):
        assert [numbered.rank(numbered.unrank(rank)) for rank in range(len(numbered))] == list(
            range(len(numbered))
        )


@settings(max_examples=50, deadline=None)
@given(patterns(), st.tuples(st.integers(0, 1), *[st.integers(0, 7)] * 3))
def test_an_invalid_filling_has_no_rank(pattern, filling):
    if pattern is None or pattern.allows(filling):
        return
    for numbered in (Population(pattern), Enumeration(pattern)):
        with pytest.raises(ValueError, match="fill"):
            numbered.rank(filling)


def test_there_is_nothing_beyond_the_last(bank):
    for numbered in (Population(bank.patterns[0]), Enumeration(bank.patterns[0])):
        for rank in (-1, len(numbered)):
            with pytest.raises(IndexError):
                numbered.unrank(rank)


def big(entities: int, slots: int) -> str:
    names = ", ".join(f"e{i}" for i in range(entities))
    used = [f"X{i}" for i in range(slots)]
    sentence = " ".join(f"{{{slot}}}" for slot in used)
    return (
        f"world: {{classes: {{a: }}, entities: {{a: [{names}]}}, relations: {{r: [a * a]}}}}\n"
        f"patterns: [{{id: p, label: neutral, class: projective, expressions: near, premises: 'near {sentence}',"
        f" hypothesis: 'by {sentence}', slots: {{{', '.join(f'{slot}: a' for slot in used)}}}, where: 'r(X0, X1)'}}]"
    )


def test_a_population_of_a_hundred_million_million_is_counted_not_built():
    population = Population(parse_bank(big(1000, 5)).patterns[0])
    assert len(population) == 1000 * 999 * 998 * 997 * 996
    middle = len(population) // 2
    assert population.rank(population.unrank(middle)) == middle


def test_what_cannot_be_numbered_is_refused():
    with pytest.raises(DataError, match="too many problems"):
        Population(parse_bank(big(3000, 8)).patterns[0])
    with pytest.raises(DataError, match="too many to go through"):
        Enumeration(parse_bank(big(1000, 5)).patterns[0])


def test_restrictions_that_would_take_hours_are_refused():
    from random import Random

    random = Random(0)
    names = [f"e{i}" for i in range(400)]
    rows = [
        f"{{{', '.join(random.sample(names, 20))}}} * {{{', '.join(random.sample(names, 20))}}}"
        for _ in range(300)
    ]
    text = (
        big(400, 4)
        .replace("r: [a * a]", f"r: {rows}")
        .replace("'r(X0, X1)'", "['r(X0, X1) or r(X2, X3)']")
    )
    with pytest.raises(DataError, match="too many"):
        Population(parse_bank(text).patterns[0])


def test_shared_problems_are_counted_exactly(world_text):
    text = """
patterns:
  - {id: one, label: neutral, class: projective, expressions: near, premises: "{X} is near {Y}",
     hypothesis: "{Y} is far from {X}", slots: {X: toy, Y: small}}
  - {id: two, label: neutral, class: projective, expressions: near, premises: "{B} is near {A}",
     hypothesis: "{A} is far from {B}", slots: {A: "box | {ball}", B: "{ball, apple, crate}"}}
  - {id: three, label: neutral, class: projective, expressions: near, premises: "{X} is near {Y}",
     hypothesis: "{X} is far from {Y}", slots: {X: toy, Y: small}}
"""
    first, second, third = parse_bank(text, world_text).patterns
    shared = list(shared_problems([first, second, third]))
    texts = [
        {first.problem(f).text for f in Population(first)},
        {second.problem(f).text for f in Population(second)},
    ]
    assert [(a.id, b.id, count) for a, b, count in shared] == [
        ("one", "two", len(texts[0] & texts[1]))
    ]
    assert len(texts[0] & texts[1]) == 5
