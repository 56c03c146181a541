"""Detectors of transformers, from small folders on disk, against plain passes of the library."""

import pytest

from gnomon.errors import GnomonError
from gnomon.models.detectors import open_depth, open_detector

pytest.importorskip("torch")


@pytest.mark.parametrize("make", ["detr", "rt-detr", "yolos"])
def test_a_detector_of_fixed_classes_finds_what_a_plain_pass_finds(make, detecting, photo):
    import torch
    import transformers

    folder = detecting(make)
    detector = open_detector(f"hf:{folder}")
    assert detector.labels == ["person", "dining table", "cat"]
    found = detector.find(photo)

    model = transformers.AutoModelForObjectDetection.from_pretrained(folder).eval()
    processor = transformers.AutoImageProcessor.from_pretrained(folder)
    with torch.no_grad():
        plain = model(**processor(images=photo, return_tensors="pt"))
    (boxes,) = processor.post_process_object_detection(
        plain, threshold=0.05, target_sizes=[(48, 64)]
    )
    order = boxes["scores"].argsort(descending=True)
    assert len(found) > 0
    assert [each.confidence for each in found] == pytest.approx(
        boxes["scores"][order].tolist(), abs=1e-5
    )
    left, top, right, bottom = boxes["boxes"][order[0]].clamp(min=0).tolist()
    expected = (left / 64, top / 48, min(1, right / 64), min(1, bottom / 48))
    assert tuple(found[0].box) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("make", ["owlv2", "grounding"])
def test_a_detector_of_any_names_looks_for_those_that_it_is_given(make, detecting, photo):
    detector = open_detector(f"hf:{detecting(make)}")
    assert detector.labels is None
    found = detector.find(photo, ["the bird", "the red car"])
    assert found
    assert {each.label for each in found} <= {"the bird", "the red car"}
    assert all(0 <= edge <= 1 for each in found for edge in each.box)
    assert [each.confidence for each in found] == sorted(
        (each.confidence for each in found), reverse=True
    )
    assert detector.find(photo, []) == []


def test_what_a_named_detector_finds_of_one_name_does_not_depend_on_the_others(detecting, photo):
    detector = open_detector(f"hf:{detecting('grounding')}")
    alone = detector.find(photo, ["the bird"])
    both = detector.find(photo, ["the bird", "the red car"])
    assert [each for each in both if each.label == "the bird"] == alone


def test_a_model_that_is_no_detector_is_refused(detecting):
    with pytest.raises(GnomonError):
        open_detector(f"hf:{detecting('dpt')}")


@pytest.mark.parametrize("spec", ["hf:", "yolo", "true"])
def test_a_name_that_is_no_detector_is_refused_with_what_there_is(spec):
    with pytest.raises(GnomonError, match="There is no detector"):
        open_detector(spec)


@pytest.mark.parametrize(("make", "far"), [("depth anything", False), ("dpt", False)])
def test_a_depth_map_declares_which_way_it_goes_and_is_that_of_a_plain_pass(
    make, far, detecting, photo
):
    import torch
    import transformers

    folder = detecting(make)
    depth = open_depth(f"hf:{folder}")
    assert depth.far_is_large is far
    found = depth.distances(photo)
    model = transformers.AutoModelForDepthEstimation.from_pretrained(folder).eval()
    processor = transformers.AutoImageProcessor.from_pretrained(folder)
    with torch.no_grad():
        plain = model(**processor(images=photo, return_tensors="pt")).predicted_depth
    assert found == pytest.approx(plain[0].numpy(), abs=1e-5)


def test_a_depth_map_of_metres_goes_the_other_way(detecting, tmp_path):
    import json
    import shutil

    folder = tmp_path / "metric"
    shutil.copytree(detecting("depth anything"), folder)
    config = json.loads((folder / "config.json").read_text())
    config |= {"depth_estimation_type": "metric", "max_depth": 20}
    (folder / "config.json").write_text(json.dumps(config))
    assert open_depth(f"hf:{folder}").far_is_large is True


def test_a_depth_map_of_a_family_that_is_not_known_is_refused_not_guessed(detecting):
    with pytest.raises(GnomonError, match="distances or their inverse"):
        open_depth(f"hf:{detecting('detr')}")


def test_no_depth_is_none_and_an_unknown_name_is_refused():
    assert open_depth("none") is None
    with pytest.raises(GnomonError, match="There is no depth map"):
        open_depth("midas")
