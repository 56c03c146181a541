"""Sentences about results: what a reader should know after ten seconds."""

from __future__ import annotations

import re
from collections.abc import Sequence

TURNING = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def plain(text: str, limit: int = 80) -> str:
    """A name fit to stand inside a sentence: one short line, without marks that turn the direction
    of writing.

    >>> plain("gpt\u202e2\\n")
    'gpt2'
    """
    line = " ".join("".join(c for c in text if c not in TURNING).split())
    return line if len(line) <= limit else line[:limit] + "…"


def model_name(spec: str) -> str:
    """A model as the page calls it: a file by its name, without the folders of whoever ran it.

    >>> model_name("gguf:/home/me/models/tiny.gguf"), model_name("hf:org/name"), model_name("answers:out/gpt-9.tsv.gz")
    ('gguf:tiny.gguf', 'hf:org/name', 'gpt-9')
    """
    scheme, colon, name = spec.partition(":")
    if scheme == "answers":
        return plain(
            re.sub(r"(\.(csv|tsv|jsonl?|txt|gz|eval))+$", "", re.split(r"[\\/]", name)[-1])
        )
    if name.startswith(("/", "./", "../", "~", "\\")) or re.match(r"[A-Za-z]:[\\/]", name):
        name = re.split(r"[\\/]", name)[-1]
    return plain(scheme + colon + name)


def axis_name(measure: str) -> str:
    """A measure as the label of an axis.

    >>> axis_name("macro_f1"), axis_name("ece")
    ('macro F1', 'ECE')
    """
    name = measure_name(measure)
    return name if name[:2].isupper() else name[:1].lower() + name[1:]


def percentage(value: float | None, digits: int = 0) -> str:
    """A fraction for a sentence or a table.

    >>> percentage(0.614), percentage(0.614, 1), percentage(None)
    ('61\xa0%', '61.4\xa0%', '–')
    """
    return "–" if value is None else f"{100 * value + 1e-9:.{digits}f}\u00a0%"


def listed(parts: Sequence[str], joint: str = "and") -> str:
    """Words in a row, as people write them.

    >>> listed(["a", "b", "c"]), listed(["a", "b"], "or")
    ('a, b and c', 'a or b')
    """
    return (
        parts[0]
        if len(parts) == 1
        else f"{', '.join(parts[:-1])} {joint} {parts[-1]}"
        if parts
        else ""
    )


def counted(n: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "runs"), counted(2000, "items")
    ('1 run', '2,000 items')
    """
    return f"{n:,} {noun.removesuffix('s') if n == 1 else noun}"


def measure_name(measure: str) -> str:
    """A measure as people read it.

    >>> measure_name("pattern_accuracy@0.95")
    'Pattern accuracy @0.95'
    """
    base, _, threshold = measure.partition("@")
    name = base.replace("_", " ")
    for plain, proper in (("f1", "F1"), ("ece", "ECE"), ("auc", "area")):
        name = re.sub(rf"\b{plain}\b", proper, name)
    return name[:1].upper() + name[1:] + (f" @{threshold}" if threshold else "")
