"""A small valid file for every reader, with content of our own. Damage to them is what is tried.

A new benchmark that reads files, or a new answer format, needs a sample here: the tests say so.
"""

from __future__ import annotations

import base64
import bz2
import gzip
import io
import json
import lzma
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from gnomon import Item
from hostile import published
from hostile.published import lines

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


# -- the authors' files ---------------------------------------------------------------------------

SCALES = ("data/size/data.json", "data/height/data.json")
POSITIONS = ("data/posrel/data.json", "data/posrel/data_qa.json")
AS_LINES = dict.fromkeys((*SCALES, *POSITIONS), "jsonl")
NAMES = "data/object_names_c5.json"


def of(source: str, *paths: str) -> Mapping[str, bytes]:
    """Files of one source: these, or all."""
    files = published.FILES[source]
    return {path: files[path] for path in paths or files}


# BENCHMARK@SOURCE -> a sample of the files that it reads.
BENCHMARKS = {
    "spacenli@published": Sample(of("spacenli"), {"per_group": 2}),
    "scales@published": Sample(of("spatial-commonsense", *SCALES), kinds=AS_LINES),
    "posrel@published": Sample(of("spatial-commonsense", *POSITIONS), {"form": "both"}, AS_LINES),
    "posrel-general@published": Sample(of("spatial-commonsense", *POSITIONS), kinds=AS_LINES),
    "spatialqa@published": Sample(of("spatialqa")),
    "viphy-color@published": Sample(
        of("viphy", "results/colors.json", "extra/obj2cat.json", NAMES)
    ),
    "viphy-color@coda": Sample(of("coda")),
    "viphy-size@published": Sample(of("viphy", "results/size.csv", NAMES)),
    "viphy-size-subtype@published": Sample(of("viphy", "dataset/size_sub/test.csv", NAMES)),
    "viphy-size-transitive@published": Sample(of("viphy", "dataset/size_trans/test.csv", NAMES)),
    "viphy-spatial@published": Sample(of("viphy", "results/spatial.csv", NAMES)),
    "relativesize@published": Sample(of("relativesize")),
    "vsr@published": Sample(of("vsr")),
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


def wrong_answer(item: Item) -> str:
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
        "scores": {"choice": {"value": "C", "answer": "AB"[choices.index(wrong_answer(item))]}},
    }


def _lm_eval(n: int, item: Item) -> dict[str, object]:
    scores = [[-0.1, True], [-2.5, False]]
    if wrong_answer(item) == "true":
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
    rows += [(item.id, item.gold[0], wrong_answer(item)) for item in ITEMS]
    return "".join(delimiter.join(row) + "\n" for row in rows).encode()


INSPECT = {"version": 2, "status": "success", "samples": [_inspect(item) for item in ITEMS]}
OWN = [{"id": item.id, "gold": item.gold[0], "label": wrong_answer(item)} for item in ITEMS]
SCORED = [
    {"id": item.id, "scores": [0.8, 0.2] if wrong_answer(item) == "false" else [0.2, 0.8]}
    for item in ITEMS
]
REPLIED = [{"id": item.id, "reply": f"The answer is {wrong_answer(item)}."} for item in ITEMS]
_ASKED = [
    {
        "id": item.id,
        "question": item.text,
        "choices": list(item.choices),
        "answer": item.gold[0],
        "group": f"g{number % 3}",
        "split": ("train", "test")[number % 2],
        "votes": [item.gold[0], wrong_answer(item)],
    }
    for number, item in enumerate(ITEMS)
]
AUDITED = {
    "questions.jsonl": lines(*_ASKED),
    "pairs.csv": b"o1,o2,label\nant,cow,<\ncow,ant,>\nant,dog,<\n",
}

