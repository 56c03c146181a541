"""What is visible in everyday scenes: colours, sizes and elevations of objects (the ViPhy paper).

Several labels may be right. `published` keeps the released sets with their flaws (every transitive
label is "smaller"; the sizes are no order); `fresh` asks the same of our own tables, balanced and
without contradictions; `own` asks what `gnomon look` found in the user's pictures. A row and a
prompt make an item.
"""

from __future__ import annotations

from collections.abc import Iterator

from gnomon.benchmarks.viphy import files, sizes
from gnomon.benchmarks.viphy.colour import fresh_color
from gnomon.benchmarks.viphy.elevation import fresh_spatial
from gnomon.benchmarks.viphy.files import read_coda
from gnomon.benchmarks.viphy.items import (
    chain_items,
    color_item,
    contrast_items,
    pair_item,
    prompt_of,
    with_levels,
)
from gnomon.benchmarks.viphy.knowledge import own_color, own_size, own_spatial
from gnomon.benchmarks.viphy.sizes import chains
from gnomon.benchmarks.viphy.tables import statistics, subtype_statistics
from gnomon.contracts import Benchmark, Laws, OrderLaw, RelationLaw
from gnomon.downloads.catalogue import locate
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


def fresh_size(
    *, seed: int = 0, pairs: int = 960, bands: str = "", prompt: str = "cloze"
) -> Iterator[Item]:
    """Comparisons of everyday things, as many close ones as distant ones, both ways round.

    seed    draws the pairs
    pairs   how many at most; each makes two items. -1 for the full set
    bands   how far apart, such as 1.5-3,3-10; else also 10-100 and 100+
    prompt  how to ask, as in Table 2: cloze, question or finetune
    """
    chosen = prompt_of("size", prompt, fresh=True)
    for contrast in sizes.size_pairs(seed, pairs, bands):
        yield from contrast_items("size", contrast, chosen)


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


def fresh_subtype(
    *, seed: int = 0, pairs: int = 480, bands: str = "", prompt: str = "cloze"
) -> Iterator[Item]:
    """A toy car, a plush lion and other things against everyday ones, both ways round.

    In half of the pairs the modifier turns round what holds for a car or a lion.

    seed    draws the pairs
    pairs   how many at most; each makes two items. -1 for the full set
    bands   how far apart, 3-10 or 10-100; else both
    prompt  how to ask, as in Table 2: cloze, question or finetune
    """
    chosen = prompt_of("size", prompt, fresh=True)
    for contrast, modifier in sizes.subtype_pairs(seed, pairs, bands):
        yield from contrast_items("subtype", contrast, chosen, {"modifier": modifier})


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


def fresh_transitive(*, seed: int = 0, pairs: int = 960, prompt: str = "cloze") -> Iterator[Item]:
    """What follows from two premises that are given: true, reversed, or of invented words.

    seed    draws the objects and the premises
    pairs   how many at most; each makes two items. -1 for the full set
    prompt  how to ask, as in Table 2: cloze, question or finetune
    """
    chosen = prompt_of("size", prompt, fresh=True)
    for chain in chains(seed, pairs):
        yield from chain_items(chain, chosen)


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


_MEASURES = ("relaxed_accuracy", "true_confidence", "macro_f1", "accuracy")
# where several labels may be right: the F1 of tables 4 and 5 is that of sets
_SEVERAL = ("relaxed_accuracy", "true_confidence", "typical_f1@code", "accuracy", "macro_f1")
_HOLD_OUT = (("type_a", "type_b"), ("obj_a", "obj_b"))
_UNITS = (("obj_a", "obj_b"),)
_UNIT_NOUNS = ("objects",)
_ORDER = Laws(
    order=OrderLaw(
        first="obj_a",
        second="obj_b",
        within=("premises", "via"),
        greater=("larger",),
        lesser=("smaller",),
    )
)
_ELEVATION = Laws(
    relations=RelationLaw(
        first="obj_a",
        second="obj_b",
        within=("scene",),
        converse=(
            ("above", "below"),
            ("higher up than", "lower down than"),
            ("higher up", "lower down"),
        ),
        symmetric=(
            "level with",
            "similar level",
            "at the same height as",
            "at the same height",
        ),
    )
)

