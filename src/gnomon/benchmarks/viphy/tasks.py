"""What is visible in everyday scenes: colours, relative sizes and elevations of objects (the ViPhy
paper).

Several labels may be right. `published` keeps the released sets with their flaws (every transitive
label is "smaller"; the sizes are no order); `fresh` asks the same of our own tables, balanced and
without contradictions. The five benchmarks differ only in their rows; a row and a prompt make an
item.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import msgspec

from gnomon.benchmarks.viphy import files
from gnomon.benchmarks.viphy import fresh as made
from gnomon.benchmarks.viphy.coda import read_coda
from gnomon.benchmarks.viphy.files import Colours, Comparison
from gnomon.benchmarks.viphy.tables import statistics, subtype_statistics
from gnomon.contracts import Benchmark, Laws, OrderLaw, RelationLaw
from gnomon.errors import UsageError, unknown
from gnomon.fetching.catalogue import locate
from gnomon.files import package_data, read_yaml
from gnomon.language.surface import indefinite_article
from gnomon.language.world import Entity
from gnomon.records import Form, Item
from gnomon.vision.knowledge import COLOURS

FORMS: dict[str, Form] = {"cloze": "cloze", "question": "choice", "finetune": "choice"}


class Prompt(NamedTuple):
    """One prompt of Table 2, with the words for its labels."""

    name: str
    text: str
    labels: Mapping[str, str]

    @property
    def form(self) -> Form:
        """How an item with this prompt is put."""
        return FORMS[self.name]


def prompt_of(task: str, name: str, *, fresh: bool = False) -> Prompt:
    """A prompt of a task (color, size, spatial) by its name (cloze, question, finetune), as
    published or mended."""
    if name not in FORMS:
        raise unknown("prompt", name, FORMS)
    table = read_yaml(package_data("viphy/prompts.yaml"))[task]
    labels = (
        table.get(f"{name}_labels") or table.get("labels") or {colour: colour for colour in COLOURS}
    )
    text = table.get(f"fresh_{name}", table[name]) if fresh else table[name]
    return Prompt(name, text, labels)


def published_color(*, data: str = "", split: str = "", prompt: str = "cloze") -> Iterator[Item]:
    """13,250 objects with their typical colours; SPLIT is train, val, test, or train-20 to
    train-100 as released."""
    folder, chosen = locate(data, "viphy"), prompt_of("color", prompt)
    known = files.read_object_tags(folder)
    for part, row in files.read_colours(folder, split):
        yield color_item(row, chosen, {"split": part, **known.get(row.object, {})})


def fresh_color(*, seed: int = 0, prompt: str = "cloze") -> Iterator[Item]:
    """About 170 objects of undisputed colour, every colour right equally often."""
    chosen = prompt_of("color", prompt, fresh=True)
    for row in made.object_colours(seed):
        yield color_item(row, chosen, {})


def coda_color(*, data: str = "", prompt: str = "cloze") -> Iterator[Item]:
    """The objects of CoDa with the colours that people see, from a folder of your own: what the
    paper's Figures 7 and 8 and its human figures compare with."""
    chosen = prompt_of("color", prompt)
    for row in read_coda(data):
        yield color_item(row, chosen, {})


def published_size(*, data: str = "", split: str = "", prompt: str = "cloze") -> Iterator[Item]:
    """43,096 ordered pairs of objects; SPLIT is train, val or test (one pair is in none), or
    train-20 to train-100."""
    chosen = prompt_of("size", prompt)
    for part, row in files.read_sizes(locate(data, "viphy"), split):
        yield pair_item("size", row, chosen, {"split": part})


def fresh_size(*, seed: int = 0, pairs: int = 1000, prompt: str = "cloze") -> Iterator[Item]:
    """Clear comparisons of everyday things, each both ways round."""
    chosen = prompt_of("size", prompt, fresh=True)
    for row in made.size_pairs(seed, pairs):
        yield pair_item("size", row, chosen, types(row.first, row.second))


def published_subtype(*, data: str = "", seed: int = 0, prompt: str = "cloze") -> Iterator[Item]:
    """23,926 test pairs with each object replaced by a subtype; drawn by SEED if the released file
    is not there."""
    chosen = prompt_of("size", prompt)
    for number, row in enumerate(files.read_subtype_sizes(locate(data, "viphy"), seed)):
        yield pair_item("subtype", row, chosen, {"split": "test"}, number)


