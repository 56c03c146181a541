"""Witnesses can be drawn: everything is there, and seen."""

import pytest

pytest.importorskip("z3")

from gnomon.errors import UsageError
from gnomon.files import package_data
from gnomon.language.patternfile import read_bank
from gnomon.proofs.meaning.stories import reading_named
from gnomon.proofs.solver import Case, text_of_patterns
from gnomon.proofs.solver import text_of as text_of_sentences
from gnomon.proofs.witnesses import draw_witnesses, least_seen, plan_of, scene_of, shown_for

DRAWN = """pr-01-a3 pr-02-a3 pr-03-a3 pr-04-b1 pr-08-a3 pr-09-a3 pr-12-a3 pr-13-a3 pr-21-a3 pr-22-a3 pr-28-a3 pr-29-a3
pr-31-a3 pr-33-a3 np-06-a3 np-30-a3 di-07-a3 ao-09-a3 ao-10-a3 ao-11-a3 ao-20-a3""".split()


@pytest.fixture(scope="module")
def bank():
    return {pattern.id: pattern for pattern in read_bank(package_data("patterns/bank")).patterns}


def _shown(text, nouns=None):
    proof = Case(*text.formulas(reading_named("ordinary"))).proof()
    return shown_for(text, proof, nouns)


@pytest.mark.parametrize("name", DRAWN)
def test_both_witnesses_of_an_open_pattern_show_all_things(bank, name):
    pattern = bank[name]
    shown = _shown(text_of_patterns([pattern]), pattern.examples[0])
    assert [each.says for each in shown] == ["it could be", "it need not be"]
    for each in shown:
        scene = scene_of(each)
        assert {placed.id for placed in scene.things} == {slot.name for slot in pattern.slots}
        assert least_seen(scene) >= 0.3


@pytest.mark.parametrize("name", DRAWN[:3])
def test_a_drawn_witness_makes_the_premises_true(bank, name):
    text = text_of_patterns([bank[name]])
    for each, truth in zip(_shown(text, bank[name].examples[0]), (True, False), strict=True):
        for premise in each.stage.premises:
            assert each.witness.makes(premise)
        assert each.witness.makes(each.stage.claims[0]) is truth


def test_a_plan_names_everything_and_says_what_it_shows():
    text = text_of_sentences(["Ann is in the kitchen"], ["The cat is in the kitchen"])
    drawn = plan_of(_shown(text))
    for word in ("it could be", "it need not be", ">Ann<", ">kitchen<", ">cat<"):
        assert word in drawn


def test_what_follows_has_one_witness_and_a_clash_has_none(tmp_path):
    text = text_of_sentences(["The cup is on the table"], ["The table is under the cup"])
    assert [each.says for each in _shown(text)] == ["so it is"]
    clash = text_of_sentences(
        ["The cup is in the box", "The cup is outside the box"], ["The cup is near the box"]
    )
    proof = Case(*clash.formulas(reading_named("ordinary"))).proof()
    with pytest.raises(UsageError, match="cannot all be true"):
        draw_witnesses(clash, proof, tmp_path / "clash.png")
