"""Matchers that see pixels: BLIP and ViLT with heads for matching, for classes and for answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.nn.functional import pad

from gnomon.errors import ModelError
from gnomon.models.choices import take
from gnomon.models.transformers.joint import Head, Joint, JointInputs, odds_of_true
from gnomon.models.transformers.sights import alike, pictures_in_a_pass, prepared, shape_of
from gnomon.records import Image
from gnomon.vision.pictures import Seen


def matcher(model: Any, tokenizer: Any, processor: Any) -> Joint:
    """A matcher by the class of a model."""
    architecture = type(model).__name__
    if hasattr(model, "vision_model"):
        look = _Eye(model, processor.image_processor).look
    else:
        _use_all_patches(model)
        look = _Pixels(processor.image_processor).look
    return Joint(model, tokenizer, HEADS[architecture], look)


class _Pixels:
    """Pictures as pixels, for models that have no part of their own for them."""

    def __init__(self, image_processor: Any) -> None:
        self.image_processor = image_processor

    def look(self, images: Sequence[Image]) -> dict[str, Seen[Any]]:
        return dict(prepared(images, self.image_processor))


class _Eye:
    """Pictures as the part of a model that sees gives them: each computed once for its texts."""

    def __init__(self, model: Any, image_processor: Any) -> None:
        self.model, self.image_processor = model, image_processor
        self.in_a_pass = pictures_in_a_pass(model)

    def look(self, images: Sequence[Image]) -> dict[str, Seen[Any]]:
        found: dict[str, Seen[Any]] = {}
        keys: list[str] = []
        pictures: list[Any] = []
        for key, seen in prepared(images, self.image_processor):
            found[key] = seen
            if seen.made is not None:
                keys.append(key)
                pictures.append(seen.made)

        for numbers in alike(list(map(shape_of, pictures)), self.in_a_pass):
            rows = self._states(take(pictures, numbers))
            for key, row in zip(take(keys, numbers), rows, strict=True):
                found[key] = Seen(row)
        return found

    def _states(self, pictures: Sequence[Any]) -> Any:
        pixels = torch.stack(list(pictures)).to(self.model.device, self.model.dtype)
        with torch.inference_mode():
            return self.model.vision_model(pixel_values=pixels).last_hidden_state


def _use_all_patches(model: Any) -> None:
    """ViLT can be told to draw some patches of a picture at random: it must see all of them."""
    model.config.max_image_length = -1
    model.vilt.embeddings.config.max_image_length = -1


def _blip_match(reading: JointInputs) -> Any:
    logits = reading.model.itm_head(_blip_states(reading)[:, 0])
    return logits[:, 1] - logits[:, 0]


def _blip_answer(reading: JointInputs) -> Any:
    """Log-odds of the answer yes against no; each answer is written, and then ends."""
    states = _blip_states(reading)
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


def _vilt_match(reading: JointInputs) -> Any:
    pixels = reading.stacked()
    seen = {"pixel_values": pixels, "pixel_mask": _whole(pixels)}
    return reading.model(**reading.tokens, **seen).logits[:, 0]


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
    """Log-odds of yes against no, which are two of a closed list of answers."""
    answers = reading.model.config.id2label
    places = {str(name).lower(): int(place) for place, name in answers.items()}
    if not {"yes", "no"} <= places.keys():
        raise ModelError(
            "The answers that the model knows hold no yes and no.",
            "Give a model with a list of answers in its config (id2label).",
        )
    pixels = reading.stacked()
    seen = {"pixel_values": pixels, "pixel_mask": _whole(pixels)}
    logits = reading.model(**reading.tokens, **seen).logits
    return logits[:, places["yes"]] - logits[:, places["no"]]


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
