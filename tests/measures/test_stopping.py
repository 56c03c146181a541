"""Runs that stop by themselves: what a look says, and that it follows from the first answers."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gnomon
from gnomon.cli import main
from gnomon.errors import ModelError, UsageError
from gnomon.measures.borrowed import (
    FACT_RIDGE,
    HELPER_RIDGE,
    MOST_FACTS,
    Predictors,
    corrected_by,
    fact_columns,
)
from gnomon.measures.intervals import interval
from gnomon.measures.statistics import mean_of
from gnomon.measures.stopping import (
    Goal,
    expected_items,
    look_at,
    look_counts,
    next_look,
)
from gnomon.measures.table import Table
from gnomon.measures.units import Sharing, Units
from gnomon.records import Answer
from gnomon.runs.manifest import write_manifest

MOST = 4000


def skilled(item):
    """Right three times in four, by the item's id alone."""
    wrong = sum(item.id.encode()) % 4 == 0
    return next(choice for choice in item.choices if (choice in item.gold) != wrong)


def better(item):
    """Right nine times in ten."""
    wrong = sum(item.id.encode()) % 10 == 0
    return next(choice for choice in item.choices if (choice in item.gold) != wrong)


@given(st.integers(0, 100), st.integers(2, 40), st.integers(100, 3000))
@settings(deadline=None)
def test_an_interval_at_a_look_holds_that_of_a_fixed_number(seed, units, items):
    rng = np.random.default_rng(seed)
    statistics = mean_of(rng.random(items) < 0.8, rng.integers(0, units, items))
    look = look_at(statistics, items, MOST, Goal(0.03))
    fixed = interval(statistics)
    assert look.found.low <= fixed.low
    assert fixed.high <= look.found.high
    assert look.looked > 1


@given(st.integers(0, 100), st.integers(200, 3000))
@settings(deadline=None)
def test_what_is_narrow_enough_for_a_goal_is_so_for_a_wider_one(seed, items):
    rng = np.random.default_rng(seed)
    statistics = mean_of(rng.random(items) < 0.8, np.arange(items))
    verdicts = []
    for points in (1, 2, 3, 5, 10):
        look = look_at(statistics, items, MOST, Goal(points / 100))
        verdicts.append(look.verdict == "narrow")
    assert verdicts == sorted(verdicts)


@given(st.integers(1, 10_000), st.integers(1, 20_000), st.integers(1, 10_000))
def test_the_next_look_is_later_and_at_one_of_the_fixed_numbers(items, expected, most):
    then = next_look(items, expected, most)
    assert then in look_counts(most)
    assert then > items or then == most


def test_a_verdict_on_a_difference_is_always_given_when_the_interval_is_narrow():
    rng = np.random.default_rng(1)
    for gap in (-0.2, -0.02, 0.0, 0.02, 0.2):
        values = np.clip(rng.normal(gap, 0.3, 20_000), -1, 1)
        statistics = replace(mean_of(values, np.arange(20_000), bounds=(-1, 1)), bent=False)
        verdict = look_at(statistics, 20_000, 50_000, Goal.of(None, 3)).verdict
        assert verdict == {-0.2: "worse", 0.2: "better"}.get(gap, verdict)
        assert verdict


def test_a_run_stops_when_its_first_measure_is_known():
    run = gnomon.run("scales", skilled, until=4)
    look = run.manifest.last_look
    score = gnomon.score(run)[0]
    assert look.verdict == "narrow"
    assert (score.low, score.high) == (look.low, look.high)
    assert (look.high - look.low) / 2 <= 0.04
    assert run.manifest.counts.items == run.manifest.limit == look.items < 1920
    assert run.manifest.finished is not None


def test_the_items_of_a_stopped_run_are_those_of_a_limit():
    stopped = gnomon.run("scales", skilled, until=4, runs="stopped")
    limited = gnomon.run("scales", skilled, limit=stopped.manifest.limit, runs="limited")
    assert stopped.manifest.items_sha256 == limited.manifest.items_sha256
    fixed, looked = gnomon.score(limited)[0], gnomon.score(stopped)[0]
    assert looked.low < fixed.low < fixed.value == looked.value < fixed.high < looked.high


def all_looks(run, source, goal):
    """The looks at a run, each with a table of its own: slow, and obvious."""
    answers = {item.id: answer for item, answer in run.answers()}
    most = len(source)
    count = next_look(0, 0, most)
    looks = []
    while not looks or not looks[-1].verdict:
        items = sorted(source.limited(count).items(), key=lambda item: item.id)
        rows = [(item, answers[item.id]) for item in items]
        table = Table.of(rows, sharing=Sharing.of(source.benchmark))
        statistics = mean_of(table.credit, table.clusters)
        looks.append(look_at(statistics, count, most, goal)._replace(asked=len(table)))
        count = looks[-1].then
    return looks


