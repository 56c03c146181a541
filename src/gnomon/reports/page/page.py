"""The report: one self-contained page, written from runs."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from gnomon.errors import UsageError
from gnomon.items.experiments import experiment_of
from gnomon.measures.comparison import Rank
from gnomon.records import Score
from gnomon.reports.charts import svg
from gnomon.reports.charts.axes import WIDTH
from gnomon.reports.figures import RULE, Figure, figures, grouped
from gnomon.reports.overview import overview
from gnomon.reports.page.examples import galleries, same_facts
from gnomon.reports.page.headline import headline, sliced
from gnomon.reports.page.items import items_address, pack, pictures
from gnomon.reports.page.notes import methods, relation_of
from gnomon.reports.page.overviews import overview_view, report_leads, scale, swatch
from gnomon.reports.page.summary import sentences, title
from gnomon.reports.pictures import Album, walls
from gnomon.reports.shell import asset, make_folder, page, page_file, write_page
from gnomon.reports.study import Study, all_runs, draw_alike, row_labels, studies
from gnomon.reports.words import capitalised, counted, listed, measure_name
from gnomon.scenes.sketches import turning_script

if TYPE_CHECKING:
    from gnomon.runs import Run

BRIEF = 2  # with more benchmarks than this, each is folded, and the bar has one menu for them


def write_report(
    runs: Run | str | Path | Sequence[Run | str | Path],
    output: str | Path,
    *,
    figures_folder: str | Path | None = None,
    command: str = "",
) -> Path:
    """Write the report of some runs to one HTML file, and return the file's path.

    With a folder for figures, write those too. Runs are runs or their folders; a folder of runs
    stands for all in it.
    """
    from gnomon.reports.figures.files import write_figures

    opened = _opened(runs)
    output = page_file(output, "report.html")
    if figures_folder:
        make_folder(Path(figures_folder))

    found = studies(opened)
    draw_alike(found, row_labels(found))
    drawn = [figures(study) for study in found]
    if not command:
        command = command_of(opened, output)
    write_page(output, render(found, drawn, command))
    if figures_folder:
        write_figures(found, drawn, Path(figures_folder), overview(found).plot())
    return output


def command_of(runs: Sequence[Run], output: Path) -> str:
    """The command that makes the page again, from where this one was made.

    Folders all of whose runs are in the page stand for them.
    """
    from gnomon.runs import open_runs

    paths = []
    for folder, members in grouped(runs, lambda run: run.path.parent).items():
        if len(open_runs([folder])) == len(members):
            paths.append(folder)
        else:
            paths += [run.path for run in members]
    named = [_from_here(path) for path in paths]
    return shlex.join(["gnomon", "report", *named, "-o", _from_here(output)])


def _from_here(path: Path) -> str:
    try:
        return path.resolve().relative_to(Path.cwd()).as_posix()
    except ValueError:  # elsewhere: as it is
        return path.as_posix()


def _opened(runs: Run | str | Path | Sequence[Run | str | Path]) -> list[Run]:
    from gnomon.runs import Run, open_runs

    named = [runs] if isinstance(runs, Run | str | Path) else runs
    opened: list[Run] = []
    for run in named:
        if isinstance(run, Run):
            opened.append(run)
        else:
            opened += open_runs([run])
    if not opened:
        raise UsageError(
            "There are no runs to report on.", "Name run folders; `gnomon runs list` shows them."
        )
    return opened


def render(found: list[Study], drawn: list[list[Figure]], command: str = "gnomon report") -> str:
    """The page as text."""
    experiment = experiment_of(all_runs(found))
    album = Album()
    views = []
    for study, charts in zip(found, drawn, strict=True):
        views.append(study_view(study, charts, album))
    return page(
        "report.html.j2",
        turning_script(),
        *map(asset, ("page.js", "folds.js", "items.js")),
        title=title(found),
        brief=len(found) > BRIEF,
        overview=overview_view(overview(found), report_leads(found)),
        rule=RULE,
        series=sorted({each.series for study in found for each in study.entrants}),
        swatch=swatch,
        range_plot=range_plot,
        items_address=items_address,
        picture_names=pictures,
        experiment=experiment,
        experiment_link=f"data:text/yaml;charset=utf-8,{quote(experiment)}",
        subtitle=_subtitle(found),
        command=command,
        studies=views,
        packs=[pack(study, album) for study in found],
        methods=methods(found),
    )


def _subtitle(found: list[Study]) -> str:
    """How many runs and items the page is about, and when the runs were started."""
    runs = all_runs(found)
    days = sorted({run.manifest.started.date() for run in runs})
    when = f"{days[0]:%-d %B %Y}" if len(days) == 1 else f"{len(days)} days"
    items = sum(len(study.items) for study in found)
    what = counted(len(found), "benchmarks")
    if len(found) <= 3:
        what = listed([f"“{study.title}”" for study in found])
    return f"{counted(len(runs), 'runs')}, {counted(items, 'items')} of {what}, {when}"


# What templates show of a study: its tables, figures and examples.


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


def range_plot(figure: Score | Rank) -> str:
    """A figure and its interval on a line from 0 to 1, with an upright where chance is.

    Nothing for a figure beyond that line.
    """
    value, low, high = figure.value, figure.low, figure.high
    if value is None or not 0 <= value <= 1:  # also where it is not a number
        return ""

    parts = scale(PLOT, 8, figure.chance)
    if low is not None and high is not None and low <= high:
        parts.append(svg.line(PLOT * low, 8, PLOT * high, 8, "whisker"))
    parts.append(svg.tag("circle", {"cx": PLOT * value, "cy": 8, "r": 4, "class_": "dot"}))
    return (
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
