"""Sentence-pair classifiers: premise and hypothesis in, a probability for each class out.

Every such model has its own order of entailment, neutral and contradiction. It is read from the
config; where the config does not say, from a table (data/nli-labels.yaml) or the user; and three
obvious pairs tell whether the order looks right.
"""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from msgspec.structs import replace

from gnomon.contracts import Scale
from gnomon.errors import ModelError, ModelWarning, UsageError
from gnomon.files import package_data, read_yaml
from gnomon.models.choices import ask_those_without_trouble, by_length, take, too_long
from gnomon.models.prompted import special_names
from gnomon.models.prompts.preview import HOW, PromptFormat, pair_of
from gnomon.models.transformers.loading import longest_text, token_budget, tokens_in_a_pass
from gnomon.models.transformers.tokens import tokens_around_a_pair
from gnomon.records import Answer, Item, Preview, pick

LABELS = ("entailment", "neutral", "contradiction")
SPELLINGS = {
    **dict.fromkeys(("entailment", "entail", "entails"), "entailment"),
    **dict.fromkeys(("contradiction", "contradict", "contradictory"), "contradiction"),
    **dict.fromkeys(("not_entailment", "not entailment"), "not_entailment"),
    "neutral": "neutral",
}
OBVIOUS = {
    ("A woman is asleep in her bed.", "A woman is asleep."): "entailment",
    ("A woman is asleep in her bed.", "A woman is wide awake."): "contradiction",
    ("A woman is asleep in her bed.", "A woman has two sons."): "neutral",
}

Pair = tuple[str, str]  # premise and hypothesis


class Nli:
    """A sequence-pair classifier of transformers."""

    scale: Scale = "probability"
    batch = 256

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
        self.budget = token_budget(model)
        self.longest = longest_text(model, tokenizer)
        self.tokens = tokens_in_a_pass(model)
        self.permuted = self._looks_permuted()

    def describe(self) -> dict[str, Any]:
        """What determines the answers."""
        return {**self.about, "classes": list(self.order), "classes_look_permuted": self.permuted}

    def answer(self, items: Sequence[Item]) -> list[Answer]:
        """One answer for each item: the probabilities of its labels."""
        pairs = [_pair(item) for item in items]
        lengths = self._lengths(pairs)
        troubles = [too_long(length, self.longest, "pair") for length in lengths]

        def ask(numbers: Sequence[int]) -> list[Answer]:
            found = self._probabilities(take(pairs, numbers), take(lengths, numbers))
            answers = []
            for number, row in zip(numbers, found, strict=True):
                answer = self._answer(items[number], row)
                answers.append(replace(answer, tokens_read=lengths[number]))
            return answers

        return ask_those_without_trouble(items, troubles, ask)

    def preview(self, item: Item) -> Preview:
        """Premise and hypothesis as they are tokenised."""
        asking = self.asking()
        ids = self._encoded([_pair(item)])["input_ids"][0]
        return Preview(
            text=asking.text(item),
            tokens=len(ids),
            ids=tuple(ids),
            special=special_names(self.tokenizer, ids),
            how=HOW[asking.way],
        )

    def asking(self) -> PromptFormat:
        """What shows prompts without the model."""
        return PromptFormat(way="pair", **tokens_around_a_pair(self.tokenizer))

    def _encoded(self, pairs: Sequence[Pair], **how: Any) -> Any:
        premises, hypotheses = zip(*pairs, strict=True)
        return self.tokenizer(list(premises), list(hypotheses), **how)

    def _lengths(self, pairs: Sequence[Pair]) -> list[int]:
        return list(map(len, self._encoded(pairs)["input_ids"]))

    def _probabilities(
        self, pairs: Sequence[Pair], lengths: Sequence[int]
    ) -> list[tuple[float, ...]]:
        """For each pair the probability of each class, in the model's order."""
        result: list[tuple[float, ...]] = [()] * len(pairs)

        def overfull(batch: Sequence[int]) -> bool:
            return len(batch) * lengths[batch[0]] > self.tokens

        for numbers in by_length(lengths, overfull):
            asked = take(pairs, numbers)
            inputs = self._encoded(asked, padding=True, return_tensors="pt")
            with torch.inference_mode():
                logits = self.model(**inputs.to(self.model.device)).logits
            rows = logits.float().softmax(-1).tolist()
            for number, row in zip(numbers, rows, strict=True):
                result[number] = tuple(row)
        return result

    def _answer(self, item: Item, found: tuple[float, ...]) -> Answer:
        known = dict(zip(self.order, found, strict=True))
        if "not_entailment" in known:  # a two-way classifier does not tell the other two apart
            half = known.pop("not_entailment") / 2
            known |= {"neutral": half, "contradiction": half}
        for choice in item.choices:
            if choice not in known:
                raise UsageError(
                    f"An nli model cannot choose '{choice}' (item {item.id}).",
                    f"It knows {', '.join(known)}: ask another kind of model.",
                )
        return pick(item, tuple(known[choice] for choice in item.choices))

    def _looks_permuted(self) -> bool:
        """Whether another order of the classes, but not this one, answers three obvious pairs.

        If so, a warning names that order.
        """
        pairs, wanted = list(OBVIOUS), list(OBVIOUS.values())
        found = self._probabilities(pairs, self._lengths(pairs))
        tops = [row.index(max(row)) for row in found]
        said = [self.order[top] for top in tops]
        if len(self.order) != 3 or len(set(tops)) != 3 or said == wanted:
            return False

        better = dict(zip(tops, wanted, strict=True))
        order = ",".join(better[place] for place in range(3))
        warnings.warn(
            f"{self.spec}: three obvious pairs are answered {', '.join(said)} instead of "
            f"{', '.join(wanted)}; the classes look permuted. "
            f"If so, give --set labels={order}.",
            ModelWarning,
            stacklevel=4,
        )
        return True


