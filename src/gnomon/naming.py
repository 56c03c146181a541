"""What models are called: by a name of the user's own, or else by their spec, shortened."""

import re
from typing import NamedTuple

from gnomon.errors import UsageError, inert

PERSON = "people:"  # before the pseudonym of somebody whose answers are a run
LONGEST = 60  # characters of a name of one's own
NO_NAME = (":", "/", "\\", "=")  # what a spec or a path has, and a name has not
_ENDINGS = re.compile(r"(\.(jsonl|json|eval|tsv|csv|txt|gz))+$")


class Named(NamedTuple):
    """A model as a user wrote it: its name, which may be empty, and its spec."""

    name: str
    spec: str


def split_name(text: str) -> Named:
    """NAME=SPEC or SPEC. What stands before the first "=" is a name if it has no ":" and no "/".

    >>> split_name("RoBERTa=hf:roberta-large-mnli")
    Named(name='RoBERTa', spec='hf:roberta-large-mnli')
    >>> split_name("gguf:models/q=4.gguf")
    Named(name='', spec='gguf:models/q=4.gguf')
    """
    name, equals, spec = text.partition("=")
    if not equals or any(mark in name for mark in NO_NAME):
        return Named("", text)
    name, spec = name.strip(), spec.strip()
    if not name or not spec:
        raise UsageError(
            f"'{text}' lacks what stands before or after its '='.",
            'Write NAME=MODEL, such as -m "RoBERTa=hf:roberta-large-mnli".',
        )
    return Named(check_name(name), spec)


def check_name(name: str) -> str:
    """A name of the user's own, if it can stand in a table and is not taken for a model."""
    if not name or len(name) > LONGEST or not name.isprintable():
        raise UsageError(
            f"A model cannot be called '{plain(name)}'.",
            f"Give a name of 1 to {LONGEST} characters on one line.",
        )
    if any(mark in name for mark in NO_NAME):
        raise UsageError(
            f"A model cannot be called '{name}': a name has no '{NO_NAME[0]}', '/', '\\' or '='.",
            "Leave them out of the name.",
        )
    return name


def model_name(spec: str) -> str:
    """A model as pages call it: a file by its name, without the folders of the user who ran it.

    >>> model_name("gguf:/home/me/models/tiny.gguf"), model_name("hf:org/name")
    ('gguf:tiny.gguf', 'hf:org/name')
    >>> model_name("answers:out/gpt-9.tsv.gz")
    'gpt-9'
    """
    scheme, colon, name = spec.partition(":")
    file = re.split(r"[\\/]", name)[-1]
    if scheme == "answers" and colon:
        return plain(_ENDINGS.sub("", file))
    if _is_path(name):
        return plain(scheme + colon + file)
    return plain(spec)


def _is_path(name: str) -> bool:
    drive = re.match(r"[A-Za-z]:[\\/]", name)
    return bool(drive) or name.startswith(("/", "./", "../", "~", "\\"))


def plain(text: str, limit: int = 80) -> str:
    """A stranger's name, fit to stand inside a sentence: one short line that cannot act.

    >>> print(plain("gpt\\u202e2\\n"))
    gpt\\u202e2
    """
    return clip(" ".join(inert(text).split()), limit)


def clip(text: str, limit: int = 600) -> str:
    """At most so many characters, and an ellipsis for the rest."""
    if len(text) <= limit:
        return text
    return text[:limit] + "…"


def counted(count: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "families"), counted(1200, "objects")
    ('1 family', '1,200 objects')
    """
    if count != 1:
        return f"{count:,} {noun}"
    if noun.endswith("ies"):
        return f"1 {noun.removesuffix('ies')}y"
    return f"1 {noun.removesuffix('s')}"
