"""`gnomon audit`, as people see it."""

import json

import pytest

from gnomon.cli import main

GOOD = """
patterns:
  - {id: n1, label: entailment, class: non-projective, expressions: [near], premises: "{X} {X:is} near {Y}",
     hypothesis: "{Y} {Y:is} near {X}", slots: {X: landmark, Y: landmark}, sibling: n2}
  - {id: n2, label: neutral, class: non-projective, expressions: [near], premises: "{X} {X:is} near {Y}",
     hypothesis: "{Y} {Y:is} behind {X}", slots: {X: landmark, Y: landmark}, sibling: n1}
"""


@pytest.fixture
def mine(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text(GOOD)
    return file


def test_a_good_file_passes_and_its_tables_are_printed(mine, capsys):
    assert main(["audit", str(mine)]) == 0
    shown = capsys.readouterr().out
    for title in (
        "Patterns",
        "Patterns with each spatial expression",
        "Labels in percent",
        "Coverage",
    ):
        assert f"\n{title}\n" in shown
    assert shown.rstrip().endswith("mine.yaml: 0 errors, 0 warnings.")


def test_a_clash_of_labels_fails(mine, capsys):
    mine.write_text(GOOD.replace("behind {X}", "near {X}"))
    assert main(["audit", str(mine), "--quiet"]) == 1
    shown = capsys.readouterr().out
    assert "mine.yaml:5: error: 'n2':" in shown
    assert "labelled neutral here and entailment there" in shown


def test_warnings_fail_only_when_asked_to(mine):
    mine.write_text(GOOD.replace("sibling: n2", "note: alone"))
    assert main(["audit", str(mine), "--quiet"]) == 0
    assert main(["audit", str(mine), "--quiet", "--strict"]) == 1


def test_a_file_that_cannot_be_read_is_one_sentence_with_its_line(mine, capsys):
    mine.write_text(GOOD.replace("label: neutral", "label: perhaps"))
    assert main(["audit", str(mine)]) == 1
    assert "mine.yaml:5: the label cannot be 'perhaps'." in capsys.readouterr().err


def test_json_is_one_object(mine, capsys):
    assert main(["audit", str(mine), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["errors"], found["warnings"]) == (0, 0)
    assert found["tables"][0]["title"] == "Patterns"


def test_the_vocabulary_lists_classes_and_relations(capsys):
    assert main(["audit", "--vocabulary"]) == 0
    shown = capsys.readouterr().out
    assert "landmark" in shown
    assert "fits-in" in shown


def test_the_authors_format_needs_its_mini_world(tmp_path, capsys):
    (tmp_path / "problems.xml").write_text("<problems/>")
    assert main(["audit", str(tmp_path / "problems.xml")]) == 1
    assert "selection_restriction.yaml" in capsys.readouterr().err
