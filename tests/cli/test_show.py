"""`gnomon show`: items before tables, no empty table, figures that a program can read, and what
another seed renews."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest

from gnomon.cli import main
from gnomon.models.prompts.library import load_prompt


def told(capsys, *arguments: str) -> tuple[int, str, str]:
    code = main(["show", *arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_items_come_before_the_tables_and_no_table_is_empty(capsys):
    code, out, _ = told(capsys, "spacenli", "-n", "2", "--set", "per_group=1")
    assert code == 0
    assert out.index("✓") < out.index("Right answers")
    assert out.count("✓") == 2
    assert "Problems made by two patterns" not in out, "there are none"


def test_what_another_seed_would_make_again_is_said(capsys):
    _, out, _ = told(capsys, "viphy-color", "-n", "0", "--seed", "3")
    first = out.splitlines()[0]
    assert "Seed 4 shares" in first
    assert 40 < float(first.split("shares ")[1].split(" %")[0]) < 85
    _, out, _ = told(capsys, "scales", "-n", "0")
    assert "Seed 1 shares 1.1 % of the questions." in out


@pytest.mark.parametrize("format", ["csv", "latex"])
def test_what_is_for_programs_has_no_sentences_around_it(capsys, format: str):
    _, out, _ = told(capsys, "posrel", "--format", format)
    assert "posrel@fresh" not in out
    assert "[MASK]" not in out
    assert "She is" not in out


def test_shares_are_numbers_for_programs_and_percentages_for_people(capsys):
    _, out, _ = told(capsys, "posrel", "--format", "csv")
    table = list(csv.DictReader(io.StringIO(out.split("\n\n")[0])))
    assert [float(row["share"]) for row in table] == [0.25] * 4
    _, out, _ = told(capsys, "posrel", "--format", "json", "-n", "1")
    found = json.loads(out)
    assert found["tables"][0]["rows"][0] == ["cloze", "above", 60, 0.25]
    assert len(found["sample"]) == 1
    _, out, _ = told(capsys, "posrel")
    assert "25.0 %" in out


@pytest.mark.parametrize("name", ["spacenli", "posrel", "scales", "spatialqa"])
def test_no_share_is_above_100_percent(capsys, name: str):
    _, out, _ = told(
        capsys, name, "-n", "0", *(["--set", "per_group=1"] if name == "spacenli" else [])
    )
    shares = [float(number) for number in re.findall(r"([\d.,]+) %", out)]
    assert shares
    assert max(shares) <= 100


def test_fewer_than_no_items_are_refused(capsys):
    code, _, err = told(capsys, "scales", "-n", "-1")
    assert code == 2
    assert "must be 0 or more, not -1" in err


@pytest.mark.filterwarnings("default::gnomon.errors.MissingFileWarning")
def test_a_rebuilt_published_set_says_so(capsys, tmp_path: Path):
    rows = [
        {"text": f"A man {verb} the car. ", "label": label, "obj_a": "man", "obj_b": "car"}
        for verb, label in (("drives", 0), ("washes", 3))
    ]
    (tmp_path / "posrel.json").write_text("".join(json.dumps(row) + "\n" for row in rows))
    code, _, err = told(capsys, "posrel-general@published", "--data", str(tmp_path))
    assert code == 0
    assert "it is rebuilt from their scenes" in err


def test_a_model_shows_what_it_would_read_and_is_not_asked(capsys, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")  # where nobody is
    assert main(["show", "scales", "-m", "openai:none", "-n", "2", "--set", "form=choice"]) == 0
    out = capsys.readouterr().out
    assert out.count("  user:") == 2
    assert "Answer with one of: yes, no." in out
    assert "reply_tokens: 64" in out


def test_prompts_are_shown_as_json_with_drawn_examples(capsys):
    words = ["show", "scales", "-m", "openai:none", "-n", "1", "--shots", "3", "--format", "json"]
    assert main(words) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["benchmark"], shown["model"]) == ("scales@fresh", "openai:none")
    (prompt,) = shown["prompts"]
    roles = [message["role"] for message in prompt["preview"]["messages"]]
    assert roles == ["system", *["user", "assistant"] * 3, "user"]


def test_a_model_that_reads_nothing_has_no_prompt_to_show(capsys):
    assert main(["show", "scales", "-m", "random"]) == 2
    assert "random reads no prompt" in capsys.readouterr().err


def test_prompts_are_no_table(capsys):
    assert main(["show", "scales", "-m", "openai:none", "--format", "csv"]) == 2
    assert "Leave out --format, or give json." in capsys.readouterr().err


def test_special_and_scored_tokens_are_marked():
    from gnomon.cli.show import prompt_in_words
    from gnomon.records import Continuation, Item, Preview

    item = Item(id="1", form="choice", text="Is it?", choices=("no", "yes"), gold=("yes",))
    scored = [
        Continuation(choice="no", text=" no", tokens=(" no",), ids=(5,)),
        Continuation(choice="yes", text=" yes", tokens=(" y", "es"), ids=(6, 7)),
    ]
    shown = Preview(text="<s>Is it?\n", scored=tuple(scored), tokens=4, special=("<s>",), images=1)
    assert prompt_in_words(item, shown).splitlines() == [
        "[1]  choice, 4 tokens",
        "  with a picture",
        "  │ ⟦<s>⟧Is it?⏎",
        "    no   ␣no  (1 token)",
        "  ✓ yes  ␣y·es  (2 tokens)",
    ]


def test_the_prompts_are_listed(capsys):
    assert main(["list", "prompts", "--format", "json"]) == 0
    listed = {prompt["name"]: prompt for prompt in json.loads(capsys.readouterr().out)}
    assert listed["fewshot"]["shots"] == 3
    assert listed["plain"]["wordings"] == 4
    assert listed["viphy"]["forms"] == ["cloze"]
    assert main(["list", "prompts"]) == 0
    assert "zero-shot, for models that continue text" in capsys.readouterr().out


def test_a_prompt_is_printed_as_a_file_of_ones_own_may_have_it(capsys):
    assert main(["list", "prompts", "multiple-choice"]) == 0
    Path("mine.yaml").write_text(capsys.readouterr().out)
    mine, shipped = load_prompt("mine.yaml"), load_prompt("multiple-choice")
    assert mine.forms == shipped.forms
    assert main(["list", "prompts", "multiple-choice", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["summary"] == shipped.summary


def test_the_nearest_prompt_is_named(capsys):
    assert main(["show", "scales", "-m", "openai:none", "--prompt", "fewshto"]) == 2
    assert "Did you mean fewshot?" in capsys.readouterr().err


def test_no_format_prints_what_steers_a_terminal(capsys):
    text = "\x9b2J\u202e?"
    row = {"id": "1", "form": "choice", "text": text, "choices": ["yes", "no"], "gold": ["yes"]}
    Path("items.jsonl").write_text(json.dumps(row) + "\n")
    for format in ("table", "json", "csv", "markdown", "latex"):
        code, out, _ = told(capsys, "items.jsonl", "--format", format)
        assert code == 0
        assert not set("\x9b\u202e") & set(out), format
        if format == "json":
            assert json.loads(out)["sample"][0]["text"] == text
