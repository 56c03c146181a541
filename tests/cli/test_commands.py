"""The command line as people use it: right output, right exit codes, one clear sentence when
something is wrong."""

import csv
import errno
import hashlib
import json
import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from gnomon.cli import main
from gnomon.cli.completion import whole_parser
from gnomon.registry import COMMANDS, command


def told(capsys, *arguments) -> tuple[int, str, str]:
    try:
        code = main(list(arguments))
    except SystemExit as stop:
        code = stop.code
    out, err = capsys.readouterr()
    return code, out, err


def test_help_lists_every_command(capsys):
    code, out, _ = told(capsys, "--help")
    assert code == 0
    assert all(f"  {name}" in out for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_examples(name, capsys):
    code, out, _ = told(capsys, name, "--help")
    assert code == 0
    assert "examples:" in out
    assert f"gnomon {name}" in out
    assert callable(command(name).main)


def test_whole_parser_has_every_command():
    assert set(COMMANDS) <= set(whole_parser()._subparsers._group_actions[0].choices)


def test_make_writes_the_same_items_in_three_formats(capsys):
    import duckdb

    for ending in ("jsonl", "csv", "parquet"):
        assert told(capsys, "make", "scales", "-o", f"items.{ending}", "--seed", "3")[0] == 0
    lines = [json.loads(line) for line in Path("items.jsonl").read_text().splitlines()]
    table = list(csv.DictReader(Path("items.csv").read_text().splitlines()))
    rows = duckdb.sql("SELECT id, text, choices, tags['scale'] FROM 'items.parquet'").fetchall()
    assert len(lines) == len(table) == len(rows) == 1920
    assert [r[0] for r in rows] == [line["id"] for line in lines] == [row["id"] for row in table]
    assert json.loads(table[0]["tags"]) == lines[0]["tags"]
    assert list(rows[0][2]) == lines[0]["choices"]


def test_make_writes_a_folder_with_pictures_and_draws_none_twice(capsys, tmp_path):
    command = ["make", "vsr@fresh", "-o", "made/set", "--set", "quads=2", "--set", "size=24"]
    code, _, err = told(capsys, *command, "--set", "processes=1")
    assert (code, err) == (0, f"8 items of vsr@fresh in {Path('made/set/items.jsonl')}\n")
    lines = Path("made/set/items.jsonl").read_text(encoding="utf-8").splitlines()
    files = {}
    for line in lines:
        (image,) = json.loads(line)["images"]
        file = Path("made/set") / image["path"]
        assert hashlib.sha256(file.read_bytes()).hexdigest() == image["sha256"]
        files[file] = file.stat().st_ino
    assert len(files) == 4

    assert told(capsys, *command, "--limit", "4", "--quiet")[0] == 0
    assert len(Path("made/set/items.jsonl").read_text(encoding="utf-8").splitlines()) == 4
    assert {file: file.stat().st_ino for file in files} == files


def test_make_is_the_same_for_the_same_seed_and_other_for_another(capsys):
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        told(capsys, "make", "scales", "-o", f"{name}.jsonl", "--seed", seed)
    a, b, c = (Path(f"{name}.jsonl").read_text() for name in "abc")
    assert a == b != c


def test_run_score_and_list_runs(capsys):
    code, out, _ = told(capsys, "run", "scales", "-m", "random", "-m", "majority", "--limit", "200")
    assert code == 0
    assert "accuracy" in out
    code, out, _ = told(capsys, "runs", "list", "--json")
    runs = json.loads(out)
    assert [run["model"] for run in runs] == ["random", "majority"]
    assert all((run["asked"], run["answered"], run["items"]) == (200, 200, 200) for run in runs)
    code, out, _ = told(capsys, "score", *(run["run"] for run in runs), "--format", "json")
    scores = json.loads(out)
    fields = ["benchmark", "model", "measure", "by", "key", "value", "low", "high", "chance", "n"]
    assert code == 0
    assert all(list(score)[: len(fields)] == fields for score in scores)
    whole = [s for s in scores if s["measure"] == "accuracy" and not s["by"]]
    assert [s["n"] for s in whole] == [200, 200]
    assert all(s["low"] <= s["value"] <= s["high"] for s in whole)


def test_run_prints_json_for_programs(capsys):
    code, out, _ = told(capsys, "run", "scales", "-m", "constant:yes", "--limit", "20", "--json")
    manifest = json.loads(out)
    assert code == 0
    assert manifest["benchmark"] == "scales@fresh"
    assert manifest["counts"]["items"] == 20
    assert next((score["measure"], score["n"]) for score in manifest["scores"]) == ("accuracy", 20)


def test_a_run_that_is_named_twice_is_made_once(capsys):
    code, out, _ = told(
        capsys,
        "run",
        "scales",
        "scales@fresh",
        "-m",
        "random",
        "-m",
        "random",
        "--limit",
        "5",
        "--json",
    )
    assert code == 0
    assert len(out.splitlines()) == 1


def test_list_runs_tells_which_are_damaged_and_shows_the_others_whole(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    for model in ("random", "majority", "constant:yes", "constant:no", "constant:larger"):
        told(capsys, "run", "scales", "-m", model, "--limit", "9", "--quiet")
    sound, lost, torn, empty, manifest = sorted(
        Path("runs").iterdir(), key=lambda p: "random" not in p.name
    )
    with closing(sqlite3.connect(empty / "answers.sqlite")) as log:
        log.executescript("DELETE FROM answers; DELETE FROM items;")
    (lost / "answers.sqlite").unlink()
    (torn / "answers.sqlite").write_bytes(b"not a database at all" * 100)
    (manifest / "run.json").write_text("{")
    code, out, err = told(capsys, "runs", "list")
    assert code == 0
    assert all(folder.as_posix() in out for folder in (sound, lost, torn, empty, manifest))
    assert (out.count("damaged"), out.count("finished")) == (4, 1)
    assert "Traceback" not in err
    assert f"{lost.as_posix()}/answers.sqlite: the log is missing" in err
    assert f"{manifest.as_posix()}/run.json: not a manifest" in err
    code, out, _ = told(capsys, "runs", "list", "--json")
    assert [run["state"] for run in json.loads(out)].count("damaged") == 4


def test_a_run_in_which_no_item_was_logged_is_listed_nowhere(capsys):
    told(capsys, "run", "scales", "-m", "random", "--limit", "5", "--quiet")
    (folder,) = Path("runs").iterdir()
    manifest = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps({**manifest, "items_sha256": ""}))
    assert told(capsys, "runs", "list")[1].startswith("No runs in runs.")
    assert json.loads(told(capsys, "runs", "list", "--json")[1]) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["models", "hf"],
            ["--prompt PROMPT", "--set top_k=VALUE", "(default: 0)", "--set allow_pickle=VALUE"],
        ),
        (["models", "hf:gpt2"], ["--prompt PROMPT"]),
        (["models", "majority"], ["majority takes no options."]),
        (
            ["benchmarks", "scales"],
            ["scales@fresh", "--seed S", "scales@published", "--data DIR", "--set scale=VALUE"],
        ),
    ],
)
def test_list_says_which_options_one_takes(arguments, words, capsys):
    code, out, _ = told(capsys, "list", *arguments)
    assert code == 0
    assert all(word in out for word in words)


