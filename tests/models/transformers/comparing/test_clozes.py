"""Masked models that see fill blanks: as one call of the library for each choice does."""

import random
from pathlib import Path

import pytest
from msgspec.structs import replace

from gnomon.errors import UsageError
from gnomon.models.transformers.hf import hf
from gnomon.records import Image, Item

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")
PIXELS = ("vilt cloze", "flava")
REGIONS = ("visualbert cloze", "lxmert")
MAKES = (*PIXELS, *REGIONS)
CHOICES = ("man", "car", "church")  # of one token each, and of several
SHOWN = ("own", "none", "blank")


@pytest.fixture(scope="module")
def clozes(album):
    """Sentences of different lengths with a blank, several of one picture."""
    found = []
    for number in range(10):
        text = f"The {'very ' * (number % 3)}old [MASK] is red."
        item = Item(id=str(number), form="cloze", text=text, choices=CHOICES, gold=("man",))
        found.append(replace(item, images=(album[number % len(album)],)))
    return found


@pytest.fixture(scope="module")
def regions(album, tmp_path_factory):
    """A folder with the regions of each picture."""
    from safetensors.numpy import save_file

    folder = tmp_path_factory.mktemp("regions")
    draw = np.random.default_rng(3)
    for number, image in enumerate(album):
        features = draw.normal(size=(4 + number % 3, 12)).astype(np.float32)
        corners = np.sort(draw.random((len(features), 2, 2)), axis=1).reshape(-1, 4)
        boxes = corners.astype(np.float32)
        save_file({"features": features, "boxes": boxes}, folder / f"{image.sha256}.safetensors")
    return folder


def asked(make, seeing, regions, **options):
    """The model as a user opens it."""
    if make in REGIONS and options.get("picture", "own") == "own":
        options["regions"] = str(regions)
    return hf(str(seeing(make)), kind="masked", **options)


class Library:
    """The model as its authors call it, one sentence at a time."""

    def __init__(self, make, folder, regions):
        import transformers

        config = transformers.AutoConfig.from_pretrained(folder)
        maker = getattr(transformers, config.architectures[0])
        self.make, self.regions = make, regions
        self.model = maker.from_pretrained(folder).eval()
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        if make in PIXELS:
            self.processor = transformers.AutoImageProcessor.from_pretrained(folder)

    def seen(self, item, picture):
        """What the model is given beside the text."""
        if self.make in PIXELS:
            return self._pixels(item, picture)
        if picture == "none":
            return {}
        if picture == "blank":
            features, boxes = torch.zeros(1, 1, 12), torch.tensor([[[0.0, 0.0, 1.0, 1.0]]])
        else:
            from safetensors.torch import load_file

            name = f"{item.images[0].sha256}.safetensors"
            tensors = load_file(self.regions / name)
            features, boxes = tensors["features"][None], tensors["boxes"][None]
        if self.make == "lxmert":
            return {"visual_feats": features, "visual_pos": boxes}
        kinds = torch.ones(features.shape[:2], dtype=torch.long)
        return {"visual_embeds": features, "visual_token_type_ids": kinds}

    def _pixels(self, item, picture):
        from PIL import Image as Pillow

        if picture == "none":
            if self.make == "flava":
                return {}
            patch = {"image_embeds": torch.zeros(1, 1, 32)}
            return {**patch, "pixel_mask": torch.zeros(1, 1, dtype=torch.long)}
        shown = Pillow.new("RGB", (384, 384), (128, 128, 128))
        if picture == "own":
            shown = Pillow.open(item.images[0].path).convert("RGB")
        made = self.processor(images=shown, return_tensors="pt")
        return {key: value for key, value in made.items() if key.startswith("pixel")}

    def logs(self, tokens, seen):
        """Log-probabilities of the vocabulary at each token."""
        ids = torch.tensor([tokens])
        with torch.inference_mode():
            if self.make == "flava":
                out = self.model(input_ids=ids, input_ids_masked=ids, return_loss=False, **seen)
                logits = out.mmm_text_logits if seen else out.mlm_logits
                logits = logits[0, -len(tokens) :]
            else:
                out = self.model(input_ids=ids, attention_mask=torch.ones_like(ids), **seen)
                name = "prediction_logits" if self.make in REGIONS else "logits"
                logits = getattr(out, name)[0]
        return logits.log_softmax(-1)

    def scores(self, item, picture):
        """The probability of each choice, filled from left to right, one pass for each token."""
        seen = self.seen(item, picture)
        totals = []
        for choice in item.choices:
            before, after = item.text.split("[MASK]")
            words = self.tokenizer(choice, add_special_tokens=False)["input_ids"]
            left = self.tokenizer(before)["input_ids"][:-1]
            right = self.tokenizer(after)["input_ids"][1:]
            total = 0.0
            for place, token in enumerate(words):
                masks = [self.tokenizer.mask_token_id] * (len(words) - place)
                logs = self.logs([*left, *words[:place], *masks, *right], seen)
                total += float(logs[len(left) + place, token])
            totals.append(total)
        return torch.tensor(totals, dtype=torch.double).softmax(-1).tolist()


