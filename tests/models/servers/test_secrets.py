"""Keys and passwords are in the request and nowhere else.

Canaries are planted in everything that a user or a server can set, and looked for in everything
that is written or shown.
"""

from __future__ import annotations

import base64
import json
import shlex
import sys
import warnings

import pytest

from gnomon.cli.dispatch import main
from gnomon.errors import ModelError, UnencryptedWarning, UsageError
from gnomon.items.source import load
from gnomon.models.servers.openai import openai
from gnomon.registry import model
from gnomon.runs.identity import run_folder

pytest.importorskip("httpx")
USER, PASSWORD, QUERY, FRAGMENT = "canaryuser", "canary-pass/word", "canaryquery", "canaryfragment"
LOGIN = f"{USER}:{PASSWORD.replace('/', '%2F')}"


def files_below(folder):
    found = {}
    for file in folder.rglob("*"):
        if file.is_file():
            found[str(file)] = file.read_bytes()
    return found


def assert_nowhere(canaries, folder, *texts):
    kept = files_below(folder)
    assert kept
    for canary in canaries:
        for text in texts:
            assert canary.lower() not in text.lower()
        for name, raw in kept.items():
            assert canary.lower().encode() not in raw.lower(), name
            assert canary.lower() not in name.lower()


def with_secrets(url):
    """The address with user, password, key and fragment in it."""
    return url.replace("://", f"://{LOGIN}@") + f"?api_key={QUERY}&api-version=7#{FRAGMENT}"


def gnomon(monkeypatch, *arguments):
    """The command line itself, which stands in manifests too."""
    monkeypatch.setattr(sys, "argv", ["gnomon", *arguments])
    return main([*arguments])


def test_the_key_goes_to_the_server_and_nowhere_else(serve, ask, tmp_path, capfd, items, key):
    complaint = (400, {"error": {"message": f"bad key Bearer {key}"}})
    server = serve(fault=lambda seen, prompt: complaint if "Thing 1" in prompt else "")
    asked = ask(server)
    answers = asked.answer(items(2))
    assert server.keys == {f"Bearer {key}"}
    shown = capfd.readouterr()
    assert_nowhere(
        [key], tmp_path, repr(answers), json.dumps(asked.describe()), shown.out, shown.err
    )
    assert answers[1].error is not None


def test_what_is_secret_in_an_address_is_in_no_file_and_no_output(
    serve, tmp_path, capfd, monkeypatch
):
    server = serve()
    run = ("run", "scales", "-m", "openai:fake", "-m", "random", "--limit", "6", "--json")
    assert gnomon(monkeypatch, *run, "--base-url", with_secrets(server.url)) == 0
    assert gnomon(monkeypatch, "runs", "list", "--json") == 0
    assert gnomon(monkeypatch, "report", "runs") == 0
    assert gnomon(monkeypatch, "score", "runs") == 0
    assert set(server.paths) == {f"/v1/chat/completions?api_key={QUERY}&api-version=7"}
    basic = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
    assert server.keys == {f"Basic {basic}"}
    shown = capfd.readouterr()
    assert "api-version=7" in shown.out, "what is no secret is told"
    secrets = [USER, PASSWORD, PASSWORD.replace("/", "%2F"), QUERY, FRAGMENT, basic]
    assert_nowhere(secrets, tmp_path, shown.out, shown.err)


def test_what_a_server_echoes_is_in_no_file_and_no_output(serve, tmp_path, capfd, monkeypatch, key):
    echo = f"smaller {key} {key.upper()} {PASSWORD} {QUERY}"
    server = serve(
        reply={
            "message": {"role": key, "content": echo, "refusal": key, key: key},
            "finish_reason": key,
            key: key,
        },
        logprobs={"content": [{"token": echo, "logprob": -1.0, "top_logprobs": [{"token": key}]}]},
        usage={"prompt_tokens": key, "completion_tokens": PASSWORD, "details": {key: QUERY}},
    )
    server.extra = {"model": key, "id": PASSWORD, "system_fingerprint": QUERY}
    address = with_secrets(server.url)
    run = ("run", "scales", "-m", "openai:fake", "--limit", "6", "--base-url", address, "--json")
    assert gnomon(monkeypatch, *run) == 0
    assert gnomon(monkeypatch, "report", "runs") == 0
    shown = capfd.readouterr()
    assert '"errors":0' in shown.out
    assert_nowhere([PASSWORD, QUERY], tmp_path, shown.out, shown.err)

    server.url = server.url.partition("?")[0]
    plain = ("run", "posrel", "-m", "openai:fake", "--limit", "6", "--base-url", server.url)
    assert gnomon(monkeypatch, *plain) == 0
    shown = capfd.readouterr()
    assert_nowhere([key], tmp_path, shown.out, shown.err)


