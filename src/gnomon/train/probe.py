"""The kind `probe`: a linear layer on the vectors of a frozen model, and its control beside it.

The vectors are computed once (features.py), both heads are trained on them in seconds
(probing/probes.py), and what they get right stands in training.json with intervals.
"""

from collections.abc import Mapping, Sequence
from inspect import signature
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from gnomon.contracts import Benchmark
from gnomon.errors import DataError, UsageError
from gnomon.items.source import named_source
from gnomon.keep import bytes_of
from gnomon.records import Item, digest
from gnomon.train import items as training
from gnomon.train.items import DEV, HoldOut, ItemData, ItemPool, Items, TrainingPart
from gnomon.train.recipes import Material, Recipe, Schedule, TrainingKind, TrainingOutcome, Watch

MEASURE = "relaxed_accuracy"  # ViPhy's R-Acc
FOLLOWED = ("epochs", "batch", "learning_rate", "decay", "best", "optimizer", "clip")


class ProbeSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The recipe's section `probe`."""

    reading: str = ""  # first, last, mean or pooled; else as fits the kind of model
    most_tokens: Annotated[int, Meta(ge=0)] = 0  # what is longer is cut; 0 for the model's own
    wording: str = ""  # what is read of an item, with {text} and {context}; else both
    several: Literal["draw", "share"] = "draw"  # where several labels are right
    drop_last: bool = True  # leave out what does not fill the last batch of an epoch
    control_by: str = ""  # a tag: the control gives each of its values one label (else each item)
    dtype: str = "float32"  # of the frozen model
    device: str = ""
    features: str | bool = True  # keep the vectors: on (2 GB), off, or a size such as 8GB


def read(recipe: Recipe) -> Material:
    """The items of all parts, after a check of what the recipe says."""
    _check_schedule(recipe.schedule)
    bytes_of(str(recipe.settings.features))
    wording = recipe.settings.wording
    if wording and wording.count("{text}") != 1:
        raise UsageError(
            f"The wording '{wording}' must hold {{text}} exactly once.",
            'For example: --set probe.wording="the {text}"',
        )
    material = read_probe_items(recipe.data, recipe.seeds.data)
    if not material.content.items.parts.get(DEV):
        raise UsageError(
            "A probe chooses its best epoch on a development part, but there is none.",
            "Write data.parts.dev in the recipe, for instance by: group.",
        )
    check_labels(material.content.items)
    if recipe.settings.control_by:
        for members in material.content.items.every().values():
            for item in members:
                type_of(item, recipe.settings.control_by)
    return material


def train(recipe: Recipe, material: Material, folder: Path, watch: Watch | None) -> TrainingOutcome:
    """Compute the vectors, train both heads, and write the folder."""
    from gnomon.train.probetraining import train_probe

    return train_probe(recipe, material, folder, watch)


def in_words(outcome: TrainingOutcome) -> str:
    """The results for the card."""
    from gnomon.train.probetraining import results_in_words

    return results_in_words(outcome)


def _check_schedule(schedule: Schedule) -> None:
    """Refuse a setting of the schedule that a probe would not follow."""
    if schedule.best != MEASURE:
        raise UsageError(
            f"A probe chooses its best epoch by {MEASURE}, not by {schedule.best}.",
            f"Write best: {MEASURE} in the recipe's schedule.",
        )
    if schedule.optimizer != "adam" or schedule.clip or not schedule.epochs:
        raise UsageError(
            "A probe is trained for some epochs by plain Adam, without clipping.",
            "Write optimizer: adam, clip: 0 and epochs: 50 in the recipe's schedule.",
        )
    usual = Schedule()
    for name in Schedule.__struct_fields__:
        if name not in FOLLOWED and getattr(schedule, name) != getattr(usual, name):
            raise UsageError(
                f"A probe does not follow the schedule's {name}.",
                f"Leave it out. A probe follows {', '.join(FOLLOWED[:4])}.",
            )


