"""Models that match a text with a picture, or with the regions that a detector found in it.

All are asked in the same way. What differs is what they look at, pixels (BLIP, ViLT) or regions
(`regions`), and which of their outputs is the answer: the heads.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch.nn.functional import pad

from gnomon.errors import DataError, ModelError, UsageError
from gnomon.files import read_yaml
from gnomon.models.choices import alike, take
from gnomon.models.comparison import FALSE, TRUE, TextPair, Written
from gnomon.models.transformers.dual import pictures_in_a_pass, prepared, shape_of
from gnomon.models.transformers.loading import longest_text
from gnomon.models.transformers.tokens import surrounding_tokens, written
from gnomon.records import Image
from gnomon.vision.images import Prepared, see
from gnomon.vision.regions import RegionFiles, open_regions

Shown = Sequence[Sequence[Any]]  # for each text, what is seen of each of its pictures
Looking = Callable[[Sequence[Image]], dict[str, Prepared[Any]]]


class JointInputs(NamedTuple):
    """What a model reads at once: texts as tokens, and what is shown with each."""

    model: Any
    tokenizer: Any
    tokens: Any
    shown: Shown
    answer: str = ""  # to questions, of which the texts are some

    def stacked(self, place: int = 0) -> Any:
        """What is seen of the picture at a place, of all texts, as the model takes it."""
        rows = torch.stack([each[place] for each in self.shown])
        return rows.to(self.model.device, self.model.dtype)


class Head(NamedTuple):
    """Which output of a model is the answer: the log-odds that text and pictures match."""

    odds: Callable[[JointInputs], Any]
    about: str
    asks: bool = False  # it answers questions: a caption is put as one, a choice is an answer
    several: bool = False  # its config says how many pictures it takes
    padded: bool = True  # texts of different lengths may be read together


class Joint:
    """The log-odds that a text and its pictures match."""

    probable = True
    usual_contrast = "none"

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        head: Head,
        look: Looking,
        *,
        about: dict[str, Any] | None = None,
    ) -> None:
        self.model, self.tokenizer, self.head, self.look = model, tokenizer, head, look
        self.about = about or {}
        self.pictures = int(model.config.num_images) if head.several else 1
        self.asks = head.asks
        self.longest = longest_text(model, tokenizer)
        self.in_a_pass = pictures_in_a_pass(model)
        self.batch = 4 * self.in_a_pass

    def describe(self) -> dict[str, Any]:
        """What determines its numbers."""
        return {"answer": self.head.about, "pictures": self.pictures, **self.about}

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """The tokens of each text, as it is asked."""
        return list(map(len, self.tokenizer(list(texts))["input_ids"]))

    def written(self, texts: Sequence[str]) -> list[Written]:
        """Each text as it is asked."""
        return written(self.tokenizer, texts)

    def around(self) -> dict[str, Any]:
        """What stands around each text, and whether it is put as a question."""
        return {**surrounding_tokens(self.tokenizer), "asks": self.head.asks}

    def odds(self, pairs: Sequence[TextPair], seen: Mapping[str, Prepared[Any]]) -> list[float]:
        """The log-odds of each pair; pictures of one size are read together, so none is padded."""
        texts = [pair.text for pair in pairs]
        answers = [pair.answer for pair in pairs]
        shown = [[seen[key].made for key in pair.pictures] for pair in pairs]
        kinds: list[Hashable] = list(zip(map(shapes, shown), answers, strict=True))
        if not self.head.padded:
            kinds = list(zip(kinds, self.lengths(texts), strict=True))

        found = [0.0] * len(pairs)
        for numbers in alike(kinds, self.in_a_pass):
            odds = self._odds(take(texts, numbers), take(shown, numbers), answers[numbers[0]])
            for number, value in zip(numbers, odds, strict=True):
                found[number] = value
        return found

    def _odds(self, texts: Sequence[str], shown: Shown, answer: str) -> list[float]:
        """The log-odds of texts and pictures that are read in one pass, with one answer."""
        tokens = self.tokenizer(list(texts), padding=True, return_tensors="pt")
        tokens = tokens.to(self.model.device)
        reading = JointInputs(self.model, self.tokenizer, tokens, shown, answer)
        with torch.inference_mode():
            found: list[float] = self.head.odds(reading).double().tolist()
        return found

    def cannot_answer(self, answer: str) -> str:
        """Why an answer to a question cannot be given a number: it is in no list of the model's."""
        if not hasattr(self.model, "classifier") or answer.lower() in answers_of(self.model):
            return ""
        count = len(self.model.config.id2label)
        return f"'{answer[:60]}' is not among the {count} answers that the model knows"


