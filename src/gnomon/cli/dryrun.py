"""`gnomon run --dry-run`: what the runs would take, without making any."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import Any, NamedTuple

from gnomon.cli.dispatch import tell
from gnomon.cli.plan import Planned, plan_runs
from gnomon.contracts import Listing
from gnomon.errors import GnomonError, inert
from gnomon.measures.runlabels import labels
from gnomon.measures.stopping import expected_items
from gnomon.registry import ModelSpec
from gnomon.runs.estimates import Opened, RunEstimate, Times, estimate, opened
from gnomon.runs.pace import duration
from gnomon.tabular import as_json, render
from gnomon.trust import may_run_code

STARTING = 8.0  # seconds in which a command starts, begins a child process, and prints scores


class PlannedCost(NamedTuple):
    """One run and what it would take."""

    planned: Planned
    found: RunEstimate


class CostPlan(NamedTuple):
    """Everything that a command would do."""

    rows: list[PlannedCost]
    loading: dict[str, Times]  # to load each model, by what it is called
    failed: list[Planned]  # what could not even be tried

    @property
    def seconds(self) -> float | None:
        """All of it by the clock, one after the other; none if that is not known of any."""
        loading = sum(taken.seconds for taken in self.loading.values())
        return self._total("seconds", STARTING + loading)

    @property
    def cpu_seconds(self) -> float | None:
        """The same of the processor, which does not depend on who else is at work."""
        loading = sum(taken.cpu for taken in self.loading.values())
        return self._total("cpu_seconds", STARTING + loading)

    @property
    def cost(self) -> float | None:
        """The money of all runs whose prices are known."""
        return self._total("cost", 0.0)

    def _total(self, field: str, before: float) -> float | None:
        values = [getattr(row.found, field) for row in self.rows]
        known: list[float] = [value for value in values if value is not None]
        return before + sum(known) if known else None


def show_plan(args: Namespace) -> int:
    """Estimate and print; 0 unless a run would fail, or nothing could be asked."""
    plan = _estimated(args, _until_known(args, plan_runs(args)))
    if not plan.rows:
        return 1
    if args.format == "json":
        _print_json(plan)
        return 1 if plan.failed else 0

    print(render(_listing(plan)))
    for sentence in _sentences(plan):
        print(inert(sentence))
    return 1 if plan.failed else 0


def _estimated(args: Namespace, planned: Sequence[Planned]) -> CostPlan:
    """What each run would take; one that would fail does not stop the others."""

    plan = CostPlan([], {}, [])
    models: list[ModelSpec] = []
    for each in planned:
        if each.model not in models:
            models.append(each.model)
    for model in models:
        mine = [each for each in planned if each.model == model]
        reason = may_run_code(model)
        if reason:
            about = f"by {reason} it may run code, and a plan runs none"
            tell(f"{_called(model)} is not estimated: {about}.")
            continue
        try:
            with opened(model) as who:
                plan.loading.setdefault(_called(model), who.loading)
                limits = _reply_limits(who.model)
                if limits:
                    tell(f"{_called(model)}: {limits}")
                _add_estimates(args, plan, mine, who, alone=len(planned) == 1)
        except GnomonError as error:
            if len(models) == 1:
                raise
            tell(f"{_called(model)} would fail. {error}")
            plan.failed.extend(mine)
    plan.rows.sort(key=lambda row: planned.index(row.planned))
    return plan


def _until_known(args: Namespace, planned: Sequence[Planned]) -> list[Planned]:
    """The runs with the items that they are expected to take, if they stop by themselves."""
    if args.until is None and args.until_differs is None:
        return list(planned)
    from gnomon.api import stopping_rule

    found = []
    for each in planned:
        helpers = getattr(args, "with")
        rule = stopping_rule(each.source, args.until, args.until_differs, args.by, helpers)
        items = list(each.source.without_pictures())
        expected = expected_items(items, each.source.benchmark, rule.goal).expected
        limit, look = rule.of_begun(each.folder, restart=args.restart)
        if look is not None:
            expected = look.items if limit is None else look.expected
        told = "enough is known." if limit is None else f"the next look is at {limit:,} items."
        tell(f"{each.title}: about {expected:,} of {len(items):,} items are expected; {told}")
        found.append(each._replace(source=each.source.limited(expected)))
    return found


def _reply_limits(model: Any) -> str:
    """How long replies may get, where a model is asked for one that may be cut."""
    asking = getattr(model, "asking", None)
    limits = asking().limits if asking else {}
    most = limits.get("most_reply_tokens", 0)
    if most <= limits.get("reply_tokens", 0):
        return ""
    return (
        f"a reply has {limits['reply_tokens']:,} tokens at first, by which the plan counts, and up "
        f"to {most:,} where it is cut, as those of models that think are."
    )


def _add_estimates(
    args: Namespace, plan: CostPlan, planned: Sequence[Planned], who: Opened, *, alone: bool
) -> None:
    """Add what the runs of one model would take."""

    for each in planned:
        try:
            what = estimate(each.source, who, args.runs, blind=each.blind)
        except GnomonError as error:
            if isinstance(error, each.may_lack):
                tell(f"{each.title} would be left out. {error}")
                continue
            if alone:
                raise
            tell(f"{each.title} would fail. {error}")
            plan.failed.append(each)
        else:
            plan.rows.append(PlannedCost(each, what))


def _called(model: ModelSpec) -> str:
    return model.name or model.spec


def _listing(plan: CostPlan) -> Listing:
    columns = ["benchmark", "model", "items", "left", "tokens", "time", "disk"]
    if plan.cost is not None:
        columns.append("cost")
    rows = []
    for (planned, found), name in zip(plan.rows, _names(plan.rows), strict=True):
        cells: list[Any] = [planned.source.name, name, found.items, found.left]
        cells += [_tokens(found), _time(found.seconds), _bytes(found.bytes)]
        if plan.cost is not None:
            cells.append("–" if found.cost is None else f"{found.cost:.4f}")
        rows.append(tuple(cells))
    return Listing("", tuple(columns), tuple(rows))


def _names(rows: Sequence[PlannedCost]) -> list[str]:
    """What each model is called, with what tells its runs on one benchmark apart."""

    found = [""] * len(rows)
    benchmarks = [row.planned.source.name for row in rows]
    for benchmark in dict.fromkeys(benchmarks):
        places = [place for place, name in enumerate(benchmarks) if name == benchmark]
        here = [rows[place].planned for place in places]
        settings = [{**each.source.options, **each.model.options} for each in here]
        names = labels([_called(each.model) for each in here], settings)
        for place, name in zip(places, names, strict=True):
            found[place] = name
    return found


def _tokens(found: RunEstimate) -> str:
    if found.written:
        return f"{found.read:,} + {found.written:,}"
    return f"{found.read:,}"


def _time(seconds: float | None) -> str:
    return "–" if seconds is None else duration(max(1.0, seconds))


def _bytes(size: int) -> str:
    if size < 10**6:
        return f"{max(1, size // 1000):,} kB"
    return f"{size / 10**6:,.1f} MB"


def _sentences(plan: CostPlan) -> list[str]:
    items = sum(row.found.left for row in plan.rows)
    disk = _bytes(sum(row.found.bytes for row in plan.rows))
    found = [f"\n{items:,} items to ask, {disk} of disk."]
    if plan.seconds is not None:
        each = [f"{duration(taken.seconds)} for {name}" for name, taken in plan.loading.items()]
        found.append(
            f"About {duration(plan.seconds)} in all, of which loading takes {', '.join(each)}: "
            "estimated from a few items of each benchmark, whose answers were not kept."
        )
    if any(row.found.seconds is None for row in plan.rows):
        found.append("Servers were not asked: their tokens are the most that is likely.")
    if plan.cost is not None:
        found.append(f"At most about {plan.cost:.4f} by the prices given.")
    return found


def _print_json(plan: CostPlan) -> None:

    rows = []
    for planned, found in plan.rows:
        rows.append(
            {
                "benchmark": planned.source.name,
                "model": planned.model.spec,
                "name": planned.model.name,
                "run": str(planned.folder),
                **found._asdict(),
            }
        )
    total = {
        "items": sum(row.found.left for row in plan.rows),
        "seconds": plan.seconds,
        "cpu_seconds": plan.cpu_seconds,
        "bytes": sum(row.found.bytes for row in plan.rows),
        "cost": plan.cost,
        "loading": {name: taken._asdict() for name, taken in plan.loading.items()},
    }
    print(as_json({"runs": rows, "total": total}))