SHORTHAND = {"benchmark": "data.benchmark", "options": "data.options"}


# The items of a probe: a benchmark's own splits, or objects that train and test do not share.


TEST = "test"
SPLIT = "split"  # the option by which a source gives one of its parts


class ProbeData(ItemData, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The recipe's `data`: as for any training on items, or a benchmark by its name.

    A benchmark whose source has splits is taken as it is divided; else a part of its groups is
    carved out to choose the best epoch (dev), and another to test it.
    """

    train: ItemPool = ItemPool()
    benchmark: str = ""  # NAME@SOURCE, of which all parts are
    options: dict[str, Any] = msgspec.field(default_factory=dict)  # of its source
    train_split: str = "train"
    dev_split: str = "val"
    test_split: str = "test"  # none if empty
    # what train and the other parts have in common, where it is known and wanted so
    may_share: tuple[str, ...] = ()
    # a share of the objects (what hold_out names, else groups): train has none of them, and the
    # other parts nothing else; parts that are read from one place have none in common
    apart: Annotated[float, Meta(ge=0, lt=1)] = 0.0


class ProbeItems(NamedTuple):
    """Items by part, and the benchmark that they are of, where it is known."""

    items: Items
    benchmark: Benchmark | None


def read_probe_items(data: ProbeData, seed: int) -> Material:
    """The items of all parts, checked; data.json says what each shares with train."""
    benchmark = None
    if data.benchmark:
        benchmark = named_source(data.benchmark)[0]
        data = by_splits(data)
    elif data.train.source:
        benchmark = named_source(data.train.source)[0]
    hold_out = training.hold_out_of(data, benchmark)
    if data.apart:
        items = _held_apart(data, hold_out, seed)
    else:
        items = training.read_material(data, seed).content
    digests = {}
    for name, members in items.every().items():
        digests[name] = training.described(members)
        if name != "train":
            digests[name]["shared_with_train"] = shared_counts(items.train, members, hold_out)
    return Material(ProbeItems(items, benchmark), digests)


def by_splits(data: ProbeData) -> ProbeData:
    """The same data with every part spelt out."""
    if data.train.source or data.train.file:
        raise UsageError(
            "A recipe names a benchmark for all parts, or a source for train, not both.",
            "Leave out benchmark, or train's source and file.",
        )
    found, source = named_source(data.benchmark)
    if SPLIT not in signature(found.sources[source]).parameters:
        train = replace(data.train, source=data.benchmark, options=data.options)
        return replace(data, train=train, parts=data.parts or _without_splits(data))

    def options_of(split: str) -> dict[str, Any]:
        return {**data.options, SPLIT: split}

    train = replace(data.train, source=data.benchmark, options=options_of(data.train_split))
    parts = dict(data.parts)
    for name, split in ((DEV, data.dev_split), (TEST, data.test_split)):
        if split and name not in parts:
            parts[name] = TrainingPart(
                source=data.benchmark, options=options_of(split), may_share=data.may_share
            )
    return replace(data, train=train, parts=parts)


def _without_splits(data: ProbeData) -> dict[str, TrainingPart]:
    """The parts of a source that has no splits."""
    if data.apart:  # what is held out of train
        part = TrainingPart(source=data.benchmark, options=data.options)
        return {DEV: part, TEST: part}
    dev = TrainingPart(by="group", share=0.2, may_share=data.may_share)
    return {DEV: dev, TEST: replace(dev, share=0.25)}  # of what dev leaves: as many as dev


def shared_counts(train: Sequence[Item], part: Sequence[Item], hold_out: HoldOut) -> dict[str, int]:
    """How many items of a part have their group, or an object, among those of train."""
    groups = {item.group for item in train if item.group}
    found = {"with a group of train": sum(item.group in groups for item in part)}
    tags = training.object_tags([*train, *part], hold_out)
    if tags:
        known = set().union(*(_units(item, tags) for item in train))
        shares = [sum(item.tags[tag] in known for tag in tags) for item in part]
        found["with an object of train"] = sum(count > 0 for count in shares)
        found["with no object of train"] = sum(count == 0 for count in shares)
    return found


def _held_apart(data: ProbeData, hold_out: HoldOut, seed: int) -> Items:
    """Items whose objects are all held out, or none of them; the others are left out."""
    if any(part.by for part in data.parts.values()):
        raise UsageError(
            "Objects are held out of parts that have a source or a file each.",
            "Give data.benchmark, and no part with by.",
        )
    pool, _ = training.read_place(data.train)
    parts = {name: training.read_place(part)[0] for name, part in data.parts.items()}
    every = [*pool, *chain.from_iterable(parts.values())]
    tags = training.object_tags(every, hold_out)
    if data.hold_out and not tags:
        raise UsageError(
            f"Not every item has all tags of hold_out: {', '.join(data.hold_out)}.",
            f"Choose among: {', '.join(sorted(every[0].tags)) if every else 'none'}.",
        )
    units = set().union(*(_units(item, tags) for item in every))
    ranked = sorted(units, key=lambda unit: digest(str(seed), "hold out", unit, digits=32))
    held = ranked[: max(1, round(len(ranked) * data.apart))]

    train = [item for item in pool if _units(item, tags).isdisjoint(held)]
    kept = {}
    for name, own in _dealt_out(held, data.parts).items():
        found = [item for item in parts[name] if own.issuperset(_units(item, tags))]
        if not found or not train:
            raise DataError(
                f"no item of {name if train else 'train'} is left when objects are held out.",
                "Hold out another share of them: data.apart.",
            )
        part = data.parts[name]
        kept[name] = training.limited(found, part.limit, seed)
        training.check_apart(train, kept[name], name, frozenset(part.may_share), hold_out)
    return Items(train=training.drawn(train, data.train, seed), parts=kept)


def _dealt_out(held: Sequence[str], parts: Mapping[str, TrainingPart]) -> dict[str, set[str]]:
    """The objects that each part may have: parts that are read from one place have none in common.

    Splits of their own are divided already, and each may have all that is held out.
    """
    places: dict[tuple[str, str, bytes], list[str]] = {}
    for name, part in parts.items():
        options = msgspec.json.encode(part.options, order="sorted")
        places.setdefault((part.source, part.file, options), []).append(name)
    found = {}
    for names in places.values():
        for number, name in enumerate(names):
            found[name] = set(held[number :: len(names)])
    return found


def _units(item: Item, tags: Sequence[str]) -> set[str]:
    return {item.tags[tag] for tag in tags} if tags else {item.group or item.id}


def labels_of(items: Sequence[Item]) -> tuple[str, ...]:
    """All choices of the items, in the order in which they come."""
    return tuple(dict.fromkeys(chain.from_iterable(item.choices for item in items)))


def type_of(item: Item, tag: str) -> str:
    """The type of an item for a control, by the value of a tag."""
    found = item.tags.get(tag)
    if not found:
        raise UsageError(
            f"The control is drawn by the tag '{tag}', which the item '{item.id}' lacks.",
            f"Choose one of: {', '.join(sorted(item.tags))}.",
        )
    return found


def check_labels(items: Items) -> None:
    """Refuse a choice that only items outside train have: no head would have a row for it."""
    labels = labels_of(items.train)
    for part, members in items.parts.items():
        for item in members:
            strange = set(item.choices) - set(labels)
            if strange:
                raise UsageError(
                    f"The item '{item.id}' of {part} has the choice '{min(strange)}', which no "
                    "item of train has.",
                    "Give all parts the same options (such as prompt).",
                )


KIND = TrainingKind(
    summary="a linear probe on a frozen model",
    data=ProbeData,
    settings=ProbeSettings,
    read=read,
    open_learner=None,
    train=train,
    shorthand=SHORTHAND,
    scheme="probe",
    results=in_words,
)
