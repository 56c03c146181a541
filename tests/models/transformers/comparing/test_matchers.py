"""BLIP and ViLT: the library's own forward call of one item, whatever the batch and the sizes."""

import random

import pytest
from msgspec.structs import replace

from gnomon.lexicon.statements import question
from gnomon.models.transformers.hf import hf
from gnomon.records import Item
from gnomon.vision.images import describe, pixels

torch = pytest.importorskip("torch")
MATCHERS = ("blip", "blip vqa", "vilt", "vilt classes", "vilt vqa")


def plain(make, folder, item):
    """Scores of false and true, by one call of the library for one item."""
    import transformers

    config = transformers.AutoConfig.from_pretrained(folder)
    model = getattr(transformers, config.architectures[0]).from_pretrained(folder).eval()
    processor = transformers.AutoProcessor.from_pretrained(folder)
    text = question(item.text) if "vqa" in make else item.text
    pictures = [pixels(image) for image in item.images]
    inputs = dict(processor(images=pictures[0], text=text, return_tensors="pt"))
    with torch.inference_mode():
        return PLAIN[make](model, inputs, processor, pictures)


def blip(model, inputs, processor, pictures):
    return model(**inputs, use_itm_head=True).itm_score[0].log_softmax(-1).tolist()


def blip_vqa(model, inputs, processor, pictures):
    found = []
    for answer in ("no", "yes"):
        words = processor.tokenizer(answer, add_special_tokens=False)["input_ids"]
        written = torch.tensor([[2, *words, 3]])
        logits = model.text_decoder(
            input_ids=written, encoder_hidden_states=encoded(model, inputs)
        ).logits
        rows = logits[0, :-1].log_softmax(-1)
        found.append(rows[range(len(words) + 1), written[0, 1:]].sum())
    return torch.stack(found).log_softmax(-1).tolist()


def encoded(model, inputs):
    seen = model.vision_model(pixel_values=inputs["pixel_values"]).last_hidden_state
    return model.text_encoder(
        input_ids=inputs["input_ids"], encoder_hidden_states=seen
    ).last_hidden_state


def vilt(model, inputs, processor, pictures):
    chance = model(**inputs).logits[0, 0].sigmoid()
    return [(1 - chance).log().item(), chance.log().item()]


def vilt_classes(model, inputs, processor, pictures):
    inputs["pixel_values"] = inputs["pixel_values"].unsqueeze(1)
    inputs["pixel_mask"] = inputs["pixel_mask"].unsqueeze(1)
    return model(**inputs).logits[0].log_softmax(-1).tolist()


def vilt_two(model, inputs, processor, pictures):
    both = processor.image_processor(images=pictures, return_tensors="pt")
    inputs["pixel_values"] = both["pixel_values"].unsqueeze(0)
    inputs["pixel_mask"] = both["pixel_mask"].unsqueeze(0)
    return model(**inputs).logits[0].log_softmax(-1).tolist()


def vilt_vqa(model, inputs, processor, pictures):
    logits = model(**inputs).logits[0]
    return logits[[1, 2]].log_softmax(-1).tolist()


PLAIN = {
    "blip": blip,
    "blip vqa": blip_vqa,
    "vilt": vilt,
    "vilt classes": vilt_classes,
    "vilt two": vilt_two,
    "vilt vqa": vilt_vqa,
}


@pytest.mark.parametrize("make", MATCHERS)
def test_scores_are_those_of_one_call_of_the_library(make, seeing, captions):
    answers = hf(str(seeing(make))).answer(captions)
    for item, answer in zip(captions[:5], answers[:5], strict=True):
        assert answer.scores == pytest.approx(plain(make, seeing(make), item), abs=1e-5)
    found = [answer.scores[1] - answer.scores[0] for answer in answers]
    assert max(found) - min(found) > 0.3


@pytest.mark.parametrize("make", MATCHERS)
@pytest.mark.parametrize("size", [3, 16])
def test_scores_do_not_depend_on_batch_order_or_sizes_of_pictures(make, size, seeing, captions):
    model = hf(str(seeing(make)))
    alone = {item.id: model.answer([item])[0].scores for item in captions}
    mixed = list(captions)
    random.Random(size).shuffle(mixed)
    for start in range(0, len(mixed), size):
        for answer in model.answer(mixed[start : start + size]):
            assert answer.scores == pytest.approx(alone[answer.item], abs=1e-5)


def test_a_model_of_two_pictures_is_shown_both_in_order(seeing, captions, album):
    items = []
    for number, item in enumerate(captions[:6]):
        items.append(replace(item, images=(item.images[0], album[(number + 2) % 5])))
    model = hf(str(seeing("vilt two")))
    answers = model.answer(items)
    for item, answer in zip(items, answers, strict=True):
        assert answer.scores == pytest.approx(plain("vilt two", seeing("vilt two"), item), abs=1e-5)
    swapped = [replace(item, images=item.images[::-1]) for item in items]
    others = model.answer(swapped)
    assert max(abs(a.scores[1] - b.scores[1]) for a, b in zip(answers, others, strict=True)) > 1e-3
    assert model.answer([captions[0]])[0].error.endswith("with 2 pictures, the item has 1")


def test_vilt_sees_all_patches_whatever_its_config_says(seeing, captions, tmp_path):
    import json
    import shutil

    folder = tmp_path / "model"
    shutil.copytree(seeing("vilt"), folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "max_image_length": 6}))
    wanted = hf(str(seeing("vilt"))).answer(captions[:4])
    for _ in range(2):
        for answer, other in zip(hf(str(folder)).answer(captions[:4]), wanted, strict=True):
            assert answer.scores == pytest.approx(other.scores, abs=1e-5)


