"""What to say of a name that the registry does not know: the nearest, or where it belongs."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from gnomon.errors import UsageError, nearest, path_hint, unknown

# How several names are written; what a kind is given by.
SERVERS = {"ollama": 11434, "vllm": 8000, "lmstudio": 1234, "sglang": 30000, "llamacpp": 8080}
_SEVERAL = {"benchmarks": " ", "models": " -m ", "measures": " --measure "}


def unknown_name(
    kind: str, name: str, known: Iterable[str], others: Mapping[str, Iterable[str]]
) -> UsageError:
    """The error for a name that is not of its kind; `others` are the names of other kinds.

    >>> print(unknown_name("benchmarks", "scales,vsr", ["scales", "vsr"], {}))
    There is no benchmark named 'scales,vsr'.
    Write names apart: scales vsr
    """
    known = list(known)
    what = kind.removesuffix("s").replace("_", " ")
    found = unknown(what, name, known)
    if not name:  # as a path it would be the folder at hand
        return found
    hint = _several(kind, name, known) or _of_other_kind(kind, name, others)
    if not hint and kind == "benchmarks":
        hint = _path(name)
    if not hint and name.lower() in SERVERS:
        address = f"http://127.0.0.1:{SERVERS[name.lower()]}/v1"
        hint = f"It serves models as OpenAI does: -m openai:NAME --base-url {address}"
    if not hint and kind == "models" and not nearest(name, known):
        hint = _scheme(name)
    return UsageError(found.message, hint or found.hint)


def not_a_run(name: str, otherwise: str) -> str:
    """What to do about a name that is no run: a benchmark, a model, or a folder not there yet."""
    from gnomon.registry import BENCHMARKS, MODELS

    if name.partition("@")[0] in BENCHMARKS:
        return f"It is a benchmark: gnomon run {name} -m MODEL asks it, and makes a run in runs."
    if name.partition(":")[0] in MODELS:
        return f"It is a model: name runs of it, such as runs/*. {otherwise}"
    if name == "runs":
        return "No runs are here: go to the folder where you ran, or gnomon run scales -m random"
    return path_hint(Path(name), otherwise)


def _several(kind: str, name: str, known: list[str]) -> str:
    """Names that were written in one word."""
    parts = [part for part in re.split(r"[\s,;]+", name) if part]
    if kind not in _SEVERAL or len(parts) < 2:
        return ""
    right: list[str] = []
    for part in parts:
        near = [part] if re.split("[@:]", part)[0] in known else nearest(part, known)
        right += near[:1] or [part]
    flag = _SEVERAL[kind]
    return f"Write names apart: {flag.lstrip()}{flag.join(right)}"


def _of_other_kind(kind: str, name: str, others: Mapping[str, Iterable[str]]) -> str:
    """A model where a benchmark should be, or the other way round."""
    if kind == "models" and name.partition("@")[0] in others.get("benchmarks", ()):
        return f"It is a benchmark: gnomon run {name} -m MODEL. `gnomon list models` names models."
    if kind == "benchmarks" and name.partition(":")[0] in others.get("models", ()):
        return f"It is a model, which is given with -m: gnomon run BENCHMARK -m {name}"
    return ""


def _path(name: str) -> str:
    """A file or folder where a benchmark should be."""
    path = Path(name)
    if (path / "run.json").is_file() or (path.is_dir() and any(path.glob("*/run.json"))):
        return f"It is a folder of answers: gnomon score {name}"
    if path.is_dir():
        return (
            "It is a folder, and holds no file of questions (.csv, .tsv, .jsonl, .parquet). "
            "Name such a file: gnomon run FILE.csv -m MODEL"
        )
    if path.suffix in (".csv", ".tsv", ".jsonl", ".parquet") and path.is_file():
        return f"It is a file, which has no sources: write {name} without what follows @."
    if path.is_file():
        return (
            "It is a file; items are read from files that end in .jsonl, .csv or .parquet, "
            "and from lm-eval tasks."
        )
    if path.suffix or "/" in name:
        return path_hint(path, "There is no such file or folder either: check the path.")
    return ""


def _scheme(name: str) -> str:
    """A model by its own name, without what says where it runs."""
    if name.endswith(".gguf"):
        return f"Write gguf:{name} for a model file of llama.cpp."
    if Path(name).is_dir():
        return f"Write hf:{name} for a folder with a model of Hugging Face."
    return (
        f"Write hf:{name} for a model of Hugging Face, openai:{name} for one of a server. "
        "`gnomon list models` names the others."
    )