def shapes(shown: Sequence[Any]) -> Hashable:
    """The sizes of what is seen of some pictures; of regions, of features and boxes."""
    return tuple(shapes(made) if isinstance(made, tuple) else shape_of(made) for made in shown)


def odds_of_true(logits: Any, config: Any) -> Any:
    """The log-odds of the second of two classes: the first, if its name says that it means true."""
    if logits.shape[-1] != 2:
        raise ModelError(
            f"The model has {logits.shape[-1]} classes, where two say false and true.",
            "Give a model that was finetuned to say whether a caption is true.",
        )
    odds = logits[:, 1] - logits[:, 0]
    names = getattr(config, "id2label", None) or {}
    if str(names.get(0)).lower() in TRUE and str(names.get(1)).lower() in FALSE:
        return -odds
    return odds


def matcher(model: Any, tokenizer: Any, processor: Any) -> Joint:
    """A matcher by the class of a model."""
    shown = processor.image_processor

    def look(images: Sequence[Image]) -> dict[str, Prepared[Any]]:
        if hasattr(model, "vision_model"):
            return _look_with_model(model, shown, images)
        return dict(prepared(images, shown))  # as pixels

    if hasattr(model, "vilt"):
        # it can be told to draw some patches of a picture at random: it must see all of them
        model.config.max_image_length = -1
        model.vilt.embeddings.config.max_image_length = -1
    return Joint(model, tokenizer, HEADS[type(model).__name__], look)


def _look_with_model(
    model: Any, image_processor: Any, images: Sequence[Image]
) -> dict[str, Prepared[Any]]:
    """Pictures as the part of a model that sees gives them: each computed once for its texts."""
    found = dict(prepared(images, image_processor))
    keys = [key for key, seen in found.items() if seen.made is not None]
    pictures = [found[key].made for key in keys]
    for numbers in alike(list(map(shape_of, pictures)), pictures_in_a_pass(model)):
        pixels = torch.stack(take(pictures, numbers)).to(model.device, model.dtype)
        with torch.inference_mode():
            rows = model.vision_model(pixel_values=pixels).last_hidden_state
        for key, row in zip(take(keys, numbers), rows, strict=True):
            found[key] = Prepared(row)
    return found


def _blip_match(reading: JointInputs) -> Any:
    logits = reading.model.itm_head(_blip_states(reading)[:, 0])
    return logits[:, 1] - logits[:, 0]


def _blip_answer(reading: JointInputs) -> Any:
    """Log-odds of the answer yes against no; each answer is written, and then ends.

    Of another answer, its own log-probability.
    """
    states = _blip_states(reading)
    if reading.answer:
        return _log_likelihood(reading, states, reading.answer)
    yes = _log_likelihood(reading, states, "yes")
    no = _log_likelihood(reading, states, "no")
    return yes - no


def _blip_states(reading: JointInputs) -> Any:
    """What the text becomes once it has been read with the picture."""
    seen = reading.stacked()
    everything = torch.ones(seen.shape[:2], dtype=torch.long, device=seen.device)
    return reading.model.text_encoder(
        input_ids=reading.tokens["input_ids"],
        attention_mask=reading.tokens["attention_mask"],
        encoder_hidden_states=seen,
        encoder_attention_mask=everything,
    ).last_hidden_state


