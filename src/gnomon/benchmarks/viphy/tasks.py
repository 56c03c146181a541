"""What is visible in everyday scenes: colours, sizes and elevations of objects (the ViPhy paper).

Several labels may be right. `published` keeps the released sets with their flaws (every transitive
label is "smaller"; the sizes are no order); `fresh` asks the same of our own tables, balanced and
without contradictions. A row and a prompt make an item.
"""

from __future__ import annotations

from collections.abc import Iterator

from gnomon.benchmarks.viphy import files
from gnomon.benchmarks.viphy import fresh as made
from gnomon.benchmarks.viphy.coda import read_coda
from gnomon.benchmarks.viphy.items import color_item, pair_item, prompt_of, types, with_levels
from gnomon.benchmarks.viphy.tables import statistics, subtype_statistics
from gnomon.contracts import Benchmark, Laws, OrderLaw, RelationLaw
from gnomon.fetching.catalogue import locate
from gnomon.records import Item


def published_color(*, data: str = "", split: str = "", prompt: str = "cloze") -> Iterator[Item]:
    """13,250 objects with their typical colours, as released.

    data    the authors' repository, or a folder with colors.json; else what was fetched
    split   train, val, test, or train-20 to train-100 for few shots; else all
    prompt  how to ask, as in Table 2: cloze, question or finetune
    """
    folder, chosen = locate(data, "viphy"), prompt_of("color", prompt)
    known = files.read_object_tags(folder)
    for part, row in files.read_colours(folder, split):
        yield color_item(row, chosen, {"split": part, **known.get(row.object, {})})


def fresh_color(*, seed: int = 0, prompt: str = "cloze") -> Iterator[Item]:
    """About 170 objects of undisputed colour, every colour right equally often.

    seed    draws the objects
    prompt  how to ask, as in Table 2: cloze, question or finetune
    """
    chosen = prompt_of("color", prompt, fresh=True)
    for row in made.object_colours(seed):
        yield color_item(row, chosen, {})


def coda_color(*, data: str = "", prompt: str = "cloze") -> Iterator[Item]:
    """The objects of CoDa with the colours that people see, which the paper compares with.

    data    your copy of the released CoDa dataset, the folder with default_train.jsonl
    prompt  how to ask, as in Table 2: cloze, question or finetune
    """
    chosen = prompt_of("color", prompt)
    for row in read_coda(data):
        yield color_item(row, chosen, {})


def published_size(*, data: str = "", split: str = "", prompt: str = "cloze") -> Iterator[Item]:
    """43,096 ordered pairs of objects, one of which is in no split.

    data    the authors' repository, or a folder with size.csv; else what was fetched
    split   train, val, test, or train-20 to train-100 for few shots; else all
    prompt  how to ask, as in Table 2: cloze, question or finetune
    """
    chosen = prompt_of("size", prompt)
    for part, row in files.read_sizes(locate(data, "viphy"), split):
        yield pair_item("size", row, chosen, {"split": part})


def fresh_size(*, seed: int = 0, pairs: int = 1000, prompt: str = "cloze") -> Iterator[Item]:
    """Clear comparisons of everyday things, each both ways round.

    seed    draws the pairs
    pairs   how many at most; each makes two items
    prompt  how to ask, as in Table 2: cloze, question or finetune
    """
    chosen = prompt_of("size", prompt, fresh=True)
    for row in made.size_pairs(seed, pairs):
        yield pair_item("size", row, chosen, types(row.first, row.second))


def published_subtype(*, data: str = "", seed: int = 0, prompt: str = "cloze") -> Iterator[Item]:
    """23,926 test pairs with each object replaced by a subtype.

    data    the authors' repository, or a folder with its files; else what was fetched
    seed    draws the subtypes where the released file is not there
    prompt  how to ask, as in Table 2: cloze, question or finetune
    """
    chosen = prompt_of("size", prompt)
    rows = files.read_subtype_sizes(locate(data, "viphy"), seed)
    for number, row in enumerate(rows):
        yield pair_item("subtype", row, chosen, {"split": "test"}, number)


def fresh_subtype(*, seed: int = 0, pairs: int = 500, prompt: str = "cloze") -> Iterator[Item]:
    """Clear comparisons with each thing replaced by a subtype, each pair both ways round.

    seed    draws the pairs and the subtypes
    pairs   how many at most; each makes two items
    prompt  how to ask, as in Table 2: cloze, question or finetune
    """
    chosen = prompt_of("size", prompt, fresh=True)
    for row, (first, second) in made.subtype_pairs(seed, pairs):
        yield pair_item("subtype", row, chosen, types(first, second))


def published_transitive(*, data: str = "", seed: int = 0, prompt: str = "cloze") -> Iterator[Item]:
    """20,000 pairs that follow by transitivity, all of them "smaller".

    data    the authors' repository, or a folder with its files; else what was fetched
    seed    draws the pairs where the released file is not there
    prompt  how to ask, as in Table 2: cloze, question or finetune
    """
    chosen = prompt_of("size", prompt)
    rows = files.read_transitive_sizes(locate(data, "viphy"), seed)
    for number, row in enumerate(rows):
        yield pair_item("transitive", row, chosen, {"split": "test"}, number)


