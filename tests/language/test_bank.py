"""The bank of patterns that ships: big enough, balanced, in good English, and no label to be
guessed from a part."""

import re
from collections import Counter, defaultdict

import pytest

from gnomon.files import package_data
from gnomon.language.checking import Report, check
from gnomon.language.patternfile import read_bank
from gnomon.language.patterns import CLASSES, LABELS, Bank, Pattern
from gnomon.language.sampling import EXAMPLES, samples
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
NEGATIONS = re.compile(r"\b(not|no|never|nobody|nothing|neither|without|cannot)\b", re.I)


@pytest.fixture(scope="module")
def bank() -> Bank:
    return read_bank(package_data("patterns/bank"))


@pytest.fixture(scope="module")
def report(bank: Bank) -> Report:
    return check(bank)


def text_of(pattern: Pattern) -> str:
    return " ".join(sentence.text for sentence in pattern.sentences)


def shares(patterns: list[Pattern]) -> dict[str, float]:
    return {label: sum(p.label == label for p in patterns) / len(patterns) for label in LABELS}


def test_the_checker_finds_nothing_to_complain_of(report: Report) -> None:
    assert [(finding.pattern.id, finding.message) for finding in report.findings] == []


def test_the_bank_is_larger_than_the_papers(bank: Bank) -> None:
    assert len(bank.patterns) >= 300
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


def test_one_two_and_three_premises_are_in_use(bank: Bank) -> None:
    count = Counter(len(p.premises) for p in bank.patterns)
    total = len(bank.patterns)
    assert 0.5 < count[1] / total < 0.7
    assert 0.25 < count[2] / total < 0.4
    assert 0.05 < count[3] / total < 0.15


def test_labels_are_balanced_for_each_number_of_premises(bank: Bank) -> None:
    for number in (1, 2, 3):
        chosen = [p for p in bank.patterns if len(p.premises) == number]
        assert all(0.25 < share < 0.42 for share in shares(chosen).values()), number


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


def test_examples_are_one_to_three_and_derivable(bank: Bank) -> None:
    for pattern in bank.patterns:
        assert 1 <= len(pattern.examples) <= 3, pattern.id
        assert len(list(samples(pattern, EXAMPLES))) == len(pattern.examples), pattern.id


def test_a_hypothesis_alone_says_nothing_about_its_label(bank: Bank) -> None:
    """Each hypothesis goes equally often with every label, so whatever reads only hypotheses is at
    chance."""
    labels = defaultdict(Counter)
    for pattern in bank.patterns:
        labels[pattern.hypothesis.text][pattern.label] += 1
    assert [
        text for text, count in labels.items() if len({count[label] for label in LABELS}) != 1
    ] == []


def test_no_frequent_word_of_the_premises_gives_the_label_away(bank: Bank) -> None:
    labels = defaultdict(Counter)
    for pattern in bank.patterns:
        premises = re.sub(
            r"\{[^}]*\}", " ", " ".join(sentence.text for sentence in pattern.premises)
        ).lower()
        for word in set(re.findall(r"[a-z']+", premises)):
            labels[word][pattern.label] += 1
    for word, count in labels.items():
        largest = max(count.values()) / count.total()
        assert count.total() < 20 or largest <= 1 / 2, (word, count)
        assert count.total() < 10 or largest <= 2 / 3, (word, count)
        assert count.total() < 5 or largest <= 4 / 5, (word, count)


def test_negation_is_common_and_balanced(bank: Bank) -> None:
    literal = [p for p in bank.patterns if p.negated]
    assert len(literal) / len(bank.patterns) > 0.15
    assert all(0.28 < share < 0.39 for share in shares(literal).values())
    wider = [p for p in bank.patterns if NEGATIONS.search(text_of(p))]
    assert all(0.25 < share < 0.42 for share in shares(wider).values())


def test_no_problem_is_made_by_two_patterns_with_different_labels(bank: Bank) -> None:
    labels: dict[str, str] = {}
    for pattern in bank.patterns:
        for sample in samples(pattern, 60, seed=5):
            assert labels.setdefault(sample.problem.text, pattern.label) == pattern.label, (
                sample.problem.text
            )


def test_plural_nouns_take_plural_verbs_and_others_do_not(bank: Bank) -> None:
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
        for sample in samples(pattern, 40, seed=9):
            for sentence in (*sample.problem.premises, sample.problem.hypothesis):
                assert not any(bad.search(sentence) for bad in wrong), sentence


def test_sentences_are_well_formed(bank: Bank) -> None:
    for pattern in bank.patterns:
        for sample in samples(pattern, 20, seed=2):
            problem = sample.problem
            assert problem.hypothesis not in problem.premises
            for sentence in (*problem.premises, problem.hypothesis):
                assert re.fullmatch(r"[A-Z][A-Za-z,' ]*[a-z]\.", sentence), sentence
                assert not re.search(r"\b(\w+) \1\b", sentence), sentence
                assert not re.search(r"\b(the|a|an) [A-Z](?!etherlands)", sentence), sentence
                assert "  " not in sentence
                assert " ," not in sentence


def test_no_entity_fills_two_slots(bank: Bank) -> None:
    for pattern in bank.patterns:
        assert pattern.distinct
        for sample in samples(pattern, 20, seed=3):
            assert len(set(sample.fillers)) == len(sample.fillers)


def test_facts_about_cities_are_kept(bank: Bank) -> None:
    """A premise that a city is in a country is true, and so is one that it is not."""
    where = bank.world.relations["city-of"]
    numbers = bank.world.numbers
    stated = re.compile(r"^(\w+) is (not )?(?:a city )?in (?:the )?(\w+)\.$")
    seen = Counter()
    for pattern in bank.patterns:
        for sample in samples(pattern, 40, seed=4):
            for match in filter(None, map(stated.match, sample.problem.premises)):
                if match[1] in numbers and match[3] in numbers:
                    city, country = numbers[match[1]], numbers[match[3]]
                    if (
                        city in bank.world.classes["city"]
                        and country in bank.world.classes["country"]
                    ):
                        assert where.holds((city, country)) == (not match[2]), match[0]
                        seen[bool(match[2])] += 1
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
    from gnomon.language.surface import Form

    phrase = {e.name: form_of(e, Form("the")) for e in bank.world.entities}
    assert phrase["scissors"] == "the scissors"
    assert phrase["Nadia"] == "Nadia"
    assert phrase["Netherlands"] == "the Netherlands"
