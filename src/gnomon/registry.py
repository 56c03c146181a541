"""Names -> benchmarks, models, measures, figures, commands, as data/registry.csv has them.

A line there or an entry point adds one. Nothing is imported until it is asked for by name, so the
tables may name modules that need optional extras.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gnomon.errors import GnomonError, UsageError
from gnomon.unknownnames import unknown_name

if TYPE_CHECKING:  # `gnomon list` names everything and needs none of them
    from types import ModuleType

    from gnomon.contracts import (
        AnswerFormat,
        Benchmark,
        Measure,
        Model,
        PairMeasure,
        VoteFormat,
    )
    from gnomon.naming import Named


class Entry(NamedTuple):
    """Where a name leads ("module:attribute") and what it is, in one line.

    What the targets of each kind are: docs/extending.md. Task sets are items for people, whose
    right answers nobody knows yet; they are asked like benchmarks and stand in no list of them.
    """

    target: str
    summary: str
    role: str = ""  # of a model: "guess" or "shortcut" for a baseline that knows nothing of space
    native: bool = False  # of a model: runs compiled code, which may end the process
    group: str = ""  # of a command: where it stands in `gnomon --help`


def _read_tables() -> dict[str, dict[str, Entry]]:
    """What the file says, by kind."""
    from csv import DictReader

    tables: dict[str, dict[str, Entry]] = {}
    with (Path(__file__).parent / "data" / "registry.csv").open(encoding="utf-8") as file:
        for row in DictReader(file):
            kind, name, native = row.pop("kind"), row.pop("name"), row.pop("native")
            tables.setdefault(kind, {})[name] = Entry(**row, native=native == "yes")
    return tables


KINDS = _read_tables()
BENCHMARKS = KINDS["benchmarks"]
TASK_SETS = KINDS["task_sets"]
MODELS = KINDS["models"]
MEASURES = KINDS["measures"]
PAIR_MEASURES = KINDS["pair_measures"]
FIGURES = KINDS["figures"]
ANSWER_FORMATS = KINDS["answer_formats"]
COMMANDS = KINDS["commands"]

# What `gnomon demo` shows: one of each kind, quick to ask.
DEMO = ("scales", "posrel", "spacenli", "spatialqa", "viphy-size-transitive")
# And what small eyes are shown: few pictures, of a size that is quickly drawn.
DEMO_EYES, DEMO_SEEN = "eyes", "vsr"
DEMO_SEEN_OPTIONS = {"quads": 10, "size": 256}


def entries(kind: str) -> dict[str, Entry]:
    """The built-in table of a kind, one of KINDS, and, after it, what plug-ins add.

    >>> "random" in entries("models")
    True
    """
    found = dict(KINDS[kind])
    for point in _entry_points(tuple(sys.path)).select(group=f"gnomon.{kind}"):
        source = point.dist.name if point.dist else "a plug-in"
        found.setdefault(point.name, Entry(point.value, f"from {source}", group="plug-ins"))
    return found


@cache
def _entry_points(path: tuple[str, ...]) -> Any:
    """What all installed packages add; they are looked through once, which takes a while."""
    from importlib.metadata import entry_points

    return entry_points()


def command(name: str) -> ModuleType:
    """The module of a command."""
    from types import ModuleType

    found = _resolve("commands", name)
    whole = isinstance(found, ModuleType) and found.__doc__
    has_options = name in COMMANDS or hasattr(found, "arguments")
    if not whole or not (has_options and hasattr(found, "main")):
        raise UsageError(
            f"'{name}' is registered as a command but is not one.",
            "Its entry point must name a module with a docstring, arguments(parser) and "
            "main(args).",
        )
    assert isinstance(found, ModuleType)
    return found


def benchmark(name: str) -> Benchmark:
    """The benchmark of that name, or the set of items for people."""
    from gnomon.contracts import Benchmark

    found = _resolve("task_sets" if name in TASK_SETS else "benchmarks", name)
    if not isinstance(found, Benchmark):
        raise UsageError(
            f"'{name}' is registered as a benchmark but is a {type(found).__name__}.",
            "A benchmark's entry point must name a gnomon.Benchmark.",
        )
    return found


def known_benchmark(name: str) -> Benchmark | None:
    """The benchmark that NAME or NAME@SOURCE names; none if this installation lacks it.

    >>> known_benchmark("no-such-thing@fresh") is None
    True
    """
    try:
        return benchmark(name.partition("@")[0])
    except (GnomonError, ImportError):  # a plug-in or an extra that is not installed here
        return None


# What a run keeps of a benchmark that no registry has, so that it can be scored anywhere.
KEPT = tuple("title skill summary measures slices units unit_nouns noun tag_words".split())


def about_benchmark(asked: Benchmark) -> dict[str, Any]:
    """What sets a benchmark apart from the registered one of its name, or from a plain one."""
    from gnomon.contracts import Benchmark

    known = known_benchmark(asked.name)
    if known is asked:
        return {}
    plain = known or Benchmark(name=asked.name, summary="", sources={})
    found = {}
    for name in KEPT:
        if getattr(asked, name) != getattr(plain, name):
            found[name] = getattr(asked, name)
    return found


def asked_benchmark(name: str, about: Mapping[str, Any]) -> Benchmark | None:
    """The benchmark of a run: as registered, with what the run's manifest says about it.

    >>> asked_benchmark("items@mine.jsonl", {"measures": ["accuracy", "macro_f1"]}).measures
    ('accuracy', 'macro_f1')
    """
    from dataclasses import fields, replace

    import msgspec

    from gnomon.contracts import Benchmark

    known = known_benchmark(name)
    if not about:
        return known
    plain = known or Benchmark(name=name.partition("@")[0], summary="", sources={})
    kinds = {field.name: getattr(plain, field.name) for field in fields(Benchmark)}
    changes: dict[str, Any] = {}
    try:
        for key in KEPT:
            if key in about:
                changes[key] = _like(kinds[key], about[key], key)
    except msgspec.ValidationError:  # a manifest that somebody changed
        return known
    return replace(plain, **changes)


def _like(known: Any, value: Any, name: str) -> Any:
    """A value of a manifest, which is plain JSON, as a benchmark has it."""
    import msgspec

    kinds: dict[str, Any] = {"units": tuple[tuple[str, ...], ...], "tag_words": dict[str, str]}
    plain = tuple[str, ...] if isinstance(known, tuple) else str
    return msgspec.convert(value, kinds.get(name, plain))


class ModelSpec(NamedTuple):
    """A model by name and options, checked but not yet loaded.

    A run that is complete never needs to load it.
    """

    spec: str
    options: dict[str, Any]
    neutral: frozenset[str] = frozenset()  # names of options that do not change the answers
    name: str = ""  # of the user's own; it says nothing of what is asked

    @property
    def deciding(self) -> dict[str, Any]:
        """The options that determine the answers, and so which run this is.

        >>> model("openai:gpt-4o-mini", shots=2, timeout=60.0).deciding
        {'shots': 2}
        """
        return {name: value for name, value in self.options.items() if name not in self.neutral}

    def open(self) -> Model:
        """Load the model."""
        from gnomon.contracts import Model

        scheme, name = scheme_of(self.spec)
        found = model_factory(self.spec)(name, **self.options)
        if not isinstance(found, Model):
            raise UsageError(
                f"'{scheme}' is registered as a model but gave a {type(found).__name__}.",
                "A model's entry point must name a function that returns a gnomon.Model.",
            )
        return found


def model(spec: str, **options: Any) -> ModelSpec:
    """The model that SPEC names, such as "hf:gpt2", with the options that its factory takes.

    NAME=SPEC gives it a name of one's own, by which tables and pages call it.

    >>> model("random", model_seed=3).open().describe()
    {'model_seed': 3}
    """
    from gnomon.options import check_options, given, neutral_options

    name, spec = named_model(spec)
    factory = model_factory(spec)
    check_options(f"model {scheme_of(spec)[0]}", factory, options)
    return ModelSpec(spec, given(factory, options), neutral_options(factory), name)


def named_model(text: str) -> Named:
    """The name and the spec of a model as a user writes it: [NAME=]SPEC or [NAME=]PATH.

    >>> named_model("Coin=random")
    Named(name='Coin', spec='random')
    """
    from gnomon.modelpaths import spec_of_path
    from gnomon.naming import split_name

    found = split_name(text)
    if found.spec.partition(":")[0] in MODELS:
        return found
    return found._replace(spec=spec_of_path(found.spec, entries("models")))


def with_prompt(asked: ModelSpec, prompt: str) -> ModelSpec:
    """The model, asked by this prompt if it takes one and none was chosen for it.

    >>> with_prompt(model("smollm2"), "verbatim").options
    {'prompt': 'verbatim'}
    """
    from gnomon.options import takes

    if not prompt or "prompt" in asked.options or not takes(model_factory(asked.spec), "prompt"):
        return asked
    found = model(asked.spec, **asked.options, prompt=prompt)
    return found._replace(name=asked.name)


def model_factory(spec: str) -> Callable[..., Any]:
    """The function that makes the models of SPEC's scheme."""
    scheme = scheme_of(spec)[0]
    if scheme == "people":
        raise UsageError(
            "People cannot be asked by a command alone.",
            "`gnomon people ask BENCHMARK --people NAME` gives each a page to answer on.",
        )
    if any(known.startswith(f"{scheme}:") for known in MODELS):  # one of several kinds, mistyped
        scheme = spec.partition("/")[0]
    factory: Callable[..., Any] = _resolve("models", scheme)
    return factory