def _log_likelihood(reading: JointInputs, states: Any, answer: str) -> Any:
    """Log-probability that an answer is written, and nothing after it."""
    model = reading.model
    words = reading.tokenizer(answer, add_special_tokens=False)["input_ids"]
    ends = model.config.text_config.sep_token_id
    written = torch.tensor([[model.decoder_start_token_id, *words]], device=states.device)
    logits = model.text_decoder(
        input_ids=written.expand(len(states), -1),
        encoder_hidden_states=states,
        encoder_attention_mask=reading.tokens["attention_mask"],
    ).logits
    wanted = torch.tensor([*words, ends], device=states.device)
    return logits.float().log_softmax(-1)[:, range(len(wanted)), wanted].sum(-1)


def _vilt_logits(reading: JointInputs) -> Any:
    pixels = reading.stacked()
    seen = {"pixel_values": pixels, "pixel_mask": _whole(pixels)}
    return reading.model(**reading.tokens, **seen).logits


def _vilt_match(reading: JointInputs) -> Any:
    return _vilt_logits(reading)[:, 0]


def _vilt_class(reading: JointInputs) -> Any:
    """The pictures of a text lie along a dimension of their own, padded to one size, masked."""
    _, heights, widths = zip(*map(shape_of, reading.shown[0]), strict=True)
    pixels, masks = [], []
    for place, (height, width) in enumerate(zip(heights, widths, strict=True)):
        rows = reading.stacked(place)
        room = (0, max(widths) - width, 0, max(heights) - height)
        pixels.append(pad(rows, room))
        masks.append(pad(_whole(rows), room))
    seen = {"pixel_values": torch.stack(pixels, 1), "pixel_mask": torch.stack(masks, 1)}
    logits = reading.model(**reading.tokens, **seen).logits
    return odds_of_true(logits, reading.model.config)


def _vilt_answer(reading: JointInputs) -> Any:
    """Log-odds of yes against no, which are two of a closed list of answers.

    Of another answer, its own log-odds.
    """
    places = answers_of(reading.model)
    if reading.answer:
        return _vilt_logits(reading)[:, places[reading.answer.lower()]]
    if not {"yes", "no"} <= places.keys():
        raise ModelError(
            "The answers that the model knows hold no yes and no.",
            "Give a model with a list of answers in its config (id2label).",
        )
    logits = _vilt_logits(reading)
    return logits[:, places["yes"]] - logits[:, places["no"]]


def answers_of(model: Any) -> dict[str, int]:
    """The answers that a classifier knows, with their places."""
    return {str(name).lower(): int(place) for place, name in model.config.id2label.items()}


def _whole(pixels: Any) -> Any:
    """A mask that hides nothing of some pictures."""
    batch, _, height, width = pixels.shape
    return torch.ones((batch, height, width), dtype=torch.long, device=pixels.device)


HEADS = {
    "BlipForImageTextRetrieval": Head(_blip_match, "probability that text and picture match"),
    # whose decoder looks at padding in spite of a mask (transformers 5.22)
    "BlipForQuestionAnswering": Head(_blip_answer, "yes against no", asks=True, padded=False),
    "ViltForImageAndTextRetrieval": Head(_vilt_match, "probability that text and picture match"),
    "ViltForImagesAndTextClassification": Head(_vilt_class, "true against false", several=True),
    "ViltForQuestionAnswering": Head(_vilt_answer, "yes against no", asks=True),
}


# Models that see regions rather than pixels: LXMERT and VisualBERT, with features from files.


def region_matcher(name: str, model: Any, tokenizer: Any, regions: str) -> Joint:
    """A model that says whether a caption is true of regions, by its class.

    A model that was trained here is shown the regions that its recipe names, if no others are.
    """
    files = region_files(name, regions)
    head = REGION_HEADS[type(model).__name__]
    look = partial(look_at_regions, model, files)
    about = {"regions": files.kind, "regions_hash": files.fingerprint()}
    return Joint(model, tokenizer, head, look, about=about)


