"""Inferences about space, made from patterns: does the hypothesis follow from the premises
(SpaceNLI paper)?

`fresh` draws from a bank of patterns of our own, or from a user's. `published` makes the authors'
samples from the authors' files, in their order and with their slips (docs/patterns.md lists them).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import msgspec

from gnomon.contracts import Benchmark, Listing
from gnomon.errors import DataError, UsageError
from gnomon.fetching.catalogue import locate
from gnomon.files import find, package_data, read_json
from gnomon.records import Item, digest

if TYPE_CHECKING:
    from gnomon.language.patterns import Bank, Pattern
    from gnomon.language.sampling import Sample

CHOICES = ("entailment", "neutral", "contradiction")
PUBLISHED_SEED, PUBLISHED_COUNT = 42, 200
ALL, EXAMPLES = -1, 0  # values of per_group with a meaning of their own


def fresh(
    *, seed: int = 0, per_group: int = 20, patterns: str = "", world: str = ""
) -> Iterator[Item]:
    """Problems from our bank of patterns; PER_GROUP from each (-1: all, 0: the examples only).

    PATTERNS is a file or folder of your own patterns, WORLD a mini world of your own
    (docs/patterns.md). An item's id names its pattern and the number of its filling, so the same
    problem has the same id whatever the seed; with patterns or a world of your own also a digest of
    the problem, since such files change.
    """
    from gnomon.language.patternfile import read_bank
    from gnomon.language.sampling import bank_samples

    _check_count(per_group)
    bank = read_bank(patterns or package_data("spacenli/patterns"), world=world or None)
    tags = {pattern.id: pattern_tags(pattern) for pattern in bank.patterns}
    for pattern, sample in bank_samples(bank, per_group, seed=seed):
        name = f"{pattern.id}-{sample.rank}"
        if patterns or world:
            name += f"-{digest(*sample.problem.premises, sample.problem.hypothesis, pattern.label, digits=8)}"
        yield _item(pattern, sample, name, tags[pattern.id])


def published(
    *, data: str = "", per_group: int = PUBLISHED_COUNT, seed: int = PUBLISHED_SEED
) -> Iterator[Item]:
    """The authors' samples: read from 160x200.json where it is there, else made from their patterns
    and mini world.

    DATA is their repository or a folder with the files. PER_GROUP and SEED are as in their
    generator (-1: all problems, 0: the seed examples only); values other than 200 and 42 always
    make new samples.
    """
    _check_count(per_group)
    folder = locate(data, "spacenli")
    if (per_group, seed) == (PUBLISHED_COUNT, PUBLISHED_SEED) and (
        made := _made_file(folder)
    ) is not None:
        yield from _read_samples(made)
        return
    for pattern in published_bank(folder).patterns:
        tags = pattern_tags(pattern)
        for i, sample in enumerate(published_samples(pattern, per_group, seed)):
            yield _item(pattern, sample, f"{pattern.id}-{i}", tags)


def published_bank(folder: str | Path) -> Bank:
    """The authors' patterns over their mini world."""
    from gnomon.language.problems import read_problems
    from gnomon.language.restrictions import read_signature

    world = find(
        folder,
        "config/selection_restriction.yaml",
        "selection_restriction.yaml",
        what="the mini world",
    )
    problems = find(
        folder, "dataset/problem_patterns.xml", "problem_patterns.xml", what="the file of patterns"
    )
    return read_problems(problems, read_signature(world))


def published_samples(pattern: Pattern, count: int, seed: int) -> Iterator[Sample]:
    """What the authors' generator draws from a pattern.

    It lists all problems, fillers sorted; seeds anew for each pattern; draws if there are more than
    wanted; and moves the seed examples that were drawn to the front, in the order of the pattern
    file.
    """
    from gnomon.language.enumeration import Enumeration
    from gnomon.language.examples import derive
    from gnomon.language.sampling import decoded

    enumeration = Enumeration(pattern)
    fillings = [
        filling for example in pattern.examples if (filling := derive(pattern, example)) is not None
    ]
    examples = list(dict.fromkeys(enumeration.rank(filling) for filling in fillings))
    if count == EXAMPLES:
        return decoded(pattern, enumeration, examples)
    everything: Sequence[int] = range(len(enumeration))
    drawn = Random(seed).sample(everything, count) if ALL < count < len(enumeration) else everything
    chosen = set(drawn).intersection(examples)
    ranks = [rank for rank in examples if rank in chosen] + [
        rank for rank in drawn if rank not in chosen
    ]
    return decoded(pattern, enumeration, ranks)


