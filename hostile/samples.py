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
from pathlib import Path
from tempfile import TemporaryDirectory

from gnomon import Item
from hostile import published
from hostile.published import lines

KINDS = {
    "json": "json",
    "jsonl": "jsonl",
    "ndjson": "jsonl",
    "csv": "csv",
    "tsv": "tsv",
    "yaml": "yaml",
    "xml": "xml",
    "eval": "zip",
    "xlsx": "zip",
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


# Files of other benchmarks, each in a form of its own, with so many rows that a column that is
# taken for another can be told from one cell that was damaged.
_ROWS = range(8)
_PICTURED = ["index\timage\tquestion\tA\tB\tC\tanswer"] + [
    f"{n}\t{base64.b64encode(png(8, 8)).decode() if not n else 0}\tWhere {n}?\tin\ton\tby\t{'ABC'[n % 3]}"
    for n in _ROWS
]
_CAPTIONS = {
    str(n): {"id": n, "caption": f"A cup on box {n}.", "negative_caption": f"A box {n} on a cup."}
    for n in _ROWS
}
_INSIDE = "query,truth,response\n" + "".join(
    f"Where is {n}? Options: a. in b. on,{'ab'[n % 2]},{'ba'[n % 2]}\n" for n in _ROWS
)
_PREDICTED = [
    {"question": f"Where is {n}?", "A": "in", "B": "on", "answer": "AB"[n % 2], "prediction": "A"}
    for n in _ROWS
]
_BABI = "".join(
    f"1 Ann sits on {n}.\n2 Is Ann up?\tno\t1\n3 Is Ann down?\tyes\t1\n" for n in range(4)
)


def _scene(n: int) -> dict[str, object]:
    relation = ("right of", "left of", "above", "below")[n % 4]
    thing = {"class": "dog", "count": 1, "position": [relation, 0]}
    return {"prompt": f"a dog {relation} {n}", "include": [{"class": "cat"}, thing]}


def _conversation(n: int) -> dict[str, object]:
    turns = [("human", f"Is {n} up?"), ("gpt", ("no", "yes")[n % 2])]
    return {"id": n, "conversations": [{"from": who, "value": said} for who, said in turns]}


def _parquet() -> bytes:
    """The questions as Parquet."""
    import duckdb

    with TemporaryDirectory() as place:
        rows, target = Path(place) / "rows.jsonl", Path(place) / "rows.parquet"
        rows.write_bytes(lines(*_PREDICTED))
        duckdb.execute(f"COPY (FROM '{rows}') TO '{target}'")
        return target.read_bytes()


def _sheet() -> bytes:
    """The questions as a sheet."""
    import openpyxl  # type: ignore[import-untyped, unused-ignore]

    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(list(_PREDICTED[0]))
    for row in _PREDICTED:
        sheet.append(list(row.values()))
    packed = io.BytesIO()
    book.save(packed)
    return packed.getvalue()


_SAMPLES = [
    {
        "id": number,
        "epoch": 1,
        "input": f"Where {number}?",
        "choices": ["in", "on"],
        "target": "AB"[number % 2],
        "output": {"completion": "A"},
        "scores": {"choice": {"value": "CI"[number % 2], "answer": "A"}},
    }
    for number in _ROWS
]


def _log_archive() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(zipfile.ZipInfo("header.json"), b'{"eval": {"task": "a"}}')
        for sample in _SAMPLES:
            name = zipfile.ZipInfo(f"samples/{sample['id']}_epoch_1.json")
            archive.writestr(name, json.dumps(sample))
    return packed.getvalue()


def _story(n: int) -> dict[str, object]:
    asked = {"candidate_answers": ["Yes", "No"], "answer": [["Yes", "No"][n % 2]]}
    return {"story": [f"Ann sits on {n}."], "questions": [{"question": [f"Up {n}?"], **asked}]}


def _pair(n: int) -> dict[str, object]:
    pictures = dict.fromkeys(("image_0", "image_1"), base64.b64encode(png(8, 8)).decode())
    return {"id": n, **pictures, "caption_0": f"a dog on mat {n}", "caption_1": f"a mat {n}"}


def _lmms(n: int) -> dict[str, object]:
    asked = {"doc_id": n, "target": "AB"[n % 2], "input": f"Where is {n}?\nA. in\nB. on\nAnswer."}
    return {**asked, "filtered_resps": "A", "x_acc": {"is_correct": n % 2 == 0}}


def _helm(n: int) -> dict[str, object]:
    right, wrong = ("in", "on") if n % 2 else ("on", "in")
    references = [{"output": {"text": right}, "tags": ["correct"]}]
    references.append({"output": {"text": wrong}, "tags": []})
    asked = {"id": f"id{n}", "input": {"text": f"Where is {n}?"}, "references": references}
    said = {"completions": [{"text": " B"}]}
    letters = {"A": "in", "B": "on"}
    return {"instance": asked, "request": {}, "output_mapping": letters, "result": said}


def _evalscope(n: int) -> dict[str, object]:
    asked = {"role": "user", "content": f"Where is {n}?\n\nA) in\nB) on"}
    score = {"value": {"acc": float(n % 2)}, "prediction": "ANSWER: B"}
    scored = {"score": score, "group_id": n, "generation_index": 0}
    return {"index": n, "target": ["AB"[n % 2]], "messages": [asked], "sample_score": scored}


_COUNTED = [{"instance_id": f"id{n}", "stats": {"exact_match": n % 2}} for n in _ROWS]
OF_STRANGERS = {
    "stories.json": json.dumps({"data": [_story(n) for n in _ROWS]}).encode(),
    "pairs.jsonl": lines(*map(_pair, _ROWS)),
    "vlm.tsv": "\n".join(_PICTURED).encode(),
    "foils.json": json.dumps(_CAPTIONS).encode(),
    "babi.txt": _BABI.encode(),
    "inside.csv": _INSIDE.encode(),
    "wide.dat": _INSIDE.encode("utf-16"),
    "geneval.jsonl": lines(*map(_scene, _ROWS)),
    "asked.ndjson": lines(*_ASKED),
    "turns.json": json.dumps([_conversation(n) for n in _ROWS]).encode(),
    "packed.txt.xz": lzma.compress(lines(*_ASKED)),
    "packed.bz2": bz2.compress(lines(*_ASKED)),
    "rows.parquet": _parquet(),
    "rows.xlsx": _sheet(),
}
LOGS = {
    "20260101_000000_samples_a.jsonl": lines(*map(_lmms, _ROWS)),
    "scenario_state.json": json.dumps({"request_states": [_helm(n) for n in _ROWS]}).encode(),
    "display_predictions.json": json.dumps(_COUNTED).encode(),
    "reviews.jsonl": lines(*map(_evalscope, _ROWS)),
    "samples_a.jsonl": lines(*map(_lm_eval, range(12), ITEMS)),
    "log.json": json.dumps({"version": 2, "eval": {"task": "a"}, "samples": _SAMPLES}).encode(),
    "log.eval": _log_archive(),
    "said.csv": _INSIDE.encode(),
    "rows.parquet": OF_STRANGERS["rows.parquet"],
    "rows.xlsx": OF_STRANGERS["rows.xlsx"],
    "predicted.jsonl": lines(*_PREDICTED),
    "right.csv": b"id,model,correct\n" + b"".join(b"%d,a,1\n%d,b,0\n" % (n, n) for n in _ROWS),
}
