"""Worked examples drawn from a benchmark: never one that shares a unit with the item it precedes.

A few sets of examples are drawn that share nothing with one another. Each item is shown the first
set that it shares nothing with, so that no item is lost and few beginnings serve all items.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from random import Random
from typing import NamedTuple

import msgspec

from gnomon.errors import UsageError
from gnomon.records import Item

MOST_SETS = 12
DRAWN = 200  # candidates of each label that are weighed against one another
HoldOut = tuple[tuple[str, ...], ...]


class DrawnExamples(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Sets of worked examples, and what an item must not share with those it is shown."""

    sets: tuple[tuple[Item, ...], ...]
    hold_out: HoldOut = ()  # as `Benchmark.hold_out`
    source: str = ""  # where they are from, for people
    seed: int = 0

    def set_for(self, item: Item) -> int | None:
        """Which of the sets is shown before an item; none if it shares something with each."""
        mine = shared_units(item, self.hold_out)
        for number, examples in enumerate(self.sets):
            alike = [each for each in examples if each.form == item.form]
            if alike and not any(mine & shared_units(each, self.hold_out) for each in alike):
                return number
        return None

    def examples(self, form: str, number: int = 0) -> list[Item]:
        """The examples of a set that items of a form are preceded by."""
        return [each for each in self.sets[number] if each.form == form]


def shared_units(item: Item, hold_out: HoldOut) -> set[str]:
    """What an item must not share with its examples: its question, its group, what is held out.

    All alternatives of `hold_out` count, since an example out of a file may have other tags.
    """
    found = {f"question {item.context}\n{item.text}"}
    if item.group:
        found.add(f"group {item.group}")
    for tags in hold_out:
        values = [item.tags.get(tag, "") for tag in tags]
        if all(values):
            found |= {f"unit {value}" for value in values}
    return found


def draw(
    asked: Iterable[Item], pool: Iterable[Item], shots: int, hold_out: HoldOut = (), seed: int = 0
) -> DrawnExamples:
    """Sets of so many examples for each form, out of a pool, that serve all items.

    Right labels take turns, in an order drawn by the seed, so that they are balanced.
    """
    by_form: dict[str, list[_Candidate]] = {}
    for item in pool:
        if len(item.gold) == 1 and not item.images:
            candidate = _Candidate(item, frozenset(shared_units(item, hold_out)))
            by_form.setdefault(item.form, []).append(candidate)

    sets: list[list[Item]] = []
    for form, waiting in _units_by_form(asked, hold_out).items():
        if form not in by_form:
            raise UsageError(
                f"There are no worked examples of the form {form} to draw from: an example has one "
                "right label and no picture.",
                "Give a file that has some: --shots-from FILE.",
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
            "Ask for fewer with --shots, or give a larger file with --shots-from FILE.",
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
