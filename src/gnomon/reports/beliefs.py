"""What models believe, for people: a table, a map of each order, and a page of both.

A map has a row and a column for each object, in the order that contradicts the fewest answers. An
answer that puts the row's object over the column's is a square: above the diagonal it agrees with
the order, below it would have to change.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gnomon.contracts import Listing
from gnomon.measures.beliefs import Belief
from gnomon.records import digest
from gnomon.reports import shell
from gnomon.reports.charts import svg
from gnomon.reports.charts.axes import WIDTH, ChartBody
from gnomon.reports.figures import grouped
from gnomon.reports.words import counted, percentage

NAMES = 96.0  # units that a name may take
LEAST_ROW = 11.0  # units between two names that can be read
MOST_ROWS = 12  # contexts in a table; the whole is in JSON and CSV
MOST_MAPS = 12  # on a page
COLUMNS = (
    "benchmark",
    "model",
    "context",
    "relation",
    "objects",
    "answers",
    "both_ways",
    "triangles",
    "largest_tangle",
    "changes",
    "at_least",
    "by_chance",
    "right",
    "right_by_order",
)


class Believer(NamedTuple):
    """A model and what it believes in one context."""

    benchmark: str
    model: str
    belief: Belief

    @property
    def who(self) -> tuple[str, str]:
        """Whose answers they are: one model on one benchmark."""
        return self.benchmark, self.model

    @property
    def title(self) -> str:
        """What a map of it is called."""
        return f"{self.model}: {self.belief.relation} ({self.belief.context})"


def records(found: Iterable[Believer]) -> Listing:
    """Everything, for programs: with the orders and the tangles."""
    rows = []
    for one in found:
        belief = one.belief
        rows.append((*_row(one), belief.exact, belief.objects, belief.tangles))
    return Listing("Beliefs", (*COLUMNS, "exact", "order", "tangles"), tuple(rows))


def flat_records(found: Iterable[Believer]) -> Listing:
    """The same without lists, for tables of programs."""
    return Listing("Beliefs", COLUMNS, tuple(map(_row, found)))


def summary(found: Sequence[Believer]) -> Listing:
    """The contexts with most to change, model by model, and each model as a whole."""
    rows = []
    for own in by_model(found):
        worst = sorted(own, key=lambda one: -one.belief.changes)
        for one in worst[:MOST_ROWS]:
            rows.append(_for_people(_row(one)))
        if len(own) > 1:
            rows.append(_for_people(_total(own)))
    columns = tuple(column.replace("_", " ") for column in COLUMNS)
    return Listing("What the answers say together", columns, tuple(rows))


def by_model(found: Sequence[Believer]) -> list[list[Believer]]:
    """The beliefs of each model on each benchmark."""
    return list(grouped(found, lambda one: one.who).values())


def sentence(own: Sequence[Believer]) -> str:
    """How far a model is from being consistent, in words."""
    name = f"{own[0].model} on {own[0].benchmark}"
    answers = sum(one.belief.answers for one in own)
    changes = sum(one.belief.changes for one in own)
    least = sum(one.belief.least for one in own)
    if not changes:
        return f"{name}: {counted(answers, 'answers')} claim an order, and none contradicts others."
    how = "" if changes == least else f" (no fewer than {least:,})"
    chance = sum(one.belief.by_chance for one in own)
    return (
        f"{name}: {changes:,}{how} of {counted(answers, 'answers')} would have to change so that "
        f"all agree with an order; a coin's would need about {chance:,.0f} changes."
    )


def _row(one: Believer) -> tuple[Any, ...]:
    return (*one.who, one.belief.context, one.belief.relation, *_figures([one.belief]))


def _total(found: Sequence[Believer]) -> tuple[Any, ...]:
    """All contexts of a model together."""
    return (*found[0].who, f"all {len(found)}", "", *_figures([one.belief for one in found]))


def _figures(beliefs: Sequence[Belief]) -> tuple[Any, ...]:
    """What stands behind the relation in a row; the largest tangle, and the sums of the others."""

    def total(name: str) -> Any:
        return sum(getattr(belief, name) for belief in beliefs)

    objects = sum(len(belief.objects) for belief in beliefs)
    tangles = [len(tangle) for belief in beliefs for tangle in belief.tangles]
    answers = total("answers")
    return (
        objects,
        answers,
        total("both_ways"),
        total("triangles"),
        max(tangles, default=0),
        total("changes"),
        total("least"),
        total("by_chance"),
        total("right") / answers,
        total("order_right") / answers,
    )


def _for_people(row: tuple[Any, ...]) -> tuple[Any, ...]:
    *counts, by_chance, right, by_order = row
    return *counts, f"{by_chance:.1f}", percentage(right, 1), percentage(by_order, 1)


def belief_map(one: Believer) -> str:
    """The map of an order, as an SVG for a page."""
    body = _body(one.belief)
    name = f"map-{digest(*one.who, one.title)}"
    return svg.drawing(WIDTH, body.height, [body.markup], one.title, sentence([one]), name)


def map_file(one: Believer) -> str:
    """The map as a file of its own."""
    return svg.standalone(belief_map(one)) + "\n"


def _body(belief: Belief) -> ChartBody:
    size = len(belief.objects)
    side = WIDTH - NAMES - 4
    cell = side / size
    top = 18.0
    out = [
        svg.text(NAMES, 11, f"{belief.relation}: row over column, greatest first", "value"),
        svg.rect(NAMES, top, side, side, "cell"),
        svg.line(NAMES, top, NAMES + side, top + side, "guide"),
    ]
    for row, column in np.argwhere(belief.over > 0).tolist():
        agrees = row < column
        told = f"{belief.objects[row]} {belief.relation} {belief.objects[column]}"
        count = int(belief.over[row, column])
        x, y = NAMES + column * cell, top + row * cell
        kind = "f0" if agrees else "f1"
        out.append(svg.rect(x, y, max(cell, 1.5), max(cell, 1.5), kind, f"{told}: {count}"))
    step = max(1, int(np.ceil(LEAST_ROW / cell)))
    for row in range(0, size, step):
        name = svg.shorten(belief.objects[row], NAMES - 8, 10)
        y = top + (row + 0.5) * cell + 3.5
        out.append(svg.text(NAMES - 5, y, name, "value", "end"))
    return ChartBody("".join(out), top + side + 6)


def page(found: Sequence[Believer], command: str) -> str:
    """One page with the sentences, the table and the maps of the largest orders."""
    largest = sorted(found, key=lambda one: -one.belief.answers)
    return shell.page(
        "beliefs.html.j2",
        models=[(sentence(own), summary(own)) for own in by_model(found)],
        maps=[(one.title, belief_map(one)) for one in largest[:MOST_MAPS]],
        command=command,
    )
