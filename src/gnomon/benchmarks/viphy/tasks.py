"""What is visible in everyday scenes: colours, sizes and elevations of objects (the ViPhy paper).

Several labels may be right. `published` keeps the released sets with their flaws (every transitive
label is "smaller"; the sizes are no order); `fresh` asks the same of our own tables, balanced and
without contradictions; `own` asks what `gnomon look` found in the user's pictures. A row and a
prompt make an item.
"""

from collections.abc import Iterator

from gnomon.benchmarks.descriptions import described
from gnomon.benchmarks.scales import numbers
from gnomon.benchmarks.viphy import files, items, sizes
from gnomon.benchmarks.viphy.files import read_coda
from gnomon.benchmarks.viphy.fresh import fresh_color, fresh_spatial
from gnomon.benchmarks.viphy.knowledge import own_color, own_size, own_spatial
from gnomon.benchmarks.viphy.sizes import chains
from gnomon.benchmarks.viphy.tables import statistics, subtype_statistics
from gnomon.downloads.catalogue import locate
from gnomon.records import Item


def published_color(*, data: str = "", split: str = "", prompt: str = "cloze") -> Iterator[Item]:
    """13,250 objects with their typical colours, as released.

    data    the authors' repository, or a folder with colors.json; else what was fetched
    split   train, val, test, or train-20 to train-100 for few shots; else all
    prompt  how to ask, as in Table 2: cloze, question or finetune
    """
    folder, chosen = locate(data, "viphy"), items.prompt_of("color", prompt)
    known = files.read_object_tags(folder)
    for part, row in files.read_colours(folder, split):
        yield items.color_item(row, chosen, {"split": part, **known.get(row.object, {})})


def coda_color(*, data: str = "", prompt: str = "cloze") -> Iterator[Item]:
    """The objects of CoDa with the colours that people see, which the paper compares with.

    data    your copy of the released CoDa dataset, the folder with default_train.jsonl,
            or the authors' repository's folder with annotations.jsonl
    prompt  how to ask, as in Table 2: cloze, question or finetune
    """
    chosen = items.prompt_of("color", prompt)
    for row in read_coda(data):
        yield items.color_item(row, chosen, {})


def published_size(*, data: str = "", split: str = "", prompt: str = "cloze") -> Iterator[Item]:
    """43,096 ordered pairs of objects, one of which is in no split.

    data    the authors' repository, or a folder with size.csv; else what was fetched
    split   train, val, test, or train-20 to train-100 for few shots; else all
    prompt  how to ask, as in Table 2: cloze, question or finetune
    """
    chosen = items.prompt_of("size", prompt)
    for part, row in files.read_sizes(locate(data, "viphy"), split):
        yield items.pair_item("size", row, chosen, {"split": part})


def fresh_size(
    *, seed: int = 0, pairs: int = 960, bands: str = "", prompt: str = "cloze"
) -> Iterator[Item]:
    """Comparisons of everyday things, as many close ones as distant ones, both ways round.

    seed    draws the pairs
    pairs   how many at most; each makes two items. -1 for the full set
    bands   how far apart, such as 1.5-3,3-10; else also 10-100 and 100+
    prompt  how to ask, as in Table 2: cloze, question or finetune
    """
    chosen = items.prompt_of("size", prompt, fresh=True)
    for contrast in sizes.size_pairs(seed, pairs, bands):
        yield from items.contrast_items("size", contrast, chosen)


def published_subtype(*, data: str = "", seed: int = 0, prompt: str = "cloze") -> Iterator[Item]:
    """23,926 test pairs with each object replaced by a subtype.

    data    the authors' repository, or a folder with its files; else what was fetched
    seed    draws the subtypes where the released file is not there
    prompt  how to ask, as in Table 2: cloze, question or finetune
    """
    chosen = items.prompt_of("size", prompt)
    rows = files.read_subtype_sizes(locate(data, "viphy"), seed)
    for number, row in enumerate(rows):
        yield items.pair_item("subtype", row, chosen, {"split": "test"}, number)


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
    chosen = items.prompt_of("size", prompt, fresh=True)
    for contrast, modifier in sizes.subtype_pairs(seed, pairs, bands):
        yield from items.contrast_items("subtype", contrast, chosen, {"modifier": modifier})


def published_transitive(*, data: str = "", seed: int = 0, prompt: str = "cloze") -> Iterator[Item]:
    """20,000 pairs that follow by transitivity, all of them "smaller".

    data    the authors' repository, or a folder with its files; else what was fetched
    seed    draws the pairs where the released file is not there
    prompt  how to ask, as in Table 2: cloze, question or finetune
    """
    chosen = items.prompt_of("size", prompt)
    rows = files.read_transitive_sizes(locate(data, "viphy"), seed)
    for number, row in enumerate(rows):
        yield items.pair_item("transitive", row, chosen, {"split": "test"}, number)


def fresh_transitive(*, seed: int = 0, pairs: int = 960, prompt: str = "cloze") -> Iterator[Item]:
    """What follows from two premises that are given: true, reversed, or of invented words.

    seed    draws the objects and the premises
    pairs   how many at most; each makes two items. -1 for the full set
    prompt  how to ask, as in Table 2: cloze, question or finetune
    """
    chosen = items.prompt_of("size", prompt, fresh=True)
    for chain in chains(seed, pairs):
        yield from items.chain_items(chain, chosen)


def published_spatial(
    *, data: str = "", split: str = "", prompt: str = "cloze", levels: int = 3
) -> Iterator[Item]:
    """6,570 ordered pairs of objects, each in a kind of room.

    data    the authors' repository, or a folder with spatial.csv; else what was fetched
    split   train, val or test; else all
    prompt  how to ask, as in Table 2: cloze, question or finetune
    levels  2 drops the pairs that may be level, as the paper does zero-shot; else 3
    """
    chosen = items.with_levels(items.prompt_of("spatial", prompt), levels)
    for part, row in files.read_elevations(locate(data, "viphy"), split):
        if set(row.typical) <= set(chosen.labels):
            yield items.pair_item("spatial", row, chosen, {"split": part})


COLOR = described(
    "viphy",
    "viphy-color",
    sources={
        "fresh": fresh_color,
        "published": published_color,
        "coda": coda_color,
        "own": own_color,
    },
    statistics=statistics,
)


def size_numbers(*, seed: int = 0, unit: str = "cm", objects: int = 300) -> Iterator[Item]:
    """How long the longest side of everyday objects is, asked for in numbers.

    seed     draws the objects
    unit     in which the answer is asked for: cm, m, mm, in, ft
    objects  how many; -1 for all
    """
    return numbers(seed=seed, scale="size", unit=unit, objects=objects)


SIZE = described(
    "viphy",
    "viphy-size",
    sources={
        "fresh": fresh_size,
        "published": published_size,
        "own": own_size,
        "numbers": size_numbers,
    },
    statistics=statistics,
)
SIZE_SUBTYPE = described(
    "viphy",
    "viphy-size-subtype",
    sources={"fresh": fresh_subtype, "published": published_subtype},
    statistics=subtype_statistics,
)
SIZE_TRANSITIVE = described(
    "viphy",
    "viphy-size-transitive",
    sources={"fresh": fresh_transitive, "published": published_transitive},
    statistics=statistics,
)
SPATIAL = described(
    "viphy",
    "viphy-spatial",
    sources={"fresh": fresh_spatial, "published": published_spatial, "own": own_spatial},
    statistics=statistics,
)
