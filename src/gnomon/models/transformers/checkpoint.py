"""The files of a model: what they lack, what they say of its training, and errors about them.

They are read as plain data: a folder may come from a stranger, and need not be one of ours.
"""

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from gnomon.errors import DataError, GnomonError, ModelError, UsageError
from gnomon.files import package_data, read_json, read_jsonl, read_yaml
from gnomon.grouped import first_few
from gnomon.modelpaths import near_paths


@contextmanager
def explained(name: str, *, allow_pickle: bool) -> Iterator[None]:
    """While inside, what the libraries raise about a model's files becomes an error for people."""
    try:
        yield
    except GnomonError:
        raise
    except Exception as error:
        raise _explanation(name, error, allow_pickle=allow_pickle) from error


def check_folder(name: str, *, allow_pickle: bool) -> None:
    """Say what a folder lacks before anything tries to read it."""
    folder = Path(name)
    if not folder.is_dir() and not folder.is_file() and not _is_path(name):
        return  # a name of the hub
    if not folder.is_dir():
        raise ModelError(
            f"{name}: there is no such folder.",
            "Give the folder that holds the model's config.json.",
        )

    endings = set()
    for file in folder.iterdir():
        endings.add(file.suffix)
        if file.exists() and not file.is_file() and not file.is_dir():
            raise ModelError(
                f"{file} is a pipe or a device, not a file.", "Fetch or copy the model again."
            )
    if ".safetensors" in endings:
        return
    if not endings & {".bin", ".pt", ".pth"}:
        raise ModelError(f"{name} holds no weights.", "Put the model's .safetensors files there.")
    if not allow_pickle:
        raise _pickled(name)


def check_complete(name: str, kind: str, model: Any, missing: Collection[str]) -> None:
    """Refuse a model some of whose weights are not in its files: they would be random."""
    absent = [key for key, _ in model.named_parameters() if key in missing]
    if not absent:
        return
    raise ModelError(
        f"{name} has no weights for {first_few(absent, 2)}: asked as kind {kind}, it would answer "
        "at random.",
        "Give a model that was trained for this, or another kind with --set kind=KIND.",
    )


def check_device(device: str) -> None:
    """Refuse a device that this machine does not have."""
    import torch

    here = ["cpu"]
    if torch.cuda.is_available():
        here.append("cuda")
    if torch.backends.mps.is_available():
        here.append("mps")
    try:
        kind = torch.device(device).type
    except RuntimeError:
        kind = ""
    # Of devices that are neither of these (xpu, hpu ...), torch itself says whether they are there.
    if not kind or (kind in ("cuda", "mps") and kind not in here):
        raise UsageError(
            f"There is no device '{device}' here.",
            f"Choose one of: {', '.join(here)}. Without it, the fastest is used.",
        )


def _explanation(name: str, error: Exception, *, allow_pickle: bool) -> ModelError:
    text = " ".join(str(error).split())
    for known in read_yaml(package_data("loading-errors.yaml")):
        if known["says"] in text:
            return ModelError(f"{name} {known['means']}", known["advice"])
    if not allow_pickle and "safetensors" in text and "file named" in text:
        return _pickled(name)
    if type(error).__name__ == "SafetensorError":
        return ModelError(
            f"{name}: its weights cannot be read ({text}).",
            "The file is damaged or not whole: fetch it again (git lfs pull, if it came by git).",
        )
    return ModelError(
        f"{name} cannot be loaded: {text[:300] or type(error).__name__}", _advice(name)
    )


def _pickled(name: str) -> ModelError:
    return ModelError(
        f"{name} has its weights only as a Python pickle, which can run any code when it is read.",
        "Prefer a revision with .safetensors files; if you trust its author, add "
        "--set allow_pickle=yes.",
    )


def _is_path(name: str) -> bool:
    return name.startswith((".", "/", "~")) or name.count("/") > 1 or "\\" in name


def _advice(name: str) -> str:
    if Path(name).is_dir():
        return "Put config.json, tokenizer and .safetensors files there, all of one model."
    if os.environ.get("HF_HUB_OFFLINE", "").lower() in ("1", "true", "yes", "on"):
        return (
            "HF_HUB_OFFLINE is set and the model is not in the cache: "
            "unset it once, or give a local folder."
        )
    return "Check the name and the network, or give a local folder: hf:path/to/folder."


# --- a name that is neither a folder nor in the cache, but much like a folder here, is a slip ----


def check_no_slip(name: str) -> None:
    """Refuse a name that a folder here is much like, before the hub is asked about it for long."""
    path = Path(name).expanduser()
    if path.exists() or _is_cached(name):
        return
    for near in near_paths(path, folders_only=True):
        if (Path(near) / "config.json").is_file():
            raise ModelError(
                f"There is no folder {name} here, and no such model in the cache.",
                f"Did you mean hf:{near}? A model of the hub is named with its owner: "
                "hf:OWNER/NAME.",
            )


def _is_cached(name: str) -> bool:
    """Whether a model of the hub is on this machine."""
    from huggingface_hub.constants import HF_HUB_CACHE

    folder = f"models--{name.replace('/', '--')}"
    return os.path.isdir(os.path.join(HF_HUB_CACHE, folder))


# --- models that compare texts with pictures: their class says what they are, and makes them -----


COMPARING = {
    "CLIPModel": "dual",
    "SiglipModel": "dual",
    "BlipForImageTextRetrieval": "match",
    "BlipForQuestionAnswering": "match",
    "ViltForImageAndTextRetrieval": "match",
    "ViltForImagesAndTextClassification": "match",
    "ViltForQuestionAnswering": "match",
    "LxmertForPreTraining": "regions",
    "VisualBertForVisualReasoning": "regions",
}

