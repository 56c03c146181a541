"""A server is asked for numbers, sets, points and orders, and its replies are read and measured."""

from __future__ import annotations

import pytest

from gnomon.measures.scoring import score_run
from gnomon.records import Item
from gnomon.registry import model
from gnomon.runs import running

pytest.importorskip("httpx")

ASKED = {
    "number": (("190 to 220 cm",), (), "About 2 metres.", "200 cm"),
    "set": (("ant", "bee"), ("ant", "bee", "cow"), "The ant and the bee.", "ant | bee"),
    "order": (("ant", "cow"), ("cow", "ant"), "ant, cow", "ant | cow"),
    "point": (("box 0 0 320 480 in 640x480",), (), '<point x="25" y="50">it</point>', "(160, 240)"),
}


@pytest.mark.parametrize("form", ASKED)
def test_a_reply_is_asked_for_read_and_measured(form, serve, ask):
    gold, choices, reply, said = ASKED[form]
    item = Item(id="1", form=form, text="What is it?", gold=gold, choices=choices)
    server = serve(reply=reply, logprobs={"content": []})
    (answer,) = ask(server).answer([item])
    assert answer.choice == said
    assert answer.reply == reply
    text = server.bodies[0]["messages"][-1]["content"]
    assert "What is it?" in text
    assert "response_format" not in server.bodies[0]


@pytest.mark.parametrize("form", ASKED)
def test_four_wordings_ask_for_the_same(form, serve, ask):
    gold, choices, reply, said = ASKED[form]
    item = Item(id="1", form=form, text="What is it?", gold=gold, choices=choices)
    texts = set()
    for wording in range(1, 5):
        server = serve(reply=reply)
        (answer,) = ask(server, wording=wording, constrain="json").answer([item])
        assert answer.choice == said
        texts.add(server.bodies[0]["messages"][-1]["content"])
    assert len(texts) == 4


def test_a_number_that_was_cut_is_asked_for_again(serve, ask):
    item = Item(id="1", form="number", text="How many?", gold=("12",))

    def reply(body):
        short = body["max_tokens"] < 100
        message = {"role": "assistant", "content": "1" if short else "12"}
        return {"message": message, "finish_reason": "length" if short else "stop"}

    (answer,) = ask(serve(reply=reply)).answer([item])
    assert answer.choice == "12"


def test_a_run_of_numbers_of_our_own_is_scored_by_their_ranges(serve, tmp_path):
    from gnomon.items.source import load

    source = load("scales@numbers", scale="height").limited(20)
    server = serve(reply="100 cm")
    run = running.run(source, model("openai:fake", base_url=server.url), runs=tmp_path)
    scores = {score.measure: score for score in score_run(run)}
    assert set(scores) == {"accuracy", "mean_relative_accuracy", "log_error"}
    assert scores["log_error"].value > 0
    assert scores["accuracy"].n == 20
