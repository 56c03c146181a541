"""Another server API is one class: everything around it is shared."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest

from gnomon.contracts import TEXT
from gnomon.models.prompts.library import load_prompt
from gnomon.models.servers.model import ServedModel
from gnomon.models.servers.protocol import Budget, Completion, MalformedError, Tokens
from gnomon.models.servers.remote import Remote

pytest.importorskip("httpx")


@dataclass
class Telegrams:
    """An API that is unlike OpenAI's in every word."""

    model: str
    scheme: str = "telegram"
    path: str = "/wire"
    scale: str = "none"
    takes: frozenset = TEXT
    converses: bool = False
    logprobs: bool = False
    echo: bool = False
    limits: tuple = (8,)

    def describe(self):
        return {"words": 8}

    def for_reply(self, said, limit, answers):
        return {"to": self.model, "prompt": said, "words": limit}

    def for_echo(self, text):
        raise NotImplementedError

    def sent(self, body, pictures):
        return body

    def estimate(self, body):
        return Tokens(len(body["prompt"].split()), body["words"])

    def parse(self, raw, asked):
        wire = json.loads(raw)
        if "choices" not in wire:
            raise MalformedError("the wire is cut")
        return Completion(wire["choices"][0]["message"]["content"], asked.most)

    def learns_words(self, complaint, sent):
        return False

    def refused(self, complaint, sent):
        return None


@pytest.fixture
def wire(serve):
    """A function that gives a model which is asked by telegram."""
    models = []

    def start(server):
        pace = {"concurrency": 4, "attempts": 3, "timeout": 30.0}
        remote = Remote(
            [server.url],
            "OPENAI_API_KEY",
            Budget(),
            **pace,
            key_headers=lambda key: {"Authorization": f"Clerk {key}"},
        )
        models.append(ServedModel(Telegrams("bell"), remote, load_prompt("plain"), None, batch=4))
        return models[-1]

    yield start
    for model in models:
        model.close()


def test_an_api_of_ones_own_is_asked_in_its_own_words(serve, wire, items):
    server = serve()
    model = wire(server)
    answers = model.answer(items(3))
    assert [answer.choice for answer in answers] == ["smaller"] * 3
    assert model.spec == "telegram:bell"
    assert model.describe()["kind"] == "telegram"
    assert set(server.paths) == {"/v1/wire"}
    assert all(body["to"] == "bell" for body in server.bodies)
    (key,) = server.keys
    assert key.startswith("Clerk ")


def test_its_faults_are_tried_again_like_those_of_others(serve, wire, items):
    server = serve(fault=lambda seen, prompt: (200, {}) if seen == 0 else "")
    (answer,) = wire(server).answer(items(1))
    assert answer.choice == "smaller"
    assert sum(server.seen.values()) == 2
