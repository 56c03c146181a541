"""`gnomon audit`: records, exit codes, what is explained, and the page."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from random import Random

import pytest

from gnomon.audit.auditing import CHECKS, allowed, audit, explanations
from gnomon.audit.sets import AuditItem, AuditSet, Compared
from gnomon.audit.sources import plain_item
from gnomon.cli import main
from gnomon.records import Item
from gnomon.registry import entries

FRESH = [
    "calculus",
    "chains",
    "scales",
    "spacenli",
    "viphy-color",
    "viphy-size",
    "viphy-size-subtype",
    "viphy-size-transitive",
    "viphy-spatial",
    "vsr",
    "posrel",
    "posrel-general",
    "spatialqa",
    "views",
]
FIELDS = ["set", "check", "part", "value", "low", "high", "chance", "alarm", "says"]
ROWS = "question,answer,template\n" + "".join(
    f"Is the {'cup' if number % 3 else 'jug'} up on {number}?,{'yes' if number % 3 else 'no'},t{number % 9}\n"
    for number in range(180)
)


def run(capsys, *words):
    code = main(["audit", *words])
    return code, capsys.readouterr().out


def test_the_list_of_fresh_sets_is_complete():
    from gnomon.registry import benchmark

    fresh = {name for name in entries("benchmarks") if "fresh" in benchmark(name).sources}
    assert fresh - set(FRESH) <= {"relativesize"}


@pytest.mark.parametrize("name", FRESH)
def test_no_fresh_set_has_an_alarm_that_is_not_explained(capsys, name):
    code, out = run(capsys, name, "--format", "json")
    records = json.loads(out)
    assert [record["says"] for record in records if record["alarm"]] == []
    assert code == 0
    assert {record["check"] for record in records} == set(CHECKS)
    for record in records:
        assert list(record)[:9] == FIELDS
        assert record["says"]


def test_what_is_explained_is_argued_and_holds_under_a_condition():
    for reason in explanations():
        assert reason.check in CHECKS
        assert len(reason.why.split()) > 15
        assert reason.quiet


def of_things(*, leak: bool) -> AuditSet:
    """Pairs of things by size; with a leak the first thing's name says whether it is larger."""
    draw = Random(5)
    names = [f"thing{number}" for number in range(60)]
    questions = []
    for number in range(1200):
        small, large = sorted(draw.sample(range(60), 2))
        larger = draw.random() < 0.5
        first, second = (large, small) if larger else (small, large)
        mark = (" big" if larger else " little") if leak else ""
        things = names[first] + mark, names[second]
        item = Item(
            id=str(number),
            form="choice",
            text=f"{things[0]} or {things[1]}?",
            choices=("larger", "smaller"),
            gold=("larger" if larger else "smaller",),
        )
        compared = Compared(*things, {"larger": "greater", "smaller": "lesser"})
        questions.append(AuditItem(item, ("", item.text), held_out=things, compared=compared))
    return AuditSet("things", ("context", "text"), questions)


@pytest.mark.parametrize("leak", [False, True])
def test_knowledge_of_things_is_explained_in_any_set_unless_unseen_things_are_told(leak):
    report = audit(of_things(leak=leak), ["partial_input"], explanations())
    finding = next(one for one in report.findings if one.part == "first thing, at random")
    assert finding.value > 0.6
    assert bool(finding.explained) is not leak
    assert finding.alarm is leak


def test_labels_in_rounds_are_explained_and_labels_in_blocks_are_not():
    def rows(golds):
        questions = []
        for number, gold in enumerate(golds):
            text = f"Is {number} up?"
            item = Item(
                id=str(number), form="choice", text=text, choices=("yes", "no"), gold=(gold,)
            )
            questions.append(plain_item(item))
        audited = AuditSet("rows", ("context", "text"), questions)
        report = audit(audited, ["rows"], explanations())
        return next(one for one in report.findings if one.part == "answer before it")

    rounds = rows(["yes", "no"] * 300)
    assert rounds.explained
    assert not rounds.alarm
    assert rows(["yes"] * 300 + ["no"] * 300).alarm


def test_what_a_user_allows_has_no_condition():
    assert not any(reason.quiet or reason.in_rounds for reason in allowed(["rows", "words:a*"]))


def test_an_alarm_is_exit_code_1_and_can_be_allowed(capsys):
    Path("mine.csv").write_text(ROWS)
    code, out = run(capsys, "mine.csv", "--check", "constants", "--check", "words")
    assert code == 1
    assert "ALARM  constants ('yes')" in out
    assert "Always answering 'yes' is right on 66.7 % of 180 items" in out

    code, out = run(capsys, "mine.csv", "--check", "constants", "--allow", "constants:'no'")
    assert code == 1
    code, out = run(capsys, "mine.csv", "--check", "constants", "--allow", "constants")
    assert code == 0
    assert "explained  constants" in out


