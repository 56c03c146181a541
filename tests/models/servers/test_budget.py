"""What may be spent: never more, whatever a server says about its own use of tokens."""

from __future__ import annotations

import pytest

from gnomon.errors import ModelError, ModelWarning
from gnomon.models.servers.protocol import Budget, Tokens

pytest.importorskip("httpx")
HONEST = {"prompt_tokens": 50, "completion_tokens": 2}


def test_money_budget_stops_before_it_is_exceeded_and_what_was_answered_is_kept(serve, ask, items):
    server = serve()
    model = ask(
        server, concurrency=1, max_cost=0.01, price_input=100.0, price_output=100.0, new_tokens=4
    )
    with pytest.raises(ModelError, match="budget is spent"):
        model.answer(items(100))
    assert 0 < model.spending.cost <= 0.01
    paid = sum(server.served.values())
    assert model.spending.cost == pytest.approx(paid * 52 * 100 / 1e6)
    richer = ask(
        server, concurrency=1, max_cost=1.0, price_input=100.0, price_output=100.0, new_tokens=4
    )
    assert len(richer.answer(items(100))) == 100
    assert set(server.served.values()) == {1}


def test_a_run_whose_budget_is_spent_goes_on_in_its_folder_with_a_larger_one(serve, tmp_path):
    from gnomon.items.source import load
    from gnomon.registry import model
    from gnomon.runs import running, runs_in
    from gnomon.runs.identity import run_folder

    server, source, runs = serve(), load("scales", form="cloze").limited(60), tmp_path / "runs"
    prices = {"price_input": 100.0, "price_output": 100.0}
    common = {"base_url": server.url, "new_tokens": 4, "concurrency": 1}
    with pytest.raises(ModelError, match="budget is spent"):
        running.run(source, model("openai:fake", max_cost=0.2, **prices, **common), runs=runs)
    (stopped,) = runs_in(runs)
    assert stopped.manifest.model_options == {"max_cost": 0.2, **prices, **common}
    assert 0 < stopped.counts().asked < 60
    with pytest.warns(ModelWarning, match="replies kept from"):
        run = running.run(
            source, model("openai:fake", max_cost=9.0, attempts=3, **prices, **common), runs=runs
        )
    assert [each.path for each in runs_in(runs)] == [stopped.path] == [run.path]
    assert run.counts().asked == 60
    assert run.manifest.model_options == {"max_cost": 9.0, "attempts": 3, **prices, **common}
    assert set(server.served.values()) == {1}, "nothing is paid for twice"
    assert (
        run_folder(source, model("openai:fake", prompt="multiple-choice", **common), runs)
        != run.path
    )


def test_without_a_cache_every_command_gets_on_as_far_as_its_budget_goes(serve, tmp_path):
    from gnomon.items.source import load
    from gnomon.registry import model
    from gnomon.runs import running, runs_in

    server, source, runs = serve(), load("scales", form="cloze").limited(150), tmp_path / "runs"
    thrifty = {"base_url": server.url, "new_tokens": 4, "cache": False, "budget_tokens": 2000}
    answered = [0]
    for _ in range(2):
        with pytest.raises(ModelError, match="budget is spent"):
            running.run(source, model("openai:fake", **thrifty), runs=runs)
        (run,) = runs_in(runs)
        answered.append(run.counts().asked)
    assert answered == sorted(set(answered)), "each of them logged something"
    assert sum(server.served.values()) - answered[-1] <= 2 * 8, "of a batch, not of 16"


def test_a_model_with_a_budget_is_asked_by_one_process_since_each_would_spend_it_anew(serve, ask):
    server = serve()
    assert ask(server).alone == ""
    assert ask(server, budget_tokens=100).alone == "it counts what it spends"
    assert ask(server, max_cost=1.0, price_input=1.0, price_output=1.0).alone


def test_a_token_budget_counts_what_servers_report():
    budget = Budget(max_tokens=100)
    budget.reserve(Tokens(30, 10))
    budget.settle(Tokens(30, 10), Tokens(20, 5))
    assert budget.tokens == 25
    with pytest.raises(ModelError, match="25 of 100 tokens"):
        budget.reserve(Tokens(80, 1))


def requests_within(budget, server, ask, items):
    """How many requests a server gets, one at a time, before the budget is spent."""
    model = ask(server, budget_tokens=budget, cache=False, concurrency=1)
    with pytest.raises(ModelError, match="budget is spent"):
        model.answer(items(64))
    assert model.spending.tokens <= budget
    return server.seen.total()


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": 50, "completion_tokens": "2"},
        {"prompt_tokens": "50", "completion_tokens": 2},
        {"prompt_tokens": -50, "completion_tokens": 2},
        {"prompt_tokens": 50, "completion_tokens": -(10**9)},
        {"prompt_tokens": 0, "completion_tokens": 0},
        {"prompt_tokens": 10**30, "completion_tokens": 10**30},
        {"prompt_tokens": 50.5, "completion_tokens": True},
        {"prompt_tokens": [50], "completion_tokens": {}},
        {},
        [],
        "free",
        None,
    ],
)
def test_a_server_that_lies_about_its_use_gets_no_more_requests_than_an_honest_one(
    serve, ask, items, usage
):
    honest = requests_within(1000, serve(usage=HONEST), ask, items)
    assert 0 < requests_within(1000, serve(usage=usage), ask, items) <= honest


@pytest.mark.parametrize("fault", ["garbled", "empty", "cut"])
def test_replies_that_cannot_be_used_count_too(serve, ask, items, fault):
    honest = requests_within(1000, serve(usage=HONEST), ask, items)
    hostile = serve(fault=lambda *_: fault)
    assert 0 < requests_within(1000, hostile, ask, items) <= honest


def test_nonsense_about_use_does_not_cost_the_reply(serve, ask, items):
    server = serve(usage={"prompt_tokens": 50, "completion_tokens": "two"})
    answers = ask(server).answer(items(3))
    assert [answer.choice for answer in answers] == ["smaller"] * 3
    assert server.seen.total() == 3


def test_an_answer_says_how_many_tokens_it_took(serve, ask, items):
    (answer,) = ask(serve(usage=HONEST)).answer(items(1))
    assert answer.tokens == 52
