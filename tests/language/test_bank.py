"""The bank of patterns that ships: big enough, balanced, in good English, and no label to be
guessed from a part."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from itertools import permutations

import pytest

from gnomon.files import package_data
from gnomon.language.checking import Report, check
from gnomon.language.patternfile import read_bank
from gnomon.language.patterns import CLASSES, LABELS, Bank, Pattern
from gnomon.language.population import Population
from gnomon.language.sampling import EXAMPLES, ProblemSample, samples
from gnomon.language.surface import form_of

# The cells of Table 2 of the SpaceNLI paper: which expressions the patterns of each class speak
# with.
TABLE_2 = {
    "directional": "in, from, into, to, on, away from, towards, out of, back, through, across, at, outside, opposite, "
    "part of, by",
    "argument orientation": "in, at, from, away from, out of, near, with, inside, on, under, through, opposite, "
    "towards, far from, on top of, behind",
    "projective": "behind, between, in front of, below, above, under, on top of, front of, opposite, to the right of, "
    "on, to the left of",
    "non-projective": "between, in, far from, close to, outside, on top of, on, opposite",
}
Draw = Callable[..., Iterator[ProblemSample]]
NEGATIONS = re.compile(r"\b(not|no|never|nobody|nothing|neither|without|cannot)\b", re.I)


@pytest.fixture(scope="module")
def bank() -> Bank:
    found = read_bank(package_data("patterns/bank"))
    assert len(found.patterns) > 100  # what is said below of every pattern is said of many
    return found


@pytest.fixture(scope="module")
def draw(bank: Bank) -> Draw:
    """Problems of a pattern, as `samples` draws them; its population is counted once for all."""
    known = {pattern.id: Population(pattern) for pattern in bank.patterns}

    def drawn(pattern: Pattern, count: int, *, seed: int = 0) -> Iterator[ProblemSample]:
        return samples(pattern, count, seed=seed, population=known[pattern.id])

    return drawn


@pytest.fixture(scope="module")
def report(bank: Bank) -> Report:
    return check(bank)


def text_of(pattern: Pattern) -> str:
    return " ".join(sentence.text for sentence in pattern.sentences)


def shares(patterns: list[Pattern]) -> dict[str, float]:
    return {label: sum(p.label == label for p in patterns) / len(patterns) for label in LABELS}


def trio(pattern: Pattern) -> str:
    """The three patterns that share a hypothesis: the square and the hypothesis's number."""
    return pattern.id[:-2] + pattern.id[-1]


def row(pattern: Pattern) -> str:
    """The three patterns that share their premises: the square and the letter of the premises."""
    return pattern.id[:-1]


def words_of(premises: str) -> list[str]:
    return re.findall(r"[a-z']+", re.sub(r"\{[^}]*\}", " ", premises).lower())


def premises_of(pattern: Pattern) -> str:
    return " ".join(sentence.text for sentence in pattern.premises)


def test_the_checker_finds_nothing_to_complain_of(report: Report) -> None:
    assert [(finding.pattern.id, finding.message) for finding in report.findings] == []


def test_the_bank_is_larger_than_the_papers(bank: Bank) -> None:
    assert len(bank.patterns) >= 600
    assert len({trio(p) for p in bank.patterns}) >= 200
    assert len({p.family for p in bank.patterns}) > 107
    assert len(bank.world.entities) >= 400


def test_every_pattern_yields_at_least_two_hundred_problems(report: Report) -> None:
    assert min(report.populations.values()) >= 200


@pytest.mark.parametrize("kind", CLASSES)
def test_every_class_has_a_fifth_of_the_patterns_and_each_label_a_third_of_it(
    bank: Bank, kind: str
) -> None:
    chosen = [p for p in bank.patterns if p.kind == kind]
    assert len(chosen) / len(bank.patterns) > 0.2
    assert all(share == pytest.approx(1 / 3, abs=0.01) for share in shares(chosen).values())


def test_one_to_five_premises_are_in_use(bank: Bank) -> None:
    count = Counter(len(p.premises) for p in bank.patterns)
    total = len(bank.patterns)
    assert 0.35 < count[1] / total < 0.55
    assert 0.2 < count[2] / total < 0.4
    assert (count[3] + count[4] + count[5]) / total > 0.2
    assert min(count[4], count[5]) >= 27


def test_chains_of_one_to_four_hops_are_in_use(bank: Bank) -> None:
    count = Counter(p.hops for p in bank.patterns)
    assert set(count) == {0, 1, 2, 3, 4}
    assert min(count[hops] for hops in (2, 3, 4)) >= 36
    assert all(p.hops <= len(p.premises) or len(p.premises) < 3 for p in bank.patterns)


