"""A larger limit extends a run; a smaller one asks no more of it than it says."""

import json

import pytest

import gnomon
from gnomon.errors import DataError, RunError
from gnomon.items.limits import spread
from gnomon.items.source import load
from gnomon.records import Answer
from gnomon.registry import model
from gnomon.runs import Run, RunLog
from gnomon.runs.identity import run_folder

SCALES = load("scales", pairs=8)  # 64 items


class Counting:
    """Always picks the first choice, and knows what it was asked."""

    scale = "none"
    spec = "counting"
    batch = 4

    def __init__(self):
        self.asked = []

    def describe(self):
        return {}

    def answer(self, items):
        self.asked += [item.id for item in items]
        return [Answer(item=item.id, choice=item.choices[0]) for item in items]


def ids_of(run):
    return [item.id for item in run.items()]


def test_a_larger_limit_asks_only_what_is_new(tmp_path):
    first, second = Counting(), Counting()
    small = gnomon.run(SCALES, first, limit=30, runs=tmp_path)
    large = gnomon.run(SCALES, second, limit=50, runs=tmp_path)
    assert large.path == small.path
    assert len(second.asked) == 20
    assert not set(first.asked) & set(second.asked)
    assert (large.manifest.limit, large.manifest.counts.answered) == (50, 50)
    assert large.manifest.finished


def test_a_run_that_grew_is_the_run_that_was_made_at_once(tmp_path):
    gnomon.run(SCALES, "random", limit=30, runs=tmp_path / "a")
    grown = gnomon.run(SCALES, "random", limit=50, runs=tmp_path / "a")
    whole = gnomon.run(SCALES, "random", limit=50, runs=tmp_path / "b")
    assert grown.manifest.items_sha256 == whole.manifest.items_sha256
    assert ids_of(grown) == ids_of(whole)
    choices = [[answer.choice for _, answer in run.rows()] for run in (grown, whole)]
    assert choices[0] == choices[1]


def test_a_run_without_a_limit_extends_one_with(tmp_path):
    gnomon.run(SCALES, "random", limit=10, runs=tmp_path)
    whole = gnomon.run(SCALES, "random", runs=tmp_path)
    assert whole.manifest.limit is None
    assert ids_of(whole) == [item.id for item in SCALES.items()]
    assert whole.manifest.counts.answered == whole.manifest.counts.items


def test_a_smaller_limit_leaves_a_finished_run_as_it_is(tmp_path):
    large = gnomon.run(SCALES, Counting(), limit=50, runs=tmp_path)
    idle = Counting()
    again = gnomon.run(SCALES, idle, limit=30, runs=tmp_path)
    assert idle.asked == []
    assert (again.manifest.limit, again.manifest.counts.answered) == (50, 50)
    assert again.manifest.items_sha256 == large.manifest.items_sha256


class Stopping(Counting):
    """Is interrupted after its first batch."""

    def answer(self, items):
        if self.asked:
            raise KeyboardInterrupt
        return super().answer(items)


