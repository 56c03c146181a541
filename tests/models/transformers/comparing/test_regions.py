"""LXMERT and VisualBERT: regions from files, and the scores of one call of the library."""

import base64
import json
import random

import pytest
from msgspec.structs import replace

from gnomon.errors import DataError, UsageError
from gnomon.models.transformers.hf import hf

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")
MODELS = ("lxmert", "visualbert")
COUNTS = (4, 6, 4, 5, 6)  # regions of each picture of the album


@pytest.fixture(scope="module")
def regions(album):
    """Features and boxes of each picture, by the name of its file."""
    from pathlib import Path

    draw = np.random.default_rng(3)
    found = {}
    for image, count in zip(album, COUNTS, strict=True):
        features = draw.normal(size=(count, 12)).astype(np.float32)
        corners = np.sort(draw.random((count, 2, 2)), axis=1).reshape(count, 4)
        found[Path(image.path).stem] = features, corners.astype(np.float32)
    return found


@pytest.fixture(scope="module")
def own_folder(regions, album, tmp_path_factory):
    """Our own files: some named by the picture's file, some by its hash."""
    from pathlib import Path

    from safetensors.numpy import save_file

    folder = tmp_path_factory.mktemp("own")
    for number, image in enumerate(album):
        stem = Path(image.path).stem
        features, boxes = regions[stem]
        name = image.sha256 if number % 2 else stem
        save_file({"features": features, "boxes": boxes}, folder / f"{name}.safetensors")
    return folder


def plain(make, folder, item, regions):
    """Scores of false and true, by one call of the library for one item."""
    from pathlib import Path

    import transformers

    config = transformers.AutoConfig.from_pretrained(folder)
    model = getattr(transformers, config.architectures[0]).from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    inputs = tokenizer(item.text, return_tensors="pt")
    features, boxes = (torch.tensor(x)[None] for x in regions[Path(item.images[0].path).stem])
    with torch.inference_mode():
        if make == "lxmert":
            logits = model(**inputs, visual_feats=features, visual_pos=boxes)
            return logits.cross_relationship_score[0].log_softmax(-1).tolist()
        return model(**inputs, visual_embeds=features).logits[0].log_softmax(-1).tolist()


@pytest.mark.parametrize("make", MODELS)
def test_scores_are_those_of_one_call_of_the_library(make, seeing, captions, regions, own_folder):
    answers = hf(str(seeing(make)), regions=str(own_folder)).answer(captions)
    for item, answer in zip(captions[:6], answers[:6], strict=True):
        wanted = plain(make, seeing(make), item, regions)
        assert answer.scores == pytest.approx(wanted, abs=1e-5)
    found = [answer.scores[1] - answer.scores[0] for answer in answers]
    assert max(found) - min(found) > 0.3


@pytest.mark.parametrize("make", MODELS)
def test_scores_do_not_depend_on_batch_or_order(make, seeing, captions, own_folder):
    model = hf(str(seeing(make)), regions=str(own_folder))
    alone = {item.id: model.answer([item])[0].scores for item in captions}
    for size in (3, 16):
        mixed = list(captions)
        random.Random(size).shuffle(mixed)
        for start in range(0, len(mixed), size):
            for answer in model.answer(mixed[start : start + size]):
                assert answer.scores == pytest.approx(alone[answer.item], abs=1e-5)


def write_authors_folder(folder, regions):
    """As the authors extract: filled up with rows of zeros to one number of regions."""
    most = max(COUNTS)
    features, boxes = [], []
    for rows, corners in regions.values():
        room = ((0, most - len(rows)), (0, 0))
        features.append(torch.tensor(np.pad(rows, room)))
        boxes.append(torch.tensor(np.pad(corners, room)))
    torch.save(torch.stack(features), folder / "features.pt")
    torch.save(torch.stack(boxes), folder / "boxes.pt")
    (folder / "names.txt").write_text("".join(f"{name}.jpg\n" for name in regions))


def packed(array):
    return base64.b64encode(np.ascontiguousarray(array, dtype="<f4").tobytes()).decode()


def write_predictions(file, regions, album):
    """A table of VinVL: boxes in pixels, a text of features for each region."""
    lines = []
    for image, (name, (rows, boxes)) in zip(album, regions.items(), strict=True):
        size = np.array([image.width, image.height] * 2)
        objects = []
        for row, box in zip(rows, boxes, strict=True):
            objects.append({"rect": (box * size).tolist(), "feature": packed(row), "conf": 0.9})
        lines.append(f"{name}\t{json.dumps({'objects': objects})}\n")
    file.write_text("".join(lines))