_TAG_WORDS = {
    "cardinality": "number of right labels",
    "cardinality=1": "1 right label",
    "cardinality=2": "2 right labels",
    "cardinality=3": "3 right labels",
    "cardinality=4": "4 right labels",
    "cardinality=5": "5 right labels",
    "cardinality=6": "6 right labels",
    "cardinality=7": "7 right labels",
    "frequency": "pictures in which the object was seen",
    "category": "kind of object",
    "split": "part of the published set",
    "split=train": "training set",
    "split=val": "validation set",
    "split=test": "test set",
    "band": "times as large",
    "band=1.5-3": "1.5 to 3 times",
    "band=3-10": "3 to 10 times",
    "band=10-100": "10 to 100 times",
    "band=100+": "over 100 times",
    "modifier": "what the modifier does",
    "modifier=reverses": "turns the order round",
    "modifier=keeps": "keeps the order",
    "premises": "what the premises say",
    "premises=true": "what is true",
    "premises=reversed": "the reverse of what is true",
    "premises=invented": "something about invented words",
    "scene": "room",
    "relation": "right relation",
    "relation=<": "smaller or lower",
    "relation=>": "larger or higher",
    "relation==": "level with",
    "relation=>,<": "higher or lower",
    "relation==,<": "lower or level",
    "relation=>,=": "higher or level",
    "obj_a": "object named first",
    "obj_b": "object named second",
    "type_a": "kind of the first object",
    "type_b": "kind of the second object",
    "via": "object between the two",
}

COLOR = Benchmark(
    name="viphy-color",
    title="Typical colours of objects",
    skill="colours",
    tag_words=_TAG_WORDS,
    summary="typical colours of objects",
    paper="ViPhy",
    sources={
        "fresh": fresh_color,
        "published": published_color,
        "coda": coda_color,
        "own": own_color,
    },
    full={"each": 0},
    measures=_SEVERAL,
    slices=("cardinality", "frequency", "category", "split"),
    units=(("object",),),
    noun="objects",
    published_results="viphy",
    unlike_paper=("own",),
    statistics=statistics,
)
SIZE = Benchmark(
    name="viphy-size",
    title="Sizes of everyday objects",
    skill="sizes",
    tag_words=_TAG_WORDS,
    summary="which of two objects is larger",
    paper="ViPhy",
    sources={"fresh": fresh_size, "published": published_size, "own": own_size},
    full={"pairs": -1},
    measures=(*_MEASURES, "symmetry", "transitivity"),
    slices=("band", "split", "frequency"),
    units=_UNITS,
    unit_nouns=_UNIT_NOUNS,
    noun="pairs",
    hold_out=_HOLD_OUT,
    published_results="viphy",
    unlike_paper=("own",),
    statistics=statistics,
    laws=_ORDER,
)
SIZE_SUBTYPE = Benchmark(
    name="viphy-size-subtype",
    title="Sizes of toys, giants and other subtypes",
    skill="sizes of subtypes",
    tag_words=_TAG_WORDS,
    summary="which of two subtypes of objects is larger",
    paper="ViPhy",
    sources={"fresh": fresh_subtype, "published": published_subtype},
    full={"pairs": -1},
    measures=_MEASURES,
    slices=("band", "modifier", "frequency"),
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
    title="Sizes that follow from two comparisons",
    skill="transitive sizes",
    tag_words=_TAG_WORDS,
    summary="which of two objects is larger, where that follows from two other comparisons",
    paper="ViPhy",
    sources={"fresh": fresh_transitive, "published": published_transitive},
    full={"pairs": -1},
    measures=(*_MEASURES, "symmetry", "transitivity"),
    slices=("premises",),
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
    title="Higher and lower in a room",
    skill="heights in rooms",
    tag_words=_TAG_WORDS,
    summary="which of two objects is higher up in a kind of room",
    paper="ViPhy",
    sources={"fresh": fresh_spatial, "published": published_spatial, "own": own_spatial},
    full={"blocks": 0},
    measures=(*_SEVERAL, "converse"),
    slices=("scene", "cardinality", "frequency", "split"),
    units=_UNITS,
    unit_nouns=_UNIT_NOUNS,
    noun="pairs",
    # with the room, whose other items would show by their labels which are held out
    hold_out=(("type_a", "type_b", "scene"), ("obj_a", "obj_b")),
    published_results="viphy",
    unlike_paper=("own",),
    statistics=statistics,
    laws=_ELEVATION,
)
