"""Pictures stand beside what was asked about them, in the report and in the viewer."""

from __future__ import annotations

import base64
import json
import re
import zlib
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("PIL", reason="the extra 'report' is not installed")
pytest.importorskip("starlette", reason="the extra 'report' is not installed")

from msgspec.structs import replace
from starlette.testclient import TestClient

from gnomon.cli import main
from gnomon.records import Image, Item
from gnomon.reports import pictures
from gnomon.reports.pictures import Album, sketches_of, thumbnail_of
from gnomon.reports.viewer.app import make_app
from gnomon.scenes.descriptions import scene_of
from gnomon.scenes.pictures import draw, scene_file, write_png
from gnomon.scenes.scenes import to_json
from gnomon.vision.images import describe


@pytest.fixture
def picture(tmp_path: Path) -> Image:
    file = tmp_path / "cup.png"
    scene = scene_of("a cup on a table", 0)
    write_png(file, draw(scene, 64).rgb)
    scene_file(file).write_text(to_json(scene))
    return describe(file)


def captions(picture: Image, count: int = 8) -> list[Item]:
    found = []
    for i in range(count):
        found.append(
            Item(
                id=f"item-{i}",
                form="caption",
                text=f"The cup is on the table, said {i} times.",
                choices=("false", "true"),
                gold=("true",),
                group=f"g{i}",
                images=(picture,),
            )
        )
    return found


@pytest.fixture
def run(made: ModuleType, picture: Image, tmp_path: Path) -> Path:
    folder = tmp_path / "runs"
    made.write(folder / "one", "vsr@published", "some", captions(picture), skill=0.2, seed=1)
    return folder


def test_the_report_shows_each_picture_once_however_often_it_is_asked(run: Path, tmp_path: Path):
    page = tmp_path / "page.html"
    assert main(["report", str(run), "-o", str(page)]) == 0
    text = page.read_text()
    assert '<img class="thumb" src="data:image/jpeg;base64,' in text
    packs = re.findall(r'<script type="[^"]*"[^>]*>([A-Za-z0-9+/=]{200,})<', text)
    packs += re.findall(r'data-pack="([A-Za-z0-9+/=]+)"', text)
    (pack,) = [json.loads(zlib.decompress(base64.b64decode(each), -15)) for each in packs]
    assert len(pack["thumbnails"]["values"]) == 1
    assert pack["thumbnails"]["codes"] == [0] * 8
    (sketches,) = pack["sketches"]["values"][0]
    assert sketches.count("<svg") == 2
    assert ">cup<" in sketches


def test_the_report_names_pictures_and_ways_but_no_folder_of_this_machine(
    made: ModuleType, picture: Image, tmp_path: Path
):
    items = []
    for item in captions(picture):
        items.append(replace(item, tags={"way": "mirror", "fact": item.id}))
    made.write(tmp_path / "runs/one", "vsr@published", "some", items, skill=0.2, seed=1)
    page = tmp_path / "page.html"
    assert main(["report", str(tmp_path / "runs"), "-o", str(page)]) == 0
    text = page.read_text()
    assert "picture: <bdi>cup.png</bdi>" in text
    assert f"<bdi>{picture.path}" not in text
    assert "way: <bdi>mirror</bdi>" in text


def test_the_viewer_shows_the_picture_beside_its_caption(run: Path):
    viewer = TestClient(make_app(str(run)), base_url="http://localhost:8765")
    shown = {"/run/one/items": "thumb", "/item?benchmark=vsr%40published&id=item-1": "picture"}
    for address, size in shown.items():
        page = viewer.get(address).text
        assert page.count(f'<img class="{size}" src="data:image/jpeg;base64,') >= 1, address
    assert page.count("<svg") >= 2
    assert "data-turn" in page


def test_a_picture_that_changed_since_the_run_is_not_shown(picture: Image):
    assert thumbnail_of(picture)
    write_png(picture.path, draw(scene_of("a dog on a bed", 1), 64).rgb)
    thumbnail_of.cache_clear()
    assert thumbnail_of(picture) == ""


@pytest.mark.parametrize("path", ["gone.png", "/dev/zero", "a\0b", "http://127.0.0.1:9/x.png"])
def test_a_picture_that_is_not_there_is_left_out(path: str):
    assert thumbnail_of(Image(path=path, sha256="0" * 64)) == ""


def test_a_file_that_a_run_merely_names_is_not_shown(picture: Image):
    assert thumbnail_of(Image(path=picture.path, sha256="")) == ""
    assert thumbnail_of(Image(path=picture.path, sha256="0" * 64)) == ""


def test_thumbnails_take_no_more_room_than_a_page_has(picture: Image):
    (item,) = captions(picture, 1)
    assert len(Album().thumbnails(item)) == 1
    assert Album(room=100).thumbnails(item) == ()


def test_all_pictures_of_a_page_share_its_room(
    made: ModuleType, picture: Image, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Examples and item tables of every benchmark: none of them has a room of its own."""
    for name in ("vsr@published", "vsr@fresh"):
        made.write(tmp_path / "runs" / name, name, "some", captions(picture), skill=0.5, seed=1)
    room = 3 * len(thumbnail_of(picture))
    monkeypatch.setattr(pictures, "MOST_BYTES", room)
    page = tmp_path / "page.html"
    assert main(["report", str(tmp_path / "runs"), "-o", str(page)]) == 0

    text = page.read_text()
    embedded = "".join(re.findall(r'src="(data:image/[^"]*)"', text))
    for each in re.findall(r"<script type=[^>]*data-pack[^>]*>([^<]+)<", text):
        items = json.loads(zlib.decompress(base64.b64decode(each), -15))
        for column in ("thumbnails", "sketches"):
            embedded += "".join("".join(value) for value in items[column]["values"])
    assert 0 < len(embedded) <= room


def test_a_photo_has_no_sketch(tmp_path: Path, picture: Image):
    assert sketches_of(picture).count("<svg") == 2
    write_png(tmp_path / "photo.png", draw(scene_of("a cup on a table", 0), 32).rgb)
    assert sketches_of(describe(tmp_path / "photo.png")) == ""


def test_the_scene_behind_a_picture_can_be_turned_in_the_report(run: Path, tmp_path: Path, tab):
    page = tmp_path / "page.html"
    assert main(["report", str(run), "-o", str(page)]) == 0
    shown = tab(page.as_uri(), allowed=page.as_uri())
    shown.page.locator("#items").scroll_into_view_if_needed()
    shown.page.locator("#rows tr button").first.click()
    view = shown.page.locator("svg[data-turn]").first
    before = view.locator("polygon").first.get_attribute("points")
    view.press("ArrowRight")
    assert view.locator("polygon").first.get_attribute("points") != before
    assert shown.page.locator("img.thumb").count() >= 8
    assert shown.errors == []
    assert [url for url in shown.strays if not url.startswith("data:")] == []
