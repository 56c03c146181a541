"""What an outside review once found wrong, asked for as a user would.

Only commands, files and the few names of the package are used, so that each test can also be run on
the code of before (where it fails).
"""

import functools
import http.server
import io
import json
import re
import sqlite3
import struct
import threading
import zlib
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import gnomon
from gnomon.cli import main


def printed(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    assert main([str(word) for word in words]) == 0
    return capsys.readouterr().out


def cut(run: gnomon.Run, number: int) -> Path:
    """The run's folder, as if it had been stopped after so many items."""
    with closing(sqlite3.connect(run.path / "answers.sqlite")) as db, db:
        db.execute("DELETE FROM answers WHERE n >= ?", (number,))
    return Path(run.path)


def items_of(name: str, count: int, **options: object) -> list[gnomon.Item]:
    return list(gnomon.load(name, **options).limited(count).items())


def write_lines(file: Path, records: list[dict[str, object]]) -> Path:
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    return file


def accuracy(capsys: pytest.CaptureFixture[str], *words: object) -> float:
    told = printed(capsys, "score", *words, "--measure", "accuracy", "--format", "json")
    [score] = json.loads(told)
    return float(score["value"])


class Sure:
    """Always right, with so much confidence; it fails on the items of some places."""

    scale = "probability"

    def __init__(self, confidence: float, fails: tuple[int, ...] = ()) -> None:
        self.spec = f"sure-{confidence}"
        self.confidence = confidence
        self.fails = fails
        self.asked = 0

    def describe(self) -> dict[str, object]:
        return {"confidence": self.confidence}

    def answer(self, items: list[gnomon.Item]) -> list[gnomon.Answer]:
        found = []
        for item in items:
            place, self.asked = self.asked, self.asked + 1
            if place in self.fails:
                found.append(gnomon.Answer(item=item.id, error="no answer"))
                continue
            rest = (1 - self.confidence) / (len(item.choices) - 1)
            scores = tuple(self.confidence if c in item.gold else rest for c in item.choices)
            found.append(gnomon.Answer(item=item.id, choice=item.gold[0], scores=scores))
        return found


def test_score_and_report_give_one_figure_for_an_unfinished_run(capsys, tmp_path):
    folder = cut(gnomon.run(gnomon.load("scales", form="cloze"), Sure(0.9), limit=100), 30)
    assert accuracy(capsys, folder) == 1.0
    page = tmp_path / "page.html"
    assert main(["report", str(folder), "-o", str(page)]) == 0
    assert "100\u00a0%" in page.read_text() or "100 %" in page.read_text()


def test_the_best_calibrated_model_is_ranked_first(capsys):
    source = gnomon.load("scales", form="cloze")
    runs = [gnomon.run(source, Sure(sure), limit=80).path for sure in (0.55, 0.99)]
    told = printed(capsys, "compare", *runs, "--measure", "ece", "--format", "markdown")
    assert told.index("sure-0.99") < told.index("sure-0.55")


def test_a_failure_that_is_asked_again_counts_once():
    source = gnomon.load("scales", form="cloze")
    gnomon.run(source, Sure(0.9, fails=(0, 1, 2, 3, 4)), limit=20)
    counted = []
    again = Sure(0.9, fails=(0, 1, 2))
    gnomon.run(source, again, limit=20, retry_errors=True, watch=lambda p: counted.append(p.errors))
    assert counted[-1] == 3


def test_a_model_that_cannot_see_is_not_asked_about_a_picture_without_a_word(shared):
    source = gnomon.load("vsr@published", data=str(shared / "data/vsr"), split="random")
    with pytest.raises(gnomon.GnomonError, match="picture"):
        gnomon.run(source, Sure(0.9), limit=5)


class Pinned(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def mirror(tmp_path):
    """The address of a server of the files below tmp_path/mirror."""
    folder = tmp_path / "mirror"
    folder.mkdir()
    handler = functools.partial(Pinned, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield folder, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_what_is_fetched_for_spatialqa_does_not_begin_with_a_file_that_is_not_there(
    capsys, mirror, monkeypatch, tmp_path
):
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path / "cache"))
    main(["data", "get", "spatialqa", "--mirror", mirror[1]])  # this mirror is empty
    assert "data.tsv" not in capsys.readouterr().err


def test_the_catalogue_has_all_that_the_guide_offers_of_viphy_and_spatialqa(capsys):
    listed = Path(gnomon.__file__).parent / "data"
    files = [file.read_text() for file in listed.glob("*.yaml")]
    told = "\n".join(files)
    for path in ("fs_color/train_20", "fs_size/train_100", "extra/obj2cat.json"):
        assert path in told, path
    assert len(re.findall(r"results/results-", told)) == 31


def lm_eval(number: int, item: gnomon.Item, scores: list[float], filter: str = "none"):
    pairs = zip(reversed(item.choices), scores, strict=True)
    asked = {}
    replies = []
    for place, (choice, score) in enumerate(pairs):
        asked[f"gen_args_{place}"] = {"arg_0": item.text, "arg_1": f" {choice}"}
        replies.append([score, False])
    return {
        "doc_id": number,
        "doc": {"id": item.id},
        "target": "0",
        "arguments": asked,
        "resps": [],
        "filtered_resps": replies,
        "filter": filter,
    }


def reversed_and_right(item: gnomon.Item) -> list[float]:
    return [0.0 if choice in item.gold else -5.0 for choice in reversed(item.choices)]


def test_scores_of_lm_eval_are_joined_by_the_words_of_the_choice(capsys, tmp_path):
    items = items_of("scales", 40, form="cloze")
    lines = [lm_eval(n, item, reversed_and_right(item)) for n, item in enumerate(items)]
    file = write_lines(tmp_path / "samples_scales.jsonl", lines)
    asked = ("--benchmark", "scales", "--set", "form=cloze", "--limit", 40)
    assert accuracy(capsys, "--answers", file, *asked) == 1.0


def test_an_lm_eval_file_may_have_several_filters(capsys, tmp_path):
    items = items_of("scales", 10, form="cloze")
    lines = []
    for n, item in enumerate(items):
        for filter in ("strict-match", "none"):
            lines.append(lm_eval(n, item, reversed_and_right(item), filter))
    file = write_lines(tmp_path / "samples_scales.jsonl", lines)
    asked = ("--benchmark", "scales", "--set", "form=cloze", "--limit", 10)
    assert 0 <= accuracy(capsys, "--answers", file, *asked) <= 1


def inspect_log(items: list[gnomon.Item], first: object = None) -> dict[str, object]:
    samples = []
    for number, item in enumerate(items):
        choices = list(reversed(item.choices))
        letter = "ABCD"[choices.index(item.gold[0])]
        samples.append(
            {
                "id": item.id if first is None else first + number,
                "epoch": 1,
                "choices": choices,
                "target": letter,
                "output": {"model": "m", "completion": f"ANSWER: {letter}"},
                "scores": {"choice": {"value": "C", "answer": letter}},
            }
        )
    return {"version": 2, "status": "success", "samples": samples}


@pytest.mark.parametrize("first", [None, 0, 1])
def test_letters_of_inspect_mean_the_samples_own_choices(capsys, tmp_path, first):
    items = items_of("scales", 20, form="cloze")
    file = tmp_path / "log.json"
    file.write_text(json.dumps(inspect_log(items, first)))
    asked = ("--benchmark", "scales", "--set", "form=cloze", "--limit", 20)
    assert accuracy(capsys, "--answers", file, *asked) == 1.0


def test_no_share_of_the_patterns_labels_is_over_100_percent(capsys):
    told = printed(capsys, "show", "spacenli", "-n", "0", "--set", "per_group=1")
    shares = [float(number) for number in re.findall(r"([\d.]+) %", told)]
    assert shares
    assert max(shares) <= 100


def test_a_few_equal_clusters_have_an_interval_of_some_width():
    from gnomon.measures.intervals import interval
    from gnomon.measures.statistics import mean_of

    found = interval(mean_of([1, 0, 0, 0, 0, 0, 0, 0] * 2, np.repeat([0, 1], 8)))
    assert found.low < 0.1
    assert found.high > 0.2


def some_right(name: str, right: int, **options: object) -> gnomon.Run:
    """A run that is right on all items of so many groups, and wrong on all others."""
    source = gnomon.load(name, **options)
    chosen = sorted({item.group for item in source.items()})[:right]

    class Some(Sure):
        def answer(self, items: list[gnomon.Item]) -> list[gnomon.Answer]:
            found = []
            for item in items:
                wrong = next(choice for choice in item.choices if choice not in item.gold)
                said = item.gold[0] if item.group in chosen else wrong
                found.append(gnomon.Answer(item=item.id, choice=said))
            return found

    return gnomon.run(source, Some(1.0))


def test_a_half_is_rounded_as_the_paper_rounds_it(capsys, shared):
    run = some_right("spacenli@published", 58, data=str(shared / "data/spacenli"), per_group=2)
    told = printed(capsys, "score", run.path, "--like-paper", "--format", "markdown")
    mine = [line for line in told.splitlines() if "sure-1.0" in line]
    assert mine
    assert "36.2" in mine[0]
    assert "36.3" not in mine[0]


def test_the_papers_main_result_is_in_its_own_tables(capsys, shared):
    run = some_right("posrel@published", 8, data=str(shared / "data/spatial-commonsense"))
    told = printed(capsys, "score", run.path, "--like-paper", "--format", "markdown")
    assert "ISM (Human)" in told
    assert "ISM (Box)" in told


def test_a_report_of_cloze_items_quotes_the_papers_table_of_cloze_items(shared, tmp_path):
    data = str(shared / "data/spatial-commonsense")
    run = some_right("posrel@published", 8, data=data, form="cloze")
    page = tmp_path / "page.html"
    assert main(["report", str(run.path), "-o", str(page)]) == 0
    told = page.read_text()
    assert "the best model asked in this form, VinVL" in told
    assert "the best model asked in this form, ISM w/ VinVL" not in told


def test_the_papers_whole_set_is_not_said_to_be_smaller_than_the_papers(capsys, shared):
    run = gnomon.run(
        gnomon.load("spatialqa@published", data=str(shared / "data/spatialqa")), "majority"
    )
    assert main(["score", str(run.path), "--like-paper", "--format", "markdown"]) == 0
    told = capsys.readouterr()
    assert "217.9" not in told.out + told.err


class Picky(http.server.BaseHTTPRequestHandler):
    """A server of chat models that knows no temperature."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "temperature" in body:
            self._say(400, {"error": {"message": "Unsupported parameter: 'temperature'."}})
        else:
            message = {"role": "assistant", "content": "larger"}
            self._say(200, {"choices": [{"message": message, "finish_reason": "stop"}]})

    def _say(self, status: int, answer: dict[str, object]) -> None:
        content = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


def test_no_manifest_names_a_temperature_that_the_server_did_not_take(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Picky)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    address = f"http://127.0.0.1:{server.server_port}/v1"
    asked = ["run", "scales", "--set", "form=cloze", "-m", "openai:some", "--limit", "4"]
    try:
        main([*asked, "--base-url", address])
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    for file in tmp_path.glob("runs/*/run.json"):
        manifest = json.loads(file.read_text())
        answered = manifest["counts"]["answered"]
        assert not (answered and manifest["model_description"]["temperature"] == 0.0)


def test_the_first_sentence_of_a_report_ranks_and_quotes_by_one_measure(capsys, tmp_path):
    runs = [gnomon.run("spatialqa", name, limit=300).path for name in ("majority", "random")]
    page = tmp_path / "page.html"
    assert main(["report", *map(str, runs), "-o", str(page)]) == 0
    words = re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", page.read_text()))
    assert "by partial credit" in words[: words.index("In the paper")]


def test_the_sizes_of_the_papers_models_are_known(capsys, shared, tmp_path):
    pages = []
    for name in ("ada", "roberta-large-mnli"):
        file = shared / "data/spatialqa" / f"results-{name}.tsv.gz"
        spec = f"answers:{file}"
        data = str(shared / "data/spatialqa")
        pages.append(gnomon.run(gnomon.load("spatialqa@published", data=data), spec).path)
    page = tmp_path / "page.html"
    assert main(["report", *map(str, pages), "-o", str(page)]) == 0
    assert re.search(r"parameters|model size", page.read_text())


def test_the_log_that_inspect_writes_by_default_is_read(capsys, tmp_path):
    zstandard = pytest.importorskip("zstandard")
    items = items_of("scales", 6, form="cloze")
    body, directory = io.BytesIO(), io.BytesIO()
    samples = inspect_log(items)["samples"]
    for number, sample in enumerate(samples):
        name, content = f"samples/{number}.json".encode(), json.dumps(sample).encode()
        packed = zstandard.ZstdCompressor().compress(content)
        sizes = (zlib.crc32(content), len(packed), len(content), len(name), 0)
        common = struct.pack("<HHHHHIIIHH", 63, 0, 93, 0, 33, *sizes)
        directory.write(b"PK\x01\x02" + struct.pack("<H", 63) + common)
        directory.write(struct.pack("<HHHII", 0, 0, 0, 0, body.tell()) + name)
        body.write(b"PK\x03\x04" + common + name + packed)
    counts = (len(items), len(items), directory.tell(), body.tell())
    end = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, *counts, 0)
    file = tmp_path / "log.eval"
    file.write_bytes(body.getvalue() + directory.getvalue() + end)
    asked = ("--benchmark", "scales", "--set", "form=cloze", "--limit", 6)
    assert accuracy(capsys, "--answers", file, *asked) == 1.0
