"""A file that crashes llama.cpp ends the child process that tries it, never the command."""

from __future__ import annotations

import random
import struct
import subprocess
import sys

import pytest

from gnomon.errors import ModelError
from gnomon.models.llamacpp import trial
from gnomon.models.llamacpp.gguf import gguf
from gnomon.models.llamacpp.trial import check_loads
from gnomon.records import Item

pytest.importorskip("xllamacpp")
pytestmark = pytest.mark.usefixtures("own_cache")
ITEM = Item(
    id="1", form="cloze", text="ant is [MASK].", choices=("larger", "smaller"), gold=("larger",)
)
MUTATIONS = 30
CRASHING = 29  # one of these, which makes llama.cpp stop itself
# What a careless reader of the format trips over.
NUMBERS = (0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**63, 2**64 - 1)


def mutated(raw, seed):
    """A file with a part of its header changed, removed or doubled."""
    header = raw.index(b"output_norm.weight")
    draw = random.Random(seed)
    place = draw.randrange(4, header)
    kind = seed % 6
    if kind == 0:
        return raw[:place] + bytes([raw[place] ^ 1 << draw.randrange(8)]) + raw[place + 1 :]
    if kind == 1:
        return raw[:place] + struct.pack("<Q", draw.choice(NUMBERS)) + raw[place + 8 :]
    if kind == 2:
        return raw[:place] + raw[place + draw.randrange(1, 40) :]
    if kind == 3:
        return raw[:place] + raw[place - 40 : place] + raw[place:]
    if kind == 4:  # a number of the header itself: counts of tensors and fields, lengths
        place = draw.choice((8, 16, 24))
        return raw[:place] + struct.pack("<Q", draw.choice(NUMBERS)) + raw[place + 8 :]
    keys = [b"block_count", b"head_count", b"context_length", b"embedding_length", b"token_id"]
    found = raw.index(draw.choice(keys), 0, header)
    place = raw.index(struct.pack("<I", 4), found) + 4
    return raw[:place] + struct.pack("<I", draw.choice(NUMBERS) % 2**32) + raw[place + 4 :]


def outcome(file):
    """What becomes of a question to the model in this file; this process is to survive it."""
    try:
        model = gguf(str(file), threads=1)
    except ModelError as error:
        return error.message
    model.answer([ITEM])
    model.close()
    return "answered"


def test_no_damage_to_a_header_ends_the_process(tiny, tmp_path):
    raw = tiny.read_bytes()
    outcomes = []
    for seed in range(MUTATIONS):
        file = tmp_path / f"{seed}.gguf"
        file.write_bytes(mutated(raw, seed))
        outcomes.append(outcome(file))
    assert len(outcomes) == MUTATIONS
    assert "answered" in outcomes, "some damage is of no consequence"
    assert any("cannot be loaded by llama.cpp: " in each for each in outcomes)
    assert any("crashed when it tried this file" in each for each in outcomes)


def child_that(monkeypatch, action):
    """Let the child process do something else."""
    run = subprocess.run
    script = f"import os, signal; {action}"

    def start(command, **how):
        return run([sys.executable, "-c", script], **how)

    monkeypatch.setattr(subprocess, "run", start)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
@pytest.mark.parametrize(
    ("name", "meaning", "remedy"),
    [
        ("SIGABRT", "it stopped itself", "fetch it again"),
        ("SIGILL", "this processor lacks an instruction", "a build of xllamacpp for this"),
        ("SIGKILL", "for want of memory", "a smaller file"),
        ("SIGSEGV", "memory that is not its own", "fetch it again"),
        ("SIGTERM", "ended before it was done", "fetch it again"),
    ],
)
def test_a_crash_of_native_code_is_told_by_name_and_meaning(
    tiny, monkeypatch, name, meaning, remedy
):
    child_that(monkeypatch, f"os.kill(os.getpid(), signal.{name})")
    with pytest.raises(ModelError, match=meaning) as caught:
        check_loads(tiny, context=64, threads=1)
    assert caught.value.message.startswith(f"{tiny}: llama.cpp crashed")
    assert f"({name})" in caught.value.message
    assert remedy in caught.value.hint


def test_a_child_that_fails_without_a_signal_is_told_by_its_exit_code(tiny, monkeypatch):
    child_that(monkeypatch, "os._exit(42)")
    with pytest.raises(ModelError, match="exit code 42"):
        check_loads(tiny, context=64, threads=1)


def test_a_file_that_never_loads_is_given_up(tiny, monkeypatch):
    child_that(monkeypatch, "signal.pause()")
    monkeypatch.setattr(trial, "PATIENCE", 0)
    monkeypatch.setattr(trial, "BYTES_A_SECOND", 2 * tiny.stat().st_size)
    with pytest.raises(ModelError, match="within 0 seconds"):
        check_loads(tiny, context=64, threads=1)


def test_a_file_is_tried_once_and_one_that_failed_again(tiny, tmp_path, monkeypatch):
    started = []
    run = subprocess.run

    def counted(command, **how):
        started.append(command)
        return run(command, **how)

    monkeypatch.setattr(subprocess, "run", counted)
    copy = tmp_path / "copy.gguf"
    copy.write_bytes(tiny.read_bytes())
    check_loads(tiny, context=64, threads=1)
    check_loads(copy, context=64, threads=2)
    assert len(started) == 1, "the same weights elsewhere are known"
    check_loads(tiny, context=32, threads=1)
    assert len(started) == 2, "a context of another size is another trial"

    bad = tmp_path / "bad.gguf"
    bad.write_bytes(tiny.read_bytes()[:5000])
    for _ in range(2):
        with pytest.raises(ModelError, match="cannot be loaded"):
            check_loads(bad, context=64, threads=1)
    assert len(started) == 4


def test_the_child_imports_nothing_from_the_current_folder(tiny, tmp_path, monkeypatch):
    (tmp_path / "json.py").write_text("raise SystemExit(7)")
    monkeypatch.chdir(tmp_path)
    check_loads(tiny, context=64, threads=1)


def test_a_cache_that_cannot_be_written_does_no_harm(tiny, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path / "file"))
    check_loads(tiny, context=64, threads=1)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
def test_the_other_runs_of_a_command_go_on(tiny, tmp_path, monkeypatch, capfd):
    from gnomon.cli import main
    from gnomon.runs import runs_in

    bad = tmp_path / "bad.gguf"
    bad.write_bytes(mutated(tiny.read_bytes(), CRASHING))
    monkeypatch.chdir(tmp_path)
    models = ["-m", f"gguf:{bad}", "-m", "random"]
    code = main(["run", "scales", *models, "--limit", "2", "--runs", "runs"])
    assert code == 1
    assert "bad.gguf: llama.cpp crashed when it tried this file" in capfd.readouterr().err
    assert [run.model for run in runs_in("runs")] == ["random"]
