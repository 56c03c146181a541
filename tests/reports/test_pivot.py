from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from gnomon.cli.dispatch import main
from gnomon.errors import UsageError
from gnomon.measures.comparison import compare
from gnomon.records import Answer, Item
from gnomon.registry import measure
from gnomon.reports.overview import overview, overview_by
from gnomon.reports.study import studies
from gnomon.reports.tables.overviews import in_terminal
from gnomon.reports.tables.pivot import letters, pivot, written
from gnomon.runs import Run

HOSTILE = "a_b&c%d#e$f{g}h~i^j\\k|l<m>n--o \N{MINUS SIGN}\N{EN DASH}\N{GREEK SMALL LETTER ALPHA}é模"
Write = Callable[..., Run]


def share(percent: int) -> Callable[[int], bool]:
    return lambda i: (i * 37) % 100 < percent


@pytest.fixture
def write(made: ModuleType, tmp_path: Path) -> Write:
    """Write a run of a model that is right on the items of which `right` says so."""

    def written_run(benchmark: str, model: str, right: Callable[[int], bool], n: int = 100) -> Run:
        def say(item: Item) -> Answer:
            wrong = "no" if item.gold[0] == "yes" else "yes"
            return Answer(item=item.id, choice=item.gold[0] if right(int(item.id)) else wrong)

        items = [
            Item(
                id=f"{i}",
                form="choice",
                text=f"Is {i}?",
                choices=("no", "yes"),
                gold=("yes" if i % 2 else "no",),
                tags={"half": "first" if i < 50 else "second"},
            )
            for i in range(n)
        ]
        folder = tmp_path / f"{benchmark}-{len(list(tmp_path.iterdir()))}"
        run: Run = made.write(folder, benchmark, model, items, say=say, scale="none")
        return run

    return written_run


@pytest.fixture
def three(write: Write) -> list[Run]:
    """Three models on two benchmarks: a good one, one near it, and a bad one."""
    found = []
    for benchmark in ("spacenli@fresh", "mine@fresh"):
        found.append(write(benchmark, "good", share(80)))
        found.append(write(benchmark, "near", share(78)))
        found.append(write(benchmark, "bad", share(20)))
    return found


def table_of(runs: list[Run], **options: Any) -> Any:
    found = studies(runs)
    return pivot(overview(found), found, **options)


def test_the_level_is_that_of_intervals_and_verdicts_and_the_test_stays(three: list[Run]) -> None:
    found = studies(three)
    usual, narrow = overview(found), overview(found, level=0.5)
    for place, cell in usual.cells.items():
        assert cell.value == narrow.cells[place].value
        assert cell.low < narrow.cells[place].low < narrow.cells[place].high < cell.high
    assert narrow.pairs == usual.pairs
    assert ", with 50 % intervals over" in pivot(narrow, found).caption
    by_tag = overview_by(found[0], "half", level=0.5)
    assert by_tag.cells["good", "all"].low == narrow.cells["good", found[0].name].low


def test_a_level_outside_0_and_1_is_refused(three: list[Run]) -> None:
    with pytest.raises(UsageError, match="between 0 and 1"):
        overview(studies(three), level=95)


