"""Every report on a benchmark that names baselines shows them, and says why one is missing."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from gnomon import registry
from gnomon.records import Image, Item
from gnomon.reports import references as room
from gnomon.reports.page.headline import headline
from gnomon.reports.page.page import write_report
from gnomon.reports.study import studies
from gnomon.runs import Run
from gnomon.vision.images import describe

pytest.importorskip("sklearn")
NAMES = ("hypothesis-only", "picture-only")


def photos(folder: Path) -> list[Image]:
    pillow = pytest.importorskip("PIL.Image")
    found = []
    for number in range(12):
        file = folder / f"{number}.png"
        picture = pillow.new("RGB", (20, 20), "red" if number % 2 else "blue")
        picture.putpixel((number, 0), (255, 255, 255))  # no two are the same
        picture.save(file)
        found.append(describe(file))
    return found


def captions(images: list[Image]) -> list[Item]:
    """The words give nothing away, the colour everything."""
    items = []
    for number, image in enumerate(images):
        item = Item(
            id=str(number),
            form="caption",
            text="The cat is on the mat.",
            choices=("false", "true"),
            gold=("true" if number % 2 else "false",),
            group=str(number // 2),
            images=(image,),
            tags={"relation": "on", "subj": "cat", "obj": "mat", "pair": str(number // 2)},
        )
        items.append(item)
    return items


@pytest.fixture
def run(made: ModuleType, tmp_path: Path) -> Run:
    items = captions(photos(tmp_path))
    found: Run = made.write(tmp_path / "run", "vsr@fresh", "some", items, skill=0.5)
    return found


def lines(run: Run) -> dict[str, list[float | None]]:
    table = headline(studies([run])[0])
    found = {}
    for line in table.lines:
        found[line.model] = [cell and cell.value for cell in line.cells]
    return found


def test_text_only_and_picture_only_stand_beside_every_run(run: Run) -> None:
    found = lines(run)
    assert set(found) == {"some", *NAMES}
    assert found["picture-only"][0] == 1.0
    assert found["hypothesis-only"][0] == 0.5
    table = headline(studies([run])[0])
    assert {"accuracy", "auc", "pair_image", "pair_right"} <= set(table.measures)
    assert any("trained and asked for this page" in note for note in table.notes)


def test_the_page_shows_them_with_the_number_of_items(run: Run, tmp_path: Path) -> None:
    page = write_report([run], tmp_path / "page.html").read_text(encoding="utf-8")
    row = page[page.index("<bdi>picture-only</bdi>") :]
    row = row[: row.index("</tr>")]
    assert "for this page" in row
    assert 'data-value="12">12</td>' in row


def test_one_that_was_run_is_not_asked_again(made: ModuleType, run: Run, tmp_path: Path) -> None:
    other = made.write(tmp_path / "two", "vsr@fresh", "picture-only", list(run.items()), skill=0.5)
    found = [line for line in headline(studies([run, other])[0]).lines if line.kind == "baseline"]
    assert [line.model for line in found] == ["hypothesis-only"]


def test_pictures_that_are_not_here_are_not_fetched(made: ModuleType, tmp_path: Path) -> None:
    away = [Image(path=f"http://127.0.0.1:9/{number}.png") for number in range(12)]
    run = made.write(tmp_path / "run", "vsr@fresh", "some", captions(away), skill=0.5)
    table = headline(studies([run])[0])
    assert "picture-only" not in {line.model for line in table.lines}
    [note] = [note for note in table.notes if note.startswith("picture-only is not shown")]
    assert "none of these items has one here" in note


def test_of_very_many_items_the_page_says_how_to_add_them(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "MOST", 11)
    notes = " ".join(headline(studies([run])[0]).notes)
    assert "`gnomon run vsr@fresh -m picture-only` adds it" in notes


def test_other_benchmarks_have_none(made: ModuleType, tmp_path: Path) -> None:
    run = made.write(tmp_path / "run", "spacenli@fresh", "some", made.entailment(6, 4))
    assert not [line for line in headline(studies([run])[0]).lines if line.kind == "baseline"]
    assert registry.benchmark("spacenli").baselines == ()
