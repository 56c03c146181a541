"""What must never be written down is hidden, and what is no secret is not."""

from __future__ import annotations

import shlex
from base64 import b64encode
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.redaction import (
    redact,
    redact_command,
    redact_message,
    redact_options,
    redact_url,
    secrets_of,
)

WORD = st.text("abcdefghijkXYZ0123456789-_.~", min_size=8, max_size=20).map(lambda t: f"canary{t}")


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("http://localhost:8000/v1", "http://localhost:8000/v1"),
        ("https://me:pw@host/v1", "https://***@host/v1"),
        ("https://token@host/v1", "https://***@host/v1"),
        ("https://me:p/w@host/v1", "https://***@host/v1"),
        ("https://me:p?w#x@host/v1", "https://***@host/v1"),
        ("https://host/v1?key=abc", "https://host/v1?key=***"),
        ("https://host/v1?abc", "https://host/v1?***"),
        ("https://host/v1?api-version=2&sig=abc", "https://host/v1?api-version=2&sig=***"),
        ("https://host/v1#abc", "https://host/v1#***"),
        ("ftp://me:pw@host", "ftp://***@host"),
        ("https://host/9f8e7d6c5b4a39281706aBcD/v1", "https://host/***4668ea/v1"),
        ("https://host/123e4567-e89b-42d3-a456-426614174000/v1", "https://host/***320159/v1"),
        (
            "https://host/gpt-4o-mini-2024-07-18-for-all/v1",
            "https://host/gpt-4o-mini-2024-07-18-for-all/v1",
        ),
        (
            "https://host/deployments/internationalisation/v1",
            "https://host/deployments/internationalisation/v1",
        ),
        ("see (HTTP://me:pw@HOST/v1) now", "see (HTTP://***@HOST/v1) now"),
        ("http://host/sk-canary-abc0123456789/v1", "http://host/***5385d5/v1"),
        ("mail me@host", "mail me@host"),
        ("hf:org/model@main", "hf:org/model@main"),
    ],
)
def test_an_address_shows_where_but_not_who(address, shown):
    assert redact_url(address) == shown
    assert redact_url(shown) == shown


@given(WORD, WORD, WORD, WORD)
def test_no_secret_of_an_address_is_left_in_a_command(user, password, value, fragment):
    address = f"http://{user}:{password}@localhost/v1?k={value}#{fragment}"
    for words in (["--base-url", address], [f"--base-url={address}"], [f"base_url={address}"]):
        shown = redact_command(shlex.join(["gnomon", "run", *words]))
        assert "canary" not in shown
        assert "localhost/v1" in shown


@given(WORD, WORD, WORD)
def test_no_secret_of_a_request_is_left_in_a_text_however_it_is_encoded(key, password, value):
    secrets = secrets_of(f"http://me:{quote(password)}@localhost/v1?k={quote(value)}", key)
    login = b64encode(f"me:{password}".encode()).decode()
    echo = f"{key.upper()} {password} {quote(password, safe='')} {value} {login}"
    shown = redact(echo, secrets)
    assert "canary" not in shown.lower()
    assert login not in shown


def test_short_words_and_versions_are_no_secrets():
    secrets = secrets_of("http://me:true@localhost/v1?api-version=2024-10-21", "none")
    assert redact("true, not none, since 2024-10-21", secrets) == "true, not none, since 2024-10-21"


def test_a_reply_keeps_its_addresses_and_a_message_does_not():
    said = "see http://me:pw@host/?q=1"
    assert redact(said, ["unrelated secret"]) == said
    assert redact_message(said) == "see http://***@host/?q=***"


def test_options_keep_what_they_are(monkeypatch):
    monkeypatch.setenv("MY_KEY", "x")
    kept = {"shots": 2, "prompt": "pk_prompt.yaml", "key_env": "MY_KEY", "reply_tokens": 5}
    assert redact_options(kept) == kept
    hidden = {"key_env": "NOT_SET_ANYWHERE", "api_key": "abc", "token": "abc", "password": "abc"}
    assert set(redact_options(hidden).values()) == {"***"}


@pytest.mark.parametrize(
    "words",
    [
        ["--set", "key_env=CANARY0123"],
        ["--set=key_env=CANARY0123"],
        ["--set", "model.key_env=CANARY0123"],
        ["--set=model.api_key=CANARY0123"],
        ["--set=api_key=CANARY0123"],
        ["--token=CANARY0123"],
    ],
)
def test_a_key_given_by_mistake_is_hidden_however_it_is_given(words):
    assert "CANARY" not in redact_command(shlex.join(["gnomon", "run", *words]))


@pytest.mark.parametrize(
    "command",
    [
        "gnomon run scales -m openai:gpt-4o-mini --limit 5",
        "gnomon run scales -m hf:org/sk-learn --set normalise=mean",
        "gnomon run 'a b' --set data='c d'",
    ],
)
def test_a_command_without_secrets_is_left_as_it_is(command):
    assert shlex.split(redact_command(command)) == shlex.split(command)


def test_what_is_no_command_line_is_redacted_as_a_text():
    assert redact_command("it's http://me:pw@host") == "it's http://***@host"
