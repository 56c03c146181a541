"""What answers took: kept with each, summed for the run, and absent in logs of before."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime

import pytest

from gnomon.records import Answer, Fingerprint, Item
from gnomon.runs import Manifest, Run, RunLog, recover
from gnomon.runs.database import add_counts
from gnomon.runs.manifest import LOG

OF_BEFORE = """
CREATE TABLE items (n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, record TEXT NOT NULL);
CREATE TABLE answers (
  n INTEGER NOT NULL, sample INTEGER NOT NULL DEFAULT 0,
  scores TEXT, choice TEXT, reply TEXT, rule TEXT, files TEXT, seconds REAL, tokens INTEGER,
  error TEXT, PRIMARY KEY (n, sample)
) WITHOUT ROWID;
"""
ITEMS = [
    Item(id=str(n), form="choice", text=f"Is {n} odd?", choices=("no", "yes"), gold=("no",))
    for n in range(3)
]


def manifest(**fields):
    digest = Fingerprint()
    for item in ITEMS:
        digest.add(item)
    return Manifest(
        id="run",
        benchmark="toy@fresh",
        model="random",
        started=datetime.now(UTC),
        items_sha256=digest.hexdigest(),
        **fields,
    )


@pytest.fixture
def old_run(tmp_path):
    """A run with a log that has one count of tokens, as format 2 had at first."""
    folder = tmp_path / "old"
    with RunLog(folder) as log:
        log.write_manifest(manifest())
    with sqlite3.connect(folder / LOG) as db:
        db.executescript(OF_BEFORE)
        for n, item in enumerate(ITEMS):
            record = (
                f'{{"id":"{item.id}","form":"choice","text":"{item.text}",'
                '"choices":["no","yes"],"gold":["no"]}'
            )
            db.execute("INSERT INTO items VALUES (?, ?, ?)", (n, item.id, record))
        db.execute("INSERT INTO answers (n, choice, seconds, tokens) VALUES (0, 'no', 0.5, 21)")
    db.close()
    return Run.open(folder)


def test_a_log_of_before_is_read(old_run):
    (item, answer), *rest = old_run.rows()
    assert (item.id, answer.choice, answer.tokens) == ("0", "no", 21)
    assert answer.tokens_read is None
    assert answer.tokens_written is None
    assert [found for _, found in rest] == [None, None]
    assert old_run.usage().seconds == 0.5
    assert old_run.usage().tokens_read is None
    assert old_run.usage().in_words() == ""


def test_a_run_of_before_can_be_gone_on_with(old_run):
    with RunLog(old_run.path) as log:
        log.add_answers([(1, Answer(item="1", choice="yes", tokens_read=7, tokens_written=2))])
    found = [answer for _, answer in old_run.answers()]
    assert [(each.tokens, each.tokens_read, each.tokens_written) for each in found] == [
        (21, None, None),
        (None, 7, 2),
    ]


class Stopping(sqlite3.Connection):
    """A connection whose process ends before the last column is there."""

    def execute(self, sql, *rest):
        if "tokens_written INTEGER" in sql:
            raise KeyboardInterrupt
        return super().execute(sql, *rest)


def test_a_log_of_before_has_both_columns_or_none_when_adding_is_stopped(old_run):
    stopped = sqlite3.connect(old_run.path / LOG, isolation_level=None, factory=Stopping)
    with pytest.raises(KeyboardInterrupt):
        add_counts(stopped)
    stopped.close()
    assert [answer.tokens for _, answer in old_run.answers()] == [21]
    with RunLog(old_run.path) as log:
        log.add_answers([(1, Answer(item="1", choice="yes", tokens_read=7, tokens_written=2))])
    assert old_run.usage().tokens_written == 2


def test_a_damaged_run_of_before_is_recovered(old_run, tmp_path):
    recovered = recover(old_run, tmp_path / "new")
    assert (recovered.items, recovered.answers) == (3, 1)
    assert next(recovered.run.answers())[1].tokens == 21


def test_usage_is_the_sum_over_answers_at_the_prices_given(tmp_path):
    prices = {"price_input": 2.0, "price_output": 10.0}
    with RunLog(tmp_path / "run") as log:
        log.begin_anew(manifest())
        log.add_items(0, ITEMS)
        answers = [
            Answer(item=str(n), choice="no", seconds=0.25, tokens_read=100, tokens_written=10)
            for n in range(3)
        ]
        log.add_answers(list(enumerate(answers)))
        used = log.usage(prices)
        without = log.usage({})
    assert (used.tokens_read, used.tokens_written, used.seconds) == (300, 30, 0.75)
    assert used.cost == pytest.approx((300 * 2 + 30 * 10) / 1e6)
    assert without.cost is None