# Format -> samples of it. "own" are the tables and JSON lines that every program can write.
ANSWER_FORMATS = {
    "inspect": (
        Sample({"answers.eval": _archive()}),
        Sample({"answers.json": json.dumps(INSPECT).encode()}),
    ),
    "lm-eval": (Sample({"answers.jsonl": lines(*map(_lm_eval, range(12), ITEMS))}),),
    "spatialqa": (
        Sample({"answers.tsv": published.RESULTS}, {"benchmark": "spatialqa@published"}),
    ),
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


def whole_png(width: int, height: int) -> bytes:
    """A grey PNG that can be shown."""
    rows = zlib.compress((b"\0" + bytes(width * 3)) * height)
    chunks = b""
    for body in (b"IDAT" + rows, b"IEND"):
        chunks += (len(body) - 4).to_bytes(4) + body + zlib.crc32(body).to_bytes(4)
    return png(width, height) + chunks


def _json(content: object) -> bytes:
    return json.dumps(content).encode()


PICTURE_SIZES = _json([{"image_id": n, "width": 64, "height": 48} for n in range(6)])
VISUAL_GENOME = _json(
    [
        {
            "image_id": n,
            "objects": [
                {"object_id": n * 2, "names": ["dogs"], "x": 0, "y": 0, "w": 30, "h": 20},
                {"object_id": n * 2 + 1, "names": ["cup"], "x": 30, "y": 20, "w": 5, "h": 90},
            ],
        }
        for n in range(6)
    ]
)
CAPTIONED = _json(
    [
        {
            "id": n,
            "regions": [
                {"region_id": n, "phrase": "a dog", "x": 1, "y": 1, "width": 9, "height": 9}
            ],
        }
        for n in range(6)
    ]
)
COCO = _json(
    {
        "images": [{"id": n, "file_name": f"{n}.jpg", "width": 4, "height": 3} for n in range(6)],
        # Names whose singular is known without a dictionary, which takes a second to load.
        "categories": [{"id": 1, "name": "scissors"}, {"id": 2, "name": "kitchen scissors"}],
        "annotations": [
            {
                "id": n,
                "image_id": n,
                "category_id": 1 + n % 2,
                "bbox": [1, 1, 2, 2],
                "segmentation": {"counts": [4, 2, 1, 2, 3], "size": [3, 4]}
                if n % 2
                else [[0, 0, 2, 0, 2, 2]],
            }
            for n in range(6)
        ],
    }
)
ADE20K = _json(
    {
        "annotation": {
            "filename": "a.jpg",
            "imsize": [48, 64, 3],
            "object": [
                {
                    "id": 0,
                    "raw_name": "cabinet",
                    "parts": {"ispartof": []},
                    "instance_mask": "m.png",
                    "polygon": {"x": [0, 9, 9], "y": [0, 0, 9]},
                },
                {
                    "id": 1,
                    "raw_name": "door",
                    "parts": {"ispartof": 0},
                    "instance_mask": "",
                    "polygon": {"x": [0, 5, 5], "y": [0, 0, 5]},
                },
            ],
        }
    }
)
YOLO = b"0 0.5 0.5 0.2 0.4\n1 0.0 0.0 0.5 0.0 0.5 0.5\n"


# Files of other benchmarks, each in a form of its own.
_PICTURED = [
    "index\timage\tquestion\tA\tB\tC\tanswer",
    f"0\t{base64.b64encode(png(8, 8)).decode()}\tWhere?\tin\ton\t\tB",
    "1\t0\tAnd now?\tin\ton\tby\tA",
]
_CAPTIONS = {"caption": "A cup on a box.", "negative_caption": "A box on a cup."}
_INSIDE = "query,truth,response\nWhere? Options: a. in b. on,a,b\nNow? Options: a. up b. off,b,b\n"
_SCENE = {"class": "dog", "count": 1, "position": ["right of", 0]}
_STORY = {"question": ["Is it up?"], "candidate_answers": ["Yes", "No"], "answer": ["Yes"]}
_PAIR = {"image_0": "a.png", "image_1": "a.png", "caption_0": "a dog", "caption_1": "a cat"}
OF_STRANGERS = {
    "stories.json": json.dumps(
        {
            "data": [{"story": ["Ann sits."], "questions": [_STORY, {**_STORY, "answer": ["No"]}]}]
            * 2
        }
    ).encode(),
    "pairs.jsonl": lines({"id": 1, **_PAIR}, {"id": 2, **_PAIR, "caption_0": "a hat"}),
    "vlm.tsv": "\n".join(_PICTURED).encode(),
    "foils.json": json.dumps({"0": {"id": 1, **_CAPTIONS}, "1": {"id": 2, **_CAPTIONS}}).encode(),
    "babi.txt": b"1 Ann sits.\n2 Is Ann up?\tno\t1\n3 Is Ann down?\tyes\t1\n1 Ben runs.\n",
    "inside.csv": _INSIDE.encode(),
    "wide.dat": _INSIDE.encode("utf-16"),
    "geneval.jsonl": lines({"prompt": "a dog", "include": [{"class": "cat"}, _SCENE]}) * 2
    + lines(
        {"prompt": "a cat", "include": [{"class": "cat"}, {**_SCENE, "position": ["above", 0]}]}
    ),
    "turns.json": json.dumps(
        [
            {
                "id": 1,
                "conversations": [
                    {"from": "human", "value": "Up?"},
                    {"from": "gpt", "value": "no"},
                ],
            },
            {
                "id": 2,
                "conversations": [
                    {"from": "human", "value": "On?"},
                    {"from": "gpt", "value": "yes"},
                ],
            },
        ]
    ).encode(),
    "packed.txt.xz": lzma.compress(lines(*_ASKED)),
    "packed.bz2": bz2.compress(lines(*_ASKED)),
}
_SAMPLES = [
    {
        "id": number,
        "epoch": 1,
        "input": f"Where {number}?",
        "choices": ["in", "on"],
        "target": "AB"[number % 2],
        "output": {"completion": "A"},
        "scores": {"choice": {"value": "C", "answer": "A"}},
    }
    for number in range(3)
]
_LMMS = [
    {
        "doc_id": n,
        "target": "AB"[n % 2],
        "filtered_resps": "A",
        "input": f"Where is {n}?\nA. in\nB. on\nAnswer.",
        "x_acc": {"is_correct": n % 2 == 0},
    }
    for n in range(6)
]
_HELM = [
    {
        "instance": {
            "id": f"id{n}",
            "input": {"text": f"Where is {n}?"},
            "references": [
                {"output": {"text": "in"}, "tags": ["correct"]},
                {"output": {"text": "on"}, "tags": []},
            ],
        },
        "request": {"model": "m"},
        "train_trial_index": 0,
        "output_mapping": {"A": "in", "B": "on"},
        "result": {"completions": [{"text": " B"}]},
    }
    for n in range(4)
]
_EVALSCOPE = [
    {
        "index": n,
        "target": ["A"],
        "messages": [{"role": "user", "content": f"Where is {n}?\n\nA) in\nB) on"}],
        "sample_score": {
            "score": {"value": {"acc": 0.0}, "prediction": "ANSWER: B"},
            "group_id": n,
            "generation_index": 0,
        },
    }
    for n in range(4)
]
_COUNTED = [{"instance_id": f"id{n}", "stats": {"exact_match": n % 2}} for n in range(4)]
LOGS = {
    "20260101_000000_samples_a.jsonl": lines(*_LMMS),
    "scenario_state.json": json.dumps({"request_states": _HELM}).encode(),
    "display_predictions.json": json.dumps(_COUNTED).encode(),
    "reviews.jsonl": lines(*_EVALSCOPE),
    "samples_a.jsonl": lines(*map(_lm_eval, range(12), ITEMS)),
    "log.json": json.dumps({"version": 2, "eval": {"task": "a"}, "samples": _SAMPLES}).encode(),
    "said.csv": _INSIDE.encode(),
    "right.csv": b"id,model,correct\n1,a,1\n1,b,0\n2,a,0\n2,b,1\n",
}
