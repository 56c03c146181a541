"""Replies that a server cuts, first tokens that are not answers, and constrained answers."""

from __future__ import annotations

import pytest

from gnomon.errors import ModelError, UsageError

CHOICES = ["larger", "smaller"]


def thinking(room):
    """A model that thinks until it has this much room."""

    def reply(body):
        if body["max_tokens"] < room:
            said = {"content": "<think>It is larger, or is it"}
            return {"message": said, "finish_reason": "length"}
        said = {"content": "<think>It is larger, or is it? No.</think>smaller"}
        return {"message": said, "finish_reason": "stop"}

    return reply


def limits(server):
    return [body["max_tokens"] for body in server.bodies]


def first_token(token, *others):
    alternatives = [{"token": token, "logprob": -0.1}]
    for other in others:
        alternatives.append({"token": other, "logprob": -3.0})
    return {"content": [{**alternatives[0], "top_logprobs": alternatives}]}


def test_a_reply_that_was_cut_is_asked_for_again_with_more_room(serve, ask, items):
    server = serve(reply=thinking(room=500), usage={"prompt_tokens": 50, "completion_tokens": 20})
    (answer,) = ask(server).answer(items(1))
    assert (answer.choice, answer.error) == ("smaller", None)
    assert limits(server) == [64, 1024]
    assert answer.tokens == 140  # both requests are paid for


def test_a_reply_that_is_cut_at_the_largest_limit_is_an_error_and_no_answer(serve, ask, items):
    server = serve(reply=thinking(room=10**9))
    (answer,) = ask(server).answer(items(1))
    assert answer.choice is None
    assert answer.error == "the reply was cut at 8,192 tokens (finish_reason length)"
    assert answer.reply.startswith("<think>")
    assert limits(server) == [64, 1024, 8192]


def test_a_cut_reply_that_reads_like_an_answer_is_still_asked_for_again(serve, ask, items):
    cut = {"message": {"content": "It is larger, I"}, "finish_reason": "length"}
    server = serve(reply=cut)
    (answer,) = ask(server, most_new_tokens=64).answer(items(1))
    assert (answer.choice, limits(server)) == (None, [64])
    assert "cut at 64 tokens" in answer.error


def test_a_server_without_more_room_leaves_the_reply_cut(serve, ask, items):
    server = serve(reply=thinking(room=10**9))
    too_long = (400, {"error": {"message": "maximum context length is 100 tokens"}})
    server.fault = lambda seen, _: too_long if seen else ""
    (answer,) = ask(server).answer(items(1))
    assert answer.error == "the reply was cut at 64 tokens (finish_reason length)"


def test_an_article_is_no_letter_even_if_it_is_the_first_token(serve, ask, items):
    server = serve(reply="A thing is smaller, so B.", logprobs=first_token("A", "B"))
    (answer,) = ask(server, prompt="multiple-choice").answer(items(1))
    assert (answer.choice, answer.scores, answer.rule) == ("smaller", None, "concluded")


def test_a_reply_that_is_the_letter_has_scores(serve, ask, items):
    server = serve(reply="B", logprobs=first_token("B", "A"))
    (answer,) = ask(server, prompt="multiple-choice").answer(items(1))
    assert (answer.choice, answer.rule) == ("smaller", "first token")
    assert answer.scores == pytest.approx((-3.0, -0.1))


def test_answers_are_constrained_only_if_asked_for(serve, ask, items):
    server = serve()
    ask(server).answer(items(1))
    assert not {"response_format", "guided_choice"} & server.bodies[0].keys()

    ask(server, constrain="choice").answer(items(1))
    assert server.bodies[1]["guided_choice"] == CHOICES

    server.reply = '{"answer": "smaller"}'
    (answer,) = ask(server, constrain="json").answer(items(1))
    schema = server.bodies[2]["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["answer"]["enum"] == CHOICES
    assert (answer.choice, answer.rule) == ("smaller", "boxed")


def test_letters_are_the_constrained_answers_where_the_prompt_shows_letters(serve, ask, items):
    server = serve(reply="B")
    ask(server, constrain="choice", prompt="multiple-choice").answer(items(1))
    assert server.bodies[0]["guided_choice"] == ["A", "B"]


def test_a_server_that_refuses_a_constraint_ends_the_run_with_the_remedy(serve, ask, items):
    server = serve()
    server.fault = lambda *_: (400, {"error": {"message": "response_format is not supported"}})
    with pytest.raises(ModelError, match="response_format") as caught:
        ask(server, constrain="json").answer(items(1))
    assert "leave out constrain" in caught.value.hint


def test_a_constraint_that_does_not_exist_is_named(serve, ask):
    with pytest.raises(UsageError, match="grammar"):
        ask(serve(), constrain="grammar")
