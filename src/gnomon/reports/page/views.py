"""What templates show of a study: its tables, figures and examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gnomon.measures.comparison import Rank
from gnomon.records import Score
from gnomon.reports.charts import svg
from gnomon.reports.charts.axes import WIDTH
from gnomon.reports.figures import Figure
from gnomon.reports.page.examples import galleries, same_facts
from gnomon.reports.page.headline import headline, sliced
from gnomon.reports.page.notes import relation_of
from gnomon.reports.page.overviews import scale
from gnomon.reports.page.summary import sentences
from gnomon.reports.pictures import Album, walls
from gnomon.reports.study import Study
from gnomon.reports.words import capitalised, measure_name

if TYPE_CHECKING:
    from markupsafe import Markup

PLOT = 120  # units that the line from 0 to 1 is long
# pixels of a figure beside a second one: its drawing, what stands around that; letters of a line
SHOWN_WIDTH, AROUND, LINE = 510, 130, 75


def study_view(study: Study, charts: list[Figure], album: Album) -> dict[str, Any]:
    """Everything that the page says about a study."""
    table = headline(study)
    ranked = table.entrants(study)
    plain = [chart for chart in charts if not chart.detail]
    detail = [chart for chart in charts if chart.detail]
    return {
        "study": study,
        "about": _about(study),
        "sentences": sentences(study, table),
        "table": table,
        "relation": relation_of(study),
        "slices": [(_slice_title(study, part.title), part) for part in sliced(study)],
        "figures": _columns(plain),
        "details": _columns(detail),
        "papers": any(line.is_published for line in table.lines),
        "plain": len(plain),
        "detail": len(detail),
        "galleries": galleries(study, ranked, album),
        "same_facts": same_facts(study),
        "walls": walls(study, ranked, album),
    }


def _about(study: Study) -> str:
    """What the benchmark asks, and in which paper it was first asked."""
    if study.spec is None or not study.spec.summary:
        return ""
    about = capitalised(study.spec.summary)
    if study.spec.paper:
        about += f" ({study.spec.paper})"
    return f"{about}."


def _slice_title(study: Study, title: str) -> str:
    measure, _, tag = title.partition(" by ")
    return f"{measure_name(measure)} by {study.words(tag)}"


def range_plot(figure: Score | Rank) -> Markup | str:
    """A figure and its interval on a line from 0 to 1, with an upright where chance is.

    Nothing for a figure beyond that line.
    """
    from markupsafe import Markup

    value, low, high = figure.value, figure.low, figure.high
    if value is None or not 0 <= value <= 1:  # also where it is not a number
        return ""

    parts = scale(PLOT, 8, figure.chance)
    if low is not None and high is not None and low <= high:
        parts.append(svg.line(PLOT * low, 8, PLOT * high, 8, "whisker"))
    parts.append(svg.tag("circle", {"cx": PLOT * value, "cy": 8, "r": 4, "class_": "dot"}))
    return Markup(  # noqa: S704 - numbers only
        f'<svg class="tiny chart" viewBox="-5 0 130 16" aria-hidden="true">{"".join(parts)}</svg>'
    )


def _columns(charts: Sequence[Figure]) -> list[list[Figure]]:
    """The figures in two columns of about the same height, so that no holes are left."""
    columns: list[list[Figure]] = [[], []]
    heights = [0.0, 0.0]
    for chart in charts:
        shorter = heights.index(min(heights))
        columns[shorter].append(chart)
        lines = len(chart.caption) / LINE
        heights[shorter] += chart.body.height * SHOWN_WIDTH / WIDTH + 20 * lines + AROUND
    return [column for column in columns if column]
