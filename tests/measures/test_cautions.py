"""One answer to everything, a constant that beats chance, and models that were not asked alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.measures.cautions import best_constant, cautions, one_answer, settings_apart
from gnomon.measures.entries import ScoredTable
from gnomon.measures.regression import explained
from gnomon.measures.table import Table
from gnomon.records import Answer, Item

PLACES = ("inside", "above", "below", "beside")


def table(
    golds: list[str],
    say: Callable[[Item], str],
    choices: tuple[str, ...] = PLACES,
    model: str = "hf:base",
) -> Table:
    rows = []
    for i, gold in enumerate(golds):
        # options stand in another order each time
        offered = choices[i % len(choices) :] + choices[: i % len(choices)]
        item = Item(id=f"{i}", form="choice", text=f"{i}?", choices=offered, gold=(gold,))
        rows.append((item, Answer(item=item.id, choice=say(item))))
    return Table.of(rows, benchmark="posrel@fresh", model=model)


def balanced(n: int = 100) -> list[str]:
    return [PLACES[i % 4] for i in range(n)]


def test_one_answer_to_all_items_is_told_whatever_is_right() -> None:
    found = one_answer(table(balanced(), lambda item: "inside"))
    assert found is not None
    assert (found.answers, found.share, found.items) == (("inside",), 1.0, 100)


def test_a_model_that_is_right_does_not_give_one_answer() -> None:
    assert one_answer(table(balanced(), lambda item: item.gold[0])) is None
    # though nearly all that is right is one answer
    skewed = ["inside"] * 95 + ["above"] * 5
    assert one_answer(table(skewed, lambda item: item.gold[0])) is None


def test_many_models_with_one_answer_have_one_sentence() -> None:
    runs = [(f"m{i}", table(balanced(), lambda item: "inside", model=f"hf:{i}")) for i in range(6)]
    told = [said for said in cautions(runs) if "one answer" in said]
    assert len(told) == 1
    assert told[0].startswith("m0, m1, m2 and 3 more on posrel@fresh gave one answer each")
    told = [said for said in cautions(runs[:5]) if "one answer" in said]
    assert [said.split()[0] for said in told] == ["m0", "m1", "m2", "m3", "m4"]


def test_few_items_and_baselines_are_not_blamed() -> None:
    assert one_answer(table(balanced(16), lambda item: "inside")) is None
    assert one_answer(table(balanced(), lambda item: "inside", model="majority")) is None


def test_one_answer_for_each_set_of_options_is_one_answer() -> None:
    yes = table(["yes", "no"] * 50, lambda item: "yes", ("yes", "no"))
    rows = []
    for i in range(100):
        choices = ("yes", "no") if i < 50 else ("taller", "shorter")
        item = Item(id=f"{i}", form="choice", text="?", choices=choices, gold=(choices[i % 2],))
        rows.append((item, Answer(item=item.id, choice=choices[0])))
    both = one_answer(Table.of(rows, benchmark="scales", model="hf:m"))
    assert one_answer(yes) is not None
    assert both is not None
    assert set(both.answers) == {"yes", "taller"}


def test_names_that_occur_once_are_no_recurring_answer() -> None:
    rows = []
    for i in range(60):
        item = Item(id=f"{i}", form="choice", text="?", choices=(f"a{i}", f"b{i}"), gold=(f"b{i}",))
        rows.append((item, Answer(item=item.id, choice=f"a{i}")))
    names = Table.of(rows, benchmark="mine", model="hf:m")
    assert one_answer(names) is None
    assert best_constant(names) is None


def test_the_best_constant_is_told_where_it_surely_beats_chance() -> None:
    found = best_constant(table(["inside"] * 78 + balanced(22), lambda item: "above"))
    assert found is not None
    assert found.answers == ("inside",)
    assert found.share == pytest.approx(0.84)
    assert best_constant(table(balanced(), lambda item: "above")) is None
    # a third of forty items, where a quarter is chance, is luck
    assert best_constant(table([*balanced(36), *["inside"] * 4], lambda item: "above")) is None


@given(st.lists(st.sampled_from(PLACES), min_size=20, max_size=60))
def test_the_order_of_items_says_nothing(golds: list[str]) -> None:
    said = [PLACES[len(gold) % 4] for gold in golds]
    one = table(golds, lambda item: said[int(item.id)])
    turned = list(range(len(golds)))[::-1]
    other = one.where(np.array(turned))
    assert one_answer(one) == one_answer(other)
    assert best_constant(one) == best_constant(other)


def asked(model: str, **how: str) -> Table:
    made = table(balanced(), lambda item: item.gold[0], model=model)
    return replace(made, about=replace(made.about, asked=how))


def test_models_that_were_not_asked_alike_are_named_with_their_prompts() -> None:
    tables = [
        asked("Base", prompt="plain", shots="0", chat="no"),
        asked("Tuned", prompt="chat", shots="0", chat="yes"),
        asked("random"),
    ]
    names = [apart.name for apart in settings_apart(tables)]
    assert names == ["prompt", "chat"]
    (told,) = cautions([(each.model, each) for each in tables])
    assert "prompt plain (Base), chat (Tuned)" in told
    assert "--prompt asks all in one way" in told


def test_other_models_have_other_revisions_and_were_asked_alike() -> None:
    tables = [asked(model, prompt="plain", revision=model) for model in ("hf:a", "hf:b")]
    assert settings_apart([*tables, *tables]) == []
    twice = [asked("hf:a", revision="one"), asked("hf:a", revision="two")]
    (apart,) = settings_apart(twice, ["first", "second"])
    assert apart.name == "revision"


def test_models_asked_in_the_same_several_ways_were_asked_alike() -> None:
    tables = [asked(model, prompt=prompt) for model in "ab" for prompt in ("plain", "chat")]
    assert settings_apart(tables) == []


def test_two_runs_are_explained_by_what_flips_and_where_and_by_the_answers_given() -> None:
    golds = balanced(200)
    good = ScoredTable(table(golds, lambda item: item.gold[0], model="hf:good"), (), "Good")
    poor = ScoredTable(
        table(golds, lambda item: "above" if item.gold[0] == "below" else item.gold[0]), (), "Poor"
    )
    first, second, third = explained(good, poor)
    assert first == "Poor is right and Good wrong on 0 items."
    assert second.startswith("Good is right and Poor wrong on 50 items")
    assert third == "Poor answers 'above' to 50 % of the items, Good to 25 %."


def test_runs_that_answer_alike_are_not_said_to_shift() -> None:
    golds = balanced(40)
    one = ScoredTable(table(golds, lambda item: item.gold[0]), (), "One")
    assert list(explained(one, one._replace(label="Two"))) == [
        "Two is right and One wrong on 0 items.",
        "One is right and Two wrong on 0 items.",
    ]
