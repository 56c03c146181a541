from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import gnomon.reports.figures.files as export
from gnomon.errors import MissingFontWarning
from gnomon.reports.charts.pdf import Faces, pdf, system_faces
from gnomon.reports.charts.svg import (
    DrawnPoint,
    drawing,
    line,
    mark,
    path,
    rect,
    standalone,
    tag,
    text,
)

NO_FONT = "there is no TrueType font"


@pytest.fixture(scope="module")
def faces() -> Faces:
    found = system_faces()
    if found is None:
        pytest.skip(NO_FONT)
    return found


def picture() -> str:
    body = [
        rect(10, 10, 80, 20, "f0 pale"),
        line(0, 40, 100, 40, "guide"),
        path([DrawnPoint(0, 0), DrawnPoint(10, 10), DrawnPoint(20, 5)], "curve l1"),
        mark(DrawnPoint(50, 50), 0),
        mark(DrawnPoint(60, 50), 2),
        text(50, 70, "Größe – naïve 100 %", "head", "middle"),
        text(5, 60, "upright", turn=True),
        tag("g", {"transform": "translate(0 20)"}, text(0, 60, "moved")),
    ]
    return standalone(drawing(200, 100, body, "Title – ü", "What it shows", "name"))


def test_a_page_is_as_large_as_the_drawing_at_96_pixels_an_inch(faces: Faces) -> None:
    size = re.search(rb"/MediaBox \[ 0 0 ([\d.]+) ([\d.]+) \]", pdf(picture(), faces))
    assert size is not None
    assert [float(side) for side in size.groups()] == [168, 93]  # (200 + 24) x (100 + 24) pixels


def test_shapes_stay_vectors_and_colours_those_of_the_rules(
    faces: Faces, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reportlab.rl_config.pageCompression", 0)
    found = re.search(rb"stream\r?\n(1 0 0 1 .*?)endstream", pdf(picture(), faces), re.S)
    assert found is not None
    steps = found[1].decode("latin-1")
    assert "10 10 80 20 re" in steps
    assert "0 40 m 100 40 l" in steps
    assert "[4 3] 0 d" in steps, "the guide is dashed"
    assert ".05098 .305882 .572549 rg" in steps, "#0d4e92"
    assert steps.split().count("c") == 4, "a circle"
    assert "1 0 0 1 0 20 cm" in steps
    assert steps.split().count("q") == steps.split().count("Q")
    assert steps.count("BT") == steps.count("ET") == 3


def test_the_same_drawing_gives_the_same_bytes(faces: Faces) -> None:
    assert pdf(picture(), faces) == pdf(picture(), faces)


def test_a_real_reader_finds_text_embedded_fonts_and_the_title(
    faces: Faces, tmp_path: Path
) -> None:
    if shutil.which("pdftotext") is None:
        pytest.skip("there is no pdftotext")
    file = tmp_path / "page.pdf"
    file.write_bytes(pdf(picture(), faces))

    def said(*command: str) -> str:
        done = subprocess.run([*command], capture_output=True, text=True, check=True)
        assert done.stderr == ""
        return done.stdout

    read = said("pdftotext", str(file), "-")
    for words in ("Größe – naïve 100 %", "moved", "upright"):
        assert words in read
    about = said("pdfinfo", str(file))
    assert "Title – ü" in about
    assert re.search(r"Page size: +168 x 93 pts", about)
    fonts = said("pdffonts", str(file)).splitlines()[2:]
    assert len(fonts) == 2  # regular and bold
    assert all("yes yes yes" in font for font in fonts)  # embedded, a part, searchable


def test_without_a_font_the_other_formats_are_written_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "system_faces", lambda: None)
    with pytest.warns(MissingFontWarning, match="No PDF files"):
        assert export.write_figures([], [], tmp_path) == []
