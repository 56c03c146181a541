"""A small valid file for every reader, with content of our own. Damage to them is what is tried.

A new benchmark that reads files, or a new answer format, needs a sample here: the tests say so.
"""

from __future__ import annotations

import gzip
import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from gnomon import Item

KINDS = {
    "json": "json",
    "jsonl": "jsonl",
    "csv": "csv",
    "tsv": "tsv",
    "yaml": "yaml",
    "xml": "xml",
    "eval": "zip",
    "gz": "gz",
    "txt": "text",
    "jinja": "text",
    "gguf": "gguf",
    "sqlite": "sqlite",
}


@dataclass(frozen=True)
class Sample:
    """Files by their path below a folder, and the options with which they are read."""

    files: Mapping[str, bytes]
    options: Mapping[str, object] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)  # where the ending does not say it

    def kind(self, path: str) -> str:
        """What a file is, for whoever damages it."""
        return self.kinds.get(path) or KINDS.get(path.rpartition(".")[2], "binary")


def lines(*rows: object) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


# -- the authors' files ---------------------------------------------------------------------------

PATTERNS_XML = b"""<?xml version="1.0" encoding="UTF-8"?>
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
WORLD_OF_AUTHORS = b"""
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
PAIRS = b"o1,o2,>,<,typical\ntower,crow,90,10,>\ncrow,tower,10,90,<\n"
ELEVATIONS = (
    b"o1,o2,>,=,<,scene,freq,typical\nlamp,mat,95,3,2,living_room,100,>\n"
    b'bench,box,40,50,10,office,100,">,="\n'
)
DRIVING = "A man drives the car. Is the man {} the car?"
WASHING = "A man washes the car. Is the man {} the car?"
POSITIONS = {
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
}
QUESTIONS = {
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
}
NAMES = {"data/object_names_c5.json": b'{"crow": 300, "snow crow": 40, "tower": 150}'}
RESULTS = (
    b"premise\thypothesis\tentailment\treasoning_type\tfunction_name\tg_id\tanswer\tcorrect\n"
    b"Bo runs.\tBo moves.\tentailment\tmotion\truns\t0\tneutral\tFalse\n"
    b"Bo sits.\tBo flies.\tcontradiction\tmotion\tsits\t1\tneutral\tFalse\n"
    b"Bo swims.\tBo is wet.\tentailment\tmotion\tswims\t2\tneutral\tFalse\n"
    b"Bo naps.\tBo races.\tcontradiction\tmotion\tnaps\t3\tneutral\tFalse\n"
    b"Bo is on air.\tBo hovers.\tcontradiction,neutral\tmetaphor\tair\t4\tNone\tFalse\n"
)
LINES = ("data/size/data.json", "data/height/data.json", *POSITIONS)
AS_LINES = dict.fromkeys(LINES, "jsonl")

# BENCHMARK@SOURCE -> a sample of the files that it reads.
BENCHMARKS = {
    "spacenli@published": Sample(
        {
            "dataset/problem_patterns.xml": PATTERNS_XML,
            "config/selection_restriction.yaml": WORLD_OF_AUTHORS,
        },
        {"per_group": 2},
    ),
    "scales@published": Sample(QUESTIONS, kinds=AS_LINES),
    "posrel@published": Sample(POSITIONS, {"form": "both"}, AS_LINES),
    "posrel-general@published": Sample(POSITIONS, kinds=AS_LINES),
    "spatialqa@published": Sample({"results/results-bo.tsv": RESULTS}),
    "viphy-color@published": Sample(
        {
            "results/colors.json": b'{"crow": {"black": 0.7, "gray": 0.3}, "tower": {"white": 1.0}}',
            "extra/obj2cat.json": b'{"crow": "animal"}',
            **NAMES,
        }
    ),
    "viphy-color@coda": Sample(
        {
            "default_train.jsonl": lines(
                {"display_name": "Drum (Music)", "label": [0.5, *[0.05] * 10]},
                {"display_name": "Kite", "label": [0.0, 1.0, *[0.0] * 9]},
            )
        }
    ),
    "viphy-size@published": Sample({"results/size.csv": PAIRS, **NAMES}),
    "viphy-size-subtype@published": Sample(
        {"dataset/size_sub/test.csv": PAIRS.replace(b"crow", b"snow crow"), **NAMES}
    ),
    "viphy-size-transitive@published": Sample(
        {"dataset/size_trans/test.csv": b"o1,o2,>,<,typical\ncrow,tower,100,100,<\n", **NAMES}
    ),
    "viphy-spatial@published": Sample({"results/spatial.csv": ELEVATIONS, **NAMES}),
    "relativesize@published": Sample({"relativesize.txt": b"tower > crow\nhorse > mouse\n"}),
    "vsr@published": Sample(
        {
            "data/data_files/all_vsr_raw_data.jsonl": lines(*CAPTIONS),
            "data/data_files/all_vsr_validated_data.jsonl": lines(*CAPTIONS),
            "data/splits/random/train.jsonl": lines(CAPTIONS[0]),
            "data/splits/random/dev.jsonl": lines(CAPTIONS[1]),
            "data/splits/random/test.jsonl": lines(*CAPTIONS[2:]),
        },
    ),
}

