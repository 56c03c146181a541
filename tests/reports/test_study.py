from __future__ import annotations

import base64
import json
import zlib
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import gnomon.reports.page.items as items_module
from gnomon.records import Answer, Item
from gnomon.reports.page.items import FIRST, NONE, pack
from gnomon.reports.pictures import Album
from gnomon.reports.study import NO_ANSWER, NOT_ASKED, studies
from gnomon.runs import Run, RunLog


def unpacked(data: str) -> dict[str, Any]:
    return json.loads(zlib.decompress(base64.b64decode(data), -15))  # type: ignore[no-any-return]


def test_runs_fall_into_studies_by_benchmark_and_share_items(runs: Path) -> None:
    found = studies([Run.open(runs / name) for name in ("good", "pairs", "middling")])
    assert [study.name for study in found] == ["spacenli@fresh", "scales@fresh"]
    assert [each.label for each in found[0].entrants] == ["hf:roberta-large-mnli", "smollm2"]
    assert len(found[0].items) == 24 * 8


def test_answers_are_aligned_with_items_whatever_part_a_run_covers(
    made: ModuleType, tmp_path: Path
) -> None:
    items = list(made.entailment(4, 5))
    whole = made.write(tmp_path / "whole", "b@fresh", "one", items, seed=1)
    part = made.write(tmp_path / "part", "b@fresh", "two", items[10:], seed=1)
    study = studies([whole, part])[0]
    assert len(study.items) == 20
    one, two = study.entrants
    assert two.choice[:10].tolist() == [NOT_ASKED] * 10
    assert (one.choice[10:] == two.choice[10:]).all()  # the same seed answers alike


def test_the_same_id_with_other_words_is_another_item(made: ModuleType, tmp_path: Path) -> None:
    first = made.write(
        tmp_path / "a", "b@fresh", "m", made.entailment(2, 2, seed=1), options={"seed": 1}
    )
    second = made.write(
        tmp_path / "b",
        "b@fresh",
        "m",
        made.entailment(2, 2, seed=99),
        options={"seed": 2},
        finished=False,
    )
    study = studies([first, second])[0]
    assert len(study.items) > 4
    assert [entrant.label for entrant in study.entrants] == ["m (seed 1)", "m (seed 2)"]


def test_missing_failed_and_unreadable_answers_are_kept_apart(
    tmp_path: Path, made: ModuleType
) -> None:
    items = [
        Item(id=str(i), form="choice", text="?", choices=("no", "yes"), gold=("yes",))
        for i in range(4)
    ]
    made.write(tmp_path / "r", "b@fresh", "m", items, answered=0, scale="none")
    log = RunLog(tmp_path / "r")
    log.add_answers(
        [
            (0, Answer(item="0", choice="yes")),
            (1, Answer(item="1", reply="who knows")),
            (2, Answer(item="2", error="timeout")),
        ]
    )
    log.close()
    entrant = studies([Run.open(tmp_path / "r")])[0].entrants[0]
    assert entrant.choice.tolist() == [1, NO_ANSWER, NO_ANSWER, NOT_ASKED]
    assert entrant.right.tolist() == [True, False, False, False]
    assert entrant.replies == {1: "who knows", 2: "error: timeout"}
    assert not entrant.scored


def test_the_item_table_holds_every_item_and_answer(runs: Path) -> None:
    study = studies([Run.open(runs / "good"), Run.open(runs / "guess")])[0]
    packed = pack(study, Album())
    data = unpacked(packed.data)
    assert (packed.shown, packed.left_out, data["n"]) == (192, 0, 192)
    for row in (0, 77, 191):
        item = study.items[row]
        assert data["text"][row] == item.text
        assert data["context"]["values"][data["context"]["codes"][row]] == item.context
        for run, entrant in zip(data["runs"], study.entrants, strict=True):
            assert ord(run["choice"][row]) - FIRST == entrant.choice[row]
            assert ord(run["right"][row]) - FIRST == int(entrant.right[row])
    shares = np.array([ord(c) - FIRST for c in data["runs"][0]["gold"]]) / 100
    assert np.allclose(shares, study.entrants[0].gold, atol=0.006)
    assert data["runs"][1]["gold"] == ""  # a model without scores
    assert NONE < FIRST


def test_items_beyond_the_limit_are_counted_not_dropped_in_silence(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(items_module, "MOST", 50)
    packed = pack(studies([Run.open(runs / "good")])[0], Album())
    assert (packed.shown, packed.left_out) == (50, 142)
    assert len(unpacked(packed.data)["text"]) == 50


def test_a_megabyte_of_reply_is_cut_short(made: ModuleType, tmp_path: Path) -> None:
    run = made.write(
        tmp_path / "r", "b@fresh", "m", made.entailment(1, 2), scale="none", replies=["x" * 2**20]
    )
    study = studies([run])[0]
    assert max(len(reply) for reply in study.entrants[0].replies.values()) <= 301
    assert len(pack(study, Album()).data) < 3000
