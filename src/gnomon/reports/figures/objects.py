"""Is each object's rank the same, named first or second? (Spatial commonsense, Figure 5.)"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gnomon.measures.laws import ObjectBias, object_bias
from gnomon.reports.charts.panels import Panel, Stack, panels, stacked_panel
from gnomon.reports.figures import Figure, grouped
from gnomon.reports.figures.enough import ITEMS, enough
from gnomon.reports.study import Study
from gnomon.reports.tables.export import file_name

PARTS = ("called greater, named first", "called lesser, named second")
LEAST_OBJECTS = 5  # fewer have no rank to speak of
MOST_OBJECTS = 40
OFF = 0.2  # how far from 1 the two parts of a consistent object may end by chance


def objects(study: Study) -> Iterator[Figure]:
    """How often each object is called the greater one, named first or second."""
    found: list[tuple[str, ObjectBias]] = []
    for entrant in study.entrants:
        found += [(entrant.label, bias) for bias in object_bias(entrant.table)]
    for context, own in grouped(found, lambda pair: pair[1].context).items():
        known = [pair for pair in own if enough(pair[1].n)]
        models = grouped(known, lambda pair: pair[0])
        if max(map(len, models.values()), default=0) >= LEAST_OBJECTS:
            yield _figure(context, models)


def _figure(context: str, models: dict[str, list[tuple[str, ObjectBias]]]) -> Figure:
    charts, said, rows = [], [], []
    for label, found in models.items():
        biases = [bias for _, bias in found]
        ranked = sorted(biases, key=lambda bias: (bias.is_greater, bias.object))
        charts.append(_panel(label, ranked))
        said.append(f"{label}: {_balance(ranked)}")
        for bias in ranked:
            rows.append((label, *bias))
    return Figure(
        name=f"objects-{file_name(context)}",
        title=f"Is each object's rank the same both ways? ({context})",
        caption="Dark: how often the object is called greater than the others when named first. "
        "Light: how often the others are called greater than it when they are named first. A "
        "consistent model's bars end at 1; the tick is the truth for the dark part. Drawn for "
        f"objects with {ITEMS} answers or more.",
        description=f"{'; '.join(said)}.",
        body=panels(charts, columns=2),
        columns=("model", *ObjectBias._fields),
        rows=tuple(rows),
        detail=True,
    )


def _panel(label: str, ranked: Sequence[ObjectBias]) -> Panel:
    step = -(-len(ranked) // MOST_OBJECTS)
    stacks = []
    for bias in ranked[::step]:
        lesser = 1 - bias.called_greater_second
        stacks.append(Stack(bias.object, bias.called_greater_first, lesser, bias.is_greater))
    return stacked_panel(label, stacks, PARTS, "truly greater")


def _balance(found: Sequence[ObjectBias]) -> str:
    off = 0
    for bias in found:
        if abs(bias.called_greater_first - bias.called_greater_second) > OFF:
            off += 1
    return f"{off} of {len(found)} objects end more than {OFF} away from 1"