def test_classes_named_the_other_way_round_are_read_by_their_names(seeing, captions, tmp_path):
    import json
    import shutil

    folder = tmp_path / "model"
    shutil.copytree(seeing("vilt classes"), folder)
    config = json.loads((folder / "config.json").read_text())
    config["id2label"] = {"0": "True", "1": "False"}
    config["label2id"] = {"True": 0, "False": 1}
    (folder / "config.json").write_text(json.dumps(config))
    (usual,) = hf(str(seeing("vilt classes"))).answer(captions[:1])
    (turned,) = hf(str(folder)).answer(captions[:1])
    assert turned.scores == pytest.approx(usual.scores[::-1], abs=1e-6)


def test_a_picture_too_narrow_to_be_resized_fails_its_item_only(seeing, captions, tmp_path):
    pil = pytest.importorskip("PIL.Image")
    file = tmp_path / "strip.png"
    pil.new("RGB", (900, 1), "red").save(file)
    items = [replace(captions[0], images=(describe(file),)), captions[1]]
    bad, good = hf(str(seeing("vilt"))).answer(items)
    assert "900 x 1 pixels does not fit the model" in bad.error
    assert good.choice


def test_a_matcher_can_be_asked_with_a_contrast(seeing, captions):
    own = hf(str(seeing("blip")))
    assert own.describe()["contrast"] == "none"
    against = hf(str(seeing("blip")), contrast="negation").answer(captions[:3])
    item = captions[1]
    denied = replace(item, text=item.text.replace("is behind", "is not behind"))
    said, unsaid = own.answer([item, denied])
    odds = [each.scores[1] - each.scores[0] for each in (unsaid, said)]
    wanted = torch.tensor(odds).log_softmax(-1).tolist()
    assert against[1].scores == pytest.approx(wanted, abs=1e-5)


def asked_where(album, *choices):
    return Item(
        id="q",
        form="choice",
        text="Where is the bird?",
        choices=choices,
        gold=choices[:1],
        images=(album[0],),
    )


def loaded(folder):
    import transformers

    config = transformers.AutoConfig.from_pretrained(folder)
    model = getattr(transformers, config.architectures[0]).from_pretrained(folder).eval()
    return model, transformers.AutoProcessor.from_pretrained(folder)


def test_a_generator_of_answers_gives_each_choice_its_likelihood(seeing, album):
    item = asked_where(album, "left", "old church", "right")
    (answer,) = hf(str(seeing("blip vqa"))).answer([item])
    model, processor = loaded(seeing("blip vqa"))
    inputs = dict(processor(images=pixels(album[0]), text=item.text, return_tensors="pt"))
    wanted = []
    with torch.inference_mode():
        seen = model.vision_model(pixel_values=inputs["pixel_values"]).last_hidden_state
        states = model.text_encoder(
            input_ids=inputs["input_ids"], encoder_hidden_states=seen
        ).last_hidden_state
        for choice in item.choices:
            words = processor.tokenizer(choice, add_special_tokens=False)["input_ids"]
            total = 0.0
            for place, word in enumerate([*words, model.config.text_config.sep_token_id]):
                before = torch.tensor([[model.decoder_start_token_id, *words[:place]]])
                logits = model.text_decoder(input_ids=before, encoder_hidden_states=states).logits
                total += float(logits[0, -1].log_softmax(-1)[word])
            wanted.append(total)
    assert answer.scores == pytest.approx(torch.tensor(wanted).log_softmax(-1).tolist(), abs=1e-5)


def test_a_classifier_of_answers_is_asked_for_the_choices_that_it_knows(seeing, album):
    model = hf(str(seeing("vilt vqa")))
    known, unknown = asked_where(album, "two", "Yes"), asked_where(album, "two", "left")
    answer, refused = model.answer([known, unknown])
    own, processor = loaded(seeing("vilt vqa"))
    inputs = processor(images=pixels(album[0]), text=known.text, return_tensors="pt")
    with torch.inference_mode():
        logits = own(**inputs).logits[0]
    assert answer.scores == pytest.approx(logits[[0, 2]].log_softmax(-1).tolist(), abs=1e-5)
    assert refused.error == "'left' is not among the 3 answers that the model knows"
    shown = model.preview(known)
    assert [each.choice for each in shown.scored] == ["two", "Yes"]
    assert all("where is the bird?" in each.text.lower() for each in shown.scored)


@pytest.mark.parametrize("make", MATCHERS)
def test_another_picture_gives_another_score(make, seeing, captions, album):
    shown = [replace(captions[0], images=(image,)) for image in album]
    found = [answer.scores[1] for answer in hf(str(seeing(make))).answer(shown)]
    assert len({round(score, 4) for score in found}) == len(album)


@pytest.mark.parametrize("make", ["clip", "blip", "vilt classes"])
def test_scores_do_not_depend_on_threads(make, seeing, captions):
    before = torch.get_num_threads()
    found = []
    try:
        for threads in (1, 2):
            model = hf(str(seeing(make)), threads=threads)
            found.append([answer.scores for answer in model.answer(captions)])
    finally:
        torch.set_num_threads(before)
    for one, two in zip(*found, strict=True):
        assert two == pytest.approx(one, abs=1e-5)
