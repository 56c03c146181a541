"""The check of English: right when it complains, silent over what ships."""

import pytest

from gnomon.files import package_data
from gnomon.language.patternfile import read_bank
from gnomon.language.sampling import bank_samples
from gnomon.language.surface import Grammar
from gnomon.language.world import parse_world

WORLD = """
classes: {noun: , name: {flags: proper}}
entities:
  noun: [box, apple, bus stop, {scissors: plural}, {jeans: plural}, {water: mass}, {hour: an}]
  name: [Ada, Omar, {Netherlands: the}]
"""

WRONG = [
    ("the scissors are here.", "capital"),
    ("The scissors are here", "full stop"),
    ("The box is  here.", "stray"),
    ("The box is at_least here.", "stray"),
    ("The box is in in the box.", "doubled"),
    ("The the box is here.", "doubled"),
    ("Ada saw a apple.", "wrong article"),
    ("Ada saw an box.", "wrong article"),
    ("Ada waited a hour.", "wrong article"),
    ("Ada saw a scissors.", "cannot have 'a'"),
    ("Ada saw some box.", "cannot have 'some'"),
    ("The Ada is here.", "has an article"),
    ("The scissors is here.", "does not agree"),
    ("The box are here.", "does not agree"),
    ("Ada have gone.", "does not agree"),
    ("The scissors stands here.", "does not agree"),
    ("The bus stop stand here.", "does not agree"),
    ("The box in the jeans are red.", "does not agree"),
    ("Ada and Omar is here.", "does not agree"),
    ("Ada left when the jeans was dry.", "does not agree"),
    ("In the box, the scissors is red.", "does not agree"),
    ("Seen from the box, Ada and Omar is small.", "does not agree"),
    ("In the box, the scissors lies flat.", "does not agree"),
    ("Ada is gone because the jeans has shrunk.", "does not agree"),
]

RIGHT = [
    "The scissors are here.",
    "The box in the jeans is red.",
    "The jeans in the box are dry.",
    "Ada and the box are here.",
    "Ada, Omar and the box are here.",
    "Ada saw the jeans before the box was here.",
    "The Netherlands is far from Ada.",
    "Ada waited an hour with some water and some scissors.",
    "The bus stop stands here.",
    "Ada left when the jeans were dry.",
    "In the box, the scissors are red.",
    "Looking at Ada and the jeans, Omar is small.",
    "When the jeans were dry, Ada was gone.",
    "From where Ada is standing, the jeans are red.",
    "In the box, everyone is behind the jeans.",
    "Ada, who has gone, is red.",
    "The scissors towards the box are Ada's.",
]


@pytest.fixture(scope="module")
def grammar():
    return Grammar(parse_world(WORLD))


@pytest.mark.parametrize(("sentence", "says"), WRONG)
def test_what_is_wrong_is_found(grammar, sentence, says):
    assert any(says in complaint for complaint in grammar.complaints(sentence))


@pytest.mark.parametrize("sentence", RIGHT)
def test_what_is_right_passes(grammar, sentence):
    assert list(grammar.complaints(sentence)) == []


def test_ten_thousand_sentences_of_the_shipped_bank_are_right():
    bank = read_bank(package_data("patterns/bank"))
    grammar = Grammar(bank.world)
    seen = 0
    for pattern, sample in bank_samples(bank, 20, seed=11):
        for sentence in (*sample.problem.premises, sample.problem.hypothesis):
            seen += 1
            assert list(grammar.complaints(sentence)) == [], (pattern.id, sentence)
        assert sample.problem.hypothesis not in sample.problem.premises
    assert seen >= 10_000
