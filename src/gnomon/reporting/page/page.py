"""The report: one self-contained page, written from runs.

Everything from data passes through autoescaping or, for the drawings, through `svg.escape`. A
content security policy with the hashes of the one style sheet and the one script forbids everything
else.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon import __version__
from gnomon.errors import MissingExtraError, UsageError
from gnomon.reporting.charts import svg
from gnomon.reporting.figures import Figure, figures
from gnomon.reporting.page.items import pack
from gnomon.reporting.page.methods import methods
from gnomon.reporting.page.summary import title
from gnomon.reporting.page.views import study_view
from gnomon.reporting.study import Study, studies
from gnomon.reporting.words import counted, listed

if TYPE_CHECKING:
    from gnomon.runs import Run

ASSETS = Path(__file__).parents[1] / "assets"
BRIEF = 2  # with more benchmarks than this the page opens with one sentence on each
MORE = {
    "ground": ("#faf9f6", "#101215"),
    "veil": ("#faf9f6ee", "#101215ee"),
    "line": ("#bdbab2", "#4a4f58"),
    "link": ("#005a8f", "#7cc4f0"),
    "good": ("#00694a", "#4fd0a8"),
    "bad": ("#a83f00", "#f7a06a"),
}


def write_report(
    runs: Run | str | Path | Sequence[Run | str | Path],
    output: str | Path,
    *,
    figures_folder: str | Path | None = None,
    command: str = "",
) -> Path:
    """Write the report of some runs to one HTML file and, if asked, its figures to a folder; return
    the file's path.

    Runs are runs or their folders; a folder of runs stands for all in it.
    """
    from gnomon.reporting.tables.export import made_folder, write_figures
    from gnomon.runs import Run, open_runs
    from gnomon.writing import whole_or_not

    named = [runs] if isinstance(runs, Run | str | Path) else list(runs)
    opened = [
        found for run in named for found in ([run] if isinstance(run, Run) else open_runs([run]))
    ]
    if not opened:
        raise UsageError(
            "There are no runs to report on.", "Name run folders; `gnomon list runs` shows them."
        )
    output = Path(output)
    if output.is_dir():
        raise UsageError(
            f"{output} is a folder.",
            f"Name the page's file, for instance {output / 'report.html'}.",
        )
    made_folder(output.parent)
    if figures_folder:
        made_folder(Path(figures_folder))
    found = studies(opened)
    drawn = [figures(study) for study in found]
    shown = (
        command
        or "gnomon report " + " ".join(run.path.name for run in opened) + f" -o {output.name}"
    )
    page = render(found, drawn, shown).encode("utf-8", errors="replace")
    if output.exists() and not output.is_file():  # a pipe or a terminal, which must not be replaced
        output.write_bytes(page)
    else:
        with whole_or_not(output.resolve()) as part:
            part.write_bytes(page)
    if figures_folder:
        write_figures(found, drawn, Path(figures_folder))
    return output


def render(found: list[Study], drawn: list[list[Figure]], command: str = "gnomon report") -> str:
    """The page as text."""
    from markupsafe import Markup

    style = style_sheet()
    script = "".join(
        (ASSETS / name).read_text(encoding="utf-8") for name in ("page.js", "items.js")
    )
    page: str = (
        environment()
        .get_template("report.html.j2")
        .render(
            title=title(found),
            brief=len(found) > BRIEF,
            subtitle=_subtitle(found),
            version=__version__,
            command=command,
            policy=policy(style, script),
            style=Markup(style),  # noqa: S704
            script=Markup(script),  # noqa: S704
            **icons(),
            studies=[
                study_view(study, charts, i)
                for i, (study, charts) in enumerate(zip(found, drawn, strict=True))
            ],
            packs=[pack(study) for study in found],
            methods=methods(found),
        )
    )
    return page


@lru_cache(maxsize=1)
def environment() -> Any:
    """The templates, with everything escaped."""
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError:
        raise MissingExtraError("The report", "report") from None
    found = Environment(
        loader=FileSystemLoader(ASSETS),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters["figures_strong"] = strong_figures
    return found


def strong_figures(text: str) -> Any:
    """A sentence with its percentages set strong.

    >>> print(strong_figures("right on 61 % of <items>"))
    right on <strong>61 %</strong> of &lt;items&gt;
    """
    from markupsafe import Markup, escape

    parts = re.split(r"(\d+(?:\.\d+)?[ \xa0]%)", text)
    return Markup("").join(
        Markup("<strong>{}</strong>").format(p) if i % 2 else escape(p) for i, p in enumerate(parts)
    )


@lru_cache(maxsize=1)
def style_sheet() -> str:
    """The style sheet with the colours of both themes."""
    light = svg.variables({**svg.LIGHT, **{name: pair[0] for name, pair in MORE.items()}})
    dark = svg.variables({**svg.DARK, **{name: pair[1] for name, pair in MORE.items()}})
    return (
        f":root{{color-scheme:light;{light}}}@media (prefers-color-scheme:dark){{:root:not([data-theme=light])"
        f"{{color-scheme:dark;{dark}}}}}:root[data-theme=dark]{{color-scheme:dark;{dark}}}"
        f"@media print{{:root,:root[data-theme=dark],:root:not([data-theme=light]){{color-scheme:light;{light}}}}}"
        + svg.page_rules()
        + (ASSETS / "style.css").read_text(encoding="utf-8")
    )


def policy(style: str, script: str) -> str:
    """A content security policy that allows this style sheet, this script and nothing else."""
    return (
        f"default-src 'none'; style-src '{digest(style)}'; script-src '{digest(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def digest(text: str) -> str:
    """The hash by which a policy names a style sheet or script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _subtitle(found: list[Study]) -> str:
    runs = [e.run for study in found for e in study.entrants]
    dates = sorted({run.manifest.started.strftime("%-d %B %Y") for run in runs})
    items = sum(len(study.items) for study in found)
    when = dates[0] if len(dates) == 1 else f"{len(dates)} days"
    what = (
        listed([study.name for study in found])
        if len(found) <= 3
        else counted(len(found), "benchmarks")
    )
    return f"{counted(len(runs), 'runs')}, {counted(items, 'items')} of {what}, {when}"


def icons() -> dict[str, Any]:
    """The emblem and the switch of colours."""
    from markupsafe import Markup

    return {"emblem": Markup(EMBLEM), "moon": Markup(MOON)}  # noqa: S704 - our own drawings


EMBLEM = (
    '<svg viewBox="0 0 24 24" aria-hidden="true"><circle cx="12" cy="12" r="10.5" fill="none" stroke="currentColor" '
    'stroke-width="1.5"/><path d="M12 12 18.5 5.5" stroke="currentColor" stroke-width="1.5" opacity=".45"/>'
    '<path d="M12 12 12 4 16.5 16.5Z" fill="currentColor"/></svg>'
)
MOON = (
    '<svg viewBox="0 0 24 24" aria-hidden="true"><circle cx="12" cy="12" r="8.5" fill="none" stroke="currentColor" '
    'stroke-width="1.6"/><path d="M12 3.5a8.5 8.5 0 0 1 0 17Z" fill="currentColor"/></svg>'
)
