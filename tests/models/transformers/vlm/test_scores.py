"""Scores of models that see are those of one plain pass for each choice, whatever the batch."""

from __future__ import annotations

import warnings

import pytest
from msgspec.structs import replace

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from gnomon.errors import ModelWarning
from gnomon.models.choices import flat
from gnomon.models.transformers.hf import hf
from gnomon.models.transformers.loading import quiet
from gnomon.models.transformers.processors import load_processor
from gnomon.vision.images import pixels

# PaliGemma's processor converts tensors in a way that numpy will not take for ever
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")

MAKES = ["llava", "idefics3", "smolvlm", "qwen2-vl", "internvl", "paligemma"]
SHARING = MAKES[:-1]
EXACT = 1e-5


class ByHand:
    """The oracle: the model's own processor and one full pass for each choice, nothing shared."""

    def __init__(self, folder, model):
        import transformers

        with quiet():
            self.model = transformers.AutoModelForImageTextToText.from_pretrained(folder).eval()
            self.processor = load_processor(str(folder))
        self.asked = model

    def read(self, text, item):
        """What the processor gives for a text with the item's pictures."""
        if item.images:
            images = [[pixels(image) for image in item.images]]
            special = not text.startswith("<s>")
            made = self.processor(
                text=[text], images=images, return_tensors="pt", add_special_tokens=special
            )
            return {name: value for name, value in made.items() if name != "labels"}
        if "paligemma" in str(type(self.model)).lower():  # whose processor wants a picture
            ids = self.processor.tokenizer(f"<s>{text}\n", return_tensors="pt")["input_ids"]
            return {"input_ids": ids, "token_type_ids": torch.zeros_like(ids)}
        return dict(self.processor.tokenizer([text], return_tensors="pt"))

    def scores(self, item):
        """The log-probability of each word, summed over its tokens."""
        text = self.asked._context(item)
        words = flat(self.asked.words(item))
        before = self.read(text, item)
        start = before["input_ids"].shape[1]
        wholes = []
        for word in words:
            if "token_type_ids" in before:
                wholes.append(self.followed(before, word))
            else:
                wholes.append(self.read(text + word, item))
                start = min(start, common(before["input_ids"], wholes[-1]["input_ids"]))
        return [self.sum_from(start, whole) for whole in wholes]

    def followed(self, before, word):
        """A prompt that is read in both directions, followed by an answer that is not."""
        ids = self.processor.tokenizer(word, add_special_tokens=False, return_tensors="pt")
        ids = ids["input_ids"]
        whole = {**before, "input_ids": torch.cat([before["input_ids"], ids], 1)}
        types = [before["token_type_ids"], torch.ones_like(ids)]
        whole["token_type_ids"] = torch.cat(types, 1)
        whole["attention_mask"] = torch.ones_like(whole["input_ids"])
        return whole

    def sum_from(self, start, inputs):
        with torch.inference_mode():
            logits = self.model(**inputs).logits[0].log_softmax(-1)
        ids = inputs["input_ids"][0].tolist()
        return sum(logits[place - 1, ids[place]].item() for place in range(start, len(ids)))


def common(one, other):
    one, other = one[0].tolist(), other[0].tolist()
    for place, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return place
    return min(len(one), len(other))


def scores(answers):
    assert not [answer.error for answer in answers if answer.error]
    return [answer.scores for answer in answers]


def worst(one, other):
    assert len(one) == len(other) > 0
    differences = []
    for found, wanted in zip(one, other, strict=True):
        pairs = zip(found, wanted, strict=True)
        differences.append(max(abs(a - b) for a, b in pairs))
    return max(differences)


@pytest.mark.parametrize("make", MAKES)
def test_scores_are_those_of_a_plain_pass_for_each_choice(asked, seeing, items, make):
    model = asked(make)
    oracle = ByHand(seeing(make), model)
    wanted = [oracle.scores(item) for item in items]
    assert worst(scores(model.answer(items)), wanted) < EXACT
    spread = [max(each) - min(each) > 0.1 for each in wanted]
    assert sum(spread) > len(items) / 2  # choices differ by far more than what is allowed


@pytest.mark.parametrize("make", MAKES)
@pytest.mark.parametrize("size", [1, 3, 16])
def test_the_batch_and_the_order_have_no_say(asked, items, make, size):
    model = asked(make)
    wanted = dict(zip([item.id for item in items], scores(model.answer(items)), strict=True))
    turned = items[::-1]
    for start in range(0, len(turned), size):
        batch = turned[start : start + size]
        found = scores(model.answer(batch))
        assert worst(found, [wanted[item.id] for item in batch]) < EXACT


