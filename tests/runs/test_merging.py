"""Shards made into one run: it equals the run that was never divided, or is refused in a sentence."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

import gnomon
from gnomon.errors import RunError
from gnomon.items.source import load
from gnomon.records import Answer, Fingerprint
from gnomon.runs import LOG, MANIFEST, PICTURES, Run, RunLog, merge, merging, survey
from gnomon.runs.manifest import read_manifest, write_manifest

SMALL = {"pairs": 20}
EIGHT = [f"{number}/8" for number in range(1, 9)]


def sharded(folder, shards=EIGHT, model="random", name="scales", **options):
    """Runs of some shards."""
    source = load(name, **SMALL) if name == "scales" else load(name)
    return [gnomon.run(source, model, shard=shard, runs=folder, **options) for shard in shards]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Eight shards and the run that was never divided; nobody writes there."""
    folder = tmp_path_factory.mktemp("made")
    shards = sharded(folder / "shards")
    return shards, gnomon.run(load("scales", **SMALL), "random", runs=folder / "whole")


@pytest.fixture
def shards(made, tmp_path):
    """A copy of the eight shards that may be changed."""
    found = []
    for shard in made[0]:
        target = tmp_path / "runs" / shard.path.name
        shutil.copytree(shard.path, target)
        found.append(Run.open(target))
    return found


def change(run, **fields):
    """The run with another manifest."""
    write_manifest(run.path, msgspec.structs.replace(read_manifest(run.path), **fields))
    return Run.open(run.path)


def rows(run, columns="n, sample, scores, choice, reply, rule, files, tokens, error"):
    """All that the log holds, but for how long answers took."""
    with closing(sqlite3.connect(run.path / LOG)) as db:
        items = db.execute("SELECT * FROM items ORDER BY n").fetchall()
        sql = f"SELECT {columns} FROM answers ORDER BY n, sample"
        return items, db.execute(sql).fetchall()


def facts(run):
    """What the manifest says, but for times and the command."""
    manifest = run.manifest
    return msgspec.structs.replace(
        manifest,
        started=manifest.started.min,
        finished=None,
        command="",
        usage=msgspec.structs.replace(manifest.usage, seconds=0.0),
    )


# --- equal to the whole ----------------------------------------------------------------------


def test_eight_shards_merged_equal_one_run(made, tmp_path, shards):
    _, whole = made
    merged = merge(shards).run
    assert merged.path == shards[0].path.parent / whole.path.name
    assert rows(merged) == rows(whole)
    assert len(rows(merged)[1]) == 128
    assert facts(merged) == facts(whole)
    assert merged.manifest.finished is not None
    by_group = {"by": "gold", "draws": 50}
    mine, theirs = gnomon.score(merged, **by_group), gnomon.score(whole, **by_group)
    unnamed = [msgspec.structs.replace(score, run="") for score in mine]
    assert unnamed == [msgspec.structs.replace(score, run="") for score in theirs]


@pytest.mark.parametrize("model", ["majority", "bag-of-words", "constant:smaller"])
def test_a_model_that_learns_from_the_items_learns_from_those_of_all_shards(model, tmp_path):
    if model == "bag-of-words":
        pytest.importorskip("sklearn")
    whole = gnomon.run(load("scales", **SMALL), model, runs=tmp_path / "whole")
    merged = merge(sharded(tmp_path / "shards", ["1/3", "2/3", "3/3"], model)).run
    assert rows(merged) == rows(whole)


def test_shards_are_put_in_order_whatever_order_they_are_given_in(made, shards):
    assert rows(merge(shards[::-1]).run) == rows(made[1])


def test_permuted_limited_runs_of_whole_groups_merge_too(tmp_path):
    options = {"limit": 30, "permute": 5}
    source = load("chains", stories=12, hops="1-2")
    whole = gnomon.run(source, "random", runs=tmp_path / "whole", **options)
    parts = []
    for shard in ("1/4", "2/4", "3/4", "4/4"):
        parts.append(gnomon.run(source, "random", shard=shard, runs=tmp_path / "parts", **options))
    merged = merge(parts).run
    assert rows(merged) == rows(whole)
    assert facts(merged) == facts(whole)


