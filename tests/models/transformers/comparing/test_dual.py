"""CLIP and SigLIP: scores as the library computes them, whatever the batch, each thing once."""

import random

import pytest
from msgspec.structs import replace

from gnomon.errors import UsageError
from gnomon.lexicon.statements import opposite
from gnomon.models.transformers.hf import hf
from gnomon.records import Image, Item
from gnomon.vision.images import describe, pixels

torch = pytest.importorskip("torch")
DUAL = ("clip", "siglip")


def plain_logits(folder, texts, image):
    """What the library's own forward call gives for some texts and one picture."""
    from transformers import AutoModel, AutoProcessor

    model = AutoModel.from_pretrained(folder).eval()
    processor = AutoProcessor.from_pretrained(folder)
    how = {"padding": "max_length", "max_length": 64} if "Siglip" in type(model).__name__ else {}
    inputs = processor(
        text=texts, images=pixels(image), return_tensors="pt", **(how or {"padding": True})
    )
    if how:
        inputs.pop("attention_mask", None)
    with torch.inference_mode():
        return model(**inputs).logits_per_image[0]


@pytest.mark.parametrize("make", DUAL)
def test_a_caption_is_compared_with_its_opposite_as_the_library_compares(make, seeing, captions):
    model = hf(str(seeing(make)), contrast="opposite")
    answers = model.answer(captions)
    for item, answer in zip(captions[:6], answers[:6], strict=True):
        other = opposite(item.text, item.tags["relation"])
        logits = plain_logits(seeing(make), [other, item.text], item.images[0])
        assert answer.scores == pytest.approx(logits.log_softmax(-1).tolist(), abs=1e-5)
    found = [answer.scores[1] - answer.scores[0] for answer in answers]
    assert max(found) - min(found) > 0.3


def test_siglip_gives_a_probability_without_a_contrast(seeing, captions):
    model = hf(str(seeing("siglip")), contrast="none")
    item = captions[3]
    (logit,) = plain_logits(seeing("siglip"), [item.text], item.images[0])
    chance = logit.sigmoid()
    wanted = [(1 - chance).log().item(), chance.log().item()]
    assert model.answer([item])[0].scores == pytest.approx(wanted, abs=1e-5)


def test_clip_gives_no_probability_so_it_needs_a_contrast(seeing):
    with pytest.raises(UsageError, match="not true or false"):
        hf(str(seeing("clip")), contrast="none")


@pytest.mark.parametrize("make", DUAL)
@pytest.mark.parametrize("size", [1, 3, 16])
def test_scores_do_not_depend_on_batch_or_order(make, size, seeing, captions):
    def scores(items, step):
        model = hf(str(seeing(make)))
        found = {}
        for start in range(0, len(items), step):
            for answer in model.answer(items[start : start + step]):
                found[answer.item] = answer.scores
        return found

    alone = scores(captions, 1)
    mixed = list(captions)
    random.Random(size).shuffle(mixed)
    for item, found in scores(mixed, size).items():
        assert found == pytest.approx(alone[item], abs=1e-5)


def test_each_text_and_each_picture_is_encoded_once_in_a_run(seeing, captions, album, monkeypatch):
    model = hf(str(seeing("clip")))
    encoder = model.comparer.model
    rows = {"text": 0, "image": 0}

    def counted(sort, function):
        def call(*given, **named):
            made = function(*given, **named)
            rows[sort] += len(made.pooler_output)
            return made

        return call

    for sort in rows:
        name = f"get_{sort}_features"
        monkeypatch.setattr(encoder, name, counted(sort, getattr(encoder, name)))
    for start in range(0, len(captions), 3):
        model.answer(captions[start : start + 3])
    texts = {item.text for item in captions}
    others = {opposite(item.text, item.tags["relation"]) for item in captions}
    assert rows == {"text": len(texts | others), "image": len(album)}


def test_a_full_memory_forgets_and_gives_the_same_scores(seeing, captions):
    from gnomon.models.transformers.dual import Memory

    whole = hf(str(seeing("clip"))).answer(captions)
    model = hf(str(seeing("clip")))
    model.comparer._texts = Memory(most_bytes=300)
    model.comparer._pictures = Memory(most_bytes=300)
    for wanted, found in zip(whole, model.answer(captions), strict=True):
        assert found.scores == pytest.approx(wanted.scores, abs=1e-5)
    assert len(model.comparer._pictures._kept) <= 2