@pytest.mark.parametrize("make", SHARING)
def test_items_of_different_forms_share_their_pictures(asked, items, photos, make):
    """Worked examples of one form, and none of another, stand before the same picture."""
    model = asked(make)
    some = [replace(item, images=(photos[4],)) for item in items if len(item.images) == 1]
    alone = [scores(model.answer([item]))[0] for item in some]
    assert len({item.form for item in some}) == 2
    assert worst(scores(model.answer(some)), alone) < EXACT


@pytest.mark.parametrize("make", MAKES)
def test_how_much_goes_into_a_pass_has_no_say(asked, items, make, monkeypatch):
    from gnomon.models.planner import Room

    model = asked(make)
    wanted = scores(model.answer(items))
    monkeypatch.setattr(model.scorer, "room", Room(150, 4))
    monkeypatch.setattr(model.scorer, "_most_tokens", 150)
    assert worst(scores(model.answer(items)), wanted) < EXACT


@pytest.mark.parametrize("make", ["llava", "qwen2-vl"])
def test_the_number_of_threads_has_no_say(asked, items, make):
    model = asked(make)
    before = torch.get_num_threads()
    found = []
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            found.append(scores(model.answer(items)))
    finally:
        torch.set_num_threads(before)
    assert worst(*found) < EXACT


@pytest.mark.parametrize("make", MAKES)
def test_another_picture_gives_another_answer(asked, items, photos, make):
    model = asked(make)
    captions = [item for item in items if item.form == "caption"]
    turned = dict(zip(photos, photos[1:] + photos[:1], strict=True))
    swapped = [replace(item, images=(turned[item.images[0]],)) for item in captions]
    pairs = zip(scores(model.answer(captions)), scores(model.answer(swapped)), strict=True)
    changed = [worst([one], [other]) > 1e-3 for one, other in pairs]
    assert sum(changed) == len(captions)


@pytest.mark.parametrize("make", MAKES)
def test_a_blind_answer_differs_from_a_seeing_one(asked, items, make):
    model = asked(make)
    shown = [item for item in items if item.images]
    blind = [replace(item, images=()) for item in shown]
    assert worst(scores(model.answer(shown)), scores(model.answer(blind))) > 0.01
    by_text = {}
    for item, found in zip(blind, scores(model.answer(blind)), strict=True):
        by_text.setdefault(item.text, []).append(found)
    for found in by_text.values():  # and does not know which picture it was
        assert worst(found, [found[0]] * len(found)) < EXACT


@pytest.mark.parametrize("make", ["idefics3", "qwen2-vl", "internvl", "llava", "smolvlm"])
def test_the_order_of_two_pictures_counts(asked, items, make):
    one, other = [item for item in items if item.id.startswith("two")]
    found = scores(asked(make).answer([one, other]))
    assert worst(found[:1], found[1:]) > 0.01


def test_a_model_that_reads_questions_in_both_directions_does_not_share_pictures(seeing):
    with pytest.warns(ModelWarning, match="reads each question whole"):
        model = hf(str(seeing("paligemma")))
    assert model.describe()["shares_pictures"] is False


@pytest.mark.parametrize("make", SHARING)
def test_other_models_share_pictures_without_a_warning(seeing, make):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = hf(str(seeing(make)))
    assert model.describe()["shares_pictures"] is True


@pytest.mark.parametrize("make", SHARING)
def test_a_picture_is_read_once_for_all_its_questions(asked, items, photos, make):
    """However many captions there are, the beginning with the picture goes through the model once."""
    model = asked(make)
    captions = [replace(item, images=(photos[2],)) for item in items if item.form == "caption"]
    picture = model.model.config.image_token_id
    read = []

    def note(_, __, given):
        read.append(int((given["input_ids"] == picture).sum()))

    hook = model.model.register_forward_pre_hook(note, with_kwargs=True)
    try:
        model.answer(captions)
    finally:
        hook.remove()
    assert len(captions) > 10
    (tokens,) = model.encoder.raw([model._show(captions[0].images).before])
    assert sum(read) == tokens.count(picture) > 0


def test_a_model_whose_shared_passes_fail_is_asked_by_plain_ones(seeing, items, monkeypatch, asked):
    from gnomon.models.transformers import imagescorer

    def fail(*_):
        raise TypeError("no cache of yours")

    wanted = scores(asked("llava").answer(items))
    monkeypatch.setattr(imagescorer.PictureScorer, "_read", fail)
    with pytest.warns(ModelWarning, match="it fails"):
        model = hf(str(seeing("llava")))
    assert worst(scores(model.answer(items)), wanted) < EXACT


@pytest.mark.parametrize("normalise", ["mean", "byte", "pmi"])
def test_scores_are_normalised_as_those_of_texts_are(asked, items, normalise):
    plain = scores(asked("llava").answer(items))
    found = scores(asked("llava", normalise=normalise).answer(items))
    assert worst(found, plain) > 0.1
    assert asked("llava", normalise=normalise).describe()["normalise"] == normalise