def test_premises_and_hypotheses_go_with_every_label_once(bank: Bank) -> None:
    """What makes every rule that reads a part only no better than chance."""
    by_row, by_trio = defaultdict(list), defaultdict(list)
    for pattern in bank.patterns:
        by_row[row(pattern), premises_of(pattern)].append(pattern.label)
        by_trio[trio(pattern), pattern.hypothesis.text].append(pattern.label)
    assert len(by_row) == len(by_trio) == len(bank.patterns) / 3
    assert all(sorted(labels) == sorted(LABELS) for labels in by_row.values())
    assert all(sorted(labels) == sorted(LABELS) for labels in by_trio.values())


@pytest.mark.parametrize("order", list(permutations(LABELS)))
def test_no_order_of_lengths_among_three_premises_tells_their_labels(
    bank: Bank, order: tuple[str, ...]
) -> None:
    """Shortest to longest, the labels come in all orders alike: each rule gets a third right."""
    trios = defaultdict(list)
    for pattern in bank.patterns:
        trios[trio(pattern)].append(pattern)
    right = 0
    for patterns in trios.values():
        ranked = sorted(patterns, key=lambda p: (len(premises_of(p)), p.id))
        right += sum(p.label == label for p, label in zip(ranked, order, strict=True))
    assert right == len(bank.patterns) / 3


def test_those_spoken_of_come_in_every_order_with_every_label(bank: Bank) -> None:
    """The subject of the hypothesis is named first, second or last in the premises alike."""
    places: dict[str, Counter[int]] = {label: Counter() for label in LABELS}
    for patterns in rows_about_three(bank):
        subjects = {p.hypothesis.slots[0]: p.label for p in patterns}
        text = premises_of(patterns[0])
        named = sorted(subjects, key=lambda slot: text.index(f"{{{slot}}}"))
        for place, slot in enumerate(named):
            places[subjects[slot]][place] += 1
    total = places["entailment"].total()
    assert total > 150
    for count in places.values():
        assert all(0.28 < count[place] / total < 0.39 for place in range(3)), count


def rows_about_three(bank: Bank) -> list[list[Pattern]]:
    """Patterns that share premises, where each hypothesis speaks of somebody else first."""
    rows = defaultdict(list)
    for pattern in bank.patterns:
        rows[row(pattern)].append(pattern)
    found = []
    for patterns in rows.values():
        subjects = {p.hypothesis.slots[0] for p in patterns}
        text = premises_of(patterns[0])
        if len(subjects) == 3 and all(f"{{{slot}}}" in text for slot in subjects):
            found.append(patterns)
    return found


@pytest.mark.parametrize("kind", TABLE_2)
def test_every_expression_of_the_papers_table_2_is_covered_in_its_class(
    bank: Bank, kind: str
) -> None:
    covered = {expression for p in bank.patterns if p.kind == kind for expression in p.expressions}
    assert [
        expression for expression in TABLE_2[kind].split(", ") if expression not in covered
    ] == []


def test_expressions_stand_in_the_sentences(bank: Bank) -> None:
    for pattern in bank.patterns:
        for expression in pattern.expressions:
            assert re.search(rf"\b{expression}\b", text_of(pattern).lower()), (
                pattern.id,
                expression,
            )


def test_siblings_have_another_label_and_point_back(bank: Bank) -> None:
    by_id = {p.id: p for p in bank.patterns}
    for pattern in bank.patterns:
        assert pattern.siblings, pattern.id
        for sibling in pattern.siblings:
            assert by_id[sibling].label != pattern.label
            assert pattern.id in by_id[sibling].siblings


def test_examples_are_one_to_three_and_derivable(bank: Bank, draw: Draw) -> None:
    for pattern in bank.patterns:
        assert 1 <= len(pattern.examples) <= 3, pattern.id
        assert len(list(draw(pattern, EXAMPLES))) == len(pattern.examples), pattern.id


def test_a_hypothesis_alone_says_nothing_about_its_label(bank: Bank) -> None:
    """Each hypothesis goes equally often with every label, so whatever reads only hypotheses is at
    chance."""
    labels = defaultdict(Counter)
    for pattern in bank.patterns:
        labels[pattern.hypothesis.text][pattern.label] += 1
    assert [
        text for text, count in labels.items() if len({count[label] for label in LABELS}) != 1
    ] == []


def test_no_word_of_the_premises_gives_the_label_away(bank: Bank) -> None:
    labels = defaultdict(Counter)
    for pattern in bank.patterns:
        for word in set(words_of(premises_of(pattern))):
            labels[word][pattern.label] += 1
    assert len(labels) > 300
    assert [word for word, count in labels.items() if len({count[x] for x in LABELS}) != 1] == []


def test_negation_is_common_and_goes_with_every_label_alike(bank: Bank) -> None:
    for part in (premises_of, text_of):
        negated = [p for p in bank.patterns if NEGATIONS.search(part(p))]
        assert len(negated) / len(bank.patterns) > 0.15
        assert len(set(shares(negated).values())) == 1