def scheme_of(spec: str) -> tuple[str, str]:
    """What of a spec chooses the factory, and the name that is given to it.

    >>> scheme_of("hf:gpt2"), scheme_of("synth:diffusers/org/name"), scheme_of("random")
    (('hf', 'gpt2'), ('synth:diffusers', 'org/name'), ('random', ''))
    """
    scheme, _, name = spec.partition(":")
    kind, _, rest = name.partition("/")
    if f"{scheme}:{kind}" in MODELS:
        return f"{scheme}:{kind}", rest
    return scheme, name


def measure(name: str) -> Measure:
    """The measure of that name; NAME@ARGUMENT is a measure made by a function of the argument."""
    from dataclasses import replace

    from gnomon.contracts import Measure

    base, _, argument = name.partition("@")
    found = _resolve("measures", base)
    if argument and isinstance(found, Measure):
        raise UsageError(
            f"The measure {base} takes no argument, but was given '{argument}'.",
            f"Write just {base}.",
        )
    if argument and callable(found):
        found = found(argument)
    if not isinstance(found, Measure):
        raise UsageError(
            f"'{name}' does not name a measure.", f"Write {base}@NUMBER." if callable(found) else ""
        )
    if not found.summary and base in MEASURES:
        found = replace(found, summary=MEASURES[base].summary)
    return found


