"""A word that one part of the program knows, all know; and a new relation is one record."""

import json

import pytest

from gnomon.audit.proof import verdicts
from gnomon.benchmarks.vsr.ways import CaptionFact, certain_converse, converse
from gnomon.cli.dispatch import main
from gnomon.errors import UsageError
from gnomon.files import package_data
from gnomon.lexicon import relations
from gnomon.lexicon.relations import lexicon, read_lexicon, reply_words
from gnomon.lexicon.statements import negation, opposite, question, read_clause, read_statement, say
from gnomon.models.reading.assertion import question_of
from gnomon.proofs.solver import prove
from gnomon.records import Item
from gnomon.scenes.descriptions import scene_of, understand
from gnomon.scenes.relations import decide
from gnomon.vision.detection import Box, PlacedBox, margin

LEFT, RIGHT = PlacedBox(Box(0.1, 0.4, 0.3, 0.6)), PlacedBox(Box(0.6, 0.4, 0.8, 0.6))
SAID = "The cup is on the left side of the box."
SIDES = [("on the left side of", "at the left side of"), ("underneath", "below")]


def test_the_audit_proves_a_side():
    found = verdicts(SAID, "The box is on the right side of the cup.")
    assert set(found.values()) == {"entailment"}


def test_the_prover_proves_a_side():
    assert prove([SAID], "The box is to the right of the cup.").verdict == "entailment"


@pytest.mark.parametrize("text", ["a dog on the left side of a chair", "a cup underneath a table"])
def test_scenes_are_made_of_words_that_the_audit_knows(text):
    scene = scene_of(text)
    (said,) = understand(text).statements
    assert decide(scene, said.subject, said.relation, said.ground, frame="viewer").truth


def test_the_command_line_says_the_same(capsys):
    main(["prove", "--say", SAID, "The cup is left of the box.", "--format", "json"])
    assert json.loads(capsys.readouterr().out)["verdict"] == "entailment"
    main(["scene", "--say", "a cup underneath a table", "--facts"])
    assert "cup" in capsys.readouterr().out


@pytest.mark.parametrize(("word", "relation"), SIDES)
def test_every_reader_takes_a_word_for_the_same_relation(word, relation):
    sentence = f"The cup is {word} the box."
    assert read_statement(sentence) == ("cup", relation, "box", False)
    assert understand(f"a cup {word} a box").statements[0].relation == relation
    assert read_clause(sentence).meant.name == relation
    item = Item(id="1", form="caption", text=sentence, choices=("true", "false"))
    assert question_of(item)[:3] == ("cup", "box", word)


def test_eyes_see_every_word_of_a_relation():
    assert margin("on the left side of", LEFT, RIGHT) == margin("left of", LEFT, RIGHT) > 0


@pytest.mark.parametrize("word", lexicon().words)
def test_the_prover_accepts_every_word_of_the_lexicon(word):
    said = f"The cup is {word} the box."
    if word in {*lexicon().verbs, *lexicon().verbs.values()}:
        said = f"The cup {word} the box."
    assert prove([said], said).verdict == "entailment"


@pytest.mark.parametrize("word", lexicon().shown)
def test_what_is_said_is_read(word):
    for denied in (False, True):
        sentence = say("cup", word, "old box", denied=denied)
        assert read_statement(sentence) == ("cup", word, "old box", denied)


def test_one_law_for_against_and_far_away_from():
    """It is said of either thing alike, in scenes and in captions, or in neither."""
    for word, symmetric in (("against", False), ("far away from", True)):
        assert lexicon().shown[word].symmetric == symmetric
        assert bool(certain_converse(word, drawn=True, fronts=False)) == symmetric
        assert bool(certain_converse(word, drawn=False, fronts=True)) == symmetric


def test_a_relation_that_scenes_cannot_show_is_refused_by_name():
    with pytest.raises(UsageError, match="north of"):
        understand("a cup north of a box")


NEW = """
relations:
  port of:
    says: [on the port side of]
    meaning: left
    frame: both
    grade: a
    rule: as left of
    opposite: starboard of
    converse: {without_fronts: starboard of, replies: starboard of}
    contrasts: [{to: starboard of}]
    box: left
    facts: {loosely: [left], directly: [due_left], pictured: [left]}
    proof: left(A, B)
  starboard of:
    meaning: right
    frame: both
    grade: a
    rule: as right of
    opposite: port of
    converse: {without_fronts: port of, replies: port of}
    box: swap left
    facts: {loosely: [right], directly: [due_right], pictured: [right]}
    proof: right(A, B)
"""


@pytest.fixture
def two_more(tmp_path, monkeypatch):
    file = tmp_path / "more.yaml"
    file.write_text(NEW, encoding="utf-8")
    known = read_lexicon(package_data("lexicon/relations.yaml"), file)
    monkeypatch.setattr(relations, "_shipped", lambda: known)
    return known


def test_a_new_relation_is_one_record(two_more):
    port = "The cup is on the port side of the box."
    scene = scene_of("a cup on the port side of a box")
    assert decide(scene, "cup", "port of", "box", frame="viewer").truth is True
    assert decide(scene, "cup", "starboard of", "box", frame="viewer").truth is False
    contrast = two_more.contrasts[-1]
    assert (contrast.first, contrast.second, contrast.grade) == ("port of", "starboard of", "a")
    assert opposite(port) == "The cup is starboard of the box."
    assert negation(port) == "The cup is not on the port side of the box."
    assert question(port) == "Is the cup on the port side of the box?"
    assert converse(CaptionFact("cup", "port of", "bowl")).relation == "starboard of"
    assert margin("port of", LEFT, RIGHT) > 0 > margin("starboard of", LEFT, RIGHT)
    claim = "The box is starboard of the cup."
    assert set(verdicts(port, claim).values()) == {"entailment"}
    assert prove([port], claim).verdict == "entailment"
    assert reply_words().converse["port of"] == "starboard of"
    item = Item(id="1", form="caption", text=port, choices=("true", "false"))
    assert question_of(item).relation == "on the port side of"


def test_a_new_relation_is_gone_with_its_record(two_more, monkeypatch):
    shipped = read_lexicon(package_data("lexicon/relations.yaml"))
    monkeypatch.setattr(relations, "_shipped", lambda: shipped)
    assert read_statement("The cup is port of the box.") is None