def region_files(name: str, regions: str) -> RegionFiles:
    """The files with the regions that a model is shown: those named, else those of its recipe."""
    regions = regions or _regions_of_recipe(Path(name))
    if not regions:
        raise UsageError(
            f"{name} sees regions of pictures, which a detector must have found before.",
            "Say where their features are: --set regions=PATH.",
        )
    return open_regions(regions)


def _regions_of_recipe(folder: Path) -> str:
    """Where the regions are that a model was trained with; empty if that is not said."""
    file = folder / "recipe.yaml"
    if not file.is_file():
        return ""
    recipe = read_yaml(file)
    settings = recipe.get("look") if isinstance(recipe, dict) else None
    if not isinstance(settings, dict):
        return ""
    return str(settings.get("regions") or "")


def look_at_regions(
    model: Any, files: RegionFiles, images: Sequence[Image]
) -> dict[str, Prepared[Any]]:
    """What the files have of each picture; one that they do not have is that item's trouble."""
    size, boxed = region_size(model.config)

    def regions(image: Image) -> tuple[Any, ...]:
        return region_tensors(files, size, image, boxed=boxed)

    found = see(images, regions, threads=1)
    return {image.identity: seen for image, seen in zip(images, found, strict=True)}


def region_size(config: Any) -> tuple[int, bool]:
    """The features of a region that a model takes, and whether it takes boxes, too."""
    if hasattr(config, "visual_pos_dim"):
        return int(config.visual_feat_dim), True
    return int(config.visual_embedding_dim), False


def region_inputs(regions: Sequence[Any], mask: Any = None) -> dict[str, Any]:
    """Features of regions, and boxes where there are some, as LXMERT or VisualBERT takes them.

    `mask` says which regions count: all of them, if it is not given.
    """
    features = regions[0]
    if mask is None:
        mask = torch.ones(features.shape[:2], dtype=torch.long, device=features.device)
    if len(regions) > 1:
        seen = {"visual_feats": features, "visual_pos": regions[1]}
    else:
        kinds = torch.ones_like(mask)  # 1, as in VisualBERT's pre-training
        seen = {"visual_embeds": features, "visual_token_type_ids": kinds}
    return {**seen, "visual_attention_mask": mask}


def region_tensors(
    files: RegionFiles, size: int, image: Image, *, boxed: bool
) -> tuple[torch.Tensor, ...]:
    """The features of a picture's regions, and their boxes for a model that takes them."""
    features, boxes = files.regions(image).fitted(size, image)
    if not boxed:
        return (torch.tensor(features),)
    if boxes is None:
        raise DataError(
            "the regions have no boxes, which the model needs.",
            "Give the detector's boxes with its features.",
            file=image.path,
        )
    return torch.tensor(features), torch.tensor(boxes)


def _lxmert(reading: JointInputs) -> Any:
    """The head of its pre-training that says whether text and picture belong together."""
    return odds_of_true(_output(reading).cross_relationship_score, None)


def _visualbert(reading: JointInputs) -> Any:
    return odds_of_true(_output(reading).logits, reading.model.config)


def _output(reading: JointInputs) -> Any:
    """What a model gives for texts, each with the regions of its one picture."""
    shown = [picture for (picture,) in reading.shown]
    stacked = [torch.stack(part) for part in zip(*shown, strict=True)]
    device, dtype = reading.model.device, reading.model.dtype
    seen = region_inputs([part.to(device, dtype) for part in stacked])
    return reading.model(**reading.tokens, **seen)


REGION_HEADS = {
    "LxmertForPreTraining": Head(_lxmert, "true against false (cross_relationship_score)"),
    "VisualBertForVisualReasoning": Head(_visualbert, "true against false"),
}
