"""The loop: steps, evaluations, checkpoints. It can be stopped at any byte and goes on the same.

A run that was killed continues from its last checkpoint: weights, optimizer, random states and the
place in the epoch are there, and the learning rate is a function of the step. So the result is that
of an unbroken run.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from functools import partial
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import Any

import torch

from gnomon.errors import ModelError, UsageError
from gnomon.train.checkpoints import Checkpoints, MetricsLine, MetricsLog, TrainingPlace
from gnomon.train.kinds import Batch, Learner, Scores, TrainingOutcome, TrainingProgress, Watch
from gnomon.train.recipes import LAST, Schedule, Seeds

SAVING = ".saving"  # a folder within the folder
READ_EVERY = 20  # steps; reading a loss makes a GPU wait
SAVE_SECONDS = 60.0  # the most work that a crash can cost


def train(
    learner: Learner,
    schedule: Schedule,
    folder: Path,
    *,
    seeds: Seeds | None = None,
    watch: Watch | None = None,
) -> TrainingOutcome:
    """Train, keep the best weights, and save them in the folder; go on where it was stopped.

    The checkpoints stay: whoever calls this removes them when all else is written (making.py).
    """
    folder.mkdir(parents=True, exist_ok=True)
    return _Training(learner, schedule, folder, seeds or Seeds(), watch).run()


class _Training:
    """One training and its state."""

    def __init__(
        self,
        learner: Learner,
        schedule: Schedule,
        folder: Path,
        seeds: Seeds,
        watch: Watch | None,
    ) -> None:
        self.learner, self.schedule, self.folder, self.watch = learner, schedule, folder, watch
        self.module = learner.module
        self.device = next(self.module.parameters()).device.type
        self.total = schedule.total_steps(learner.batches_in_epoch)
        self.in_epoch = schedule.steps_in_epoch(learner.batches_in_epoch)
        self.checkpoints, self.log = Checkpoints(folder), MetricsLog(folder)
        self.optimizer = optimizer_of(learner, schedule)
        self.mixed = mixed_precision(schedule, self.device)
        self.scaler = torch.amp.GradScaler(self.device, enabled=schedule.precision == "float16")
        self.seeds = seeds
        self.place = TrainingPlace()
        self.unread: list[tuple[int, float, float, torch.Tensor]] = []  # step, epoch, rate, loss
        self.saved = self.began = time.monotonic()
        self.began_at = 0

    def run(self) -> TrainingOutcome:
        """From the last checkpoint, or the beginning, to the end."""
        self._take_up()
        self.module.train()
        while not self.place.ended:
            self._epoch()
        return self._finish()

    def _take_up(self) -> None:
        self.checkpoints.tidy()
        torch.manual_seed(self.seeds.order)  # for dropout
        found = self.checkpoints.load_last(self.module, self.optimizer)
        if found:
            self.place = found
            self.scaler.load_state_dict(found.scaler)
        self.began_at = self.place.step
        self.log.begin(self.place.step)
        if self.total == 0:
            self._evaluate()
            self.place.ended = True

    def _epoch(self) -> None:
        """The rest of the current epoch."""
        place = self.place
        batches = islice(iter(self.learner.batches(place.epoch)), place.batch, None)
        empty = place.batch == 0
        for group in _grouped(batches, self.schedule.accumulate):
            empty = False
            self._step(group)
            if place.ended:
                return
        if empty:
            raise ModelError("There is nothing to train on: an epoch has no batches.")
        place.epoch, place.batch = place.epoch + 1, 0

    def _step(self, group: list[Batch]) -> None:
        """One step of the optimizer, and what is due after it."""
        rate = self.schedule.rate(self.place.step, self.total)
        loss = self._update(group, rate)
        place = self.place
        place.step += 1
        place.batch += len(group)
        self.unread.append((place.step, self._epochs_done(), rate, loss))
        if len(self.unread) >= READ_EVERY:
            self._read_losses()

        at_end = place.step >= self.total
        improved = False
        if at_end or self._evaluation_is_due():
            improved = self._evaluate()
            place.ended = at_end or self._patience_is_over()
        if improved or place.ended or self._save_is_due():
            self._save()

    def _update(self, group: list[Batch], rate: float) -> torch.Tensor:
        """Gradients of all batches of the group, and a step along them; the mean loss."""
        total = torch.zeros((), device=self.device)
        for batch in group:
            with self.mixed():
                loss = self.learner.loss(batch) / len(group)
            self.scaler.scale(loss).backward()
            total += loss.detach()
        for parameters in self.optimizer.param_groups:
            parameters["lr"] = rate * parameters.get("scale", 1.0)
        if self.schedule.clip:
            self.scaler.unscale_(self.optimizer)
            torch.nn.utils.clip_grad_norm_(self.module.parameters(), self.schedule.clip)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad(set_to_none=True)
        return total

    def _evaluation_is_due(self) -> bool:
        if self.schedule.evaluate_every:
            return self.place.step % self.schedule.evaluate_every == 0
        return self.in_epoch is not None and self.place.step % self.in_epoch == 0

    def _save_is_due(self) -> bool:
        if self.schedule.save_every and self.place.step % self.schedule.save_every == 0:
            return True
        return time.monotonic() - self.saved > SAVE_SECONDS

    def _patience_is_over(self) -> bool:
        patience = self.schedule.patience
        return bool(patience) and self.place.evaluations_since_best >= patience

    def _evaluate(self) -> bool:
        """Score on dev, without a trace in what follows; keep the weights if they are better.

        Whether they were kept, so that the next state must name them.
        """
        self._read_losses()
        scores = self._asked(self.learner.score)
        place = self.place
        place.scores = scores
        improved = self._is_best(scores)
        place.evaluations_since_best += 1
        if improved:
            place.best_step, place.best_scores = place.step, scores
            place.evaluations_since_best = 0
        if improved and not self._keeps_last:
            self.checkpoints.save_best(place, self.module)
        self.log.add([MetricsLine(step=place.step, epoch=self._epochs_done(), dev=scores)])
        self._tell(evaluated=True)
        return improved and not self._keeps_last

    @property
    def _keeps_last(self) -> bool:
        """Whether the last weights are wanted, which the last state holds anyway."""
        return self.schedule.best == LAST

    def _asked(self, ask: Any) -> Any:
        """What the learner says with dropout off, no gradients, and the random state as before."""
        state = torch.get_rng_state()
        self.module.eval()
        with torch.no_grad():
            found = ask()
        self.module.train()
        torch.set_rng_state(state)
        return found

    def _is_best(self, scores: Scores) -> bool:
        name = self.schedule.best
        if self._keeps_last:
            return True
        if name not in scores:
            raise UsageError(
                f"The schedule chooses the best weights by '{name}', which is not measured.",
                f"Write best: with one of: {', '.join((*scores, LAST))}.",
            )
        return self.schedule.is_better(scores[name], self.place.best_scores.get(name))

    def _read_losses(self) -> None:
        """Write the losses of the latest steps into the log."""
        lines = []
        for step, epoch, rate, loss in self.unread:
            value = loss.item()
            _check_finite(value, step)
            lines.append(MetricsLine(step=step, epoch=epoch, loss=value, rate=rate))
        if not lines:
            return
        self.unread.clear()
        self.log.add(lines)
        self.place.loss = lines[-1].loss or 0.0
        self._tell()

    def _save(self) -> None:
        self._read_losses()
        self.place.scaler = self.scaler.state_dict()
        self.checkpoints.save_last(self.place, self.module, self.optimizer)
        self.saved = time.monotonic()

    def _epochs_done(self) -> float:
        if not self.in_epoch:
            return float(self.place.epoch)
        return self.place.step / self.in_epoch

    def _tell(self, *, evaluated: bool = False) -> None:
        if not self.watch:
            return
        place = self.place
        done = place.step - self.began_at
        left = None
        if done:
            left = (time.monotonic() - self.began) / done * (self.total - place.step)
        self.watch(
            TrainingProgress(
                step=place.step,
                steps=self.total,
                epoch=place.epoch,
                loss=place.loss,
                scores=place.scores,
                best=place.best_scores.get(self.schedule.best),
                seconds_left=left,
                evaluated=evaluated,
            )
        )

    def _finish(self) -> TrainingOutcome:
        """The best weights in the folder, and how they do on parts that training never saw."""
        place = self.place
        if not self._keeps_last:
            self.checkpoints.load_best(place, self.module)
        tests = self._asked(getattr(self.learner, "test", dict))
        weights = list(self.module.parameters())  # what is saved may be another module
        outcome = TrainingOutcome(
            steps=place.step,
            epochs=self._epochs_done(),
            best_step=place.best_step,
            best=place.best_scores,
            last_loss=place.loss,
            stopped_early=place.step < self.total,
            parameters=sum(each.numel() for each in weights),
            trained_parameters=sum(each.numel() for each in weights if each.requires_grad),
            tests=tests,
        )
        self.module.eval()
        save_aside(self.learner, self.folder)
        return outcome


def save_aside(learner: Learner, folder: Path) -> None:
    """Save into a folder within the folder, and move each file when it is whole.

    Whoever writes the files may leave parts of them behind when it is killed.
    """
    aside = folder / SAVING
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir()
    learner.save(aside)
    for file in sorted(aside.iterdir()):
        file.replace(folder / file.name)
    aside.rmdir()


def _grouped(batches: Iterable[Batch], size: int) -> Iterator[list[Batch]]:
    """Batches by so many at a time; the last of an epoch may be fewer."""
    rest = iter(batches)
    while group := list(islice(rest, size)):
        yield group


def _check_finite(loss: float, step: int) -> None:
    if not isfinite(loss):
        raise ModelError(
            f"The loss of step {step} is not a number.",
            "Lower learning_rate in the recipe's schedule, or add warmup and clip: 1.0.",
        )


# How weights are moved: the optimizer, which of them decay, and in which precision.


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
