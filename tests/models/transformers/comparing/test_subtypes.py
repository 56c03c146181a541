"""Subtypes are chosen by the similarities that CLIP and SigLIP themselves compute."""

import pytest
from msgspec.structs import replace

torch = pytest.importorskip("torch")

from gnomon.errors import DataError, UsageError
from gnomon.look.records import AnnotatedPicture, Picture, Region, mode_named
from gnomon.look.sightings import measure
from gnomon.look.subtypes import TEXT, select_subtypes
from gnomon.models.similarity import similarities_of
from gnomon.models.transformers.hf import hf
from gnomon.registry import model
from gnomon.vision.detection import Box
from gnomon.vision.images import pixels

DUAL = ("clip", "siglip")
NAMES = ("chair", "office chair", "beach chair", "toy chair", "rocking chair")
RIGHT = mode_named("right")


def plain(folder, names, picture):
    """The similarities of the library's own forward call."""
    from transformers import AutoModel, AutoProcessor

    encoder = AutoModel.from_pretrained(folder).eval()
    processor = AutoProcessor.from_pretrained(folder)
    how = {"padding": True}
    if "Siglip" in type(encoder).__name__:
        how = {"padding": "max_length", "max_length": 64}
    texts = [TEXT.format(name=name) for name in names]
    inputs = processor(text=texts, images=picture, return_tensors="pt", **how)
    if "max_length" in how:
        inputs.pop("attention_mask", None)
    with torch.inference_mode():
        return encoder(**inputs).logits_per_image[0].tolist()


@pytest.mark.parametrize("make", DUAL)
def test_similarities_are_the_librarys(make, seeing, album):
    encoder = similarities_of(hf(str(seeing(make)), contrast="opposite"))
    found = encoder.similarities(album[:2], [TEXT.format(name=name) for name in NAMES])
    for image, row in zip(album[:2], found, strict=True):
        assert row == pytest.approx(plain(seeing(make), NAMES, pixels(image)), abs=1e-4)
    assert found[0] != found[1]


@pytest.mark.parametrize("make", DUAL)
def test_the_subtype_is_the_one_that_a_plain_computation_gives(make, seeing, album):
    encoder = similarities_of(hf(str(seeing(make)), contrast="opposite"))
    chosen = set()
    for image in album:
        region = Region(id="1", picture="p", name="chair", box=Box(0, 0, 0.5, 1))
        picture = Picture(id="p", file=image.path, width=image.width, height=image.height)
        scene = AnnotatedPicture(picture=picture, regions=(region,))
        (seen,) = select_subtypes(
            scene, measure(scene, None, RIGHT).sightings, {"chair": NAMES}, encoder, RIGHT
        ).sightings

        whole = pixels(image)
        scores = dict(zip(NAMES, plain(seeing(make), NAMES, whole), strict=True))
        left = [name for name in NAMES if name == "chair" or scores[name] > scores["chair"]]
        crop = plain(seeing(make), left, whole)  # so small that the crop is the whole picture
        best = left[crop.index(max(crop))]
        assert seen.subtype == ("" if best == "chair" else best)
        chosen.add(seen.subtype)
    assert len(chosen) > 1


def test_a_model_that_does_not_compare_is_refused():
    with pytest.raises(UsageError, match="does not compare"):
        similarities_of(model("random").open())


def test_a_picture_that_cannot_be_shown_is_named(seeing, album):
    encoder = similarities_of(hf(str(seeing("clip"))))
    with pytest.raises(DataError, match="gone"):
        encoder.similarities([replace(album[0], path="gone.png", sha256="")], ["a chair"])