def test_wrong_usage_is_exit_code_2(capsys):
    Path("mine.csv").write_text(ROWS)
    for words in (
        ["mine.csv", "--check", "luck"],
        ["mine.csv", "--allow", ":x"],
        ["mine.csv", "--claim", "many"],
        ["mine.csv", "--seed", "3"],
        ["scales", "--map", "text=a"],
        ["scalse"],
    ):
        assert main(["audit", *words]) == 2, words
    assert main(["audit", "nowhere.jsonl"]) == 1


def test_counts_are_held_against_a_claim(capsys):
    Path("mine.csv").write_text(ROWS)
    code, out = run(capsys, "mine.csv", "--check", "integrity", "--claim", "181")
    assert code == 1
    assert "There are 180 items; 181 are claimed." in out
    assert run(capsys, "mine.csv", "--check", "integrity", "--claim", "180")[0] == 0


def test_tables_for_papers(capsys):
    Path("mine.csv").write_text(ROWS)
    _, out = run(capsys, "mine.csv", "--format", "markdown")
    assert "| constants | 'yes' | 0.6667 |" in out
    assert (
        "check,part,value,low,high,chance,state,says"
        in run(capsys, "mine.csv", "--format", "csv")[1]
    )


def test_without_the_prover_two_checks_say_what_to_install(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "z3", None)
    rows = [
        {
            "premise": f"The cup is left of the jug. The cup is near the jug. The jug is above the pan{n}.",
            "hypothesis": "The cup is left of the jug.",
            "label": "entailment",
        }
        for n in range(3)
    ]
    Path("a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    _, out = run(capsys, "a.jsonl", "--check", "clash", "--check", "proof", "--check", "integrity")
    assert out.count("pip install 'gnomon[prove]'") == 2


def test_the_page_is_complete_in_itself_and_shows_every_finding(capsys):
    pytest.importorskip("jinja2")
    text = ROWS.replace("Is the cup up on 1?", "<script>alert(1)</script>")
    Path("mine.csv").write_text(text)
    _, out = run(capsys, "mine.csv", "-o", "page/audit.html", "--format", "json")
    page = Path("page/audit.html").read_text()
    records = json.loads(out)
    assert sum(record["alarm"] for record in records) == page.count('<span class="no">Alarm</span>')
    assert page.count("Always answering") == 2  # at the top of the set, and with its check
    assert "<script>alert" not in page
    assert not re.search(r"""(?:src|href)=["'](?:https?:)?//""", page)
    assert "default-src &#39;none&#39;" in page


def test_a_folder_is_no_page(capsys):
    Path("mine.csv").write_text(ROWS)
    Path("out").mkdir()
    assert main(["audit", "mine.csv", "-o", "out"]) == 2


@pytest.mark.parametrize("said", ["", ",gold_is=index1"])
def test_numbers_of_choices_that_count_from_one_are_understood(capsys, said):
    """The last of three choices is number 3: counted from 0 it would be missing."""
    lines = ["question,A,B,C,key"]
    lines += [f"Where is thing {i}?,in box {i},on shelf {i},away {i},{i % 3 + 1}" for i in range(9)]
    Path("quiz.csv").write_text("\n".join(lines))
    words = f"text=question,choices=A+B+C,gold=key{said}"
    assert main(["audit", "quiz.csv", "--map", words, "--check", "integrity"]) == 0
    assert "no alarm" in capsys.readouterr().out


def test_numbers_of_choices_that_count_from_zero_stay_so(capsys):
    lines = ["question,A,B,C,key"]
    lines += [f"Where is thing {i}?,in box {i},on shelf {i},away {i},{i % 4}" for i in range(9)]
    Path("quiz.csv").write_text("\n".join(lines))
    words = "text=question,choices=A+B+C,gold=key"
    assert main(["audit", "quiz.csv", "--map", words, "--check", "integrity"]) == 1
    assert "2 of 9 rows cannot be asked: line 5: the gold '3'" in capsys.readouterr().out


def test_a_slip_in_how_the_answer_is_named_is_told(capsys):
    Path("quiz.csv").write_text("question,A,B,key\nWhere?,here,there,1\n")
    assert main(["audit", "quiz.csv", "--map", "choices=A+B,gold=key,gold_is=one"]) == 2
    assert "index1 (from 1)" in capsys.readouterr().err
