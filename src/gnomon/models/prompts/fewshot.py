"""`--shots N` for any prompt: worked examples of the benchmark itself, or of a file of items.

They are put into the model's options, so that a run's identity and its manifest hold them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec

from gnomon import registry
from gnomon.errors import GnomonError, UsageError
from gnomon.items.source import ItemSource, load
from gnomon.models.prompts.library import load_prompt
from gnomon.models.prompts.shots import DrawnExamples, draw
from gnomon.options import takes
from gnomon.records import Item
from gnomon.registry import ModelSpec

SEED = 0
OTHER_SEED = 1_000_003  # added to the seed of a fresh source: its examples are not those asked
MOST = 20_000  # items that examples are drawn from
TO_LEARN_FROM = ("train", "dev", "val")  # splits, the first that there is


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
            f"--shots-from {shots_from} does not say how many examples to show.",
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
            "Leave out --shots-from, or ask a model that reads a prompt, such as smollm2.",
        )


def in_words(model: ModelSpec) -> str:
    """Where the worked examples of a model are from, in a sentence; empty if none were drawn."""
    kept = model.options.get("examples")
    if not kept:
        return ""
    drawn = msgspec.json.decode(kept, type=DrawnExamples)
    several = ""
    if len(drawn.sets) > 1:
        several = f", in {len(drawn.sets)} sets"
    shots = model.options["shots"]
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
