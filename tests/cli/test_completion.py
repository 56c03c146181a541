"""Completion as shells ask for it: bash runs the script that `gnomon completion` prints."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import gnomon
from gnomon.cli import main
from gnomon.cli.options import declared

# What bash would do where its line editor calls the completion.
BASH = """
source ./script
COMP_LINE="$1"
COMP_POINT=${#COMP_LINE}
COMP_TYPE=9
_python_argcomplete gnomon
printf '%s\\n' "${COMPREPLY[@]}"
"""
LINES = {
    "gnomon rep": {"report"},
    "gnomon run scales --retry": {"--retry-errors"},
    "gnomon run spac": {"spacenli"},
    "gnomon run scales -m smo": {"smollm2"},
    "gnomon score runs --measure macro": {"macro_f1"},
    "gnomon run scales --prompt fews": {"fewshot"},
    "gnomon list mod": {"models"},
    "gnomon list models hyp": {"hypothesis-only"},
    "gnomon run qui": {"quick"},
    "gnomon data g": {"get"},
    "gnomon data get spacen": {"spacenli"},
    "gnomon run scales@pub": {"scales@published"},
    "gnomon run nosuch@": set(),
}

SHELLS = declared()["completion"]["shell"]["choices"]


def completed(line: str, shell: str = "zsh") -> list[str]:
    """What Gnomon says to a shell: for zsh, each name with what it is."""
    asked = {
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_SHELL": shell,
        "_ARGCOMPLETE_SUPPRESS_SPACE": "1",
        "_ARGCOMPLETE_STDOUT_FILENAME": "completed",
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
    }
    subprocess.run([sys.executable, "-m", "gnomon"], env=os.environ | asked, check=True)
    found = Path("completed").read_text(encoding="utf-8").split("\013")
    return [name for name in found if name]


@pytest.mark.parametrize("line", LINES)
def test_commands_options_and_names_are_completed_where_they_may_stand(line):
    assert LINES[line] == set(completed(line, "fish"))


def test_zsh_is_told_what_each_name_is():
    assert completed("gnomon run scales -m smo") == [
        "smollm2:SmolLM2-135M-Instruct, embedded: fetched once, no torch"
    ]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("gnomon rep", {"report"}),
        ("gnomon run scales --retry", {"--retry-errors"}),
        ("gnomon run spac", {"spacenli"}),
        ("gnomon run scales@pub", {"published"}),  # @ ends a word of bash
    ],
)
def test_bash_completes_with_the_script(line, expected, capsys):
    assert main(["completion", "bash"]) == 0
    Path("script").write_text(capsys.readouterr().out)
    folder = Path("bin")
    folder.mkdir()
    (folder / "gnomon").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gnomon "$@"\n')
    (folder / "gnomon").chmod(0o755)
    path = f"{folder.resolve()}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "--norc", "-c", BASH, "bash", line],
        capture_output=True,
        text=True,
        env=os.environ | {"PATH": path, "HOME": str(Path.cwd())},
    )
    assert set(done.stdout.split()) == expected


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_has_a_script(shell, capsys):
    assert main(["completion", shell]) == 0
    assert "gnomon" in capsys.readouterr().out


def test_runs_and_their_tags_are_completed():
    run = gnomon.run("scales", "random", limit=4)
    folder = run.path.relative_to(Path.cwd()) if run.path.is_absolute() else run.path
    assert completed("gnomon score runs/sc", "fish") == [folder.as_posix()]
    assert "scale" in completed(f"gnomon score {folder.as_posix()} --by s", "fish")


def test_a_model_that_is_a_file_is_completed_after_its_scheme():
    Path("small.gguf").touch()
    assert completed("gnomon run scales -m gguf:sm", "fish") == ["gguf:small.gguf"]
    assert completed("gnomon run scales -m gg", "fish") == ["gguf:"]


def test_where_files_are_meant_files_are_completed():
    Path("patterns.yaml").touch()
    assert completed("gnomon run scales --data patt", "fish") == ["patterns.yaml"]
