"""Figures as files for papers: SVG, PDF, PNG at three times the size, and the numbers as CSV."""

import importlib.util
from pathlib import Path
from warnings import warn

from gnomon.errors import MissingExtraError, MissingFontWarning
from gnomon.items.writing import atomic_file
from gnomon.reports.charts.pdf import Faces, pdf, system_faces
from gnomon.reports.charts.svg import standalone
from gnomon.reports.figures import Figure, file_name
from gnomon.reports.shell import make_folder
from gnomon.reports.study import Study
from gnomon.tabular import write_csv

ZOOM = 3.0
NO_FONT = (
    "No PDF files are written: there is no TrueType font that is known here. Install DejaVu Sans, "
    "Liberation Sans, Noto Sans or Arial."
)


def write_figures(studies: list[Study], drawn: list[list[Figure]], folder: Path) -> list[Path]:
    """Write every figure as NAME.svg, NAME.pdf, NAME.png and NAME.csv. Each file appears whole."""
    if importlib.util.find_spec("resvg_py") is None:
        raise MissingExtraError("Writing PNG files", "report")

    make_folder(folder)
    faces = system_faces()
    if faces is None:
        warn(NO_FONT, MissingFontWarning, stacklevel=2)
    written = []
    for study, figures in zip(studies, drawn, strict=True):
        for figure in figures:
            stem = f"{file_name(study.name)}-{file_name(figure.name)}"
            written += _write_figure(figure, folder / stem, faces)
    return written


def _write_figure(figure: Figure, stem: Path, faces: Faces | None) -> list[Path]:
    drawing, pixels, numbers = (Path(f"{stem}.{kind}") for kind in ("svg", "png", "csv"))
    picture = standalone(figure.svg())
    with atomic_file(drawing) as part:
        part.write_text(picture, encoding="utf-8", newline="\n")
    with atomic_file(pixels) as part:
        part.write_bytes(png(picture))
    with atomic_file(numbers) as part, part.open("w", encoding="utf-8", newline="") as out:
        write_csv(out, figure.columns, figure.rows)
    if faces is None:
        return [drawing, pixels, numbers]
    page = Path(f"{stem}.pdf")
    with atomic_file(page) as part:
        part.write_bytes(pdf(picture, faces))
    return [drawing, page, pixels, numbers]


def png(picture: str) -> bytes:
    """A drawing as pixels."""
    from resvg_py import svg_to_bytes

    return bytes(svg_to_bytes(svg_string=picture, zoom=ZOOM, sans_serif_family="DejaVu Sans"))
