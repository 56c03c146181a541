"""Replies that no rule could read are read by a second model, which is audited and corrected for."""

from __future__ import annotations

import json

import numpy as np
import pytest
from msgspec.structs import replace

import gnomon
from gnomon.cli.dispatch import main
from gnomon.errors import RunError
from gnomon.measures.correction import SecondReading, Trial, corrected, corrected_readings
from gnomon.measures.entries import entries_of, second_reading
from gnomon.measures.remarks import remarks
from gnomon.measures.scoring import score_entries
from gnomon.models.prompts.library import load_prompt
from gnomon.models.reading.replies import as_answer
from gnomon.records import Answer
from gnomon.runs.running import run as carry_out
from gnomon.runs.secondreader import NONE, RULE, SecondReader

ODD = {"larger": "A whopper.", "smaller": "Itty-bitty."}
ITEMS = 60


class Talker:
    """Is right three times out of four, and puts every third answer so that no rule reads it."""

    spec, scale = "talker", "none"

    def __init__(self):
        self.asked = 0

    def describe(self):
        return {"by": "hand"}

    def answer(self, items):
        return [self._said(item) for item in items]

    def _said(self, item):
        self.asked += 1
        (right,) = item.gold
        (wrong,) = set(item.choices) - {right}
        choice = wrong if self.asked % 4 == 0 else right
        reply = ODD[choice] if self.asked % 3 == 0 else f"It is {choice}."
        return as_answer(item, reply, load_prompt("chat"))


class Reader:
    """Knows the odd words, and mistakes every `slip`-th reply."""

    spec, options, deciding = "reader", {}, {}

    def __init__(self, slip=0):
        self.slip, self.asked, self.closed = slip, 0, False

    def open(self):
        return self

    def close(self):
        self.closed = True

    def answer(self, items):
        (item,) = items
        assert item.choices[-1] == NONE
        self.asked += 1
        said = item.text.split("The reply was: ")[1].split("\n")[0]
        known = {**{word: word for word in item.choices}, "whopper": "larger", "Itty": "smaller"}
        choice = next((known[word] for word in known if word in said), NONE)
        if self.slip and self.asked % self.slip == 0:
            (choice,) = {"larger", "smaller"} - {choice}
        return [Answer(item=item.id, choice=choice)]


@pytest.fixture
def source():
    return gnomon.load("viphy-size@fresh").limited(ITEMS)


@pytest.fixture
def talked(source, tmp_path):
    return gnomon.run(source, Talker(), runs=tmp_path, progress=False)


def read(talked, source, reader):
    return carry_out(source, SecondReader(talked, reader), runs=talked.path.parent)


def test_only_unread_replies_are_read_again_and_each_is_marked(talked, source):
    assert talked.manifest.counts.unread == ITEMS // 3
    reader = Reader()
    again = read(talked, source, reader)
    assert again.manifest.counts.unread == 0
    assert reader.closed
    before = dict(talked.numbered_answers())
    for number, answer in again.numbered_answers():
        if before[number].choice is None:
            assert answer.rule == RULE
            assert answer.choice is not None
        else:
            assert answer == before[number]


def test_a_reader_that_never_errs_agrees_with_the_rules_and_corrects_nothing(talked, source):
    again = read(talked, source, Reader())
    reading = second_reading(again)
    tried = reading.trial.shown + reading.trial.other
    assert (reading.agreed, tried, len(reading.ids)) == (40, 40, 20)
    (entry,) = entries_of([again])
    scores = {each.score.measure: each.score for each in score_entries([entry])}
    plain, right = scores["accuracy"], scores["corrected_accuracy"]
    assert right.value == pytest.approx(plain.value)
    assert right.high - right.low > 0.9 * (plain.high - plain.low)


def test_the_mistakes_of_a_reader_widen_the_interval_and_are_told(talked, source):
    again = read(talked, source, Reader(slip=5))
    (entry,) = entries_of([again])
    assert entry.reading.agreed < 40
    told = " ".join(remarks(entry, ()))
    assert "20 replies were read by the second reader" in told
    assert "without its mistakes" in told
    scores = {each.score.measure: each.score for each in score_entries([entry])}
    right, exact = scores["corrected_accuracy"], scores["accuracy"]
    assert right.low < 0.75 < right.high
    assert right.high - right.low > exact.high - exact.low


def test_what_is_corrected_is_the_part_that_the_reader_read(talked, source):
    again = read(talked, source, Reader(slip=5))
    (entry,) = entries_of([again])
    table, reading = entry.table, entry.reading
    part = table.where(np.isin(table.ids, list(reading.ids)))
    rest = table.where(~np.isin(table.ids, list(reading.ids)))
    said = float(part.right.mean())
    expected = (20 * corrected(said, 20, reading.trial).value + 40 * rest.right.mean()) / 60
    assert corrected_readings(table, reading).value == pytest.approx(expected)


def test_a_reader_that_tells_nothing_corrects_nothing(talked, source):
    (entry,) = entries_of([read(talked, source, Reader())])
    blind = SecondReading(entry.reading.ids, Trial(20, 10, 20, 10, 40), 20)
    assert (
        corrected_readings(entry.table, blind).value != corrected_readings(entry.table, blind).value
    )
    assert "next to nothing" in " ".join(remarks(entry._replace(reading=blind), ()))


def test_a_reply_that_gives_none_of_the_choices_stays_unread(talked, source):
    class Shy(Reader):
        def answer(self, items):
            return [replace(super().answer(items)[0], choice=NONE)]

    assert read(talked, source, Shy()).manifest.counts.unread == ITEMS // 3


def test_a_run_without_replies_is_refused(source, tmp_path):
    silent = gnomon.run(source, "random", runs=tmp_path, progress=False)
    with pytest.raises(RunError, match="no reply that was read"):
        SecondReader(silent, Reader())


def test_the_command_reads_runs_again_and_the_report_tells_the_agreement(talked, capsys, tmp_path):
    assert main(["run", str(talked.path), "--read-with", "random"]) == 0
    shown = capsys.readouterr().out
    assert "read with random" in shown.replace("_", " ")
    assert "read by the second reader" in shown
    page = tmp_path / "page.html"
    main(["report", str(talked.path.parent), "--output", str(page)])
    assert "read by the second reader" in page.read_text(encoding="utf-8")


def test_scores_logs_and_python_take_a_second_reader_too(talked, source, capsys, tmp_path):
    scores = gnomon.score(talked, read_with="random")
    assert {score.measure for score in scores} >= {"accuracy", "corrected_accuracy"}
    again = gnomon.run(source, Talker(), runs=tmp_path / "two", progress=False, read_with="random")
    assert again.manifest.model_description["read_with"]["model"] == "random"
    assert main(["score", str(talked.path), "--read-with", "random"]) == 0
    assert "corrected_accuracy" in capsys.readouterr().out
    log = tmp_path / "predictions.jsonl"
    lines = []
    for number in range(30):
        reply = "A whopper." if number % 3 == 0 else "It is larger."
        row = {"question": f"Is thing {number} larger?", "choices": ["larger", "smaller"]}
        lines.append(json.dumps({**row, "answer": "larger", "prediction": reply}))
    log.write_text("\n".join(lines), encoding="utf-8")
    imported = ["runs", "import", str(log), "--runs", str(tmp_path / "logs")]
    assert main([*imported, "--read-with", "random"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert "10 unread" in first
    assert "10 unread" not in second
    assert main(["score", "--answers", str(log), "--benchmark", "scales", "--read-with", "x"]) == 2
    assert "answers:" in capsys.readouterr().err