def fresh_transitive(*, seed: int = 0, items: int = 1000, prompt: str = "cloze") -> Iterator[Item]:
    """Pairs that follow from two known comparisons: consistent, balanced, none twice.

    seed    draws what is known, and the pairs
    items   how many at most
    prompt  how to ask, as in Table 2: cloze, question or finetune
    """
    chosen = prompt_of("size", prompt, fresh=True)
    for row, middle in made.transitive_sizes(seed, items):
        yield pair_item("transitive", row, chosen, {"via": middle, **types(row.first, row.second)})


def published_spatial(
    *, data: str = "", split: str = "", prompt: str = "cloze", levels: int = 3
) -> Iterator[Item]:
    """6,570 ordered pairs of objects, each in a kind of room.

    data    the authors' repository, or a folder with spatial.csv; else what was fetched
    split   train, val or test; else all
    prompt  how to ask, as in Table 2: cloze, question or finetune
    levels  2 drops the pairs that may be level, as the paper does zero-shot; else 3
    """
    chosen = with_levels(prompt_of("spatial", prompt), levels)
    for part, row in files.read_elevations(locate(data, "viphy"), split):
        if set(row.typical) <= set(chosen.labels):
            yield pair_item("spatial", row, chosen, {"split": part})


def fresh_spatial(
    *, seed: int = 0, blocks: int = 1000, prompt: str = "cloze", levels: int = 3
) -> Iterator[Item]:
    """Everyday things in five rooms, every label right equally often.

    seed    draws the blocks
    blocks  how many at most; each makes up to six items
    prompt  how to ask, as in Table 2: cloze, question or finetune
    levels  2 drops the pairs that may be level; else 3
    """
    chosen = with_levels(prompt_of("spatial", prompt, fresh=True), levels)
    for row in made.elevations(seed, blocks):
        if set(row.typical) <= set(chosen.labels):
            yield pair_item("spatial", row, chosen, types(row.first, row.second))


_MEASURES = ("relaxed_accuracy", "true_confidence", "macro_f1", "accuracy")
_SEVERAL = (*_MEASURES, "typical_f1@code")  # where several labels may be right
_HOLD_OUT = (("type_a", "type_b"), ("obj_a", "obj_b"))
# Published pairs have no types. Where there are types, objects lie within them and add nothing.
_UNITS = (("type_a", "type_b"), ("obj_a", "obj_b"))
_UNIT_NOUNS = ("types", "objects")
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

COLOR = Benchmark(
    name="viphy-color",
    summary="typical colours of objects",
    paper="ViPhy",
    sources={"fresh": fresh_color, "published": published_color, "coda": coda_color},
    measures=_SEVERAL,
    slices=("cardinality", "frequency", "category", "split"),
    units=(("object",),),
    noun="objects",
    published_results="viphy",
    statistics=statistics,
)
SIZE = Benchmark(
    name="viphy-size",
    summary="which of two objects is larger",
    paper="ViPhy",
    sources={"fresh": fresh_size, "published": published_size},
    measures=(*_MEASURES, "symmetry", "transitivity"),
    slices=("split", "frequency"),
    units=_UNITS,
    unit_nouns=_UNIT_NOUNS,
    noun="pairs",
    hold_out=_HOLD_OUT,
    published_results="viphy",
    statistics=statistics,
    laws=_ORDER,
)
SIZE_SUBTYPE = Benchmark(
    name="viphy-size-subtype",
    summary="which of two subtypes of objects is larger",
    paper="ViPhy",
    sources={"fresh": fresh_subtype, "published": published_subtype},
    measures=_MEASURES,
    slices=("frequency",),
    units=_UNITS,
    unit_nouns=_UNIT_NOUNS,
    noun="pairs",
    hold_out=_HOLD_OUT,
    published_results="viphy",
    statistics=subtype_statistics,
    laws=_ORDER,
)
SIZE_TRANSITIVE = Benchmark(
    name="viphy-size-transitive",
    summary="which of two objects is larger, where that follows from two other comparisons",
    paper="ViPhy",
    sources={"fresh": fresh_transitive, "published": published_transitive},
    measures=(*_MEASURES, "transitivity"),
    units=_UNITS,
    unit_nouns=_UNIT_NOUNS,
    noun="pairs",
    hold_out=_HOLD_OUT,
    published_results="viphy",
    statistics=statistics,
    laws=_ORDER,
)
SPATIAL = Benchmark(
    name="viphy-spatial",
    summary="which of two objects is higher up in a kind of room",
    paper="ViPhy",
    sources={"fresh": fresh_spatial, "published": published_spatial},
    measures=(*_SEVERAL, "converse"),
    slices=("scene", "cardinality", "frequency", "split"),
    units=_UNITS,
    unit_nouns=_UNIT_NOUNS,
    noun="pairs",
    hold_out=_HOLD_OUT,
    published_results="viphy",
    statistics=statistics,
    laws=_ELEVATION,
)