def test_a_merged_run_goes_on_where_its_shards_stopped(shards, made):
    with closing(sqlite3.connect(shards[2].path / LOG)) as db:
        db.execute("DELETE FROM answers WHERE n > 3")
        db.commit()
    change(shards[2], finished=None)
    merged = merge([Run.open(run.path) for run in shards]).run
    assert merged.manifest.finished is None
    assert merged.manifest.counts.asked == 116
    again = gnomon.run(load("scales", **SMALL), "random", runs=merged.path.parent)
    assert again.path == merged.path
    assert again.manifest.finished is not None
    assert rows(again) == rows(made[1])


def test_several_answers_to_an_item_and_failures_are_kept(shards):
    with RunLog(shards[1].path) as log:
        item = next(shards[1].items())
        log.add_answers([(0, Answer(item=item.id, sample=1, choice=item.choices[0]))])
    with closing(sqlite3.connect(shards[4].path / LOG)) as db:
        db.execute("UPDATE answers SET choice = NULL, error = 'gone' WHERE n = 0")
        db.commit()
    merged = merge(shards).run
    assert len(rows(merged)[1]) == 129
    assert merged.counts().errors == 1
    assert dict(rows(merged, "n, error")[1])[64] == "gone"


def test_pictures_of_all_shards_are_in_the_merged_run(shards):
    for number, shard in enumerate(shards[:2]):
        folder = shard.path / PICTURES
        folder.mkdir()
        (folder / f"{number}.png").write_bytes(b"picture %d" % number)
        (folder / "pictures.jsonl").write_bytes(b'{"n":%d}\n{"torn' % number)
        (folder / "link.png").symlink_to(shard.path / MANIFEST)
    merged = merge(shards).run
    found = {file.name: file.read_bytes() for file in (merged.path / PICTURES).iterdir()}
    assert found == {
        "0.png": b"picture 0",
        "1.png": b"picture 1",
        "pictures.jsonl": b'{"n":0}\n{"n":1}\n',
    }


def test_the_command_of_the_merged_run_asks_for_the_whole(shards):
    change(shards[0], command="gnomon run scales -m random --shard 1/8 --quiet")
    merged = merge([Run.open(run.path) for run in shards]).run
    assert merged.manifest.command == "gnomon run scales -m random --quiet"


# --- refused, one by one -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"benchmark": "posrel@fresh"}, "the benchmark: scales@fresh and posrel@fresh"),
        ({"options": {"seed": 5}}, "options of the benchmark: .*seed 0 and 5"),
        ({"limit": 7}, "the limit: none and 7"),
        ({"permute": 1}, r"--permute\): none and 1"),
        ({"blind": True}, r"--blind\): false and true"),
        ({"model": "majority"}, "the model: random and majority"),
        (
            {"model_description": {"model_seed": 0, "prompt": {"name": "chat"}}},
            'says of itself: prompt none and {"name":"chat"}',
        ),
        ({"model_files": {"weights": "abc"}}, "files of the model: weights none and abc"),
        ({"scale": "probability"}, "the scale of scores: none and probability"),
        ({"versions": {"gnomon": "9.9"}}, r"versions: gnomon .* and 9\.9"),
        ({"whole_sha256": "abc"}, "items of the whole run: .* abc"),
        ({"shard": "4/7"}, "the number of shards: 8 and 7"),
        ({"shard_of": "x", "model_options": {"shots": 2}}, "model options: shots none and 2"),
    ],
)
def test_runs_that_differ_are_not_merged(shards, fields, told):
    changed = change(shards[3], **fields)
    with pytest.raises(RunError, match=told) as caught:
        merge([*shards[:3], changed, *shards[4:]])
    assert str(shards[0].path) in caught.value.message
    assert str(changed.path) in caught.value.message
    assert caught.value.hint
    assert len(survey(shards[0].path.parent).runs) == 8, "nothing was written"


def test_really_different_runs_are_not_merged(tmp_path, shards):
    others = sharded(tmp_path / "other", ["8/8"], gnomon.model("random", model_seed=1))
    with pytest.raises(RunError, match="model_seed 0 and 1"):
        merge([*shards[:7], *others])


