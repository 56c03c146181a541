"""Names -> benchmarks, models and measures. One line here, or an entry point in a plug-in package, adds one.

Nothing is imported until it is asked for by name, so the tables may name modules that need optional extras.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from gnomon.contracts import Benchmark, Measure, Model
from gnomon.errors import UsageError, unknown
from gnomon.options import check_options, given


class Entry(NamedTuple):
    """Where a name leads ("module:attribute") and what it is, in one line."""

    target: str
    summary: str


BENCHMARKS: dict[str, Entry] = {
    "scales": Entry("gnomon.benchmarks.scales:SCALES", "which of two everyday objects is larger, or taller"),
}

# A model's entry is a factory: factory(name, **options) -> Model, for SPEC = SCHEME or SCHEME:NAME.
MODELS: dict[str, Entry] = {
    "random": Entry("gnomon.models.baselines:random", "a seeded guess among the choices"),
    "majority": Entry("gnomon.models.baselines:majority", "the label that is right most often"),
    "constant": Entry("gnomon.models.baselines:constant", "always LABEL: constant:yes"),
    "smollm2": Entry("gnomon.models.smollm2:smollm2", "SmolLM2-135M-Instruct, embedded: fetched once, no torch"),
    "gguf": Entry("gnomon.models.gguf:gguf", "a model file of llama.cpp: gguf:PATH"),
    "openai": Entry("gnomon.models.openai:openai", "a model of an OpenAI-compatible server: openai:NAME"),
    "hypothesis-only": Entry("gnomon.models.classifiers:hypothesis_only",
                             "words of the hypothesis alone, trained on other groups"),
    "bag-of-words": Entry("gnomon.models.classifiers:bag_of_words", "words of all text, trained on other groups"),
    "answers": Entry("gnomon.models.answers:answers", "answers read from a file: answers:FILE.jsonl"),
}

MEASURES: dict[str, Entry] = {
    "accuracy": Entry("gnomon.measures.accuracy:ACCURACY", "share of items answered with a right label"),
}


def entries(kind: str) -> dict[str, Entry]:
    """The built-in table of a kind ("benchmarks", "models", "measures") and, after it, what plug-ins add.

    >>> "random" in entries("models")
    True
    """
    from importlib.metadata import entry_points

    table = _builtin(kind)
    found = dict(table)
    for point in entry_points(group=f"gnomon.{kind}"):
        source = point.dist.name if point.dist else "a plug-in"
        found.setdefault(point.name, Entry(point.value, f"from {source}"))
    return found


def benchmark(name: str) -> Benchmark:
    """The benchmark of that name."""
    found = _resolve("benchmarks", name)
    if not isinstance(found, Benchmark):
        raise UsageError(f"'{name}' is registered as a benchmark but is a {type(found).__name__}.",
                         "A benchmark's entry point must name a gnomon.Benchmark.")
    return found


class ModelSpec(NamedTuple):
    """A model by name and options, checked but not yet loaded: a run that is complete never needs to load it."""

    spec: str
    options: dict[str, Any]

    def open(self) -> Model:
        """Load the model."""
        scheme, _, name = self.spec.partition(":")
        found = model_factory(self.spec)(name, **self.options)
        if not isinstance(found, Model):
            raise UsageError(f"'{scheme}' is registered as a model but gave a {type(found).__name__}.",
                             "A model's entry point must name a function that returns a gnomon.Model.")
        return found


def model(spec: str, **options: Any) -> ModelSpec:
    """The model that SPEC names: "random", "constant:yes", "hf:gpt2" ... with the options its factory takes.

    >>> model("random", model_seed=3).open().describe()
    {'model_seed': 3}
    """
    factory = model_factory(spec)
    check_options(f"model {spec.partition(':')[0]}", factory, options)
    return ModelSpec(spec, given(factory, options))


def model_factory(spec: str) -> Callable[..., Any]:
    """The function that makes the models of SPEC's scheme."""
    factory: Callable[..., Any] = _resolve("models", spec.partition(":")[0])
    return factory


def measure(name: str) -> Measure:
    """The measure of that name; NAME@ARGUMENT is a measure made by a function of the argument."""
    base, _, argument = name.partition("@")
    found = _resolve("measures", base)
    if argument and callable(found) and not isinstance(found, Measure):
        found = found(argument)
    if not isinstance(found, Measure):
        raise UsageError(f"'{name}' does not name a measure.", f"Write {base}@NUMBER." if callable(found) else "")
    return found


def _builtin(kind: str) -> dict[str, Entry]:
    return {"benchmarks": BENCHMARKS, "models": MODELS, "measures": MEASURES}[kind]


def _resolve(kind: str, name: str) -> Any:
    from importlib import import_module

    entry = _builtin(kind).get(name)
    if entry is None:  # only now pay for the scan of installed packages
        found = entries(kind)
        if name not in found:
            raise unknown(kind.removesuffix("s"), name, found)
        entry = found[name]
    module, _, attribute = entry.target.partition(":")
    return getattr(import_module(module), attribute)
