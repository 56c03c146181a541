"""Errors for people: one sentence on what is wrong and where, one on what to do. No traceback.

GnomonError                 something the user can fix; exit code 1
├── UsageError              the command or call itself is wrong (unknown name, option); exit code 2
├── DataError               a file is missing, malformed or does not fit; names file, line and field
├── RunError                a run folder cannot be used (in use, newer version, changed items)
│   └── EmptyShardError     a shard has no items, so there is nothing to do; exit code 0
├── ModelError              a model cannot be loaded or reached; ends the run
│   └── UnfitError          a model cannot be asked such items; a suite goes on without them
└── MissingExtraError       an optional dependency is not installed; says which extra to get
"""

import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

# What `inert` lets pass, and the categories of Unicode that steer a terminal or hide.
_UNUSUAL = re.compile(r"[^ -~\n]")
_HARMLESS = frozenset("\u200c\u200d")
_STEERING = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


MOST_NAMES = 40  # that are listed in a message
CLOSE = 0.8  # how alike a name must be to come before one that was only begun
MOST_BESIDE = 5000  # files of a folder among which the nearest name is looked for
LONGEST = 2000  # characters of a sentence: a stranger's word in it may be of any length


class GnomonError(Exception):
    """Something the user can fix: `message` says what and where, `hint` says what to do."""

    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(shortened(message))
        self.message = shortened(message)
        self.hint = shortened(hint)

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}" if self.hint else self.message


class UsageError(GnomonError):
    """The command or call itself is off: an unknown name, an option that does not fit."""

    exit_code = 2


class DataError(GnomonError):
    """A file is missing, malformed or does not fit."""

    def __init__(
        self, message: str, hint: str = "", *, file: str | Path = "", line: int = 0
    ) -> None:
        where = f"{file}:{line}: " if file and line else f"{file}: " if file else ""
        super().__init__(where + message, hint)
        self.file, self.line = str(file), line


class RunError(GnomonError):
    """A run folder cannot be used."""


class EmptyShardError(RunError):
    """There are fewer items than shards, and this shard has none: nothing is amiss."""

    exit_code = 0


class ModelError(GnomonError):
    """A model cannot be loaded or reached: the run ends, and can be continued later."""


class UnfitError(ModelError):
    """A model cannot be asked items of this kind, such as pictures of a model that reads."""


WITH_TORCH = ("hf", "train", "synthesis")  # the optional parts that bring torch


class MissingExtraError(GnomonError):
    """An optional dependency is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        hint = f"Install it with: pip install 'gnomon[{extra}]'"
        if extra in WITH_TORCH:
            hint += "\nWithout a GPU install torch's CPU build first: else it takes gigabytes."
        super().__init__(f"{what} needs the optional part '{extra}', which is not installed.", hint)


# The part of Gnomon that brings a module, for imports that nobody guarded.
PARTS = {
    "PIL": "vision",
    "cv2": "vision",
    "diffusers": "synthesis",
    "duckdb": "parquet",
    "httpx": "openai",
    "huggingface_hub": "hf",
    "jinja2": "report",
    "markupsafe": "report",
    "openpyxl": "xlsx",
    "peft": "train",
    "ray": "ray",
    "reportlab": "report",
    "resvg_py": "report",
    "safetensors": "hf",
    "sklearn": "baselines",
    "spacy": "names",
    "starlette": "report",
    "tokenizers": "hf",
    "torch": "hf",
    "transformers": "hf",
    "trimesh": "meshes",
    "uvicorn": "report",
    "xllamacpp": "gguf",
    "z3": "prove",
    "zstandard": "inspect",
}


def missing_part(error: ModuleNotFoundError) -> MissingExtraError | None:
    """The optional part that would bring a module which is not there; none if none would."""
    extra = PARTS.get((error.name or "").partition(".")[0])
    return MissingExtraError("This", extra) if extra else None


@contextmanager
def importing(what: str, extra: str) -> Iterator[None]:
    """Around imports of an optional part: if it is not installed, the error says how to get it."""
    try:
        yield
    except ImportError:
        raise MissingExtraError(what, extra) from None


class MissingFileWarning(UserWarning):
    """A part of the authors' data is not there; the rest is used."""


class RebuiltItemsWarning(MissingFileWarning):
    """The authors' own items are not there; others are made by their rules."""


class MissingFontWarning(UserWarning):
    """There is no font to embed, so a file is not written."""


class FewItemsWarning(UserWarning):
    """There are fewer items than were asked for; those that there are, are used."""


class DamagedDataWarning(UserWarning):
    """Some lines or elements of a file cannot be read; the rest is used."""


class AnswerFileWarning(UserWarning):
    """A file of answers does not fit its benchmark in every respect; what fits is used."""


class ModelWarning(UserWarning):
    """A model can be asked, but there is something about it that one should know."""


