"""Options by signature: the keyword-only parameters of a benchmark's source or a model's factory.

Nothing else declares them: what the signature does not name is refused, and texts become the
annotated types. The docstring explains each on a line "name   text". A model's factory may mark
those that have no say in its answers, such as a number of threads, with `neutral`.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from inspect import Parameter, getdoc, signature
from operator import index
from typing import Any, NamedTuple, TypeVar

from gnomon.errors import UsageError, nearest, unknown

Factory = TypeVar("Factory", bound=Callable[..., Any])
_TRUTHS = {
    **dict.fromkeys(("true", "yes", "on", "1"), True),
    **dict.fromkeys(("false", "no", "off", "0"), False),
}
_SINGLE = frozenset(("str", "int", "float", "bool", "None"))
_HOW_TO_WRITE = {
    "int": "Write a whole number, in digits.",
    "float": "Write a number, with a point if need be: 0.5.",
    "bool": "Write yes or no.",
}
_EXPLAINED = re.compile(r"(?P<indent> *)(?P<name>\w+) {2,}(?P<text>\S.*)")


def takes(function: Callable[..., Any], option: str) -> bool:
    """Does the function's signature name this option?"""
    return option in _parameters(function)


def options_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The options that the signature names, in order, with their defaults; `...` for a must.

    >>> def fresh(*, seed: int = 0, data: str): ...
    >>> options_of(fresh)
    {'seed': 0, 'data': Ellipsis}
    """
    found: dict[str, Any] = {}
    for name, parameter in _parameters(function).items():
        found[name] = ... if parameter.default is Parameter.empty else parameter.default
    return found


class Explained(NamedTuple):
    """A docstring, taken apart: what it says of each option, and the rest."""

    options: dict[str, str]
    prose: str


def explained(function: Callable[..., Any]) -> Explained:
    """What a docstring says. A line about an option goes on where the next is indented deeper.

    >>> def fresh(*, seed: int = 0):
    ...     '''New items.
    ...
    ...     seed   draws them
    ...     '''
    >>> explained(fresh)
    Explained(options={'seed': 'draws them'}, prose='New items.')
    """
    while isinstance(function, partial):
        function = function.func
    names = _parameters(function)
    options: dict[str, str] = {}
    prose: list[str] = []
    name, indent = "", 0
    for line in (getdoc(function) or "").splitlines():
        match = _EXPLAINED.fullmatch(line)
        if match and match["name"] in names:
            name, indent = match["name"], len(match["indent"])
            options[name] = match["text"]
        elif name and len(line) - len(line.lstrip()) > indent:
            options[name] += f" {line.strip()}"
        else:
            name = ""
            prose.append(line)
    return Explained(options, "\n".join(prose).strip())


def option_help(function: Callable[..., Any]) -> dict[str, str]:
    """What the docstring says of each option that it explains."""
    return explained(function).options


def check_options(what: str, function: Callable[..., Any], options: Mapping[str, Any]) -> None:
    """Refuse an option that the signature does not name, and miss one that it needs."""
    parameters = _parameters(function)
    for option in options:
        if option not in parameters:
            near = nearest(option, parameters)
            known = ", ".join(sorted(parameters))
            hint = f"It takes: {known}." if known else "It takes no options."
            if near:
                hint = f"Did you mean {' or '.join(near)}? {hint}"
            raise UsageError(f"{what} has no option '{option}'.", hint)
    for name, parameter in parameters.items():
        if parameter.default is Parameter.empty and name not in options:
            raise UsageError(f"{what} needs the option '{name}'.", f"Give --set {name}=VALUE.")


def complete(function: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """All options of the function: those given, converted, and its defaults for the rest."""
    found: dict[str, Any] = {}
    for name, parameter in _parameters(function).items():
        value = options.get(name)
        if value is None:  # a file may say nothing after the name of an option
            value = parameter.default
        found[name] = converted(name, parameter.annotation, value)
    return found


def given(function: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that differ from the function's defaults, converted and in order of name."""
    done = complete(function, options)
    defaults = options_of(function)
    return {name: done[name] for name in sorted(options) if done[name] != defaults[name]}


def neutral(*names: str) -> Callable[[Factory], Factory]:
    """Mark options of a model's factory that do not change its answers.

    A run continues when they differ.

    >>> @neutral("threads")
    ... def echo(name, *, prompt="", threads=1): ...
    >>> sorted(neutral_options(echo))
    ['threads']
    """

    def mark(factory: Factory) -> Factory:
        unknown = ", ".join(sorted(set(names) - _parameters(factory).keys()))
        if unknown:
            raise TypeError(f"{factory.__name__} has no option {unknown} that could be neutral")
        factory.neutral = frozenset(names)  # type: ignore[attr-defined]
        return factory

    return mark


def neutral_options(factory: Callable[..., Any]) -> frozenset[str]:
    """The options that `neutral` marked; none if it marked none."""
    found: frozenset[str] = getattr(factory, "neutral", frozenset())
    return found


def _parameters(function: Callable[..., Any]) -> dict[str, Parameter]:
    parameters = signature(function).parameters
    return {name: p for name, p in parameters.items() if p.kind is Parameter.KEYWORD_ONLY}


def converted(option: str, annotation: Any, value: Any) -> Any:
    """A text from the command line as the annotated type; numpy's whole numbers as int."""
    name = annotation.__name__ if isinstance(annotation, type) else str(annotation)
    kinds = name.replace(" ", "").split("|")
    if isinstance(value, bool):
        if kinds == ["str"]:
            said = "yes" if value else "no"
            raise UsageError(f"The option {option} is a text, not {said}.", "Write it in quotes.")
        return value
    if isinstance(value, list | dict) and _SINGLE.issuperset(kinds):
        raise UsageError(f"The option {option} takes one value, not several.", "Write one.")
    if not isinstance(value, str):
        number = index(value) if hasattr(value, "__index__") else value
        return str(number) if kinds == ["str"] and isinstance(number, int | float) else number
    try:
        if "int" in kinds:
            return int(value)
        if "float" in kinds:
            return float(value)
        if "bool" in kinds:
            return _TRUTHS[value.lower()]
    except (ValueError, KeyError):
        if "str" not in kinds:
            wanted = name.removesuffix(" | None")
            raise UsageError(
                f"The option {option} must be {wanted}, not '{value}'.",
                _HOW_TO_WRITE.get(wanted, ""),
            ) from None
    return value


# Options that name several of a few things: "rcc8, allen".


def several(text: str, known: Iterable[str], what: str) -> list[str]:
    """Those that are named, in the order of what is known; all if none is.

    >>> several("places, four", ["four", "eight", "places"], "family")
    ['four', 'places']
    """
    names = list(known)
    wanted = [name.strip() for name in text.split(",") if name.strip()]
    for name in wanted:
        if name not in names:
            raise unknown(what, name, names)
    return [name for name in names if name in wanted or not wanted]
