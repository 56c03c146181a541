"""The audits of five published sets, against what is known of them."""

from __future__ import annotations

import json

import pytest

from gnomon.cli import main

pytestmark = [
    pytest.mark.published,
    pytest.mark.filterwarnings("ignore::gnomon.errors.MissingFileWarning"),
]


@pytest.fixture
def audited(shared, capsys):
    """The records of an audit by check and part."""

    def run(name, *words):
        folder = shared / "data"
        files = [str(folder / word[1:]) if word.startswith("/") else word for word in words]
        code = main(["audit", name.replace("DATA", str(folder)), *files, "--format", "json"])
        records = json.loads(capsys.readouterr().out)
        assert code == int(any(record["alarm"] for record in records))
        return {(record["check"], record["part"]): record for record in records}

    return run


def test_the_captions_of_vsr_give_its_random_split_away(audited):
    found = audited("vsr@published", "--data", "/vsr", "--split", "random")
    flipped = found["flipped_lookup", "text in train and dev"]
    assert flipped["alarm"]
    assert flipped["value"] == pytest.approx(0.725, abs=0.0005)
    assert flipped["low"] > 0.65
    assert found["flipped_lookup", "text in train"]["value"] == pytest.approx(0.696, abs=0.0005)
    assert found["lookup", "text in train and dev"]["value"] == pytest.approx(0.275, abs=0.0005)
    assert not found["lookup", "text in train and dev"]["alarm"]  # which would be an echo

    pictures = found["shared_context", "picture in train"]
    assert pictures["alarm"]
    assert "891 of 1,743 different pictures" in pictures["says"]
    both = found["shared_context", "picture in train and dev"]
    assert "940 of 1,743 different pictures" in both["says"]
    assert found["disputes", "dissent"]["value"] == pytest.approx(568 / 10_119)
    assert found["words", "text, by items"]["value"] == 0.0


def test_the_zero_shot_split_of_vsr_shares_no_caption(audited):
    found = audited("vsr@published", "--data", "/vsr", "--split", "zeroshot")
    for check in ("lookup", "flipped_lookup"):
        finding = found[check, "text in train and dev"]
        assert not finding["alarm"]
        assert finding["value"] == pytest.approx(0.5, abs=0.02)
        assert finding["behind"] == 0


def test_ten_pairs_of_captions_of_vsr_cannot_both_be_true(audited):
    pytest.importorskip("z3")
    found = audited("vsr@published", "--data", "/vsr", "--check", "clash")
    clash = found["clash", "pictures"]
    assert clash["alarm"]
    sure = found["clash", "pictures, whoever's sides"]
    assert sure["behind"] == 2
    assert all("000000139355" in name for name in sure["items"])
    assert clash["says"].startswith("10 sets of sentences")
    assert all(len(example["ids"]) == 2 for example in clash["examples"])


def test_raw_votes_of_vsr_are_disputed(audited):
    found = audited("vsr@published", "--data", "/vsr", "--split", "raw", "--check", "disputes")
    dissent = found["disputes", "dissent"]
    assert dissent["alarm"]
    assert dissent["behind"] == 12_808 - 9_551


def test_spatialqa_repeats_itself_and_has_labels_that_hold_in_no_reading(audited):
    pytest.importorskip("z3")
    found = audited("spatialqa@published", "--data", "/spatialqa")
    assert found["duplicates", "repeats"]["behind"] == 160
    assert found["duplicates", "repeats"]["alarm"]
    assert found["constants", "'entailment'"]["value"] == pytest.approx(0.447, abs=0.0005)
    assert found["words", "all words, by items"]["says"].startswith("123 of 144 words")
    assert found["shapes", "all words"]["value"] == pytest.approx(0.073, abs=0.0005)
    none = found["proof", "no reading"]
    assert (none["behind"], none["n"]) == (520, 4_452)
    assert "480 of transitivity_negative/0, 40 of above_below_one_hop/0" in none["says"]
    assert found["partial_input", "text, at random"]["alarm"]


def test_the_sizes_of_viphy_are_no_order(audited):
    found = audited("viphy-size@published", "--data", "/viphy")
    tangle = found["order", "tangle"]
    assert tangle["alarm"]
    assert tangle["says"].startswith("651 of 1,682 things lie in one tangle")
    assert tangle["value"] == pytest.approx(0.635, abs=0.0005)
    assert found["order", "against an order"]["behind"] == 151
    assert found["shared_context", "reversed pair in train"]["behind"] == 6_043
    assert found["shared_context", "group in train"]["behind"] == 6_043
    assert found["partial_input", "first thing, by split"]["alarm"]


def test_a_constant_answers_all_of_the_transitive_sizes_of_viphy(audited):
    found = audited("viphy-size-transitive@published", "--data", "/viphy")
    assert found["constants", "'smaller'"]["value"] == 1.0
    assert found["constants", "'smaller'"]["alarm"]


def test_the_words_of_spacenli_say_much_about_its_labels(audited):
    mapping = ["--map", "context=premises,text=hypothesis,gold=label"]
    found = audited("DATA/spacenli/40x200.json.gz", *mapping)
    words = found["words", "all words, by items"]
    assert words["alarm"]
    assert words["says"].startswith("97 of 193 words")
    assert found["words", "hypothesis, by items"]["says"].startswith("63 of 174 words")
    assert found["shapes", "all words"]["value"] == pytest.approx(0.154, abs=0.0005)
    assert found["partial_input", "premises, at random"]["value"] == pytest.approx(0.889, abs=0.002)


def test_a_mislabelled_pattern_of_spacenli_is_named(audited):
    pytest.importorskip("z3")
    found = audited("spacenli@published", "--data", "/spacenli")
    assert "179 of 103c, 3 of 100b" in found["proof", "no reading"]["says"]
    assert found["duplicates", "repeats"]["behind"] == 123
    assert found["words", "text, by items"]["alarm"]


def test_sizes_and_places_of_spatial_commonsense(audited):
    found = audited("scales@published", "--data", "/spatial-commonsense")
    assert found["order", "implied"]["value"] == pytest.approx(0.6)
    text = found["partial_input", "text, by group"]  # "larger?" is always no, "smaller?" yes
    assert text["alarm"]
    assert text["value"] == pytest.approx(0.75)
    found = audited("posrel@published", "--data", "/spatial-commonsense")
    assert any(record["alarm"] for record in found.values())
