"""What strangers' fields hold: texts, choices, right answers and votes, however written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from string import ascii_uppercase
from typing import Any, NamedTuple

import msgspec

from gnomon.audit.questions import Votes

TRUE = frozenset({"1", "true", "yes", "entailment"})


class Choices(NamedTuple):
    """Choices, and the names by which they are called, if they have any."""

    texts: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    def meant(self, value: Any, *, first: int = 0) -> str:
        """The choice that is meant: by its text, its name, its letter or its number.

        Numbers count from `first`.
        """
        text = text_of(value)
        if text in self.texts or not self.texts:
            return text
        if text in self.names:
            return self.texts[self.names.index(text)]
        place = _place(text, first)
        if 0 <= place < len(self.texts):
            return self.texts[place]
        return text

    def is_number(self, value: Any) -> bool:
        """Whether a right answer can only be the number of a choice."""
        text = text_of(value)
        return text.isdecimal() and text not in (*self.texts, *self.names)


def _place(text: str, first: int) -> int:
    if text.isdecimal():
        return int(text) - first
    if len(text) == 1:
        return ascii_uppercase.find(text.upper())
    return -1


def text_of(value: Any) -> str:
    """A field as text: a list is joined; of an object its path or its content is taken.

    >>> text_of([{"role": "user", "content": "Where?"}])
    'Where?'
    """
    if value is None:
        return ""
    if isinstance(value, Mapping):
        return text_of(value.get("path") or value.get("content") or value.get("text"))
    if _is_list(value):
        return " ".join(map(text_of, value))
    return str(value)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def choices_of(value: Any) -> Choices:
    """A list of choices; as in ARC, with names; or as text in the cell of a table."""
    if isinstance(value, str):
        value = list_in(value)
    if isinstance(value, Mapping):
        return Choices(_texts(value.get("text", ())), _texts(value.get("label", ())))
    if _is_list(value):
        return Choices(_texts(value), _labels(value))
    return Choices()


def _labels(values: Sequence[Any]) -> tuple[str, ...]:
    """The labels of choices that are objects; nothing if one of them has none."""
    if not all(isinstance(value, Mapping) and "label" in value for value in values):
        return ()
    return _texts(value["label"] for value in values)


def _texts(values: Iterable[Any]) -> tuple[str, ...]:
    return tuple(map(text_of, values))


def list_in(text: str) -> list[Any]:
    """A list that a table holds as text: JSON, or parts between bars or semicolons.

    >>> list_in("in | on"), list_in('["in", "on"]')
    (['in', 'on'], ['in', 'on'])
    """
    try:
        found = msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError):
        return re.split(r"\s*[|;]\s*", text)
    if isinstance(found, list):
        return found
    return [text]


def gold_of(value: Any, choices: Choices, *, first: int = 0) -> tuple[str, ...]:
    """The right answers: one, several, or none. Numbers of choices count from `first`."""
    if _is_list(value):
        return tuple(choices.meant(each, first=first) for each in value)
    meant = choices.meant(value, first=first)
    return (meant,) * bool(meant)


def votes_of(votes: Any, gold: Any) -> Votes | None:
    """How people voted, from a list of the labels that they gave; none without one."""
    if isinstance(votes, str):
        votes = list_in(votes)
    if not _is_list(votes):
        return None
    label = text_of(gold).lower()
    agreeing = sum(text_of(vote).lower() == label for vote in votes)
    return Votes(agreeing, len(votes))


def votes_for_and_against(true: Any, false: Any, gold: Any) -> Votes:
    """How people voted, from those who said true and those who said false."""
    said_true, said_false = _count(true), _count(false)
    is_true = text_of(gold).lower() in TRUE
    return Votes(said_true if is_true else said_false, said_true + said_false)


def _count(value: Any) -> int:
    """How many voted: a number, or a list of the voters; either may be text."""
    if isinstance(value, str):
        try:
            value = msgspec.json.decode(value)
        except (msgspec.MsgspecError, RecursionError):
            return 0
    if isinstance(value, int):
        return value
    return len(value or ())