def known_measure(name: str) -> Measure | None:
    """The measure of that name; none if this installation lacks it."""
    try:
        return measure(name)
    except (GnomonError, ImportError):
        return None


def pair_measure(name: str) -> PairMeasure:
    """The measure over two runs of that name."""
    from dataclasses import replace

    from gnomon.contracts import PairMeasure

    found = _resolve("pair_measures", name)
    if not isinstance(found, PairMeasure):
        raise UsageError(
            f"'{name}' does not name a measure over two runs.",
            "Its entry point must name a gnomon.PairMeasure.",
        )
    if not found.summary and name in PAIR_MEASURES:
        found = replace(found, summary=PAIR_MEASURES[name].summary)
    return found


def figures() -> dict[str, Callable[..., Any]]:
    """Every figure, in the order of the page, plug-ins' last."""
    return {name: _resolve("figures", name) for name in entries("figures")}


def answer_formats() -> dict[str, AnswerFormat]:
    """Every format of answer files that is recognised by its contents."""
    return {name: _resolve("answer_formats", name) for name in entries("answer_formats")}


def vote_formats() -> dict[str, VoteFormat]:
    """Every format of files with people's votes."""
    return {name: _resolve("vote_formats", name) for name in entries("vote_formats")}


def image_list(source: str) -> Callable[..., Any]:
    """The function that lists the images of a source of captions."""
    found: Callable[..., Any] = _resolve("image_lists", source)
    return found


def meetings() -> list[Callable[..., Any]]:
    """The functions that say where findings in pictures meet other knowledge."""
    return [_resolve("meetings", name) for name in entries("meetings")]


def role(spec: str) -> str:
    """What a model is for beside others: "guess" or "shortcut" for a baseline, empty for a model.

    A plug-in says so by an attribute `role` of its factory.

    >>> role("random"), role("bag-of-words"), role("openai:gpt-4o-mini")
    ('guess', 'shortcut', '')
    """
    scheme = scheme_of(spec)[0]
    if scheme in MODELS:
        return MODELS[scheme].role
    try:
        return str(getattr(model_factory(spec), "role", ""))
    except GnomonError:  # a run of a plug-in that is not installed here
        return ""


def is_native(spec: str) -> bool:
    """Does the model run compiled code, which may end the process?

    A plug-in says so by an attribute `native` of its factory.

    >>> is_native("gguf:model.gguf"), is_native("random")
    (True, False)
    """
    scheme = scheme_of(spec)[0]
    if scheme in MODELS:
        return MODELS[scheme].native
    return bool(getattr(model_factory(spec), "native", False))


def with_twins(names: Sequence[str]) -> list[str]:
    """The measures, each followed by its twin that also asks for right answers, if it has one.

    >>> with_twins(["accuracy", "symmetry"])
    ['accuracy', 'symmetry', 'symmetry_and_right']
    """
    found = []
    for name in names:
        found.append(name)
        twin = measure(name).twin
        if twin:
            found.append(twin)
    return found


def _resolve(kind: str, name: str) -> Any:
    builtin = KINDS[kind].get(name)
    if builtin:
        return _loaded(builtin.target)
    found = entries(kind)  # only now pay for the scan of installed packages
    if name not in found:
        raise unknown_name(kind, name, found, KINDS)
    what = kind.removesuffix("s").replace("_", " ")
    entry = found[name]
    try:
        return _loaded(entry.target)
    except GnomonError:
        raise
    except (Exception, SystemExit) as error:  # a stranger's module may fail in any way
        raise UsageError(
            f"The {what} '{name}' {entry.summary} cannot be loaded from {entry.target}: {error}.",
            "Reinstall or update that package, or remove it.",
        ) from error


def _loaded(target: str) -> Any:
    from importlib import import_module

    module, _, attribute = target.partition(":")
    loaded = import_module(module)
    return getattr(loaded, attribute) if attribute else loaded
