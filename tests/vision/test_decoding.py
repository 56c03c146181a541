"""Strangers' pictures become plain RGB, or one sentence."""

import base64
import io
import random
import struct
import zlib

import pytest

from gnomon.errors import DataError
from gnomon.vision.images import decode, thumbnail

PIL = pytest.importorskip("PIL.Image")


def picture(mode: str, size: tuple[int, int] = (6, 4), colour: object = None) -> object:
    return PIL.new(mode, size, colour)


def written(tmp_path, made, name: str, **options: object):
    made.save(tmp_path / name, **options)
    return tmp_path / name


def outcome(file) -> bytes | str:
    try:
        return decode(file).tobytes()
    except DataError:
        return "refused"


@pytest.mark.parametrize(
    ("mode", "colour", "name", "seen"),
    [
        ("RGB", (200, 10, 30), "a.png", (200, 10, 30)),
        ("L", 77, "a.png", (77, 77, 77)),
        ("1", 1, "a.png", (255, 255, 255)),
        ("RGBA", (0, 0, 0, 0), "a.png", (255, 255, 255)),
        ("LA", (0, 128), "a.png", (127, 127, 127)),
        ("I;16", 51200, "a.png", (200, 200, 200)),
        ("CMYK", (0, 0, 0, 255), "a.jpg", (0, 0, 0)),
        ("L", 90, "a.jpg", (90, 90, 90)),
    ],
)
def test_every_kind_of_pixel_becomes_rgb(tmp_path, mode, colour, name, seen):
    found = decode(written(tmp_path, picture(mode, colour=colour), name))
    assert (found.mode, found.size) == ("RGB", (6, 4))
    assert all(abs(a - b) <= 2 for a, b in zip(found.getpixel((2, 2)), seen, strict=True))


def test_a_palette_with_a_transparent_colour_shows_white(tmp_path):
    made = picture("RGB", colour=(9, 9, 9)).convert("P")
    found = decode(written(tmp_path, made, "a.png", transparency=made.getpixel((0, 0))))
    assert found.getpixel((0, 0)) == (255, 255, 255)


def test_a_turn_in_the_exif_data_is_left_alone(tmp_path):
    exif = PIL.Exif()
    exif[0x0112] = 6  # to be turned by a quarter
    found = decode(written(tmp_path, picture("RGB"), "a.jpg", exif=exif))
    assert found.size == (6, 4)


@pytest.mark.parametrize("name", ["a.png", "a.jpg"])
def test_a_picture_cut_at_any_byte_is_an_error_or_whole(tmp_path, name):
    noise = PIL.frombytes("RGB", (32, 32), random.Random(1).randbytes(32 * 32 * 3))
    whole = written(tmp_path, noise, name).read_bytes()
    complete = decode(tmp_path / name).tobytes()
    cut = tmp_path / f"cut-{name}"
    seen = set()
    for length in range(0, len(whole), 7):
        cut.write_bytes(whole[:length])
        seen.add(outcome(cut))
    assert "refused" in seen
    assert seen <= {"refused", complete}


def test_any_changed_byte_gives_a_picture_or_one_sentence(tmp_path):
    rng = random.Random(2)
    noise = PIL.frombytes("RGB", (16, 16), rng.randbytes(16 * 16 * 3))
    for name in ("a.png", "a.jpg"):
        whole = bytearray(written(tmp_path, noise, name).read_bytes())
        seen = set()
        for _ in range(400):
            changed = bytearray(whole)
            changed[rng.randrange(len(whole))] = rng.randrange(256)
            (tmp_path / "x").write_bytes(changed)
            seen.add(outcome(tmp_path / "x"))
        assert "refused" in seen
        assert len(seen) > 1


def test_a_bomb_is_refused_before_it_is_decoded(tmp_path):
    def chunk(kind: bytes, body: bytes) -> bytes:
        sum_of = struct.pack(">I", zlib.crc32(kind + body))
        return struct.pack(">I", len(body)) + kind + body + sum_of

    head = struct.pack(">IIBBBBB", 16000, 16000, 8, 2, 0, 0, 0)
    body = zlib.compress(bytes(10**6))
    bomb = tmp_path / "bomb.png"
    ends = chunk(b"IDAT", body) + chunk(b"IEND", b"")
    bomb.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + ends)
    with pytest.raises(DataError, match="16,000 x 16,000 pixels is not decoded"):
        decode(bomb)


def test_what_only_says_that_it_is_a_picture_is_refused(tmp_path):
    for number, content in enumerate((b"", b"<svg onload='x()'/>", b"GIF89a" + bytes(40))):
        file = tmp_path / f"{number}.png"
        file.write_bytes(content)
        with pytest.raises(DataError, match="not a complete JPEG or PNG"):
            decode(file)


def test_a_thumbnail_is_small_and_part_of_the_page(tmp_path):
    wide = written(tmp_path, picture("RGB", (900, 300), (10, 200, 10)), "wide.jpg")
    kind, _, coded = thumbnail(wide).partition(",")
    assert kind == "data:image/jpeg;base64"
    small = PIL.open(io.BytesIO(base64.b64decode(coded)))
    assert small.size == (160, 53)
    assert len(coded) < 4000
