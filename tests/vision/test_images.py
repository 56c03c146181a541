"""A picture's record says what it is by its header and its bytes, whatever strangers put there."""

from __future__ import annotations

import hashlib
import os
import zlib

import pytest

from gnomon.errors import DataError
from gnomon.records import Fingerprint, Image, Item
from gnomon.vision import images
from gnomon.vision.images import describe, size_of


def segment(marker: int, body: bytes) -> bytes:
    return bytes([0xFF, marker]) + (len(body) + 2).to_bytes(2) + body


def jpeg(width: int, height: int, *, before: bytes = b"", frame: int = 0xC0) -> bytes:
    """A JPEG as far as its header goes: an application segment, a table, the frame."""
    body = b"\x08" + height.to_bytes(2) + width.to_bytes(2) + b"\x01\x01\x11\x00"
    return b"\xff\xd8" + before + segment(0xDB, bytes(65)) + segment(frame, body)


def png(width: int, height: int) -> bytes:
    body = b"IHDR" + width.to_bytes(4) + height.to_bytes(4) + b"\x08\x02\x00\x00\x00"
    return b"\x89PNG\r\n\x1a\n" + (13).to_bytes(4) + body + zlib.crc32(body).to_bytes(4)


def written(folder, name: str, content: bytes):
    (folder / name).write_bytes(content)
    return folder / name


def test_width_and_height_come_from_the_header(tmp_path):
    assert size_of(written(tmp_path, "a.png", png(640, 427))) == (640, 427)
    assert size_of(written(tmp_path, "a.jpg", jpeg(640, 427))) == (640, 427)


def test_a_frame_is_found_behind_a_thumbnail_and_padding(tmp_path):
    thumbnail = segment(0xE1, b"Exif\0\0" + jpeg(160, 120))  # a picture within the picture
    before = thumbnail + b"\xff\xff\xff" + segment(0xFE, b"a comment")
    assert size_of(written(tmp_path, "a.jpg", jpeg(30, 20, before=before))) == (30, 20)
    assert size_of(written(tmp_path, "b.jpg", jpeg(30, 20, frame=0xC2))) == (30, 20)  # progressive


def test_a_picture_is_described_by_path_hash_and_size(tmp_path):
    content = jpeg(8, 6) + b"data"
    file = written(tmp_path, "a.jpg", content)
    digest = hashlib.sha256(content).hexdigest()
    assert describe(file) == Image(path=str(file), sha256=digest, width=8, height=6)


def items_digest(file) -> str:
    found = Fingerprint()
    item = Item(
        id="1",
        form="caption",
        text="The cat is on the bed.",
        choices=("false", "true"),
        gold=("true",),
        images=(describe(file),),
    )
    found.add(item)
    return found.hexdigest()


def test_a_changed_picture_changes_the_items_digest_and_another_path_does_not(tmp_path):
    file = written(tmp_path, "a.jpg", jpeg(8, 6) + b"one")
    before = items_digest(file)
    assert items_digest(written(tmp_path, "copy.jpg", file.read_bytes())) == before
    file.write_bytes(jpeg(8, 6) + b"another")
    assert items_digest(file) != before


BAD = {
    "text": b"<html>Sign in</html>",
    "empty": b"",
    "half a PNG": png(4, 4)[:20],
    "no frame": b"\xff\xd8" + segment(0xE0, b"JFIF") + b"\xff\xd9",
    "data before the frame": b"\xff\xd8" + segment(0xDA, b"123") + jpeg(4, 4)[2:],
    "half a frame": jpeg(4, 4)[:-9],
    "a segment of no length": b"\xff\xd8\xff\xe0\x00\x00" + jpeg(4, 4)[2:],
    "segments without end": b"\xff\xd8" + segment(0xE0, b"") * 5000,
    "padding without end": b"\xff\xd8" + b"\xff" * 5000,
}


@pytest.mark.parametrize("content", BAD.values(), ids=BAD)
def test_what_is_not_a_whole_header_is_refused(tmp_path, content):
    with pytest.raises(DataError, match="not a whole JPEG or PNG picture") as error:
        describe(written(tmp_path, "a.jpg", content))
    assert "fetch" in error.value.hint


@pytest.mark.parametrize("size", [(0, 5), (2**31, 2**31), (60_000, 60_000)])
def test_a_picture_of_impossible_size_is_refused(tmp_path, size):
    with pytest.raises(DataError, match="pixels is not read"):
        size_of(written(tmp_path, "a.png", png(*size)))


def test_a_picture_that_is_too_large_to_hash_or_absent_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(images, "MOST_BYTES", 10)
    with pytest.raises(DataError, match="the picture has more than"):
        describe(written(tmp_path, "large.jpg", jpeg(4, 4)))
    with pytest.raises(DataError, match="No such file"):
        describe(tmp_path / "none.jpg")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_in_place_of_a_picture_is_refused(tmp_path):
    os.mkfifo(tmp_path / "a.jpg")
    with pytest.raises(DataError, match="a pipe or a device"):
        describe(tmp_path / "a.jpg")


@pytest.mark.published
def test_real_photographs_have_the_sizes_of_their_annotations(shared):
    import json

    folder = shared / "data" / "coco128"
    known = json.loads((folder / "instances.json").read_text())["images"]
    assert len(known) >= 100
    for row in known:
        assert size_of(folder / "photos" / row["file_name"]) == (row["width"], row["height"])