def fresh_subtype(*, seed: int = 0, pairs: int = 500, prompt: str = "cloze") -> Iterator[Item]:
    """Clear comparisons with each thing replaced by one of its subtypes, each pair both ways
    round."""
    chosen = prompt_of("size", prompt, fresh=True)
    for row, (first, second) in made.subtype_pairs(seed, pairs):
        yield pair_item("subtype", row, chosen, types(first, second))


def published_transitive(*, data: str = "", seed: int = 0, prompt: str = "cloze") -> Iterator[Item]:
    """20,000 pairs that follow by transitivity, all of them "smaller"; drawn by SEED if the
    released file is absent."""
    chosen = prompt_of("size", prompt)
    for number, row in enumerate(files.read_transitive_sizes(locate(data, "viphy"), seed)):
        yield pair_item("transitive", row, chosen, {"split": "test"}, number)


def fresh_transitive(*, seed: int = 0, items: int = 1000, prompt: str = "cloze") -> Iterator[Item]:
    """Pairs that follow from two known comparisons and are not known themselves: consistent,
    balanced, none twice."""
    chosen = prompt_of("size", prompt, fresh=True)
    for row, middle in made.transitive_sizes(seed, items):
        yield pair_item("transitive", row, chosen, {"via": middle, **types(row.first, row.second)})


def published_spatial(
    *, data: str = "", split: str = "", prompt: str = "cloze", levels: int = 3
) -> Iterator[Item]:
    """6,570 ordered pairs of a scene; LEVELS=2 drops the pairs that may be level, as the paper does
    zero-shot."""
    chosen = _with_levels(prompt_of("spatial", prompt), levels)
    for part, row in files.read_elevations(locate(data, "viphy"), split):
        if set(row.typical) <= set(chosen.labels):
            yield pair_item("spatial", row, chosen, {"split": part})


def fresh_spatial(
    *, seed: int = 0, blocks: int = 1000, prompt: str = "cloze", levels: int = 3
) -> Iterator[Item]:
    """Everyday things in five rooms, every label right equally often; BLOCKS of three pairs at
    most."""
    chosen = _with_levels(prompt_of("spatial", prompt, fresh=True), levels)
    for row in made.elevations(seed, blocks):
        if set(row.typical) <= set(chosen.labels):
            item = pair_item("spatial", row, chosen, types(row.first, row.second))
            yield (
                item
                if levels == 3
                else msgspec.structs.replace(item, id=f"{levels}-levels/{item.id}")
            )


def color_item(row: Colours, prompt: Prompt, tags: Mapping[str, str]) -> Item:
    """An object and its typical colours as an item."""
    return Item(
        id=f"{prompt.name}/{_slug(row.object)}",
        form=prompt.form,
        choices=COLOURS,
        text=_filled(prompt, COLOURS, object=row.object),
        gold=tuple(colour for colour in COLOURS if colour in row.shares),
        group=row.object,
        tags={"task": "color", "object": row.object, "cardinality": str(len(row.shares)), **tags},
    )


def pair_item(
    task: str, row: Comparison, prompt: Prompt, tags: Mapping[str, str], number: int | None = None
) -> Item:
    """Two objects and their typical relations as an item; NUMBER tells repeated pairs apart."""
    choices = tuple(prompt.labels.values())
    scene = row.scene.replace("_", " ")
    more = {
        "task": task,
        "obj_a": row.first,
        "obj_b": row.second,
        "relation": ",".join(row.typical),
        "cardinality": str(len(row.typical)),
        **tags,
    }
    if scene:
        more["scene"] = scene
    if row.counts:
        more["frequency"] = files.frequency_band(sum(row.counts.values()))
    in_scene = (
        f"a {scene}" if row.counts else with_article(scene)
    )  # the released prompts say "in a office"
    parts = (
        prompt.name,
        *([f"{number:05d}"] if number is not None else []),
        *([scene] if scene else []),
    )
    return Item(
        id=_slug("/".join((*parts, row.first, row.second))),
        form=prompt.form,
        choices=choices,
        text=_filled(
            prompt,
            choices,
            first=row.first,
            second=row.second,
            scene=in_scene,
            a_first=with_article(row.first),
            a_second=with_article(row.second),
        ),
        gold=tuple(prompt.labels[label] for label in prompt.labels if label in row.typical),
        group=" / ".join((*([scene] if scene else []), *sorted((row.first, row.second)))),
        tags=more,
    )


