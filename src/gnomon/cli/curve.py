"""Learning curves: one recipe trained with more and more items, and what each amount comes to."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon.cli.dispatch import tell
from gnomon.contracts import Listing
from gnomon.errors import UsageError
from gnomon.items.source import load
from gnomon.items.writing import atomic_file
from gnomon.reports.words import interval, percent
from gnomon.tabular import render

if TYPE_CHECKING:
    from gnomon.measures.seeds import AtAmount
    from gnomon.train.folder import Amounts, LearningCurvePoint

SCHEMES = {"probe": "probe"}  # how what a kind makes is asked, where not with hf:FOLDER
Curves = dict[str, dict[str, dict[float, list[float]]]]  # part -> measure -> amount -> values


def train_curve(args: Namespace) -> int:
    """Train every point that is not finished, and show the curve of those that are."""
    from gnomon.train.folder import curve_points

    if not args.output:
        raise UsageError("There is no folder for the trained models.", "Name one with -o DIR.")
    amounts = amounts_of(args.curve, args.draws)
    folder = Path(args.output)
    points = curve_points(args.recipe, args.set, amounts, folder)
    chosen = _only(args, points)
    _check_all(chosen)
    for number, point in enumerate(chosen, 1):
        _train(args, point, f"{number} of {len(chosen)}")
    _check_growing(points)
    if args.ask:
        _ask(args, chosen)
    _show(args, points, amounts, folder)
    return 0


def amounts_of(curve: str, draws: int) -> Amounts:
    """The amounts that are trained on: N,N of each group, or P,P% of all."""
    from gnomon.train.folder import Amounts, percentages_of, sizes_of

    if draws < 1:
        raise UsageError(f"--draws is {draws}.", "Draw each amount once or more.")
    if curve.endswith("%"):
        return Amounts("train_share", percentages_of(curve.replace("%", "")), draws)
    return Amounts("per_pattern", sizes_of(curve), draws)


def _only(args: Namespace, points: Sequence[LearningCurvePoint]) -> list[LearningCurvePoint]:
    if not args.only:
        return list(points)
    found = [point for point in points if f"{point.amount:g}:{point.draw + 1}" == args.only]
    if not found:
        known = ", ".join(f"{point.amount:g}:{point.draw + 1}" for point in points)
        raise UsageError(f"The curve has no point '{args.only}'.", f"Choose one of: {known}.")
    return found


def _check_all(points: Sequence[LearningCurvePoint]) -> None:
    """Read the data of every point that is to be trained: what is wrong with one is told first."""
    from gnomon.train.folder import read_data

    for point in points:
        if point.outcome() is None:
            read_data(point.recipe)


def _train(args: Namespace, point: LearningCurvePoint, place: str) -> None:
    from gnomon.cli.progress import training_line
    from gnomon.train.folder import carry_out

    title = f"{point.recipe.name} · {point.amount:g}, draw {point.draw + 1} ({place})"
    with training_line(title, quiet=args.quiet) as watch:
        carry_out(point.recipe, point.folder, watch=watch)


def _check_growing(points: Sequence[LearningCurvePoint]) -> None:
    """Say so where a larger amount was trained on no more: the groups may hold no more items."""
    from gnomon.train.folder import trained_on

    seen: dict[tuple[int, str], float] = {}
    for point in points:
        digest = trained_on(point)
        if not digest or not point.amount:
            continue
        smaller = seen.setdefault((point.draw, digest), point.amount)
        if smaller != point.amount and not point.draw:
            tell(
                f"{point.amount:g} is trained on the same items as {smaller:g}: no group holds "
                "more.\nMake more items for each group (data.train.options: per_group)."
            )


def _ask(args: Namespace, points: Sequence[LearningCurvePoint]) -> None:
    from gnomon import registry
    from gnomon.cli.progress import ask_model

    source = load(args.ask).limited(args.limit).remembered()
    for point in points:
        scheme = SCHEMES.get(point.recipe.kind, "hf")
        model = registry.model(f"{scheme}:{point.folder}")
        title = f"{source.name} · {point.amount:g}, draw {point.draw + 1}"
        ask_model(title, source, model, quiet=args.quiet, runs=args.runs)


def _show(
    args: Namespace, points: Sequence[LearningCurvePoint], amounts: Amounts, folder: Path
) -> None:
    from gnomon.train.folder import items_of

    curves = _curves(points)
    if not curves:
        tell("no point of the curve is finished, so there is nothing to show.")
        return
    summary = _summary(curves, items_of(points[0]))
    _write(points, amounts, curves, folder)
    if args.format == "json":
        print(_json(points, amounts, summary, curves).decode())
        return
    if not args.format:
        return
    print(render(_listing(summary, amounts), args.format))
    missing = sum(point.outcome() is None for point in points)
    if missing and args.format == "table":
        print(f"{missing} of {len(points)} points are not finished.")


def _curves(points: Sequence[LearningCurvePoint]) -> Curves:
    """The figures of the finished points: dev, and every part that training never saw."""
    found: Curves = {}
    for point in points:
        outcome = point.outcome()
        if outcome is None:
            continue
        for part, scores in {"dev": outcome.best, **outcome.tests}.items():
            for measure, value in scores.items():
                grown = found.setdefault(part, {}).setdefault(measure, {})
                grown.setdefault(point.amount, []).append(value)
    return found


def _summary(curves: Curves, items: Mapping[str, int]) -> list[tuple[str, str, AtAmount]]:
    from gnomon.measures.seeds import over_draws

    found = []
    for part, measures in curves.items():
        for measure, grown in measures.items():
            bounds = _bounds(measure)
            for point in over_draws(grown, bounds=bounds, items=items.get(part, 0)):
                found.append((part, measure, point))
    return found


def _bounds(measure: str) -> tuple[float, float] | None:
    """Between which figures a measure lies; a selectivity is a difference of two shares."""
    if measure == "loss":
        return None
    return (-1.0, 1.0) if measure.startswith("selectivity") else (0.0, 1.0)


def _listing(summary: Sequence[tuple[str, str, AtAmount]], amounts: Amounts) -> Listing:
    from gnomon.reports.figures.against import UNITS

    rows = []
    for part, measure, point in summary:
        if measure == "loss":
            continue
        cells = (percent(point.mean), interval(point.low, point.high), point.draws)
        rows.append((part, measure, f"{point.amount:g}", *cells))
    columns = ("part", "measure", "amount", "mean", "95 % interval", "draws")
    return Listing(f"By {UNITS[amounts.unit]}", columns, tuple(rows))


def _json(
    points: Sequence[LearningCurvePoint],
    amounts: Amounts,
    summary: Sequence[tuple[str, str, AtAmount]],
    curves: Curves,
) -> bytes:
    import msgspec

    rows: list[dict[str, Any]] = []
    for part, measure, point in summary:
        values = curves[part][measure][point.amount]
        rows.append({"part": part, "measure": measure, **point._asdict(), "values": values})
    folders = [str(point.folder) for point in points if point.outcome()]
    fields = {"unit": amounts.unit, "draws": amounts.draws, "curve": rows, "folders": folders}
    return msgspec.json.format(msgspec.json.encode(fields))


def _write(
    points: Sequence[LearningCurvePoint], amounts: Amounts, curves: Curves, folder: Path
) -> None:
    """curve.json and, where there are two amounts or more, curve.svg."""
    from gnomon.reports.charts.svg import standalone
    from gnomon.reports.figures.against import Taught, curve_figure, drawn_measure
    from gnomon.train.folder import items_of

    items = items_of(points[0])
    with atomic_file(folder / "curve.json") as part:
        part.write_bytes(_json(points, amounts, _summary(curves, items), curves) + b"\n")
    recipe = points[0].recipe
    parts = {}
    measure = ""
    for name, measures in curves.items():
        found = drawn_measure(measures)
        if name != "dev" and found:
            measure = found
            parts[name] = measures[found]
    taught = Taught(recipe.model or recipe.kind, amounts.unit, parts, measure, items)
    figure = curve_figure(taught, _benchmark(recipe.data))
    if figure:
        with atomic_file(folder / "curve.svg") as part:
            part.write_text(standalone(figure.svg()), encoding="utf-8")


def _benchmark(data: Any) -> str:
    """The benchmark that a recipe's items come from; empty where they come from files."""
    source = getattr(getattr(data, "train", None), "source", "")
    return str(source).partition("@")[0]
