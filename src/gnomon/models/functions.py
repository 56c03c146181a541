"""Models that are plain functions of an item: baselines that know nothing, and a user's own.

`random` guesses by a hash of seed and item, so that its answers do not depend on order or batch.
"""

import inspect
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from hashlib import blake2b, sha256
from types import CodeType, FunctionType
from typing import Any

from gnomon.contracts import ANYTHING, Benchmark, Scale, Takes
from gnomon.errors import UsageError, check_no_name
from gnomon.grouped import first_few
from gnomon.records import Answer, Item, pick


@dataclass
class RuleModel:
    """A model that answers each item by a rule, without looking at its text."""

    spec: str
    rule: Callable[[Item], str | None]
    facts: dict[str, Any] = field(default_factory=dict)
    prepare: Callable[[Iterable[Item], Benchmark], None] | None = None
    takes: frozenset[Takes] = ANYTHING  # no picture would change the answer
    scale: Scale = "none"
    batch: int = 64

    def describe(self) -> dict[str, Any]:
        """The facts that determine the answers."""
        return dict(self.facts)

    def size(self, item: Item) -> int:
        """Every item costs the same: nothing is read."""
        return 1

    def answer(self, items: Sequence[Item]) -> list[Answer]:
        """One answer for each item."""
        return [Answer(item=item.id, choice=self.rule(item)) for item in items]


def random(name: str, *, model_seed: int = 0) -> RuleModel:
    """A seeded guess among the choices, whatever the order of the items and the batches.

    model_seed   another number gives other guesses
    """
    check_no_name("random", name)

    def rule(item: Item) -> str | None:
        if not item.choices:
            return None
        digest = blake2b(f"{model_seed}\0{item.id}".encode(), digest_size=8).digest()
        return item.choices[int.from_bytes(digest) % len(item.choices)]

    return RuleModel("random", rule, {"model_seed": model_seed})


def constant(name: str) -> RuleModel:
    """Always the same label. An item that does not offer it gets no answer."""
    if not name:
        raise UsageError("The model constant needs a label.", "For example: constant:yes")

    def prepare(items: Iterable[Item], benchmark: Benchmark) -> None:
        offered: dict[str, None] = {}
        for item in items:
            if name in item.choices:
                return
            offered |= dict.fromkeys(item.choices)
        hint = "They offer no choices."
        if offered:
            hint = f"Choose one of: {first_few(list(offered), most=20)}."
        raise UsageError(f"No item offers the label '{name}'.", hint)

    def rule(item: Item) -> str | None:
        return name if name in item.choices else None

    return RuleModel(f"constant:{name}", rule, prepare=prepare)


def majority(name: str) -> RuleModel:
    """The label that is right most often among the items with the same choices.

    It looks at the right answers of the run's own items, in whatever order their choices stand; the
    earlier choice wins a tie.
    """
    check_no_name("majority", name)
    counts: dict[frozenset[str], Counter[str]] = {}

    def prepare(items: Iterable[Item], benchmark: Benchmark) -> None:
        for item in items:
            offered = frozenset(item.choices)
            if offered not in counts:
                counts[offered] = Counter(dict.fromkeys(item.choices, 0))
            counts[offered].update(item.gold)

    def rule(item: Item) -> str | None:
        right = counts.get(frozenset(item.choices)) or dict.fromkeys(item.choices, 0)
        return max(right, key=right.__getitem__, default=None)

    return RuleModel("majority", rule, prepare=prepare)


# --- a plain Python function as a model: it is given an item and says what it answers ------------


_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")  # of an object in memory, in its repr


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
        if not callable(function):
            raise UsageError(
                f"This is no model: {function!r:.80}",
                "Give the name of a model, a model, or a function of an item.",
            )
        self.function = function
        self.name = name_of(function)
        self.spec = f"function:{self.name}"

    @property
    def code(self) -> dict[str, str]:
        """The digest of the function: with another one, a run is not continued."""
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
    if not isinstance(said, Iterable):
        raise UsageError(
            f"The function gave {said!r:.80} for item '{item.id}'.",
            "Give one of its choices, or one number for each choice.",
        )
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

    >>> name_of(lambda item: "yes"), name_of(name_of), name_of(partial(name_of))
    ('lambda', 'name_of', 'name_of')
    """
    while isinstance(function, partial):
        function = function.func
    name = getattr(function, "__name__", type(function).__name__)
    return str(name).strip("<>")


def source_digest(function: Callable[..., Any]) -> str:
    """The sha256 of a function's source and of the values that it carries along.

    These are its defaults, what it encloses, the arguments of a `partial` and the fields of the
    object that it belongs to; not what it looks up by a global name.
    """
    parts = _made_of(function, set())
    return sha256("\n".join(parts).encode(errors="replace")).hexdigest()


def _made_of(function: Callable[..., Any], seen: set[int]) -> list[str]:
    """The source of a function, its values, and the same of functions among them."""
    if id(function) in seen:  # it calls itself
        return []
    seen.add(id(function))
    if isinstance(function, partial):
        parts = _made_of(function.func, seen)
        values = [*function.args, *function.keywords.items()]
    else:
        parts = [_source(function)]
        values = _values(function)
    for value in values:
        if inspect.isroutine(value):
            parts += _made_of(value, seen)
        else:
            parts.append(_ADDRESS.sub("", repr(value)))
    return parts


def _values(function: Callable[..., Any]) -> list[Any]:
    """What a function has with it besides its source."""
    if inspect.ismethod(function):
        return [_fields(function.__self__), *_values(function.__func__)]
    if not isinstance(function, FunctionType):  # an object that can be called
        return [_fields(function)]
    values = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).items()]
    for cell in function.__closure__ or ():
        with suppress(ValueError):  # it has no value yet
            values.append(cell.cell_contents)
    return values


def _fields(thing: object) -> Mapping[str, Any]:
    return getattr(thing, "__dict__", {})


def _source(function: Callable[..., Any]) -> str:
    """The text of a function; its compiled code, or its name, where no text is at hand.

    Of a lambda only its line is at hand, which may have several.
    """
    if getattr(function, "__name__", "") != "<lambda>":
        with suppress(OSError, TypeError):
            return inspect.getsource(function)
    called = function if hasattr(function, "__code__") else type(function).__call__
    code = getattr(called, "__code__", None)
    return name_of(function) if code is None else repr(_parts(code))


def _parts(code: CodeType) -> tuple[Any, ...]:
    """What of compiled code does not depend on where it stands in memory."""
    constants: list[Any] = []
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            constants.append(_parts(constant))
        elif isinstance(constant, frozenset):  # whose order differs from process to process
            constants.append(sorted(map(repr, constant)))
        else:
            constants.append(repr(constant))
    return code.co_code, code.co_names, code.co_varnames, tuple(constants)
