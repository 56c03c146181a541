"""Completion as shells do it: their own programs run the script that `gnomon completion` prints."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import gnomon
from gnomon.cli import main
from gnomon.cli.completing import names

# What a shell would do where its line editor calls the completion.
BASH = """
source ./script
COMP_LINE="$1"
COMP_POINT=${#COMP_LINE}
_gnomon
printf '%s\\n' "${COMPREPLY[@]}"
"""
ZSH = """
compdef() { : }
compadd() {
    if [[ $1 == -S ]]; then
        print -l -- "${(@P)4}"
    else
        shift
        for each in "$@"; do [[ $each == $PREFIX* ]] && print -- $each; done
    fi
}
_describe() { for each in "${(@P)4}"; do print -r -- "${${each//\\\\\\\\:/@}%%:*}"; done }
_files() { print FILES }
source ./script
words=("${(@s: :)1}")
CURRENT=$#words
PREFIX=$words[-1]
_gnomon
"""
COMMANDS = {
    "bash": ["bash", "--norc", "-c", BASH, "bash"],
    "zsh": ["zsh", "-f", "-c", ZSH, "zsh"],
    "fish": ["fish", "--no-config", "-c", "source ./script; complete -C $argv[1] | cut -f 1"],
}
LINES = {
    "gnomon re": {"report", "recover"},
    "gnomon run scales --retry": {"--retry-errors"},
    "gnomon run spac": {"spacenli"},
    "gnomon run scales -m smo": {"smollm2"},
    "gnomon score runs --measure macro": {"macro_f1"},
    "gnomon run scales --prompt fews": {"fewshot"},
    "gnomon list mod": {"models"},
    "gnomon run qui": {"quick"},
}


def completed(shell: str, line: str) -> set[str]:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    folder = Path("bin")
    folder.mkdir(exist_ok=True)
    script = f'#!/bin/sh\nexec "{sys.executable}" -m gnomon "$@"\n'
    (folder / "gnomon").write_text(script)
    (folder / "gnomon").chmod(0o755)
    path = f"{folder.resolve()}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [*COMMANDS[shell], line],
        capture_output=True,
        text=True,
        env=os.environ | {"PATH": path, "HOME": str(Path.cwd())},
    )
    return set(done.stdout.split())


@pytest.mark.parametrize("shell", COMMANDS)
@pytest.mark.parametrize("line", ["gnomon re", "gnomon run scales --retry", "gnomon run spac"])
def test_a_shell_completes_commands_options_and_names(shell, line, capsys):
    assert main(["completion", shell]) == 0
    Path("script").write_text(capsys.readouterr().out)
    assert completed(shell, line) == LINES[line]


def test_bash_completes_after_what_it_takes_for_the_end_of_a_word(capsys):
    assert main(["completion", "bash"]) == 0
    Path("script").write_text(capsys.readouterr().out)
    assert completed("bash", "gnomon run scales@pub") == {"published"}


@pytest.mark.parametrize("line", LINES)
def test_names_are_looked_up_where_they_may_stand(line):
    _, *words = line.split()
    if not words[-1].startswith("-"):
        assert LINES[line] <= set(names(words))


def test_runs_and_their_tags_are_completed():
    run = gnomon.run("scales", "random", limit=4)
    folder = run.path.relative_to(Path.cwd()) if run.path.is_absolute() else run.path
    assert list(names(["score", ""])) == [folder.as_posix()]
    assert list(names(["score", "runs/sc"])) == [folder.as_posix()]
    assert "scale" in names(["score", folder.as_posix(), "--by", ""])


def test_a_model_that_is_a_file_is_completed_after_its_scheme():
    Path("small.gguf").touch()
    assert list(names(["run", "scales", "-m", "gguf:sm"])) == ["gguf:small.gguf"]
    assert list(names(["run", "scales", "-m", "gg"])) == ["gguf:"]


def test_where_files_are_meant_nothing_is_said(capsys):
    assert main(["_complete", "run", "scales", "--patterns", ""]) == 0
    assert main(["_complete", "nonsense", ""]) == 0
    assert main(["_complete", "run", "nosuch@"]) == 0
    assert capsys.readouterr().out == ""
