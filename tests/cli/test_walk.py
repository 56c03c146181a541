"""A walk of more than 200 commands: whatever shows a figure of a run shows the same figure.

Runs are finished, unfinished, with failures and unread replies; the commands are those that a user
has, in every format, and the pages of report and viewer. Each tells what it shows of which run, and
in the end all of them must agree to the digit.
"""

import csv
import io
import json
import re
from collections import defaultdict
from html.parser import HTMLParser
from pathlib import Path

import pytest

import gnomon
from gnomon.cli import main
from gnomon.errors import ModelError
from gnomon.records import Answer
from gnomon.registry import MODELS, Entry, benchmark, measure
from gnomon.reports.words import measure_name

BENCHMARKS = {"scales": 80, "spacenli": 90, "spatialqa": 90, "viphy-size": 60, "viphy-color": 60}
FORMATS = ("table", "markdown", "latex", "csv", "json")
# Every command makes the items anew: small sets serve as well.
OPTIONS = {
    "scales": {"pairs": 40},
    "spacenli": {"per_group": 1},
    "spatialqa": {"per_group": 1},
    "viphy-size": {"pairs": 40},
}


def drawn(name, limit):
    """The words by which a benchmark is named, with its options and a limit."""
    words = [name, "--limit", limit]
    for option, value in OPTIONS.get(name, {}).items():
        words += ["--set", f"{option}={value}"]
    return words


class Patchy:
    """Right about two items in three, with scores; fails, mumbles and stops where it is told to."""

    scale = "probability"
    batch = 7

    def __init__(self, name, *, stops=10**9, fails=()):
        self.spec, self.stops, self.fails, self.asked = name, stops, fails, 0

    def describe(self):
        return {"stops": self.stops}

    def answer(self, items):
        answers = []
        for item in items:
            self.asked += 1
            if self.asked > self.stops:
                raise ModelError("the server is gone")
            answers.append(self._one(item, self.asked))
        return answers

    def _one(self, item, number):
        if number % 11 in self.fails:
            return Answer(item=item.id, error="no luck")
        if number % 13 in self.fails:
            return Answer(item=item.id, reply="who knows")
        right = item.choices.index(item.gold[0])
        place = right if number % 3 else (right + 1) % len(item.choices)
        scores = tuple(
            0.6 if i == place else 0.4 / (len(item.choices) - 1) for i in range(len(item.choices))
        )
        return Answer(item=item.id, choice=item.choices[place], scores=scores)


def prompted(name, *, wording: int = 1):
    """The same model, asked by a prompt: in other words it is right on other items."""
    model = Patchy("prompted")
    model.asked = wording
    return model


class Walk:
    """Gives commands and keeps what each said about which run: (run, measure) -> figure -> who."""

    def __init__(self, capsys):
        self.capsys = capsys
        self.commands = 0
        self.figures = defaultdict(lambda: defaultdict(set))

    def give(self, *words, fails=False):
        """Give a command; its standard output."""
        self.commands += 1
        self.capsys.readouterr()
        try:
            code = main([str(word) for word in words]) or 0
        except SystemExit as stop:
            code = int(stop.code or 0)
        told = self.capsys.readouterr()
        assert bool(code) == fails, f"{words}: exit code {code}: {told.err}"
        self.said = told.err
        return told.out

    def note(self, run, name, value, who):
        """Somebody says that the measure of a run has this value, as a fraction or as text."""
        if not isinstance(value, str):
            value = "–" if value is None else f"{100 * value + 1e-9:.1f}"
        value = value.replace("\\", "").replace("%", "").replace("--", "–").strip() or "–"
        self.figures[run, name][value].add(who)


