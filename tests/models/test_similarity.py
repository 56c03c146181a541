"""conse: what a detector sees, put into words, is compared with words."""

import sys

import pytest

pytest.importorskip("cv2")
PIL = pytest.importorskip("PIL.Image")

from gnomon.downloads import packages
from gnomon.models.similarity import Conse, label_shares, minilm_folder
from gnomon.vision.detection import Box, Detection
from gnomon.vision.images import describe

BOX = Box(0, 0, 1, 1)


class Looker:
    """A detector that sees what it is told to."""

    def __init__(self, **sure: float) -> None:
        self.seen = [Detection(label, confidence, BOX) for label, confidence in sure.items()]

    def find(self, picture):
        return self.seen


def test_each_kind_counts_as_sure_as_its_surest_thing():
    seen = [
        Detection("dog", 0.5, BOX),
        Detection("dog", 0.75, BOX),
        Detection("cat", 0.25, BOX),
    ]
    assert label_shares(seen) == {"dog": 0.75, "cat": 0.25}


def test_only_the_surest_kinds_count():
    many = [Detection(f"kind {number}", 1 / (number + 1), BOX) for number in range(30)]
    assert len(label_shares(many)) == 10
    assert sum(label_shares(many).values()) == pytest.approx(1)


def test_where_nothing_is_seen_no_text_is_liker_than_another(tmp_path):
    PIL.new("RGB", (8, 8)).save(tmp_path / "p.png")
    found = Conse(Looker()).similarities([describe(tmp_path / "p.png")], ["a", "b"])
    assert found == [[0.0, 0.0]]


@pytest.mark.weights
def test_what_is_around_a_chair_says_which_chair_it_is(tmp_path):
    pytest.importorskip("transformers")
    PIL.new("RGB", (8, 8)).save(tmp_path / "p.png")
    image = describe(tmp_path / "p.png")
    texts = ["a photo of a office chair", "a photo of a beach chair"]
    ((office, beach),) = Conse(Looker(laptop=0.9, keyboard=0.8)).similarities([image], texts)
    assert office > beach
    ((office, beach),) = Conse(Looker(surfboard=0.9, umbrella=0.6)).similarities([image], texts)
    assert beach > office


def test_the_small_encoder_of_text_needs_no_opencv(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setitem(sys.modules, "cv2", None)
    monkeypatch.setattr(
        packages, "kept_files", lambda package, files: asked.append(files) or [tmp_path / "x"]
    )
    assert minilm_folder() == tmp_path
    assert "config.json" in {file.name.rpartition("/")[2] for file in asked[0]}
