"""A log from a stranger: whatever SQLite could be made to do is refused before it is done."""

import os
import sqlite3
from contextlib import closing

import pytest

import gnomon
from gnomon.errors import DataError
from gnomon.runs import LOG, MANIFEST, Run, RunLog, recover, survey
from gnomon.runs import database as opening

ANSWERS = (
    "CREATE TABLE answers (n, sample, scores, choice, reply, rule, files, seconds, tokens, error)"
)
WITHOUT_END = (
    "CREATE VIEW items AS WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) "
    "SELECT n, 'x' AS id, '{}' AS record FROM c"
)
HUGE = "CREATE TABLE items (n INTEGER PRIMARY KEY, id, record AS (hex(zeroblob(400000000))))"
ACTING = "CREATE VIRTUAL TABLE items USING fts5(n, id, record)"


@pytest.fixture
def run():
    return gnomon.run("scales", "random", limit=20)


def replace_log(run, *statements):
    for name in (LOG, f"{LOG}-wal", f"{LOG}-shm"):
        (run.path / name).unlink(missing_ok=True)
    with closing(sqlite3.connect(run.path / LOG)) as db:
        for statement in statements:
            db.execute(statement)
        db.commit()


@pytest.mark.parametrize(
    ("items", "reason"),
    [
        (WITHOUT_END, "items is not a plain table"),
        (WITHOUT_END.replace("VIEW items", "VIEW Items"), "items is not a plain table"),
        (HUGE, "items has a computed column"),
        (ACTING, "items is not a plain table"),
    ],
)
def test_a_log_that_computes_is_refused_by_readers_and_writers(run, items, reason):
    replace_log(run, items, ANSWERS)
    with pytest.raises(DataError, match=reason):
        run.counts()
    with pytest.raises(DataError, match=reason):
        list(run.rows())
    with RunLog(run.path) as log, pytest.raises(DataError, match=reason):
        log.counts()
    with pytest.raises(DataError, match="no item can be read"):
        recover(run, run.path.with_name("new"))
    assert not run.path.with_name("new").exists()


def test_a_definition_kept_as_bytes_hides_no_computed_column(run):
    replace_log(
        run,
        "PRAGMA encoding = 'UTF-16le'",
        "CREATE TABLE items (n INTEGER PRIMARY KEY, id, record AS (upper(id)))",
        ANSWERS,
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_master SET sql = CAST(sql AS BLOB) WHERE name = 'items'",
    )
    with pytest.raises(DataError, match="items has a computed column"):
        run.counts()


def test_a_row_too_large_to_hold_is_refused(run, monkeypatch):
    monkeypatch.setattr(opening, "LONGEST", 1000)
    with closing(sqlite3.connect(run.path / LOG)) as db:
        db.execute("UPDATE items SET record = hex(zeroblob(1000)) WHERE n = 7")
        db.commit()
    with pytest.raises(DataError, match="too big"):
        list(run.items())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_in_place_of_a_log_is_refused_and_nobody_waits(run):
    (run.path / LOG).unlink()
    os.mkfifo(run.path / LOG)
    with pytest.raises(DataError, match="a pipe or a device"):
        run.counts()
    with RunLog(run.path) as log, pytest.raises(DataError, match="a pipe or a device"):
        log.counts()
    assert survey(run.path.parent).runs


def test_a_manifest_is_never_written_through_a_link(run, tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("precious")
    (run.path / "run.part").symlink_to(precious)
    with RunLog(run.path) as log:
        log.write_manifest(run.manifest)
    assert precious.read_text() == "precious"
    assert not (run.path / MANIFEST).is_symlink()
    assert Run.open(run.path).manifest == run.manifest
