from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest

import gnomon
from gnomon.records import Answer, Item
from gnomon.reports.overview import Overview, in_words, overview, overview_by
from gnomon.reports.study import studies
from gnomon.runs import Run

Write = Callable[..., Run]


@pytest.fixture
def write(made: ModuleType, tmp_path: Path) -> Write:
    """Write a run of a model that is right on the items of which `right` says so."""

    def written(name: str, benchmark: str, model: str, right: Any, **options: Any) -> Run:
        def say(item: Item) -> Answer:
            gold = right(int(item.id))
            wrong = next(choice for choice in item.choices if choice not in item.gold)
            return Answer(item=item.id, choice=item.gold[0] if gold else wrong)

        given = options.pop("items", None) or questions()
        run: Run = made.write(
            tmp_path / name, benchmark, model, given, say=say, scale="none", **options
        )
        return run

    return written


def questions(n: int = 100) -> list[Item]:
    found = []
    for i in range(n):
        gold = "yes" if i % 2 else "no"
        found.append(
            Item(id=f"{i}", form="choice", text=f"Is {i}?", choices=("no", "yes"), gold=(gold,))
        )
    return found


def share(percent: int) -> Callable[[int], bool]:
    return lambda i: (i * 37) % 100 < percent


def over(*runs: Run) -> Overview:
    return overview(studies(runs))


def test_a_cell_says_on_which_side_of_chance_its_interval_lies(write: Write) -> None:
    found = over(
        write("a", "b@fresh", "good", share(80)),
        write("b", "b@fresh", "even", share(52)),
        write("c", "b@fresh", "bad", share(20)),
    )
    told = {model: found.cells[model, "b@fresh"].verdict for model in found.models}
    assert told == {"good": "above", "even": "open", "bad": "below"}
    assert found.cells["even", "b@fresh"].shows == pytest.approx(0.1, abs=0.01)
    many = over(write("d", "b@fresh", "even", share(52), items=questions(600)))
    assert many.cells["even", "b@fresh"].verdict == "at"
    assert found.columns[0].chance == 0.5
    assert found.columns[0].items == 100


def test_the_best_is_marked_and_those_that_the_test_does_not_tell_from_it(write: Write) -> None:
    found = over(
        write("a", "b@fresh", "first", share(80)),
        write("b", "b@fresh", "near", share(78)),
        write("c", "b@fresh", "far", share(20)),
    )
    marks = {model: found.cells[model, "b@fresh"] for model in found.models}
    assert [cell.best for cell in marks.values()] == [True, False, False]
    assert [cell.tied for cell in marks.values()] == [False, True, False]
    assert [pair.differ for pair in found.pairs["b@fresh"]] == [False, True, True]


def test_runs_on_other_items_are_not_marked_and_that_is_said(write: Write) -> None:
    found = over(
        write("a", "b@fresh", "first", share(80)),
        write("b", "b@fresh", "second", share(20)),
        write("c", "b@fresh", "few", share(100), items=questions(50)),
    )
    few = found.cells["few", "b@fresh"]
    assert few.value == 1.0
    assert not few.best
    assert not few.tied
    assert found.cells["first", "b@fresh"].best
    assert any("few was not asked the same items as the others" in note for note in found.notes)


def test_a_single_run_is_not_the_best_of_anything(write: Write) -> None:
    found = over(write("a", "b@fresh", "alone", share(80)))
    assert not found.cells["alone", "b@fresh"].best
    assert found.notes == ()
    assert found.mean_rank == {}


def test_an_unfinished_run_is_flagged(write: Write) -> None:
    found = over(write("a", "b@fresh", "slow", share(80), answered=0.5, finished=False))
    cell = found.cells["slow", "b@fresh"]
    assert not cell.finished
    assert cell.items == 50
    assert found.notes == ("slow on b@fresh is not finished: asked 50 of 100 items.",)


def test_a_run_that_was_asked_nothing_has_no_verdict(write: Write) -> None:
    found = over(
        write("a", "b@fresh", "new", share(80), answered=0, finished=False),
        write("b", "b@fresh", "old", share(80)),
    )
    cell = found.cells["new", "b@fresh"]
    assert cell.verdict == "unknown"
    assert cell.value != cell.value
    assert in_words(found, "new") == ""


def test_a_setting_that_tells_runs_apart_has_one_row_in_all_columns(write: Write) -> None:
    found = over(
        write("a", "b@fresh", "m", share(80), model_options={"prompt": "plain"}),
        write("b", "b@fresh", "m", share(70), model_options={"prompt": "fewshot"}),
        write("c", "c@fresh", "m", share(60), model_options={"prompt": "fewshot"}),
    )
    assert found.models == ("m (prompt plain)", "m (prompt fewshot)")
    assert ("m (prompt fewshot)", "c@fresh") in found.cells
    assert ("m (prompt plain)", "c@fresh") not in found.cells


