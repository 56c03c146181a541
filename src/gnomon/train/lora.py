"""LoRA through peft: a large model learns by small matrices beside its weights.

They are merged into the weights when the model is saved, so the folder loads like any other.
"""

from __future__ import annotations

import warnings
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from gnomon.errors import UsageError, importing

# by the kind of model, as Gnomon calls it
TASKS = {"nli": "SEQ_CLS", "causal": "CAUSAL_LM", "seq2seq": "SEQ_2_SEQ_LM", "masked": None}


class Lora(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The section `lora` of a task."""

    rank: Annotated[int, Meta(ge=1)] = 8
    alpha: Annotated[int, Meta(ge=1)] = 16  # the matrices count alpha / rank times
    dropout: Annotated[float, Meta(ge=0, lt=1)] = 0.0
    targets: tuple[str, ...] = ()  # ends of names of layers; by default what peft knows is good


def with_lora(model: Any, lora: Lora, kind: str, *, seed: int) -> Any:
    """The model with all its weights frozen, and matrices beside them that learn."""
    import torch

    with importing("LoRA", "train"):
        import peft

    torch.manual_seed(seed)
    config = peft.LoraConfig(
        r=lora.rank,
        lora_alpha=lora.alpha,
        lora_dropout=lora.dropout,
        target_modules=list(lora.targets) or None,
        task_type=TASKS[kind],
    )
    try:
        with warnings.catch_warnings():  # it says what it corrects by itself
            warnings.simplefilter("ignore")
            return peft.get_peft_model(model, config)
    except ValueError as error:
        linear = sorted({name.rpartition(".")[2] for name, part in _linear_layers(model)})
        raise UsageError(
            f"LoRA does not fit this model: {error}.",
            f"Name its layers in the recipe, lora.targets: some of {', '.join(linear)}.",
        ) from None


def merged(model: Any) -> Any:
    """The model with the matrices added to its weights; one without them as it is."""
    merge = getattr(model, "merge_and_unload", None)
    return merge() if merge else model


def _linear_layers(model: Any) -> list[tuple[str, Any]]:
    import torch

    found = []
    for name, part in model.named_modules():
        if isinstance(part, torch.nn.Linear):
            found.append((name, part))
    return found
