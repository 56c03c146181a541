"""Pictures made elsewhere, whatever their items are called."""

import json

import numpy as np
import pytest

import gnomon
from gnomon.errors import DataError, UsageError
from gnomon.paint.painters.files import file_stem, folder
from gnomon.paint.records import PaintedPicture, PaintTrouble
from gnomon.runs import running
from gnomon.scenes.pictures import png

from .conftest import request, scene


def picture(value=0):
    return png(np.full((4, 4, 3), value, dtype=np.uint8))


def shown(place, item, number=0):
    painter = folder(str(place), judge="none")._painter
    ((_, made),) = painter.paint([request(item, number)])
    return made


@pytest.mark.parametrize(
    "name", ["size%2Fant%2Fbird.png", "size/ant/bird.png", "size%2Fant%2Fbird_0.jpg"]
)
def test_a_picture_is_found_by_the_id_of_its_item(tmp_path, name):
    file = tmp_path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(picture(7))
    assert shown(tmp_path, scene()) == PaintedPicture(picture(7))


def test_several_pictures_stand_by_their_numbers(tmp_path):
    for number in (0, 2, 10):
        (tmp_path / f"{file_stem('size/ant/bird')}_{number}.png").write_bytes(picture(number))
    painter = folder(str(tmp_path), judge="none")._painter
    assert painter.count(scene()) == 3
    assert [shown(tmp_path, scene(), n).content for n in range(3)] == [
        picture(0),
        picture(2),
        picture(10),
    ]
    assert shown(tmp_path, scene(), 3) == PaintTrouble("there is no picture of this item")


@pytest.mark.parametrize("form", ["csv", "jsonl", "given"])
def test_a_table_says_which_pictures_are_whose(tmp_path, form):
    (tmp_path / "one.png").write_bytes(picture(1))
    (tmp_path / "two.png").write_bytes(picture(2))
    rows = [("size/ant/bird", "two.png"), ("size/ant/bird", "one.png"), ("other", "one.png")]
    if form == "jsonl":
        lines = [json.dumps({"id": id, "file": file}) for id, file in rows]
        (tmp_path / "pictures.jsonl").write_text("\n".join(lines) + "\n")
    else:
        lines = ["id,file", *(",".join(row) for row in rows)]
        (tmp_path / "pictures.csv").write_text("\n".join(lines) + "\n")
    place = tmp_path / "pictures.csv" if form == "given" else tmp_path
    assert shown(place, scene(), 0).content == picture(2)
    assert shown(place, scene(), 1).content == picture(1)


@pytest.mark.parametrize(
    "id",
    [
        "../secret",
        "/etc/secret",
        "a\nb",
        "{0.__class__}",
        "x" * 10_000,
        "\udce4",
        "%2e%2e%2fsecret",
        "",
    ],
)
def test_no_id_leads_out_of_the_folder(tmp_path, id):
    inner = tmp_path / "pictures"
    inner.mkdir()
    (tmp_path / "secret.png").write_bytes(picture())
    assert isinstance(shown(inner, scene(id=id)), PaintTrouble)
    stem = file_stem(id)
    assert "/" not in stem
    assert len(stem) <= 200
    if stem:
        (inner / f"{stem}.png").write_bytes(picture(3))
        assert shown(inner, scene(id=id)) == PaintedPicture(picture(3))


def test_no_table_leads_out_of_its_folder(tmp_path):
    inner = tmp_path / "pictures"
    inner.mkdir()
    (tmp_path / "secret.png").write_bytes(picture())
    (inner / "pictures.csv").write_text("id,file\nsize/ant/bird,../secret.png\n")
    assert shown(inner, scene()) == PaintTrouble("the picture is outside its folder")


def test_what_is_not_there_is_said(tmp_path):
    with pytest.raises(DataError, match="no such folder"):
        folder(str(tmp_path / "nothing"))
    with pytest.raises(UsageError, match="needs a folder"):
        folder("")


def test_a_folder_end_to_end(tmp_path):
    source = gnomon.load("posrel", form="scene").limited(4)
    items = list(source.items())
    place = tmp_path / "pictures"
    place.mkdir()
    for item in items[:3]:
        for number in (0, 1):
            (place / f"{file_stem(item.id)}_{number}.png").write_bytes(picture(number))
    model = gnomon.model(f"images:{place}", judge="none", pictures=0)
    run = running.run(source, model, runs=tmp_path / "runs")
    answers = {item.id: answer for item, answer in run.rows()}
    assert [len(answers[item.id].files) for item in items] == [2, 2, 2, 0]
    assert answers[items[3].id].error == "there is no picture of this item"
    assert len(list((run.path / "pictures").glob("*.png"))) == 2  # equal ones are kept once
