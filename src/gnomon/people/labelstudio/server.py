"""A Label Studio server, as its REST API shows it: plain requests, replies as JSON.

The token goes to this server and nowhere else: redirects are not followed, and no message holds it.
"""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import msgspec

from gnomon.errors import GnomonError, UnencryptedWarning, UsageError, importing, inert
from gnomon.redaction import redact_message
from gnomon.web import BoundedReply, ReplyError, is_loopback

TOKEN = "LABEL_STUDIO_API_KEY"  # noqa: S105 - the name of a variable
TIMEOUT = 120.0  # seconds: an import of pictures takes some
LARGEST = 2**28  # bytes of a reply
PAGE = 100  # tasks or projects at a time
MOST_PAGES = 20_000  # of a list
SAID = 300  # characters of a server's own words in a message

REFUSALS = {
    401: (
        "refuses the token",
        "Make one under Account & Settings of Label Studio (a personal access token, or a "
        "legacy token if the server allows these).",
    ),
    403: (
        "does not let this user do that ({path})",
        "Take the token of a user who may change projects.",
    ),
}
T = TypeVar("T")
# name, content, kind of content
File = tuple[str, bytes, str]


class ServerError(GnomonError):
    """The server cannot be reached, or refuses."""


def read_token(file: str = "") -> str:
    """The token: of a file if one is given, else of the environment."""
    if not file:
        token = os.environ.get(TOKEN, "")
        hint = f"Set {TOKEN}, or give --set token_file=FILE."
    else:
        token = _first_line(Path(file))
        hint = "Put the token into the file, on one line."
    token = token.strip()
    if not token:
        raise UsageError("There is no token for Label Studio.", hint)
    if not _can_be_token(token):
        raise UsageError("The token for Label Studio holds characters that no token has.", hint)
    return token


def _can_be_token(text: str) -> bool:
    return text.isascii() and text.isprintable() and " " not in text


def _first_line(file: Path) -> str:
    try:
        with file.open(encoding="utf-8") as lines:
            return lines.readline(2**14)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", "") or "it is not text"
        raise UsageError(
            f"The token cannot be read from {file}: {reason}.", "Check token_file."
        ) from None