def test_list_says_each_default_once(capsys):
    code, out, _ = told(capsys, "list", "models", "gguf")
    (line,) = [line for line in out.splitlines() if "threads=VALUE" in line]
    text = line.split("  ")[-1].strip()
    assert (code, text) == (0, "processor threads (default: all cores)")


def test_list_gives_the_options_of_one_as_json(capsys):
    code, out, _ = told(capsys, "list", "models", "random", "--json")
    assert (code, json.loads(out)["options"]) == (0, {"random": {"model_seed": 0}})


def test_changed_answers_are_noticed_by_a_finished_run(capsys):
    told(capsys, "make", "scales", "--limit", "40", "-o", "made.jsonl")
    items = [json.loads(line) for line in Path("made.jsonl").read_text().splitlines()]
    for label in (0, 1):
        rows = "".join(f"{item['id']},{item['choices'][label]}\n" for item in items)
        Path("a.csv").write_text("item,choice\n" + rows)
        code, _, err = told(capsys, "run", "scales", "-m", "answers:a.csv", "--limit", "40")
        assert code == label
    assert "a.csv changed" in err


def test_plugin_works_from_the_command_line(plugin, capsys):
    code, out, _ = told(capsys, "run", "dice", "-m", "slow", "--set", "n=50", "--json")
    assert code == 0
    assert json.loads(out)["counts"]["answered"] == 50


