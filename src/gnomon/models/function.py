"""A plain Python function as a model: it is given an item and says what it answers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from types import CodeType
from typing import Any

from gnomon.contracts import ANYTHING, Scale, Takes
from gnomon.errors import UsageError
from gnomon.records import Answer, Item, pick


class FunctionModel:
    """Asks a function. It may give

    - one of the item's choices, or none for no answer,
    - another text: a reply that is kept, but counts as unread,
    - a number for each choice, in a sequence or by label: the highest wins,
    - an Answer.
    """

    scale: Scale = "none"
    takes: frozenset[Takes] = ANYTHING

    def __init__(self, function: Callable[[Item], Any]) -> None:
        self.function = function
        self.name = name_of(function)
        self.spec = f"function:{self.name}"

    @property
    def code(self) -> dict[str, str]:
        """The digest of the function's source: with another one, a run is not continued."""
        return {f"the source of {self.name}": source_digest(self.function)}

    def describe(self) -> dict[str, Any]:
        """The name; `code` has the digest of the source."""
        return {"function": self.name}

    def answer(self, items: Sequence[Item]) -> list[Answer]:
        """One answer for each item."""
        return [as_answer(item, self.function(item)) for item in items]


def as_answer(item: Item, said: Any) -> Answer:
    """What a function gave, as an answer.

    >>> item = Item(id="1", form="choice", text="?", choices=("no", "yes"), gold=("yes",))
    >>> as_answer(item, "yes").choice, as_answer(item, [0.2, 0.8]).choice
    ('yes', 'yes')
    """
    if isinstance(said, Answer):
        return said
    if said is None:
        return Answer(item=item.id)
    if isinstance(said, str):
        if said in item.choices:
            return Answer(item=item.id, choice=said)
        return Answer(item=item.id, reply=said)
    if isinstance(said, Mapping):
        said = [said[choice] for choice in item.choices]
    scores = tuple(float(score) for score in said)
    if len(scores) != len(item.choices):
        raise UsageError(
            f"The function gave {len(scores)} numbers for the {len(item.choices)} choices of item "
            f"'{item.id}'.",
            "Give a choice, or one number for each choice.",
        )
    return pick(item, scores)


def name_of(function: Callable[..., Any]) -> str:
    """What to call a function.

    >>> name_of(lambda item: "yes"), name_of(name_of)
    ('lambda', 'name_of')
    """
    name = getattr(function, "__name__", type(function).__name__)
    return str(name).strip("<>")


def source_digest(function: Callable[..., Any]) -> str:
    """The sha256 of a function's source; of its compiled code where no source is at hand."""
    function = inspect.unwrap(function)
    try:
        text = inspect.getsource(function)
    except (OSError, TypeError):
        code = getattr(function, "__code__", None) or type(function).__call__.__code__
        text = repr(_parts(code))
    return sha256(text.encode()).hexdigest()


def _parts(code: CodeType) -> tuple[Any, ...]:
    """What of compiled code does not depend on where it stands in memory."""
    constants = []
    for constant in code.co_consts:
        constants.append(_parts(constant) if isinstance(constant, CodeType) else repr(constant))
    return code.co_code, code.co_names, code.co_varnames, tuple(constants)
