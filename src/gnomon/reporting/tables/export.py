"""Figures as files for papers: SVG in the colours of paper, PNG at three times the size, and the
numbers as CSV."""

from __future__ import annotations

import csv
import importlib.util
import re
from pathlib import Path
from typing import Any

from gnomon.errors import DataError, MissingExtraError
from gnomon.reporting.charts.svg import standalone
from gnomon.reporting.figures import Figure
from gnomon.reporting.study import Study

ZOOM = 3.0


def write_figures(studies: list[Study], drawn: list[list[Figure]], folder: Path) -> list[Path]:
    """Write every figure three times: NAME.svg, NAME.png, NAME.csv."""
    if importlib.util.find_spec("resvg_py") is None:
        raise MissingExtraError("Writing PNG files", "report")
    made_folder(folder)
    written: list[Path] = []
    try:
        _write(studies, drawn, folder, written)
    except OSError as error:
        raise DataError(
            f"the figures cannot be written: {error.strerror or error}.",
            "Check the disk and the folder's permissions.",
            file=folder,
        ) from None
    return written


def _write(
    studies: list[Study], drawn: list[list[Figure]], folder: Path, written: list[Path]
) -> None:
    for study, charts in zip(studies, drawn, strict=True):
        for chart in charts:
            stem = folder / f"{file_name(study.name)}-{file_name(chart.name)}"
            picture = standalone(chart.svg())
            written += [stem.with_name(f"{stem.name}.{kind}") for kind in ("svg", "png", "csv")]
            written[-3].write_text(picture, encoding="utf-8", newline="\n")
            written[-2].write_bytes(png(picture))
            with written[-1].open("w", encoding="utf-8", newline="") as out:
                table = csv.writer(out, lineterminator="\n")
                table.writerow(chart.columns)
                table.writerows([harmless(value) for value in row] for row in chart.rows)


def made_folder(folder: Path) -> Path:
    """The folder, made where it is not there; said in a sentence where it cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(
            f"the folder cannot be made: {error.strerror or error}.",
            "Name another folder.",
            file=folder,
        ) from None
    return folder


def harmless(value: Any) -> Any:
    """A cell that no spreadsheet takes for a formula.

    >>> harmless("=1+1"), harmless(-1.5)
    ("'=1+1", -1.5)
    """
    return (
        f"'{value}"
        if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r"))
        else value
    )


def png(picture: str) -> bytes:
    """A drawing as pixels."""
    from resvg_py import svg_to_bytes

    return bytes(svg_to_bytes(svg_string=picture, zoom=ZOOM, sans_serif_family="DejaVu Sans"))


def file_name(text: str) -> str:
    """A name that every file system takes.

    >>> file_name("scales@fresh"), file_name("../a b")
    ('scales-fresh', 'a-b')
    """
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-.")[:100] or "figure"
