"""A manifest says what was asked: nothing is left out of requests that it names."""

from __future__ import annotations

import msgspec
import pytest

from gnomon.errors import ModelError, UsageError
from gnomon.items.source import load
from gnomon.registry import model
from gnomon.runs import Run, running

pytest.importorskip("httpx")
REMEDIES = [("temperature", {"temperature": "default"}), ("logprobs", {"logprobs": "no"})]


def picky(server, parameter):
    """A server that refuses a parameter, as OpenAI words it."""
    complaint = (400, {"error": {"message": f"Unsupported parameter: '{parameter}'."}})
    server.fault = lambda *_: complaint if parameter in server.bodies[-1] else ""
    return server


@pytest.mark.parametrize(("parameter", "remedy"), REMEDIES)
def test_a_parameter_that_the_server_refuses_ends_the_run_and_names_the_option(
    serve, ask, items, parameter, remedy
):
    server = picky(serve(), parameter)
    asked = ask(server)
    before = msgspec.json.encode(asked.describe())
    with pytest.raises(ModelError, match=f"refuses the parameter {parameter}") as caught:
        asked.answer(items(3))
    ((option, value),) = remedy.items()
    assert f"--set {option}={value}" in caught.value.hint
    assert msgspec.json.encode(asked.describe()) == before
    assert server.served.total() == 0, "nothing was asked without it"


@pytest.mark.parametrize(("parameter", "remedy"), REMEDIES)
def test_a_run_that_is_asked_without_a_parameter_says_so(serve, tmp_path, parameter, remedy):
    server = picky(serve(), parameter)
    source = load("scales", form="cloze").limited(4)
    runs = tmp_path / "runs"
    with pytest.raises(ModelError, match="refuses the parameter"):
        running.run(source, model("openai:fake", base_url=server.url), runs=runs)
    done = running.run(source, model("openai:fake", base_url=server.url, **remedy), runs=runs)
    manifest = Run.open(done.path).manifest
    assert manifest.counts.asked == 4
    assert manifest.counts.errors == 0
    assert all(parameter not in body for body in server.bodies[-4:])
    if parameter == "temperature":
        assert manifest.model_description["temperature"] == "default"
        assert manifest.scale == "log-probability"
    else:
        assert manifest.model_description["logprobs"] is False
        assert manifest.model_description["temperature"] == 0.0
        assert manifest.scale == "none"


def test_a_server_that_took_the_temperature_before_complains_of_the_question(serve, ask, items):
    server = serve()
    complaint = (400, {"error": {"message": "I will not speak of temperature."}})
    server.fault = lambda _, prompt: complaint if "Thing 2 " in prompt else ""
    answers = ask(server, concurrency=1).answer(items(4))
    assert [answer.choice for answer in answers] == ["smaller", "smaller", None, "smaller"]
    assert "400" in answers[2].error


def test_every_request_of_a_run_has_the_temperature_that_the_manifest_names(serve, tmp_path):
    server = serve()
    spec = model("openai:fake", base_url=server.url, temperature="0.7", request_seed=5)
    run = running.run(load("scales").limited(6), spec, runs=tmp_path / "runs")
    described = run.manifest.model_description
    sent = {(body["temperature"], body["seed"]) for body in server.bodies}
    assert sent == {(described["temperature"], described["seed"])} == {(0.7, 5)}


def test_several_samples_are_several_replies_at_a_temperature(serve, ask, items, tmp_path):
    said = iter(["smaller", "larger"] * 100)
    server = serve(reply=lambda body: next(said), logprobs={"content": []})
    model = ask(server, samples=4, request_seed=5, concurrency=1)
    answers = model.answer(items(2))
    assert [(each.item, each.sample) for each in answers] == [
        (n, k) for n in "01" for k in range(4)
    ]
    assert {answer.choice for answer in answers} == {"smaller", "larger"}
    assert sorted(body["seed"] for body in server.bodies) == sorted([5, 6, 7, 8] * 2)
    assert {body["temperature"] for body in server.bodies} == {1.0}
    assert not any("logprobs" in body for body in server.bodies)
    assert model.describe()["samples"] == 4

    unseeded = ask(server, samples=3, concurrency=1)
    before = len(server.bodies)
    first = unseeded.answer(items(1))
    assert len(server.bodies) == before + 3, "each sample is asked for"
    assert [each.choice for each in unseeded.answer(items(1))] == [each.choice for each in first]
    assert len(server.bodies) == before + 3, "and kept for the run that was stopped"


@pytest.mark.parametrize("value", ["warm", -1.0, 3.0, "nan"])
def test_a_temperature_is_a_number_or_default(value):
    with pytest.raises(UsageError, match="temperature must be"):
        model("openai:x", temperature=value).open()


def test_an_answer_says_by_which_rule_its_reply_was_read(serve, ask, items):
    (answer,) = ask(serve(reply="Let me think. The answer is smaller.")).answer(items(1))
    assert (answer.choice, answer.rule) == ("smaller", "announced")
    (answer,) = ask(serve(reply="Who knows?")).answer(items(1))
    assert (answer.choice, answer.rule) == (None, None)


def test_the_manifest_says_how_much_room_a_reply_has_and_whether_it_is_constrained(serve, ask):
    described = ask(serve()).describe()
    assert (described["reply_tokens"], described["most_reply_tokens"]) == (64, 8192)
    assert described["constrain"] == "no"
    described = ask(serve(), most_new_tokens=10, constrain="json").describe()
    assert (described["most_reply_tokens"], described["constrain"]) == (64, "json")