def test_a_shard_that_is_there_twice_is_refused(shards, tmp_path):
    shutil.copytree(shards[2].path, tmp_path / "copy")
    with pytest.raises(RunError, match="are both shard 3/8") as caught:
        merge([*shards, Run.open(tmp_path / "copy")])
    assert str(tmp_path / "copy") in caught.value.message


@pytest.mark.parametrize(
    ("kept", "told"),
    [
        ([1, 2, 3, 4, 5, 6, 8], "Of 8 shards, shard 7 is missing"),
        ([2, 5, 6], "Of 8 shards, shards 1,3-4,7-8 are missing"),
    ],
)
def test_a_missing_shard_is_named(shards, kept, told):
    with pytest.raises(RunError, match=told) as caught:
        merge([shards[number - 1] for number in kept])
    assert "--incomplete" in caught.value.hint


def test_a_million_missing_shards_are_told_at_once(shards):
    far = change(shards[0], shard="1/999999999")
    with pytest.raises(RunError, match="shards 2-999999999 are missing"):
        merge([far])


def test_an_incomplete_set_is_merged_if_said_so_and_says_what_it_holds(shards):
    merged = merge([shards[0], shards[1], shards[4]], incomplete=True).run
    assert merged.manifest.shard == "1-2,5/8"
    assert merged.manifest.whole_items == 128
    assert merged.manifest.counts.items == 48
    assert merged.path.name.endswith("--shards-1-2,5-of-8")
    with pytest.raises(RunError, match=r"itself made of the shards 1-2,5/8"):
        merge([merged, *shards[5:]])


def test_a_whole_run_is_no_shard(made, shards):
    with pytest.raises(RunError, match="is a whole run, not a shard"):
        merge([*shards[:7], made[1]])


def test_nothing_is_merged_into_nothing():
    with pytest.raises(RunError, match="nothing to merge"):
        merge([])


def test_a_run_that_is_there_already_is_left_alone(shards, tmp_path):
    target = tmp_path / "mine"
    target.mkdir()
    (target / "letter.txt").write_text("keep me")
    with pytest.raises(RunError, match="is there already"):
        merge(shards, target)
    assert (target / "letter.txt").read_text() == "keep me"


def test_a_merge_that_was_killed_after_its_last_step_is_done(shards):
    merged = merge(shards)
    again = merge(shards)
    assert (again.run.path, again.shards, again.before) == (merged.run.path, 8, True)
    from_folder = merge([*shards, merged.run])
    assert from_folder.before, "the folder of the shards holds it now"


def test_shards_that_have_more_answers_by_now_are_not_merged_already(shards):
    merged = merge(shards).run
    with sqlite3.connect(merged.path / LOG) as db:
        db.execute("DELETE FROM answers WHERE n = 3")
    with pytest.raises(RunError, match="is there already"):
        merge(shards)


@pytest.mark.parametrize("output", [".", "../here"])
def test_the_folder_you_are_in_is_no_place_for_a_run(shards, tmp_path, monkeypatch, output):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(RunError, match="the folder you are in"):
        merge(shards, Path(output))


def test_a_shard_that_is_being_asked_is_not_merged(shards):
    with RunLog(shards[6].path), pytest.raises(RunError, match="Another process is at work"):
        merge(shards)


def test_a_shard_that_has_lost_items_is_noticed(shards):
    with closing(sqlite3.connect(shards[5].path / LOG)) as db:
        db.execute("DELETE FROM items WHERE n = 15")
        db.execute("DELETE FROM answers WHERE n = 15")
        db.commit()
    with pytest.raises(RunError, match="has lost items: they are not those"):
        merge(shards)
    assert not list(shards[0].path.parent.glob(".*")), "nothing is left behind"
    assert len(survey(shards[0].path.parent).runs) == 8


def test_a_recovered_shard_that_has_lost_items_is_noticed(shards):
    """Its digest is that of the items it still has."""
    with closing(sqlite3.connect(shards[5].path / LOG)) as db:
        db.execute("DELETE FROM items WHERE n = 15")
        db.execute("DELETE FROM answers WHERE n = 15")
        db.commit()
    digest = Fingerprint()
    for item, _ in shards[5].rows():
        digest.add(item)
    changed = change(shards[5], items_sha256=digest.hexdigest())
    with pytest.raises(RunError, match="hold 127 items, but the run has 128"):
        merge([*shards[:5], changed, *shards[6:]])


