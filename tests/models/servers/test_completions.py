"""What is taken from a reply, and what is not believed."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.models.servers.completions import parse_reply
from gnomon.models.servers.protocol import (
    Completion,
    MalformedError,
    RequestFacts,
    Tokens,
    echo_score,
    scores_of,
)

MOST = Tokens(60, 64)


def test_scores_bound_what_is_not_among_the_alternatives():
    first, second = scores_of({"yes": -0.1, "Yes": -3.0}, [["yes"], ["no"]])
    assert first > -0.1
    assert second <= -3.0
    assert scores_of({"t": -0.1}, [["true"], ["two"]]) is None, (
        "a token that begins two answers decides nothing"
    )
    assert scores_of({}, [["yes"], ["no"]]) is None


def test_echo_score_takes_the_token_that_straddles_the_border():
    echoed = Completion("", MOST, offsets=(0, 3, 8), logprobs=(None, -1.0, -2.0))
    assert echo_score(echoed, 3) == -3.0
    assert echo_score(echoed, 5) == -3.0
    assert echo_score(echoed, 8) == -2.0


@pytest.mark.parametrize(
    "choice",
    [
        {"message": {"content": [{"type": "text", "text": "smaller"}]}},
        {"message": {"content": 3}},
        {"message": "smaller"},
        {"text": ["smaller"]},
        {"message": {"content": "x"}, "logprobs": {"content": [3]}},
        3,
    ],
)
def test_a_reply_of_another_shape_is_named_as_such(choice):
    with pytest.raises(MalformedError, match="not as an OpenAI-compatible server writes it"):
        parse_reply(json.dumps({"choices": [choice]}).encode(), RequestFacts(MOST))


def test_a_reply_nested_without_end_is_named_as_such():
    with pytest.raises(MalformedError):
        parse_reply(b'{"choices": ' + b"[" * 100_000, RequestFacts(MOST))


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=4))
def test_whatever_a_server_says_of_its_use_costs_no_reply(usage):
    raw = json.dumps({"choices": [{"text": "yes"}], "usage": usage}).encode()
    found = parse_reply(raw, RequestFacts(MOST))
    assert found.text == "yes"
    assert found.used == MOST


def test_tokens_hold_no_secret_either():
    logprobs = {"content": [{"token": "hunter22", "logprob": -0.1}]}
    raw = json.dumps({"choices": [{"text": "Hunter22!", "logprobs": logprobs}]}).encode()
    found = parse_reply(raw, RequestFacts(MOST, secrets=["hunter22"]))
    assert (found.text, list(found.first)) == ("***!", ["***"])
