"""The first screen: what models know, in sentences and in one table; and one colour for each."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import msgspec
import pytest

from gnomon.cli import main
from gnomon.records import Answer, Continuation, Item, Preview
from gnomon.reports.charts import svg
from gnomon.reports.figures import GROUPS, ITEMS, WIDEST, figures
from gnomon.reports.overview import overview
from gnomon.reports.page.items import columns
from gnomon.reports.page.notes import notes_of, relation_of
from gnomon.reports.page.overviews import conclusion, overview_view, report_leads
from gnomon.reports.page.page import write_report
from gnomon.reports.pictures import Album
from gnomon.reports.study import NOT_ASKED, Study, draw_alike, row_labels, studies
from gnomon.runs import Run

Say = Callable[[Item], Answer]


def right(item: Item) -> Answer:
    return Answer(item=item.id, choice=item.gold[0])


def wrong(item: Item) -> Answer:
    return Answer(item=item.id, choice=next(c for c in item.choices if c not in item.gold))


def blind(item: Item) -> Answer:
    return Answer(item=item.id, choice=item.choices[0])


def in_turn(item: Item) -> Answer:
    """A guess that looks at nothing but the letters of the name."""
    return Answer(item=item.id, choice=item.choices[sum(item.id.encode()) % len(item.choices)])


@pytest.fixture
def ask(made: ModuleType, tmp_path: Path) -> Callable[..., Run]:
    def write(model: str, benchmark: str, say: Say, items: list[Item] | None = None) -> Run:
        folder = tmp_path / "runs" / f"{benchmark}-{model}".replace(":", "-")
        run: Run = made.write(folder, benchmark, model, items or made.entailment(24, 8), say=say)
        return run

    return write


@pytest.fixture
def found(made: ModuleType, ask: Callable[..., Run]) -> list[Study]:
    """Two models and a guess on two benchmarks; on the second, in another order and without one."""
    pairs = list(made.pairs())
    runs = [
        ask("random", "spacenli@fresh", blind),
        ask("hf:a", "spacenli@fresh", right),
        ask("hf:b", "spacenli@fresh", blind),
        ask("hf:b", "scales@fresh", right, pairs),
        ask("hf:a", "scales@fresh", right, pairs),
    ]
    return studies(runs)


def test_a_model_has_one_colour_and_shape_all_through_the_page(found: list[Study]) -> None:
    draw_alike(found, row_labels(found))
    series: dict[str, set[int]] = {}
    for study in found:
        for entrant in study.entrants:
            series.setdefault(entrant.label, set()).add(entrant.series)
    assert {label: len(each) for label, each in series.items()} == {
        "random": 1,
        "hf:a": 1,
        "hf:b": 1,
    }
    assert len(set.union(*series.values())) == 3
    drawn = [figure for study in found for figure in figures(study) if "-by-" in figure.name]
    assert drawn
    for figure in drawn:  # the legend of every bar chart
        for label, (number,) in series.items():
            shape = svg.mark(svg.DrawnPoint(0, 0), number).partition(" ")[0]
            legend = re.search(
                f'<(\\w+)[^>]*class="f(\\d) mark"[^>]*/><text[^>]*>{label}<', figure.svg()
            )
            if legend:
                assert (f"<{legend[1]}", legend[2]) == (shape, svg.hue(number))


def test_thirty_models_have_thirty_looks() -> None:
    looks = {svg.mark(svg.DrawnPoint(0, 0), series) for series in range(28)}
    assert len(looks) == 28


def test_what_is_no_model_has_no_models_colour() -> None:
    models = {svg.hue(series) for series in range(20)}
    assert not models & {svg.hue(series) for series in svg.MEANINGS}


def test_the_overview_says_what_all_some_and_none_know(found: list[Study]) -> None:
    assert conclusion(overview(found)) == (
        "Both models are better than chance at sizes and heights; one is at spatial inference."
    )


def test_nobody_is_said_to_know_what_all_guess_at(
    made: ModuleType, ask: Callable[..., Run]
) -> None:
    items = list(made.entailment(240, 3))
    runs = [ask(model, "spacenli@fresh", blind, items) for model in ("hf:a", "hf:b")]
    assert conclusion(overview(studies(runs))) == (
        "Neither model is better than chance at spatial inference."
    )


def test_of_too_few_items_nothing_is_concluded(ask: Callable[..., Run]) -> None:
    runs = [ask(model, "spacenli@fresh", in_turn) for model in ("hf:a", "hf:b")]
    assert conclusion(overview(studies(runs))) == ""


def test_a_model_that_was_not_asked_is_not_said_to_know(ask: Callable[..., Run]) -> None:
    runs = [
        ask("hf:a", "spacenli@fresh", right),
        ask("hf:b", "posrel@fresh", blind),
    ]
    assert conclusion(overview(studies(runs))) == ""


def test_of_more_than_two_models_it_says_how_many_there_are(ask: Callable[..., Run]) -> None:
    runs = [ask(f"hf:{name}", "spacenli@fresh", right) for name in "abc"]
    assert conclusion(overview(studies(runs))) == (
        "All 3 models are better than chance at spatial inference."
    )


def test_a_cell_tells_score_interval_side_of_chance_and_place(found: list[Study]) -> None:
    draw_alike(found, row_labels(found))
    shown = overview_view(overview(found), report_leads(found))
    assert [model["name"] for model in shown["models"]] == ["hf:a", "hf:b", "random"]
    row = shown["rows"][0]
    assert (row["title"], row["chance"]) == ("Inference from sentences about space", "33\xa0%")
    best, guess, _ = row["cells"]
    assert (best["text"], best["marks"]) == ("100", "+★")
    assert (guess["text"], guess["marks"]) == ("33", "!")  # one answer
    assert best["address"] == "#items?b=spacenli%40fresh&o=asked%3Ahf%3Aa"
    assert shown["rows"][1]["cells"][2]["text"] == ""  # random was not asked the second


def test_bars_rest_on_enough_items_and_say_how_many(
    made: ModuleType, ask: Callable[..., Run]
) -> None:
    few = studies([ask("hf:a", "spacenli@fresh", right, list(made.entailment(8, 2)))])
    assert [figure.name for figure in figures(few[0])] == []
    many = studies([ask("hf:b", "spacenli@fresh", right, list(made.entailment(48, 8)))])
    bars = next(f for f in figures(many[0]) if f.name == "accuracy-by-class")
    assert bars.caption.startswith("96 items a bar, with 95 % intervals")
    columns = [bars.columns.index(name) for name in ("low", "high", "n")]
    for row in bars.rows:
        low, high, n = (row[column] for column in columns)
        assert n >= ITEMS
        assert high - low <= WIDEST
    assert GROUPS < ITEMS


def test_a_bar_that_one_model_lacks_is_told_though_another_has_it(
    made: ModuleType, ask: Callable[..., Run]
) -> None:
    items = list(made.entailment(48, 8))
    kind = items[0].tags["class"]
    others = [item for item in items if item.tags["class"] != kind]
    few = others + [item for item in items if item.tags["class"] == kind][: ITEMS - 1]
    runs = [ask("hf:a", "spacenli@fresh", right, items), ask("hf:b", "spacenli@fresh", right, few)]
    (study,) = studies(runs)
    bars = next(f for f in figures(study) if f.name == "accuracy-by-class")
    told = "Not drawn, in the numbers only: 1 bar with fewer than 20 items or an interval of more"
    assert told in bars.caption


def test_no_pair_of_one_or_two_is_drawn_as_agreement(
    made: ModuleType, ask: Callable[..., Run]
) -> None:
    items = list(made.pairs())[:24]
    (study,) = studies([ask("hf:a", "scales@fresh", right, items)])
    assert not [figure for figure in figures(study) if figure.name == "forms"]


def test_as_many_items_as_in_the_paper_are_no_cause_for_alarm(
    made: ModuleType, tmp_path: Path
) -> None:
    def notes(each: int) -> str:
        items = made.entailment(4, each)
        run = made.write(tmp_path / str(each), "spacenli@published", "hf:a", items, say=right)
        (study,) = studies([run])
        return " ".join(
            notes_of(study, ["pattern_accuracy@0.9"], ["pattern_accuracy@0.9"], papers=True)
        )

    assert "easier to get all of them right" in notes(40)
    assert "easier" not in notes(199)  # 200 in the paper


def test_runs_on_all_published_items_are_not_said_to_be_on_some(
    made: ModuleType, tmp_path: Path
) -> None:
    whole = made.write(tmp_path / "whole", "spacenli@published", "hf:a", made.entailment(4, 8))
    assert relation_of(studies([whole])[0]) == ""


def test_the_command_on_the_page_makes_the_page_again(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    some = [runs / "good", runs / "pairs"]
    for given in (some, [runs]):
        page = write_report(given, "first.html").read_text(encoding="utf-8")
        command = re.search(r"This page: <code>(.*?)</code>", page)
        assert command
        said = shlex.split(command[1])
        assert said[:2] == ["gnomon", "report"]
        Path("first.html").unlink()
        assert main(said[1:]) == 0
        assert Path("first.html").read_text(encoding="utf-8") == page


def test_the_page_holds_the_experiment_that_repeats_its_runs(runs: Path, tmp_path: Path) -> None:
    page = write_report([runs / "guess"], tmp_path / "report.html").read_text(encoding="utf-8")
    kept = re.search(r'id="experiment".*?<pre><bdi>(.*?)</bdi>', page, re.DOTALL)
    assert kept
    assert "spacenli" in kept[1]
    assert "random" in kept[1]


def test_an_item_shows_what_the_model_read_of_those_that_it_was_asked(
    made: ModuleType, ask: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    items = list(made.entailment(4, 8))
    (study,) = studies([ask("hf:a", "spacenli@fresh", right, items)])
    manifest = study.entrants[0].run.manifest
    monkeypatch.setattr(manifest, "asking", {"kept": "something"})
    scored = (Continuation(choice="yes", text=" yes"), Continuation(choice="no", text=" no"))
    monkeypatch.setattr(
        "gnomon.reports.page.items.prompt_of",
        lambda run, item: Preview(text=f"{item.context}\nAnswer:", scored=scored),
    )
    study.entrants[0].choice[1] = NOT_ASKED
    (run,) = columns(study, 3, Album())["runs"]
    said = [run["prompt"]["values"][code] for code in run["prompt"]["codes"]]
    assert said[0] == f"{items[0].context}\nAnswer:\nScored:  yes |  no"
    assert said[1] == ""
    assert len(said) == 3


def test_bands_of_numbers_stand_in_their_order(made: ModuleType, ask: Callable[..., Run]) -> None:
    items = []
    for i, item in enumerate(made.entailment(48, 8)):
        band = ("3-10", "100+", "1.5-3")[i // 8 % 3]
        items.append(msgspec.structs.replace(item, tags={"band": band}))
    (study,) = studies([ask("hf:a", "scales@fresh", right, items)])
    (bars,) = [figure for figure in figures(study) if figure.name == "accuracy-by-band"]
    names = re.findall(r">([^<]*times)</text>", bars.svg())
    assert names == ["1.5 to 3 times", "3 to 10 times", "over 100 times"]
