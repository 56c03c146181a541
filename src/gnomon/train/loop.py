"""The loop: steps, evaluations, checkpoints. It can be stopped at any byte and goes on the same.

A run that was killed continues from its last checkpoint: weights, optimizer, random states and the
place in the epoch are there, and the learning rate is a function of the step. So the result is that
of an unbroken run.
"""

import shutil
import time
import warnings
from contextlib import nullcontext
from functools import partial
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import Any

import torch

from gnomon.errors import ModelError, ModelWarning, UsageError
from gnomon.train import recipes
from gnomon.train.checkpoints import Checkpoints, MetricsLine, MetricsLog, TrainingPlace

SAVING = ".saving"  # a folder within the folder
READ_EVERY = 20  # steps; reading a loss makes a GPU wait
SAVE_SECONDS = 60.0  # the most work that a crash can cost


def train(
    learner: recipes.Learner,
    schedule: recipes.Schedule,
    folder: Path,
    *,
    seeds: recipes.Seeds | None = None,
    watch: recipes.Watch | None = None,
) -> recipes.TrainingOutcome:
    """Train, keep the best weights, and save them in the folder; go on where it was stopped.

    The checkpoints stay: whoever calls this removes them when all else is written (making.py).
    """
    folder.mkdir(parents=True, exist_ok=True)
    return _Training(learner, schedule, folder, seeds or recipes.Seeds(), watch).run()


