"""The whole way from annotations to a folder: the same bytes however often it was killed."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gnomon import keep
from gnomon.cli import main
from gnomon.look import pipeline
from gnomon.look.captions import NEEDED
from tests.look import samples
from tests.look.samples import as_json

OUTPUTS = ("names", "subtypes", "colour", "size", "elevation", "regions", "troubles")


def bytes_of(folder):
    """Every file that a run writes."""
    found = {name: (folder / f"{name}.jsonl").read_bytes() for name in OUTPUTS}
    return found | {"manifest": (folder / "manifest.json").read_bytes()}


def genome(folder, pictures=40):
    """Captions of many pictures, most of them with a dog."""
    kinds = (
        "a brown dog",
        "the dog's head",
        "a guide dog on the grass",
        "two dogs",
        "a spaniel near a tree",
    )
    content, sizes = [], []
    for number in range(pictures):
        regions = []
        for place, phrase in enumerate(kinds):
            box = (place * 10, number % 200, 50 + place, 60)
            regions.append(samples.description(number * 10 + place, number, phrase, box))
        regions.append(samples.description(number * 10 + 9, number, "a cup", (900, 0, 5, 5)))
        content.append({"id": number, "regions": regions})
        sizes.append({"image_id": number, "width": 400, "height": 300})
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "regions.json").write_bytes(as_json(content))
    (folder / "sizes.json").write_bytes(as_json(sizes))
    return folder / "regions.json", folder / "sizes.json"


@pytest.fixture
def coco(tmp_path):
    file = tmp_path / "instances.json"
    file.write_bytes(as_json(samples.COCO))
    return file


def look(*words):
    return main(["look", *map(str, words), "--quiet"])


def test_captions_become_names_and_subtypes(tmp_path):
    for package in NEEDED:
        pytest.importorskip(package)
    assert look(*genome(tmp_path), "-o", tmp_path / "k") == 0
    lines = (tmp_path / "k" / "names.jsonl").read_text().splitlines()
    counts = {line["what"]: line["counts"][line["what"]] for line in map(json.loads, lines)}
    assert counts == {
        "dog": 120,
        "guide dog": 40,
        "head": 40,
        "spaniel": 40,
        "grass": 40,
        "tree": 40,
    }
    subtypes = [
        json.loads(line) for line in (tmp_path / "k" / "subtypes.jsonl").read_text().splitlines()
    ]
    assert {line["what"]: set(line["counts"]) for line in subtypes} == {
        "dog": {"dog", "guide dog", "spaniel"}
    }
    troubles = (tmp_path / "k" / "troubles.jsonl").read_text().splitlines()
    assert len(troubles) == 40
    assert "outside the picture" in troubles[0]


def test_a_second_run_gives_the_same_bytes_and_asks_nobody(tmp_path, monkeypatch):
    for package in NEEDED:
        pytest.importorskip(package)
    files = genome(tmp_path)
    assert look(*files, "-o", tmp_path / "k") == 0
    first = bytes_of(tmp_path / "k")
    asked = []
    monkeypatch.setattr(pipeline.Tagger, "classes", lambda self, phrases: asked.append(phrases))
    assert look(*files, "-o", tmp_path / "k") == 0
    assert bytes_of(tmp_path / "k") == first
    assert asked == []


def test_another_option_is_not_answered_from_what_was_kept(tmp_path, coco):
    assert look(coco, "-o", tmp_path / "k") == 0
    first = bytes_of(tmp_path / "k")
    assert look(coco, "-o", tmp_path / "k", "--limit", "1") == 0
    limited = bytes_of(tmp_path / "k")
    assert limited["names"] != first["names"]
    assert look(coco, "-o", tmp_path / "k") == 0
    assert bytes_of(tmp_path / "k") == first


def test_changed_annotations_are_not_answered_from_what_was_kept(tmp_path, coco):
    assert look(coco, "-o", tmp_path / "k") == 0
    first = bytes_of(tmp_path / "k")
    coco.write_bytes(coco.read_bytes().replace(b'"dog"', b'"fox"'))
    assert look(coco, "-o", tmp_path / "k") == 0
    assert b"fox" in bytes_of(tmp_path / "k")["names"]
    assert bytes_of(tmp_path / "k") != first


def test_two_runs_do_not_write_to_one_folder_at_once(tmp_path, coco, capsys):
    from gnomon.keep import locked

    with locked(tmp_path / "k" / ".look"):
        assert look(coco, "-o", tmp_path / "k") == 1
    assert "Another process is writing" in capsys.readouterr().err
    assert look(coco, "-o", tmp_path / "k") == 0


def test_what_is_damaged_among_kept_results_is_made_again(tmp_path, coco):
    assert look(coco, "-o", tmp_path / "k") == 0
    first = bytes_of(tmp_path / "k")
    for file in (tmp_path / "k" / ".look").glob("*.kept"):
        file.write_bytes(b"nothing of ours")
    assert look(coco, "-o", tmp_path / "k") == 0
    assert bytes_of(tmp_path / "k") == first


def test_results_that_cannot_be_kept_are_told_with_a_remedy(tmp_path, coco, capsys, monkeypatch):
    def full(self, key, write):
        raise self._unusable(OSError(28, "No space left on device"))

    monkeypatch.setattr(keep.Keep, "put", full)
    assert look(coco, "-o", tmp_path / "k") == 1
    assert "No space left on device" in capsys.readouterr().err


CHUNK = 300  # regions, so that a few pictures are three chunks
# Kills itself with the n-th result that it would keep, before or after keeping it.
KILLER = f"""
import os, signal, sys
from gnomon.cli import main
from gnomon import keep
from gnomon.look import pipeline
pipeline.CHUNK = {CHUNK}
n, after = int(sys.argv[1]), sys.argv[2] == "after"
kept = keep.Keep.write
left = [n]
def dying(self, key, value):
    left[0] -= 1
    if left[0] == 0 and not after:
        os.kill(os.getpid(), signal.SIGKILL)
    kept(self, key, value)
    if left[0] == 0:
        os.kill(os.getpid(), signal.SIGKILL)
