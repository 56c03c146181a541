"""Worked examples drawn from a benchmark or a file of items: `--shots N` for any prompt.

A few sets of examples are drawn that share nothing with one another. Each item is shown the first
set that it shares nothing with, so that no item is lost and few beginnings serve all items. They
are put into the model's options, so that a run's identity and its manifest hold them.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from random import Random
from typing import NamedTuple

import msgspec

from gnomon import registry
from gnomon.errors import GnomonError, UsageError
from gnomon.items.source import ItemSource, load
from gnomon.models.prompts.library import load_prompt
from gnomon.models.prompts.prompt import DrawnExamples, HoldOut, drawn_examples, shared_units
from gnomon.options import takes
from gnomon.records import WRITTEN, Item
from gnomon.registry import ModelSpec

SEED = 0
OTHER_SEED = 1_000_003  # added to the seed of a fresh source: its examples are not those asked
MOST = 20_000  # items that examples are drawn from
TO_LEARN_FROM = ("train", "dev", "val")  # splits, the first that there is
MOST_SETS = 12
DRAWN = 200  # candidates of each label that are weighed against one another


class _Pool(NamedTuple):
    """Where examples are drawn from, in words and as a source."""

    name: str
    source: ItemSource


def with_examples(source: ItemSource, model: ModelSpec, shots_from: str | Path = "") -> ModelSpec:
    """The model with the worked examples that its option `shots` asks for.

    A prompt that has enough examples of its own keeps them, unless a file is given.

    >>> from gnomon.registry import model
    >>> drawn = with_examples(load("scales"), model("smollm2", shots=2))
    >>> sorted(drawn.options), with_examples(load("scales"), model("smollm2")).options
    (['examples', 'shots'], {})
    """
    shots: int = model.options.get("shots") or 0
    if "examples" in model.options or not (shots or shots_from) or not _takes_examples(model):
        return model
    if shots_from and not shots:
        raise UsageError(
            f"shots_from={shots_from} does not say how many examples to show.",
            "Add --shots N.",
        )
    if shots < 0:
        raise UsageError(f"--shots must be 0 or more, not {shots}.", "0 shows no examples.")
    if not shots_from and shots <= _own_examples(model):
        return model

    whole = replace(source, limit=None, permute=None, shard=None)
    _check_no_pictures(whole)
    pool = _pool(whole, shots_from)
    drawn = draw(
        whole.without_pictures(),
        islice(pool.source.without_pictures(), MOST),
        shots,
        whole.benchmark.hold_out,
        SEED,
    )
    kept = msgspec.json.encode(msgspec.structs.replace(drawn, source=pool.name))
    options = {**model.options, "examples": kept.decode()}
    return registry.model(model.spec, **options)._replace(name=model.name)


def check_some_take_examples(models: Iterable[ModelSpec], shots_from: str | Path) -> None:
    """Refuse a file of worked examples if none of the models would be shown any."""
    if shots_from and not any(map(_takes_examples, models)):
        raise UsageError(
            f"None of the models takes worked examples, which {shots_from} holds.",
            "Leave out shots_from, or ask a model that reads a prompt, such as smollm2.",
        )


def in_words(model: ModelSpec) -> str:
    """Where the worked examples of a model are from, in a sentence; empty if none were drawn."""
    kept = model.options.get("examples")
    if not kept:
        return ""
    drawn = drawn_examples(kept)
    several = ""
    if len(drawn.sets) > 1:
        several = f", in {len(drawn.sets)} sets"
    shots = model.options.get("shots", 0)
    examples = "1 worked example" if shots == 1 else f"{shots} worked examples"
    return (
        f"{examples} from {drawn.source}{several}; each item is "
        "shown some that it shares no group and no held-out unit with, and none is left out."
    )


def _takes_examples(model: ModelSpec) -> bool:
    return takes(registry.model_factory(model.spec), "examples")


def _own_examples(model: ModelSpec) -> int:
    """How many examples the prompt that the user names has; a default prompt has none."""
    name = model.options.get("prompt", "")
    return load_prompt(name).own_examples if name else 0


def _check_no_pictures(source: ItemSource) -> None:
    if source.makes_pictures or _shows_pictures(source):
        raise UsageError(
            f"The items of {source.name} have pictures, which worked examples cannot show.",
            "Leave out --shots, or write a prompt file with examples in words.",
        )


def _shows_pictures(source: ItemSource) -> bool:
    first: Item | None = next(source.without_pictures(), None)
    return first is not None and bool(first.images)


def _pool(source: ItemSource, shots_from: str | Path) -> _Pool:
    if shots_from:
        return _Pool(Path(shots_from).name, load(str(shots_from)))
    if "seed" in source.options and source.source == "fresh":
        seed = source.options["seed"] + OTHER_SEED
        other = replace(source, options={**source.options, "seed": seed})
        return _Pool(f"{source.name}, seed {seed}", other)
    for pool in _other_splits(source):
        return pool
    return _Pool(f"{source.name}, other items", source)


def _other_splits(source: ItemSource) -> Iterator[_Pool]:
    """The splits to learn from, where the source has one and another was asked for."""
    asked = source.options.get("split")
    if not asked or asked.startswith(TO_LEARN_FROM):
        return
    for split in TO_LEARN_FROM:
        other = replace(source, options={**source.options, "split": split})
        try:
            if next(other.without_pictures(), None) is not None:
                yield _Pool(f"{source.name}, split {split}", other)
        except GnomonError:  # the benchmark has no split of that name
            continue


def draw(
    asked: Iterable[Item], pool: Iterable[Item], shots: int, hold_out: HoldOut = (), seed: int = 0
) -> DrawnExamples:
    """Sets of so many examples for each form, out of a pool, that serve all items.

    Right labels take turns, in an order drawn by the seed, so that they are balanced.
    """
    by_form: dict[str, list[_Candidate]] = {}
    for item in pool:
        plain = len(item.gold) == 1 or (item.form in WRITTEN and bool(item.gold))
        if plain and not item.images:
            candidate = _Candidate(item, frozenset(shared_units(item, hold_out)))
            by_form.setdefault(item.form, []).append(candidate)

    sets: list[list[Item]] = []
    for form, waiting in _units_by_form(asked, hold_out).items():
        if form not in by_form:
            raise UsageError(
                f"There are no worked examples of the form {form} to draw from: an example has one "
                "right label and no picture.",
                "Give a file that has some: --set shots_from=FILE.",
            )
        found = _sets(waiting, by_form[form], shots, Random(f"{seed} {form}"))
        sets += [[] for _ in range(len(found) - len(sets))]
        for examples, more in zip(sets, found, strict=False):
            examples += more
    return DrawnExamples(sets=tuple(map(tuple, sets)), hold_out=hold_out, seed=seed)


def _units_by_form(items: Iterable[Item], hold_out: HoldOut) -> dict[str, list[frozenset[str]]]:
    """The units of the items of each form; items that share all of theirs count once."""
    found: dict[str, dict[frozenset[str], None]] = {}
    for item in items:
        units = frozenset(shared_units(item, hold_out))
        found.setdefault(item.form, {})[units] = None
    return {form: list(units) for form, units in found.items()}


class _Candidate(NamedTuple):
    """An item that may be an example, and its units."""

    item: Item
    units: frozenset[str]


def _sets(
    waiting: list[frozenset[str]], candidates: Sequence[_Candidate], shots: int, chance: Random
) -> list[list[Item]]:
    """Sets of examples of one form: one more while there are items that share with each.

    Each new set serves the first of these items, and as many others as can be.
    """
    total = len(waiting)
    sets: list[list[Item]] = []
    while waiting and len(sets) < MOST_SETS:
        forbidden = waiting[0] if sets else frozenset()
        examples = _balanced(candidates, shots, forbidden, Counter(chain(*waiting)), chance)
        if len(examples) < shots:
            break
        sets.append([each.item for each in examples])
        shown = frozenset(chain(*(each.units for each in examples)))
        waiting = [units for units in waiting if units & shown]

    if waiting:
        raise UsageError(
            f"No {shots} worked examples can be drawn that share nothing with the items: for "
            f"{len(waiting):,} of {total:,} questions there are none.",
            "Ask for fewer with --shots, or give a larger file with --set shots_from=FILE.",
        )
    return sets


def _balanced(
    candidates: Sequence[_Candidate],
    shots: int,
    forbidden: frozenset[str],
    wanted: Mapping[str, int],
    chance: Random,
) -> list[_Candidate]:
    """So many candidates without what is forbidden, their right labels in turn.

    Among some that are drawn, those whose units few of the waiting items have come first.
    """
    by_label: dict[str, list[_Candidate]] = {}
    for candidate in candidates:
        if not candidate.units & forbidden:
            by_label.setdefault(candidate.item.gold[0], []).append(candidate)

    drawn = {}
    for label, found in sorted(by_label.items()):
        drawn[label] = chance.sample(found, min(DRAWN, len(found)))
    labels = list(drawn)
    chance.shuffle(labels)

    chosen: list[_Candidate] = []
    units: frozenset[str] = frozenset()
    while len(chosen) < shots and any(drawn.values()):
        label = labels[len(chosen) % len(labels)]
        if not drawn[label]:
            labels.remove(label)
            continue
        example = min(drawn[label], key=partial(_cost, units, wanted))
        chosen.append(example)
        units |= example.units
        drawn[label] = [each for each in drawn[label] if _is_other(each, example)]
    chance.shuffle(chosen)
    return chosen


def _cost(units: frozenset[str], wanted: Mapping[str, int], candidate: _Candidate) -> int:
    """How many waiting items share the units that a candidate adds to some."""
    return sum(wanted.get(unit, 0) for unit in candidate.units - units)


def _is_other(candidate: _Candidate, example: _Candidate) -> bool:
    return candidate.item.text != example.item.text
