"""Jinja templates of strangers, rendered in jinja2's sandbox with bounds on size.

A template sees the fields of one row and nothing else. Loops, macros, includes and arithmetic that
could run for ever or fill the memory are refused before anything is rendered.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from gnomon.errors import GnomonError, importing

LONGEST = 2**20  # characters of a field, and of what comes of a template
LONGEST_TEMPLATE = 10_000
MOST_NAMES = 100  # uses of fields in a template
FILTERS = frozenset(
    "abs capitalize default d first float int last length count list lower max min round string "
    "trim title upper sum sort reverse".split()
)
METHODS = frozenset(
    "strip lstrip rstrip lower upper title capitalize replace split index get items keys values "
    "startswith endswith removeprefix removesuffix".split()
)
REFUSED = (
    "For Macro CallBlock FilterBlock Include Import FromImport Extends Block Assign AssignBlock "
    "Pow Mul Mod".split()
)


class TemplateError(GnomonError):
    """A template cannot be used."""


def render(template: str, row: Mapping[str, Any]) -> str:
    """The template with the fields of a row.

    >>> render("{{question.strip()}}\\nAnswer:", {"question": " Where? "})
    'Where?\\nAnswer:'
    """
    compiled = _compiled(template)  # says what to install if jinja2 is missing
    import jinja2

    if any(isinstance(value, str) and len(value) > LONGEST for value in row.values()):
        raise TemplateError(f"a field has more than {LONGEST:,} characters.")
    try:
        text: str = compiled.render({str(name): row[name] for name in row})
    except jinja2.exceptions.SecurityError as error:
        raise TemplateError(f"the template does what is not allowed: {error}.") from None
    except (
        jinja2.TemplateError,
        ArithmeticError,
        AttributeError,
        LookupError,
        MemoryError,
        RecursionError,
        TypeError,
        ValueError,
    ) as error:
        raise TemplateError(f"the template cannot be filled in: {error}.") from None
    _check_length(len(text))
    return text


def _check_length(characters: int) -> None:
    """Refuse a result before it fills the memory."""
    if characters > LONGEST:
        raise TemplateError(f"the template gives more than {LONGEST:,} characters.")


@lru_cache(maxsize=64)
def _compiled(template: str) -> Any:
    with importing("Reading templates", "report"):
        import jinja2
        from jinja2 import nodes

    if len(template) > LONGEST_TEMPLATE:
        raise TemplateError(f"the template has more than {LONGEST_TEMPLATE:,} characters.")
    environment = _sandbox()
    try:
        tree = environment.parse(template)
        names = len(list(tree.find_all(nodes.Name)))
        for kind in REFUSED:
            if next(tree.find_all(getattr(nodes, kind)), None) is not None:
                raise TemplateError(f"the template uses {kind}, which is not allowed here.")
        for call in tree.find_all(nodes.Call):
            _check_call(call)
        compiled = environment.from_string(template)
    except (jinja2.TemplateError, RecursionError) as error:
        raise TemplateError(f"not a template that can be used: {error}.") from None
    if names > MOST_NAMES:
        raise TemplateError(f"the template names more than {MOST_NAMES} fields.")
    return compiled


def _sandbox() -> Any:
    import jinja2
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class Sandbox(ImmutableSandboxedEnvironment):  # type: ignore[misc, unused-ignore]
        """Replacing, which can make a text of any length, is bounded."""

        def call(self, context: Any, called: Any, /, *args: Any, **more: Any) -> Any:
            text = getattr(called, "__self__", None)
            if isinstance(text, str) and getattr(called, "__name__", "") == "replace":
                return replaced(text, *args, **more)
            return super().call(context, called, *args, **more)

    environment = Sandbox(
        undefined=jinja2.StrictUndefined, keep_trailing_newline=True, autoescape=False
    )
    environment.globals.clear()
    known = environment.filters
    environment.filters = {name: known[name] for name in FILTERS}
    environment.filters |= {"replace": replaced, "join": joined}
    return environment


def _check_call(call: Any) -> None:
    """Refuse calls of anything but harmless methods of texts, lists and objects."""
    method = getattr(call.node, "attr", None)
    if method not in METHODS:
        name = method or getattr(call.node, "name", "something")
        raise TemplateError(f"the template calls '{name}', which is not allowed here.")


def replaced(text: str, old: str, new: str, count: int = -1) -> str:
    """A text with another in the place of a part of it, if the result is not endless."""
    text, old, new = str(text), str(old), str(new)
    times = text.count(old)  # an empty text stands around every character
    _check_length(len(text) + times * len(new))
    return text.replace(old, new, count)


def joined(values: Iterable[Any], between: str = "") -> str:
    """Texts in a row, if they are not endless."""
    texts = list(map(str, values))
    _check_length(sum(map(len, texts)) + len(texts) * len(between))
    return between.join(texts)
