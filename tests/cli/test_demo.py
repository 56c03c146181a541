"""The demo on the command line."""

import json
from pathlib import Path

import pytest

from gnomon import registry
from gnomon.cli import main
from gnomon.errors import ModelError

DEMO = ["demo", "-m", "majority", "--limit", "4", "--runs", "runs", "--quiet"]


@pytest.fixture
def stale(monkeypatch) -> None:
    """A demo that was run before its items changed."""
    monkeypatch.setattr("gnomon.registry.DEMO", registry.DEMO[:1])
    monkeypatch.setattr("gnomon.cli.demo._seen", lambda args: [])
    assert main(DEMO) == 0
    manifests = list(Path("runs").glob("*/run.json"))
    assert len(manifests) == 2
    for file in manifests:
        manifest = json.loads(file.read_text())
        file.write_text(json.dumps(manifest | {"items_sha256": "0" * 64}))


@pytest.mark.usefixtures("stale")
def test_a_demo_whose_items_changed_is_started_over_by_the_option_that_it_names(capsys):
    assert main(DEMO) == 1
    assert "Start over with --restart" in capsys.readouterr().err
    assert main([*DEMO, "--restart"]) == 0
    assert main(DEMO) == 0, "the runs are of today's items now"


def test_a_demo_without_eyes_says_so_and_goes_on(monkeypatch, capsys):
    def broken(*_: object, **__: object) -> None:
        raise ModelError("The detector could not be fetched.", "Try again.")

    monkeypatch.setattr("gnomon.registry.DEMO", registry.DEMO[:1])
    monkeypatch.setattr("gnomon.registry.DEMO_SEEN_OPTIONS", {"quads": 1, "size": 64})
    monkeypatch.setattr("gnomon.models.eyes.Detector", broken)
    assert main(DEMO) == 0
    said = capsys.readouterr()
    assert "Without vsr@fresh: The detector could not be fetched." in said.err
    assert "scales" in said.out
    assert "vsr" not in said.out
