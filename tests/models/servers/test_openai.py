"""Models behind a server: what is sent, what is made of the replies, and what is kept of them."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import msgspec
import pytest

from gnomon.errors import ModelError, UsageError
from gnomon.models.servers.openai import openai
from tests.models.servers.conftest import in_a_loop

pytest.importorskip("httpx")


def test_what_a_run_paid_for_is_not_paid_for_again(serve, ask, items):
    server = serve()
    first = ask(server).answer(items(20))
    again = ask(server)
    assert again.answer(items(20)) == first
    assert sum(server.seen.values()) == 20
    assert again.spending.tokens == 0


def test_another_model_or_server_never_gets_these_replies(serve, ask, items):
    server, other = serve(), serve(reply="larger")
    ask(server).answer(items(3))
    assert [answer.choice for answer in ask(other).answer(items(3))] == ["larger"] * 3


def test_logprobs_of_the_first_token_score_the_choices(serve, ask, items):
    likely = {"Smaller": -0.2, "larger": -2.0, "Big": -5.0}
    tokens = [{"token": token, "logprob": value} for token, value in likely.items()]
    logprobs = {"content": [{**tokens[0], "top_logprobs": tokens}]}
    (answer,) = ask(serve(reply="Smaller", logprobs=logprobs)).answer(items(1))
    assert answer.choice == "smaller"
    assert answer.scores == (-2.0, -0.2)
    assert answer.reply == "Smaller"


def test_a_reply_that_begins_otherwise_is_read(serve, ask, items):
    logprobs = {
        "content": [
            {
                "token": "The",
                "logprob": -0.2,
                "top_logprobs": [{"token": "larger", "logprob": -1.0}],
            }
        ]
    }
    (answer,) = ask(serve(reply="The answer is smaller.", logprobs=logprobs)).answer(items(1))
    assert (answer.choice, answer.scores) == ("smaller", None)


def test_refusals_and_unreadable_replies_are_kept_but_not_guessed(serve, ask, items):
    refusal = {
        "message": {"role": "assistant", "content": None, "refusal": "I cannot help with that."}
    }
    (answer,) = ask(serve(reply=refusal)).answer(items(1))
    assert (answer.choice, answer.error, answer.reply) == (None, None, "I cannot help with that.")
    (answer,) = ask(serve(reply="Who knows?")).answer(items(1))
    assert (answer.choice, answer.reply) == (None, "Who knows?")


def test_newer_models_get_the_newer_name_of_the_length_limit(serve, ask, items):
    server = serve()
    complaint = {
        "error": {
            "message": "Unsupported parameter: use 'max_completion_tokens' instead of 'max_tokens'."
        }
    }
    server.fault = lambda *_: (400, complaint) if "max_tokens" in server.bodies[-1] else ""
    assert ask(server, concurrency=1).answer(items(1))[0].choice == "smaller"
    assert "max_completion_tokens" in server.bodies[-1]


def test_completions_with_echo_score_every_answer_whole(serve, ask, items):
    def echo(body):
        prompt = body["prompt"]
        cut = prompt.index(" is") + 3
        value = -1.0 if "smaller" in prompt else -2.5
        return {
            "text": prompt,
            "logprobs": {
                "tokens": ["…", "…", "…"],
                "text_offset": [0, cut, cut + 4],
                "token_logprobs": [None, value, -0.5],
            },
        }

    (answer,) = ask(serve(reply=echo), endpoint="completion", echo=True).answer(items(1))
    assert answer.scores == (-3.0, -1.5)
    assert answer.choice == "smaller"


def test_a_completion_server_that_does_not_echo_is_named_as_such(serve, ask, items):
    server = serve(reply={"text": "x"})
    for attempt in (1, 2):
        with pytest.raises(ModelError, match="does not echo"):
            ask(server, endpoint="completion", echo=True, concurrency=1).answer(items(1))
        assert server.seen.total() == attempt, "such a reply is not kept"


def test_completions_read_the_text_and_its_alternatives(serve, ask, items):
    reply = {
        "text": " smaller than",
        "logprobs": {
            "tokens": [" smaller"],
            "token_logprobs": [-0.3],
            "top_logprobs": [{" smaller": -0.3, " larger": -1.4}],
        },
    }
    server = serve(reply=reply)
    (answer,) = ask(server, endpoint="completion").answer(items(1))
    assert answer.scores == (-1.4, -0.3)
    assert server.bodies[0]["prompt"].endswith("Thing 0 is")


def test_options_that_do_not_fit_are_refused():
    with pytest.raises(UsageError, match="needs the name"):
        openai("")
    with pytest.raises(UsageError, match="is an address"):
        openai("http://me:secret@localhost/v1")
    with pytest.raises(UsageError, match="prices"):
        openai("x", max_cost=1.0)
    with pytest.raises(UsageError, match="cannot echo"):
        openai("x", echo=True)
    for address in (
        "localhost:8000",
        "ftp://localhost",
        "http://",
        "http://[::1",
        "http://localhost:port",
    ):
        with pytest.raises(UsageError, match="not a web address"):
            openai("x", base_url=address)
    with pytest.raises(UsageError, match="endpoint"):
        openai("x", endpoint="telnet")
    for option in ("concurrency", "attempts", "timeout", "new_tokens"):
        with pytest.raises(UsageError, match=f"{option} must be above 0"):
            openai("x", **{option: 0})


def test_it_can_be_used_where_a_loop_is_running(serve, ask, items):
    model = ask(serve())

    async def notebook():
        return model.answer(items(1))

    assert in_a_loop(notebook())[0].choice == "smaller"


def test_what_an_earlier_version_kept_is_asked_for_again(serve, ask, items, tmp_path):
    server = serve()
    ask(server).answer(items(2))
    file = tmp_path / "cache" / "replies.sqlite"
    with closing(sqlite3.connect(file)) as cache, cache:
        cache.execute("UPDATE kept SET reply = ?", (b'{"choices": [{"text": "larger"}]}',))
    assert [answer.choice for answer in ask(server).answer(items(2))] == ["smaller"] * 2
    assert server.seen.total() == 4


def test_a_damaged_cache_is_named_with_what_to_do(serve, ask, items, tmp_path):
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "replies.sqlite").write_bytes(b"not a database" * 1000)
    with pytest.raises(ModelError, match="cache of replies") as caught:
        ask(serve())
    assert "--set cache=no" in caught.value.hint


def test_a_form_that_the_prompt_cannot_put_ends_the_run_and_keeps_what_is_paid_for(
    serve, ask, items
):
    server = serve()
    odd = msgspec.structs.replace(items(1)[0], id="odd", form="caption", text="A cat.")
    with pytest.raises(UsageError, match="cannot put items"):
        ask(server, prompt="viphy", concurrency=2).answer([*items(2), odd])
    assert set(server.served.values()) <= {1}
    ask(server, prompt="viphy").answer(items(2))
    assert set(server.served.values()) == {1}, "nothing is paid for twice"
