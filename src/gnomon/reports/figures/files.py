"""Figures as files for papers: SVG, PDF, PNG at three times the size, and the numbers as CSV."""

import importlib.util
from pathlib import Path
from warnings import warn

from gnomon.errors import MissingExtraError, MissingFontWarning, UsageError
from gnomon.items.writing import atomic_file
from gnomon.reports.charts.pdf import pdf, system_faces
from gnomon.reports.charts.svg import standalone
from gnomon.reports.figures import Figure, file_name
from gnomon.reports.shell import make_folder
from gnomon.reports.study import Study
from gnomon.tabular import write_csv

ZOOM = 3.0
KINDS = (".svg", ".pdf", ".png", ".csv")
NEEDS = {".pdf": "reportlab", ".png": "resvg_py"}  # by kind of file, a package of `report`
NO_FONT = (
    "No PDF files are written: there is no TrueType font that is known here. Install DejaVu Sans, "
    "Liberation Sans, Noto Sans or Arial."
)


def write_figures(
    studies: list[Study], drawn: list[list[Figure]], folder: Path, overview: Figure | None = None
) -> list[Path]:
    """Write every figure as NAME.svg, NAME.pdf, NAME.png and NAME.csv. Each file appears whole.

    The overview has no study, and is called `overview`.
    """
    for kind in NEEDS:
        _check_kind(kind)
    make_folder(folder)
    kinds = list(KINDS)
    if system_faces() is None:
        warn(NO_FONT, MissingFontWarning, stacklevel=2)
        kinds.remove(".pdf")
    named = {file_name(overview.name): overview} if overview and overview.rows else {}
    for study, figures in zip(studies, drawn, strict=True):
        for figure in figures:
            named[f"{file_name(study.name)}-{file_name(figure.name)}"] = figure
    written = []
    for stem, figure in named.items():
        written += [save_figure(figure, folder / f"{stem}{kind}") for kind in kinds]
    return written


def save_figure(figure: Figure, path: Path) -> Path:
    """Write a figure as the kind of file that the name says."""
    kind = path.suffix.lower()
    _check_kind(kind)
    faces = system_faces()
    if kind == ".pdf" and faces is None:
        raise UsageError(NO_FONT.partition(":")[2].strip(), "Or save it as .svg or .png.")
    picture = standalone(figure.svg())
    with atomic_file(path) as part:
        if kind == ".csv":
            with part.open("w", encoding="utf-8", newline="") as out:
                write_csv(out, figure.columns, figure.rows)
        elif kind == ".svg":
            part.write_text(picture, encoding="utf-8", newline="\n")
        elif kind == ".png":
            part.write_bytes(png(picture))
        elif faces is not None:
            part.write_bytes(pdf(picture, faces))
    return path


def _check_kind(kind: str) -> None:
    """Refuse what no file of a figure is called, or what needs a package that is not here."""
    if kind not in KINDS:
        raise UsageError(
            f"A figure cannot be saved as '{kind or 'a file without an ending'}'.",
            f"Choose {', '.join(KINDS)}.",
        )
    needed = NEEDS.get(kind)
    if needed and importlib.util.find_spec(needed) is None:
        raise MissingExtraError(f"Writing {kind[1:].upper()} files", "report")


def png(picture: str) -> bytes:
    """A drawing as pixels."""
    from resvg_py import svg_to_bytes

    return bytes(svg_to_bytes(svg_string=picture, zoom=ZOOM, sans_serif_family="DejaVu Sans"))