@pytest.mark.parametrize(
    ("name", "half"), [("scales", 4), ("viphy-size", 6), ("posrel", 5), ("chains", 7)]
)
def test_a_run_asked_by_rounds_decides_what_its_first_answers_alone_say(name, half):
    source = gnomon.load(name)
    for seed in range(2):
        run = gnomon.run(source, gnomon.model("random", model_seed=seed), until=half)
        last = all_looks(run, source, Goal.of(half))[-1]
        told = run.manifest.last_look
        found = last.found
        assert (told.items, told.verdict) == (last.asked, last.verdict)
        assert (told.value, told.low, told.high) == pytest.approx(found[:3], abs=1e-12)
        assert run.manifest.limit == last.items


def test_a_run_that_was_broken_off_ends_as_if_it_had_not_been():
    whole = gnomon.run("scales", "random", until=4, runs="whole")

    def broken_off_after(items):
        def watch(progress):
            if progress.done >= items:
                raise KeyboardInterrupt

        return watch

    for items in (8, 100, 130, 200, 350, 500):
        with pytest.raises(KeyboardInterrupt):
            gnomon.run("scales", "random", until=4, runs="parts", watch=broken_off_after(items))
    parts = gnomon.run("scales", "random", until=4, runs="parts")
    assert parts.manifest.last_look == whole.manifest.last_look
    assert parts.manifest.items_sha256 == whole.manifest.items_sha256
    assert gnomon.score(parts)[0].high == gnomon.score(whole)[0].high


def test_a_run_that_was_killed_while_its_log_grew_ends_as_if_it_had_not_been():
    whole = gnomon.run("scales", skilled, until=4, runs="whole")
    killed = gnomon.run("scales", skilled, limit=100, runs="killed")
    killed.manifest.limit, killed.manifest.growing = 400, True  # and the items did not come
    write_manifest(killed.path, killed.manifest)
    resumed = gnomon.run("scales", skilled, until=4, runs="killed")
    assert resumed.path == killed.path
    assert resumed.manifest.last_look == whole.manifest.last_look
    assert resumed.manifest.items_sha256 == whole.manifest.items_sha256


def test_the_log_of_a_stopped_run_is_in_order():
    run = gnomon.run("scales", skilled, until=4)
    source = gnomon.load("scales").limited(run.manifest.limit)
    assert [item.id for item in run.items()] == [item.id for item in source.items()]
    assert not run.manifest.growing
    wrong = [item.id for item, answer in run.answers() if answer.choice != skilled(item)]
    assert wrong == []


def test_a_run_by_whole_groups_says_how_many_items_it_asked():
    run = gnomon.run("chains", skilled, until=8, helped_by="facts")
    look = run.manifest.last_look
    assert look.items == run.manifest.counts.items
    score = gnomon.score(run)[0]
    assert (score.value, score.low, score.high) == (look.value, look.low, look.high)


def test_an_outage_is_no_reason_to_stop():
    def fails(item):
        raise OSError("the server is down")

    run = gnomon.run("scales", fails, until=5, limit=300)
    assert run.manifest.counts.errors == 300
    assert run.manifest.last_look.verdict == "all"  # that may be asked was asked


@pytest.mark.parametrize("name", ["scales", "spacenli", "viphy-size", "spatialqa", "posrel"])
def test_any_beginning_has_forms_and_slices_in_their_shares(name):
    source = gnomon.load(name)
    items = list(source.without_pictures())
    for tag in ("form", "relation", "category", "scale", "label"):
        values = Counter(item.form if tag == "form" else item.tags.get(tag) for item in items)
        if not 1 < len(values) <= 12:
            continue
        for limit in (100, 154, 200):
            part = list(source.limited(limit).without_pictures())
            there = Counter(item.form if tag == "form" else item.tags.get(tag) for item in part)
            for value, count in values.items():
                share = count / len(items)
                error = (limit * share * (1 - share)) ** 0.5
                assert abs(there[value] - limit * share) < 3 * error + 1


def test_two_workers_stop_where_one_does():
    one = gnomon.run("scales", "random", until=5, runs="one")
    two = gnomon.run("scales", "random", until=5, runs="two", workers=2)
    assert two.manifest.last_look == one.manifest.last_look
    assert two.manifest.items_sha256 == one.manifest.items_sha256
    assert gnomon.score(two)[0].low == gnomon.score(one)[0].low