def test_a_shard_that_has_lost_its_last_items_is_refused_even_in_an_incomplete_set(shards):
    with closing(sqlite3.connect(shards[5].path / LOG)) as db:
        db.execute("DELETE FROM items WHERE n = 15")
        db.execute("DELETE FROM answers WHERE n = 15")
        db.commit()
    with pytest.raises(RunError, match="has lost items") as caught:
        merge(shards[4:6], incomplete=True)
    assert str(shards[5].path) in caught.value.message


def test_a_shard_with_a_gap_is_refused_even_in_an_incomplete_set(shards):
    with closing(sqlite3.connect(shards[5].path / LOG)) as db:
        db.execute("DELETE FROM items WHERE n = 9")
        db.commit()
    with pytest.raises(RunError, match="has lost items, the first of them number 10"):
        merge(shards[4:6], incomplete=True)


@pytest.mark.parametrize(
    "fields",
    [{"shard": "9/8"}, {"shard": "x"}, {"shard_of": "../../elsewhere"}, {"shard_of": ""}],
)
def test_a_manifest_that_makes_no_sense_is_refused(shards, fields):
    changed = change(shards[0], **fields)
    with pytest.raises(RunError, match="which cannot be"):
        merge([changed, *shards[1:]])
    assert len(survey(changed.path.parent).runs) == 8


def test_a_command_that_is_none_does_no_harm(shards):
    change(shards[0], command="gnomon run 'scales --shard 1/8")
    merged = merge([Run.open(run.path) for run in shards]).run
    assert merged.manifest.command == "gnomon run 'scales --shard 1/8"


# --- stopped amid its work --------------------------------------------------------------------


class KilledError(BaseException):
    """As if the process were killed."""


@pytest.mark.parametrize(
    "step", ["_copy_items", "_copy_answers", "_copy_pictures", "_put_in_place"]
)
def test_a_merge_that_was_stopped_leaves_no_run_and_is_done_by_the_same_command(
    made, shards, monkeypatch, step
):
    begin = getattr(merging, step)

    def killed(*arguments):
        if step != "_put_in_place":
            begin(*arguments)
        raise KilledError

    folder = shards[0].path.parent
    with monkeypatch.context() as patch:
        patch.setattr(merging, step, killed)
        patch.setattr(merging.shutil, "rmtree", lambda *_, **__: None)  # it had no time to tidy up
        with pytest.raises(KilledError):
            merge(shards)
    assert len(survey(folder).runs) == 8, "what is left is no run"
    merged = merge(shards).run
    assert rows(merged) == rows(made[1])
    assert sorted(path.name for path in folder.iterdir() if path.name.startswith(".")) == []


def test_memory_does_not_grow_with_the_run(shards, monkeypatch):
    sizes = []
    add_items, add_answers = RunLog.add_items, RunLog.add_answers

    def watched_items(self, start, items):
        sizes.append(len(items))
        add_items(self, start, items)

    def watched_answers(self, numbered):
        sizes.append(len(numbered))
        add_answers(self, numbered)

    monkeypatch.setattr(RunLog, "add_items", watched_items)
    monkeypatch.setattr(RunLog, "add_answers", watched_answers)
    monkeypatch.setattr(merging, "STEP", 4)
    told = []
    merge(shards, watch=lambda *counts: told.append(counts))
    assert told[0] == (4, 256)
    assert told[-1] == (256, 256)
    assert sum(sizes) == 256
    assert max(sizes) == 4


def test_shards_with_one_count_of_tokens_are_merged_with_those_of_today(shards, made):
    for shard in shards[:4]:
        with closing(sqlite3.connect(shard.path / LOG)) as db:
            for column in ("tokens_read", "tokens_written"):
                db.execute(f"ALTER TABLE answers DROP COLUMN {column}")
    found = merge(shards)
    assert rows(found.run) == rows(made[1])
    assert len(list(found.run.answers())) == found.run.counts().items > 0
