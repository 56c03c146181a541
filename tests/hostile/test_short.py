"""The short form of `make hostile`: some of every attack, in less than a minute."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hostile import commands, people, readers

ROOT = Path(__file__).parents[2]
linux = pytest.mark.skipif(sys.platform != "linux", reason="limits and signals are Linux's")


def attack(*words: str) -> str:
    """What an attack prints; it fails if anything was wrong."""
    command = [sys.executable, "-m", "hostile", "--short", *words]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def tried(printed: str) -> int:
    """The number in the last row of the table."""
    (row,) = [line for line in printed.splitlines() if line.startswith("all ")]
    return int(row.split()[1].replace(",", ""))


@linux
@pytest.mark.skipif(
    shutil.which("cc") is None and shutil.which("gcc") is None, reason="there is no C compiler here"
)
def test_no_kill_loses_doubles_or_halves_anything():
    assert tried(attack("kills")) >= 55


@linux
def test_every_reader_reads_a_damaged_file_or_refuses_it_in_a_sentence():
    assert tried(attack("readers")) >= 800


@linux
def test_no_file_of_a_stranger_runs_code_sends_a_secret_or_writes_elsewhere():
    pytest.importorskip("httpx")
    assert tried(attack("strangers")) >= 50


@linux
def test_no_server_makes_a_run_lose_leak_or_hang():
    pytest.importorskip("httpx")
    assert tried(attack("servers")) >= 20


@linux
def test_no_model_file_ends_the_process():
    pytest.importorskip("xllamacpp")
    assert tried(attack("native")) >= 20


@linux
def test_no_picture_ends_a_run_or_fills_the_memory():
    pytest.importorskip("PIL")
    assert tried(attack("pictures")) >= 90


@linux
def test_no_kill_of_the_page_loses_or_doubles_an_answer():
    pytest.importorskip("starlette")
    ((_, found),) = people.trials(kills=2, people=3)  # here: a process less to start
    assert found.notes == []
    assert found.read > 0


@linux
def test_every_command_prints_in_any_encoding_and_takes_any_name():
    assert tried(attack("encodings")) >= 90


@linux
def test_a_tensor_that_is_changed_in_place_is_noticed():
    assert tried(attack("weights")) >= 2


@linux
def test_half_open_connections_lock_nobody_out():
    pytest.importorskip("uvicorn")
    assert tried(attack("crowds")) >= 12


def test_every_command_of_the_registry_is_tried():
    assert commands.missing() == []


def test_every_reader_of_the_registry_has_a_sample():
    assert readers.without_sample() == [], readers.NO_SAMPLE
