"""The report: one self-contained page, written from runs.

Everything from data passes through autoescaping or, for the drawings, through `svg.escape`. A
content security policy with the hashes of the one style sheet and the one script forbids everything
else.
"""

from __future__ import annotations

import base64
import hashlib
import re
import shlex
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from gnomon import __version__
from gnomon.errors import UsageError, importing
from gnomon.items.experiments import experiment_of
from gnomon.reports.charts import svg
from gnomon.reports.figures import Figure, figures, grouped
from gnomon.reports.figures.enough import RULE
from gnomon.reports.overview import overview
from gnomon.reports.page.items import pack
from gnomon.reports.page.methods import methods
from gnomon.reports.page.overviews import overview_view, swatch
from gnomon.reports.page.summary import title
from gnomon.reports.page.views import study_view
from gnomon.reports.rowlabels import row_labels
from gnomon.reports.study import Study, all_runs, draw_alike, studies
from gnomon.reports.words import counted, listed
from gnomon.scenes.sketches import turning_script

if TYPE_CHECKING:
    from markupsafe import Markup

    from gnomon.runs import Run

ASSETS = Path(__file__).parents[1] / "assets"
BRIEF = 2  # with more benchmarks than this, each is folded, and the bar has one menu for them
# Beside the colours of the charts.
LIGHT = {
    "ground": "#faf9f6",
    "veil": "#faf9f6ee",
    "line": "#bdbab2",
    "link": "#005a8f",
    "good": "#00694a",
    "bad": "#a83f00",
}
DARK = {
    "ground": "#101215",
    "veil": "#101215ee",
    "line": "#4a4f58",
    "link": "#7cc4f0",
    "good": "#4fd0a8",
    "bad": "#f7a06a",
}
EMBLEM = """\
<svg viewBox="0 0 24 24" aria-hidden="true">\
<circle cx="12" cy="12" r="10.5" fill="none" stroke="currentColor" stroke-width="1.5"/>\
<path d="M12 12 18.5 5.5" stroke="currentColor" stroke-width="1.5" opacity=".45"/>\
<path d="M12 12 12 4 16.5 16.5Z" fill="currentColor"/></svg>"""
MOON = """\
<svg viewBox="0 0 24 24" aria-hidden="true">\
<circle cx="12" cy="12" r="8.5" fill="none" stroke="currentColor" stroke-width="1.6"/>\
<path d="M12 3.5a8.5 8.5 0 0 1 0 17Z" fill="currentColor"/></svg>"""


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
    from gnomon.reports.tables.export import make_folder, write_figures

    opened = _opened(runs)
    output = Path(output)
    if output.is_dir():
        raise UsageError(
            f"{output} is a folder.",
            f"Name the page's file, for instance {output / 'report.html'}.",
        )
    make_folder(output.parent)
    if figures_folder:
        make_folder(Path(figures_folder))

    found = studies(opened)
    draw_alike(found, row_labels(found))
    drawn = [figures(study) for study in found]
    if not command:
        command = command_of(opened, output)
    write_page(output, render(found, drawn, command))
    if figures_folder:
        write_figures(found, drawn, Path(figures_folder))
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
            "There are no runs to report on.", "Name run folders; `gnomon list runs` shows them."
        )
    return opened


def write_page(output: Path, text: str) -> None:
    """Write a page whole or not at all."""
    from gnomon.items.writing import atomic_file

    page = text.encode("utf-8", errors="replace")
    if output.exists() and not output.is_file():  # a pipe or a terminal, which must not be replaced
        output.write_bytes(page)
        return
    with atomic_file(output.resolve()) as part:
        part.write_bytes(page)


def render(found: list[Study], drawn: list[list[Figure]], command: str = "gnomon report") -> str:
    """The page as text."""
    from markupsafe import Markup

    experiment = experiment_of(all_runs(found))
    style = style_sheet()
    script = turning_script() + _asset("page.js") + _asset("folds.js") + _asset("items.js")
    views = []
    for i, (study, charts) in enumerate(zip(found, drawn, strict=True)):
        views.append(study_view(study, charts, i))
    page: str = (
        environment()
        .get_template("report.html.j2")
        .render(
            title=title(found),
            brief=len(found) > BRIEF,
            overview=overview_view(overview(found), found),
            rule=RULE,
            swatches=_swatches(found),
            experiment=experiment,
            experiment_link=f"data:text/yaml;charset=utf-8,{quote(experiment)}",
            subtitle=_subtitle(found),
            version=__version__,
            command=command,
            policy=policy(style, script),
            style=Markup(style),  # noqa: S704 - our own
            script=Markup(script),  # noqa: S704 - our own
            studies=views,
            packs=[pack(study) for study in found],
            methods=methods(found),
            **icons(),
        )
    )
    return page


def _swatches(found: Sequence[Study]) -> list[dict[str, Any]]:
    """The colour and shape of each series, for the item table."""
    series: set[int] = set()
    for study in found:
        series.update(entrant.series for entrant in study.entrants)
    return [{"series": each, "drawn": swatch(each)} for each in sorted(series)]


def page_script() -> str:
    """The script that every page has: colours and sortable tables."""
    return _asset("page.js")


def _asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def environment() -> Any:
    """The templates, with everything escaped."""
    with importing("The report", "report"):
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    found = Environment(
        loader=FileSystemLoader(ASSETS),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters["figures_strong"] = strong_figures
    return found


def strong_figures(text: str) -> Markup:
    """A sentence with its percentages set strong.

    >>> print(strong_figures("right on 61 % of <items>"))
    right on <strong>61 %</strong> of &lt;items&gt;
    """
    from markupsafe import Markup, escape

    parts = []
    for i, part in enumerate(re.split(r"(\d+(?:\.\d+)?[ \xa0]%)", text)):
        is_figure = i % 2 == 1
        parts.append(Markup("<strong>{}</strong>").format(part) if is_figure else escape(part))
    return Markup("").join(parts)


@lru_cache(maxsize=1)
def style_sheet() -> str:
    """The style sheet with the colours of both themes."""
    light = "color-scheme:light;" + svg.variables({**svg.LIGHT, **LIGHT})
    dark = "color-scheme:dark;" + svg.variables({**svg.DARK, **DARK})
    chosen_dark = ":root[data-theme=dark]"
    not_light = ":root:not([data-theme=light])"
    return "".join(
        (
            f":root{{{light}}}",
            f"@media (prefers-color-scheme:dark){{{not_light}{{{dark}}}}}",
            f"{chosen_dark}{{{dark}}}",
            f"@media print{{:root,{chosen_dark},{not_light}{{{light}}}}}",
            svg.page_rules(),
            _asset("style.css"),
        )
    )


def policy(style: str, script: str) -> str:
    """A content security policy that allows this style sheet, this script and nothing else."""
    return (
        f"default-src 'none'; style-src '{digest(style)}'; script-src '{digest(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def digest(text: str) -> str:
    """The hash by which a policy names a style sheet or script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


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


def icons() -> dict[str, Markup]:
    """The emblem and the switch of colours."""
    from markupsafe import Markup

    return {"emblem": Markup(EMBLEM), "moon": Markup(MOON)}  # noqa: S704 - our own drawings
