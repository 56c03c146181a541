"""The harness finds what it looks for: a fault that is planted is counted."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
from pathlib import Path

import pytest

from gnomon import Benchmark, Item, registry, trust
from gnomon.cli import dispatch
from gnomon.errors import DataError, GnomonError
from gnomon.runs import identity
from hostile import __main__ as attacks
from hostile import commands, readers, replies, servers, strangers, trying, weights
from hostile.command import command
from hostile.misbehaving import KEY, PASSWORD
from hostile.mutating import STRUCTURES, mutate
from hostile.readers import Reader, WrongError
from hostile.samples import ANSWER_FORMATS, BENCHMARKS, Sample
from hostile.scenarios import whole_file
from hostile.tally import Tally, loaded, tell

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits and signals are Linux's")


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(trying, "SECONDS", 0.2)
    monkeypatch.setattr(trying, "MEMORY", 2**28)


def refuse(folder):
    raise DataError("it is damaged.", "Fetch it again.")


def refuse_at_length(folder):
    error = DataError("it is damaged.")
    error.message = "a" * 10_000
    raise error


def stumble(folder):
    raise ValueError("not meant for people")


def loop(folder):
    while True:
        pass


def wait(folder):
    (folder / "pipe").exists() or os.mkfifo(folder / "pipe")
    (folder / "pipe").read_bytes()


def flood(folder):
    return bytearray(2**30)


def die(folder):
    os.kill(os.getpid(), signal.SIGKILL)


def misread(folder):
    raise WrongError("all answers became right")


@pytest.mark.parametrize(
    ("read", "outcome"),
    [
        (lambda folder: 1, "read"),
        (refuse, "refused"),
        (refuse_at_length, "unclear"),
        (stumble, "traceback"),
        (loop, "hang"),
        (wait, "hang"),
        (flood, "memory"),
        (die, "died"),
        (misread, "wrong"),
    ],
)
@pytest.mark.usefixtures("impatient")
def test_every_outcome_is_told_from_the_others(tmp_path, read, outcome, monkeypatch):
    if read is wait:  # the others may take longer than a second on a busy machine
        monkeypatch.setattr(trying, "WAIT", 1)
    reader = Reader("planted", Sample({"a.json": b'{"a": 1}'}), read)
    tally = trying.tried(reader, range(10, 13), 0, tmp_path / "kept")
    found = {"read": tally.read, "refused": tally.refused, **tally.faults}
    assert {kind: count for kind, count in found.items() if count} == {outcome: 3}
    assert tally.tried == 3
    kept = list((tmp_path / "kept").glob("planted-*"))
    assert len(kept) == (0 if outcome in ("read", "refused") else 3)


def test_a_sample_that_is_refused_is_a_fault(tmp_path):
    reader = Reader("planted", Sample({"a.json": b"{}"}), refuse)
    assert trying.tried(reader, range(1), 0, tmp_path).faults["wrong"] == 1


def test_the_same_seed_gives_the_same_damage():
    samples = [*BENCHMARKS.values()]
    for found in ANSWER_FORMATS.values():
        samples += found
    kinds = set()
    for sample in samples:
        for path, raw in sample.files.items():
            kind = sample.kind(path)
            kinds.add(kind)
            once, again = random.Random(7), random.Random(7)
            assert mutate(raw, kind, once) == mutate(raw, kind, again)
    assert kinds >= set(STRUCTURES) - {"gguf", "sqlite"}


def read_nothing(*, data: str = ""):
    yield from ()


NEW = Benchmark(name="new", summary="new", sources={"published": read_nothing})


def test_a_new_benchmark_or_format_without_a_sample_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "a_plug_in", sys.modules[__name__])
    monkeypatch.setitem(registry.BENCHMARKS, "new", registry.Entry("a_plug_in:NEW", "new"))
    monkeypatch.setitem(registry.ANSWER_FORMATS, "newer", registry.Entry("a_plug_in:F", "new"))
    assert readers.without_sample() == ["new@published", "newer"]


def test_a_planted_key_is_found_wherever_it_stands(tmp_path):
    assert list(servers.leaks_in(tmp_path, "nothing")) == []
    (tmp_path / "log").write_bytes(b"\x00" + KEY.encode())
    assert list(servers.leaks_in(tmp_path, f"the password {PASSWORD}")) == [
        f"{KEY} in log",
        f"{PASSWORD} was printed",
    ]


def test_messages_that_steer_or_never_end_are_refused():
    readers.check_message("The file is damaged.")
    for text in ("\x1b]0;owned\x07", "a\u202eb", "a" * 10_000):
        with pytest.raises(readers.UnclearError):
            readers.check_message(text)


def test_a_file_that_is_half_written_or_left_behind_after_a_kill_is_found():
    Path("reference").mkdir()
    Path("reference/a.txt").write_text("whole")
    Path("a.txt").write_text("who")
    Path("a.txt.part").write_text("w")
    tally = Tally()
    whole_file("a.txt", lambda: 0)(tally, "killed")
    assert tally.notes == [
        "wrong: killed: a.txt is half written",
        "wrong: killed: a.txt is wrong after the next try",
        "wrong: killed: left behind: ['a.txt.part']",
    ]
    whole_file("a.txt", lambda: 1)(tally, "killed")
    assert tally.faults["failed"] == 1


def test_a_fault_that_is_found_is_told_and_makes_the_attack_fail(capsys):
    fine, faulty = Tally(tried=3, read=2, refused=1), Tally(tried=1)
    faulty.fault("lost", "killed before call 7")
    assert tell([("fine", fine)], as_json=False)
    assert not tell([("fine", fine), ("faulty", faulty)], as_json=False)
    assert "1 lost\n    lost: killed before call 7" in capsys.readouterr().out
    assert not tell([("faulty", faulty)], as_json=True)
    assert loaded(capsys.readouterr().out) == {"faulty": faulty}


def test_a_change_of_weights_that_nobody_notices_is_found(monkeypatch):
    monkeypatch.setattr(weights, "SETTLED", 0.0)
    monkeypatch.setattr(identity, "fingerprint", lambda path: "always the same")
    ((_, found),) = weights.tallies(tensors=1, megabytes=1)
    assert found.tried == 1
    assert found.faults["wrong"] == 3, "run, merge and compare"


def test_a_character_that_cannot_be_printed_is_found(monkeypatch):
    monkeypatch.setattr(dispatch, "_print_anything", lambda: None)
    with pytest.raises(UnicodeEncodeError):
        command("show", "scales", "--format", "\u5927", encoding="cp1252")
    assert command("list", encoding="ascii").code == 0


def test_a_command_that_nobody_tries_is_named(monkeypatch):
    monkeypatch.setitem(registry.COMMANDS, "newest", registry.Entry("a_plug_in:C", "new"))
    assert commands.missing() == ["newest"]


@pytest.mark.parametrize("guarded", [True, False])
def test_the_code_of_a_stranger_is_noticed_once_nothing_keeps_it_from_running(
    guarded, tmp_path, monkeypatch
):
    pytest.importorskip("transformers")
    monkeypatch.chdir(tmp_path)
    for name in (*strangers.SECRETS, "HOME", "GNOMON_CACHE", "HF_HUB_OFFLINE"):
        monkeypatch.setenv(name, os.environ.get(name, ""))  # put back at the end
    if not guarded:
        monkeypatch.delitem(trust.ONLY_BY_COMMAND, "trust_remote_code")
    place = strangers.Place(tmp_path, "http://127.0.0.1:9/v1")
    strangers.lay_out(place)
    asked = strangers.a_model_of_code(random.Random(0), place)
    asked["options"] = {"trust_remote_code": True}
    experiment = {"benchmarks": ["scales"], "limit": 1, "models": [asked]}
    (place.stranger / "nice.yaml").write_text(json.dumps(experiment))
    (tmp_path / "commands.json").write_text(json.dumps([["run", "../stranger/nice.yaml"]]))
    expected = GnomonError if guarded else readers.LeakedError
    told = "may not set trust_remote_code" if guarded else "a stranger's code ran"
    with pytest.raises(expected, match=told):
        strangers.attempt(tmp_path, place.address, tmp_path / "heard")


def test_the_long_form_says_what_it_tried_too_little_of(capsys):
    rows = {"killed: run": attacks.Row(Tally(tried=3001)), "pictures": attacks.Row(Tally(tried=9))}
    missed = attacks.too_few(rows)
    assert "only 9 pictures, not 1,500" in missed
    assert not any("kills" in line for line in missed)
    assert "3,001" in capsys.readouterr().out


def test_an_answer_that_is_none_of_the_choices_is_found():
    asked = Item(id="1", form="choice", text="?", choices=("yes", "no"), gold=("yes",))
    replies.check_answer(asked, "no")
    with pytest.raises(WrongError, match="'perhaps' is not a choice"):
        replies.check_answer(asked, "perhaps")
