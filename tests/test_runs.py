"""The run folder: what is logged stays, what cannot be logged is said in one sentence."""

import os
import sqlite3
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.errors import DataError, RunError
from gnomon.records import Answer, Item
from gnomon.runs import LOG, Counts, Manifest, Run, RunLog, decode_scores, encode_scores, runs_in


def item(n):
    return Item(id=f"i{n}", form="choice", text="?", choices=("no", "yes"), gold=("yes",))


def manifest(name="r", **more):
    return Manifest(
        id=name, benchmark="b@fresh", model="m", started=datetime(2026, 1, 2, tzinfo=UTC), **more
    )


@pytest.fixture
def log(tmp_path):
    log = RunLog(tmp_path / "r")
    log.write_manifest(manifest())
    log.add_items(0, [item(n) for n in range(5)])
    yield log
    log.close()


@given(
    st.one_of(st.none(), st.lists(st.floats(width=64, allow_infinity=False), max_size=5).map(tuple))
)
def test_scores_come_back_as_they_were(scores):
    again = decode_scores(encode_scores(scores))
    assert repr(again) == repr(scores)


def test_rows_join_items_with_answers_in_order(log):
    log.add_answers([(3, Answer(item="i3", choice="yes", scores=(0.25, 0.75), reply="Yes!"))])
    rows = list(Run.open(log.path).rows())
    assert [i.id for i, _ in rows] == ["i0", "i1", "i2", "i3", "i4"]
    assert rows[3][1] == Answer(item="i3", choice="yes", scores=(0.25, 0.75), reply="Yes!")
    assert rows[0][1] is None


def test_a_logged_answer_is_never_overwritten_but_a_failure_is(log):
    log.add_answers([(0, Answer(item="i0", choice="yes")), (1, Answer(item="i1", error="gone"))])
    log.add_answers([(0, Answer(item="i0", choice="no")), (1, Answer(item="i1", choice="no"))])
    answers = [answer for _, answer in Run.open(log.path).rows()]
    assert (answers[0].choice, answers[1].choice, answers[1].error) == ("yes", "no", None)


def test_counts_tell_answered_unread_and_failed_apart(log):
    log.add_answers(
        [
            (0, Answer(item="i0", choice="yes")),
            (1, Answer(item="i1", reply="hm")),
            (2, Answer(item="i2", error="gone")),
        ]
    )
    assert Run.open(log.path).counts() == Counts(items=5, answered=1, unread=1, errors=1)
    assert log.right() == 1


def test_pending_passes_over_what_is_answered(log):
    log.add_answers([(1, Answer(item="i1", choice="no")), (2, Answer(item="i2", error="gone"))])
    assert [n for n, _ in log.pending(-1, 10)] == [0, 3, 4]
    assert [n for n, _ in log.pending(-1, 10, retry_errors=True)] == [0, 2, 3, 4]
    assert [n for n, _ in log.pending(0, 1)] == [3]


def test_a_batch_is_logged_whole_or_not_at_all(log):
    broken = (1, Answer(item="i1", choice=b"\xff"))  # type: ignore[arg-type]
    log._db.execute(
        "CREATE TRIGGER no_two BEFORE INSERT ON answers WHEN NEW.n = 1 BEGIN SELECT RAISE(ABORT, 'no'); END"
    )
    with pytest.raises(sqlite3.IntegrityError):
        log.add_answers([(0, Answer(item="i0", choice="yes")), broken])
    assert log.asked() == 0


def test_full_disk_is_one_sentence_and_keeps_what_was_logged(log):
    log.add_answers([(0, Answer(item="i0", choice="yes"))])
    pages = log._db.execute("PRAGMA page_count").fetchone()[0]
    log._db.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(RunError, match="is full"):
        log.add_answers([(1, Answer(item="i1", reply="x" * 100_000))])
    assert log.asked() == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_folder_without_permission_is_one_sentence(tmp_path):
    (tmp_path / "r").mkdir(mode=0o500)
    with pytest.raises((RunError, PermissionError)):
        RunLog(tmp_path / "r")


def test_log_of_something_else_is_named(tmp_path):
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / LOG).write_bytes(b"not a database, but long enough to be taken for one" * 40)
    with pytest.raises(RunError, match="cannot be written"):
        RunLog(tmp_path / "r")


def test_second_writer_is_refused_and_may_come_after(log):
    with pytest.raises(RunError, match="Another process"):
        RunLog(log.path)
    log.close()
    RunLog(log.path).close()


def test_runs_are_listed_oldest_first(tmp_path):
    for name, day in (("late", 3), ("early", 1)):
        log = RunLog(tmp_path / name)
        log.write_manifest(
            Manifest(id=name, benchmark="b", model="m", started=datetime(2026, 1, day, tzinfo=UTC))
        )
        log.close()
    (tmp_path / "something else").mkdir()
    assert [run.manifest.id for run in runs_in(tmp_path)] == ["early", "late"]
    assert runs_in(tmp_path / "nowhere") == []


def test_manifest_of_wrong_types_is_named(tmp_path):
    (tmp_path / "run.json").write_text('{"id": 3}')
    with pytest.raises(DataError, match="not a manifest"):
        Run.open(tmp_path)
