"""Several answers to each item, drawn at a temperature: how much of a score is luck in answering.

A model that scores choices draws among them by its scores; a server is asked for several replies.
"""

from collections.abc import Sequence
from math import exp, isnan, log
from random import Random
from typing import Any
from warnings import warn

from gnomon.contracts import Model
from gnomon.errors import ModelWarning, UsageError
from gnomon.records import Answer, Item

MOST_SAMPLES = 1000
NO_EFFECT = (
    "The temperature has no effect: of one answer to an item, the likeliest is taken. --samples 5 "
    "draws five."
)


def check_sampling(samples: int, temperature: float | None, ask: str = "score") -> None:
    """Refuse numbers that make no sense, and a model that would give one reply again and again."""
    if not 1 <= samples <= MOST_SAMPLES:
        raise UsageError(
            f"There must be 1 to {MOST_SAMPLES:,} samples of an item, not {samples}.",
            "For example: --samples 5",
        )
    if samples > 1 and temperature is not None and not 0 < temperature <= 100:
        raise UsageError(
            f"Several samples need a temperature above 0, not {temperature:g}.",
            "At 0 they would all be the same. Give --set temperature=1, or leave out --samples.",
        )
    if samples > 1 and ask != "score":
        raise UsageError(
            "This kind of model draws samples by its scores, not by replies.",
            "Leave out ask=generate, or ask the model through a server (openai:NAME).",
        )


class SampledModel:
    """A model whose answers are drawn by its scores, several for each item."""

    def __init__(self, model: Model, samples: int, temperature: float) -> None:
        self._model = model
        self.spec = model.spec
        self.scale = model.scale
        self._samples = samples
        self._temperature = temperature

    def __getattr__(self, name: str) -> Any:
        """What else the model has: how it counts tokens, shows prompts, closes."""
        return getattr(self._model, name)

    def describe(self) -> dict[str, Any]:
        """The model's own, and how answers are drawn."""
        drawn = {"samples": self._samples, "temperature": self._temperature}
        return self._model.describe() | drawn

    def answer(self, items: Sequence[Item]) -> list[Answer]:
        """The samples of each item one after the other; the model is asked once."""
        found = []
        for item, answer in zip(items, self._model.answer(items), strict=True):
            found += self._drawn(item, answer)
        return found

    def _drawn(self, item: Item, answer: Answer) -> list[Answer]:
        """An answer without scores, such as a failure, is the only one."""
        if answer.scores is None:
            return [answer]
        weights = _weights(answer.scores, self.scale, self._temperature)
        found = []
        for sample in range(self._samples):
            # whatever the order of items and batches, and however many samples follow
            chance = Random(f"{item.id}\0{sample}")
            choice = chance.choices(item.choices, weights)[0] if any(weights) else None
            found.append(Answer(item=item.id, sample=sample, choice=choice))
        return found


def sampled(model: Model, samples: int, temperature: float) -> Model:
    """The model, or the same one drawing several answers."""
    if samples > 1:
        return SampledModel(model, samples, temperature)
    if temperature != 1:
        warn(NO_EFFECT, ModelWarning, stacklevel=2)
    return model


def _weights(scores: Sequence[float], scale: str, temperature: float) -> list[float]:
    """How often each choice is drawn.

    >>> _weights([log(0.8), log(0.2)], "log-probability", 1.0)[1]
    0.25
    """
    known = []
    for score in scores:
        if isnan(score) or (scale == "probability" and score <= 0):
            known.append(-float("inf"))
        else:
            known.append(log(score) if scale == "probability" else score)
    best = max(known)
    if best == -float("inf"):
        return [0.0] * len(known)
    return [exp((score - best) / temperature) for score in known]
