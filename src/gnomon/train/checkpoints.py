"""Where training stands, on disk: the latest state and the best weights, each one file.

A checkpoint is a single safetensors file with its numbers in the header, so it is replaced in one
step: whatever byte the process dies at, a whole one is there. Frozen weights are not kept, since
they come from the model that training began with.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from gnomon.errors import DataError
from gnomon.items.writing import atomic_file

if TYPE_CHECKING:
    import torch

FOLDER = "checkpoints"
LAST = "last.safetensors"
_WEIGHTS, _OPTIMIZER, _RANDOM = "weights/", "optimizer/", "random/"
_HEADER = "gnomon"


class TrainingPlace(msgspec.Struct, kw_only=True):
    """Where training stands: everything that is a number, beside the tensors."""

    step: int = 0  # steps that are done
    epoch: int = 0  # the epoch of the next batch
    batch: int = 0  # batches of that epoch that are done
    best_step: int = -1  # -1 while nothing was evaluated
    best_scores: dict[str, float] = {}
    scores: dict[str, float] = {}  # of the latest evaluation
    evaluations_since_best: int = 0
    loss: float = 0.0  # of the latest step; JSON has no NaN
    ended: bool = False
    threads: list[int] = []  # of torch, in the order in which trainings went on with them
    scaler: dict[str, float] = {}  # of mixed precision


class Checkpoints:
    """The files below a training folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / FOLDER

    def save_last(
        self, place: TrainingPlace, module: torch.nn.Module, optimizer: torch.optim.Optimizer
    ) -> None:
        """Keep where training stands; older best weights than the place names can go then."""
        tensors = {**_weights(module), **_optimizer_tensors(optimizer), **_random_tensors()}
        self._write(self.folder / LAST, place, tensors)
        for file in self.folder.glob("best-*.safetensors"):
            if file != self._best(place):
                file.unlink()

    def save_best(self, place: TrainingPlace, module: torch.nn.Module) -> None:
        """Keep the weights of the best step; they count once `save_last` names it."""
        self._write(self._best(place), place, _weights(module))

    def load_last(
        self, module: torch.nn.Module, optimizer: torch.optim.Optimizer
    ) -> TrainingPlace | None:
        """Take up the latest state; none if there is none yet."""
        file = self.folder / LAST
        if not file.is_file():
            return None
        place, tensors = _read(file)
        _put_weights(module, tensors, file)
        _put_optimizer(optimizer, tensors)
        _put_random(tensors)
        return place

    def load_best(self, place: TrainingPlace, module: torch.nn.Module) -> None:
        """Put the best weights into the module."""
        file = self._best(place)
        _put_weights(module, _read(file)[1], file)

    def tidy(self) -> None:
        """Remove what a killed process left half written."""
        for file in self.folder.glob("*"):
            if file.name != LAST and not file.match("best-*.safetensors"):
                file.unlink()

    def remove(self) -> None:
        """Remove all of them: the trained folder has the weights."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _best(self, place: TrainingPlace) -> Path:
        return self.folder / f"best-{place.best_step}.safetensors"

    def _write(self, file: Path, place: TrainingPlace, tensors: dict[str, torch.Tensor]) -> None:
        from safetensors.torch import save_file

        self.folder.mkdir(exist_ok=True)
        header = {_HEADER: msgspec.json.encode(place).decode()}
        with atomic_file(file) as part:
            save_file(tensors, part, metadata=header)
            _flush(part)


def _flush(file: Path) -> None:
    """Wait until a file is on the disk."""
    with file.open("rb") as stream:
        os.fsync(stream.fileno())


def _read(file: Path) -> tuple[TrainingPlace, dict[str, torch.Tensor]]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, framework="pt") as stream:
            header = stream.metadata() or {}
            place = msgspec.json.decode(header.get(_HEADER, ""), type=TrainingPlace)
            tensors = {name: stream.get_tensor(name) for name in stream.keys()}  # noqa: SIM118
    except (SafetensorError, msgspec.MsgspecError, OSError) as error:
        raise DataError(
            f"this is not a checkpoint: {error}.",
            "Remove the training folder and train anew.",
            file=file,
        ) from None
    return place, tensors


def _state(module: torch.nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    """What training changes: weights that are trained, and buffers. What is tied comes once."""
    for name, weight in module.named_parameters():
        if weight.requires_grad:
            yield name, weight.data
    kept = module.state_dict(keep_vars=True)
    for name, buffer in module.named_buffers():
        if name in kept:
            yield name, buffer


def _weights(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    found = {}
    for name, tensor in _state(module):
        found[_WEIGHTS + name] = tensor.detach().cpu().contiguous()
    return found


def _put_weights(module: torch.nn.Module, tensors: Mapping[str, torch.Tensor], file: Path) -> None:
    for name, tensor in _state(module):
        kept = tensors.get(_WEIGHTS + name)
        if kept is None or kept.shape != tensor.shape:
            raise DataError(
                f"this checkpoint is of another model: {name} does not fit.",
                "Remove the training folder and train anew.",
                file=file,
            )
        tensor.copy_(kept)


def _optimizer_tensors(optimizer: torch.optim.Optimizer) -> dict[str, torch.Tensor]:
    found = {}
    for number, values in optimizer.state_dict()["state"].items():
        for name, tensor in values.items():
            found[f"{_OPTIMIZER}{number}/{name}"] = tensor.detach().cpu().contiguous()
    return found


def _put_optimizer(optimizer: torch.optim.Optimizer, tensors: Mapping[str, torch.Tensor]) -> None:
    state: dict[int, dict[str, Any]] = {}
    for key, tensor in tensors.items():
        if key.startswith(_OPTIMIZER):
            number, name = key.removeprefix(_OPTIMIZER).split("/", 1)
            state.setdefault(int(number), {})[name] = tensor
    groups = optimizer.state_dict()["param_groups"]
    optimizer.load_state_dict({"state": state, "param_groups": groups})


def _random_tensors() -> dict[str, torch.Tensor]:
    import torch

    found = {f"{_RANDOM}cpu": torch.get_rng_state()}
    if torch.cuda.is_available():
        found[f"{_RANDOM}cuda"] = torch.cuda.get_rng_state()
    return found


def _put_random(tensors: Mapping[str, torch.Tensor]) -> None:
    import torch

    torch.set_rng_state(tensors[f"{_RANDOM}cpu"])
    if f"{_RANDOM}cuda" in tensors and torch.cuda.is_available():
        torch.cuda.set_rng_state(tensors[f"{_RANDOM}cuda"])


# The log of training, metrics.jsonl: a line for each step and for each evaluation.
#
# Nothing in it depends on the clock, so that the same training writes the same lines. Lines
# beyond the last checkpoint, whole or torn, are dropped when training goes on from there.


FILE = "metrics.jsonl"
_encoder = msgspec.json.Encoder()


class MetricsLine(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One step (with its loss and rate) or one evaluation (with scores on dev)."""

    step: int  # counted from 1
    epoch: float
    loss: float | None = None
    rate: float | None = None
    dev: dict[str, float] | None = None


class MetricsLog:
    """Appends lines to the file of a folder."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / FILE

    def begin(self, step: int) -> None:
        """Keep the lines up to a step, and no others."""
        kept = [line for line in read_metrics(self.file) if line.step <= step]
        with atomic_file(self.file) as part:
            part.write_bytes(_encoder.encode_lines(kept))

    def add(self, lines: Iterable[MetricsLine]) -> None:
        """Append lines."""
        with self.file.open("ab") as stream:
            stream.write(_encoder.encode_lines(list(lines)))


def read_metrics(file: Path) -> list[MetricsLine]:
    """The lines of a log, up to the first that a killed process left unfinished."""
    found: list[MetricsLine] = []
    if not file.is_file():
        return found
    for text in file.read_bytes().split(b"\n")[:-1]:
        try:
            found.append(msgspec.json.decode(text, type=MetricsLine))
        except msgspec.MsgspecError:
            break
    return found