def test_no_problem_is_made_by_two_patterns_with_different_labels(bank: Bank, draw: Draw) -> None:
    labels: dict[str, str] = {}
    for pattern in bank.patterns:
        for sample in draw(pattern, 60, seed=5):
            assert labels.setdefault(sample.problem.text, pattern.label) == pattern.label, (
                sample.problem.text
            )


def test_plural_nouns_take_plural_verbs_and_others_do_not(bank: Bank, draw: Draw) -> None:
    """Read as a stranger would: the verb right after a noun agrees with it."""
    plural = {e.name for e in bank.world.entities if "plural" in e.flags}
    singular = {
        e.name for e in bank.world.entities if "plural" not in e.flags and "proper" not in e.flags
    }
    assert {"glasses", "scissors", "jeans"} <= plural
    wrong = (
        re.compile(rf"(?<! and )\bthe ({'|'.join(plural)}) (is|was|has)\b", re.I),
        re.compile(rf"^The ({'|'.join(singular)}) (are|were|have)\b"),
    )
    for pattern in bank.patterns:
        for sample in draw(pattern, 40, seed=9):
            for sentence in (*sample.problem.premises, sample.problem.hypothesis):
                assert not any(bad.search(sentence) for bad in wrong), sentence


def test_sentences_are_well_formed(bank: Bank, draw: Draw) -> None:
    for pattern in bank.patterns:
        for sample in draw(pattern, 20, seed=2):
            problem = sample.problem
            assert problem.hypothesis not in problem.premises
            for sentence in (*problem.premises, problem.hypothesis):
                assert re.fullmatch(r"[A-Z][A-Za-z,' ]*[a-z]\.", sentence), sentence
                assert not re.search(r"\b(\w+) \1\b", sentence), sentence
                assert not re.search(r"\b(the|a|an) [A-Z](?!etherlands)", sentence), sentence
                assert "  " not in sentence
                assert " ," not in sentence


def test_no_entity_fills_two_slots(bank: Bank, draw: Draw) -> None:
    for pattern in bank.patterns:
        assert pattern.distinct
        for sample in draw(pattern, 20, seed=3):
            assert len(set(sample.fillers)) == len(sample.fillers)


def test_facts_about_cities_are_kept(bank: Bank, draw: Draw) -> None:
    """Whatever a premise says of a city and a country is true."""
    where = bank.world.relations["city-of"]
    cities, countries = bank.world.classes["city"], bank.world.classes["country"]
    one = r"\{([CDE])\} is (not )?(?:a city )?in \{([KLM])\}"
    two = r"\{([CDE])\} and \{([CDE])\} are in \{K\}, but \{([CDE])\} is not"
    seen: Counter[bool] = Counter()

    def check(
        pattern: Pattern, fillers: dict[str, int], city: str, country: str, yes: bool
    ) -> None:
        assert fillers[city] in cities
        assert fillers[country] in countries
        assert where.holds((fillers[city], fillers[country])) == yes, pattern.id
        seen[yes] += 1

    for pattern in bank.patterns:
        text = premises_of(pattern)
        if not all(slot.domain <= cities for slot in pattern.slots if slot.name == "C"):
            continue
        for sample in draw(pattern, 10, seed=4):
            names = [slot.name for slot in pattern.slots]
            fillers = dict(zip(names, sample.fillers, strict=True))
            for city, negation, country in re.findall(one, text):
                check(pattern, fillers, city, country, not negation)
            for first, second, other in re.findall(two, text):
                check(pattern, fillers, first, "K", True)
                check(pattern, fillers, second, "K", True)
                check(pattern, fillers, other, "K", False)
    assert seen[True] > 50
    assert seen[False] > 50


def test_each_city_is_in_one_country(bank: Bank) -> None:
    world = bank.world
    for city in world.classes["city"]:
        assert (
            sum(
                world.relations["city-of"].holds((city, country))
                for country in world.classes["country"]
            )
            == 1
        )


def test_every_entity_occurs_in_some_pattern(bank: Bank) -> None:
    used = {filler for pattern in bank.patterns for slot in pattern.slots for filler in slot.domain}
    assert [e.name for number, e in enumerate(bank.world.entities) if number not in used] == []


def test_nothing_fits_into_its_own_size(bank: Bank) -> None:
    world = bank.world
    level = {entity: rank for rank, members in enumerate(world.level("size")) for entity in members}
    fits = world.relations["fits-in"]
    pairs = [(a, b) for a in fits.projection(0) for b in fits.projection(1) if fits.holds((a, b))]
    assert len(pairs) > 500
    assert [
        (world.entities[a].name, world.entities[b].name) for a, b in pairs if level[a] >= level[b]
    ] == []


def test_phrases_read_as_english(bank: Bank) -> None:
    from gnomon.language.surface import WordForm

    phrase = {e.name: form_of(e, WordForm("the")) for e in bank.world.entities}
    assert phrase["scissors"] == "the scissors"
    assert phrase["Nadia"] == "Nadia"
    assert phrase["Netherlands"] == "the Netherlands"