def test_a_smaller_limit_asks_only_its_own_items_of_a_stopped_run(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        gnomon.run(SCALES, Stopping(), limit=50, runs=tmp_path)
    counting = Counting()
    watched = []
    run = gnomon.run(SCALES, counting, limit=30, runs=tmp_path, watch=watched.append)
    wanted = {item.id for item in SCALES.limited(30).items()}
    assert set(counting.asked) <= wanted
    asked = {item.id for item, answer in run.rows() if answer is not None}
    assert wanted <= asked
    assert run.manifest.finished is None
    assert (run.manifest.limit, run.manifest.counts.items) == (50, 50)
    assert watched[-1].done == watched[-1].total


@pytest.mark.parametrize("at", ["before the log", "after the log"])
def test_a_growth_that_was_cut_off_is_done_again(at, tmp_path, monkeypatch):
    gnomon.run(SCALES, Counting(), limit=30, runs=tmp_path)
    real = RunLog.grow

    def cut(self, items, **how):
        if at == "after the log":
            real(self, items, **how)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(RunLog, "grow", cut)
        with pytest.raises(KeyboardInterrupt):
            gnomon.run(SCALES, Counting(), limit=50, runs=tmp_path)
    counting = Counting()
    run = gnomon.run(SCALES, counting, limit=50, runs=tmp_path)
    assert len(counting.asked) == 20
    whole = gnomon.run(SCALES, Counting(), limit=50, runs=tmp_path / "whole")
    assert run.manifest.items_sha256 == whole.manifest.items_sha256
    assert not run.manifest.growing


def test_a_model_that_learns_from_the_items_is_asked_all_of_them_again(tmp_path):
    gnomon.run(SCALES, "majority", limit=30, runs=tmp_path / "a")
    grown = gnomon.run(SCALES, "majority", limit=50, runs=tmp_path / "a")
    whole = gnomon.run(SCALES, "majority", limit=50, runs=tmp_path / "b")
    choices = [[answer.choice for _, answer in run.rows()] for run in (grown, whole)]
    assert choices[0] == choices[1]


class Looking(Counting):
    """Looks at the items before it is asked, and learns nothing from them."""

    learns = False

    def prepare(self, items, benchmark):
        self.seen = len(list(items))


def test_a_model_that_only_looks_at_the_items_keeps_its_answers(tmp_path):
    gnomon.run(SCALES, Looking(), limit=30, runs=tmp_path)
    looking = Looking()
    gnomon.run(SCALES, looking, limit=50, runs=tmp_path)
    assert (looking.seen, len(looking.asked)) == (50, 20)


def test_a_larger_limit_than_there_are_items_opens_no_model(tmp_path):
    many = len(list(SCALES.items()))
    gnomon.run(SCALES, Counting(), limit=many, runs=tmp_path)
    idle = Counting()
    run = gnomon.run(SCALES, idle, limit=many + 100, runs=tmp_path)
    assert idle.asked == []
    assert run.manifest.finished


def test_a_run_of_an_earlier_version_is_not_continued_with_other_items(tmp_path):
    run = gnomon.run(SCALES, "random", limit=30, runs=tmp_path)
    older = run_folder(SCALES.limited(30), model("random"), tmp_path, limit=30)
    run.path.rename(older)
    with pytest.raises(RunError, match="earlier Gnomon, whose --limit chose other items"):
        gnomon.run(SCALES, "random", limit=30, runs=tmp_path)
    assert gnomon.score(Run.open(older))[0].n == 30
    new = gnomon.run(SCALES, "random", limit=30, runs=tmp_path, restart=True)
    assert new.path != older
    assert older.is_dir()


def test_parts_of_a_run_do_not_grow(tmp_path):
    gnomon.run(SCALES, "random", limit=30, shard="1/2", runs=tmp_path)
    with pytest.raises(RunError, match="other settings: limit"):
        gnomon.run(SCALES, "random", limit=50, shard="1/2", runs=tmp_path)


def test_runs_with_different_limits_are_compared_on_what_both_were_asked(tmp_path):
    one = gnomon.run(SCALES, "random", limit=30, runs=tmp_path)
    two = gnomon.run(SCALES, "constant:yes", limit=50, runs=tmp_path)
    assert [pair.n for pair in gnomon.compare(one, two)] == [30]


@pytest.mark.parametrize("before", [None, 10])
def test_what_another_process_did_meanwhile_counts(before, tmp_path, monkeypatch):
    if before:
        gnomon.run(SCALES, Counting(), limit=before, runs=tmp_path)
    opened = RunLog.__init__

    def open_late(self, path):
        monkeypatch.setattr(RunLog, "__init__", opened)
        gnomon.run(SCALES, Counting(), limit=30, runs=tmp_path)
        opened(self, path)

    monkeypatch.setattr(RunLog, "__init__", open_late)
    idle = Counting()
    run = gnomon.run(SCALES, idle, limit=30, runs=tmp_path)
    assert idle.asked == []
    assert run.manifest.counts.answered == 30


def questions(tmp_path, ids):
    """A file of items with these ids."""
    file = tmp_path / "mine.jsonl"
    with file.open("w") as out:
        for name in ids:
            row = {"id": name, "form": "choice", "text": f"{name}?", "choices": ["a", "b"]}
            out.write(json.dumps({**row, "gold": ["a"]}) + "\n")
    return file


def test_a_growth_that_fails_leaves_the_run_as_it_was(tmp_path):
    taken = {f"q{number}" for number in spread(20, 5)}
    twice = min(taken)
    last = next(number for number in range(19, 0, -1) if f"q{number}" not in taken)
    ids = [f"q{number}" for number in range(20)]
    ids[last] = twice
    file = questions(tmp_path, ids)
    before = gnomon.run(str(file), "random", limit=5, runs=tmp_path / "runs")
    with pytest.raises(DataError, match=f"two items have the id '{twice}'"):
        gnomon.run(str(file), "random", runs=tmp_path / "runs")
    after = gnomon.run(str(file), "random", limit=5, runs=tmp_path / "runs")
    assert (after.manifest.limit, after.manifest.growing) == (5, False)
    assert after.manifest.finished == before.manifest.finished
    assert ids_of(after) == ids_of(before)


def test_a_growth_that_was_cut_off_does_not_go_on_with_changed_items(tmp_path, monkeypatch):
    file = questions(tmp_path, [f"q{number}" for number in range(20)])
    gnomon.run(str(file), "random", limit=5, runs=tmp_path / "runs")

    write = RunLog.write_manifest

    def cut(self, manifest):
        write(self, manifest)
        if manifest.growing:  # the items do not come
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(RunLog, "write_manifest", cut)
        with pytest.raises(KeyboardInterrupt):
            gnomon.run(str(file), "random", limit=9, runs=tmp_path / "runs")
    file.write_text(file.read_text().replace("?", "!"))
    with pytest.raises(RunError, match="is not what it was when"):
        gnomon.run(str(file), "random", limit=9, runs=tmp_path / "runs")


def test_after_a_growth_that_was_cut_off_a_smaller_limit_asks_its_own_items(tmp_path, monkeypatch):
    gnomon.run(SCALES, Counting(), limit=10, runs=tmp_path)
    real = RunLog.grow

    def cut(self, items, **how):
        real(self, items, **how)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(RunLog, "grow", cut)
        with pytest.raises(KeyboardInterrupt):
            gnomon.run(SCALES, Counting(), limit=50, runs=tmp_path)
    counting = Counting()
    gnomon.run(SCALES, counting, limit=30, runs=tmp_path)
    assert len(counting.asked) == 20
