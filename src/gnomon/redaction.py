"""What must never be written down: passwords and keys in addresses, options, commands and replies.

Everything that reaches a manifest, log, cache, page or message and may hold a secret goes through
here. What is hidden shows as `***`, so that one sees that something stood there.
"""

import os
import re
import shlex
from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Any
from urllib.parse import quote, unquote, urlsplit

HIDDEN = "***"
SHORTEST = 6  # characters of a secret that is looked for in texts; shorter ones are ordinary words
# parts of a query that say which model answers: no secrets, and a manifest needs them
SHOWN = frozenset({"api-version", "deployment", "model", "provider", "version"})

_ADDRESS = re.compile(r"\b([a-z][a-z0-9+.-]*://)([^\s\"'<>]+)", re.IGNORECASE)
_KEY_LIKE = re.compile(r"\b(?:sk|pk)[-_](?=[\w*-]*[\d*])[\w*-]{6,}|(?<=\bBearer )\S{6,}")
# A part of a path that nobody chooses as a name: letters and digits in one long run, a UUID, or a
# key as its makers write it.
_KEY_IN_PATH = re.compile(
    r"\b(?:sk|pk)[-_](?=[\w-]*\d)[\w-]{6,}|"
    r"\b(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{20,}\b"
    r"|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b",
    re.IGNORECASE,
)
_SECRET_OPTION = re.compile(r"(?:api_?key|token|secret|password)", re.IGNORECASE)


def redact_url(text: str) -> str:
    """A text whose web addresses show no user, no password, no fragment, and of a query only SHOWN.

    Nor a part of a path that looks like a key.

    An @ may belong to a password with a slash in it, so all that stands before the last one goes.

    >>> redact_url("http://me:secret@localhost:8000/v1?api_key=abc&version=2 is down")
    'http://***@localhost:8000/v1?api_key=***&version=2 is down'
    """
    return _ADDRESS.sub(lambda match: match[1] + _redact_address(match[2]), text)


def redact(text: str, secrets: Sequence[str]) -> str:
    """A text without these secrets, in whatever case they are written.

    >>> redact("Your key is SK-123456.", ["sk-123456"])
    'Your key is ***.'
    """
    pattern = _any_of(tuple(secrets))
    return pattern.sub(HIDDEN, text) if pattern else text


def redact_message(text: str, secrets: Sequence[str] = ()) -> str:
    """The same for a message: addresses, and whatever looks like a key, are hidden too.

    >>> redact_message("Incorrect API key provided: sk-proj-12****89.")
    'Incorrect API key provided: ***.'
    """
    return _KEY_LIKE.sub(HIDDEN, redact_url(redact(text, secrets)))


def redact_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options by name, as they may be written into a manifest.

    >>> redact_options({"base_url": "https://me:secret@example.org/v1", "shots": 2})
    {'base_url': 'https://***@example.org/v1', 'shots': 2}
    """
    found = {}
    for name, value in options.items():
        found[name] = _redact_option(name, value) if isinstance(value, str) else value
    return found


def redact_command(command: str) -> str:
    """A command line as it may be written down.

    >>> redact_command("gnomon run scales --base-url 'http://localhost/v1?key=abc' --shots 2")
    "gnomon run scales --base-url 'http://localhost/v1?key=***' --shots 2"
    """
    try:
        words = shlex.split(command)
    except ValueError:  # not a command line: hide what can be found in it as a text
        return redact_message(command)
    return shlex.join([_redact_word(word) for word in words])


def secrets_of(url: str, key: str) -> tuple[str, ...]:
    """Everything secret that a request carries, in the forms in which a server may repeat it."""
    try:
        parts = urlsplit(url)
        found = [key, *_login(parts.username, parts.password)]
    except ValueError:
        return _forms([key])
    for pair in parts.query.split("&"):
        name, _, value = pair.partition("=")
        if name not in SHOWN:
            found.append(value or name)
    return _forms([*found, parts.fragment])


def _redact_address(rest: str) -> str:
    """What follows the scheme with its secrets hidden."""
    login, at, place = rest.rpartition("@")
    place, hash_mark, _ = place.partition("#")
    path, question_mark, query = place.partition("?")
    host, slash, inner = path.partition("/")
    path = f"{host}{slash}{_KEY_IN_PATH.sub(_known_key, inner)}"
    if login:
        path = f"{HIDDEN}{at}{path}"
    if question_mark:
        path += "?" + "&".join(_redact_pair(pair) for pair in query.split("&"))
    return f"{path}#{HIDDEN}" if hash_mark else path


def _known_key(key: re.Match[str]) -> str:
    """A key in a path, hidden, but told from others: another path leads to another server."""
    return HIDDEN + sha256(key[0].encode()).hexdigest()[:6]


def _redact_pair(pair: str) -> str:
    name, equals, _ = pair.partition("=")
    if name in SHOWN:
        return pair
    return f"{name}={HIDDEN}" if equals else HIDDEN


def _redact_word(word: str) -> str:
    """One word of a command: NAME=VALUE is an option, and so is --set=NAME=VALUE."""
    name, equals, value = word.partition("=")
    if not equals or "://" in name:
        return redact_message(word)
    if name.startswith("-") and "=" in value:
        return f"{name}={_redact_word(value)}"
    option = name.lstrip("-").removeprefix("model.")
    return f"{name}={_redact_option(option, value)}"


def _redact_option(name: str, value: str) -> str:
    if name == "key_env" and value:  # a variable; somebody may have given the key itself
        return value if value in os.environ else HIDDEN
    if _SECRET_OPTION.fullmatch(name):
        return HIDDEN
    return redact_message(value)


def _login(user: str | None, password: str | None) -> list[str]:
    """The password; the user where there is none, since that is then a token; and both as sent."""
    if not user and not password:
        return []
    plain = f"{unquote(user or '')}:{unquote(password or '')}"
    return [password or user or "", b64encode(plain.encode()).decode()]


def _forms(secrets: Sequence[str]) -> tuple[str, ...]:
    """Each secret as it is, decoded and encoded, longest first, without short ones."""
    found = set()
    for secret in secrets:
        found |= {secret, unquote(secret), quote(unquote(secret), safe="")}
    long_enough = [form for form in found if len(form) >= SHORTEST]
    return tuple(sorted(long_enough, key=lambda form: (-len(form), form)))


@lru_cache(maxsize=64)
def _any_of(secrets: tuple[str, ...]) -> re.Pattern[str] | None:
    known = [re.escape(secret) for secret in secrets if secret]
    return re.compile("|".join(known), re.IGNORECASE) if known else None