# -- files of answers -----------------------------------------------------------------------------

# Every answer in these files is wrong, and the right label changes from item to item, so that an
# answer that becomes right has been read from the wrong place or for the wrong item.
ITEMS = tuple(
    Item(
        id=f"item-{n}",
        form="choice",
        text="Is it so?",
        choices=("false", "true"),
        gold=(("false", "true")[n % 2],),
    )
    for n in range(12)
)


def _wrong(item: Item) -> str:
    return "true" if item.gold == ("false",) else "false"


def _inspect(item: Item) -> dict[str, object]:
    choices = ["true", "false"]
    return {
        "id": item.id,
        "epoch": 1,
        "choices": choices,
        "target": "AB"[choices.index(item.gold[0])],
        "output": {"model": "m", "completion": "I think so"},
        "error": None,
        "scores": {"choice": {"value": "C", "answer": "AB"[choices.index(_wrong(item))]}},
    }


def _lm_eval(n: int, item: Item) -> dict[str, object]:
    scores = [[-0.1, True], [-2.5, False]]
    if _wrong(item) == "true":
        scores.reverse()
    return {
        "doc_id": n,
        "doc": {"id": item.id, "choices": ["false", "true"]},
        "target": item.gold[0],
        "arguments": [["Is it so?", " false"], ["Is it so?", " true"]],
        "resps": [[score] for score in scores],
        "filtered_resps": scores,
        "filter": "none",
        "acc": 0.0,
    }


def _archive() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(zipfile.ZipInfo("header.json"), b"{}")
        for n, item in enumerate(ITEMS):
            name = zipfile.ZipInfo(f"samples/{n}.json")
            archive.writestr(name, json.dumps(_inspect(item)))
    return packed.getvalue()


def _table(delimiter: str) -> bytes:
    rows = [("id", "gold", "prediction")]
    rows += [(item.id, item.gold[0], _wrong(item)) for item in ITEMS]
    return "".join(delimiter.join(row) + "\n" for row in rows).encode()


INSPECT = {"version": 2, "status": "success", "samples": [_inspect(item) for item in ITEMS]}
OWN = [{"id": item.id, "gold": item.gold[0], "label": _wrong(item)} for item in ITEMS]
SCORED = [
    {"id": item.id, "scores": [0.8, 0.2] if _wrong(item) == "false" else [0.2, 0.8]}
    for item in ITEMS
]
REPLIED = [{"id": item.id, "reply": f"The answer is {_wrong(item)}."} for item in ITEMS]

# Format -> samples of it. "own" are the tables and JSON lines that every program can write.
ANSWER_FORMATS = {
    "inspect": (
        Sample({"answers.eval": _archive()}),
        Sample({"answers.json": json.dumps(INSPECT).encode()}),
    ),
    "lm-eval": (Sample({"answers.jsonl": lines(*map(_lm_eval, range(12), ITEMS))}),),
    "spatialqa": (Sample({"answers.tsv": RESULTS}, {"benchmark": "spatialqa@published"}),),
    "vsr": (Sample({"answers.txt": b"1\n0\n" * 6}),),
    "own": (
        Sample({"answers.csv": _table(",")}),
        Sample({"answers.tsv": _table("\t")}),
        Sample({"answers.jsonl": lines(*OWN)}),
        Sample({"scores.jsonl": lines(*SCORED)}),
        Sample({"replies.jsonl": lines(*REPLIED)}),
        Sample({"packed.jsonl.gz": gzip.compress(lines(*OWN), mtime=0)}),
    ),
}

# -- what people write themselves -----------------------------------------------------------------

