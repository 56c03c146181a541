"""The folder of pictures: what is kept is kept, and nothing of a stranger's is in a path."""

import os

import numpy as np
import pytest

from gnomon.errors import DataError, RunError
from gnomon.paint.model import LOG, MOST_BYTES, Pictures, painter_name
from gnomon.paint.records import PaintedPicture, PaintRequest, PaintTrouble
from gnomon.records import Item
from gnomon.scenes.pictures import png


def picture(value=0):
    return png(np.full((4, 4, 3), value, dtype=np.uint8))


def request(id="item", number=0):
    return PaintRequest(Item(id=id, form="scene", text="a cat"), number, "a cat", 7)


def test_a_kept_picture_is_found_by_another_process(tmp_path):
    kept = Pictures(tmp_path)
    painted = kept.keep(request(), PaintedPicture(picture(3)), "somebody")
    again = Pictures(tmp_path)
    assert again.find("item", 0) == painted
    assert again.find("item", 1) is None
    assert again.open(painted).getpixel((0, 0)) == (3, 3, 3)
    assert (painted.prompt, painted.seed, painted.painter) == ("a cat", 7, "somebody")


def test_equal_pictures_are_stored_once(tmp_path):
    kept = Pictures(tmp_path)
    one = kept.keep(request(number=0), PaintedPicture(picture()), "")
    other = kept.keep(request(number=1), PaintedPicture(picture()), "")
    assert one.file == other.file
    assert len(list(tmp_path.glob("*.png"))) == 1
    assert len(Pictures(tmp_path)) == 2


@pytest.mark.parametrize(
    "id", ["../../secret", "/etc/passwd", "a\nb", "{0}", "x" * 10_000, "nul\0", "\u202e"]
)
def test_no_id_is_in_a_path(tmp_path, id):
    kept = Pictures(tmp_path / "inner")
    painted = kept.keep(request(id), PaintedPicture(picture()), "")
    assert painted.file.removesuffix(".png").isalnum()
    assert Pictures(tmp_path / "inner").find(id, 0) == painted
    assert sorted(each.name for each in tmp_path.rglob("*")) == sorted(["inner", LOG, painted.file])


@pytest.mark.parametrize("cut", [1, 10, 60])
def test_a_line_that_was_cut_off_does_not_count(tmp_path, cut):
    kept = Pictures(tmp_path)
    kept.keep(request(number=0), PaintedPicture(picture(0)), "")
    kept.keep(request(number=1), PaintedPicture(picture(1)), "")
    log = tmp_path / LOG
    os.truncate(log, log.stat().st_size - cut)
    again = Pictures(tmp_path)
    assert (again.find("item", 0) is None, again.find("item", 1)) == (False, None)
    again.keep(request(number=1), PaintedPicture(picture(2)), "")
    assert len(Pictures(tmp_path)) == 2


def test_a_damaged_log_is_said_with_its_line(tmp_path):
    kept = Pictures(tmp_path)
    kept.keep(request(), PaintedPicture(picture()), "")
    with (tmp_path / LOG).open("ab") as out:
        out.write(b"nonsense\n")
    with pytest.raises(DataError, match=f"{LOG}:2: not a picture"):
        Pictures(tmp_path)


def test_a_log_that_leads_elsewhere_is_refused(tmp_path):
    kept = Pictures(tmp_path)
    painted = kept.keep(request(), PaintedPicture(picture()), "")
    log = tmp_path / LOG
    log.write_bytes(log.read_bytes().replace(painted.file.encode(), b"../../secret.png"))
    with pytest.raises(DataError, match="another folder"):
        Pictures(tmp_path)


def test_a_link_in_the_place_of_a_picture_is_not_written_through(tmp_path):
    (tmp_path / "outside").write_bytes(b"mine")
    inner = tmp_path / "inner"
    kept = Pictures(inner)
    known = kept.keep(request(), PaintedPicture(picture()), "").file
    for file in inner.iterdir():
        file.unlink()
    (inner / known).with_suffix(".part").symlink_to(tmp_path / "outside")
    Pictures(inner).keep(request(), PaintedPicture(picture()), "")
    assert (tmp_path / "outside").read_bytes() == b"mine"


def test_a_changed_picture_is_noticed(tmp_path):
    kept = Pictures(tmp_path)
    painted = kept.keep(request(), PaintedPicture(picture(1)), "")
    (tmp_path / painted.file).write_bytes(picture(2))
    with pytest.raises(DataError, match="not the one that was painted"):
        kept.open(painted)


BAD = {
    "no picture": (b"<html></html>", "not a complete JPEG or PNG"),
    "100 megapixels": (
        picture()[:16] + (10_000).to_bytes(4) + (10_000).to_bytes(4) + picture()[24:],
        "10,000 x 10,000 pixels is too large",
    ),
    "too many bytes": (picture() + bytes(MOST_BYTES), "more than 64 MB"),
}


@pytest.mark.parametrize("kind", BAD)
def test_what_cannot_be_looked_at_is_a_trouble(tmp_path, kind):
    content, reason = BAD[kind]
    kept = Pictures(tmp_path)
    painted = kept.keep(request(), PaintedPicture(content), "")
    assert reason in painted.trouble
    assert painted.file == ""
    assert [file.name for file in tmp_path.iterdir()] == [LOG]


def test_troubles_are_kept_short(tmp_path):
    painted = Pictures(tmp_path).keep(request(), PaintTrouble("x" * 100_000), "")
    assert len(painted.trouble) == 300


def test_pictures_of_another_run_are_taken_over_without_a_copy(tmp_path):
    old = Pictures(tmp_path / "old")
    painted = old.keep(request(), PaintedPicture(picture(5)), "")
    before = (tmp_path / "old" / LOG).read_bytes()
    new = Pictures(tmp_path / "new")
    assert new.adopt(tmp_path / "old") == 1
    assert new.adopt(tmp_path / "old") == 0
    assert new.open(new.find("item", 0)) == old.open(painted)
    one, other = ((tmp_path / name / painted.file).stat().st_ino for name in ("old", "new"))
    assert one == other
    assert (tmp_path / "old" / LOG).read_bytes() == before


def test_a_folder_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="cannot be kept"):
        Pictures(tmp_path / "file")


def test_a_painter_is_named_by_what_determines_its_pictures():
    assert painter_name("synth:x", {"a": 1, "b": 2}) == painter_name("synth:x", {"b": 2, "a": 1})
    assert painter_name("synth:x", {"a": 1}) != painter_name("synth:x", {"a": 2})
