"""Scenes to be painted name no right answer: no figure counts them, and every command says so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

pytest.importorskip("jinja2", reason="the extra 'report' is not installed")
pytest.importorskip("starlette", reason="the extra 'report' is not installed")

from starlette.testclient import TestClient

import gnomon
from gnomon import Answer, Benchmark, Item
from gnomon.cli import main
from gnomon.cli.progress import in_words
from gnomon.items.source import ItemSource
from gnomon.reports.viewer.app import make_app
from gnomon.runs import Run


def scenes(*, judged: int = 0) -> Iterator[Item]:
    """Four scenes to paint, and some that are judged by a question."""
    for n in range(4):
        yield Item(id=f"scene-{n}", form="scene", text=f"A cat on mat {n}.", tags={"kind": "mat"})
    for n in range(judged):
        yield Item(
            id=f"judged-{n}",
            form="scene",
            text=f"A dog on mat {n}.",
            choices=("yes", "no"),
            gold=("yes",),
            tags={"kind": "mat"},
        )


SCENES = Benchmark(name="scenes", summary="scenes to paint", sources={"fresh": scenes})


class Painter:
    """Paints whatever it is told, and says yes to every question."""

    spec = "painter"
    scale = "none"

    def describe(self) -> dict[str, int]:
        return {"version": 1}

    def answer(self, items: Sequence[Item]) -> list[Answer]:
        found = []
        for item in items:
            choice = "yes" if item.choices else None
            found.append(Answer(item=item.id, choice=choice, files=(f"{item.id}.png",)))
        return found


def painted(judged: int) -> Run:
    return gnomon.run(ItemSource(SCENES, "fresh", {"judged": judged}), Painter())


def test_scenes_have_no_accuracy_and_the_page_says_why(tmp_path: Path) -> None:
    run = painted(judged=0)
    assert [score.value for score in gnomon.score(run)] == [None]
    page = gnomon.report(run, tmp_path / "page.html", figures=tmp_path / "figures").read_text()
    assert "No item of scenes@fresh names a right answer: there are no figures." in page
    assert list((tmp_path / "figures").rglob("*.csv")) == []


def test_beside_judged_scenes_the_others_are_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = painted(judged=2)
    assert [(score.value, score.n) for score in gnomon.score(run)] == [(1.0, 2)]
    assert main(["score", str(run.path)]) == 0
    assert "4 items name no right answer; the figures leave them out." in capsys.readouterr().err
    page = gnomon.report(run, tmp_path / "page.html").read_text()
    assert "painter is right on 2 of 2 items of scenes@fresh" in page
    assert "painter: 4 items without a right answer left out of its figures." in page


@pytest.mark.parametrize(("judged", "said"), [(0, "4/4"), (2, "6/6 · 100.0 % right")])
def test_the_share_of_right_answers_so_far_is_of_judged_items_only(judged: int, said: str) -> None:
    painted(judged)
    seen: list[str] = []
    gnomon.run(
        ItemSource(SCENES, "fresh", {"judged": judged}),
        Painter(),
        watch=lambda progress: seen.append(in_words(progress, now=0.0)),
    )
    assert seen == [said]


@pytest.mark.parametrize("judged", [0, 2])
def test_the_viewer_shows_runs_of_scenes(judged: int) -> None:
    run = painted(judged)
    viewer = TestClient(make_app("runs", ""), base_url="http://localhost:8765")
    page = viewer.get("/")
    assert page.status_code == 200
    assert "painter" in page.text
    for path in (f"/run/{run.path.name}", f"/run/{run.path.name}/items"):
        assert viewer.get(path).status_code == 200
