"""Every published source reads files of the authors' form, in the layout of their repositories.

The files are tiny and their content is our own, so these tests run everywhere; what the authors'
files themselves hold, the other tests here check where those files are.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import gnomon
from gnomon.records import problem
from gnomon.registry import BENCHMARKS, benchmark

PATTERNS = """<?xml version="1.0" encoding="UTF-8"?>
<problems>
<group seed="1" ent_type="non-projective">
  <problem id="1" label="entailment" exp="near">
    <ex>The fox is near the shed
        The shed is near the fox</ex>
    <PT>{NP1} is near {NP2}
        {NP2} is near {NP1}</PT>
  </problem>
  <problem id="2" label="contradiction" exp="near">
    <PT>{NP1} is near {NP2}
        {NP2} is not near {NP1}</PT>
  </problem>
  <SR>near(NP1,NP2)</SR>
  <FT>NP1[+det]; NP2[+det]</FT>
</group>
</problems>
"""
WORLD = """
beast_n: &BEAST {fox, owl}
house_n: &HOUSE {shed, mill, tent}
near_p2:
- [*BEAST, *HOUSE]
"""


def lines(*rows: dict[str, object]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def caption(number: int, label: int, text: str, relation: str) -> dict[str, object]:
    image = f"{number:012d}.jpg"
    return {
        "image": image,
        "image_link": f"http://images.cocodataset.org/val2017/{image}",
        "caption": text,
        "label": label,
        "relation": relation,
        "annotator_id": 1,
        "vote_true_validator_id": [2, 3] if label else [],
        "vote_false_validator_id": [] if label else [2, 3],
    }


CAPTIONS = [
    caption(1, 1, "The owl is on the roof.", "on"),
    caption(2, 0, "The owl is on the roof.", "on"),
    caption(3, 1, "The mug is beside the kettle.", "beside"),
]
SIZES = "o1,o2,>,<,typical\nmill,owl,90,10,>\nowl,mill,10,90,<\n"
ELEVATIONS = (
    "o1,o2,>,=,<,scene,freq,typical\n"
    "shelf,rug,95,3,2,living_room,100,>\n"
    'stool,crate,40,50,10,office,100,">,="\n'
)
QUESTION = "A man drives the car. Is the man {} the car?"
FILES = {
    "spacenli": {
        "dataset/problem_patterns.xml": PATTERNS,
        "config/selection_restriction.yaml": WORLD,
    },
    "spatial-commonsense": {
        "data/size/data.json": lines(
            {
                "text": "An ant and a bird.",
                "question": "Is an ant larger than a bird?",
                "obj_a": "ant",
                "obj_b": "bird",
                "label": 0,
            }
        ),
        "data/height/data.json": "",
        "data/posrel/data.json": lines(
            {"text": "A man drives the car. ", "label": 0, "obj_a": "man", "obj_b": "car"},
            {"text": "A man washes the car. ", "label": 3, "obj_a": "man", "obj_b": "car"},
        ),
        "data/posrel/data_qa.json": lines(
            {"question": QUESTION.format("inside"), "label": 1},
            {"question": QUESTION.format("beside"), "label": 0},
            {"question": QUESTION.replace("drives", "washes").format("beside"), "label": 1},
            {"question": QUESTION.replace("drives", "washes").format("inside"), "label": 0},
        ),
    },
    "spatialqa": {
        "results/results-somebody.tsv": (
            "premise\thypothesis\tentailment\treasoning_type\tfunction_name\tg_id\tanswer\tcorrect\n"
            "Ann walks.\tAnn moves.\tentailment\tmotion\twalks\t0\tneutral\tFalse\n"
            "Ann walks on air.\tAnn flies.\tcontradiction,neutral\tmetaphor\tair\t1\tNone\tFalse\n"
        ),
    },
    "viphy": {
        "results/colors.json": '{"owl": {"brown": 0.7, "white": 0.3}, "mill": {"white": 1.0}}',
        "results/size.csv": SIZES,
        "results/spatial.csv": ELEVATIONS,
        "data/object_names_c5.json": '{"owl": 300, "snow owl": 40, "mill": 150}',
        "extra/obj2cat.json": '{"owl": "animal"}',
        "dataset/fs_color/train_20.json": '{"owl": {"brown": 1.0}}',
        "dataset/fs_size/train_20.csv": SIZES,
        "dataset/size_sub/test.csv": SIZES.replace("owl", "snow owl"),
        "dataset/size_trans/test.csv": "o1,o2,>,<,typical\nowl,mill,100,100,<\n",
    },
    "vsr": {
        "data/data_files/all_vsr_raw_data.jsonl": lines(*CAPTIONS),
        "data/data_files/all_vsr_validated_data.jsonl": lines(*CAPTIONS),
        "data/splits/random/train.jsonl": lines(CAPTIONS[0]),
        "data/splits/random/dev.jsonl": lines(CAPTIONS[1]),
        "data/splits/random/test.jsonl": lines(CAPTIONS[2]),
    },
    "relativesize": {"relativesize.txt": "mill > owl\n"},
}
# Benchmark, whose files, options, and how many items they give.
SETS = [
    ("spacenli", "spacenli", {"per_group": -1}, 12),
    ("spacenli", "spacenli", {"per_group": 2}, 4),
    ("scales", "spatial-commonsense", {}, 2),
    ("posrel", "spatial-commonsense", {"form": "both"}, 6),
    ("posrel-general", "spatial-commonsense", {}, 2),
    ("spatialqa", "spatialqa", {}, 2),
    ("viphy-color", "viphy", {}, 2),
    ("viphy-color", "viphy", {"split": "train-20"}, 1),
    ("viphy-size", "viphy", {}, 2),
    ("viphy-size", "viphy", {"split": "train-20", "prompt": "question"}, 2),
    ("viphy-size-subtype", "viphy", {}, 2),
    ("viphy-size-transitive", "viphy", {}, 1),
    ("viphy-spatial", "viphy", {}, 2),
    ("viphy-spatial", "viphy", {"levels": 2}, 1),
    ("vsr", "vsr", {}, 3),
    ("vsr", "vsr", {"split": "test"}, 1),
    ("vsr", "vsr", {"split": "raw"}, 3),
    ("relativesize", "relativesize", {}, 2),
]


@pytest.fixture
def extracts(tmp_path: Path) -> Path:
    for source, files in FILES.items():
        for path, text in files.items():
            file = tmp_path / source / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
    return tmp_path


def test_every_published_source_is_tried():
    published = {name for name in BENCHMARKS if "published" in benchmark(name).sources}
    assert {name for name, *_ in SETS} == published


@pytest.mark.filterwarnings("ignore::gnomon.errors.MissingFileWarning")
@pytest.mark.parametrize(("name", "source", "options", "count"), SETS)
def test_files_of_the_authors_form_give_whole_items(extracts, name, source, options, count):
    items = list(gnomon.load(f"{name}@published", data=str(extracts / source), **options).items())
    assert len(items) == count
    assert [problem(item) for item in items if problem(item)] == []
    assert len({item.id for item in items}) == count


def first(extracts: Path, name: str, source: str, **options: object) -> gnomon.Item:
    return next(gnomon.load(f"{name}@published", data=str(extracts / source), **options).items())


def test_what_is_asked_is_what_the_files_say(extracts):
    item = first(extracts, "spacenli", "spacenli", per_group=0)
    assert (item.context, item.text) == ("The fox is near the shed.", "The shed is near the fox.")
    item = first(extracts, "viphy-spatial", "viphy", levels=2)
    assert (item.text, item.gold) == (
        "in a living_room, the shelf is located [MASK] the rug",
        ("above",),
    )
    item = first(extracts, "vsr", "vsr", split="test")
    assert (item.text, item.gold, item.tags["category"]) == (
        "The mug is beside the kettle.",
        ("true",),
        "Projective",
    )


def test_questions_that_are_read_and_rebuilt_are_worded_alike(extracts):
    folder = extracts / "spatial-commonsense"
    read = list(gnomon.load("posrel@published", data=str(folder), form="choice").items())
    (folder / "data/posrel/data_qa.json").unlink()
    rebuilt = list(gnomon.load("posrel@published", data=str(folder), form="choice").items())
    assert rebuilt == read
    assert read[0].context == "A man drives the car."
