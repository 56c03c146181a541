"""The nightly job of docs/ci.md, with a server that gets worse behind one name."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

import gnomon
from gnomon.cli import main
from gnomon.items.source import load

DOCS = Path(__file__).parents[3] / "docs" / "ci.md"
SCALES = "--limit", "480"


def gold() -> dict[str, str]:
    """What is right, by the sentence or question that an item puts."""
    found = {}
    for item in load("scales").limited(480).items():
        found[item.text.replace("[MASK]", "____")] = item.gold[0]
    return found


def knows(share: float) -> Any:
    """A model that is right on a share of the items, always the same ones."""
    known = gold()

    def reply(body: dict[str, Any]) -> str:
        said = body["messages"][-1]["content"]
        text = next(text for text in known if text in said)
        right = sum(text.encode()) % 100 < 100 * share
        return known[text] if right else "I cannot say."

    return reply


def commands() -> list[list[str]]:
    """Those of the nightly job, as the page has them."""
    (block,) = re.findall(r"## A nightly job.*?```sh\n(.*?)```", DOCS.read_text(), re.DOTALL)
    return [shlex.split(line)[1:] for line in block.splitlines()]


def night(server: Any, command: list[str], limit: tuple[str, ...] = SCALES) -> int:
    if command[0] == "run":
        command = [*command, "--base-url", server.url, *limit, "--quiet"]
    return main(command)


@pytest.fixture
def at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_server_that_gets_worse_behind_its_name_fails_the_night(
    serve: Any, at_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = serve(reply=knows(1.0))
    baseline, tonight, check = commands()
    assert night(server, baseline) == 0
    assert night(server, tonight) == 0
    assert night(server, check) == 0  # the same server

    server.reply = knows(0.8)
    assert night(server, tonight) == 0
    capsys.readouterr()
    assert night(server, [*check, "--format", "json"]) == 1
    (change,) = json.loads(capsys.readouterr().out)
    assert change["verdict"] == "worse"
    assert change["gained"] == 0
    assert change["lost"] == pytest.approx(96, abs=30)
    assert change["new"] == pytest.approx(change["old"] - change["lost"] / change["n"])
    (same,) = gnomon.changes("baseline", "tonight")
    assert (same.verdict, same.lost) == ("worse", change["lost"])


def test_twenty_items_show_nothing(serve: Any, at_home: Path) -> None:
    server = serve(reply=knows(1.0))
    *runs, check = commands()
    for command in runs:
        assert night(server, command, ("--limit", "20")) == 0
    assert night(server, check) == 3


def test_an_outage_is_no_regression(serve: Any, at_home: Path) -> None:
    server = serve(reply=knows(1.0), fault=lambda seen, prompt: (400, {"error": "down"}))
    baseline, *_ = commands()
    assert night(server, baseline, ("--limit", "4")) == 1


def test_a_workflow_is_written_once_with_the_same_commands(
    at_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    order = ["ci", "init", "scales", "-m", "openai:my-model", "--by", "3"]
    assert main(order) == 0
    assert "gnomon run scales -m openai:my-model --runs gnomon-baseline" in capsys.readouterr().out
    written = yaml.safe_load((at_home / ".github/workflows/gnomon.yml").read_text())
    steps = written["jobs"]["nightly"]["steps"]
    ran = [step["run"] for step in steps if "run" in step]
    assert ran[0] == "pip install 'gnomon[openai,report]'"
    assert "gnomon compare tonight --baseline gnomon-baseline --fail-if-worse --by 3" in ran
    assert main(order) == 2
