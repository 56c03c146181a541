"""The run folder: what is logged stays, what cannot be logged is said in one sentence."""

import os
import shutil
import sqlite3
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gnomon
from gnomon.errors import CopyWarning, DataError, RunError
from gnomon.records import Answer, Image, Item
from gnomon.runs import LOG, Counts, Manifest, Run, RunLog, open_runs, remove, runs_in, survey
from gnomon.runs.manifest import write_manifest
from gnomon.runs.reading import decode_scores, encode_scores


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
    assert log.counts().asked == 0


def test_full_disk_is_one_sentence_and_keeps_what_was_logged(log):
    log.add_answers([(0, Answer(item="i0", choice="yes"))])
    pages = log._db.execute("PRAGMA page_count").fetchone()[0]
    log._db.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(RunError, match="is full"):
        log.add_answers([(1, Answer(item="i1", reply="x" * 100_000))])
    assert log.counts().asked == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_folder_without_permission_is_one_sentence(tmp_path):
    (tmp_path / "r").mkdir(mode=0o500)
    with pytest.raises((RunError, PermissionError)):
        RunLog(tmp_path / "r")


def test_log_of_something_else_is_named(tmp_path):
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / LOG).write_bytes(b"not a database, but long enough to be taken for one" * 40)
    with (
        pytest.raises(DataError, match=r"damaged(.|\n)*gnomon runs recover"),
        RunLog(tmp_path / "r") as log,
    ):
        log.pending(-1, 1)


def test_second_writer_is_refused_and_may_come_after(log):
    with pytest.raises(RunError, match="Another process"):
        RunLog(log.path)
    log.close()
    RunLog(log.path).close()


def test_runs_are_listed_oldest_first(tmp_path):
    for name, day in (("late", 3), ("early", 1)):
        log = RunLog(tmp_path / name)
        log.write_manifest(
            Manifest(
                id=name,
                benchmark="b",
                model="m",
                items_sha256="ab",
                started=datetime(2026, 1, day, tzinfo=UTC),
            )
        )
        log.close()
    (tmp_path / "something else").mkdir()
    assert [run.manifest.id for run in runs_in(tmp_path)] == ["early", "late"]
    assert runs_in(tmp_path / "nowhere") == []


def test_manifest_of_wrong_types_is_named(tmp_path):
    (tmp_path / "run.json").write_text('{"id": 3}')
    with pytest.raises(DataError, match="not a manifest"):
        Run.open(tmp_path)


def test_a_run_that_never_got_its_items_is_listed_nowhere(log, tmp_path):
    assert runs_in(tmp_path) == []
    log.write_manifest(manifest(items_sha256="ab"))
    assert [run.path for run in runs_in(tmp_path)] == [log.path]


def test_a_damaged_manifest_does_not_hide_the_other_runs(log, tmp_path):
    log.write_manifest(manifest(items_sha256="ab"))
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "run.json").write_text("{")
    found = survey(tmp_path)
    assert [run.path for run in found.runs] == [log.path]
    assert list(found.damaged) == [tmp_path / "broken"]
    with pytest.raises(DataError, match="not a manifest"):
        open_runs([tmp_path])


def test_a_copied_run_counts_once_and_it_is_said(log, tmp_path):
    log.write_manifest(manifest(items_sha256="ab", counts=Counts(items=5, answered=1)))
    log.close()
    shutil.copytree(log.path, tmp_path / "r-backup")
    with pytest.warns(CopyWarning, match="r-backup is a copy of .*r, which counts once"):
        (run,) = open_runs([tmp_path])
    assert run.path == log.path


def test_of_a_run_and_its_copies_the_one_with_the_most_answers_counts(log, tmp_path):
    log.write_manifest(manifest(items_sha256="ab", counts=Counts(items=5, answered=1)))
    log.close()
    more = shutil.copytree(log.path, tmp_path / "z")
    longer = manifest(items_sha256="ab", counts=Counts(items=5, answered=3))
    write_manifest(more, longer)
    with pytest.warns(CopyWarning, match="r is a copy of"):
        (run,) = open_runs([tmp_path])
    assert run.path == more