PROMPT = b"""summary: asks plainly
instruction: Answer with one word.
separator: "\\n"
option: "{letter}) {choice}"
shots: 1
forms:
  choice:
    template:
      - "{context}\\n"
      - "{text} One of: {options}. {answer}"
    words: {"false": ["no", "wrong"], "true": "yes"}
    examples:
      - {text: "Is ice cold?", choices: ["false", "true"], answer: "true"}
      - {text: "Is fire cold?", choices: ["false", "true"], answer: "false"}
  cloze:
    template: "{before}{answer}{after}"
"""
VARIATION = b"""like: fewshot
examples:
  choice:
    - {text: "Is ice cold?", choices: ["false", "true"], answer: "true"}
"""
PATTERNS = b"""world:
  classes:
    instrument: {is: small}
  entities:
    instrument: [violin, trumpet, {bagpipes: plural}]
    city: [Reykjavik]
  relations:
    plays:
      - person * instrument
families:
  - family: chain of containers
    class: non-projective
    expressions: [in]
    slots:
      X: trinket
      Y: medium-container
      Z: large-container
    where:
      - fits-in(X, Y)
      - fits-in(Y, Z)
    patterns:
      - id: chain-1
        label: entailment
        premises:
          - "{X} {X:is} in {Y}"
          - "{Y} {Y:is} in {Z}"
        hypothesis: "{X} {X:is} in {Z}"
        examples:
          - {X: key, Y: suitcase, Z: wardrobe}
patterns:
  - id: music-1
    label: entailment
    class: argument orientation
    expressions: [in]
    premises: "{X} was playing {Y} in {Z}"
    hypothesis: "{X} was in {Z}"
    slots: {X: person, Y: instrument, Z: building}
    where: plays(X, Y)
"""
OWN_PATTERNS = b"""patterns:
  - id: owned-1
    label: entailment
    class: non-projective
    expressions: [near]
    premises: "{X} {X:is} near {Y}"
    hypothesis: "{Y} {Y:is} near {X}"
    slots: {X: beast, Y: house}
    where: sees(X, Y)
"""
OWN_WORLD = b"""classes:
  thing: {}
  beast: {is: thing}
  house: {is: thing}
entities:
  beast: [hare, crow, {geese: plural}]
  house: [barn, tower, cabin]
relations:
  sees:
    - beast * house
"""
FAMILIES = b"""words:
  peak: [Ben Nevis, Etna, water tower, old oak, Eiger]

taller:
  slots:
    A: peak
    B: peak
    "V W": [[taller, shorter], [shorter, taller]]
  hypothesis: "{A} is {bare V} than {B}"
  entailment: "{B} is {bare W} than {A}"
  contradiction: "{B} is {bare V} than {A}"
  neutral: "{A} can be seen from {B}"
"""
CATALOGUE = b"""toy:
  what: a toy
  licence: MIT
  benchmarks: [scales]
  repository: somebody/toy
  commit: 0123456789012345678901234567890123456789
  files:
    - path: a/b.txt
      sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
      bytes: 4
    - {path: "c.txt", url: "https://example.org/c.txt"}
"""
FETCHED = lines(
    {"path": "a/b.txt", "sha256": "00", "bytes": 4, "url": "https://example.org/a/b.txt"},
    {"path": "c.txt", "sha256": "01", "bytes": 5, "url": "https://example.org/c.txt"},
)
TEMPLATE = b"""{% for message in messages %}
<|{{ message['role'] }}|>{{ message['content'] | trim }}{{ eos_token }}
{% endfor %}
{% if add_generation_prompt %}<|assistant|>{% endif %}
"""


def _segment(marker: int, body: bytes) -> bytes:
    return bytes([0xFF, marker]) + (len(body) + 2).to_bytes(2) + body


def jpeg(width: int, height: int) -> bytes:
    """A JPEG as far as its header goes."""
    frame = b"\x08" + height.to_bytes(2) + width.to_bytes(2) + b"\x01\x01\x11\x00"
    before = _segment(0xE0, b"JFIF\0") + _segment(0xFE, b"a comment") + _segment(0xDB, bytes(65))
    return b"\xff\xd8" + before + _segment(0xC0, frame) + b"data"


def png(width: int, height: int) -> bytes:
    """A PNG as far as its header goes."""
    body = b"IHDR" + width.to_bytes(4) + height.to_bytes(4) + b"\x08\x02\x00\x00\x00"
    return b"\x89PNG\r\n\x1a\n" + (13).to_bytes(4) + body + zlib.crc32(body).to_bytes(4)
