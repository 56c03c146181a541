"""Models by the path of their folder or file alone: what is there says which kind it is."""

import os
from collections.abc import Iterable
from pathlib import Path

from gnomon.errors import UsageError

WEIGHTS = ("config.json", "adapter_config.json")  # one of them is in every folder of transformers
PROBE = "probe.json"  # in the folder of a probe that `gnomon train` made
ANSWERS = (".jsonl", ".json", ".csv", ".tsv", ".txt", ".eval", ".gz")
SCHEMES = ("hf", "openai", "gguf")  # that other programs write before a slash
HOW = "Write SCHEME:PATH, such as hf:FOLDER, gguf:FILE or answers:FILE."


def spec_of_path(text: str, schemes: Iterable[str]) -> str:
    """SCHEME:PATH for a bare path; whatever else is given stays as it is.

    >>> spec_of_path("hf:gpt2", ["hf"]), spec_of_path("random", ["random"])
    ('hf:gpt2', 'random')
    """
    scheme = text.partition(":")[0]
    if scheme in schemes or not text:
        return text
    path = Path(text).expanduser()
    looks_like_path = text.startswith((".", "~")) or os.sep in text or "/" in text
    if not _exists(path):
        if looks_like_path and ":" not in text:
            raise _missing(text, path)
        return text  # an unknown name, which the registry tells of
    kinds = _of_folder(path) if path.is_dir() else _of_file(path)
    if not kinds:
        raise UsageError(f"Nothing in {text} says what kind of model it is.", _lacking(path))
    if len(kinds) > 1:
        raise UsageError(
            f"{text} could be {' or '.join(kinds)}.", "Write the one that you mean after -m."
        )
    return kinds[0]


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a name that is too long for a file
        return False


def _of_folder(folder: Path) -> list[str]:
    found = []
    if (folder / PROBE).is_file():
        found.append(f"probe:{folder}")
    elif any((folder / name).is_file() for name in WEIGHTS):
        found.append(f"hf:{folder}")
    for file in sorted(folder.glob("*.gguf"))[:5]:
        if not file.name.startswith("mmproj"):  # the projector of another, which sees with it
            found.append(f"gguf:{file}")
    return found


def _of_file(file: Path) -> list[str]:
    if file.suffix == ".gguf":
        return [f"gguf:{file}"]
    if file.suffix in ANSWERS:
        return [f"answers:{file}"]
    return []


def _lacking(path: Path) -> str:
    if path.is_dir():
        return f"A folder of a model holds config.json, {PROBE} or a .gguf file. {HOW}"
    return f"A file of a model ends in .gguf, a file of answers in {', '.join(ANSWERS)}. {HOW}"


def _missing(text: str, path: Path) -> UsageError:
    near = near_paths(path)
    owner, slash, name = text.partition("/")
    hint = HOW
    if near:
        hint = f"Did you mean {' or '.join(near)}?"
    elif owner in SCHEMES:
        hint = f"Write {owner}:{name}."
    elif slash and "/" not in name and owner not in (".", "..", "~", ""):
        hint = f"Write hf:{text} for a model of Hugging Face, openai:{text} for one of a server."
    return UsageError(f"There is no file or folder {text}.", hint)


def near_paths(path: Path, *, folders_only: bool = False) -> list[str]:
    """Paths beside one that does not exist, with names much like its own."""
    from difflib import get_close_matches

    names = []
    try:
        for entry in os.scandir(path.parent):
            if entry.is_dir() or not folders_only:
                names.append(entry.name)
    except OSError:
        return []
    close = get_close_matches(path.name, sorted(names), n=2, cutoff=0.8)
    return [str(path.parent / name) for name in close]