def test_a_run_whose_items_all_failed_is_a_failure(plugin, capsys):
    code, out, _ = told(
        capsys,
        "run",
        "dice",
        "-m",
        "slow",
        "--set",
        "n=3",
        "--set",
        "seconds=0",
        "--set",
        "fail=1",
    )
    assert code == 1  # one of three failed
    assert "1 failed" in out
    code, *_ = told(
        capsys,
        "run",
        "dice",
        "-m",
        "constant:first",
        "-m",
        "slow",
        "--set",
        "n=1",
        "--set",
        "fail=0",
    )
    assert code == 1


BAD = {
    "unknown benchmark": (["run", "scalse", "-m", "random"], 2, "Did you mean scales"),
    "unknown model": (["run", "scales", "-m", "randon"], 2, "Did you mean random"),
    "unknown command": (["runn"], 2, "Did you mean run"),
    "unknown source": (["make", "scales@new", "-o", "x.jsonl"], 2, "fresh, published"),
    "unknown option": (["make", "scales", "-o", "x.jsonl", "--set", "sclae=size"], 2, "'sclae'"),
    "option of no benchmark": (
        ["make", "scales", "-o", "x.jsonl", "--split", "test"],
        2,
        "'split'",
    ),
    "wrong type": (
        ["make", "scales", "-o", "x.jsonl", "--seed", "many"],
        2,
        "must be int, not 'many'",
    ),
    "setting without value": (["make", "scales", "-o", "x.jsonl", "--set", "seed"], 2, "KEY=VALUE"),
    "unknown ending": (["make", "scales", "-o", "x.xlsx"], 2, ".parquet"),
    "too few processes": (["make", "vsr", "-o", "x", "--set", "processes=-1"], 2, "-1 processes"),
    "no quads": (["make", "vsr@fresh", "-o", "x", "--set", "quads=0"], 2, "0 quads"),
    "missing folder": (["make", "scales", "-o", "no/such/x.jsonl"], 1, "folder does not exist"),
    "no data": (
        ["make", "scales@published", "-o", "x.jsonl", "--data", "nowhere"],
        1,
        "no such folder",
    ),
    "missing answers": (
        ["run", "scales", "-m", "answers:nowhere.jsonl"],
        1,
        "nowhere.jsonl: there is no such file",
    ),
    "constant without label": (["run", "scales", "-m", "constant"], 2, "constant:yes"),
    "random with a name": (["run", "scales", "-m", "random:3"], 2, "takes no name"),
    "label of no item": (
        ["run", "scales", "-m", "constant:foo"],
        2,
        "Choose one of: larger, smaller, yes, no, taller, shorter.",
    ),
    "option of no model": (
        ["run", "scales", "-m", "random", "--shots", "2"],
        2,
        "random takes: model_seed.",
    ),
    "more on a measure": (["list", "measures", "acuracy"], 2, "Did you mean accuracy"),
    "limit of none": (["run", "scales", "-m", "random", "--limit", "0"], 2, "1 or more"),
    "not a run": (["score", "nowhere"], 1, "is not a run"),
}


@pytest.mark.parametrize(("arguments", "expected", "words"), BAD.values(), ids=BAD)
def test_bad_input_is_one_clear_message(arguments, expected, words, capsys):
    code, out, err = told(capsys, *arguments)
    assert code == expected
    assert words in err
    assert "Traceback" not in err
    assert out == ""
    assert not os.path.exists("x.jsonl")


def test_a_read_only_disk_is_one_sentence_that_names_the_users_file(capsys, monkeypatch):
    def refuse(self, *args, **options):
        raise OSError(errno.EROFS, "Read-only file system", str(self))

    monkeypatch.setattr(Path, "open", refuse)
    monkeypatch.setattr(Path, "unlink", refuse)
    code, _, err = told(capsys, "make", "scales", "-o", "x.jsonl")
    assert code == 1
    assert err.startswith("gnomon: x.jsonl: cannot be written: Read-only file system.")


def test_a_folder_where_a_file_should_be_is_named(capsys):
    Path("out.jsonl").mkdir()
    code, _, err = told(capsys, "make", "scales", "-o", "out.jsonl")
    assert (code, err) == (1, "gnomon: out.jsonl: this is a folder.\nGive the name of a file.\n")


def test_a_file_that_the_system_refuses_is_named_with_what_to_do(capsys, monkeypatch):
    def refuse(args):
        raise PermissionError(errno.EACCES, "Permission denied", "secret.yaml")

    monkeypatch.setattr("gnomon.cli.list.main", refuse)
    code, _, err = told(capsys, "list")
    assert (code, err) == (
        1,
        "gnomon: secret.yaml: Permission denied.\nCheck the path and its permissions.\n",
    )


