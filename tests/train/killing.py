"""A training in a process of its own, which is killed when it begins a step."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

from gnomon.train.folder import carry_out
from gnomon.train.recipes import Recipe


def killed_at(step: int, learner: type[Any], recipe: Recipe, folder: Path) -> None:
    """Train until the learner computes the loss of that step, counted from 1."""
    child = os.fork()
    if child == 0:
        try:
            learner.loss = _deadly(learner.loss, step)
            carry_out(recipe, folder)
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), "it was not killed"
    assert os.WTERMSIG(status) == signal.SIGKILL


def _deadly(plain: Any, step: int) -> Any:
    begun = []

    def loss(self: Any, batch: Any) -> Any:
        begun.append(batch)
        if len(begun) == step:
            os.kill(os.getpid(), signal.SIGKILL)
        return plain(self, batch)

    return loss
