"""SmolLM2 with made eyes, asked by its file and over HTTP at llama.cpp's own server: one answer."""

from __future__ import annotations

import json
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from gnomon.errors import ModelError
from gnomon.models.llamacpp import smollm2
from gnomon.models.llamacpp.gguf import gguf
from gnomon.models.servers.openai import openai
from gnomon.records import Item

xllamacpp = pytest.importorskip("xllamacpp")
pytest.importorskip("httpx")
pytestmark = pytest.mark.weights
SIZE = 576  # numbers in an embedding of SmolLM2
CLOSE = 0.02  # nats: the server computes in batches of other sizes
# After worked examples so small a model gives an answer and nothing else.
PROMPT = """
like: chat
examples:
  caption:
    - {text: The sky is above the sea., answer: "true"}
    - {text: The sea is above the sky., answer: "false"}
"""
CLEAR = 0.15
CAPTIONS = ("The cat is left of the dog.", "The bus is behind the tree.", "A bird is on the roof.")


@pytest.fixture(scope="module")
def weights():
    return smollm2.weights()


@pytest.fixture(scope="module")
def eyes(tmp_path_factory, write_eyes):
    return write_eyes(tmp_path_factory.mktemp("eyes") / "mmproj.gguf", size=SIZE)


@pytest.fixture(scope="module")
def server(weights, eyes):
    """llama.cpp's server on loopback, with the same two files."""
    settings = xllamacpp.CommonParams()
    settings.model.path, settings.mmproj.path = str(weights), str(eyes)
    settings.n_ctx, settings.n_parallel, settings.cpuparams.n_threads = 2048, 1, 1
    settings.warmup, settings.verbosity = False, -1
    return xllamacpp.Server(settings)


@pytest.fixture(scope="module")
def prompt(tmp_path_factory):
    file = tmp_path_factory.mktemp("prompt") / "examples.yaml"
    file.write_text(PROMPT, encoding="utf-8")
    return str(file)


@pytest.fixture(scope="module")
def by_file(weights, eyes, prompt):
    model = gguf(str(weights), mmproj=str(eyes), threads=1, chat=True, prompt=prompt)
    yield model
    model.close()


@pytest.fixture
def served(server, prompt, own_cache, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    address = f"{server.listening_address}/v1"
    model = openai("smollm2", base_url=address, concurrency=1, prompt=prompt)
    yield model
    model.close()


class Said(NamedTuple):
    """What the server says of a request: tokens that it had in its cache, and the first token's
    alternatives."""

    cached: int
    first: dict[str, float]


@pytest.fixture
def replies(served, monkeypatch):
    """What the server says, request by request."""
    found = []
    exchange = served._remote._exchange

    async def watched(*arguments):
        response = await exchange(*arguments)
        raw = json.loads(response.raw)
        first = raw["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
        cached = raw["usage"]["prompt_tokens_details"]["cached_tokens"]
        found.append(Said(cached, {each["token"]: each["logprob"] for each in first}))
        return response

    monkeypatch.setattr(served._remote, "_exchange", watched)
    return found


def captions(*images):
    found = []
    for place, image in enumerate(images):
        for text in CAPTIONS:
            found.append(
                Item(
                    id=f"{place} {text}",
                    form="caption",
                    text=text,
                    choices=("false", "true"),
                    gold=("true",),
                    images=(image,),
                )
            )
    return found


def said_of(reply):
    """The server's log-probabilities of the very tokens that are scored in the file."""
    return (reply.first["false"], reply.first["true"])


def test_a_file_with_eyes_and_its_server_give_the_same_answers(by_file, served, replies, photo):
    items = captions(photo(1), photo(3, (300, 200)))
    own, theirs = by_file.answer(items), served.answer(items)
    # a server's score of a word adds up its ways of writing, which may turn a near tie
    clear = [abs(answer.scores[0] - answer.scores[1]) > CLEAR for answer in own]
    assert sum(clear) >= 3
    for mine, other, is_clear in zip(own, theirs, clear, strict=True):
        assert not is_clear or mine.choice == other.choice
    assert {answer.rule for answer in theirs} == {"first token"}
    assert [said_of(reply) for reply in replies] == [
        pytest.approx(answer.scores, abs=CLOSE) for answer in own
    ]


def test_the_server_keeps_the_picture_for_the_next_caption(served, replies, photo):
    first, second = captions(photo(4))[:2]
    served.answer([first])
    served.answer([second])
    before, after = (reply.cached for reply in replies)
    assert after >= before + 16, "the sixteen tokens of the picture"


def test_the_scores_of_a_picture_do_not_depend_on_order_or_company(by_file, photo):
    items = captions(photo(1), photo(2))[1:5]
    together = {answer.item: answer.scores for answer in by_file.answer(items[::-1])}
    for item in items:
        by_file.llama.forget()
        (alone,) = by_file.answer([item])
        assert alone.scores == pytest.approx(together[item.id], abs=0.005)


def test_pictures_that_change_places_change_the_scores(by_file, photo):
    first, second = captions(photo(1))[0], captions(photo(2))[0]
    one, other = by_file.answer([first, second])
    apart = [abs(a - b) for a, b in zip(one.scores, other.scores, strict=True)]
    assert max(apart) > 0.05


def test_two_pictures_in_one_question_are_seen_alike(by_file, served, replies, photo):
    (item, *_) = captions(photo(1))
    both = replace(item, images=(photo(2), photo(1)))
    (mine,) = by_file.answer([both])
    served.answer([both])
    assert said_of(replies[0]) == pytest.approx(mine.scores, abs=CLOSE)
    assert mine.scores != by_file.answer([item])[0].scores


def test_a_server_without_eyes_is_named_at_once(weights, prompt, own_cache, photo):
    settings = xllamacpp.CommonParams()
    settings.model.path = str(weights)
    settings.n_ctx, settings.n_parallel, settings.cpuparams.n_threads = 512, 1, 1
    settings.warmup, settings.verbosity = False, -1
    blind = xllamacpp.Server(settings)
    model = openai("smollm2", base_url=f"{blind.listening_address}/v1", prompt=prompt)
    try:
        with pytest.raises(ModelError, match="The model takes no pictures"):
            model.answer(captions(photo(1)))
    finally:
        model.close()
