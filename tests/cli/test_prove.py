"""`gnomon prove` and `gnomon audit --prove`."""

import json

import pytest

pytest.importorskip("z3")

from gnomon.cli.dispatch import main

PATTERNS = """
patterns:
  - id: chain-1
    label: {label}
    class: non-projective
    expressions: [in]
    premises: ["{{X}} {{X:is}} in {{Y}}", "{{Y}} is in {{Z}}", "{{X}} {{X:is}} {{Y}}'s"]
    hypothesis: "{{X}} {{X:is}} in {{Z}}"
    slots: {{X: trinket, Y: medium-container, Z: large-container}}
"""


@pytest.fixture
def patterns(tmp_path):
    def write(label, premise="{X} {X:is} small"):
        text = PATTERNS.format(label=label).replace('"{X} {X:is} {Y}\'s"', f'"{premise}"')
        file = tmp_path / "mine.yaml"
        file.write_text(text, encoding="utf-8")
        return str(file)

    return write


def test_a_proof_says_what_it_takes(capsys):
    said = "The cup is on the table. The dog is asleep. The table is in the kitchen."
    assert main(["prove", "--say", said, "The cup is in the kitchen."]) == 0
    shown = capsys.readouterr().out
    assert "Yes: it follows." in shown
    assert "The cup is on the table | The table is in the kitchen" in shown
    assert "Under the reading 'open plan': Open" in shown


def test_a_proof_as_json_has_the_verdict_of_every_reading(capsys):
    assert (
        main(
            [
                "prove",
                "--say",
                "The dog is near the car.",
                "The dog is behind the car.",
                "--format",
                "json",
            ]
        )
        == 0
    )
    found = json.loads(capsys.readouterr().out)
    assert found["verdict"] == "neutral"
    assert len(found["readings"]) == 8
    assert set(found["could"]) == set(found["need_not"]) == {"dog", "car"}


def test_one_reading_is_asked_for_by_name(capsys):
    say = ["prove", "--say", "Ann has gone into the house.", "Ann is in the house."]
    assert main([*say, "--reading", "passing results"]) == 0
    assert "Open" in capsys.readouterr().out
    assert main([*say, "--reading", "wishful"]) == 2
    assert "reading" in capsys.readouterr().err


def test_a_strange_word_is_named_in_one_sentence(capsys):
    assert main(["prove", "--say", "The cup squints.", "The cup is on the table."]) == 1
    assert "The lexicon does not have 'squints'" in capsys.readouterr().err


def test_the_readings_are_listed_with_a_sentence_each(capsys):
    assert main(["prove", "--readings"]) == 0
    shown = capsys.readouterr().out
    assert "passing results\n    What has happened need not have lasted." in shown


@pytest.mark.parametrize(("ending", "start"), [("png", b"\x89PNG"), ("svg", b"<svg")])
def test_what_is_left_open_is_drawn(tmp_path, ending, start):
    file = tmp_path / f"dog.{ending}"
    say = ["prove", "--say", "The dog is near the car.", "The dog is behind the car."]
    assert main([*say, "--picture", str(file)]) == 0
    assert file.read_bytes().startswith(start)


def test_check_proves_the_labels_of_a_file(patterns, capsys):
    assert (
        main(
            ["audit", patterns("entailment", "{X} {X:is} near {Y}"), "--prove", "--format", "json"]
        )
        == 0
    )
    (record,) = json.loads(capsys.readouterr().out)
    assert record["pattern"] == "chain-1"
    assert (record["label"], record["proved"], record["proof"]) == (
        "entailment",
        "entailment",
        "all readings",
    )
    assert record["needed"] == [1, 2]


def test_a_refuted_label_is_an_error(patterns, capsys):
    assert main(["audit", patterns("neutral", "{X} {X:is} near {Y}"), "--prove"]) == 1
    assert (
        "refuted: 'chain-1': the label is neutral, but what follows is entailment."
        in capsys.readouterr().out
    )


def test_a_pattern_that_is_not_understood_is_not_refuted(patterns, capsys):
    assert main(["audit", patterns("neutral", "{X} zorples {Y}"), "--prove"]) == 0
    shown = capsys.readouterr().out
    assert "not expressible: 'chain-1': " in shown
    assert "1 labels: 1 not expressible; 0 refuted" in shown