def test_two_runs_of_one_name_that_began_apart_are_two(log, tmp_path):
    log.write_manifest(manifest(items_sha256="ab"))
    log.close()
    other = shutil.copytree(log.path, tmp_path / "z")
    later = manifest(items_sha256="ab")
    later.started = datetime(2026, 1, 3, tzinfo=UTC)
    write_manifest(other, later)
    assert len(open_runs([tmp_path])) == 2


@pytest.mark.parametrize("text", ['{"id": "\\x85"}', "[" * 100_000, "3", '{"format": "new"}'])
def test_whatever_stands_in_a_manifest_is_a_sentence(tmp_path, text):
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(DataError, match="not a manifest"):
        Run.open(tmp_path)


def test_times_with_and_without_a_zone_can_be_put_in_order(tmp_path):
    for name, zone in (("b", ""), ("a", "+02:00")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").write_text(
            f'{{"id": "{name}", "benchmark": "b", "model": "m", "items_sha256": "ab", '
            f'"started": "2026-01-02T12:00:00{zone}"}}'
        )
    assert [run.path.name for run in runs_in(tmp_path)] == ["a", "b"]


def test_a_picture_and_every_field_of_an_answer_come_back(tmp_path):
    picture = Image(path="a.jpg", sha256="ab", width=640, height=480)
    asked = Item(id="i0", form="scene", text="a cat on a mat", images=(picture,))
    said = Answer(
        item="i0",
        sample=0,
        reply="(B)",
        rule="letter",
        files=("files/0.png",),
        seconds=0.25,
        tokens=12,
    )
    with RunLog(tmp_path / "r") as log:
        log.write_manifest(manifest())
        log.add_items(0, [asked])
        log.add_answers([(0, said)])
    assert list(Run.open(tmp_path / "r").answers()) == [(asked, said)]


def damage(log, sql):
    log.close()
    with sqlite3.connect(log.path / LOG) as db:
        db.execute(sql)


READERS = {
    "items": lambda run: list(run.items()),
    "rows": lambda run: list(run.rows()),
    "one": lambda run: run.row("i1"),
}


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
@pytest.mark.parametrize("record", ["{", '{"id": 3}', "[]"])
def test_a_damaged_record_is_named_with_what_to_do(log, read, record):
    damage(log, f"UPDATE items SET record = '{record}' WHERE n = 1")
    with pytest.raises(DataError, match=r"damaged(.|\n)*gnomon runs recover"):
        read(Run.open(log.path))


def test_damaged_scores_are_named(log):
    log.add_answers([(1, Answer(item="i1", choice="yes"))])
    damage(log, "UPDATE answers SET scores = '[0.5' WHERE n = 1")
    with pytest.raises(DataError, match="damaged"):
        list(Run.open(log.path).rows())


def test_a_writer_names_a_damaged_record_too(log):
    log.add_answers([(1, Answer(item="i1", choice="yes"))])
    damage(log, "UPDATE items SET record = '{' WHERE n = 1")
    with RunLog(log.path) as again, pytest.raises(DataError, match="damaged"):
        again.right()
    damage(again, "UPDATE items SET record = '{' WHERE n = 2")
    with RunLog(log.path) as again, pytest.raises(DataError, match="damaged"):
        again.pending(-1, 10)


@pytest.mark.parametrize("end", [b"items", b"answers"])
def test_a_writer_names_a_schema_that_is_no_text(log, end):
    """SQLite quotes the damaged text in its message, which Python then cannot decode."""
    log.close()
    file = log.path / LOG
    whole = file.read_bytes()
    start = b"CREATE TABLE " + end
    assert start in whole
    file.write_bytes(whole.replace(start, b"CREATE \xff\xfe\xfdLE " + end))
    with RunLog(log.path) as again:
        for use in (again.counts, again.right, lambda: again.pending(-1, 1)):
            with pytest.raises(DataError, match="the log is damaged"):
                use()