def cells(text, format):
    """The rows of a printed table as dicts."""
    lines = [line for line in text.splitlines() if line.strip()]
    if format == "markdown":
        rows = [
            [cell.strip() for cell in line.strip("| ").split(" | ")]
            for line in lines
            if line.startswith("|")
        ]
        rows = [row for row in rows if not set("".join(row)) <= set("-: ")]
    elif format == "latex":
        rows = [line.removesuffix(r"\\").split(" & ") for line in lines if " & " in line]
    else:
        rows = [
            re.split(r"\s{2,}", line.strip()) for line in lines if "  " in line and "──" not in line
        ]
    head = [cell.strip() for cell in rows[0]]
    return [
        dict(zip(head, (cell.strip().replace(r"\_", "_") for cell in row), strict=False))
        for row in rows[1:]
    ]


class Table(HTMLParser):
    """The cells of a page's tables that carry a name and a value, by the heading of their row."""

    def __init__(self):
        super().__init__()
        self.rows, self.heading, self.row, self.tag = [], "", {}, ""

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if tag == "tr":
            self.heading, self.row = "", {}
        self.tag = found.get("scope", "") if tag == "th" else self.tag
        if tag == "td" and "data-value" in found:
            self.row[found["data-name"]] = found["data-value"]

    def handle_data(self, text):
        if self.tag == "row":
            self.heading += text

    def handle_endtag(self, tag):
        if tag == "th":
            self.tag = ""
        if tag == "tr" and self.row:
            self.rows.append((self.heading.strip(), self.row))


@pytest.fixture
def runs():
    """The runs of the walk, by folder: finished, with failures, and unfinished."""
    for name, limit in BENCHMARKS.items():
        source = gnomon.load(name, seed=3, **OPTIONS.get(name, {})).limited(limit)
        for spec in ("random", "majority"):
            gnomon.run(source, spec)
        gnomon.run(source, Patchy("patchy"))
        gnomon.run(source, Patchy("failing", fails=(3, 4)))
        with pytest.raises(ModelError):
            gnomon.run(source, Patchy("stopped", stops=35, fails=(5,)))
    return sorted(Path("runs").iterdir())


def named(run):
    return gnomon.Run.open(run).manifest


def test_no_two_commands_give_different_figures_for_the_same_run(runs, capsys, monkeypatch):
    monkeypatch.setitem(MODELS, "prompted", Entry(f"{__name__}:prompted", "for tests"))
    walk = Walk(capsys)
    assert len(runs) == 5 * len(BENCHMARKS)
    for run in runs:
        _score(walk, run)
        _page(walk, run)
    _all_at_once(walk, runs)
    _compare(walk, runs)
    _go_on(walk, runs)
    _view(walk, runs)
    _over_prompts(walk)
    _by_place(walk)
    _plan(walk)
    _other_commands(walk, runs)
    assert walk.commands >= 200, walk.commands
    both = [key for key, found in walk.figures.items() if len(set().union(*found.values())) > 5]
    assert len(both) >= 2 * len(runs), "each run's figures were shown by several commands"
    different = {key: dict(found) for key, found in walk.figures.items() if len(found) > 1}
    assert different == {}


def _score(walk, run):
    manifest = named(run)
    for score in gnomon.score(run):
        walk.note(run, score.measure, score.value, "api")
        assert score.n <= manifest.counts.asked
    for format in FORMATS:
        out = walk.give("score", run, "--format", format)
        if format == "json":
            rows = json.loads(out)
        elif format == "csv":
            rows = list(csv.DictReader(io.StringIO(out)))
        else:
            rows = cells(out, format)
        assert rows
        for row in rows:
            value = row.get("score", row.get("value"))
            if format == "csv":
                value = float(value) if value else None
            walk.note(run, row["measure"], value, f"score --format {format}")
    unfinished = manifest.counts.asked < manifest.counts.items
    assert ("asked 35 of" in walk.said) == unfinished
    parts = json.loads(
        walk.give("score", run, "--by", "gold", "--measure", "accuracy", "--format", "json")
    )
    whole = parts[0]
    walk.note(run, "accuracy", whole["value"], "score --by")
    counted = sum(part["n"] for part in parts[1:])
    assert counted == whole["n"] == manifest.counts.asked
    right = sum(part["n"] * part["value"] for part in parts[1:])
    walk.note(run, "accuracy", right / counted, "the slices of score --by")
    drawn = json.loads(
        walk.give("score", run, "--draws", "50", "--measure", "accuracy", "--format", "json")
    )
    walk.note(run, "accuracy", drawn[0]["value"], "score --draws")


