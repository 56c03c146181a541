"""How weights are moved: the optimizer, which of them decay, and in which precision."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from typing import Any

import torch

from gnomon.errors import UsageError
from gnomon.train.learners import Learner
from gnomon.train.schedule import Schedule


def optimizer_of(learner: Learner, schedule: Schedule) -> torch.optim.Optimizer:
    """The optimizer of a schedule for what a learner wants trained."""
    maker = {"adamw": torch.optim.AdamW, "adam": torch.optim.Adam}[schedule.optimizer]
    own = getattr(learner, "parameter_groups", None)
    groups = own() if own else _parameter_groups(learner.module)
    device = next(learner.module.parameters()).device.type
    return maker(
        groups,
        lr=schedule.learning_rate,
        weight_decay=schedule.weight_decay,
        fused=device in ("cpu", "cuda"),  # one pass over the weights: a sixth of the time
    )


def _parameter_groups(module: torch.nn.Module) -> list[dict[str, Any]]:
    """Matrices decay; biases and the scales of norms, which are vectors, do not."""
    trained = [weight for weight in module.parameters() if weight.requires_grad]
    matrices = [weight for weight in trained if weight.ndim > 1]
    vectors = [weight for weight in trained if weight.ndim <= 1]
    groups: list[dict[str, Any]] = []
    if matrices:
        groups.append({"params": matrices})
    if vectors:
        groups.append({"params": vectors, "weight_decay": 0.0})
    return groups


def mixed_precision(schedule: Schedule, device: str) -> Any:
    """A maker of the context in which losses are computed."""
    if schedule.precision == "float32":
        return nullcontext
    if device == "cpu":
        raise UsageError(
            f"precision: {schedule.precision} is for a GPU, but the model is on a CPU.",
            "Write precision: float32, or leave it out.",
        )
    dtype = getattr(torch, schedule.precision)
    return partial(torch.autocast, device, dtype=dtype)
