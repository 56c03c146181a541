"""The report: one self-contained page, written from runs.

Everything from data passes through autoescaping or, for the drawings, through `svg.escape`. A content security policy
with the hashes of the one style sheet and the one script forbids everything else.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from gnomon import __version__
from gnomon.errors import MissingExtraError, UsageError
from gnomon.records import Score
from gnomon.report import svg
from gnomon.report.examples import galleries
from gnomon.report.figures import Figure, figures, words
from gnomon.report.figures.slices import chance
from gnomon.report.headline import Headline, Line, headline
from gnomon.report.items import pack
from gnomon.report.methods import methods
from gnomon.report.study import Study, studies
from gnomon.report.summary import sentences, title
from gnomon.report.words import counted, listed, percentage

ASSETS = Path(__file__).parent / "assets"
ROWS = 200  # of the numbers behind a chart that the page shows; the CSV has all
MORE = {"ground": ("#faf9f6", "#101215"), "veil": ("#faf9f6ee", "#101215ee"), "line": ("#bdbab2", "#4a4f58"),
        "link": ("#005a8f", "#7cc4f0"), "good": ("#00694a", "#4fd0a8"), "bad": ("#a83f00", "#f7a06a")}  # fmt: skip


def write_report(runs: Sequence[Any], output: str | Path, *, figures_folder: str | Path | None = None,
                 command: str = "") -> Path:
    """Write the report of some runs to one HTML file and, if asked, its figures to a folder; return the file's path."""
    from gnomon.report.export import write_figures
    from gnomon.runs import Run

    if not runs:
        raise UsageError("There are no runs to report on.", "Name run folders; `gnomon list runs` shows them.")
    opened = [run if isinstance(run, Run) else Run.open(run) for run in runs]
    found = studies(opened)
    drawn = [figures(study) for study in found]
    output = Path(output)
    output.parent.mkdir(parents=True, exist_ok=True)
    shown = command or "gnomon report " + " ".join(run.path.name for run in opened) + f" -o {output.name}"
    output.write_text(render(found, drawn, shown), encoding="utf-8", errors="replace", newline="\n")
    if figures_folder:
        write_figures(found, drawn, Path(figures_folder))
    return output


def render(found: list[Study], drawn: list[list[Figure]], command: str = "gnomon report") -> str:
    """The page as text."""
    from markupsafe import Markup

    style = style_sheet()
    script = "".join((ASSETS / name).read_text(encoding="utf-8") for name in ("page.js", "items.js"))
    page: str = environment().get_template("report.html.j2").render(
        title=title(found), subtitle=_subtitle(found), version=__version__, command=command, policy=policy(style, script),
        style=Markup(style), script=Markup(script),  # noqa: S704 - our own files
        emblem=Markup(EMBLEM), moon=Markup(MOON),
        studies=[_study(study, charts, i) for i, (study, charts) in enumerate(zip(found, drawn, strict=True))],
        packs=[pack(study) for study in found], methods=methods(found),
    )  # fmt: skip
    return page


@lru_cache(maxsize=1)
def environment() -> Any:
    """The templates, with everything escaped."""
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError:
        raise MissingExtraError("The report", "report") from None
    found = Environment(loader=FileSystemLoader(ASSETS), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
                        lstrip_blocks=True)
    found.filters["figures_strong"] = strong_figures
    return found


def strong_figures(text: str) -> Any:
    """A sentence with its percentages set strong.

    >>> print(strong_figures("right on 61 % of <items>"))
    right on <strong>61 %</strong> of &lt;items&gt;
    """
    from markupsafe import Markup, escape

    parts = re.split(r"(\d+(?:\.\d+)?[ \xa0]%)", text)
    return Markup("").join(Markup("<strong>{}</strong>").format(p) if i % 2 else escape(p) for i, p in enumerate(parts))


@lru_cache(maxsize=1)
def style_sheet() -> str:
    """The style sheet with the colours of both themes."""
    light = svg.variables({**svg.LIGHT, **{name: pair[0] for name, pair in MORE.items()}})
    dark = svg.variables({**svg.DARK, **{name: pair[1] for name, pair in MORE.items()}})
    return (f":root{{color-scheme:light;{light}}}@media (prefers-color-scheme:dark){{:root:not([data-theme=light])"
            f"{{color-scheme:dark;{dark}}}}}:root[data-theme=dark]{{color-scheme:dark;{dark}}}"
            f"@media print{{:root,:root[data-theme=dark],:root:not([data-theme=light]){{color-scheme:light;{light}}}}}"
            + svg.page_rules() + (ASSETS / "style.css").read_text(encoding="utf-8"))


def policy(style: str, script: str) -> str:
    """A content security policy that allows this style sheet, this script and nothing else."""
    return (f"default-src 'none'; style-src '{digest(style)}'; script-src '{digest(script)}'; img-src data:; "
            "base-uri 'none'; form-action 'none'")


