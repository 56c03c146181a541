"""Photographs in which both things are seen, found by a detector."""

import numpy as np
import pytest

import gnomon
from gnomon.errors import DataError, UsageError
from gnomon.paint.painters import files as module
from gnomon.paint.painters.files import PhotoGallery, gallery
from gnomon.paint.records import PaintTrouble
from gnomon.scenes.pictures import png
from gnomon.vision.detection import Box, Detection

from .conftest import request, scene

BOX = Box(0.1, 0.1, 0.5, 0.5)
SEEN = {1: ["dog", "cat"], 2: ["dog"], 3: ["dog", "dog"], 4: ["cat", "dog", "car"]}


class ByColour:
    """A detector that sees in a photograph what its colour stands for."""

    labels = ("dog", "cat", "car")

    def __init__(self):
        self.looked = 0

    def find(self, picture, names=()):
        self.looked += 1
        sure = [Detection(label, 0.9, BOX) for label in SEEN[picture.getpixel((0, 0))[0]]]
        return [*sure, Detection("car", 0.1, BOX)]


def photograph(value):
    return png(np.full((4, 4, 3), value, dtype=np.uint8))


@pytest.fixture
def photos(tmp_path, monkeypatch):
    folder = tmp_path / "photos"
    (folder / "more").mkdir(parents=True)
    for value in (1, 2, 3):
        (folder / f"{value}.png").write_bytes(photograph(value))
    (folder / "more" / "4.png").write_bytes(photograph(4))
    (folder / "broken.jpg").write_bytes(b"no picture")
    monkeypatch.setattr(module, "open_detector", lambda spec: ByColour())
    return folder


def pets(first="puppy", second="kitten"):
    return scene(id=f"{first}/{second}", things=(first, second))


def shown(painter, item):
    found = [
        made for _, made in painter.paint([request(item, n) for n in range(painter.count(item))])
    ]
    return {each.content for each in found}


def test_photographs_that_show_both_things_are_shown(photos):
    painter = PhotoGallery(photos, "ssd", 0.3)
    assert shown(painter, pets()) == {photograph(1), photograph(4)}
    assert shown(painter, pets("dog", "dog")) == {photograph(3)}
    assert shown(painter, pets("cat", "automobile")) == {photograph(4)}


def test_what_no_photograph_shows_is_a_trouble(photos):
    painter = PhotoGallery(photos, "ssd", 0.3)
    for item in (pets("cat", "cat"), pets("unicorn", "dog"), pets("", "dog")):
        ((_, made),) = painter.paint([request(item)])
        assert made == PaintTrouble("no photograph shows both things")


def test_each_photograph_is_looked_at_once_in_a_run(photos, tmp_path):
    first, again = PhotoGallery(photos, "ssd", 0.3), PhotoGallery(photos, "ssd", 0.3)
    for painter in (first, again):
        painter.keep(tmp_path / "kept")
        painter.count(pets())
        painter.count(pets("cat", "car"))
    assert first._detector.looked == 4
    assert again._detector.looked == 0
    assert again.count(pets()) == 2


def test_a_gallery_end_to_end(photos, tmp_path):
    model = gnomon.model("synth:gallery", dir=str(photos), judge="none", pictures=0)
    source = gnomon.load("vsr@fresh", form="scene", quads=2)
    run = gnomon.run(source, model, runs=tmp_path / "runs")
    about = run.manifest.model_description["painter"]
    assert about["photographs"] == 5
    assert run.manifest.counts.asked == 4


def test_what_cannot_be_is_said(photos, tmp_path):
    with pytest.raises(DataError, match="no such folder"):
        gallery("", dir=str(tmp_path / "nothing"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="no photographs"):
        gallery("", dir=str(tmp_path / "empty"))
    with pytest.raises(UsageError, match="between 0 and 1"):
        gallery("", dir=str(photos), sure=2.0)