def _page(walk, run):
    walk.give("report", run, "-o", "page.html")
    page = Table()
    page.feed(Path("page.html").read_text())
    names = {
        measure_name(name): name
        for name in benchmark(named(run).benchmark.partition("@")[0]).measures
    }
    mine = [row for heading, row in page.rows if heading == named(run).model]
    assert mine, "the page has a row for the run"
    for name, value in mine[0].items():
        if name in names and value:
            walk.note(run, names[name], float(value), "report")
        if name == "Items":
            assert int(value) == named(run).counts.asked


def _all_at_once(walk, runs):
    """All runs in one table are told apart by benchmark and model."""
    by_name = {(named(run).benchmark, named(run).model): run for run in runs}
    for row in cells(walk.give("score", "runs", "--format", "markdown"), "markdown"):
        walk.note(
            by_name[row["benchmark"], row["model"]], row["measure"], row["score"], "score runs"
        )
    for row in json.loads(walk.give("score", "runs", "--format", "json")):
        walk.note(Path(row["run"]), row["measure"], row["value"], "score runs --format json")


def _compare(walk, runs):
    for name in BENCHMARKS:
        mine = [run for run in runs if named(run).benchmark.startswith(f"{name}@")]
        finished = [run for run in mine if named(run).model != "stopped"]
        walk.give("compare", *mine, fails=True)
        assert "--unfinished" in walk.said
        walk.give("compare", *mine, "--unfinished")
        for measure_ in benchmark(name).measures[:2]:
            if measure(measure_).needs:
                continue
            found = json.loads(
                walk.give("compare", *finished, "--measure", measure_, "--format", "json")
            )
            by_model = {named(run).model: run for run in finished}
            for rank in found["leaderboard"]:
                walk.note(by_model[rank["model"]], measure_, rank["value"], "compare")
        for format in FORMATS:
            walk.give("compare", *finished, "--format", format)


def _go_on(walk, runs):
    """The same command given again asks nothing and shows the same."""
    for name, limit in BENCHMARKS.items():
        for spec in ("random", "majority"):
            words = ("run", *drawn(name, limit), "-m", spec, "--seed", "3")
            (line,) = walk.give(*words, "--json").splitlines()
            found = json.loads(line)
            for score in found["scores"]:
                walk.note(Path(found["run"]), score["measure"], score["value"], "run --json")
            table, _, _ = walk.give(*words).partition("\n\n")  # the legend follows
            for row in cells(table, "table"):
                if row.get("measure"):
                    walk.note(Path(found["run"]), row["measure"], row["score"], "run")


def _view(walk, runs):
    pytest.importorskip("starlette", reason="the extra 'report' is not installed")
    pytest.importorskip("httpx", reason="httpx is not installed")
    from starlette.testclient import TestClient

    from gnomon.reports.viewer.app import make_app

    viewer = TestClient(make_app("runs"), base_url="http://localhost")
    for run in runs:
        walk.commands += 1
        page = viewer.get(f"/run/{run.name}").text
        names = {
            measure_name(name): name
            for name in benchmark(named(run).benchmark.partition("@")[0]).measures
        }
        shown = re.findall(r'<th scope="row">([^<]+)</th><td class="num">([^<]+)</td>', page)
        assert shown
        for name, value in shown:
            walk.note(run, names[name], value.replace("\xa0", " "), "view")
        progress = viewer.get(f"/run/{run.name}/progress").json()
        assert progress["done"] == named(run).counts.asked


