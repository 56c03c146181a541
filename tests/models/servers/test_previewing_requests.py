"""A server is sent what the preview shows; for the preview nothing is sent."""

from __future__ import annotations

import msgspec
import pytest

from gnomon.models.prompts.preview import PromptFormat


@pytest.mark.parametrize("shots", [None, 2])
def test_a_chat_server_is_sent_the_messages_of_the_preview(serve, ask, items, shots):
    server = serve()
    prompt = {} if shots is None else {"prompt": "fewshot", "shots": shots}
    model = ask(server, **prompt)
    shown = model.preview(items()[0])
    assert server.bodies == [], "nothing was sent"
    model.answer(items())
    (sent,) = server.bodies
    assert tuple(sent["messages"]) == shown.messages
    assert sent["max_tokens"] == shown.limits["reply_tokens"]
    told = msgspec.convert(msgspec.to_builtins(model.asking()), PromptFormat).preview(items()[0])
    assert told.messages == shown.messages


def test_a_completion_server_is_sent_the_text_of_the_preview(serve, ask, items):
    server = serve()
    model = ask(server, endpoint="completion")
    shown = model.preview(items()[0])
    model.answer(items())
    assert server.bodies[0]["prompt"] == shown.text
    told = msgspec.convert(msgspec.to_builtins(model.asking()), PromptFormat).preview(items()[0])
    assert told.text == shown.text