@pytest.mark.parametrize("picture", SHOWN)
@pytest.mark.parametrize("make", MAKES)
def test_a_choice_scores_as_in_one_call_of_the_library(make, picture, seeing, clozes, regions):
    if (make, picture) == ("lxmert", "none"):
        return  # refused, below
    answers = asked(make, seeing, regions, picture=picture).answer(clozes)
    library = Library(make, seeing(make), regions)
    for item, answer in zip(clozes[:5], answers, strict=False):
        assert answer.scores == pytest.approx(library.scores(item, picture), abs=1e-5)


@pytest.mark.parametrize("make", MAKES)
def test_scores_do_not_depend_on_batch_or_order(make, seeing, clozes, regions):
    model = asked(make, seeing, regions)
    alone = {item.id: model.answer([item])[0].scores for item in clozes}
    mixed = list(clozes)
    random.Random(1).shuffle(mixed)
    for answer in model.answer(mixed):
        assert answer.scores == pytest.approx(alone[answer.item], abs=1e-5)
    assert len({round(scores[0], 4) for scores in alone.values()}) > 5  # pictures matter


@pytest.mark.parametrize("make", MAKES)
def test_an_item_without_a_picture_is_asked_without_one(make, seeing, clozes, regions):
    bare = [replace(item, images=()) for item in clozes]
    found = asked(make, seeing, regions, picture="own").answer(bare)
    other = "blank" if make == "lxmert" else "none"
    wanted = asked(make, seeing, regions, picture=other).answer(clozes)
    assert [answer.scores for answer in found] == [answer.scores for answer in wanted]


def test_the_likeliest_word_of_all_counts_as_in_viphy(seeing, clozes, regions):
    model = asked("vilt cloze", seeing, regions, top_k=1)
    library = Library("vilt cloze", seeing("vilt cloze"), regions)
    (answer,) = model.answer(clozes[:1])
    seen = library.seen(clozes[0], "own")
    tokens = library.tokenizer(clozes[0].text.replace("[MASK]", library.tokenizer.mask_token))
    place = tokens["input_ids"].index(library.tokenizer.mask_token_id)
    likeliest = library.logs(tokens["input_ids"], seen)[place].argmax()
    assert answer.reply == library.tokenizer.decode([likeliest]).strip()


def test_what_is_shown_is_in_the_manifest_and_the_preview(seeing, clozes, regions):
    model = asked("visualbert cloze", seeing, regions)
    about = model.describe()
    assert (about["picture"], about["regions"]) == ("own", "safetensors")
    assert model.preview(clozes[0]).images == 1
    blank = asked("visualbert cloze", seeing, regions, picture="blank")
    assert blank.describe()["picture"] == "blank"
    assert blank.preview(clozes[0]).images == 0


def test_a_missing_picture_is_the_trouble_of_its_item(seeing, clozes, regions):
    lost = replace(clozes[0], images=(Image(path=str(Path("nowhere.png"))),))
    first, second = asked("vilt cloze", seeing, regions).answer([lost, clozes[1]])
    assert "nowhere.png" in first.error
    assert second.scores
    assert not second.error


@pytest.mark.parametrize(
    ("make", "options", "says"),
    [
        ("lxmert", {"picture": "none"}, "must look at something"),
        ("vilt cloze", {"picture": "green"}, "no picture to show named 'green'"),
    ],
)
def test_what_cannot_be_shown_is_refused(make, options, says, seeing):
    with pytest.raises(UsageError, match=says):
        hf(str(seeing(make)), kind="masked", **options)


def test_regions_must_be_given_for_items_with_pictures(seeing, clozes):
    with pytest.raises(UsageError, match="which a detector must have found"):
        hf(str(seeing("visualbert cloze"))).answer(clozes)
