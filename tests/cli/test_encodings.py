"""Output that is not UTF-8, and names that are not: a sentence or an answer, never a traceback."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

BAD = b"caf\xe9"  # Latin-1, and no UTF-8


def gnomon(*words, encoding="utf-8", cwd=None):
    """What the command prints as bytes: standard output, then standard error, and its code."""
    settings = {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    command = [os.fsencode(sys.executable), b"-m", b"gnomon", *map(os.fsencode, words)]
    return subprocess.run(command, capture_output=True, env=os.environ | settings, cwd=cwd)


@pytest.fixture(scope="module")
def scored(tmp_path_factory):
    folder = tmp_path_factory.mktemp("encodings")
    assert gnomon("run", "scales", "-m", "random", "--limit", "20", cwd=folder).returncode == 0
    return folder


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "latin-1"])
@pytest.mark.parametrize("words", [["score", "runs"], ["show", "scales"], ["table", "runs"]])
def test_what_an_encoding_lacks_is_printed_as_an_escape(words, encoding, scored):
    done = gnomon(*words, encoding=encoding, cwd=scored)
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False)
    assert b"\\u" in done.stdout
    done.stdout.decode(encoding)


@pytest.fixture
def bad(tmp_path):
    folder = Path(os.fsdecode(os.path.join(os.fsencode(tmp_path), BAD)))
    try:
        folder.mkdir()
    except OSError:  # a file system that takes no such name cannot show the fault either
        return tmp_path
    return folder


ITEM = '{"id": "1", "text": "Is it?", "choices": ["yes", "no"], "gold": ["yes"]}\n'


def test_items_in_a_file_whose_name_is_not_utf8_are_a_sentence_or_a_run(tmp_path, bad):
    file = Path(os.fsdecode(os.path.join(os.fsencode(tmp_path), BAD + b".jsonl")))
    for path in (file, bad / "items.jsonl"):
        path.write_text(ITEM, encoding="utf-8")
        for words in (["run", path, "-m", "random"], ["audit", path], ["show", path]):
            done = gnomon(*words, cwd=tmp_path)
            assert b"Traceback" not in done.stderr, words
            if done.returncode:
                assert b"not UTF-8" in done.stderr


def test_several_runs_name_the_fault_too(tmp_path, bad):
    (bad / "items.jsonl").write_text(ITEM, encoding="utf-8")
    done = gnomon(
        "run", bad / "items.jsonl", "scales", "-m", "random", "--limit", "4", cwd=tmp_path
    )
    assert b"Traceback" not in done.stderr
    assert b"UnicodeEncodeError" not in done.stderr


def test_a_folder_of_runs_whose_name_is_not_utf8_is_a_sentence_or_works(tmp_path, bad):
    words = ["run", "scales", "-m", "random", "--limit", "4", "--runs", bad]
    for each in (words, ["score", bad], ["runs", "list", "--runs", bad], ["report", bad]):
        done = gnomon(*each, cwd=tmp_path)
        assert b"Traceback" not in done.stderr, each
