"""Inferences about space, made from patterns: does the hypothesis follow (SpaceNLI paper)?

`fresh` draws from a bank of patterns of our own, or from a user's. `published` makes the authors'
samples from the authors' files, in their order and with their slips (docs/patterns.md lists them).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import msgspec

from gnomon.benchmarks.descriptions import described
from gnomon.contracts import Listing
from gnomon.downloads.catalogue import expected, locate
from gnomon.errors import DataError, UsageError
from gnomon.files import find, find_optional, package_data, read_json, read_yaml
from gnomon.records import Item, digest

if TYPE_CHECKING:
    from gnomon.language.patterns import Bank, Pattern
    from gnomon.language.population import Population
    from gnomon.language.sampling import ProblemSample

SAMPLES = ("dataset/160x200.json", "160x200.json")
CHOICES = ("entailment", "neutral", "contradiction")
PUBLISHED_SEED, PUBLISHED_COUNT = 42, 200
READINGS = 8  # of gnomon.proofs.meaning.stories
ALL, EXAMPLES = -1, 0  # values of per_group with a meaning of their own


def fresh(
    *, seed: int = 0, per_group: int = 2, patterns: str = "", world: str = ""
) -> Iterator[Item]:
    """Problems from our bank of patterns, or from patterns of your own.

    An item's id names its pattern and the number of its filling, so the same problem has the same
    id whatever the seed; with patterns or a world of your own also a digest of the problem, since
    such files change.

    seed       draws the words
    per_group  problems from each pattern; -1 for all, 0 for the examples only
    patterns   a file or folder of your own patterns (docs/patterns.md)
    world      a mini world of your own (docs/patterns.md)
    """
    from gnomon.language.patternfile import read_bank
    from gnomon.language.sampling import bank_samples

    _check_count(per_group)
    own = patterns or world
    if own:
        bank = read_bank(patterns or package_data("patterns/bank"), world=world or None)
    else:
        bank = _our_bank()
    tags = {}
    for pattern in bank.patterns:  # one that is in no family stands alone
        tags[pattern.id] = {"family": pattern.id, **pattern_tags(pattern)}
        if not own:
            tags[pattern.id]["proof"] = proof_tag(pattern.id)
    populations = None if own else _our_populations()
    for pattern, sample in bank_samples(bank, per_group, seed=seed, populations=populations):
        name = f"{pattern.id}-{sample.rank}"
        if own:
            sentences = (*sample.problem.premises, sample.problem.hypothesis)
            name += f"-{digest(*sentences, pattern.label, digits=8)}"
        yield _item(pattern, sample, name, tags[pattern.id])


@cache
def _our_bank() -> Bank:
    """The bank that ships, read once."""
    from gnomon.language.patternfile import read_bank

    return read_bank(package_data("patterns/bank"))


@cache
def _our_populations() -> dict[str, Population]:
    """The populations of its patterns, by id, as far as they were counted: 8 MB for all."""
    return {}


def published(
    *, data: str = "", per_group: int = PUBLISHED_COUNT, seed: int = PUBLISHED_SEED
) -> Iterator[Item]:
    """The authors' samples: read from 160x200.json, or made from their patterns and mini world.

    data       the authors' repository, or a folder with its files; else what was fetched
    per_group  problems from each pattern; -1 for all, 0 for the seed examples only. Other values
               than 200 always make new samples
    seed       as in the authors' generator. Other values than 42 always make new samples
    """
    _check_count(per_group)
    folder = locate(data, "spacenli")
    if (per_group, seed) == (PUBLISHED_COUNT, PUBLISHED_SEED):
        made = find_optional(folder, *SAMPLES)
        if made:
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


def published_samples(pattern: Pattern, count: int, seed: int) -> Iterator[ProblemSample]:
    """What the authors' generator draws from a pattern.

    It lists all problems, fillers sorted; seeds anew for each pattern; draws if there are more than
    wanted; and moves the seed examples that were drawn to the front, in the order of the pattern
    file.
    """
    from gnomon.language.patterns import derive
    from gnomon.language.sampling import Enumeration, decoded

    enumeration = Enumeration(pattern)
    examples: dict[int, None] = {}  # in the order of the pattern file, each once
    for example in pattern.examples:
        filling = derive(pattern, example)
        if filling is not None:
            examples[enumeration.rank(filling)] = None
    if count == EXAMPLES:
        return decoded(pattern, enumeration, list(examples))
    drawn: Sequence[int] = range(len(enumeration))
    if ALL < count < len(enumeration):
        drawn = Random(seed).sample(drawn, count)
    chosen = set(drawn)
    ranks = [rank for rank in examples if rank in chosen]
    ranks += [rank for rank in drawn if rank not in examples]
    return decoded(pattern, enumeration, ranks)


def pattern_tags(pattern: Pattern) -> dict[str, str]:
    """The tags that all items of a pattern share."""
    tags = {
        "class": pattern.kind,
        "expressions": ", ".join(pattern.expressions),
        "premises": str(len(pattern.premises)),
        "negation": "yes" if pattern.negated else "no",
    }
    if pattern.family:
        tags["family"] = pattern.family
    if pattern.hops:
        tags["hops"] = str(pattern.hops)
    return tags


class _Proofs(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The patterns of ours whose labels do not follow under all readings (scripts/proofs.py)."""

    digest: str
    not_expressible: dict[str, str]  # with the reason
    refuted_under: dict[str, tuple[str, ...]]  # with the readings


