"""Models that read a text and its pictures together, and say how well they match.

All are asked in the same way. What differs is what they look at, pixels or regions, and which of
their outputs is the answer: the functions of `matching` and `regions`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import torch

from gnomon.errors import ModelError
from gnomon.models.captions import question
from gnomon.models.choices import take
from gnomon.models.comparing import FALSE, FORMS, TRUE, TextPair, Written
from gnomon.models.transformers.limits import longest_text
from gnomon.models.transformers.previewing import surrounding_tokens, written
from gnomon.models.transformers.sights import alike, pictures_in_a_pass
from gnomon.records import Image
from gnomon.vision.pictures import Seen

Shown = Sequence[Sequence[Any]]  # for each text, what is seen of each of its pictures
Looking = Callable[[Sequence[Image]], dict[str, Seen[Any]]]


class JointInputs(NamedTuple):
    """What a model reads at once: texts as tokens, and what is shown with each."""

    model: Any
    tokenizer: Any
    tokens: Any
    shown: Shown

    def stacked(self, place: int = 0) -> Any:
        """What is seen of the picture at a place, of all texts, as the model takes it."""
        rows = torch.stack([each[place] for each in self.shown])
        return rows.to(self.model.device, self.model.dtype)


class Head(NamedTuple):
    """Which output of a model is the answer: the log-odds that text and pictures match."""

    odds: Callable[[JointInputs], Any]
    about: str
    asks: bool = False  # it answers questions, so a caption is put as one
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
        self.forms: tuple[str, ...] = ("caption", "cloze") if head.asks else FORMS
        self.longest = longest_text(model, tokenizer)
        self.in_a_pass = pictures_in_a_pass(model)
        self.batch = 4 * self.in_a_pass

    def describe(self) -> dict[str, Any]:
        """What determines its numbers."""
        return {"answer": self.head.about, "pictures": self.pictures, **self.about}

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """The tokens of each text, as it is asked."""
        return self._lengths(self._asked(texts))

    def written(self, texts: Sequence[str]) -> list[Written]:
        """Each text as it is asked."""
        return written(self.tokenizer, self._asked(texts))

    def around(self) -> dict[str, Any]:
        """What stands around each text, and whether it is put as a question."""
        return {**surrounding_tokens(self.tokenizer), "asks": self.head.asks}

    def odds(self, pairs: Sequence[TextPair], seen: Mapping[str, Seen[Any]]) -> list[float]:
        """The log-odds of each pair; pictures of one size are read together, so none is padded."""
        texts = self._asked([pair.text for pair in pairs])
        shown = [_made(seen, pair) for pair in pairs]
        kinds: list[Hashable] = list(map(shapes, shown))
        if not self.head.padded:
            kinds = list(zip(kinds, self._lengths(texts), strict=True))

        found = [0.0] * len(pairs)
        for numbers in alike(kinds, self.in_a_pass):
            odds = self._odds(take(texts, numbers), take(shown, numbers))
            for number, value in zip(numbers, odds, strict=True):
                found[number] = value
        return found

    def _odds(self, texts: Sequence[str], shown: Shown) -> list[float]:
        """The log-odds of texts and pictures that are read in one pass."""
        tokens = self.tokenizer(list(texts), padding=True, return_tensors="pt")
        reading = JointInputs(self.model, self.tokenizer, tokens.to(self.model.device), shown)
        with torch.inference_mode():
            found: list[float] = self.head.odds(reading).double().tolist()
        return found

    def _lengths(self, texts: Sequence[str]) -> list[int]:
        return list(map(len, self.tokenizer(list(texts))["input_ids"]))

    def _asked(self, texts: Sequence[str]) -> list[str]:
        return list(map(question, texts)) if self.head.asks else list(texts)


def shapes(shown: Sequence[Any]) -> Hashable:
    """The sizes of what is seen of some pictures; of regions, of features and boxes."""
    found: list[Hashable] = []
    for made in shown:
        if isinstance(made, tuple):
            found.append(shapes(made))
        else:
            found.append(tuple(made.shape))
    return tuple(found)


def _made(seen: Mapping[str, Seen[Any]], pair: TextPair) -> list[Any]:
    """What is seen of the pictures of a pair."""
    return [seen[key].made for key in pair.pictures]


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
