"""Plan a run: which difference a benchmark can show, how many items it takes, and how long.

examples:
  gnomon power scales
  gnomon power spacenli --difference 2 --accuracy 0.9
  gnomon power spatialqa -m smollm2
  gnomon power scales --until 2 --accuracy 0.95
  gnomon power viphy-size --format json
  gnomon power results/MODEL/samples_TASK.jsonl

Two models of about the given accuracy are assumed, who differ from unit to unit (an object, a
family) by half a logit and whose answers to one item correlate by 0.5. "Detectable" is the smallest
true difference that a comparison finds four times in five at the 5 % level. More items of the same
units help only so far; docs/measures.md says how this is computed. With -m a dozen items are asked
and timed: the time of a run is an estimate from these.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gnomon.cli.selection import (
    check_no_model_options,
    chosen_models,
    chosen_sources,
)
from gnomon.contracts import Benchmark, Listing
from gnomon.errors import GnomonError, UsageError, inert
from gnomon.items.source import ItemSource
from gnomon.runs.pace import duration
from gnomon.tabular import as_json, render

if TYPE_CHECKING:
    from gnomon.measures.power import PlannedSet
    from gnomon.measures.stopping import ExpectedItems
    from gnomon.runs.estimates import Timing

POWER, LEVEL = 0.8, 0.95


class PowerRow(NamedTuple):
    """A set of items: the default, the full, or as the options choose it."""

    name: str
    source: ItemSource
    found: PlannedSet
    until: ExpectedItems


def main(args: Namespace) -> int:
    """Plan, time and print."""

    if not 0 < args.difference < 100:
        raise UsageError(
            f"The difference must lie between 0 and 100 points, not {args.difference:g}.",
            "For example: --difference 3",
        )
    source = _source(args).limited(args.limit)
    rows = list(_rows(args, source))
    timing = _timing(args, source)
    if args.format == "json":
        _print_json(args, rows, timing)
        return 0
    print(render(_listing(args, rows, timing), args.format))
    if args.format == "table":
        for sentence in _sentences(args, rows, timing):
            print(inert(sentence))
    return 0


def _source(args: Namespace) -> ItemSource:
    """The items to plan for; a log that says only what was right has items of its own."""
    try:
        return chosen_sources(args, [args.benchmark])[0]
    except GnomonError as refusal:
        file = Path(args.benchmark)
        if not file.is_file():
            raise
        from gnomon.items.answers.logs import runs_of_log

        try:
            run = runs_of_log(file)[0]
        except GnomonError:
            raise refusal from None
    sources = {file.name: run.items}
    asked = Benchmark(name="items", summary=f"the items of {file.name}", sources=sources)
    return ItemSource(asked, file.name)


def _rows(args: Namespace, source: ItemSource) -> Iterator[PowerRow]:
    """The set that the options choose and, if that is the default, the full one."""
    from gnomon.measures.power import plan_set
    from gnomon.measures.stopping import Goal, expected_items

    sets = {"full" if args.all else "default": source}
    if args.limit:
        sets = {f"limit {args.limit}": source}
    elif source.has_more:
        sets["full"] = source.whole()
    for name, each in sets.items():
        items = list(each.without_pictures())
        if not items:
            raise UsageError(f"{each.name} has no items with these options.", "Choose others.")
        found = plan_set(
            items, each.benchmark, difference=args.difference / 100, accuracy=args.accuracy
        )
        until = expected_items(items, each.benchmark, Goal.of(args.until), args.accuracy)
        yield PowerRow(name, each, found, until)


def _timing(args: Namespace, source: ItemSource) -> Timing | None:
    if not args.model:
        check_no_model_options(args)
        return None
    from gnomon.runs.estimates import time_items

    return time_items(source, chosen_models(args, [args.model])[0])


def _listing(args: Namespace, rows: Sequence[PowerRow], timing: Timing | None) -> Listing:
    columns = ["set", "items", "units", "detectable"]
    columns += [f"items for {args.difference:g}", f"units for {args.difference:g}"]
    if timing:
        columns.append(f"time with {args.model}")
    cells = []
    for row in rows:
        plan = row.found.plan
        line: list[Any] = [row.name, plan.items, _units(row, plan.units_per_kind)]
        line += [_points(plan.detectable), plan.items_needed, _units(row, plan.units_needed)]
        if timing:
            line.append(f"about {_time(timing, plan.items)}")
        cells.append(tuple(line))
    return Listing(rows[0].source.name, tuple(columns), tuple(cells))


def _time(timing: Timing, items: int) -> str:
    return duration(max(1.0, timing.seconds_for(items)))


def _units(row: PowerRow, counts: Sequence[int | None]) -> str:
    parts = []
    for noun, count in zip(row.found.nouns, counts, strict=True):
        parts.append(f"– {noun}" if count is None else f"{count:,} {noun}")
    return ", ".join(parts)


def _points(value: float) -> str:
    return "–" if isnan(value) else f"{100 * value:.1f} points"


def _sentences(args: Namespace, rows: Sequence[PowerRow], timing: Timing | None) -> Iterator[str]:
    yield ""
    for row in rows:
        yield _verdict(args, row)
        yield _until(args, row, timing)
        samples, detectable = row.found.samples
        if samples > 1:
            yield (
                f"Answers drawn at a temperature: up to {samples} samples an item are worth asking "
                f"for, which would show {_points(detectable)} (--samples {samples})."
            )
    if timing is None:
        return
    yield (
        f"{args.model}: {timing.items} items took {timing.seconds:.1f} s by the clock and "
        f"{timing.cpu_seconds:.1f} s of processor time, after {timing.loading:.1f} s to get ready. "
        "The times of whole runs are estimates from these."
    )
    needed = rows[-1].found.items_for_difference
    if needed and not rows[-1].found.is_enough:
        yield (
            f"A run of {needed:,} items, which could show {args.difference:g} points, would take "
            f"about {_time(timing, needed)}."
        )


def _until(args: Namespace, row: PowerRow, timing: Timing | None) -> str:
    """How long a run is expected to be that stops by itself."""
    expected, fixed = row.until
    said = (
        f"The {row.name} set with --until {args.until:g}: about {expected:,} items are expected at "
        f"an accuracy of {args.accuracy:g}; a fixed number would be {fixed:,}"
    )
    if fixed == row.found.plan.items:
        said += ", which is all"
    if timing is not None:
        said += f". That takes about {_time(timing, expected)}"
    return f"{said}."


def _verdict(args: Namespace, row: PowerRow) -> str:
    plan, wanted = row.found.plan, f"a difference of {args.difference:g} points"
    which = f"The {row.name} set"
    if row.found.is_enough:
        return f"{which} can show {wanted}."
    if isnan(plan.detectable):
        return f"{which} has too few units to show any difference."
    units = _units(row, plan.units_needed)
    if plan.items_needed is None:
        return (
            f"{which} cannot show {wanted}, however many items are asked about the same units: it "
            f"takes about {units}."
        )
    return (
        f"{which} cannot show {wanted}: it would take about {plan.items_needed:,} items of the "
        f"same units, or {units}."
    )


def _print_json(args: Namespace, rows: Sequence[PowerRow], timing: Timing | None) -> None:
    from gnomon.measures.intervals import known

    sets = []
    for row in rows:
        plan = row.found.plan
        sets.append(
            {
                "set": row.name,
                "options": row.source.options,
                "items": plan.items,
                "units": dict(zip(row.found.nouns, plan.units_per_kind, strict=True)),
                "detectable": known(plan.detectable),
                "enough": row.found.is_enough,
                "samples": row.found.samples[0],
                "detectable_with_samples": known(row.found.samples[1]),
                "items_needed": plan.items_needed,
                "items_until": row.until.expected,
                "items_fixed": row.until.fixed,
                "units_needed": dict(zip(row.found.nouns, plan.units_needed, strict=True)),
                "seconds": timing.seconds_for(plan.items) if timing else None,
            }
        )
    found = {
        "benchmark": rows[0].source.name,
        "difference": args.difference / 100,
        "accuracy": args.accuracy,
        "until": args.until / 100,
        "power": POWER,
        "level": LEVEL,
        "model": args.model,
        "sets": sets,
        "timing": timing._asdict() if timing else None,
    }
    print(as_json(found))