def test_the_command_names_the_level_beside_the_intervals(
    three: list[Run], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["table", str(three[0].path), "--level", "0.9"]) == 0
    assert "90 % interval" in capsys.readouterr().out
    paths = [str(run.path) for run in three]
    assert main(["table", *paths, "--level", "0.9", "--format", "markdown"]) == 0
    assert "with 90 % intervals" in capsys.readouterr().out
    assert main(["table", *paths, "--level", "0.9", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["level"] == 0.9


def test_two_models_share_a_letter_exactly_if_they_do_not_differ() -> None:
    names = list("uvwxyz")
    differing = [("u", "x"), ("u", "y"), ("u", "z"), ("v", "z"), ("w", "z"), ("x", "y")]
    found = letters(names, differing)
    for i, one in enumerate(names):
        for two in names[i + 1 :]:
            shared = set(found[one]) & set(found[two])
            assert bool(shared) != ((one, two) in differing), (one, two, found)
    assert "a" in found["u"]


def test_the_marks_are_those_of_the_comparison(three: list[Run]) -> None:
    found = studies(three)
    made = overview(found)
    tables = [entrant.table for entrant in found[0].entrants]
    pairs = compare(tables, measure("accuracy"))
    mine = made.pairs["spacenli@fresh"]
    assert [pair.p_adjusted for pair in mine] == [pair.p_adjusted for pair in pairs]
    table = pivot(made, found)
    assert [row.cells[0].mark for row in table.rows if row.cells[0]] == ["a", "a", "b"]
    starred = pivot(made, found, marks="stars")
    assert [row.cells[0].mark for row in starred.rows if row.cells[0]] == ["", "", "***"]


def test_the_caption_names_the_test_its_correction_and_what_marks_mean(three: list[Run]) -> None:
    caption = table_of(three).caption
    for part in (
        "95 % intervals",
        "Bold",
        "Italics",
        "share a letter",
        "Holm",
        "Mean rank",
        "Items: ",
    ):
        assert part in caption
    plain = table_of(three, marks="none", intervals=False).caption
    assert "Holm" not in plain
    assert "interval" not in plain


def test_latex_has_bold_italics_letters_chance_and_intervals_below(three: list[Run]) -> None:
    text = written(table_of(three), "latex")
    assert r"good & \textbf{80.0}\textsuperscript{a}" in text
    assert r"\textit{20.0}\textsuperscript{b}" in text
    assert r"Chance & 50.0 & 50.0" in text
    assert re.search(r"\{\\scriptsize \[7\d\.\d, 8\d\.\d\]\}", text)
    assert r"\label{tab:gnomon}" in text
    assert text.isascii()
    assert r"\scriptsize" not in written(table_of(three, intervals=False), "latex")


def test_models_of_the_papers_stand_apart_in_grey(three: list[Run]) -> None:
    table = table_of(three, published=True)
    assert table.published
    assert all(row.cells[1] is None for row in table.published)  # no paper knows of it
    assert r"\textcolor{gray}{DeBERTaV3-L\#1 (SMFA)}" in written(table, "latex")
    assert "Grey" in table.caption
    kinds = {row["model"]: row["kind"] for row in json.loads(written(table, "json"))["rows"]}
    assert kinds["DeBERTaV3-L#1 (SMFA)"] == "published"
    assert kinds["good"] == "run"


def test_csv_has_fractions_in_full(three: list[Run]) -> None:
    rows = list(csv.DictReader(io.StringIO(written(table_of(three), "csv"))))
    assert [row["model"] for row in rows] == ["good", "near", "bad", "Chance"]
    assert rows[0]["mine@fresh"] == "0.8"
    assert float(rows[0]["mine@fresh low"]) < 0.8 < float(rows[0]["mine@fresh high"])
    assert rows[0]["mean_rank"] == "1.0"


def test_by_a_tag_each_value_is_a_column_and_all_items_the_last(three: list[Run]) -> None:
    study = studies(three)[1]
    found = overview_by(study, "half")
    assert [column.name for column in found.columns] == ["first", "second", "all"]
    assert found.cells["good", "first"].items == 50
    assert found.cells["good", "all"].items == 100
    assert found.cells["good", "all"].best
    assert found.mean_rank == {}


def test_names_cannot_act_in_html_or_markdown(write: Write) -> None:
    name = "<script>alert(1)</script>|x\n# y"
    table = table_of([write("b@fresh", name, share(80)), write("b@fresh", "m", share(20))])
    assert "<script" not in written(table, "html")
    markdown = written(table, "markdown").splitlines()
    assert len({line.replace("\\|", "").count("|") for line in markdown if line[:1] == "|"}) == 1
    assert not any(line.startswith("#") for line in markdown)


@pytest.mark.parametrize("first", [0, 1])
def test_stars_tell_apart_from_every_best_model_not_from_the_last(write: Write, first: int) -> None:
    best = [("one", lambda i: i < 80), ("two", lambda i: i >= 20)]
    runs = [write("b@fresh", *best[first]), write("b@fresh", *best[1 - first])]
    runs.append(write("b@fresh", "third", lambda i: i < 60))
    third = table_of(runs, marks="stars").rows[2].cells[0]
    assert third is not None
    assert third.mark == "*"  # though it differs from the one with three


def test_markdown_shows_a_name_as_it_is(write: Write) -> None:
    name = r"a*b* $x$ ~~c~~ d\e &lt; _f_ `g`"
    table = table_of([write("b@fresh", name, share(80))])
    assert r"a\*b\* \$x\$ \~\~c\~\~ d\\e \&lt; \_f\_ \`g\`" in written(table, "markdown")


def test_the_terminal_turns_the_table_before_it_cuts_a_name(write: Write) -> None:
    runs = []
    for name in ("one@fresh", "two@fresh", "three@fresh", "four@fresh"):
        runs += [write(name, "good", share(80)), write(name, "near", share(78))]
    found = overview(studies(runs))
    wide = in_terminal(found, width=200).splitlines()
    assert wide[1].split()[:3] == ["model", "one@fresh", "two@fresh"]
    narrow = in_terminal(found, width=46).splitlines()
    assert narrow[1].split() == ["benchmark", "good", "near", "chance"]
    assert max(map(len, narrow)) <= 46
    told = " ".join(narrow)
    assert "*: the best of the models" in told
    assert "~: not shown to differ from the best." in told


def test_one_model_has_a_line_for_each_benchmark_with_a_verdict_in_words(write: Write) -> None:
    runs = [write("b@fresh", "m", share(80)), write("c@fresh", "m", share(20))]
    lines = in_terminal(overview(studies(runs)), width=120).splitlines()
    assert "better than chance" in lines[3]
    assert "worse than chance" in lines[4]
    assert lines[-1] == "m: better than chance at b; worse than chance at c."


def test_the_command_prints_every_format_and_refuses_what_it_cannot(
    three: list[Run], capsys: pytest.CaptureFixture[str]
) -> None:
    folders = [str(run.path) for run in three]
    for format, sign in {
        "text": "chance",
        "latex": r"\toprule",
        "markdown": "| ---: |",
        "html": "<table",
        "csv": "model,kind",
        "json": '"columns"',
    }.items():
        assert main(["table", *folders, "--format", format]) == 0
        assert sign in capsys.readouterr().out
    assert main(["table", *folders, "--by", "half"]) == 2
    assert "is about one benchmark" in capsys.readouterr().err
    assert main(["table", *folders, "--published"]) == 2
    assert main(["table", *folders[3:], "--by", "nothing", "--format", "csv"]) == 2


def test_what_is_written_compiles_with_pdflatex(
    write: Write, three: list[Run], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if shutil.which("pdflatex") is None:
        pytest.skip("there is no pdflatex")
    runs = [*three, write("mine@fresh", HOSTILE, share(50)), write("few@fresh", "bad", share(9))]
    table = written(table_of(runs, published=True, label="tab:x y_z"), "latex")
    stars = written(table_of(runs, marks="stars", caption=HOSTILE), "latex")
    assert main(["compare", *(str(run.path) for run in three[:2]), "--format", "latex"]) == 0
    compared = capsys.readouterr().out
    packages = r"\usepackage{booktabs,graphicx,xcolor}"
    document = [r"\documentclass{article}", packages, r"\begin{document}"]
    document += [table, stars, rf"\makebox[0pt][l]{{{compared}}}", r"\end{document}"]
    (tmp_path / "t.tex").write_text("\n".join(document), encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-halt-on-error", "-no-shell-escape", "-interaction=nonstopmode", "t.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    assert done.returncode == 0, done.stdout[-1500:]
    assert (tmp_path / "t.pdf").stat().st_size > 10_000
    log = (tmp_path / "t.log").read_text(errors="replace")
    assert "Missing character" not in log
    assert not re.search(r"Overfull .hbox \(\d\d", log)  # no wider than the page


def test_the_caption_says_how_many_items_and_where_runs_differ(
    three: list[Run], write: Write
) -> None:
    caption = table_of([*three, write("mine@fresh", "short", share(50), n=40)]).caption
    assert "Items: 100 of spacenli@fresh and up to 100 of mine@fresh." in caption


def test_latex_has_room_between_caption_and_table(three: list[Run]) -> None:
    """LaTeX leaves room above a caption, and none below: so it follows the table."""
    text = written(table_of(three), "latex")
    assert text.index(r"\bottomrule") < text.index(r"\caption") < text.index(r"\label")
