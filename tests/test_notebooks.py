"""What a notebook shows: tables, frames, sources that can be looked into, functions as models."""

from __future__ import annotations

import re
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import gnomon
from gnomon import tabular
from gnomon.errors import GnomonError, RunError, UsageError
from gnomon.models.functions import source_digest
from gnomon.records import Answer, Item
from gnomon.runs import Run

needs_pandas = pytest.mark.skipif(find_spec("pandas") is None, reason="pandas is not installed")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    folder = tmp_path_factory.mktemp("runs")
    models = ("random", "majority")
    return [gnomon.run("scales", model, limit=40, runs=folder) for model in models]


def first_choice(item: Item) -> str:
    return item.choices[0]


@needs_pandas
def test_scores_are_a_list_and_a_table(runs: list[Run]) -> None:
    found = gnomon.score(*runs, measures="accuracy", by="scale")
    assert isinstance(found, list)
    assert found == list(found)
    assert [score.measure for score in found] == ["accuracy"] * 6
    assert found[:2].to_frame("pandas").shape[0] == 2
    page = found._repr_html_()
    assert page.count("<tr>") == 7
    assert "scale = height" in page
    assert "random" in repr(found)
    assert repr(found[:0]) == "[]"


def test_a_frame_of_scores_has_every_field_and_the_label(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    for seed in (0, 1):
        gnomon.run(gnomon.load("scales", seed=seed), "random", limit=20, runs=tmp_path)
    frame = gnomon.score(tmp_path, measures="accuracy").to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert set(frame["label"]) == {"random (seed 0)", "random (seed 1)"}
    assert {"value", "low", "high", "chance", "n", "units", "run"} <= set(frame.columns)
    assert frame["value"].between(0, 1).all()


def test_polars_is_used_where_it_is_asked_for(runs: list[Run]) -> None:
    polars = pytest.importorskip("polars", reason="polars is not installed")
    assert isinstance(runs[0].to_frame("polars"), polars.DataFrame)


def test_without_either_library_a_sentence_says_what_to_do(monkeypatch: Any) -> None:
    with pytest.raises(UsageError, match="of pandas or polars, not of 'excel'"):
        gnomon.list_benchmarks().to_frame("excel")
    monkeypatch.setattr(tabular, "LIBRARIES", ("no_such_library",))
    with pytest.raises(UsageError, match="neither is installed"):
        gnomon.list_benchmarks().to_frame()
    with pytest.raises(UsageError, match="no_such_library is not installed"):
        gnomon.list_benchmarks().to_frame("no_such_library")


@needs_pandas
def test_comparisons_are_a_list_and_a_table(runs: list[Run]) -> None:
    found = gnomon.compare(*runs)
    assert isinstance(found, list)
    assert len(found) == 1
    assert "majority" in found._repr_html_()
    assert "p (Holm)" in repr(found)
    frame = found.to_frame("pandas")
    assert frame["differ"].tolist() == [found[0].differ]


@needs_pandas
def test_a_frame_of_a_run_has_items_answers_and_tags(runs: list[Run]) -> None:
    frame = runs[0].to_frame("pandas")
    assert len(frame) == 40
    accuracy = gnomon.score(runs[0], measures="accuracy")[0].value
    assert frame["right"].astype(float).mean() == pytest.approx(accuracy)
    assert set(frame["tag_scale"]) == {"height", "size"}
    first = frame.iloc[0]
    assert first["answer"] in first["choices"]
    assert "scales@fresh" in runs[0]._repr_html_()


@needs_pandas
def test_an_item_that_was_not_asked_is_neither_right_nor_wrong(tmp_path: Path) -> None:
    asked: list[str] = []

    def stops(item: Item) -> str:
        if len(asked) == 3:
            raise KeyboardInterrupt
        asked.append(item.id)
        return item.choices[0]

    stops.__wrapped__ = first_choice  # type: ignore[attr-defined]
    with pytest.raises(KeyboardInterrupt):
        gnomon.run("scales", stops, limit=9, runs=tmp_path)
    (folder,) = tmp_path.iterdir()
    frame = Run.open(folder).to_frame("pandas")
    assert len(frame) == 9
    assert frame["right"].isna().all()  # the first batch was never finished


def test_a_source_has_a_length_items_and_slices() -> None:
    source = gnomon.load("scales").limited(30)
    items = list(source)
    assert len(source) == len(items) == 30
    assert source[0] == items[0]
    assert source[-1] == items[-1]
    assert source[3:10:2] == items[3:10:2]
    assert source[::-7] == items[::-7]
    assert source[100:] == []
    with pytest.raises(IndexError, match="30 items"):
        source[30]
    with pytest.raises(IndexError):
        source[-31]
    assert "5 of 30 items" in source._repr_html_()


def test_what_there_is_can_be_listed() -> None:
    for listed, name in (
        (gnomon.list_benchmarks(), "scales"),
        (gnomon.list_models(), "hf"),
        (gnomon.list_prompts(), "plain"),
    ):
        assert name in listed.names
        assert all(each.summary for each in listed)
        assert name in listed._repr_html_()
        assert name in repr(listed)


def test_a_function_is_a_model_of_its_name(tmp_path: Path) -> None:
    run = gnomon.run("scales", first_choice, limit=20, runs=tmp_path)
    assert run.model == "function:first_choice"
    assert run.manifest.counts.answered == 20
    assert run.manifest.model_files == {"the source of first_choice": source_digest(first_choice)}
    again = gnomon.run("scales", first_choice, limit=20, runs=tmp_path)
    assert again.path == run.path
    named = gnomon.run("scales", lambda item: item.choices[-1], limit=20, runs=tmp_path)
    assert named.model == "function:lambda"


def test_a_function_that_changed_does_not_continue_a_run(tmp_path: Path) -> None:
    limit = 20
    space: dict[str, Any] = {}
    exec("def guess(item):\n    return item.choices[0]", space)
    gnomon.run("scales", space["guess"], limit=limit, runs=tmp_path)
    exec("def guess(item):\n    return item.choices[1]", space)
    with pytest.raises(RunError, match="the source of guess changed"):
        gnomon.run("scales", space["guess"], limit=limit, runs=tmp_path)
    changed = gnomon.run("scales", space["guess"], limit=limit, runs=tmp_path, restart=True)
    assert changed.manifest.counts.answered == limit


class Place:
    """A function that is an object: it says the choice at its place."""

    def __init__(self, place: int) -> None:
        self.place = place

    def __call__(self, item: Item) -> str:
        return item.choices[self.place]

    def say(self, item: Item) -> str:
        return item.choices[self.place]


def choice_at(item: Item, place: int) -> str:
    return item.choices[place]


def enclosing(place: int) -> Any:
    def deeper(item: Item) -> str:
        return item.choices[place]

    return lambda item: deeper(item)


def test_a_part_of_a_list_is_a_table_too(runs: list[Run]) -> None:
    for whole in (gnomon.score(*runs), gnomon.compare(*runs), gnomon.list_models()):
        assert type(whole[:1]) is type(whole)
        assert "<table" in whole[:1]._repr_html_()
        assert whole[:1][0] == whole[0]


@pytest.mark.parametrize(
    "made",
    [
        lambda place: lambda item, place=place: item.choices[place],
        lambda place: partial(choice_at, place=place),
        lambda place: Place(place).say,
        Place,
        enclosing,
    ],
    ids=["default", "partial", "method", "object", "closure"],
)
def test_a_function_with_other_values_does_not_give_the_answers_of_the_first(
    made: Any, tmp_path: Path
) -> None:
    first = gnomon.run("scales", made(0), limit=10, runs=tmp_path)
    assert gnomon.run("scales", made(0), limit=10, runs=tmp_path).path == first.path
    with pytest.raises(RunError, match="changed"):
        gnomon.run("scales", made(1), limit=10, runs=tmp_path)


def test_a_function_may_call_itself_or_have_no_source_at_all() -> None:
    def again(item: Any) -> Any:
        return again(item) if item else ""

    assert source_digest(again) != source_digest(len) != source_digest(max)


def test_what_cannot_be_called_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="This is no model: 5"):
        gnomon.run("scales", 5, limit=4, runs=tmp_path)  # type: ignore[arg-type]