class _Training:
    """One training and its state."""

    def __init__(
        self,
        learner: recipes.Learner,
        schedule: recipes.Schedule,
        folder: Path,
        seeds: recipes.Seeds,
        watch: recipes.Watch | None,
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

    def run(self) -> recipes.TrainingOutcome:
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
        self._note_threads()
        self.began_at = self.place.step
        self.log.begin(self.place.step)
        if self.total == 0:
            self._evaluate()
            self.place.ended = True

    def _note_threads(self) -> None:
        """Note how many threads compute: the order of sums depends on it, and so the last bits."""
        threads, now = self.place.threads, torch.get_num_threads()
        if threads and threads[-1] != now:
            warnings.warn(
                f"This training went on with {threads[-1]} threads until it was stopped, and goes "
                f"on with {now}: its weights will not be those of an unbroken one to the last bit. "
                f"For these, stop it and go on with OMP_NUM_THREADS={threads[-1]}.",
                ModelWarning,
                stacklevel=2,
            )
        if threads[-1:] != [now]:
            threads.append(now)

    def _epoch(self) -> None:
        """The rest of the current epoch."""
        place = self.place
        batches = islice(iter(self.learner.batches(place.epoch)), place.batch, None)
        while group := list(islice(batches, self.schedule.accumulate)):  # the last may be smaller
            self._step(group)
            if place.ended:
                return
        if not place.batch:
            raise ModelError("There is nothing to train on: an epoch has no batches.")
        place.epoch, place.batch = place.epoch + 1, 0

    def _step(self, group: list[recipes.Batch]) -> None:
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
        if at_end or self._is_due(self.schedule.evaluate_every or self.in_epoch):
            improved = self._evaluate()
            patience = self.schedule.patience
            place.ended = at_end or (bool(patience) and place.evaluations_since_best >= patience)
        is_late = time.monotonic() - self.saved > SAVE_SECONDS
        if improved or place.ended or is_late or self._is_due(self.schedule.save_every):
            self._save()

    def _update(self, group: list[recipes.Batch], rate: float) -> torch.Tensor:
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

    def _is_due(self, every: int | None) -> bool:
        """Whether it is time for what is done every so many steps, if ever."""
        return every is not None and every > 0 and self.place.step % every == 0

    def _evaluate(self) -> bool:
        """Score on dev, without a trace in what follows; keep the weights if they are better.

        Whether they were kept, so that the next state must name them.
        """
        self._read_losses()
        place = self.place
        place.scores = self._asked(self.learner.score)
        improved = self._is_best(place.scores)
        place.evaluations_since_best += 1
        if improved:
            place.best_step, place.best_scores = place.step, place.scores
            place.evaluations_since_best = 0
        keeps = (
            improved and self.schedule.best != recipes.LAST
        )  # the last state holds the last weights
        if keeps:
            self.checkpoints.save_best(place, self.module)
        self.log.add([MetricsLine(step=place.step, epoch=self._epochs_done(), dev=place.scores)])
        self._tell(evaluated=True)
        return keeps

    def _asked(self, ask: Any) -> Any:
        """What the learner says with dropout off, no gradients, and the random state as before."""
        state = torch.get_rng_state()
        self.module.eval()
        with torch.no_grad():
            found = ask()
        self.module.train()
        torch.set_rng_state(state)
        return found

    def _is_best(self, scores: recipes.Scores) -> bool:
        name = self.schedule.best
        if name == recipes.LAST:
            return True
        if name not in scores:
            raise UsageError(
                f"The schedule chooses the best weights by '{name}', which is not measured.",
                f"Write best: with one of: {', '.join((*scores, recipes.LAST))}.",
            )
        return self.schedule.is_better(scores[name], self.place.best_scores.get(name))

    def _read_losses(self) -> None:
        """Write the losses of the latest steps into the log."""
        lines = []
        for step, epoch, rate, loss in self.unread:
            value = loss.item()
            if not isfinite(value):
                raise ModelError(
                    f"The loss of step {step} is not a number.",
                    "Lower learning_rate in the recipe's schedule, or add warmup and clip: 1.0.",
                )
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
            recipes.TrainingProgress(
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

    def _finish(self) -> recipes.TrainingOutcome:
        """The best weights in the folder, and how they do on parts that training never saw."""
        place = self.place
        if self.schedule.best != recipes.LAST:
            self.checkpoints.load_best(place, self.module)
        tests = self._asked(getattr(self.learner, "test", dict))
        weights = list(self.module.parameters())  # what is saved may be another module
        outcome = recipes.TrainingOutcome(
            steps=place.step,
            epochs=self._epochs_done(),
            best_step=place.best_step,
            best=place.best_scores,
            last_loss=place.loss,
            stopped_early=place.step < self.total,
            parameters=sum(each.numel() for each in weights),
            trained_parameters=sum(each.numel() for each in weights if each.requires_grad),
            threads=place.threads,
            tests=tests,
        )
        self.module.eval()
        save_aside(self.learner, self.folder)
        return outcome


def save_aside(learner: recipes.Learner, folder: Path) -> None:
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


# How weights are moved: the optimizer, which of them decay, and in which precision.


def optimizer_of(learner: recipes.Learner, schedule: recipes.Schedule) -> torch.optim.Optimizer:
    """The optimizer of a schedule for what a learner wants trained."""
    maker = {"adamw": torch.optim.AdamW, "adam": torch.optim.Adam}[schedule.optimizer]
    own = getattr(learner, "parameter_groups", None)
    device = next(learner.module.parameters()).device.type
    return maker(
        own() if own else _parameter_groups(learner.module),
        lr=schedule.learning_rate,
        weight_decay=schedule.weight_decay,
        fused=device in ("cpu", "cuda"),  # one pass over the weights: a sixth of the time
    )


def _parameter_groups(module: torch.nn.Module) -> list[dict[str, Any]]:
    """Matrices decay; biases and the scales of norms, which are vectors, do not."""
    trained = [weight for weight in module.parameters() if weight.requires_grad]
    groups: list[dict[str, Any]] = [
        {"params": [weight for weight in trained if weight.ndim > 1]},
        {"params": [weight for weight in trained if weight.ndim <= 1], "weight_decay": 0.0},
    ]
    return [group for group in groups if group["params"]]


def mixed_precision(schedule: recipes.Schedule, device: str) -> Any:
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