def test_a_finished_log_is_read_where_nothing_may_be_written(log, monkeypatch):
    log.close()
    monkeypatch.setattr(os, "access", lambda *_: False)  # as on a read-only disk
    before = sorted(path.name for path in log.path.iterdir())
    assert len(list(Run.open(log.path).items())) == 5
    assert sorted(path.name for path in log.path.iterdir()) == before


def old_run(folder):
    """A run as format 1 wrote it."""
    folder.mkdir()
    (folder / "run.json").write_text(
        '{"format": 1, "id": "r", "benchmark": "vsr@published", "model": "m", '
        '"items_sha256": "ab", "started": "2026-01-02T12:00:00Z", '
        '"counts": {"items": 2, "answered": 1}}'
    )
    record = (
        '{"id":"i%d","form":"caption","text":"?","choices":["no","yes"],"gold":["yes"],'
        '"images":["a.jpg"]}'
    )
    with sqlite3.connect(folder / LOG) as db:
        db.execute("CREATE TABLE items (n INTEGER PRIMARY KEY, id TEXT, record TEXT)")
        db.execute(
            "CREATE TABLE answers "
            "(n INTEGER PRIMARY KEY, scores TEXT, choice TEXT, reply TEXT, error TEXT)"
        )
        db.executemany(
            "INSERT INTO items VALUES (?, ?, ?)", [(n, f"i{n}", record % n) for n in (0, 1)]
        )
        db.execute("INSERT INTO answers VALUES (0, '[0.25,0.75]', 'yes', 'Yes!', NULL)")
    return folder


def test_a_run_of_format_1_can_still_be_read(tmp_path):
    run = Run.open(old_run(tmp_path / "r"))
    assert run.counts() == Counts(items=2, answered=1)
    (item, answer), (_, none) = run.rows()
    assert item.images == (Image(path="a.jpg"),)
    assert answer == Answer(item="i0", choice="yes", scores=(0.25, 0.75), reply="Yes!")
    assert none is None
    assert [asked.choice for asked in run.asked()] == ["yes"]
    assert [score.n for score in gnomon.score(run, measures="accuracy")] == [1]


@pytest.mark.parametrize("record", ["[]", "5", '"text"', '{"images": 5}', '{"images": "abc"}'])
def test_a_record_of_format_1_that_is_no_item_is_named(tmp_path, record):
    folder = old_run(tmp_path / "r")
    with sqlite3.connect(folder / LOG) as db:
        db.execute("UPDATE items SET record = ? WHERE n = 1", (record,))
    with pytest.raises(DataError, match="the log is damaged"):
        list(Run.open(folder).items())


def test_a_removed_run_is_gone_unless_it_is_in_use(log):
    run = Run.open(log.path)
    with pytest.raises(RunError, match="at work"):
        remove(run)
    assert log.path.exists()
    log.close()
    remove(run)
    assert not log.path.exists()


def test_a_manifest_that_is_not_utf8_is_a_sentence(tmp_path):
    (tmp_path / "run.json").write_bytes(b'{"id": "\xff"}')
    with pytest.raises(DataError, match="not a manifest"):
        Run.open(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_in_place_of_the_log_is_refused_and_nobody_waits(log):
    log.close()
    (log.path / LOG).unlink()
    os.mkfifo(log.path / LOG)
    with pytest.raises(DataError, match="a pipe or a device, not a file"):
        list(Run.open(log.path).rows())
    with (
        RunLog(log.path) as again,
        pytest.raises(DataError, match="a pipe or a device, not a file"),
    ):
        again.counts()


def test_what_waits_to_be_durable_is_seen_by_its_writer_alone_until_the_next_commit(log):
    known = manifest()
    log.add_answers([(0, Answer(item="i0", choice="no"))], durable=False)
    assert log.run(known).counts().asked == 1
    assert Run(log.path, known).counts().asked == 0
    known.growing = True
    log.announced = known
    assert not Run.open(log.path).manifest.growing
    log.add_items(5, [item(5)])
    assert Run(log.path, known).counts().asked == 1
    assert Run.open(log.path).manifest.growing