def digest(text: str) -> str:
    """The hash by which a policy names a style sheet or script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _subtitle(found: list[Study]) -> str:
    runs = [e.run for study in found for e in study.entrants]
    dates = sorted({run.manifest.started.strftime("%-d %B %Y") for run in runs})
    items = sum(len(study.items) for study in found)
    when = dates[0] if len(dates) == 1 else f"{len(dates)} days"
    return f"{counted(len(runs), 'runs')}, {counted(items, 'items')} of {listed([study.name for study in found])}, {when}"


def _study(study: Study, charts: list[Figure], index: int) -> dict[str, Any]:
    table = headline(study)
    about = study.spec.summary if study.spec else ""
    if study.spec and study.spec.paper:
        about += f" ({study.spec.paper})"
    return {
        "name": study.name, "about": about[:1].upper() + about[1:] + "." if about else "",
        "sentences": sentences(study, table), "table": _table(study, table),
        "figures": [figure_view(chart, f"s{index}-") for chart in charts],
        "galleries": _galleries(study, table),
    }  # fmt: skip


def _galleries(study: Study, table: Headline) -> list[tuple[str, list[dict[str, Any]]]]:
    by_model: dict[str, list[dict[str, Any]]] = {}
    ranked = [study.entrants[line.series] for line in table.lines if line.series >= 0]
    for gallery in galleries(study, ranked):
        groups = [{**g._asdict(), "percent": percentage(g.share)} for g in gallery.groups]
        by_model.setdefault(gallery.model, []).append({"sort": gallery.sort, "groups": groups})
    return list(by_model.items())


def _table(study: Study, table: Headline) -> dict[str, Any]:
    from markupsafe import Markup

    lines = []
    for line in table.lines:
        n = len(study.entrants[line.series].table) if line.series >= 0 else 0
        swatch = svg.mark(svg.Point(7, 7), line.series, 5) if line.series >= 0 and len(study.entrants) > 1 else ""
        lines.append({
            "model": line.model, "source": line.source, "n": n, "asked": f"{n:,}" if n else "",
            "swatch": Markup(f'<svg class="swatch chart" viewBox="0 0 14 14" aria-hidden="true">{swatch}</svg>' if swatch else ""),  # noqa: S704
            "plot": _plot(line, chance(study)),
            "cells": [_cell(name, cell) for name, cell in zip(table.measures, line.cells, strict=True)],
        })  # fmt: skip
    return {"columns": [measure_name(name) for name in table.measures], "lines": lines, "notes": table.notes}


def _plot(line: Line, guess: float) -> Any:
    first = line.cells[0] if line.cells else None
    return range_plot(first.value, first.low, first.high, guess) if first else ""


def range_plot(value: float | None, low: float | None, high: float | None, guess: float) -> Any:
    """A figure and its interval on a line from 0 to 1, with a tick where guessing would be; nothing for other figures."""
    from markupsafe import Markup

    if value is None or not 0 <= value <= 1:  # also where it is not a number
        return ""
    parts = [svg.line(svg.Point(0, 8), svg.Point(120, 8), "grid"),
             svg.line(svg.Point(120 * guess, 3), svg.Point(120 * guess, 13), "guide")]
    if low is not None and high is not None and low <= high:
        parts.append(svg.line(svg.Point(120 * low, 8), svg.Point(120 * high, 8), "whisker"))
    parts.append(svg.tag("circle", {"cx": 120 * value, "cy": 8, "r": 4, "class_": "dot"}))
    drawn = "".join(parts)
    return Markup(f'<svg class="tiny chart" viewBox="-5 0 130 16" aria-hidden="true">{drawn}</svg>')  # noqa: S704 - numbers only


def _cell(name: str, score: Score | None) -> dict[str, Any]:
    known = score is not None and score.value is not None
    value, low, high = (score.value, score.low, score.high) if score else (None, None, None)
    return {"name": measure_name(name), "text": percentage(value, 1) if known else "", "sort": value if known else "",
            "range": f"{100 * low:.1f}–{100 * high:.1f}" if known and low is not None and high is not None else ""}


def measure_name(measure: str) -> str:
    """A measure as people read it.

    >>> measure_name("pattern_accuracy@0.95")
    'Pattern accuracy @ 0.95'
    """
    base, _, threshold = measure.partition("@")
    return words(base).capitalize() + (f" @ {threshold}" if threshold else "")


def figure_view(figure: Figure, prefix: str) -> dict[str, Any]:
    """A figure as the template shows it; `prefix` keeps ids apart."""
    from markupsafe import Markup

    rows = [[_number(value) for value in row] for row in figure.rows[:ROWS]]
    more = f"{len(figure.rows) - ROWS:,} more rows are in the CSV that `gnomon report --figures` writes." if len(figure.rows) > ROWS else ""
    return {"name": figure.name, "title": figure.title, "caption": figure.caption, "columns": figure.columns, "rows": rows,
            "more": more, "svg": Markup(figure.svg(prefix))}  # noqa: S704 - escaped as it was drawn


def _number(value: Any) -> dict[str, Any]:
    if value is None:
        return {"text": "–", "number": True}
    if isinstance(value, float):
        return {"text": f"{value:.4g}", "number": True}
    return {"text": f"{value:,}" if isinstance(value, int) else str(value), "number": isinstance(value, int)}


EMBLEM = ('<svg viewBox="0 0 24 24" aria-hidden="true"><circle cx="12" cy="12" r="10.5" fill="none" stroke="currentColor" '
          'stroke-width="1.5"/><path d="M12 12 18.5 5.5" stroke="currentColor" stroke-width="1.5" opacity=".45"/>'
          '<path d="M12 12 12 4 16.5 16.5Z" fill="currentColor"/></svg>')
MOON = ('<svg viewBox="0 0 24 24" aria-hidden="true"><circle cx="12" cy="12" r="8.5" fill="none" stroke="currentColor" '
        'stroke-width="1.6"/><path d="M12 3.5a8.5 8.5 0 0 1 0 17Z" fill="currentColor"/></svg>')
