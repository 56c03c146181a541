"""Small files in the form of the authors' files and the layout of their repositories.

The content is our own. Tests read these files, and `samples` has them damaged.
"""

from __future__ import annotations

import json


def lines(*rows: object) -> bytes:
    """JSON lines."""
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


PATTERNS = b"""<?xml version="1.0" encoding="UTF-8"?>
<problems>
<group seed="1" ent_type="non-projective">
  <problem id="1" label="entailment" exp="near">
    <ex>The hare is near the barn
        The barn is near the hare</ex>
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
WORLD = b"""
beast_n: &BEAST {hare, crow}
house_n: &HOUSE {barn, tower, cabin}
near_p2:
- [*BEAST, *HOUSE]
"""


def _caption(number: int, label: int, text: str, relation: str) -> dict[str, object]:
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


CAPTIONS = (
    _caption(1, 1, "The crow is on the fence.", "on"),
    _caption(2, 0, "The crow is on the fence.", "on"),
    _caption(3, 1, "The cup is beside the lamp.", "beside"),
    _caption(4, 0, "The cup is under the lamp.", "under"),
)
SIZES = b"o1,o2,>,<,typical\ntower,crow,90,10,>\ncrow,tower,10,90,<\n"
ELEVATIONS = (
    b"o1,o2,>,=,<,scene,freq,typical\nlamp,mat,95,3,2,living_room,100,>\n"
    b'bench,box,40,50,10,office,100,">,="\n'
)
DRIVING = "A man drives the car. Is the man {} the car?"
WASHING = "A man washes the car. Is the man {} the car?"
# Every answer is wrong: see `samples`.
RESULTS = (
    b"premise\thypothesis\tentailment\treasoning_type\tfunction_name\tg_id\tanswer\tcorrect\n"
    b"Bo runs.\tBo moves.\tentailment\tmotion\truns\t0\tneutral\tFalse\n"
    b"Bo sits.\tBo flies.\tcontradiction\tmotion\tsits\t1\tneutral\tFalse\n"
    b"Bo swims.\tBo is wet.\tentailment\tmotion\tswims\t2\tneutral\tFalse\n"
    b"Bo naps.\tBo races.\tcontradiction\tmotion\tnaps\t3\tneutral\tFalse\n"
    b"Bo is on air.\tBo hovers.\tcontradiction,neutral\tmetaphor\tair\t4\tNone\tFalse\n"
)

# Whose files -> path -> content.
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
        "data/height/data.json": b"",
        "data/posrel/data.json": lines(
            {"text": "A man drives the car. ", "label": 0, "obj_a": "man", "obj_b": "car"},
            {"text": "A man washes the car. ", "label": 3, "obj_a": "man", "obj_b": "car"},
        ),
        "data/posrel/data_qa.json": lines(
            {"question": DRIVING.format("inside"), "label": 1},
            {"question": DRIVING.format("beside"), "label": 0},
            {"question": WASHING.format("beside"), "label": 1},
            {"question": WASHING.format("inside"), "label": 0},
        ),
    },
    "spatialqa": {"results/results-bo.tsv": RESULTS},
    "viphy": {
        "results/colors.json": b'{"crow": {"black": 0.7, "gray": 0.3}, "tower": {"white": 1.0}}',
        "results/size.csv": SIZES,
        "results/spatial.csv": ELEVATIONS,
        "data/object_names_c5.json": b'{"crow": 300, "snow crow": 40, "tower": 150}',
        "extra/obj2cat.json": b'{"crow": "animal"}',
        "dataset/fs_color/train_20.json": b'{"crow": {"black": 1.0}}',
        "dataset/fs_size/train_20.csv": SIZES,
        "dataset/size_sub/test.csv": SIZES.replace(b"crow", b"snow crow"),
        "dataset/size_trans/test.csv": b"o1,o2,>,<,typical\ncrow,tower,100,100,<\n",
    },
    "coda": {
        "default_train.jsonl": lines(
            {"display_name": "Drum (Music)", "label": [0.5, *[0.05] * 10]},
            {"display_name": "Kite", "label": [0.0, 1.0, *[0.0] * 9]},
        )
    },
    "vsr": {
        "data/data_files/all_vsr_raw_data.jsonl": lines(*CAPTIONS),
        "data/data_files/all_vsr_validated_data.jsonl": lines(*CAPTIONS),
        "data/splits/random/train.jsonl": lines(CAPTIONS[0]),
        "data/splits/random/dev.jsonl": lines(CAPTIONS[1]),
        "data/splits/random/test.jsonl": lines(*CAPTIONS[2:]),
    },
    "relativesize": {"relativesize.txt": b"tower > crow\nhorse > mouse\n"},
}