@pytest.mark.parametrize("status", [301, 400, 401, 402, 403, 404, 418, 422, 429, 500])
@pytest.mark.parametrize("place", ["message", "list", "text", "deep"])
def test_what_a_server_echoes_in_an_error_is_nowhere(
    serve, tmp_path, capfd, monkeypatch, status, place
):
    key = "canarykey0123456789abcdef"
    said = f"{'x' * 185} key {key} and https://me:{PASSWORD}@host/?k={QUERY} {key}"
    body = {
        "message": {"error": {"message": said, "param": key, "code": key}},
        "list": [said, key],
        "text": said.encode(),
        "deep": {"error": {"message": {"why": {key: [said]}}}},
    }[place]
    headers = {"Location": f"/{key}", "Retry-After": key, "X-Key": key}
    server = serve(fault=lambda *_: (status, body, headers))
    monkeypatch.setenv("OPENAI_API_KEY", key)
    run = ("run", "scales", "-m", "openai:fake", "--limit", "2", "--base-url", server.url)
    assert gnomon(monkeypatch, *run, "--set", "attempts=2") == 1
    shown = capfd.readouterr()
    assert_nowhere([key, key[:9], PASSWORD, QUERY], tmp_path, shown.out, shown.err)


@pytest.mark.parametrize("mistake", ["sk-canary-0123456789", "CANARYKEY0123456789"])
def test_a_key_given_as_the_name_of_its_variable_is_refused_and_not_shown(
    serve, tmp_path, capfd, monkeypatch, mistake
):
    server = serve()
    run = ("run", "scales", "-m", "openai:fake", "-m", "random", "--limit", "2")
    options = ("--base-url", server.url, "--set", f"key_env={mistake}")
    assert gnomon(monkeypatch, *run, *options) == 1
    shown = capfd.readouterr()
    assert "key_env" in shown.err
    assert_nowhere([mistake], tmp_path, shown.out, shown.err)
    assert server.seen.total() == 0


def test_a_key_given_as_the_name_of_the_model_is_refused_and_not_shown(serve, key):
    serve()
    with pytest.raises(UsageError, match="holds the key") as caught:
        openai(key)
    assert key not in str(caught.value)


def test_a_key_behind_the_name_of_the_model_is_refused_and_not_shown(serve):
    serve()
    with pytest.raises(UsageError, match="holds a query") as caught:
        openai("model?key=CANARY0123")
    assert "CANARY" not in str(caught.value)


def test_a_new_password_goes_on_with_the_run_and_another_deployment_does_not(tmp_path):
    source = load("scales").limited(2)

    def folder(address):
        return run_folder(source, model("openai:x", base_url=address), tmp_path)

    first = folder("https://me:first1@example.org/v1?api_key=first1&deployment=a")
    assert first == folder("https://me:second@example.org/v1?api_key=second&deployment=a")
    assert first != folder("https://me:first1@example.org/v1?api_key=first1&deployment=b")
    assert first != folder("https://me:first1@example.com/v1?api_key=first1&deployment=a")


@pytest.mark.parametrize(
    "address",
    [
        "http://me:canary/canary@localhost/v1",
        "http://me:12/canary@localhost/v1",
        "http://me:12?canary@localhost/v1",
        "http://me:canary#canary@localhost/v1",
        "http://me:canary@[::1/v1",
        "ftp://me:canary@localhost/v1",
    ],
)
def test_an_address_that_is_refused_is_not_shown(address):
    with pytest.raises(UsageError) as caught:
        openai("x", base_url=address)
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize("address", ["http://example.org/v1", "http://192.0.2.7:8000/v1"])
def test_a_key_that_would_travel_unencrypted_is_warned_about(serve, address):
    serve()  # a key is in the environment
    with pytest.warns(UnencryptedWarning, match="unencrypted") as caught:
        openai("x", base_url=address).close()
    assert len(caught) == 1


@pytest.mark.parametrize(
    "address",
    ["http://localhost:8000/v1", "http://127.0.0.5/v1", "http://[::1]/v1", "https://example.org"],
)
def test_a_key_that_stays_here_or_is_encrypted_is_not(serve, address):
    serve()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        openai("x", base_url=address).close()


def test_a_server_without_a_key_may_be_asked_over_http(serve, monkeypatch):
    serve()
    monkeypatch.delenv("OPENAI_API_KEY")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        openai("x", base_url="http://example.org/v1").close()


def test_the_library_writes_no_address_down(serve, ask, items, caplog):
    server = serve()
    server.url += f"?api_key={QUERY}"
    with caplog.at_level("INFO"):
        ask(server).answer(items(1))
    assert QUERY not in caplog.text
    assert server.paths


def test_a_server_that_is_gone_is_named_without_its_password(serve, ask, items):
    server = serve()
    server.url = with_secrets(server.url)
    asked = ask(server, attempts=2)
    server.close()
    with pytest.raises(ModelError, match="cannot be reached") as caught:
        asked.answer(items(1))
    assert not any(secret in str(caught.value) for secret in (USER, PASSWORD, QUERY, FRAGMENT))


def test_a_stopped_command_is_repeated_without_its_secrets():
    from gnomon.redaction import redact_command

    said = shlex.join(["gnomon", "run", "--base-url", with_secrets("http://localhost/v1")])
    shown = redact_command(said)
    assert not any(secret in shown for secret in (USER, "canary-pass", QUERY, FRAGMENT))
    assert redact_command(shown) == shown
