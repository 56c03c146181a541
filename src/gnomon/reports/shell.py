"""The shell of a self-contained page: templates, style sheet, scripts and policy.

Everything from data passes through autoescaping or, for the drawings, through `svg.escape`. A
content security policy with the hashes of the one style sheet and the one script forbids everything
else.
"""

from __future__ import annotations

import base64
import hashlib
import re
from functools import lru_cache
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon import __version__, tabular
from gnomon.errors import DataError, UsageError, importing
from gnomon.forms import gold_in_words
from gnomon.measures.chance import verdict
from gnomon.reports import words
from gnomon.reports.charts import svg
from gnomon.trust import check_replaceable

if TYPE_CHECKING:
    from markupsafe import Markup

ASSETS = svg.ASSETS
NO_PAGES = (".pdf", ".png", ".svg", ".md", ".tex", ".docx", ".json")  # endings of other formats


def page(
    template: str, *scripts: str, style: str = "", folder: Path = ASSETS, **context: Any
) -> str:
    """A whole page from a template of a folder, with these scripts and this style besides ours."""
    from markupsafe import Markup

    style = style_sheet() + style
    script = "".join(scripts)
    text: str = (
        environment(folder)
        .get_template(template)
        .render(
            version=__version__,
            policy=policy(style, script),
            style=Markup(style),  # noqa: S704 - our own
            script=Markup(script),  # noqa: S704 - our own
            **icons(),
            **context,
        )
    )
    return text


def asset(name: str, folder: Path = ASSETS) -> str:
    """A script or style sheet of ours."""
    return (folder / name).read_text(encoding="utf-8")


@lru_cache(maxsize=8)
def environment(folder: Path = ASSETS) -> Any:
    """The templates of a folder, besides those of the report, with everything escaped."""
    with importing("The report", "report"):
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    templates = Environment(
        loader=FileSystemLoader([folder, ASSETS]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= {
        "figures_strong": strong_figures,
        "verdict": lambda figure: verdict(figure.low, figure.high, figure.chance),
        "span": lambda figure, digits=0: words.interval_of(figure.low, figure.high, digits),
        "number": "{:,}".format,
        "sortable": lambda value: "" if value is None or isnan(value) else value,
        "percentage": words.percentage,
        "gold_in_words": gold_in_words,
        "measure_name": words.measure_name,
        "capitalised": words.capitalised,
        "counted": words.counted,
        "clip": words.clip,
        "shown_cell": tabular.shown_cell,
    }
    return templates


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
    light = "color-scheme:light;" + svg.variables(svg.LIGHT)
    dark = "color-scheme:dark;" + svg.variables(svg.DARK)
    chosen_dark = ":root[data-theme=dark]"
    not_light = ":root:not([data-theme=light])"
    return "".join(
        (
            f":root{{{light}}}",
            f"@media (prefers-color-scheme:dark){{{not_light}{{{dark}}}}}",
            f"{chosen_dark}{{{dark}}}",
            f"@media print{{:root,{chosen_dark},{not_light}{{{light}}}}}",
            svg.RULES,
            asset("style.css"),
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


def icons() -> dict[str, Markup]:
    """The emblem and the switch of colours."""
    from markupsafe import Markup

    return {name: Markup(asset(f"{name}.svg")) for name in ("emblem", "moon")}  # noqa: S704 - ours


def page_file(output: str | Path, example: str) -> Path:
    """The file of a page, in a folder that is there; one that is a folder is refused."""
    file = Path(output)
    if file.is_dir():
        raise UsageError(
            f"{file} is a folder.", f"Name the page's file, for instance {file / example}."
        )
    if file.suffix.lower() in NO_PAGES:
        hint = f"Name it {file.with_suffix('.html')}; a browser prints it as PDF."
        raise UsageError(f"The page is HTML, which {file} would not say.", hint)
    if file.is_file():
        check_replaceable(file, str(file))
    make_folder(file.parent)
    return file


def make_folder(folder: Path) -> None:
    """Make the folder where there is none; say in a sentence where that cannot be done."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(
            f"the folder cannot be made: {error.strerror or error}.",
            "Name another folder.",
            file=folder,
        ) from None


def write_page(output: Path, text: str) -> None:
    """Write a page whole or not at all."""
    from gnomon.items.writing import atomic_file

    page = text.encode("utf-8", errors="replace")
    if output.exists() and not output.is_file():  # a pipe or a terminal, which must not be replaced
        output.write_bytes(page)
        return
    with atomic_file(output.resolve()) as part:
        part.write_bytes(page)