def test_a_function_may_give_numbers_a_reply_an_answer_or_nothing(tmp_path: Path) -> None:
    def say(item: Item) -> Any:
        kind = int(re.sub(r"\D", "", str(hash_of(item)))) % 5
        if kind == 0:
            return [0.0] * (len(item.choices) - 1) + [1.0]
        if kind == 1:
            return {choice: float(choice == item.choices[0]) for choice in item.choices}
        if kind == 2:
            return "who knows"
        if kind == 3:
            return Answer(item=item.id, choice=item.choices[0])
        return None

    def hash_of(item: Item) -> int:
        return sum(map(ord, item.id))

    run = gnomon.run("scales", say, limit=60, runs=tmp_path)
    counts = run.manifest.counts
    assert counts.answered + counts.unread == 60
    assert counts.answered > 20
    assert counts.unread > 10
    assert counts.errors == 0


def test_numbers_must_be_one_for_each_choice(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="3 numbers for the 2 choices"):
        gnomon.run("scales", lambda item: [1.0, 2.0, 3.0], limit=4, runs=tmp_path)


def test_progress_is_a_line_written_over_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gnomon.run("scales", "random", limit=20, runs=tmp_path, progress=True)
    drawn = capsys.readouterr().err
    assert "100 % 20/20" in drawn
    assert drawn.endswith("\n")
    gnomon.run("scales", "majority", limit=20, runs=tmp_path)
    assert capsys.readouterr().err == ""


