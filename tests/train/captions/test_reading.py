"""Captions are read from every kind of file; what is damaged is told with its place."""

import gzip
import json
from pathlib import Path

import pytest

from gnomon.errors import DataError
from gnomon.train.captions.files import CorpusCaption, Damages, read_captions

WANTED = [CorpusCaption("A cat on a mat.", "7"), CorpusCaption("A dog by the door.", "9")]


def read(file: Path) -> tuple[list[CorpusCaption], Damages]:
    damages = Damages()
    return list(read_captions(file, damages)), damages


def coco(annotations):
    return json.dumps({"info": {}, "images": [{"id": 7}, {"id": 9}], "annotations": annotations})


def test_coco_captions():
    rows = [
        {"id": 1, "image_id": 7, "caption": "A cat on a mat."},
        {"id": 2, "image_id": 9, "caption": "A dog by the door."},
    ]
    Path("captions_train2017.json").write_text(coco(rows))
    assert read(Path("captions_train2017.json"))[0] == WANTED


def test_visual_genome_regions():
    pictures = [
        {"id": 7, "regions": [{"region_id": 1, "phrase": "A cat on a mat.", "x": 1}]},
        {"id": 9, "regions": [{"region_id": 2, "phrase": "A dog by the door.", "x": 1}]},
    ]
    Path("region_descriptions.json").write_text(json.dumps(pictures))
    assert read(Path("region_descriptions.json"))[0] == WANTED


def test_json_lines_name_their_picture_or_not():
    lines = ['{"caption": "A cat on a mat.", "image": "7", "label": 1}', '{"caption": "A dog."}']
    Path("captions.jsonl").write_text("\n".join(lines))
    assert read(Path("captions.jsonl"))[0] == [WANTED[0], CorpusCaption("A dog.")]


def test_tables_with_and_without_a_header():
    rows = "A cat on a mat.\t7\nA dog by the door.\t9\n"
    Path("cc3m.tsv").write_text(rows)
    assert read(Path("cc3m.tsv"))[0] == WANTED
    Path("header.tsv").write_text("caption\turl\n" + rows)
    assert read(Path("header.tsv"))[0] == WANTED


def test_plain_lines_packed_or_not():
    text = "A cat on a mat.\n\nA dog by the door.\n"
    Path("captions.txt").write_text(text)
    Path("captions.txt.gz").write_bytes(gzip.compress(text.encode()))
    wanted = [CorpusCaption("A cat on a mat."), CorpusCaption("A dog by the door.")]
    assert read(Path("captions.txt"))[0] == wanted
    assert read(Path("captions.txt.gz"))[0] == wanted


def test_damaged_lines_are_told_with_file_and_line_and_the_rest_is_read():
    lines = [b'{"caption": "A cat."}', b"{", b'{"text": "A dog."}', b'{"caption": "\xff"}']
    Path("captions.jsonl").write_bytes(b"\n".join([*lines, b'{"caption": "A bird."}']))
    found, damages = read(Path("captions.jsonl"))
    assert [caption.text for caption in found] == ["A cat.", "A bird."]
    assert damages.count == 3
    places = [place.split(":")[0] for place in damages.first]
    assert sorted(places) == [f"captions.jsonl, line {number}" for number in (2, 3, 4)]


def test_a_row_of_a_table_with_other_fields_is_told():
    Path("cc3m.tsv").write_text("A cat on a mat.\t7\nno address\nA dog by the door.\t9\n")
    found, damages = read(Path("cc3m.tsv"))
    assert found == WANTED
    assert damages.first == [
        "cc3m.tsv, line 2: 1 fields, where a caption and an address are expected"
    ]


def test_damaged_elements_are_told_with_their_byte_and_sound_ones_are_kept():
    rows = [{"id": 1, "image_id": 7, "caption": None}, {"image_id": 9, "caption": "A dog."}]
    text = coco(rows)
    Path("captions.json").write_text(text)
    found, damages = read(Path("captions.json"))
    assert found == [CorpusCaption("A dog.", "9")]
    byte = text.index('{"id": 1')
    assert damages.first[0].startswith(f"captions.json, byte {byte}: ")

    sound = {"id": 7, "regions": [{"phrase": "A cat on a mat."}]}
    Path("regions.json").write_text(json.dumps([sound, {"id": 8, "regions": [{"phrase": 3}]}]))
    found, damages = read(Path("regions.json"))
    assert (found, damages.count) == ([WANTED[0]], 1)


def test_a_file_that_ends_too_early_gives_what_stands_before():
    rows = [{"image_id": 7, "caption": "A cat on a mat."}, {"image_id": 9, "caption": "A dog."}]
    Path("captions.json").write_text(coco(rows)[:-12])
    found, damages = read(Path("captions.json"))
    assert found == [WANTED[0]]
    assert damages.count == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("instances.json", coco([{"id": 1, "image_id": 7, "bbox": [1, 2, 3, 4]}])),
        ("empty.txt", ""),
        ("other.jsonl", '{"premise": "a"}'),
    ],
)
def test_a_file_without_captions_is_refused(name, text):
    Path(name).write_text(text)
    with pytest.raises(DataError, match="no captions"):
        read(Path(name))