def test_settings_that_differ_only_between_benchmarks_make_no_rows(write: Write) -> None:
    found = over(
        write("a", "b@fresh", "m", share(80), options={"seed": 1}),
        write("b", "c@fresh", "m", share(70), options={"seed": 2}),
    )
    assert found.models == ("m",)


def test_two_runs_alike_in_all_settings_are_numbered(write: Write) -> None:
    found = over(
        write("a", "b@fresh", "m", share(80)),
        write("b", "b@fresh", "m", share(70)),
    )
    assert found.models == ("m", "m #2")
    assert len(found.cells) == 2


def test_the_mean_rank_is_of_models_that_were_asked_everything(write: Write) -> None:
    found = over(
        write("a", "b@fresh", "x", share(80)),
        write("b", "b@fresh", "y", share(60)),
        write("c", "b@fresh", "z", share(70)),
        write("d", "c@fresh", "x", share(50)),
        write("e", "c@fresh", "y", share(50)),
    )
    assert found.mean_rank == {"x": (1 + 1.5) / 2, "y": (2 + 1.5) / 2}
    # told apart in one column, tied in the other: there, either may have rank 1 or 2
    assert found.rank_error == pytest.approx({"x": 0.25, "y": 0.25})
    assert found.rank("x") == "1.2 ± 0.2"
    assert found.rank("z") == ""


def test_words_say_no_more_than_the_verdicts(write: Write) -> None:
    found = over(
        write("a", "scales@fresh", "m", share(80)),
        write("b", "posrel@fresh", "m", share(52), items=questions(600)),
        write("c", "vsr@fresh", "m", share(10)),
        write("e", "spacenli@fresh", "m", share(61)),
        write("d", "scales@fresh", "bag-of-words", share(80)),
    )
    skills = {column.name: column.skill or column.name[:-6] for column in found.columns}
    assert in_words(found, "m") == (
        f"better than chance at {skills['scales@fresh']}; about as good as guessing at "
        f"{skills['posrel@fresh']}; "
        f"worse than chance at {skills['vsr@fresh']}; "
        f"too few items to tell whether it guesses at {skills['spacenli@fresh']} "
        "(with 100 items a score must be at least 12 points from chance to tell)"
    )
    assert in_words(found, "bag-of-words").startswith("better than chance at ")
    assert in_words(found, "nobody") == ""


def test_what_one_figure_shows_is_not_shown_by_one_of_many(write: Write) -> None:
    """With twelve benchmarks one would look better than chance by luck in every fourth table."""
    names = [f"b{number}@fresh" for number in range(12)]
    alone = over(write("one", names[0], "m", share(61)))
    assert alone.cells["m", names[0]].verdict == "above"
    together = over(*(write(name, name, "m", share(61)) for name in names))
    assert {cell.verdict for cell in together.cells.values()} == {"open"}


def test_two_sources_of_a_benchmark_are_told_apart_in_words(write: Write) -> None:
    found = over(
        write("a", "scales@fresh", "m", share(80)),
        write("b", "scales@published", "m", share(80)),
    )
    told = in_words(found, "m")
    assert "(scales@fresh)" in told
    assert "(scales@published)" in told


def test_two_models_of_one_name_never_share_a_row(write: Write) -> None:
    found = over(
        write("a", "b@fresh", "answers:one/gpt.jsonl", share(80)),
        write("b", "c@fresh", "answers:two/gpt.jsonl", share(80)),
    )
    one, two = "gpt (model answers:one/gpt.jsonl)", "gpt (model answers:two/gpt.jsonl)"
    assert found.models == (one, two)
    assert set(found.cells) == {(one, "b@fresh"), (two, "c@fresh")}


def test_sources_of_one_benchmark_have_titles_and_skills_of_their_own(write: Write) -> None:
    runs = [
        write(source, f"spacenli@{source}", "m", share(90)) for source in ("fresh", "published")
    ]
    found = over(*runs)
    title = "Inference from sentences about space"
    assert [column.title for column in found.columns] == [
        f"{title} (fresh)",
        f"{title} (published)",
    ]
    assert "(spacenli@fresh) and spatial inference (spacenli@published)" in in_words(found, "m")


def test_items_without_the_tag_have_a_column_with_a_title(write: Write) -> None:
    items = [msgspec.structs.replace(item, tags={}) for item in questions()]
    items[0] = msgspec.structs.replace(items[0], tags={"kind": "odd"})
    (study,) = studies([write("a", "b@fresh", "m", share(80), items=items)])
    assert [column.title for column in overview_by(study, "kind").columns] == [
        "odd",
        "(none)",
        "all",
    ]


def test_chance_is_stated_for_runs_on_different_numbers_of_items(tmp_path: Path) -> None:
    """A third is a third, though its mean over 136 items differs in the last bit."""
    runs = [
        gnomon.run("spacenli", "random", limit=150, runs=tmp_path),
        gnomon.run("spacenli", "majority", limit=136, runs=tmp_path),
    ]
    (column,) = gnomon.overview(*runs).columns
    assert column.chance == pytest.approx(1 / 3)