def test_missing_command_arguments_are_usage_errors(capsys):
    assert told(capsys, "run")[0] == 2
    assert told(capsys, "make", "scales")[0] == 2


def test_debug_shows_the_traceback():
    done = subprocess.run(
        [sys.executable, "-m", "gnomon", "run", "scalse", "-m", "random", "--debug"],
        capture_output=True,
        text=True,
    )
    assert "Traceback" in done.stderr


MALFORMED = {
    "cut short": ('{"text": "An ant and a bi', "size.json:1: not JSON"),
    "not an object": ("[1, 2]\n", "size.json:1: wrong types"),
    "field missing": ('{"text": "An ant and a bird."}\n', "missing required field `question`"),
    "wrong type": (
        '{"text": 3, "question": "?", "obj_a": "ant", "obj_b": "bird", "label": 0}\n',
        "Expected `str`",
    ),
    "stranger": (
        '{"text": "A b and a c.", "question": "?", "obj_a": "b", "obj_b": "c", "label": 0}\n',
        "not an object",
    ),
    "not text": (b"\xff\xfe\x00", "not UTF-8"),
}


@pytest.mark.parametrize(("content", "words"), MALFORMED.values(), ids=MALFORMED)
def test_malformed_data_names_file_and_line(content, words, capsys, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "size.json").write_bytes(
        content if isinstance(content, bytes) else content.encode()
    )
    earlier = '{"id":"precious","form":"choice"}\n'  # of an earlier make, which may be replaced
    (tmp_path / "items.jsonl").write_text(earlier)
    code, _, err = told(
        capsys,
        "make",
        "scales@published",
        "--data",
        "data",
        "--set",
        "scale=size",
        "-o",
        "items.jsonl",
    )
    assert code == 1
    assert words in err
    assert "Traceback" not in err
    assert (tmp_path / "items.jsonl").read_text() == earlier


def test_unreadable_run_folder_is_one_sentence(capsys, tmp_path):
    (tmp_path / "runs").write_text("a file where the folder should be")
    code, _, err = told(capsys, "run", "scales", "-m", "random", "--limit", "5")
    assert code == 1
    assert "cannot be written" in err
    assert (tmp_path / "runs").read_text() == "a file where the folder should be"


def test_damaged_manifest_and_log_are_named(capsys):
    told(capsys, "run", "scales", "-m", "random", "--limit", "5", "--quiet")
    (folder,) = os.listdir("runs")
    with open(f"runs/{folder}/answers.sqlite", "r+b") as log:
        log.write(b"not a database at all")
    code, _, err = told(capsys, "score", f"runs/{folder}")
    assert (code, "Traceback" in err) == (1, False)
    assert "answers.sqlite" in err
    with open(f"runs/{folder}/run.json", "w") as manifest:
        manifest.write("{")
    code, _, err = told(capsys, "score", f"runs/{folder}")
    assert (code, "Traceback" in err) == (1, False)
    assert "run.json: not a manifest" in err


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_full_disk_is_one_sentence(capsys, monkeypatch):
    import gnomon.items.writing

    monkeypatch.setattr(
        gnomon.items.writing.Path,
        "with_name",
        lambda self, name: gnomon.items.writing.Path("/dev/full"),
    )
    monkeypatch.setattr(gnomon.items.writing.Path, "unlink", lambda self, missing_ok=False: None)
    code, _, err = told(capsys, "make", "scales", "-o", "x.jsonl")
    assert code == 1
    assert "No space left" in err


def test_interrupt_says_how_to_go_on(plugin, tmp_path):
    import signal

    asked = tmp_path / "asked.txt"
    asked.touch()
    environment = os.environ | {
        "PYTHONPATH": f"{plugin}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
        "GNOMON_DICE_ASKED": str(asked),
    }
    command = [
        sys.executable,
        "-m",
        "gnomon",
        "run",
        "dice",
        "-m",
        "slow",
        "--set",
        "seconds=0.05",
    ]
    process = subprocess.Popen(
        command, env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    while not asked.stat().st_size and process.poll() is None:
        time.sleep(0.01)  # the child needs the processor more than we do
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "of 2,000 items" in err
    assert "gnomon run dice -m slow" in err
