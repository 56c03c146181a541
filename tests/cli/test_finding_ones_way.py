"""Finding one's way: help on one screen, what could be done in a folder, what is installed."""

import http.server
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from gnomon.cli import doctor, main
from gnomon.cli.dispatch import command_parser
from gnomon.cli.doctor import what_could_be_done
from gnomon.options import options_of
from gnomon.registry import BENCHMARKS, COMMANDS, MODELS, command, model_factory

OK = b"HTTP/1.0 200 OK\r\n\r\n"
QUESTIONS = "question,option1,option2,answer\nWhich is larger?,dog,house,house\nAnd?,bus,pen,bus\n"


def told(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with suppress(SystemExit):
        main(words)
    return capsys.readouterr().out


def test_all_commands_fit_on_one_screen_in_groups(capsys: pytest.CaptureFixture[str]) -> None:
    lines = told(capsys, "--help").splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 100
    for name in COMMANDS:
        assert any(line.startswith(f"  {name} ") for line in lines)
    groups = [line for line in lines if line.endswith(":") and not line.startswith(" ")]
    assert len(groups) == len({entry.group for entry in COMMANDS.values()}) == 5


def test_help_of_run_is_short_and_help_all_is_whole(capsys: pytest.CaptureFixture[str]) -> None:
    short = told(capsys, "run", "--help")
    assert len(short.splitlines()) <= 45
    assert "--help-all" in short
    assert "--judge-again" not in short
    assert told(capsys, "help", "run") == short
    whole = told(capsys, "run", "--help-all")
    for option in ("--judge-again", "--images", "--workers", "gpus_per_worker", "--base-url"):
        assert option in whole


@pytest.mark.parametrize(
    ("words", "there"),
    [
        (["vsr"], ["--images", "quads"]),
        (["scales", "-m", "openai:NAME"], ["--samples", "max_cost", "key_env"]),
        (["-m", "hf:gpt2"], ["--device", "dtype"]),
    ],
)
def test_help_of_run_shows_what_a_benchmark_and_a_model_take(
    words: list[str], there: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    plain = told(capsys, "run", "--help")
    shown = told(capsys, "run", *words, "--help")
    for option in there:
        assert option not in plain
        assert option in shown


def test_plain_gnomon_says_what_could_be_done_in_an_empty_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([]) == 0
    said = capsys.readouterr().out
    assert "Nothing of Gnomon's is in this folder yet" in said
    assert "gnomon demo" in said
    assert "gnomon --help" in said


def test_plain_gnomon_names_runs_models_questions_and_logs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my questions.csv").write_text(QUESTIONS)
    (tmp_path / "notes.csv").write_text("a,b\n1,2\n")
    (tmp_path / "tuned").mkdir()
    (tmp_path / "tuned" / "config.json").write_text("{}")
    (tmp_path / "small.gguf").write_bytes(b"GGUF")
    (tmp_path / "samples_x.jsonl").write_text("{}\n")
    assert main(["run", "scales", "-m", "random", "--limit", "8", "--quiet"]) == 0
    capsys.readouterr()
    said = what_could_be_done(Path())
    for line in (
        "gnomon report runs ",
        "gnomon run quick -m ./tuned -m random",
        "gnomon run quick -m ./small.gguf -m random",
        "gnomon run 'my questions.csv' -m random",
        "gnomon audit notes.csv",
        "gnomon score samples_x.jsonl",
    ):
        assert line in said
    assert "gnomon run notes.csv" not in said
    assert "audit samples_x" not in said


def test_plain_gnomon_passes_over_what_is_no_file_and_names_a_model_it_stands_in(
    tmp_path: Path,
) -> None:
    (tmp_path / "gone.csv").symlink_to("nowhere.csv")
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "config.json").write_text("{}")
    said = what_could_be_done(tmp_path)
    assert "gnomon run quick -m . -m random" in said
    assert "csv" not in said


def test_the_doctor_tells_whether_keys_are_set_and_never_their_values(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    monkeypatch.delenv("HF_TOKEN", raising=False)
    said = told(capsys, "doctor") + told(capsys, "doctor", "--format", "json")
    assert "very-secret" not in said
    facts = json.loads(told(capsys, "doctor", "--format", "json"))
    assert facts["keys"]["OPENAI_API_KEY"] is True
    assert facts["keys"]["HF_TOKEN"] is False
    assert "servers" not in facts


def test_the_doctor_says_how_to_get_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    parts = {"numpy": "hf", "nowhere_to_be_had": "hf", "yaml": "train"}
    monkeypatch.setattr(doctor, "PARTS", parts)
    said = told(capsys, "doctor")
    assert "missing nowhere_to_be_had: pip install 'gnomon[hf]'" in said
    assert "gnomon[train]" not in said


@contextmanager
def serving(monkeypatch: pytest.MonkeyPatch, reply: bytes) -> Iterator[list[str]]:
    """A server of this machine that says one thing, and the paths that it was asked for."""
    asked: list[str] = []

    class Answers(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.wfile.write(reply)

        def log_message(self, *_: object) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Answers) as server:
        monkeypatch.setattr(doctor, "SERVERS", {"mine": server.server_address[1]})
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield asked
        server.shutdown()


def test_the_doctor_asks_servers_of_this_machine_only_if_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(monkeypatch, OK + b'{"data": [{"id": "my-vlm"}]}') as asked:
        told(capsys, "doctor")
        assert asked == []
        said = told(capsys, "doctor", "--servers")
    assert asked == ["/v1/models"]
    port = doctor.SERVERS["mine"]
    assert f"gnomon run quick -m openai:my-vlm --base-url http://127.0.0.1:{port}/v1" in said


def test_what_a_server_calls_its_models_is_quoted_and_moves_no_cursor(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(monkeypatch, OK + rb'{"data": [{"id": "a; echo \u001b[2J"}]}'):
        said = told(capsys, "doctor", "--servers")
    assert "\x1b" not in said
    assert "-m 'openai:a; echo " in said


def test_what_speaks_no_http_is_no_server(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(monkeypatch, b"SSH-2.0-something\r\n"):
        assert "nothing answers" in told(capsys, "doctor", "--servers")


def test_runs_in_examples_are_named_as_runs_are() -> None:
    for name in COMMANDS:
        parser = command_parser(name, command(name))
        for each in [parser, *parser.commands.values()]:
            for path in re.findall(r"runs/([\w@*-]+)", each.description or ""):
                benchmark = max((b for b in BENCHMARKS if path.startswith(b)), key=len, default="")
                rest = path.removeprefix(benchmark)
                assert not benchmark or rest.startswith(("@", "*")), f"{each.prog}: runs/{path}"


def test_the_room_for_a_reply_is_called_alike_for_every_kind_of_model() -> None:
    takers = []
    for name in MODELS:
        options = options_of(model_factory(name))
        assert not [each for each in options if "reply_tokens" in each or each == "max_tokens"]
        takers += [name] if "new_tokens" in options else []
    assert {"hf", "gguf", "openai", "smollm2"} <= set(takers)