@cache
def _proofs() -> _Proofs:
    return msgspec.convert(read_yaml(package_data("patterns/proofs.yaml")), _Proofs)


def proof_tag(pattern: str) -> str:
    """Under which readings the label of a pattern of ours follows (docs/proofs.md).

    >>> proof_tag("np-26-a1")
    'some readings'
    """
    if pattern in _proofs().not_expressible:
        return "not expressible"
    refuted = _proofs().refuted_under.get(pattern, ())
    if not refuted:
        return "all readings"
    return "none" if len(refuted) == READINGS else "some readings"


def _item(pattern: Pattern, sample: ProblemSample, identifier: str, tags: dict[str, str]) -> Item:
    tags = dict(tags)
    for place, (slot, filler) in enumerate(zip(pattern.slots, sample.fillers, strict=True)):
        tags[f"slot:{slot.name}"] = pattern.phrase(place, filler)
    return Item(
        id=identifier,
        form="entailment",
        context=" ".join(sample.problem.premises),
        text=sample.problem.hypothesis,
        choices=CHOICES,
        gold=(pattern.label,),
        group=pattern.id,
        tags=tags,
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

    @property
    def pattern(self) -> str:
        """The pattern that the sample was made from."""
        return self.id.rpartition("-")[0]

    @property
    def negated(self) -> bool:
        """Whether a sentence has the word "not"."""
        return bool(re.search(r"\bnot\b", f"{self.premises} {self.hypothesis}"))


class _Samples(msgspec.Struct):
    data: list[_Row]


def _read_samples(file: Path) -> Iterator[Item]:
    hint = expected("spacenli", SAMPLES[0])
    rows = read_json(file, _Samples, hint=hint).data
    # A pattern counts as negated if any of its problems has the word.
    negated = {row.pattern for row in rows if row.negated}
    for row in rows:
        if row.label not in CHOICES or not row.pattern:
            problem = f"the sample '{row.id[:40]}' has no pattern or an unknown label."
            raise DataError(problem, hint, file=file)
        tags = {
            "class": row.ent_type,
            "expressions": row.exp,
            "premises": str(row.prem_num),
            "negation": "yes" if row.pattern in negated else "no",
        }
        for slot, text in row.subs.items():
            tags[f"slot:{slot}"] = text
        yield Item(
            id=row.id,
            form="entailment",
            context=row.premises,
            text=row.hypothesis,
            choices=CHOICES,
            gold=(row.label,),
            group=row.pattern,
            tags=tags,
        )


def statistics(items: Sequence[Item]) -> list[Listing]:
    """The paper's Tables 2 and 3, and the problems that several patterns share."""
    from gnomon.language.checking import Described, tables

    counts = Counter(item.group for item in items)
    first = {item.group: item for item in reversed(items)}
    described = []
    for group, item in first.items():
        expressions = item.tags.get("expressions", "").split(", ")
        pattern = Described(
            kind=item.tags.get("class", ""),
            label=item.gold[0],
            premises=int(item.tags["premises"]),
            expressions=tuple(filter(None, expressions)),
            negated=item.tags.get("negation") == "yes",
            problems=counts[group],
        )
        described.append(pattern)
    return [*tables(described), repeated(items)]


def repeated(items: Iterable[Item]) -> Listing:
    """Problems that occur more than once: the same sentences made by several patterns."""
    seen: dict[tuple[str, str], Item] = {}
    shared: Counter[tuple[str, str, str]] = Counter()
    for item in items:
        first = seen.setdefault((item.context, item.text), item)
        if first is not item:
            labels = "same" if first.gold == item.gold else "DIFFERENT"
            shared[first.group, item.group, labels] += 1
    order = sorted(shared.items(), key=lambda pair: (-pair[1], pair[0]))
    rows = tuple((*patterns, count) for patterns, count in order)
    return Listing("Problems made by two patterns", ("pattern", "also", "labels", "problems"), rows)


def _check_count(per_group: int) -> None:
    if per_group < ALL:
        raise UsageError(
            f"per_group={per_group} makes no sense.",
            "Give a number, -1 for all, or 0 for the examples only.",
        )


SPACENLI = described(
    "spacenli", "spacenli", sources={"fresh": fresh, "published": published}, statistics=statistics
)