def write_features(file, regions):
    """A table of VinVL with the geometry behind the features, the pictures by their numbers."""
    lines = []
    for name, (rows, boxes) in regions.items():
        sides = boxes[:, 2:] - boxes[:, :2]
        both = packed(np.concatenate([rows, boxes, sides], axis=1))
        said = json.dumps({"num_boxes": len(rows), "features": both})
        lines.append(f"{int(name) or name}\t{said}\n")
    file.write_text("".join(lines))


@pytest.mark.parametrize("kind", ["authors", "predictions", "features"])
def test_all_kinds_of_files_give_the_same_scores(
    kind, seeing, captions, regions, own_folder, album, tmp_path
):
    if kind == "authors":
        write_authors_folder(tmp_path, regions)
        path = tmp_path
    elif kind == "predictions":
        path = tmp_path / "predictions.tsv"
        write_predictions(path, regions, album)
    else:
        path = tmp_path / "feature.tsv"
        write_features(path, regions)
    wanted = hf(str(seeing("lxmert")), regions=str(own_folder)).answer(captions)
    found = hf(str(seeing("lxmert")), regions=str(path)).answer(captions)
    for one, two in zip(wanted, found, strict=True):
        assert two.scores == pytest.approx(one.scores, abs=1e-5)


def test_a_picture_without_regions_is_the_trouble_of_its_items(seeing, captions, regions, tmp_path):
    some = dict(list(regions.items())[1:])
    write_features(tmp_path / "feature.tsv", some)
    answers = hf(str(seeing("lxmert")), regions=str(tmp_path)).answer(captions[:2])
    assert "no regions of the picture 000000000000.png" in answers[0].error
    assert answers[1].choice


def test_features_of_another_detector_are_told(seeing, captions, tmp_path):
    from pathlib import Path

    from safetensors.numpy import save_file

    stem = Path(captions[0].images[0].path).stem
    save_file({"features": np.ones((3, 7), np.float32)}, tmp_path / f"{stem}.safetensors")
    for make, trouble in (
        ("lxmert", "regions have 7 features each, the model takes 12"),
        ("visualbert", "regions have 7 features each, the model takes 12"),
    ):
        (answer,) = hf(str(seeing(make)), regions=str(tmp_path)).answer(captions[:1])
        assert trouble in answer.error


def test_lxmert_needs_boxes_and_visualbert_does_not(seeing, captions, regions, tmp_path):
    from safetensors.numpy import save_file

    name, (features, _) = next(iter(regions.items()))
    save_file({"features": features}, tmp_path / f"{name}.safetensors")
    (answer,) = hf(str(seeing("lxmert")), regions=str(tmp_path)).answer(captions[:1])
    assert "no boxes" in answer.error
    (answer,) = hf(str(seeing("visualbert")), regions=str(tmp_path)).answer(captions[:1])
    assert answer.choice


def test_without_features_the_model_is_refused(seeing, tmp_path):
    with pytest.raises(UsageError, match="regions of pictures"):
        hf(str(seeing("lxmert")))
    with pytest.raises(DataError, match="no region features that can be read"):
        hf(str(seeing("lxmert")), regions=str(tmp_path))


def test_changed_features_change_the_description(seeing, regions, tmp_path):
    write_authors_folder(tmp_path, regions)
    before = hf(str(seeing("visualbert")), regions=str(tmp_path)).describe()
    names = (tmp_path / "names.txt").read_text().split()
    (tmp_path / "names.txt").write_text("\n".join(names[::-1]))
    after = hf(str(seeing("visualbert")), regions=str(tmp_path)).describe()
    assert before["regions_hash"] != after["regions_hash"]
    assert before["regions"] == "features.pt"


@pytest.mark.parametrize("make", MODELS)
def test_another_picture_gives_another_score(make, seeing, captions, own_folder, album):
    shown = [replace(captions[0], images=(image,)) for image in album]
    model = hf(str(seeing(make)), regions=str(own_folder))
    found = [answer.scores[1] for answer in model.answer(shown)]
    assert len({round(score, 4) for score in found}) == len(album)