def test_a_run_whose_rounds_were_asked_in_shards_stops_where_a_whole_one_does():
    whole = gnomon.run("scales", "random", until=5, runs="whole")
    for limit in (100, 200):
        shards = []
        for shard in ("1/2", "2/2"):
            part = gnomon.run("scales", "random", limit=limit, shard=shard, runs=f"parts{limit}")
            shards.append(part)
        merged = gnomon.merge(*shards)
        run = gnomon.run("scales", "random", until=5, runs=merged.path.parent)
        assert run.path == merged.path
        assert run.manifest.last_look == whole.manifest.last_look
        assert run.manifest.items_sha256 == whole.manifest.items_sha256


def test_a_run_stops_when_it_differs_from_another():
    first = gnomon.run("scales", skilled)
    second = gnomon.run("scales", better, until_differs=first, by=4)
    look = second.manifest.last_look
    assert look.verdict == "better"
    assert look.against == first.path.name
    assert 0 < look.low < look.high
    assert second.manifest.limit < 1920
    (pair,) = gnomon.compare(first, second)
    assert (-pair.high, -pair.low) == pytest.approx((look.low, look.high))
    assert pair.p < 0.05


def test_a_run_that_is_like_another_is_found_to_be_within():
    first = gnomon.run("scales", skilled, runs="first")
    second = gnomon.run("scales", skilled, until_differs=first, by=8, runs="second")
    assert second.manifest.last_look.verdict == "within"


def test_a_run_with_a_limit_asks_no_more():
    run = gnomon.run("scales", skilled, until=0.5, limit=300)
    assert run.manifest.last_look.verdict == "all"
    assert run.manifest.counts.items == 300


def test_a_run_that_has_more_answers_already_is_left_as_it_is():
    before = gnomon.run("scales", skilled, limit=1500)
    after = gnomon.run("scales", skilled, until=5)
    assert after.manifest.last_look is None
    assert after.manifest.counts == before.manifest.counts


def test_a_stopped_run_can_be_asked_on_and_its_intervals_stay_wide():
    gnomon.run("scales", skilled, until=5)
    longer = gnomon.run("scales", skilled, limit=1500)
    assert longer.manifest.counts.items == 1500
    assert longer.manifest.last_look is not None
    fixed = gnomon.run("scales", skilled, limit=1500, runs="fixed")
    assert gnomon.score(longer)[0].low < gnomon.score(fixed)[0].low


def test_rules_that_make_no_sense_are_refused():
    with pytest.raises(UsageError, match="two rules"):
        gnomon.run("scales", skilled, until=3, until_differs="runs")
    with pytest.raises(UsageError, match=r"0\.1 to 50"):
        gnomon.run("scales", skilled, until=0)
    with pytest.raises(UsageError, match="part of a run"):
        gnomon.run("scales", skilled, until=3, shard="1/2")
    with pytest.raises(ModelError, match="learns from all items"):
        gnomon.run("scales", "majority", until=3)
    gnomon.run("scales", "majority", limit=100)
    with pytest.raises(ModelError, match="learns from all items"):
        gnomon.run("scales", "majority", until=3)


def test_a_run_is_told_from_one_other_run_and_never_helped_by_itself():
    mine = gnomon.run("scales", skilled, until=10)
    other = gnomon.run("scales", "random", limit=100)
    with pytest.raises(UsageError, match="has 2 runs"):
        gnomon.run("scales", skilled, until_differs=mine.path.parent)
    with pytest.raises(UsageError, match="is the run itself"):
        gnomon.run("scales", skilled, until_differs=mine)
    helped = gnomon.run("scales", skilled, until=5, helped_by=mine)
    assert helped.path == mine.path
    assert helped.manifest.last_look.helpers == []
    assert other.path != mine.path


def luck(item, model):
    """How well a model does on an item: mostly by the item, which is as hard for all of them."""
    hard = np.random.default_rng([7, *item.id.encode()]).normal(1.5, 3.0)
    own = np.random.default_rng([model, *item.id.encode()]).logistic()
    is_right = own < hard
    return next(choice for choice in item.choices if (choice in item.gold) == is_right)


def model_zero(item):
    return luck(item, 0)


def model_one(item):
    return luck(item, 1)


def model_two(item):
    return luck(item, 2)


def test_runs_of_other_models_make_fewer_items_do():
    helpers = [gnomon.run("scales", each, runs="others") for each in (model_one, model_two)]
    alone = gnomon.run("scales", model_zero, until=4, runs="alone")
    helped = gnomon.run("scales", model_zero, until=4, runs="helped", helped_by=helpers)
    look = helped.manifest.last_look
    assert helped.manifest.counts.items < 0.85 * alone.manifest.counts.items
    assert look.helpers == [run.path.name for run in helpers]
    score = gnomon.score(helped)[0]
    assert (score.value, score.low, score.high) == (look.value, look.low, look.high)
    assert look.low <= gnomon.score(gnomon.run("scales", model_zero, runs="all"))[0].value
    again = gnomon.run("scales", model_zero, until=4, runs="helped", helped_by=helpers)
    assert again.manifest.last_look == look