class LabelStudio:
    """One server and one user of it. `transport` stands in for the network in tests."""

    def __init__(self, url: str, token: str, *, transport: Any = None) -> None:
        self.url = _checked_address(url)
        self._token = token
        self._httpx = _library()
        self._client = self._httpx.Client(
            base_url=self.url,
            timeout=TIMEOUT,
            follow_redirects=False,
            transport=transport,
            headers={"Accept-Encoding": "identity"},
        )
        self._login = ""  # the header, once it is known

    def __enter__(self) -> LabelStudio:
        return self

    def __exit__(self, *error: object) -> None:
        self._client.close()

    def get(self, path: str, **query: Any) -> Any:
        """What the server has there."""
        return self._ask("GET", path, params=query)

    def post(self, path: str, content: Any) -> Any:
        """Send something new."""
        return self._ask("POST", path, json=content)

    def patch(self, path: str, content: Mapping[str, Any]) -> Any:
        """Change something."""
        return self._ask("PATCH", path, json=content)

    def upload(self, path: str, files: Sequence[File], **query: Any) -> Any:
        """Send files."""
        parts = [(f"file{number}", file) for number, file in enumerate(files)]
        return self._ask("POST", path, files=parts, params=query)

    def pages(self, path: str, field: str, total: str, kind: type[T], **query: Any) -> Iterator[T]:
        """All entries of a list that comes in pages; `total` says how many there are."""
        seen = 0
        for number in range(1, MOST_PAGES + 1):
            reply = self.shaped(path, self.get(path, page=number, page_size=PAGE, **query), dict)
            entries = self.shaped(path, reply.get(field), list[Any])
            expected = self.shaped(path, reply.get(total), int)
            for entry in entries:
                yield self.shaped(path, entry, kind)
            seen += len(entries)
            if not entries or seen >= expected:
                return
        raise self._strange(path)

    def shaped(self, path: str, reply: Any, kind: type[T]) -> T:
        """A reply, or a part of one, as it must be."""
        try:
            return msgspec.convert(reply, kind)
        except msgspec.ValidationError:
            raise self._strange(path) from None

    def _ask(self, method: str, path: str, **content: Any) -> Any:
        if not self._login:
            self._log_in()
        status, raw = self._exchange(method, path, **content)
        if status == 401 and self._has_personal_token():
            self._log_in()  # what a personal token gives access by lasts five minutes
            status, raw = self._exchange(method, path, **content)
        return self._read(path, status, raw)

    def _has_personal_token(self) -> bool:
        """Whether the token is a personal access token, which is a JWT, and not a legacy one."""
        return self._token.count(".") == 2

    def _log_in(self) -> None:
        if not self._has_personal_token():
            self._login = f"Token {self._token}"
            return
        self._login = ""
        path = "/api/token/refresh/"
        status, raw = self._exchange("POST", path, json={"refresh": self._token})
        reply = self._read(path, status, raw)
        access = reply.get("access") if isinstance(reply, dict) else None
        if not isinstance(access, str) or not _can_be_token(access):
            raise self._strange(path)
        self._login = f"Bearer {access}"

    def _exchange(self, method: str, path: str, **content: Any) -> tuple[int, bytes]:
        headers = {"Authorization": self._login} if self._login else {}
        try:
            with self._client.stream(method, path, headers=headers, **content) as response:
                return response.status_code, self._bounded(response)
        except self._httpx.TimeoutException:
            raise ServerError(
                f"{self.url} did not answer within {TIMEOUT:.0f} seconds.",
                "Give the same command again: what was sent is not sent twice.",
            ) from None
        except self._httpx.HTTPError as error:
            said = redact_message(str(error), self._secrets())
            raise ServerError(
                f"{self.url} cannot be reached: {inert(said)[:SAID]}.",
                "Start Label Studio, or check the address after --label-studio.",
            ) from None

    def _bounded(self, response: Any) -> bytes:
        try:
            reply = BoundedReply(response.headers, LARGEST)
            for block in response.iter_raw():
                reply.add(block)
        except ReplyError as error:
            raise ServerError(f"{self.url}: {error.message}", error.hint) from None
        return bytes(reply.content)

    def _read(self, path: str, status: int, raw: bytes) -> Any:
        if status >= 300:
            raise self._refused(path, status, raw)
        try:
            return msgspec.json.decode(raw)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            raise self._strange(path) from None

    def _refused(self, path: str, status: int, raw: bytes) -> ServerError:
        if status < 400:
            return ServerError(
                f"{self.url} redirects elsewhere, which is not followed.",
                "Give the address that a browser ends up at, with https:// if that is it.",
            )
        if status in REFUSALS:
            what, hint = REFUSALS[status]
            return ServerError(f"{self.url} {what.format(path=path)}.", hint)
        words = self._own_words(raw)
        said = f": {words}" if words else ""
        hint = "Correct that, and give the same command again: nothing is sent twice."
        if status >= 500:
            hint = "Look into its log, and give the same command again: nothing is sent twice."
        return ServerError(f"{self.url} answers {path} with status {status}{said}.", hint)

    def _own_words(self, raw: bytes) -> str:
        """What a refusal says, if it says something for people."""
        try:
            reply = msgspec.json.decode(raw)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return ""
        if not isinstance(reply, dict):
            return ""
        said = reply.get("validation_errors") or reply.get("detail") or ""
        words = " ".join(inert(str(said)).split())
        return redact_message(words, self._secrets())[:SAID].rstrip(".")

    def _secrets(self) -> list[str]:
        return [self._token, self._login.rpartition(" ")[2]]

    def _strange(self, path: str) -> ServerError:
        return ServerError(
            f"{self.url} does not answer {path} as Label Studio does.",
            "Check the address after --label-studio; Label Studio 1.23 or newer is expected.",
        )


def _checked_address(url: str) -> str:
    try:
        parts = urlsplit(url)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        sound = False
    if not sound or not url.isprintable():
        raise UsageError(
            "The address of Label Studio does not begin with http:// or https://.",
            "Give it as a browser shows it: --label-studio http://localhost:8080",
        )
    if parts.username or parts.password or parts.query or parts.fragment:
        raise UsageError(
            "The address of Label Studio holds more than a server and a path.",
            f"Leave out user, password and query; the token belongs into {TOKEN}.",
        )
    if parts.scheme == "http" and not is_loopback(parts.hostname or ""):
        warnings.warn(
            f"The token goes to {parts.hostname} unencrypted (http). Use https if the server can.",
            UnencryptedWarning,
            stacklevel=3,
        )
    return url.rstrip("/")


def _library() -> Any:
    with importing("Label Studio", "people"):
        import httpx
    # at INFO it would write every address down
    logging.getLogger("httpx").setLevel(logging.WARNING)
    return httpx
