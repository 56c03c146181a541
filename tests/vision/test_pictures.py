"""Pictures as models are shown them: the right ones, in order, and a trouble for a bad one."""

import threading

import pytest

from gnomon.errors import DataError
from gnomon.records import Image
from gnomon.vision import images as pictures
from gnomon.vision.images import describe, pixels, see, stored

PIL = pytest.importorskip("PIL.Image")


@pytest.fixture
def album(tmp_path) -> list[Image]:
    found = []
    for number in range(40):
        file = tmp_path / f"{number}.png"
        PIL.new("RGB", (4 + number, 3), (number, 0, 0)).save(file)
        found.append(describe(file))
    return found


def test_pictures_come_in_order_whatever_the_threads(album):
    for threads in (1, 4):
        seen = list(see(album, pixels, threads=threads, ahead=3))
        assert [each.made.size for each in seen] == [(4 + n, 3) for n in range(40)]
        assert not any(each.trouble for each in seen)


def test_no_more_are_made_ahead_than_asked_for(album):
    made = []
    lock = threading.Lock()

    def make(image: Image) -> str:
        with lock:
            made.append(image.path)
        return image.path

    coming = see(album, make, threads=2, ahead=5)
    next(coming)
    coming.close()
    assert len(made) <= 6


def test_a_picture_that_cannot_be_shown_spoils_no_other(album, tmp_path):
    bad = tmp_path / "3.png"
    bad.write_bytes(bad.read_bytes()[:50])
    missing = Image(path=str(tmp_path / "missing.png"))
    first, damaged, none, last = see([album[0], Image(path=str(bad)), missing, album[4]], pixels)
    assert first.made.size == (4, 3)
    assert last.made.size == (8, 3)
    assert (damaged.made, none.made) == (None, None)
    assert "damaged" in damaged.trouble
    assert "No such file" in none.trouble


def test_a_changed_picture_is_noticed(album, tmp_path):
    assert stored(album[0]).startswith(b"\x89PNG")
    PIL.new("RGB", (4, 3), (200, 0, 0)).save(tmp_path / "0.png")
    with pytest.raises(DataError, match="not the one that the question was made with"):
        stored(album[0])


def test_a_picture_of_the_web_is_fetched_once_by_our_own_downloader(album, tmp_path, monkeypatch):
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path / "cache"))
    content = stored(album[1])
    calls = []

    def fetch(url, target, *, sha256, limit):
        calls.append((url, sha256, limit))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)

    monkeypatch.setattr("gnomon.vision.images.download", fetch)
    remote = Image(path="https://photos.invalid/1.png", sha256=album[1].sha256)
    assert pixels(remote).size == (5, 3)
    assert pixels(remote).size == (5, 3)
    assert calls == [(remote.path, album[1].sha256, 2**28)]


def test_a_digest_that_is_a_path_does_not_say_where_a_picture_is_fetched_to(tmp_path, monkeypatch):
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path / "cache"))
    asked = []
    monkeypatch.setattr(pictures, "download", lambda url, target, **_: asked.append(target))
    pictures.file_of(Image(path="https://photos.invalid/1.png", sha256="../../.ssh/keys"))
    (target,) = asked
    assert target.parent == tmp_path / "cache" / "photos"


def test_large_pictures_are_decoded_in_their_turn_and_small_ones_ahead(
    album, tmp_path, monkeypatch
):
    monkeypatch.setattr("gnomon.vision.images.LARGE", 60)
    here = threading.get_ident()
    large = {}

    def make(image: Image) -> int:
        size = pixels(image).size
        large[size] = threading.get_ident() == here
        return size[0]

    seen = list(see(album, make, threads=2))
    assert [each.made for each in seen] == [4 + n for n in range(40)]
    assert large == {(4 + n, 3): 3 * (4 + n) > 60 for n in range(40)}