def _over_prompts(walk):
    """The mean over prompts is that of the runs, in every command and format."""
    for name, limit in BENCHMARKS.items():
        folder = f"prompts-{name}"
        asked = ("run", *drawn(name, limit), "-m", "prompted", "-m", "random")
        out = walk.give(*asked, "--prompts", "all", "--runs", folder)
        assert "Over prompts" in out
        headline = benchmark(name).measures[0]
        single = json.loads(walk.give("score", folder, "--measure", headline, "--format", "json"))
        values = [row["value"] for row in single if row["model"] == "prompted"]
        assert len(values) == 4
        who = (folder, f"{headline} over prompts")
        walk.note(*who, sum(values) / 4, "the mean of score")
        for format in FORMATS:
            words = ("score", folder, "--measure", headline, "--prompts", "all")
            text = walk.give(*words, "--format", format)
            rows = _prompt_rows(text, format)
            (mine,) = [row for row in rows if row["model"] == "prompted"]
            walk.note(*who, mine["mean"], f"score --prompts all --format {format}")
        found = json.loads(
            walk.give(
                "compare", folder, "--prompts", "all", "--measure", headline, "--format", "json"
            )
        )
        (rank,) = [rank for rank in found["leaderboard"] if rank["model"] == "prompted"]
        walk.note(*who, rank["value"], "compare --prompts all")
        walk.give("report", folder, "--prompts", "all", "-o", "prompts.html")
        mean = f"{100 * sum(values) / 4 + 1e-9:.1f}\xa0% on average over 4 wordings"
        assert mean in Path("prompts.html").read_text()


def _prompt_rows(text, format):
    if format == "json":
        return [row | {"mean": row["value"]} for row in json.loads(text)]
    if format == "csv":
        rows = list(csv.DictReader(io.StringIO(text)))
        return [row | {"mean": float(row["value"])} for row in rows]
    return cells(text, format)


def _by_place(walk):
    """Places that are right add up to all items, and accuracy by place to accuracy."""
    for name, limit in BENCHMARKS.items():
        folder = f"places-{name}"
        walk.give("run", *drawn(name, limit), "-m", "random", "--permute", "--runs", folder)
        rows = json.loads(walk.give("score", folder, "--format", "json"))
        chosen = [row for row in rows if row["measure"] == "chosen"]
        assert sum(row["value"] * row["n"] for row in chosen) == pytest.approx(limit)
        assert "by place of the choices" in walk.give("score", folder)
        walk.give("report", folder, "-o", "places.html")
        assert "Bias by place" in Path("places.html").read_text()


def _plan(walk):
    for name, limit in BENCHMARKS.items():
        found = json.loads(walk.give("power", *drawn(name, limit), "--format", "json"))
        assert found["sets"][0]["items"] == limit
        timed = walk.give("power", *drawn(name, limit), "-m", "random", "--difference", "5")
        assert "a difference of 5 points" in timed
        walk.give("make", *drawn(name, limit), "-o", f"{name}-items.jsonl")
        (row,) = json.loads(
            walk.give("audit", f"{name}-items.jsonl", "--check", "validation", "--format", "json")
        )
        assert (row["items"], row["canary"]) == (limit, "yes")


def _other_commands(walk, runs):
    listed = {row["run"]: row for row in json.loads(walk.give("runs", "list", "--json"))}
    assert {Path(run) for run in listed} == set(runs)
    for run in runs:
        counts = named(run).counts
        assert (listed[str(run)]["asked"], listed[str(run)]["items"]) == (
            counts.asked,
            counts.items,
        )
    for kind in ("benchmarks", "models", "measures"):
        walk.give("list", kind)
    walk.give("runs", "list")
    for name in BENCHMARKS:
        walk.give("show", name, "-n", "1")
        walk.give("list", "benchmarks", name)
        walk.give("make", *drawn(name, 5), "-o", f"{name}.jsonl")
        walk.give("run", f"{name}@published", "-m", "random", fails=True)
        assert "gnomon data get" in walk.said
    walk.give("score", "nowhere", fails=True)
    walk.give("runs", "rm", "--yes", runs[0])
    walk.give("score", runs[0], fails=True)
    assert "is not a run" in walk.said
