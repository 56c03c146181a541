"""Templates written by strangers, run within bounds: no access, no endless loop, no flood of text.

Jinja's sandbox keeps a template from reaching the program. It does not keep one from running for
ever or filling the memory, so loops, calls, text and memory are counted here.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import thread_time
from typing import Any

from jinja2 import TemplateError, nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

STEPS = 100_000  # rounds of loops, calls of macros, and calls of filters by other filters
SECONDS = 10.0  # of the processor, for whatever takes few steps and long ones
CHARACTERS = 4_000_000  # of text that is written, or of a text that is repeated
MEMORY = 512 * 2**20  # bytes more than the program had before


class OutOfBoundsError(TemplateError):  # type: ignore[misc]
    """A template that takes more steps, time or space than any honest one needs."""


class BoundedTemplate:
    """A template as a function from values to text.

    >>> BoundedTemplate("{% for n in range(3) %}{{ n }} {% endfor %}").write()
    '0 1 2 '
    """

    def __init__(self, source: str) -> None:
        self._environment = _Environment(
            trim_blocks=True,
            lstrip_blocks=True,
            autoescape=False,
            extensions=[loopcontrols, _Generation],
        )
        with bounded_memory(MEMORY):
            tree = self._environment.parse(source)
            _count_steps(tree)
            code = self._environment.compile(tree)
        self._template: Any = self._environment.template_class.from_code(
            self._environment, code, self._environment.make_globals(None)
        )

    def write(self, **values: Any) -> str:
        """The text that the template makes of some values."""
        self._environment.start()
        pieces: list[str] = []
        written = 0
        with bounded_memory(MEMORY):
            for piece in self._template.generate(**values):
                written += len(piece)
                if written > CHARACTERS:
                    raise OutOfBoundsError(f"it writes more than {CHARACTERS:,} characters")
                pieces.append(piece)
        return "".join(pieces)


class _Environment(ImmutableSandboxedEnvironment):  # type: ignore[misc]
    """Jinja's sandbox with what chat templates expect in it, and a count of their steps."""

    intercepted_binops = frozenset(("*", "**"))

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.start()
        self.filters["tojson"] = _as_json
        # Dummy text and web pages are no conversations, and take minutes in one uncounted step.
        del self.globals["lipsum"]
        for name in ("urlize", "wordwrap", "pprint"):
            del self.filters[name]
        self.globals["raise_exception"] = _raise
        self.globals["strftime_now"] = lambda _: ""  # the date must not change the answers

    def start(self) -> None:
        """Count from here."""
        self._steps = 0
        self._deadline = thread_time() + SECONDS

    def count_step(self) -> None:
        """Every round of a loop and every call of a macro comes by here."""
        self._steps += 1
        if self._steps > STEPS:
            raise OutOfBoundsError(f"it does not end within {STEPS:,} steps")
        if thread_time() > self._deadline:
            raise OutOfBoundsError(f"it does not end within {SECONDS:g} seconds")

    def call_filter(self, *args: Any, **kwargs: Any) -> Any:
        """A filter that another one applies to each of many values."""
        self.count_step()
        return super().call_filter(*args, **kwargs)

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """Products and powers, which make the largest things of the smallest templates."""
        if operator == "**":
            raise OutOfBoundsError("it raises numbers to powers, which templates have no need for")
        for text, times in ((left, right), (right, left)):
            repeated = isinstance(times, int) and hasattr(text, "__len__")
            if repeated and len(text) * times > CHARACTERS:
                raise OutOfBoundsError(
                    f"it repeats something to more than {CHARACTERS:,} characters"
                )
        return super().call_binop(context, operator, left, right)


class _Generation(Extension):  # type: ignore[misc]
    """{% generation %} ... {% endgeneration %} marks what models are trained on: plain text."""

    tags = frozenset(("generation",))

    def parse(self, parser: Any) -> list[nodes.Node]:
        """What stands between the two tags."""
        next(parser.stream)
        body: list[nodes.Node] = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return body


def _count_steps(tree: nodes.Template) -> None:
    """Begin the body of every loop and macro with a count, which a template cannot name."""
    for node in tree.find_all((nodes.For, nodes.Macro, nodes.CallBlock)):
        count = nodes.EnvironmentAttribute("count_step")
        step = nodes.ExprStmt(nodes.Call(count, [], [], None, None))
        node.body.insert(0, step.set_lineno(node.lineno))


@contextmanager
def bounded_memory(extra: int) -> Iterator[None]:
    """While inside, the process may take only so many bytes more; beyond is a MemoryError.

    On Linux. Other systems do not keep such a limit; there the counts have to do.
    """
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except (ImportError, OSError, ValueError):
        yield
        return

    before = resource.getrlimit(resource.RLIMIT_AS)
    soft, hard = before
    wanted = pages * resource.getpagesize() + extra
    limits = [limit for limit in (wanted, soft, hard) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min(limits), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def _raise(message: str) -> None:
    raise TemplateError(message)


def _as_json(value: Any, ensure_ascii: bool = False, indent: int | None = None, **how: Any) -> str:
    """As transformers writes it: no HTML escapes."""
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, **how)
