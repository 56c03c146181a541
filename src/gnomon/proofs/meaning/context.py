"""What a sentence leaves to the next one: who was named, what `it` and `there` stand for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from gnomon.proofs.meaning.statements import Either, Filler, Said

Sayings = tuple[Said | Either, ...]


class Verb(NamedTuple):
    """The kind of a verb (be, move, put, locates, opaque, frame), its tense, and its denial."""

    kind: str = ""
    tense: str = "present"
    denied: bool = False
    never: bool = False


class Part(NamedTuple):
    """A meaning of the lexicon, who fills its holes, and whether it is denied."""

    meaning: Any
    fillers: Mapping[str, Filler]
    denied: bool = False
    contrast: bool = False  # after "but": a denial of the verb does not reach it


class Located(NamedTuple):
    """A phrase that says where something is: parts that all hold, or these or the others."""

    end: int
    context: Context
    parts: tuple[Part, ...]
    others: tuple[Part, ...] = ()


class Context(NamedTuple):
    """Where the reader of a story is."""

    subject: tuple[str, ...] = ()
    verb: Verb = Verb()
    mentioned: tuple[str, ...] = ()
    grounds: tuple[str, ...] = ()  # of places, the last one last
    there: tuple[str, str] | None = None  # a meaning and its ground
    where: Located | None = None  # the last place, for "and the other is not"
    time: str = ""
    setting: str = ""
    open_ground: bool = False  # after "where": the place is the last ground

    def fresh(self) -> Context:
        """For the next sentence: the setting and those named stay, the rest is forgotten."""
        return self._replace(subject=(), verb=Verb(), where=None, time="", open_ground=False)

    def naming(self, *names: str) -> Context:
        """After somebody has been named."""
        return self._replace(mentioned=(*self.mentioned, *names))


class Step(NamedTuple):
    """What has been understood so far, up to which word."""

    said: Sayings
    end: int
    context: Context

    def adding(self, said: Sayings | list[Said | Either], end: int, context: Context) -> Step:
        """The step after this one."""
        return Step((*self.said, *said), end, context)


class Names:
    """Those whom a story names, with their kinds, and those who are only implied."""

    def __init__(
        self, kinds: Mapping[str, frozenset[str]], implied: Mapping[str, frozenset[str]]
    ) -> None:
        self.kinds = dict(kinds)
        self.implied = implied

    def is_a(self, name: str, *kinds: str) -> bool:
        """Whether somebody is of one of the kinds."""
        own = self.kinds.get(name) or self.implied.get(name, frozenset())
        return any(kind in own for kind in kinds)