@needs_pandas
def test_the_overview_is_a_table_in_html_text_and_a_frame(runs: list[Run]) -> None:
    found = gnomon.overview(*runs)
    assert "<table" in found._repr_html_()
    assert "scales@fresh" in str(found)
    frame = found.to_frame("pandas")
    assert frame["model"].tolist() == ["random", "majority"]
    assert set(frame["verdict"]) <= {"above", "at", "below", "open"}


def test_no_name_can_act_in_html() -> None:
    page = tabular.html_table(("<b>",), [("<script>alert(1)</script>",)], caption="<i>")
    assert "<script" not in page
    assert "<b>" not in page
    assert "<i>" not in page


def test_two_functions_written_on_one_line_are_two_models(tmp_path: Path) -> None:
    """Python gives the same line as the source of both: the answers of one are not the other's."""
    first, last = (lambda item: item.choices[0]), (lambda item: item.choices[-1])
    assert source_digest(first) != source_digest(last)
    gnomon.run("scales", first, limit=4, runs=tmp_path)
    with pytest.raises(GnomonError, match="restart"):
        gnomon.run("scales", last, limit=4, runs=tmp_path)


def test_runs_may_be_given_in_a_list(tmp_path: Path) -> None:
    runs = [gnomon.run("scales", name, limit=20, runs=tmp_path) for name in ("random", "majority")]
    assert len(gnomon.score(runs, measures="accuracy")) == 2
    assert gnomon.score(runs, measures="accuracy") == gnomon.score(*runs, measures="accuracy")
    assert len(gnomon.compare(runs)) == len(gnomon.compare(*runs)) == 1
    assert gnomon.overview(runs).models == gnomon.overview(*runs).models


def test_a_function_that_gives_a_bare_number_is_told_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(GnomonError, match="one number for each choice"):
        gnomon.run("scales", lambda item: 1, limit=4, runs=tmp_path)
