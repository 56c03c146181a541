"""What a server's status other than 200 means: try again, give this item up, or end the run.

All that a server says is a stranger's text: secrets are hidden first, then it becomes one short
line without control characters.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isnan
from typing import Any

import msgspec

from gnomon.downloads.download import BUSY
from gnomon.errors import ModelError
from gnomon.models.servers.pictures import hide_pictures
from gnomon.redaction import HIDDEN, redact_message

LONGEST_PAUSE = 60.0  # seconds before another attempt, whatever the server asks for
_MOST_SAID = 200  # characters of a server's message
# How servers say that a model does not see.
_NO_PICTURES = re.compile(
    r"(image|vision|multi-?modal).*(not support|n't support|unsupported|only support)"
    r"|(not support|n't support|unsupported|missing data|at most 0).*(image|vision|multi-?modal)"
    r"|not a multi-?modal|unknown variant .?image|content.* (must|should) be a (valid )?string",
    re.IGNORECASE,
)
# How they say that a picture is not to their liking.
_NOT_THIS_ONE = re.compile(r"format|mime|corrupt|dimension|too (large|small|big)", re.IGNORECASE)
_LONG = re.compile(r"[A-Za-z0-9+/=]{64,}")  # no word: the picture of another request, most likely


class AskError(Exception):
    """This request failed for good: the reason is recorded for its item, and the others go on."""


class RejectedError(AskError):
    """The server understood the request and refuses it (400, 413, 422)."""


class BlindError(RejectedError):
    """The server says that the model takes no pictures."""


class CutError(AskError):
    """The server ended the reply at the largest limit of tokens that it may be given."""


class PassingError(Exception):
    """A fault that may pass. `pause` is how long the server asks to wait."""

    def __init__(
        self, reason: str, *, pause: float | None = None, unreachable: bool = False
    ) -> None:
        super().__init__(reason)
        self.pause = pause
        self.unreachable = unreachable


def refusal(
    status: int,
    headers: Mapping[str, str],
    raw: bytes,
    *,
    secrets: Sequence[str],
    key_env: str,
    pictures: Sequence[str] = (),
) -> Exception:
    """The error that a status other than 200 stands for; `pictures` are those of the request."""
    said = _message(raw, secrets, pictures)
    if 300 <= status < 400:
        target = plain_line(headers.get("location", "nowhere"), secrets)
        return ModelError(
            f"The server sends requests elsewhere ({status}): to {target}.",
            "If you trust that address, give it with --base-url.",
        )
    if status in (401, 403):
        return _refused_key(status, said, key_env)
    if status == 404:
        return ModelError(
            f"The server knows no such model or address (404): {said}.",
            "Check the model's name and --base-url (it usually ends in /v1).",
        )
    if status == 402 or (status == 429 and b"insufficient_quota" in raw):
        return ModelError(
            f"The account has no money left ({status}): {said}.",
            "What was answered is kept. Add credit, then give the same command again.",
        )
    reason = f"the server answered {status}: {said}"
    if pictures and _NO_PICTURES.search(said) and not _NOT_THIS_ONE.search(said):
        return BlindError(reason)
    if status in BUSY:
        return PassingError(reason, pause=retry_after(headers.get("retry-after")))
    if status in (400, 413, 422):
        return RejectedError(reason)
    return AskError(reason)


def _refused_key(status: int, said: str, key_env: str) -> ModelError:
    if key_env:
        return ModelError(
            f"The server refuses the key ({status}): {said}.",
            f"Put a valid key into the environment variable {key_env}.",
        )
    return ModelError(
        f"The server wants a key ({status}), and was sent none: {said}.",
        "Its address stands in a file. If you trust it, name it in the command: --base-url ADDRESS",
    )


def retry_after(value: str | None) -> float | None:
    """Seconds that a Retry-After header asks for: a number, or a date; none if it says neither.

    >>> retry_after("1.5"), retry_after("soon"), retry_after("Thu, 01 Jan 1970 00:00:00 GMT")
    (1.5, None, 0.0)
    """
    if not value:
        return None
    try:
        seconds = _seconds(value)
    except (ValueError, TypeError, OverflowError):  # a date with a zone of a thousand years
        return None
    if isnan(seconds):
        return None
    return min(max(seconds, 0.0), LONGEST_PAUSE)


def plain_line(text: str, secrets: Sequence[str]) -> str:
    """A stranger's text as part of a message: no secrets, no control characters, not long.

    >>> plain_line("bad\\x1b[31m key\\nsk-12345678", [])
    'bad [31m key ***'
    """
    printable = [character if character.isprintable() else " " for character in text]
    line = " ".join("".join(printable).split())
    return redact_message(line, secrets)[:_MOST_SAID].rstrip(". ")


def _seconds(value: str) -> float:
    try:
        return float(value)
    except ValueError:
        then = parsedate_to_datetime(value)
    return (then - datetime.now(then.tzinfo or UTC)).total_seconds()


def _message(raw: bytes, secrets: Sequence[str], pictures: Sequence[str]) -> str:
    """What a server says went wrong."""
    try:
        said: Any = msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        said = raw.decode("utf-8", "replace")
    for field in ("error", "message"):
        if isinstance(said, dict):
            said = said.get(field, said)
    text = hide_pictures(str(said), pictures)
    if pictures:
        text = _LONG.sub(HIDDEN, text)
    return plain_line(text, secrets) or "no reason given"
