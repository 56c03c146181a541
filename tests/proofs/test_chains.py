"""What follows from a story: checked against every arrangement of a small world, and its models."""

from itertools import combinations, permutations, product
from random import Random

import pytest

from gnomon.proofs.chainfacts import VERDICTS, ChainFact, Regions, core, is_open
from gnomon.proofs.chains import FAMILIES, make_trio, proof

THINGS = 3
PLANE = list(product(range(THINGS), repeat=2))
# boxes on a line have two ends each: one axis of the hall is enough, since the axes are alike
LINE = list(combinations(range(2 * THINGS), 2))
# sets of places: a cluster of three that touch or are near, and two that are far from all
SPOTS = (0, 1, 6, 1000, 2000)
AREAS = [frozenset(chosen) for size in range(1, 4) for chosen in combinations(SPOTS, size)]


def points():
    """Every arrangement of a few points, as the logic of orders writes it."""
    for places in product(PLANE, repeat=THINGS):
        found = {}
        for thing, (x, y) in enumerate(places):
            found |= {(thing, "x", "low"): x, (thing, "y", "low"): y}
        yield found


def boxes():
    """Every arrangement of a few boxes on the x axis; on the others they are all nested or alike."""
    for stretches in product(LINE, repeat=THINGS):
        found = {}
        for thing, (low, high) in enumerate(stretches):
            for axis in "xyz":
                found |= {(thing, axis, "low"): low, (thing, axis, "high"): high}
        yield found


def areas():
    for chosen in product(AREAS, repeat=THINGS):
        yield dict(enumerate(map(set, chosen)))


ARRANGEMENTS = {
    "four": list(points()),
    "eight": list(points()),
    "solids": list(boxes()),
    "places": list(areas()),
}


def drawn(name, random):
    """A story that holds in some arrangement, and a question."""
    family = FAMILIES[name]
    pairs = list(permutations(range(THINGS), 2))
    every = [ChainFact(word, *pair) for word, pair in product(family.relations, pairs)]
    arrangement = random.choice(ARRANGEMENTS[name])
    true = [fact for fact in every if family.logic.holds(fact, arrangement)]
    story = random.sample(true, min(len(true), random.randint(1, 3)))
    return story, random.choice(every)


@pytest.mark.parametrize("name", FAMILIES)
def test_a_verdict_holds_in_every_arrangement(name):
    """Of points the arrangements are all there are, so that the verdict is also the only one."""
    logic = FAMILIES[name].logic
    verdicts = set()
    for seed in range(60):
        story, question = drawn(name, Random(seed))
        if not story:
            continue
        fitting = [one for one in ARRANGEMENTS[name] if holds_all(logic, story, one)]
        truths = {logic.holds(question, one) for one in fitting}
        found = logic.verdict(story, question)
        verdicts.add(found)
        if found == "cannot tell":
            assert is_open(logic, story, question)
        else:
            assert truths == {found == "yes"}
        if name in ("four", "eight"):
            assert (found == "cannot tell") == (len(truths) == 2)
    assert verdicts == set(VERDICTS)


def holds_all(logic, story, arrangement):
    return all(logic.holds(fact, arrangement) for fact in story)


@pytest.mark.parametrize("name", FAMILIES)
def test_a_core_gives_the_verdict_and_nothing_less_does(name):
    logic = FAMILIES[name].logic
    tried = 0
    for seed in range(400):
        story, question = drawn(name, Random(f"core {seed}"))
        found = core(logic, story, question)
        if found is None:
            continue
        verdict = logic.verdict(story, question)
        assert logic.verdict(found, question) == verdict
        for place in range(len(found)):
            assert logic.verdict([*found[:place], *found[place + 1 :]], question) != verdict
        tried += len(found) > 1
    assert tried


