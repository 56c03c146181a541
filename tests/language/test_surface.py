"""English forms: articles, agreement, possessives, capitals."""

import pytest

from gnomon.files import package_data
from gnomon.language.surface import (
    SentenceError,
    WordForm,
    form_of,
    indefinite_article,
    parse_sentence,
)
from gnomon.language.world import Entity, build_world
from gnomon.yamlnodes import read_document


def entity(name: str, *flags: str) -> Entity:
    return Entity(name, frozenset(flags))


@pytest.mark.parametrize(
    ("noun", "the", "a", "bare", "possessive"),
    [
        (entity("box"), "the box", "a box", "box", "the box's"),
        (entity("apple"), "the apple", "an apple", "apple", "the apple's"),
        (
            entity("scissors", "plural"),
            "the scissors",
            "some scissors",
            "scissors",
            "the scissors'",
        ),
        (entity("people", "plural"), "the people", "some people", "people", "the people's"),
        (entity("water", "mass"), "the water", "some water", "water", "the water's"),
        (entity("Ada", "proper"), "Ada", "Ada", "Ada", "Ada's"),
        (
            entity("Netherlands", "proper", "the"),
            "the Netherlands",
            "the Netherlands",
            "Netherlands",
            "the Netherlands's",
        ),
    ],
)
def test_forms_of_nouns_and_names(noun, the, a, bare, possessive):
    assert [form_of(noun, WordForm(kind)) for kind in ("the", "a", "bare", "'s")] == [
        the,
        a,
        bare,
        possessive,
    ]


def test_a_flag_overrules_the_first_letter():
    assert indefinite_article(entity("hour")) == "an"
    assert indefinite_article(entity("unicorn")) == "a"
    assert indefinite_article(entity("umbrella")) == "an"
    assert indefinite_article(entity("FBI office", "an")) == "an"


def test_words_agree_with_their_slot(bank):
    sentence = parse_sentence("{X} {X:is} here and {X:stands|stand} still")
    singular, plural = entity("box"), entity("scissors", "plural")
    assert [form_of(singular, form) for _, form in sentence.markers] == ["the box", "is", "stands"]
    assert [form_of(plural, form) for _, form in sentence.markers] == [
        "the scissors",
        "are",
        "stand",
    ]


def test_a_problem_has_capitals_full_stops_and_no_holes(bank):
    pattern = bank.patterns[2]
    number = bank.world.numbers
    fillers = {"M": 1, "X": number["boy"], "Y": number["apple"], "Z": number["shelves"]}
    problem = pattern.problem([fillers[slot.name] for slot in pattern.slots])
    assert problem.premises == ("The boy saw an apple behind the shelves.",)
    assert problem.hypothesis == "The apple was in front of the shelves."


def test_percent_signs_are_text(bank):
    assert parse_sentence("{X} is 100% in {Y}").format == "%s is 100%% in %s"


@pytest.mark.parametrize(
    "text",
    [
        "{X",
        "X}",
        "{}",
        "{x}",
        "{X:}",
        "{X:walks}",
        "{X:a|b|c}",
        "{a X:is}",
        "{X!r}",
        "{X.__class__}",
        "{X[0]}",
        "{0}",
        "{X} is.",
        "{X}",
        "a" * 500,
        "{an X} is in",
        "{{X}} is",
        "{X} is \x07 in",
    ],
)
def test_what_is_not_a_sentence(text):
    with pytest.raises(SentenceError):
        parse_sentence(text)


def test_the_shipped_nouns_have_the_article_that_inflect_gives():
    inflect = pytest.importorskip(
        "inflect", reason="inflect, an oracle for articles, is not installed"
    )
    engine = inflect.engine()
    world = build_world([read_document(package_data("patterns/world.yaml"))])
    common = [noun for noun in world.entities if not noun.flags & {"proper", "plural", "mass"}]
    assert len(common) > 100
    wrong = {noun.name for noun in common if engine.a(noun.name) != form_of(noun, WordForm("a"))}
    assert not wrong