def pattern_tags(pattern: Pattern) -> dict[str, str]:
    """The tags that all items of a pattern share."""
    tags = {
        "class": pattern.kind,
        "expressions": ", ".join(pattern.expressions),
        "premises": str(len(pattern.premises)),
        "negation": "yes" if pattern.negated else "no",
    }
    return tags | ({"family": pattern.family} if pattern.family else {})


def _item(pattern: Pattern, sample: Sample, identifier: str, tags: dict[str, str]) -> Item:
    fillers = {
        f"slot:{slot.name}": pattern.phrase(place, filler)
        for place, (slot, filler) in enumerate(zip(pattern.slots, sample.fillers, strict=True))
    }
    return Item(
        id=identifier,
        form="entailment",
        context=" ".join(sample.problem.premises),
        text=sample.problem.hypothesis,
        choices=CHOICES,
        gold=(pattern.label,),
        group=pattern.id,
        tags=tags | fillers,
    )


class _Row(msgspec.Struct):
    """A sample in the authors' 160x200.json."""

    id: str
    label: str
    prem_num: int
    premises: str
    hypothesis: str
    subs: dict[str, str]
    ent_type: str = ""
    exp: str = ""


class _Samples(msgspec.Struct):
    data: list[_Row]


def _made_file(folder: Path) -> Path | None:
    try:
        return find(folder, "dataset/160x200.json", "160x200.json")
    except DataError:
        return None


def _read_samples(file: Path) -> Iterator[Item]:
    import re

    rows = read_json(file, _Samples).data
    groups = [row.id.rpartition("-")[0] for row in rows]
    negated = {
        group
        for group, row in zip(groups, rows, strict=True)
        if re.search(r"\bnot\b", f"{row.premises} {row.hypothesis}")
    }
    for group, row in zip(groups, rows, strict=True):
        if row.label not in CHOICES or not group:
            raise DataError(
                f"the sample '{row.id[:40]}' has no pattern or an unknown label.",
                "Is this the right file?",
                file=file,
            )
        tags = {
            "class": row.ent_type,
            "expressions": row.exp,
            "premises": str(row.prem_num),
            "negation": "yes" if group in negated else "no",
        }
        yield Item(
            id=row.id,
            form="entailment",
            context=row.premises,
            text=row.hypothesis,
            choices=CHOICES,
            gold=(row.label,),
            group=group,
            tags=tags | {f"slot:{slot}": text for slot, text in row.subs.items()},
        )


def statistics(items: Sequence[Item]) -> list[Listing]:
    """The paper's Tables 2 and 3, and the problems that several patterns share."""
    from gnomon.language.tables import Described, tables

    counts = Counter(item.group for item in items)
    first = {item.group: item for item in reversed(items)}
    described = [
        Described(
            kind=item.tags.get("class", ""),
            label=item.gold[0],
            premises=int(item.tags["premises"]),
            expressions=tuple(filter(None, item.tags.get("expressions", "").split(", "))),
            negated=item.tags.get("negation") == "yes",
            problems=counts[group],
        )
        for group, item in first.items()
    ]
    return [*tables(described), repeated(items)]


def repeated(items: Iterable[Item]) -> Listing:
    """Problems that occur more than once: the same premises and hypothesis made by several
    patterns."""
    seen: dict[tuple[str, str], Item] = {}
    shared: Counter[tuple[str, str, str]] = Counter()
    for item in items:
        first = seen.setdefault((item.context, item.text), item)
        if first is not item:
            shared[first.group, item.group, "same" if first.gold == item.gold else "DIFFERENT"] += 1
    rows = tuple(
        (*patterns, count)
        for patterns, count in sorted(shared.items(), key=lambda pair: (-pair[1], pair[0]))
    )
    return Listing("Problems made by two patterns", ("pattern", "also", "labels", "problems"), rows)


def _check_count(per_group: int) -> None:
    if per_group < ALL:
        raise UsageError(
            f"--per-group {per_group} makes no sense.",
            "Give a number, -1 for all, or 0 for the examples only.",
        )


SPACENLI = Benchmark(
    name="spacenli",
    summary="does a sentence about space follow from others",
    paper="SpaceNLI",
    sources={"fresh": fresh, "published": published},
    measures=(
        "accuracy",
        "pattern_accuracy@0.9",
        "pattern_accuracy@1.0",
        "pattern_accuracy_auc",
        "group_agreement",
    ),
    slices=("class", "premises", "negation"),
    noun="patterns",
    hold_out=(("family",),),
    published_results="spacenli",
    statistics=statistics,
)