def test_a_second_run_decodes_no_picture_and_gives_the_same_scores(seeing, captions, monkeypatch):
    from gnomon.models.transformers import dual

    first = hf(str(seeing("clip")), features="on").answer(captions)

    def decode(*_):
        raise AssertionError("a picture was decoded")

    monkeypatch.setattr(dual, "decode_bytes", decode)
    second = hf(str(seeing("clip")), features="on").answer(captions)
    assert [answer.scores for answer in second] == [answer.scores for answer in first]
    with pytest.raises(AssertionError, match="was decoded"):
        hf(str(seeing("clip")), features="off").answer(captions)


def test_features_of_one_model_are_not_given_to_another(seeing, captions, tmp_path):
    import shutil

    from safetensors.torch import load_file, save_file

    folder = tmp_path / "model"
    shutil.copytree(seeing("clip"), folder)
    first = hf(str(folder)).answer(captions[:2])
    weights = load_file(folder / "model.safetensors")
    weights["visual_projection.weight"] = -weights["visual_projection.weight"]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    second = hf(str(folder)).answer(captions[:2])
    for before, after in zip(first, second, strict=True):
        assert after.scores == pytest.approx(before.scores[::-1], abs=1e-5)


def test_choices_are_filled_in_and_compared(seeing, captions, album):
    item = Item(
        id="c",
        form="cloze",
        text="The bird is [MASK] the church.",
        choices=("left of", "behind", "inside"),
        gold=("behind",),
        images=(album[1],),
    )
    texts = [item.text.replace("[MASK]", choice) for choice in item.choices]
    logits = plain_logits(seeing("clip"), texts, album[1])
    (answer,) = hf(str(seeing("clip"))).answer([item])
    assert answer.scores == pytest.approx(logits.log_softmax(-1).tolist(), abs=1e-5)


def test_a_bad_picture_is_the_trouble_of_its_items_alone(seeing, captions, tmp_path):
    bad = tmp_path / "bad.png"
    bad.write_bytes(b"\x89PNG\r\n\x1a\n nothing")
    items = [captions[0], replace(captions[1], images=(Image(path=str(bad)),)), captions[2]]
    first, second, third = hf(str(seeing("clip"))).answer(items)
    assert "not a complete JPEG or PNG" in second.error
    assert first.choice
    assert third.choice


def test_a_text_too_long_and_too_many_pictures_are_told(seeing, captions, album):
    long = replace(captions[0], text="The bird is left of " + "the old church " * 40)
    two = replace(captions[0], images=tuple(album[:2]))
    none = replace(captions[0], images=())
    answers = hf(str(seeing("clip"))).answer([long, two, none])
    assert "tokens, the model takes 64" in answers[0].error
    assert answers[1].error == "the model compares a text with one picture, the item has 2"
    assert answers[2].error == "the model compares a text with one picture, the item has 0"


def test_another_picture_gives_another_score(seeing, captions, album):
    model = hf(str(seeing("clip")))
    here, there = model.answer([captions[0], replace(captions[0], images=(album[4],))])
    assert abs(here.scores[1] - there.scores[1]) > 1e-3


def test_a_strip_of_one_pixel_is_shown_or_told(seeing, captions, tmp_path):
    pil = pytest.importorskip("PIL.Image")
    file = tmp_path / "strip.png"
    pil.new("L", (900, 1), 77).save(file)
    (answer,) = hf(str(seeing("clip"))).answer([replace(captions[0], images=(describe(file),))])
    assert answer.choice or "does not fit the model" in answer.error


def test_the_manifest_names_contrast_and_scores(seeing):
    said = hf(str(seeing("siglip"))).describe()
    assert said["kind"] == "dual"
    assert said["contrast"] == "opposite"
    assert "softmax" in said["scores"]
    assert said["image_processor"]["class"].startswith("SiglipImageProcessor")


def test_an_option_of_another_kind_is_refused(seeing):
    with pytest.raises(UsageError, match="takes no regions"):
        hf(str(seeing("clip")), regions="somewhere")
    with pytest.raises(UsageError, match="not of kind match"):
        hf(str(seeing("clip")), kind="match")
