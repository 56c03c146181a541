"""Options by signature: a benchmark's source or a model's factory names its options as keyword-only
parameters.

Nothing else declares them: what the signature does not name is refused, and texts become the
annotated types. A model's factory may mark those that have no say in its answers, such as a number
of threads, with `neutral`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter, signature
from operator import index
from typing import Any, TypeVar

from gnomon.errors import UsageError

Factory = TypeVar("Factory", bound=Callable[..., Any])
_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


def takes(function: Callable[..., Any], option: str) -> bool:
    """Does the function's signature name this option?"""
    return option in _parameters(function)


def options_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The options that the function's signature names, in order, with their defaults; `...` where
    one must be given.

    >>> def fresh(*, seed: int = 0, data: str): ...
    >>> options_of(fresh)
    {'seed': 0, 'data': Ellipsis}
    """
    return {
        name: ... if parameter.default is Parameter.empty else parameter.default
        for name, parameter in _parameters(function).items()
    }


def check_options(what: str, function: Callable[..., Any], options: Mapping[str, Any]) -> None:
    """Refuse an option that the signature does not name, and name one that it needs, before
    anything runs."""
    parameters = _parameters(function)
    for option in options:
        if option not in parameters:
            can = (
                f"It takes: {', '.join(sorted(parameters))}."
                if parameters
                else "It takes no options."
            )
            raise UsageError(f"{what} has no option '{option}'.", can)
    for name, parameter in parameters.items():
        if parameter.default is Parameter.empty and name not in options:
            raise UsageError(
                f"{what} needs the option '{name}'.", f"Give it with --{name.replace('_', '-')}."
            )


def complete(function: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """All options of the function: those given, converted, and its defaults for the rest."""
    return {
        name: _convert(parameter, options.get(name, parameter.default))
        for name, parameter in _parameters(function).items()
    }


def given(function: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that differ from the function's defaults, converted and in order of name."""
    done = complete(function, options)
    return {
        name: done[name]
        for name in sorted(options)
        if done[name] != _parameters(function)[name].default
    }


def neutral(*names: str) -> Callable[[Factory], Factory]:
    """Mark options of a model's factory that do not change its answers: a run goes on when they
    differ.

    >>> @neutral("threads")
    ... def echo(name, *, prompt="", threads=1): ...
    >>> sorted(neutral_options(echo))
    ['threads']
    """

    def mark(factory: Factory) -> Factory:
        if unknown := set(names) - _parameters(factory).keys():
            raise TypeError(
                f"{factory.__name__} has no option {', '.join(sorted(unknown))} that could be neutral"
            )
        factory.neutral = frozenset(names)  # type: ignore[attr-defined]
        return factory

    return mark


def neutral_options(factory: Callable[..., Any]) -> frozenset[str]:
    """The options that `neutral` marked; none if it marked none."""
    found: frozenset[str] = getattr(factory, "neutral", frozenset())
    return found


def _parameters(function: Callable[..., Any]) -> dict[str, Parameter]:
    return {
        p.name: p
        for p in signature(function).parameters.values()
        if p.kind is Parameter.KEYWORD_ONLY
    }


def _convert(parameter: Parameter, value: Any) -> Any:
    """A text from the command line as the annotated type: int, float, bool; numpy's whole numbers
    as int."""
    if not isinstance(value, str):
        return (
            index(value) if hasattr(value, "__index__") and not isinstance(value, bool) else value
        )
    annotation = parameter.annotation
    name = annotation.__name__ if isinstance(annotation, type) else str(annotation)
    kinds = name.replace(" ", "").split("|")
    try:
        if "int" in kinds:
            return int(value)
        if "float" in kinds:
            return float(value)
        if "bool" in kinds:
            return {**dict.fromkeys(_TRUE, True), **dict.fromkeys(_FALSE, False)}[value.lower()]
    except (ValueError, KeyError):
        if "str" not in kinds:
            raise UsageError(
                f"The option {parameter.name} must be {name}, not '{value}'."
            ) from None
    return value