def test_runs_that_say_nothing_cost_next_to_nothing():
    rng = np.random.default_rng(5)
    units = Units(np.arange(3000)[:, None])
    right = (rng.random(3000) < 0.8).astype(float)
    useless = rng.random((3000, 5)).round()
    asked = np.arange(0, 3000, 10)
    others = Predictors.of(useless, [HELPER_RIDGE] * 5, units)
    plain = interval(mean_of(right[asked], units[asked]))
    helped = interval(corrected_by(others, asked, right[asked]))
    assert helped.high - helped.low < 1.1 * (plain.high - plain.low)


def test_when_all_items_were_asked_others_change_nothing():
    rng = np.random.default_rng(6)
    units = Units(np.arange(500)[:, None] // 5)
    right = (rng.random(500) < 0.8).astype(float)
    helpful = np.stack([right, rng.random(500).round()], axis=1)
    others = Predictors.of(helpful, [HELPER_RIDGE] * 2, units)
    plain = interval(mean_of(right, units))
    helped = interval(corrected_by(others, np.arange(500), right))
    assert helped == pytest.approx(plain)


def yes_sayer(item):
    """Right where the first of the choices in their order is, as models with a bias are."""
    return min(item.choices)


def test_facts_about_items_make_fewer_do():
    source = gnomon.load("scales").whole()
    alone = gnomon.run(source, yes_sayer, until=4, runs="alone")
    helped = gnomon.run(source, yes_sayer, until=4, runs="helped", helped_by="facts")
    look = helped.manifest.last_look
    assert look.helpers == ["facts"]
    assert helped.manifest.counts.items < 0.75 * alone.manifest.counts.items
    truth = np.mean([yes_sayer(item) in item.gold for item in source.items()])
    assert look.low <= truth <= look.high
    again = gnomon.run(source, yes_sayer, until=4, runs="helped", helped_by="facts")
    assert again.manifest.last_look == look


def test_facts_that_say_nothing_cost_next_to_nothing():
    table = Table.of([(item, Answer(item=item.id)) for item in gnomon.load("scales").items()])
    facts = fact_columns(table)
    assert 2 < facts.shape[1] <= MOST_FACTS
    assert set(np.unique(facts)) == {0, 1}
    known = Predictors.of(
        facts, [FACT_RIDGE] * facts.shape[1], Units(np.arange(len(table))[:, None])
    )
    rng = np.random.default_rng(8)
    asked = np.arange(0, len(table), 12)
    for accuracy in (0.5, 0.75, 0.9):
        right = (rng.random(len(asked)) < accuracy).astype(float)
        plain = interval(mean_of(right, asked))
        helped = interval(corrected_by(known, asked, right))
        assert helped.high - helped.low < 1.1 * (plain.high - plain.low)


def test_helpers_must_have_been_asked_the_items():
    helper = gnomon.run("scales", model_one, limit=50, runs="others")
    with pytest.raises(UsageError, match="not in all of the runs"):
        gnomon.run("scales", model_zero, until=4, helped_by=helper)
    with pytest.raises(UsageError, match="stop by themselves"):
        gnomon.run("scales", model_zero, helped_by=helper)
    with pytest.raises(UsageError, match="no mean over items"):
        gnomon.run("scales", model_zero, until_differs=helper, helped_by=helper)


def test_more_items_are_expected_for_less_and_at_a_middling_accuracy():
    source = gnomon.load("scales").whole()
    items = list(source.without_pictures())
    counts = []
    for points, accuracy in ((5, 0.95), (5, 0.7), (3, 0.7), (2, 0.7)):
        found = expected_items(items, source.benchmark, Goal.of(points), accuracy)
        counts.append(found.expected)
    assert counts == sorted(counts)
    assert counts[0] < counts[-1] <= len(items)
    assert found.fixed <= len(items)


def test_a_plan_says_how_many_items_are_expected(capsys):
    command = ["run", "scales", "-m", "random", "--until", "5"]
    assert main([*command, "--dry-run"]) == 0
    said = capsys.readouterr().err
    assert "items are expected; the next look is at 100 items." in said
    assert main(command) == 0
    assert "stopped by itself after" in capsys.readouterr().out
    assert main([*command, "--dry-run"]) == 0
    assert "enough is known." in capsys.readouterr().err
    assert main(["power", "scales", "--until", "5"]) == 0
    assert "with --until 5: about" in capsys.readouterr().out
