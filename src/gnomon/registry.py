"""Names -> benchmarks, models, measures, figures, commands. A line here or an entry point adds one.

Nothing is imported until it is asked for by name, so the tables may name modules that need optional
extras.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
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
    """Where a name leads ("module:attribute") and what it is, in one line."""

    target: str
    summary: str
    role: str = ""  # of a model: "guess" or "shortcut" for a baseline that knows nothing of space
    native: bool = False  # of a model: runs compiled code, which may end the process
    group: str = ""  # of a command: where it stands in `gnomon --help`


BENCHMARKS: dict[str, Entry] = {
    "scales": Entry(
        "gnomon.benchmarks.scales:SCALES", "which of two everyday objects is larger, or taller"
    ),
    "spacenli": Entry(
        "gnomon.benchmarks.spacenli:SPACENLI", "does a sentence about space follow from others"
    ),
    "viphy-color": Entry("gnomon.benchmarks.viphy.tasks:COLOR", "typical colours of objects"),
    "viphy-size": Entry("gnomon.benchmarks.viphy.tasks:SIZE", "which of two objects is larger"),
    "viphy-size-subtype": Entry(
        "gnomon.benchmarks.viphy.tasks:SIZE_SUBTYPE", "which of two subtypes of objects is larger"
    ),
    "viphy-size-transitive": Entry(
        "gnomon.benchmarks.viphy.tasks:SIZE_TRANSITIVE",
        "which of two objects is larger, where that follows from two other comparisons",
    ),
    "viphy-spatial": Entry(
        "gnomon.benchmarks.viphy.tasks:SPATIAL",
        "which of two objects is higher up in a kind of room",
    ),
    "relativesize": Entry(
        "gnomon.benchmarks.relativesize:RELATIVESIZE",
        "which of two objects is larger, for the pairs of RelativeSize",
    ),
    "vsr": Entry(
        "gnomon.benchmarks.vsr.task:VSR",
        "is a caption about where two things are true of a picture",
    ),
    "posrel": Entry(
        "gnomon.benchmarks.posrel:POSREL", "where a person is while doing something with an object"
    ),
    "posrel-general": Entry(
        "gnomon.benchmarks.posrel:GENERAL",
        "the same with other people and with kinds of the objects",
    ),
    "spatialqa": Entry(
        "gnomon.benchmarks.spatialqa:SPATIALQA",
        "inference about motion, orientation, distance, containment and their metaphors",
    ),
    "chains": Entry(
        "gnomon.benchmarks.chains:CHAINS",
        "what follows from a story about where things are: yes, no, or it does not say",
    ),
    "calculus": Entry(
        "gnomon.benchmarks.calculus:CALCULUS",
        "which relations of A to C are possible if A is r to B and B is s to C",
    ),
}

# Sets of items for people, whose right answers nobody knows yet. They are made and asked like
# benchmarks, but stand in no list of them: a model is not measured by them.
TASK_SETS: dict[str, Entry] = {
    "vsr-pairs": Entry(
        "gnomon.benchmarks.vsr.imagepairs:PAIRS",
        "two pictures of the same two things, for people to contrast",
    ),
}

# A model's entry is a factory: factory(name, **options) -> Model, for SPEC = SCHEME or SCHEME:NAME.
# A scheme with a colon of its own is one of several kinds: synth:diffusers/NAME.
MODELS: dict[str, Entry] = {
    "random": Entry(
        "gnomon.models.functions:random", "a seeded guess among the choices", role="guess"
    ),
    "majority": Entry(
        "gnomon.models.functions:majority", "the label that is right most often", role="guess"
    ),
    "constant": Entry(
        "gnomon.models.functions:constant", "always LABEL: constant:yes", role="guess"
    ),
    "hf": Entry(
        "gnomon.models.transformers.hf:hf",
        "a model of Hugging Face transformers, any kind: hf:NAME or hf:FOLDER",
        native=True,
    ),
    "probe": Entry(
        "gnomon.train.probemodel:probe",
        "a linear probe on a frozen model, as gnomon train makes it: probe:DIR",
        native=True,
    ),
    "smollm2": Entry(
        "gnomon.models.llamacpp.smollm2:smollm2",
        "SmolLM2-135M-Instruct, embedded: fetched once, no torch",
        native=True,
    ),
    "gguf": Entry(
        "gnomon.models.llamacpp.gguf:gguf", "a model file of llama.cpp: gguf:PATH", native=True
    ),
    "openai": Entry(
        "gnomon.models.servers.openai:openai", "a model of an OpenAI-compatible server: openai:NAME"
    ),
    "eyes": Entry(
        "gnomon.models.eyes:eyes", "a detector, a depth map and plain rules, embedded: no torch"
    ),
    "hypothesis-only": Entry(
        "gnomon.models.classifiers:hypothesis_only",
        "words of the hypothesis alone, trained on other groups",
        role="shortcut",
    ),
    "bag-of-words": Entry(
        "gnomon.models.classifiers:bag_of_words",
        "words of all text, trained on other groups",
        role="shortcut",
    ),
    "picture-only": Entry(
        "gnomon.models.classifiers:picture_only",
        "colours of the picture alone, trained on other pictures and groups",
        role="shortcut",
    ),
    "answers": Entry(
        "gnomon.items.answers.joining:answers", "answers read from a file: answers:FILE.jsonl"
    ),
    "synth:render": Entry(
        "gnomon.paint.painters.render:render",
        "paints scenes as they are right: an oracle for judges",
    ),
    "synth:guided": Entry(
        "gnomon.paint.painters.guided:guided",
        "paints by a VQGAN under CLIP's guidance, as the spatial-commonsense paper does",
        native=True,
    ),
    "synth:diffusers": Entry(
        "gnomon.paint.painters.pipelines:pipeline",
        "paints by a text-to-image pipeline: synth:diffusers/NAME or a folder",
        native=True,
    ),
    "synth:openai": Entry(
        "gnomon.paint.painters.server:server",
        "paints by the images endpoint of a server: synth:openai/NAME",
    ),
    "synth:gallery": Entry(
        "gnomon.paint.painters.files:gallery",
        "shows photographs of a folder in which both things are seen",
    ),
    "images": Entry(
        "gnomon.paint.painters.files:folder",
        "pictures made elsewhere: images:DIR, or images:TABLE.csv",
    ),
}

# NAME@ARGUMENT is a measure made by a function of the argument.
MEASURES: dict[str, Entry] = {
    "accuracy": Entry(
        "gnomon.measures.accuracy:ACCURACY", "share of items answered with a right label"
    ),
    "recognised_accuracy": Entry(
        "gnomon.measures.accuracy:RECOGNISED_ACCURACY",
        "accuracy among the items that have a readable answer",
    ),
    "recognised_share": Entry(
        "gnomon.measures.accuracy:RECOGNISED_SHARE", "share of items that have a readable answer"
    ),
    "guessed_accuracy": Entry(
        "gnomon.measures.accuracy:GUESSED_ACCURACY",
        "accuracy if items without an answer are guessed",
    ),
    "macro_f1": Entry("gnomon.measures.classes:MACRO_F1", "mean over classes of F1 of the answers"),
    "recognised_macro_f1": Entry(
        "gnomon.measures.classes:RECOGNISED_MACRO_F1",
        "macro-F1 among the items that have a readable answer",
    ),
    "guessed_macro_f1": Entry(
        "gnomon.measures.classes:GUESSED_MACRO_F1",
        "macro-F1 if items without an answer are guessed",
    ),
    "typical_f1": Entry(
        "gnomon.measures.classes:typical_f1",
        "macro-F1 over sets of typical labels: typical_f1@code or @paper",
    ),
    "relaxed_accuracy": Entry(
        "gnomon.measures.classes:RELAXED_ACCURACY",
        "share of items whose most probable choice is right",
    ),
    "true_confidence": Entry(
        "gnomon.measures.classes:TRUE_CONFIDENCE", "mean probability of the right labels together"
    ),
    "partial_credit": Entry(
        "gnomon.measures.accuracy:PARTIAL_CREDIT",
        "mean accuracy of templates, averaged over categories",
    ),
    "without_partial_credit": Entry(
        "gnomon.measures.accuracy:WITHOUT_PARTIAL_CREDIT",
        "share of templates right throughout, averaged over categories",
    ),
    "pattern_accuracy": Entry(
        "gnomon.measures.accuracy:pattern_accuracy",
        "share of patterns with at least T of their items right: pattern_accuracy@0.95",
    ),
    "pattern_accuracy_auc": Entry(
        "gnomon.measures.accuracy:PATTERN_ACCURACY_AUC",
        "area under the pattern accuracy curve",
    ),
    "group_agreement": Entry(
        "gnomon.measures.consistency:GROUP_AGREEMENT",
        "share of pairs within groups that are answered alike",
    ),
    "group_agreement_and_right": Entry(
        "gnomon.measures.consistency:GROUP_AGREEMENT_AND_RIGHT",
        "share of pairs within groups that are both right",
    ),
    "form_agreement": Entry(
        "gnomon.measures.consistency:FORM_AGREEMENT",
        "share of pairs across forms of a fact that are answered alike",
    ),
    "form_agreement_and_right": Entry(
        "gnomon.measures.consistency:FORM_AGREEMENT_AND_RIGHT",
        "share of pairs across forms of a fact that are both right",
    ),
    "same_choice": Entry(
        "gnomon.measures.consistency:same_choice",
        "items alike in tags but not in the right label, answered alike: same_choice@TAG,TAG",
    ),
    "consistency": Entry(
        "gnomon.measures.consistency:CONSISTENCY",
        "share of facts whose answers agree in all ways of asking",
    ),
    "consistency_and_right": Entry(
        "gnomon.measures.consistency:CONSISTENCY_AND_RIGHT",
        "share of facts answered right in all ways of asking",
    ),
    "way_agreement": Entry(
        "gnomon.measures.consistency:way_agreement",
        "share of facts answered alike plainly and in another way: way_agreement@converse",
    ),
    "way_agreement_and_right": Entry(
        "gnomon.measures.consistency:way_agreement_and_right",
        "share of facts right plainly and in another way: way_agreement_and_right@converse",
    ),
    "auc": Entry(
        "gnomon.measures.separation:AUC",
        "area under the ROC curve: how often a true statement scores above a false one",
    ),
    "pair_image": Entry(
        "gnomon.measures.separation:PAIR_IMAGE",
        "share of contrastive pairs whose true picture scores above the other",
    ),
    "pair_right": Entry(
        "gnomon.measures.separation:PAIR_RIGHT",
        "share of contrastive pairs with both halves right",
    ),
    "quad_text": Entry(
        "gnomon.measures.separation:QUAD_TEXT",
        "share of quads whose pictures score higher with their own captions (Winoground's text)",
    ),
    "quad_image": Entry(
        "gnomon.measures.separation:QUAD_IMAGE",
        "share of quads whose captions score higher with their own pictures (Winoground's image)",
    ),
    "quad_group": Entry(
        "gnomon.measures.separation:QUAD_GROUP",
        "share of quads in which both hold (Winoground's group score)",
    ),
    "group_right": Entry(
        "gnomon.measures.consistency:GROUP_RIGHT", "share of groups that are right throughout"
    ),
    "symmetry": Entry(
        "gnomon.measures.laws:SYMMETRY",
        "share of pairs of objects that get the same fact asked either way round",
    ),
    "symmetry_and_right": Entry(
        "gnomon.measures.laws:SYMMETRY_AND_RIGHT",
        "share of pairs of objects that are right asked either way round",
    ),
    "transitivity": Entry(
        "gnomon.measures.transitivity:TRANSITIVITY",
        "share of triples in which A over B and B over C is followed by A over C",
    ),
    "transitivity_and_right": Entry(
        "gnomon.measures.transitivity:TRANSITIVITY_AND_RIGHT",
        "share of such triples in which all three are right",
    ),
    "converse": Entry(
        "gnomon.measures.laws:CONVERSE",
        "share of facts answered alike with a word and with its converse",
    ),
    "converse_and_right": Entry(
        "gnomon.measures.laws:CONVERSE_AND_RIGHT",
        "share of facts right with a word and with its converse",
    ),
    "negation": Entry(
        "gnomon.measures.laws:NEGATION",
        "share of facts that get opposite answers asserted and denied",
    ),
    "negation_and_right": Entry(
        "gnomon.measures.laws:NEGATION_AND_RIGHT", "share of facts right asserted and denied"
    ),
    "ece": Entry("gnomon.measures.calibration:ECE", "expected calibration error, 15 bins"),
    "brier": Entry("gnomon.measures.calibration:BRIER", "Brier score, 0 to 2"),
}


# A measure over two runs: what their answers mean together.
PAIR_MEASURES: dict[str, Entry] = {
    "agreement": Entry(
        "gnomon.measures.accuracy:AGREEMENT", "share of items that two runs answer alike"
    ),
    "both_right": Entry(
        "gnomon.measures.accuracy:BOTH_RIGHT", "share of items that two runs both get right"
    ),
}

# A figure is a function from a study to charts, in the order of the page; see gnomon.reports.
FIGURES: dict[str, Entry] = {
    "slices": Entry("gnomon.reports.figures.slices:by_slice", "the headline measure by slice"),
    "pattern-accuracy": Entry(
        "gnomon.reports.figures.groups:pattern_curves", "pattern accuracy against its threshold"
    ),
    "data-map": Entry("gnomon.reports.figures.groups:data_map", "confidence and its spread"),
    "boxes": Entry("gnomon.reports.figures.groups:box_plots", "accuracy of groups by category"),
    "difficulty": Entry(
        "gnomon.reports.figures.groups:hard_and_easy", "the hardest and the easiest groups"
    ),
    "cardinality": Entry(
        "gnomon.reports.figures.against:by_cardinality",
        "scores by the number of right labels",
    ),
    "prompts": Entry(
        "gnomon.reports.figures.slices:over_prompts", "the headline measure by wording"
    ),
    "places": Entry(
        "gnomon.reports.figures.answers:by_place", "how often each place of the choices is picked"
    ),
    "item-statistics": Entry(
        "gnomon.reports.figures.itemstatistics:over_models",
        "the hardest items, and those that good models miss",
    ),
    "symmetry": Entry("gnomon.reports.figures.answers:objects", "answers to pairs of objects"),
    "reliability": Entry(
        "gnomon.reports.figures.answers:reliability_diagram", "accuracy against confidence"
    ),
    "confusion": Entry("gnomon.reports.figures.answers:confusion", "answers against right labels"),
    "forms": Entry("gnomon.reports.figures.answers:forms", "one fact asked in several forms"),
    "size": Entry("gnomon.reports.figures.sizes:against_size", "scores against model size"),
    "size-by-slice": Entry(
        "gnomon.reports.figures.sizes:against_size_by_slice",
        "scores against model size, by slice",
    ),
    "shots": Entry("gnomon.reports.figures.against:against_shots", "scores against examples"),
    "curves": Entry(
        "gnomon.reports.figures.against:learning_curves", "scores against the amount of training"
    ),
    "training": Entry(
        "gnomon.reports.figures.against:training_curves", "loss and dev scores of training"
    ),
}

# Files in which other programs leave their answers.
ANSWER_FORMATS: dict[str, Entry] = {
    "inspect": Entry("gnomon.items.answers.inspect:FORMAT", "logs of Inspect, .eval and .json"),
    "lm-eval": Entry("gnomon.items.answers.lmeval:FORMAT", "sample logs of lm-eval"),
    "spatialqa": Entry("gnomon.benchmarks.spatialqa:ANSWERS", "spatialQA's results tables"),
    "vsr": Entry("gnomon.benchmarks.vsr.task:ANSWERS", "VSR's lists of predictions, 0 or 1 a line"),
}

# Files that hold what several people said about each item.
VOTE_FORMATS: dict[str, Entry] = {
    "vsr": Entry(
        "gnomon.benchmarks.vsr.task:VOTES", "VSR's annotations with the votes of validators"
    ),
}

# Which images belong to the captions of a source: a function from its folder to files to fetch.
IMAGE_LISTS: dict[str, Entry] = {
    "vsr": Entry("gnomon.benchmarks.vsr.files:image_files", "the photographs of the captions"),
}

# Where what was found in pictures meets other knowledge: a function from a knowledge folder.
MEETINGS: dict[str, Entry] = {
    "viphy": Entry(
        "gnomon.benchmarks.viphy.knowledge:meetings", "our own tables, and the published ones"
    ),
}

# A command's target is a module: its docstring is the help, and `main(args)` does the work and
# returns the exit code. Its options are in data/commands/options.toml; a plug-in's module adds them
# itself, by `arguments(parser)`.
COMMANDS: dict[str, Entry] = {
    name: Entry(f"gnomon.cli.{name}", summary, group=group)
    for group, commands in {
        "first steps": {
            "demo": "measure a small real model on slices of fresh benchmarks",
            "list": "benchmarks, models, measures, prompts or suites",
            "show": "sample items and statistics of a benchmark, or what a model reads",
        },
        "asking": {
            "run": "ask models the items of benchmarks",
            "prompts": "choose a prompt on some objects and score it on others",
            "power": "how many items a difference needs, and how long a run takes",
            "train": "teach a model by a recipe before it is asked",
        },
        "understanding": {
            "score": "score runs, or a file of answers; what the answers say together",
            "compare": "test whether runs differ, and by how much",
            "table": "models by benchmarks in one table, for the terminal or a paper",
            "report": "write one page that shows what models get right and wrong",
            "view": "explore runs in the browser",
            "cite": "BibTeX of the papers behind benchmarks and runs",
        },
        "making": {
            "make": "write a benchmark's items to a file, or as a task of another program",
            "audit": "check items: what cannot be asked, shortcuts, leaks, contradictions",
            "prove": "prove that a sentence about space follows from others",
            "scene": "draw a scene and say what is true in it",
            "look": "make knowledge of colours, sizes and heights from pictures",
        },
        "people": {
            "people": "ask people, see how far they agree, list or forget them",
        },
        "housekeeping": {
            "runs": "list, merge, remove or recover runs",
            "data": "fetch the authors' published files",
            "completion": "print a completion script for your shell",
        },
    }.items()
    for name, summary in commands.items()
}

# What `gnomon demo` shows: one of each kind, quick to ask.
DEMO = ("scales", "posrel", "spacenli", "spatialqa", "viphy-size-transitive")
# And what small eyes are shown: few pictures, of a size that is quickly drawn.
DEMO_EYES, DEMO_SEEN = "eyes", "vsr"
DEMO_SEEN_OPTIONS = {"quads": 10, "size": 256}

KINDS: dict[str, dict[str, Entry]] = {
    "benchmarks": BENCHMARKS,
    "task_sets": TASK_SETS,
    "models": MODELS,
    "measures": MEASURES,
    "pair_measures": PAIR_MEASURES,
    "figures": FIGURES,
    "answer_formats": ANSWER_FORMATS,
    "vote_formats": VOTE_FORMATS,
    "image_lists": IMAGE_LISTS,
    "meetings": MEETINGS,
    "commands": COMMANDS,
}


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