def types(first: str, second: str) -> dict[str, str]:
    """What two things are kinds of, by the last word of their names (as in section 2 of the paper).

    Baselines that are trained hold these out: who has seen a golf ball could guess about a tennis
    ball.

    >>> types("golf ball", "wardrobe")
    {'type_a': 'ball', 'type_b': 'wardrobe'}
    """
    return {"type_a": first.rsplit(maxsplit=1)[-1], "type_b": second.rsplit(maxsplit=1)[-1]}


def with_article(name: str) -> str:
    """A name with "a" or "an".

    >>> with_article("orca"), with_article("used golf ball"), with_article("English walnut")
    ('an orca', 'a used golf ball', 'an English walnut')
    """
    return f"{indefinite_article(Entity(name))} {name}"


def _filled(prompt: Prompt, choices: Iterable[str], **parts: str) -> str:
    shown = " ".join(
        f"({letter}) {choice}" for letter, choice in zip("abcdefghijk", choices, strict=False)
    )
    return prompt.text.format(choices=shown, **parts)


def _with_levels(prompt: Prompt, levels: int) -> Prompt:
    if levels not in (2, 3):
        raise UsageError(
            f"levels is {levels}.", "Give 3 (above, level, below) or 2 (above, below)."
        )
    return (
        prompt
        if levels == 3
        else prompt._replace(labels={k: v for k, v in prompt.labels.items() if k != "="})
    )


def _slug(text: str) -> str:
    return text.replace(" ", "_")


_benchmark = partial(Benchmark, paper="ViPhy", published_results="viphy", statistics=statistics)
_MEASURES = ("relaxed_accuracy", "true_confidence", "macro_f1", "accuracy")
_SEVERAL = (*_MEASURES, "typical_f1@code")  # where several labels may be right
_PAIRS: dict[str, Any] = {
    "noun": "pairs",
    "hold_out": (("type_a", "type_b"), ("obj_a", "obj_b")),
}
_ORDER = Laws(
    order=OrderLaw(first="obj_a", second="obj_b", greater=("larger",), lesser=("smaller",))
)
_ELEVATION = Laws(
    relations=RelationLaw(
        first="obj_a",
        second="obj_b",
        within=("scene",),
        converse=(("above", "below"),),
        symmetric=("level with", "similar level"),
    )
)

COLOR = _benchmark(
    name="viphy-color",
    summary="typical colours of objects",
    noun="objects",
    measures=_SEVERAL,
    slices=("cardinality", "frequency", "category", "split"),
    sources={"fresh": fresh_color, "published": published_color, "coda": coda_color},
)
SIZE = _benchmark(
    name="viphy-size",
    summary="which of two objects is larger",
    measures=(*_MEASURES, "symmetry", "transitivity"),
    slices=("split", "frequency"),
    sources={"fresh": fresh_size, "published": published_size},
    laws=_ORDER,
    **_PAIRS,
)
SIZE_SUBTYPE = _benchmark(
    name="viphy-size-subtype",
    summary="which of two subtypes of objects is larger",
    measures=_MEASURES,
    slices=("frequency",),
    sources={"fresh": fresh_subtype, "published": published_subtype},
    laws=_ORDER,
    **_PAIRS,
    statistics=subtype_statistics,
)
SIZE_TRANSITIVE = _benchmark(
    name="viphy-size-transitive",
    summary="which of two objects is larger, where that follows from two other comparisons",
    measures=(*_MEASURES, "transitivity"),
    laws=_ORDER,
    **_PAIRS,
    sources={"fresh": fresh_transitive, "published": published_transitive},
)
SPATIAL = _benchmark(
    name="viphy-spatial",
    summary="which of two objects is higher up in a kind of room",
    measures=(*_SEVERAL, "converse"),
    laws=_ELEVATION,
    **_PAIRS,
    slices=("scene", "cardinality", "frequency", "split"),
    sources={"fresh": fresh_spatial, "published": published_spatial},
)
