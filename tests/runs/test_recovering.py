"""A damaged log: every row that can be read is saved, and the damaged file stays as it is."""

import json
import sqlite3
from contextlib import closing, suppress
from hashlib import sha256
from random import Random

import pytest

import gnomon
from gnomon.errors import DataError, GnomonError, RunError
from gnomon.runs import LOG, Run, RunLog, recover


@pytest.fixture
def run(tmp_path):
    """A finished run with more than one page of everything."""
    return gnomon.run("scales", "random", limit=600, runs=tmp_path / "runs")


def digest(run):
    return sha256((run.path / LOG).read_bytes()).hexdigest()


def overwrite(run, *pages):
    """Fill pages of the log with letters; the first page is number 0."""
    with (run.path / LOG).open("r+b") as file:
        for page in pages:
            file.seek(4096 * page)
            file.write(b"x" * 4096)


def answers(run):
    return {item.id: answer for item, answer in run.rows() if answer is not None}


def test_a_sound_run_is_copied_whole(run, tmp_path):
    found = recover(run, tmp_path / "new")
    assert (found.items, found.answers, found.lost_items, found.lost_answers) == (600, 600, 0, 0)
    assert answers(found.run) == answers(run)
    assert found.run.manifest.items_sha256 == run.manifest.items_sha256
    assert found.run.manifest.finished == run.manifest.finished


def test_a_record_that_is_no_item_is_lost_alone(run, tmp_path):
    with closing(sqlite3.connect(run.path / LOG)) as db:
        db.execute("UPDATE items SET record = '{' WHERE n = 7")
        db.commit()
    with pytest.raises(DataError, match="gnomon runs recover"):
        list(run.items())
    found = recover(run, tmp_path / "new")
    assert (found.items, found.answers, found.lost_items, found.lost_answers) == (599, 599, 1, 1)
    assert found.run.manifest.finished is None
    assert len(list(found.run.rows())) == 599


def test_an_answer_that_makes_no_sense_is_lost_alone_and_can_be_asked_again(run, tmp_path):
    with closing(sqlite3.connect(run.path / LOG)) as db:
        db.execute("UPDATE answers SET scores = '{' WHERE n = 7")
        db.commit()
    found = recover(run, tmp_path / "new" / run.path.name)
    assert (found.lost_items, found.lost_answers) == (0, 1)
    again = gnomon.run("scales", "random", limit=600, runs=tmp_path / "new")
    assert again.path == found.run.path
    assert again.manifest.counts.answered == 600


def page_of_items(run):
    """The page that holds the record of an item in the middle."""
    with closing(sqlite3.connect(run.path / LOG)) as db:
        (record,) = db.execute("SELECT record FROM items WHERE n = 300").fetchone()
    return (run.path / LOG).read_bytes().index(record.encode()) // 4096


def test_a_damaged_page_costs_its_own_rows(run, tmp_path):
    overwrite(run, page_of_items(run))
    before = digest(run)
    found = recover(run, tmp_path / "new")
    assert 0 < found.lost_items < 100
    assert found.items + found.lost_items == 600
    for _, answer in found.run.answers():
        assert answer.choice
    assert digest(run) == before, "the damaged log is never written to"


def test_any_damage_is_either_survived_or_one_sentence(run, tmp_path):
    draw = Random(0)
    sound = (run.path / LOG).read_bytes()
    saved = 0
    for number in range(20):
        raw = bytearray(sound)
        for _ in range(draw.choice((1, 20, 400))):
            raw[draw.randrange(len(raw))] = draw.randrange(256)
        (run.path / LOG).write_bytes(raw)
        new = tmp_path / f"new-{number}"
        with suppress(GnomonError):  # any other exception fails the test
            found = recover(run, new)
            assert len(list(found.run.rows())) == found.items > 0
            saved += 1
            continue
        assert not new.exists()
    assert saved > 5


def test_a_run_of_the_old_format_is_recovered_in_the_new_one(run, tmp_path):
    expected = {name: answer.choice for name, answer in answers(run).items()}
    with closing(sqlite3.connect(run.path / LOG)) as db:
        db.executescript(
            "CREATE TABLE old AS SELECT n, scores, choice, reply, error FROM answers;"
            "DROP TABLE answers; ALTER TABLE old RENAME TO answers;"
        )
    manifest = json.loads((run.path / "run.json").read_text())
    (run.path / "run.json").write_text(json.dumps({**manifest, "format": 1}))
    found = recover(Run.open(run.path), tmp_path / "new")
    assert found.run.manifest.format == 2
    assert {name: answer.choice for name, answer in answers(found.run).items()} == expected


def test_what_is_not_a_database_at_all_is_one_sentence(run, tmp_path):
    overwrite(run, *range(8))
    with pytest.raises(DataError, match="no item can be read"):
        recover(run, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_an_output_that_is_there_is_refused(run, tmp_path):
    (tmp_path / "new").mkdir()
    with pytest.raises(RunError, match="is there already"):
        recover(run, tmp_path / "new")


def test_a_run_in_use_is_refused(run, tmp_path):
    with RunLog(run.path), pytest.raises(RunError, match="Another process"):
        recover(Run.open(run.path), tmp_path / "new")


def test_an_output_inside_the_damaged_run_is_refused(run):
    before = sorted(run.path.iterdir())
    with pytest.raises(RunError, match="in the damaged run itself"):
        recover(run, run.path / "deeper" / "new")
    assert sorted(run.path.iterdir()) == before
