"""`gnomon look` on the command line: what it says, and what it refuses."""

import json

import pytest

from gnomon.cli import main
from gnomon.errors import MissingExtraError
from tests.look import samples
from tests.look.samples import as_json


@pytest.fixture
def coco(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "coco.json").write_bytes(as_json(samples.COCO))
    return tmp_path


def test_it_says_what_it_wrote(coco, capsys):
    assert main(["look", "coco.json", "-o", "k"]) == 0
    printed = capsys.readouterr().out
    assert "3 regions in 2 pictures" in printed
    assert "2  names.jsonl" in printed
    manifest = json.loads((coco / "k" / "manifest.json").read_text())
    assert (manifest["pictures"], manifest["regions"], manifest["mode"]) == (2, 3, "right")
    assert manifest["switches"] == {}
    assert (coco / "k" / "page.html").is_file()


def test_the_manifest_names_every_switch_of_a_mode(coco):
    assert main(["look", "coco.json", "-o", "k", "--quiet", "--mode", "code"]) == 0
    switches = json.loads((coco / "k" / "manifest.json").read_text())["switches"]
    assert {
        "swapped_axes",
        "whole_picture_mean",
        "scenes_overwritten",
        "no_hyponyms",
    } <= switches.keys()


def test_limit_counts_pictures(coco, capsys):
    assert main(["look", "coco.json", "-o", "k", "--limit", "1"]) == 0
    assert "2 regions in 1 pictures" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["nowhere.json"], 1, "there is no such file"),
        (["coco.json", "--mode", "wrong"], 2, "There is no mode named 'wrong'"),
        (["coco.json", "--mode", "right+swaped_axes"], 2, "Did you mean swapped_axes"),
        (["coco.json", "--limit", "-1"], 2, "--limit cannot be -1"),
        (["coco.json", "--limit", "0"], 2, "nothing to do"),
        (["coco.json", "--images", "nowhere"], 1, "there is no such folder"),
        (["coco.json", "--depth", "deep"], 2, "There is no depth map 'deep'"),
        (["coco.json", "--colours", "nobody"], 2, "There is no model"),
        (["empty.json"], 1, "the file is empty"),
        (["none.json"], 1, "no picture was read"),
        (["regions.json"], 1, "how large the pictures are"),
    ],
)
def test_what_cannot_be_done_is_one_sentence_with_a_remedy(coco, capsys, words, code, message):
    (coco / "empty.json").write_bytes(b"")
    (coco / "none.json").write_bytes(b'{"images": [], "annotations": [{"id": 1}]}')
    (coco / "regions.json").write_bytes(as_json(samples.DESCRIPTIONS))
    assert main(["look", *words, "-o", "k"]) == code
    said = capsys.readouterr().err
    assert message in said
    assert len(said.strip().splitlines()) == 2
    assert "Traceback" not in said


def test_when_nothing_was_read_the_troubles_say_why(coco):
    (coco / "none.json").write_bytes(b'{"images": [], "annotations": [{"id": 1}]}')
    assert main(["look", "none.json", "-o", "k"]) == 1
    troubles = (coco / "k" / "troubles.jsonl").read_text()
    assert "one of its annotations is skipped" in troubles
    assert "it has no images" in troubles


def test_an_output_that_is_a_file_is_refused(coco, capsys):
    assert main(["look", "coco.json", "-o", "coco.json"]) == 1
    assert "Give a folder with -o" in capsys.readouterr().err


def test_without_spacy_captions_are_refused_and_names_are_not(coco, capsys, monkeypatch):
    from gnomon.look import captions

    monkeypatch.setattr(captions, "is_installed", lambda: False)
    assert main(["look", "coco.json", "-o", "k", "--quiet"]) == 0
    (coco / "regions.json").write_bytes(as_json(samples.DESCRIPTIONS))
    (coco / "sizes.json").write_bytes(as_json(samples.IMAGE_DATA))
    words = ["look", "regions.json", "sizes.json", "--set", "least_name=1", "-o", "c"]
    assert main(words) == MissingExtraError.exit_code
    assert "gnomon[names]" in capsys.readouterr().err


def test_without_a_model_for_depth_the_rest_goes_on(coco, capsys, monkeypatch):
    from gnomon.errors import ModelError
    from gnomon.models import detectors

    image = pytest.importorskip("PIL.Image")
    (coco / "photos").mkdir()
    image.new("RGB", (640, 480)).save(coco / "photos" / "000007.jpg")
    image.new("RGB", (4, 3)).save(coco / "photos" / "000008.jpg")

    def missing(spec):
        raise ModelError("npm is not installed.", "Install it.")

    monkeypatch.setattr(detectors, "open_depth", missing)
    words = ["look", "coco.json", "--images", "photos", "--colours", "none", "-o", "k"]
    assert main(words) == 0
    assert "Depth is not known" in capsys.readouterr().err
    assert json.loads((coco / "k" / "manifest.json").read_text())["depth"] == "none"
    assert main([*words, "--depth", "fastdepth"]) == 1