def test_what_is_in_a_box_is_where_the_box_is():
    story = [ChainFact("inside", 0, 1), ChainFact("left", 1, 2), ChainFact("contains", 2, 3)]
    logic = FAMILIES["solids"].logic
    assert logic.verdict(story, ChainFact("left", 0, 3)) == "yes"
    assert logic.verdict(story, ChainFact("right", 0, 3)) == "no"
    assert logic.verdict(story, ChainFact("above", 0, 3)) == "cannot tell"
    assert core(logic, story, ChainFact("left", 0, 3)) == story


def test_what_contains_a_box_may_be_anywhere():
    story = [ChainFact("contains", 0, 1), ChainFact("left", 1, 2)]
    assert FAMILIES["solids"].logic.verdict(story, ChainFact("left", 0, 2)) == "cannot tell"


def test_far_is_passed_on_to_what_is_inside_and_near_to_what_contains():
    logic = Regions()
    story = [
        ChainFact("inside", 0, 1),
        ChainFact("far", 1, 2),
        ChainFact("contains", 2, 3),
        ChainFact("near", 4, 3),
    ]
    assert logic.verdict(story, ChainFact("far", 0, 3)) == "yes"
    assert logic.verdict(story, ChainFact("far", 4, 2)) == "no"
    assert logic.verdict(story, ChainFact("far", 4, 0)) == "cannot tell"
    assert logic.verdict(story, ChainFact("inside", 1, 0)) == "no"


def test_the_same_place_passes_every_direction_on():
    logic = FAMILIES["eight"].logic
    story = [ChainFact("same place", 0, 1), ChainFact("above left", 1, 2)]
    assert logic.verdict(story, ChainFact("above left", 0, 2)) == "yes"
    assert logic.verdict(story, ChainFact("left", 0, 2)) == "no"


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("hops", [1, 2, 5, 10])
@pytest.mark.parametrize("distractors", [0, 2, 6])
def test_trios_are_proved_by_the_chain_as_a_whole(name, hops, distractors):
    for seed in range(5):
        trio = make_trio(name, hops, distractors, Random(seed))
        if trio is None:
            assert hops == 1, "longer chains need no distractors"
            continue
        assert trio.question[1:] == (0, hops)
        for verdict in VERDICTS:
            story = trio.stories[verdict]
            assert len(story) == hops + distractors
            needed = proof(trio.family, story, trio.question, verdict)
            assert needed == ([] if verdict == "cannot tell" else list(story[:hops]))


def test_chains_of_one_fact_need_distractors_to_exchange_words_with():
    assert make_trio("four", 1, 0, Random(0)) is None
    assert make_trio("four", 1, 1, Random(0)) is not None
    assert make_trio("places", 1, 1, Random(0)) is None
    assert make_trio("places", 1, 2, Random(0)) is not None
    assert make_trio("eight", 1, 8, Random(0)) is None, "one exact direction leaves nothing open"


@pytest.mark.parametrize("name", FAMILIES)
def test_the_stories_of_a_trio_say_the_same_words_of_the_same_pairs(name):
    trio = make_trio(name, 4, 3, Random(7))
    words, pairs = set(), set()
    for story in trio.stories.values():
        words.add(tuple(sorted(fact.relation for fact in story)))
        pairs.add(tuple(frozenset(fact[1:]) for fact in story))
    assert len(words) == len(pairs) == 1
    assert len(set(trio.stories.values())) == 3


@pytest.mark.parametrize("name", FAMILIES)
def test_the_ends_of_an_open_chain_do_not_tell_that_it_is_open(name):
    """Whoever reads only the sentences about the two things meets them in another story, too."""
    for seed in range(20):
        trio = make_trio(name, 5, 3, Random(seed))
        ends = [(story[0], story[4]) for story in trio.stories.values()]
        assert ends[2] in ends[:2]


def test_a_wrong_label_is_not_proved():
    trio = make_trio("four", 3, 2, Random(1))
    for said, verdict in product(VERDICTS, VERDICTS):
        found = proof(trio.family, trio.stories[said], trio.question, verdict)
        assert (found is None) == (said != verdict)