class CopyWarning(UserWarning):
    """A run is there several times; it counts once."""


class UnencryptedWarning(UserWarning):
    """A key goes over the network for all to read."""


def shortened(text: str) -> str:
    """Text with its middle left out if nobody could read the whole.

    >>> len(shortened("a" * 200_000))
    2000
    """
    if len(text) <= LONGEST:
        return text
    half = (LONGEST - 5) // 2
    return f"{text[: LONGEST - 5 - half]} ... {text[-half:]}"


def unknown(kind: str, name: str, known: Iterable[str]) -> UsageError:
    """Say that `name` is not a known `kind`, with the nearest names.

    >>> print(unknown("benchmark", "scalse", ["scales", "posrel"]))
    There is no benchmark named 'scalse'.
    Did you mean scales?
    """
    known = sorted(known)
    near = nearest(name, known)
    hint = f"Did you mean {' or '.join(near)}?" if near else _choices(known)
    return UsageError(f"There is no {kind} named '{name}'.", hint)


def check_known(kind: str, name: str, known: Collection[str]) -> None:
    """Refuse a name that is none of those that are known."""
    if name not in known:
        raise unknown(kind, name, known)


def check_no_name(spec: str, name: str, hint: str = "") -> None:
    """Refuse a name after a model's kind that has none, as in random:3."""
    if name:
        said = f"{spec} takes no name, but '{name[:60]}' was given."
        raise UsageError(said, hint or f"Write just {spec}.")


def _choices(names: list[str]) -> str:
    """All names, or some of them where nobody would read all."""
    if len(names) <= MOST_NAMES:
        return f"Choose one of: {', '.join(names)}."
    return f"Choose one of {len(names)}, such as: {', '.join(names[:: len(names) // 12])}."


def nearest(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> list[str]:
    """The names that somebody may have meant, three at most, the likeliest first.

    >>> nearest("Scalse", ["scales", "posrel"]), nearest("viphy", ["viphy-size", "posrel"])
    (['scales'], ['viphy-size'])
    """
    from difflib import SequenceMatcher

    plain = _plainly(name)
    alike: dict[str, float] = {}
    parts = []
    begun = []
    for each in known:
        share = SequenceMatcher(None, plain, _plainly(each)).ratio()
        if share >= cutoff:
            alike[each] = share
        if len(plain) > 2 and plain in _plainly(each):
            parts.append(each)
            begun += [each] if _plainly(each).startswith(plain) else []
    if not alike:
        return parts[:3]
    found = sorted(alike, key=alike.__getitem__, reverse=True)
    if begun and alike[found[0]] < CLOSE:
        return begun[:3]
    # A name that is much further off than the nearest only distracts from it.
    return [each for each in found if alike[each] > alike[found[0]] - 0.15][:3]


def path_hint(path: str | Path, otherwise: str) -> str:
    """What to do about a path where nothing is: the nearest names beside it, or else a hint."""
    from itertools import islice

    path = Path(path)
    if path.exists():
        return otherwise
    try:
        beside = [entry.name for entry in islice(path.parent.iterdir(), MOST_BESIDE)]
    except OSError:
        return f"There is no folder {path.parent}. {otherwise}"
    near = nearest(path.name, sorted(beside), cutoff=0.7)
    if not near:
        alike = sorted(name for name in beside if path.suffix and name.endswith(path.suffix))
        there = f" {path.parent.resolve().name or path.parent} has: {', '.join(alike[:5])}."
        return otherwise + (there if alike else "")
    return f"Did you mean {' or '.join(str(path.parent / name) for name in near)}?"


def _plainly(name: str) -> str:
    """A name without what is easily mistyped: capitals, and the kind and number of dashes."""
    return name.lower().replace("_", "-").strip("-")


def cut_in_middle(text: str, room: int) -> str:
    """A name in so many characters: what begins alike, such as paths, differs at the end.

    >>> cut_in_middle("answers:DATA/results-deberta-v2-xxlarge.tsv", 24)
    'answers:…-v2-xxlarge.tsv'
    """
    if len(text) <= room:
        return text
    head = room // 3
    tail = room - head - 1
    return f"{text[:head]}…{text[len(text) - tail :]}"


def inert(text: str) -> str:
    """Text from strangers, made safe to print.

    What steers a terminal or turns the direction of writing is shown as an escape. Line breaks
    stay, and so do the joiners of scripts and emoji.

    >>> print(inert("gpt\\x1b[31m\\u202e2"))
    gpt\\x1b[31m\\u202e2
    """
    return _UNUSUAL.sub(_visible, text)


def _visible(match: re.Match[str]) -> str:
    from unicodedata import category

    character = match[0]
    if character.isprintable() or character in _HARMLESS:
        return character
    if character == "\t":
        return " "
    if category(character) not in _STEERING:
        return character
    return character.encode("unicode_escape", errors="backslashreplace").decode("ascii")