def _pair(item: Item) -> Pair:
    """The premises of an item as one text, and its hypothesis."""
    if item.form != "entailment":
        raise UsageError(
            f"An nli model takes items of the form entailment, not {item.form} (item {item.id}).",
            "Ask another kind of model, or another benchmark.",
        )
    return pair_of(item)


def class_order(config: Any, name: str, labels: str = "") -> tuple[str, ...]:
    """The labels of a classifier's outputs: as the user says, or the config, or the table."""
    size = int(config.num_labels)
    if labels:
        order = tuple(_spelling(label) for label in labels.split(","))
        named = set(order) <= {*LABELS, "not_entailment"}
        if not named or len(order) != size or len(set(order)) != size:
            raise UsageError(
                f"labels={labels} does not name the {size} classes of {name}.",
                f"Write them in the model's order, each once: {','.join(LABELS)}.",
            )
        return order

    known = known_order(config, name)
    if known:
        return known
    said: Mapping[int, str] = getattr(config, "id2label", None) or {}
    raise ModelError(
        f"{name} does not say what its {size} classes mean ({', '.join(map(str, said.values()))}).",
        "Give their order, as its authors describe it: for instance "
        f"--set labels={','.join(LABELS)}.",
    )


def known_order(config: Any, name: str) -> tuple[str, ...]:
    """The labels of a classifier's outputs as its config or the table says; empty if neither."""
    size = int(config.num_labels)
    said: Mapping[int, str] = getattr(config, "id2label", None) or {}
    order = tuple(_spelling(str(said.get(place, ""))) for place in range(size))
    if set(order) in ({*LABELS}, {"entailment", "not_entailment"}):
        return order
    # whole names of models on the hub, with the order of their classes
    for listed, classes in read_yaml(package_data("nli-labels.yaml")).items():
        if listed.lower() == name.lower() and len(classes) == size:
            return tuple(classes)
    return ()


def _spelling(label: str) -> str:
    return SPELLINGS.get(label.strip().lower(), "")
