"""What people see of an item, part by part, and what a response to it may be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from gnomon.errors import GnomonError

Response = Mapping[str, str]  # part -> value


class ResponseError(GnomonError):
    """What was sent is no answer to the question."""


class Text(NamedTuple):
    """Some words of an item, and what they are: `context` or `text`."""

    role: str
    words: str


class Option(NamedTuple):
    """One of the values that a part can have, as it is shown, and the key that chooses it."""

    value: str
    label: str
    key: str = ""
    group: str = ""  # the heading below which it stands, in a long list
    said: str = ""  # the words that it puts into a sentence


class Part(NamedTuple):
    """One question with options, of which one is to be chosen."""

    name: str
    ask: str
    options: tuple[Option, ...]
    needs: tuple[tuple[str, str], ...] = ()  # asked only if other parts have these values
    optional: bool = False


class Question(NamedTuple):
    """All that people see of an item."""

    texts: tuple[Text, ...]
    pictures: tuple[str, ...]  # how each picture is called, in order
    parts: tuple[Part, ...]
    note: str = ""  # a rule that holds for this item


class Said(NamedTuple):
    """What a response means: the choice, if it is one, and the raw response as a short text."""

    choice: str | None
    reply: str


def checked_response(question: Question, response: Response) -> dict[str, str]:
    """The response, each part with one of its options; parts that are not asked are left out."""
    chosen: dict[str, str] = {}
    for part in question.parts:
        if any(chosen.get(name) != value for name, value in part.needs):
            continue
        value = response.get(part.name, "")
        if not value and part.optional:
            continue
        if not value:
            raise ResponseError(f"Please answer: {part.ask}")
        if value not in [option.value for option in part.options]:
            raise ResponseError("That is not one of the answers.", "Choose one that is shown.")
        chosen[part.name] = value
    return chosen