keep.Keep.write = dying
sys.exit(main(["look", *sys.argv[3:], "--quiet"]))
"""


@pytest.mark.skipif(os.name == "nt", reason="there are no such signals")
def test_a_run_that_is_killed_at_any_stage_goes_on_to_the_same_bytes(tmp_path, monkeypatch):
    for package in NEEDED:
        pytest.importorskip(package)
    monkeypatch.setattr(pipeline, "CHUNK", CHUNK)
    files = [str(file) for file in genome(tmp_path, pictures=105)]  # three chunks
    assert look(*files, "-o", tmp_path / "whole") == 0
    whole = bytes_of(tmp_path / "whole")
    command = [sys.executable, "-c", KILLER]
    source = str(Path(pipeline.__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": source}
    killed = 0
    for n, moment in ((1, "before"), (1, "after"), (2, "after"), (3, "before")):
        words = [str(n), moment, *files, "-o", str(tmp_path / "k")]
        done = subprocess.run([*command, *words], env=environment, check=False)
        killed += done.returncode == -signal.SIGKILL
    assert killed == 4
    assert look(*files, "-o", tmp_path / "k") == 0
    assert bytes_of(tmp_path / "k") == whole
    assert not list((tmp_path / "k").glob(".*.part"))


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are listed in /proc")
def test_the_process_that_reads_captions_ends_with_the_one_that_asks(tmp_path):
    for package in NEEDED:
        pytest.importorskip(package)
    script = (
        "import sys\nfrom multiprocessing import active_children\n"
        "from gnomon.look.captions import Tagger\n"
        "tagger = Tagger()\ntagger.classes([['cup']])\n"
        "print(active_children()[0].pid, flush=True)\n"
        "sys.stdin.read()\n"
    )
    source = str(Path(pipeline.__file__).parents[2])
    asking = subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": source},
    )
    child = int(asking.stdout.readline())
    assert Path(f"/proc/{child}").exists()
    asking.kill()
    asking.wait()
    asking.stdout.close()
    asking.stdin.close()
    for _ in range(600):
        if not Path(f"/proc/{child}").exists():
            return
        time.sleep(0.1)
    pytest.fail("the process is still there")


def test_of_far_too_many_regions_of_one_picture_the_first_are_used(tmp_path, coco, monkeypatch):
    monkeypatch.setattr(pipeline, "MOST_IN_PICTURE", 1)
    crowded = dict(samples.COCO)
    first = next(each for each in crowded["annotations"] if each.get("bbox"))
    crowded["annotations"] = [{**first, "id": number} for number in range(5)]
    coco.write_bytes(as_json(crowded))
    assert look(coco, "-o", tmp_path / "k") == 0
    [name] = (tmp_path / "k" / "names.jsonl").read_text().splitlines()
    assert list(json.loads(name)["counts"].values()) == [1]
    assert "of its 5 regions the first 1 are used" in (tmp_path / "k/troubles.jsonl").read_text()
