"""Regions from strangers' files: found by picture, bounded, and one sentence for what is wrong."""

import base64
import json
import os

import pytest

from gnomon.errors import DataError
from gnomon.records import Image
from gnomon.vision import regions as vinvl
from gnomon.vision.regions import RegionFeatures, open_regions

np = pytest.importorskip("numpy")
PICTURE = Image(path="somewhere/000000000042.jpg", width=200, height=100)


def packed(rows) -> str:
    return base64.b64encode(np.asarray(rows, dtype="<f4").tobytes()).decode()


UNEVEN = [{"feature": packed([1.0])}, {"feature": packed([1.0, 2.0])}]


def table(tmp_path, *lines) -> str:
    file = tmp_path / "feature.tsv"
    file.write_text("\n".join(lines) + "\n")
    return str(file)


def test_the_three_forms_of_vinvl_say_the_same(tmp_path):
    rows = [[1.0, 2.0], [3.0, 4.0]]
    one_by_one = [{"feature": packed(row)} for row in rows]
    forms = (
        f"42\t2\t{packed(rows)}",
        "42\t" + json.dumps({"num_boxes": 2, "features": packed(rows)}),
        "42\t" + json.dumps(one_by_one),
        "000000000042\t" + json.dumps({"objects": one_by_one}),
    )
    for line in forms:
        found = open_regions(table(tmp_path, line)).regions(PICTURE)
        assert found.features.tolist() == rows
        assert found.boxes is None


def test_boxes_in_pixels_become_shares(tmp_path):
    region = {"feature": packed([1.0]), "rect": [50, 25, 200, 100]}
    found = open_regions(table(tmp_path, "42\t" + json.dumps([region]))).regions(PICTURE)
    assert found.boxes.tolist() == [[0.25, 0.25, 1.0, 1.0]]


def test_geometry_behind_features_gives_the_boxes():
    rows = np.arange(16, dtype=np.float32).reshape(2, 8)
    found = RegionFeatures(rows, None).fitted(2, PICTURE)
    assert found.features.tolist() == [[0, 1], [8, 9]]
    assert found.boxes.tolist() == [[2, 3, 4, 5], [10, 11, 12, 13]]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("42 without a tab", "no name of a picture"),
        ("42\tnot json", "cannot be read"),
        ("42\t[]", "no regions"),
        ("42\t2\t" + packed([1.0, 2.0, 3.0]), "12 bytes of features are not those of 2 regions"),
        ("42\t0\t" + packed([1.0]), "not those of 0 regions"),
        ("42\tmany\t" + packed([1.0]), "invalid literal"),
        ("42\t1\t???", "cannot be read"),
        ("42\t1\t2\t3", "it has 4 fields"),
        ("42\t" + json.dumps({"num_boxes": 10**12, "features": packed([1.0])}), "not those of"),
        ("42\t" + json.dumps(UNEVEN), "different lengths"),
        ("42\t1\t" + packed([float("nan")]), "not a number"),
    ],
)
def test_a_bad_row_is_told_with_file_and_line(tmp_path, line, problem):
    with pytest.raises(DataError, match=problem) as error:
        open_regions(table(tmp_path, f"41\t1\t{packed([1.0])}", line)).regions(PICTURE)
    assert "feature.tsv" in error.value.message
    assert "\n" not in error.value.message


def test_a_bad_row_spoils_no_other(tmp_path):
    files = open_regions(table(tmp_path, "41\tnot json", f"42\t1\t{packed([1.0])}"))
    assert files.regions(PICTURE).features.tolist() == [[1.0]]


def test_a_line_that_is_too_long_and_a_name_twice_are_refused(tmp_path, monkeypatch):
    row = f"42\t1\t{packed([1.0])}"
    with pytest.raises(DataError, match="tsv:2: 42 is there twice"):
        open_regions(table(tmp_path, row, row))
    monkeypatch.setattr(vinvl, "MOST_LINE_BYTES", 10)
    with pytest.raises(DataError, match="tsv:1: the line is longer"):
        open_regions(table(tmp_path, row))


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "predictions.tsv")
    with pytest.raises(DataError, match="pipe"):
        open_regions(str(tmp_path))


def test_a_pickle_that_would_run_code_is_not_run(tmp_path):
    torch = pytest.importorskip("torch")
    mark = tmp_path / "ran"

    class Harm:
        def __reduce__(self):
            return os.system, (f"touch {mark}",)

    torch.save(Harm(), tmp_path / "features.pt")
    (tmp_path / "names.txt").write_text("a.jpg\n")
    with pytest.raises(DataError, match="cannot be read"):
        open_regions(str(tmp_path))
    assert not mark.exists()


@pytest.mark.parametrize(
    ("saved", "names", "problem"),
    [
        ({"a": 1}, "a.jpg", "not one tensor"),
        ((2, 3), "a.jpg\nb.jpg", "not one tensor"),
        ((2, 3, 4), "a.jpg", "1 names, but features of 2 pictures"),
        ((2, 3, 4), "a.jpg\na.png", "a is there twice"),
        ((2, 3, 4), None, "no such file"),
        ((2, 2000, 1), "a.jpg\nb.jpg", "2,000 regions of 1 features are too many"),
    ],
)
def test_the_authors_folder_is_checked(tmp_path, saved, names, problem):
    torch = pytest.importorskip("torch")
    content = torch.ones(saved) if isinstance(saved, tuple) else saved
    torch.save(content, tmp_path / "features.pt")
    if names:
        (tmp_path / "names.txt").write_text(names)
    with pytest.raises(DataError, match=problem):
        open_regions(str(tmp_path))


def test_boxes_of_another_extraction_are_told(tmp_path):
    torch = pytest.importorskip("torch")
    torch.save(torch.ones(1, 3, 4), tmp_path / "features.pt")
    torch.save(torch.ones(1, 2, 4), tmp_path / "boxes.pt")
    (tmp_path / "names.txt").write_text("000000000042.jpg")
    with pytest.raises(DataError, match="boxes have the shape"):
        open_regions(str(tmp_path))


def test_boxes_that_are_no_shares_are_told(tmp_path):
    torch = pytest.importorskip("torch")
    torch.save(torch.ones(1, 2, 4), tmp_path / "features.pt")
    torch.save(torch.full((1, 2, 4), 50.0), tmp_path / "boxes.pt")
    (tmp_path / "names.txt").write_text("000000000042.jpg")
    with pytest.raises(DataError, match="from 0 to 1"):
        open_regions(str(tmp_path)).regions(PICTURE)


def test_a_damaged_file_of_our_own_is_told(tmp_path):
    pytest.importorskip("safetensors")
    (tmp_path / "000000000042.safetensors").write_bytes(b"\xff" * 50)
    with pytest.raises(DataError, match="cannot be read"):
        open_regions(str(tmp_path)).regions(PICTURE)