# masked models that are also shown pictures, and whether as pixels or as regions
FILLING = {
    "ViltForMaskedLM": "pixels",
    "FlavaForPreTraining": "pixels",
    "VisualBertForPreTraining": "regions",
    "LxmertForPreTraining": "regions",
}


def architecture_of(config: Any) -> str:
    """The class that a config names first; empty if it names none."""
    architectures = getattr(config, "architectures", None) or [""]
    return architectures[0] or ""


def class_of(kind: str, config: Any, name: str) -> str:
    """The class of transformers that makes a model of a kind that compares."""
    architecture = architecture_of(config)
    if COMPARING.get(architecture) == kind:
        return architecture
    known = [each for each, its_kind in COMPARING.items() if its_kind == kind]
    raise UsageError(
        f"{name} has the architecture {architecture or '(none named)'}, which is not of kind "
        f"{kind}.",
        f"Leave kind out, or give a model of one of these: {', '.join(known)}.",
    )


# --- what a folder that `gnomon train` made says of its training, for the manifest of a run ------


MOST_POINTS = 100  # of a curve
MOST_ROWS = 1000  # of the points of a learning curve, by part and measure
_CHECKPOINTS, _RECIPE = "checkpoints", "recipe.yaml"


class _Outcome(msgspec.Struct):
    """training.json: what a training came to."""

    steps: int
    best_step: int
    best: dict[str, float]
    tests: dict[str, dict[str, float]] = {}


class _Part(msgspec.Struct):
    """What data.json says of a part."""

    sha256: str = ""
    items: int = 0


class _Point(msgspec.Struct):
    """What the draws of one amount came to."""

    part: str
    measure: str
    amount: float
    values: list[float] = []


class _Curve(msgspec.Struct):
    """curve.json: what each amount of a learning curve came to."""

    curve: list[_Point]


class _Line(msgspec.Struct):
    """A line of metrics.jsonl: a step, or an evaluation."""

    step: int
    loss: float | None = None
    dev: dict[str, float] | None = None


def training_of(name: str) -> dict[str, Any]:
    """How the model in a folder was trained; nothing if Gnomon did not train it.

    `train_items` and `per_pattern` are by what reports order runs along a curve.
    """
    folder = Path(name)
    file = folder / "training.json"
    if not file.is_file():
        return {}
    try:
        outcome = read_json(file, _Outcome)
        recipe = read_yaml(folder / _RECIPE)
        data = read_json(folder / "data.json", dict[str, _Part])
        curves = _curves(folder / "metrics.jsonl")
        grown = _grown(folder.parent.parent / "curve.json")
    except DataError:
        return {}  # somebody else's file of that name
    training = {
        "kind": recipe.get("kind", ""),
        "from": recipe.get("model", ""),
        "steps": outcome.steps,
        "best_step": outcome.best_step,
        "best": outcome.best,
        "tests": outcome.tests,
        "data_sha256": {part: facts.sha256 for part, facts in data.items()},
        "items": {part: facts.items for part, facts in data.items()},
        "recipe": recipe,
        **curves,
    }
    return {"training": training, **_amounts(recipe, data, outcome.steps), **grown}


def _grown(file: Path) -> dict[str, Any]:
    """The learning curve of which a training is a point, each amount with its draws."""
    if not file.is_file():
        return {}
    points = read_json(file, _Curve).curve[:MOST_ROWS]
    return {"curve": [msgspec.to_builtins(point) for point in points]}


def check_finished(name: str) -> None:
    """Refuse a folder whose training was stopped before its end."""
    folder = Path(name)
    if (folder / "training.json").is_file():
        return
    if (folder / _RECIPE).is_file() and (folder / _CHECKPOINTS).is_dir():
        raise ModelError(
            f"The training in {folder} is not finished.",
            "Give the command that began it again: it continues where it was.",
        )


def _amounts(recipe: dict[str, Any], data: dict[str, _Part], steps: int) -> dict[str, float]:
    """How much a model was taught; nothing where it took no step."""
    found: dict[str, float] = {}
    train = data.get("train")
    if train and train.items:
        found["train_items"] = train.items
    pool = (recipe.get("data") or {}).get("train")
    if isinstance(pool, dict) and pool.get("per_group"):
        found["per_pattern"] = pool["per_group"]
    elif isinstance(pool, dict) and "percent" in pool:
        found["train_share"] = pool["percent"]
    if not steps:
        return dict.fromkeys(found, 0)
    return found


def _curves(file: Path) -> dict[str, Any]:
    """The losses, as means over stretches of steps, and the scores on dev."""
    if not file.is_file():
        return {}
    losses: list[tuple[int, float]] = []
    scores: list[tuple[int, dict[str, float]]] = []
    for _, line in read_jsonl(file, _Line):
        if line.loss is not None:
            losses.append((line.step, line.loss))
        if line.dev:
            scores.append((line.step, line.dev))
    return {"losses": _thinned(losses), "dev": scores[:: -(-len(scores) // MOST_POINTS) or 1]}


def _thinned(points: list[tuple[int, float]]) -> list[tuple[int, float]]:
    """At most so many points: of each stretch the last step and the mean."""
    stretch = -(-len(points) // MOST_POINTS) or 1
    found = []
    for start in range(0, len(points), stretch):
        part = points[start : start + stretch]
        mean = sum(value for _, value in part) / len(part)
        found.append((part[-1][0], mean))
    return found
