"""Sentence-pair classifiers: premise and hypothesis in, a probability for entailment, neutral and
contradiction out.

Every such model has its own order of classes. It is read from the config; where the config does not
say, from a table (data/nli-labels.yaml) or the user; and three obvious pairs tell whether the order
looks right.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch

from gnomon.contracts import Scale
from gnomon.errors import ModelError, UsageError
from gnomon.files import package_data, read_yaml
from gnomon.models.transformers.causal import longest, token_budget
from gnomon.records import Answer, Item, pick

LABELS = ("entailment", "neutral", "contradiction")
SPELLINGS = {
    "entailment": "entailment",
    "entail": "entailment",
    "entails": "entailment",
    "neutral": "neutral",
    "contradiction": "contradiction",
    "contradict": "contradiction",
    "contradictory": "contradiction",
    "not_entailment": "not_entailment",
    "not entailment": "not_entailment",
}
OBVIOUS = (
    ("A woman is asleep in her bed.", "A woman is asleep.", "entailment"),
    ("A woman is asleep in her bed.", "A woman is wide awake.", "contradiction"),
    ("A woman is asleep in her bed.", "A woman has two sons.", "neutral"),
)


class Nli:
    """A sequence-pair classifier of transformers."""

    scale: Scale = "probability"

    def __init__(
        self,
        spec: str,
        model: Any,
        tokenizer: Any,
        *,
        name: str = "",
        labels: str = "",
        about: dict[str, Any] | None = None,
    ) -> None:
        self.spec, self.model, self.tokenizer, self.about = spec, model, tokenizer, about or {}
        self.order = class_order(model.config, name or spec, labels)
        self.batch, self.budget = 256, token_budget(model)
        self.longest = longest(model, tokenizer)
        self.tokens = 2048 if next(model.parameters()).device.type == "cpu" else 16384
        self.permuted = self._self_test()

    def describe(self) -> dict[str, Any]:
        """What determines the answers."""
        return {**self.about, "classes": list(self.order), "classes_look_permuted": self.permuted}

    def answer(self, items: Sequence[Item]) -> list[Answer]:
        """One answer for each item: the probabilities of its labels."""
        for item in items:
            if item.form != "entailment":
                raise UsageError(
                    f"An nli model takes items of the form entailment, not {item.form} (item {item.id}).",
                    "Ask another kind of model, or another benchmark.",
                )
        found = self.probabilities([(" ".join(item.context.split()), item.text) for item in items])
        return [self._answer(item, row) for item, row in zip(items, found, strict=True)]

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[float, ...] | str]:
        """For each pair the probability of each class, in the model's order; a reason where a pair
        is too long."""
        encoded = self.tokenizer([one for one, _ in pairs], [two for _, two in pairs])["input_ids"]
        result: list[tuple[float, ...] | str] = [""] * len(pairs)
        for numbers in self._alike(encoded):
            if self.longest and len(encoded[numbers[0]]) > self.longest:
                for number in numbers:
                    result[number] = (
                        f"the pair has {len(encoded[number])} tokens, the model takes {self.longest}"
                    )
                continue
            texts = [pairs[number] for number in numbers]
            inputs = self.tokenizer(
                [one for one, _ in texts],
                [two for _, two in texts],
                padding=True,
                return_tensors="pt",
            ).to(self.model.device)
            with torch.inference_mode():
                rows = self.model(**inputs).logits.float().softmax(-1).tolist()
            for number, row in zip(numbers, rows, strict=True):
                result[number] = tuple(row)
        return result

    def _answer(self, item: Item, found: tuple[float, ...] | str) -> Answer:
        if isinstance(found, str):
            return Answer(item=item.id, error=found)
        known = dict(zip(self.order, found, strict=True))
        if (
            "not_entailment" in known
        ):  # a two-way classifier says nothing that tells the other two apart
            known |= dict.fromkeys(("neutral", "contradiction"), known.pop("not_entailment") / 2)
        absent = [choice for choice in item.choices if choice not in known]
        if absent:
            raise UsageError(
                f"An nli model cannot choose '{absent[0]}' (item {item.id}).",
                f"It knows: {', '.join(known)}.",
            )
        return pick(item, tuple(known[choice] for choice in item.choices))

    def _alike(self, encoded: Sequence[Sequence[int]]) -> Iterator[list[int]]:
        """Numbers of pairs of like length; those that are too long for the model stand in batches
        of their own."""
        batch: list[int] = []
        for number in sorted(range(len(encoded)), key=lambda n: len(encoded[n]), reverse=True):
            size = len(encoded[batch[0]]) if batch else 0
            over = bool(self.longest) and size > self.longest >= len(encoded[number])
            if batch and (over or (len(batch) + 1) * size > self.tokens):
                yield batch
                batch = []
            batch.append(number)
        if batch:
            yield batch

    def _self_test(self) -> bool:
        """Warn if another order of the classes would answer three obvious pairs right, and this one
        does not."""
        found = self.probabilities([(premise, hypothesis) for premise, hypothesis, _ in OBVIOUS])
        tops = [
            max(range(len(row)), key=row.__getitem__) for row in found if not isinstance(row, str)
        ]
        said = [self.order[top] for top in tops]
        wanted = [label for _, _, label in OBVIOUS]
        permuted = len(self.order) == 3 and len(set(tops)) == 3 and said != wanted
        if permuted:
            better = dict(zip(tops, wanted, strict=True))
            order = ",".join(better[place] for place in range(3))
            warnings.warn(
                f"{self.spec}: three obvious pairs are answered {', '.join(said)} instead of "
                f"{', '.join(wanted)}; the classes look permuted. If so, give --model-set labels={order}.",
                UserWarning,
                stacklevel=4,
            )
        return permuted


def class_order(config: Any, name: str, labels: str = "") -> tuple[str, ...]:
    """The labels of a classifier's outputs: as the user says, as the config says, or as the table
    says."""
    size = int(config.num_labels)
    if labels:
        order = tuple(_spelling(label) for label in labels.split(","))
        if (
            len(order) != size
            or not set(order) <= {*LABELS, "not_entailment"}
            or len(set(order)) != size
        ):
            raise UsageError(
                f"labels={labels} does not name the {size} classes of {name}.",
                f"Write them in the model's order, each once: {','.join(LABELS)}.",
            )
        return order
    said: Mapping[int, str] = getattr(config, "id2label", None) or {}
    order = tuple(_spelling(str(said.get(place, ""))) for place in range(size))
    if set(order) in ({*LABELS}, {"entailment", "not_entailment"}):
        return order
    for known, listed in _table().items():
        if size == len(listed) and known.lower() in name.lower():
            return tuple(listed)
    raise ModelError(
        f"{name} does not say what its {size} classes mean ({', '.join(map(str, said.values()))}).",
        f"Give their order with --model-set labels={','.join(LABELS)} (in the model's own order).",
    )


def _spelling(label: str) -> str:
    return SPELLINGS.get(label.strip().lower(), "")


def _table() -> dict[str, list[str]]:
    found: dict[str, list[str]] = read_yaml(package_data("nli-labels.yaml"))
    return found
