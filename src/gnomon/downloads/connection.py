"""How a server is asked: redirects and certificates are checked, a reply must begin in time."""

from __future__ import annotations

import http.client
from contextlib import suppress
from socket import SHUT_RDWR
from threading import Timer
from typing import IO, Any
from urllib.parse import urlsplit
from urllib.request import (
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    Request,
    build_opener,
)

from gnomon.errors import DataError

HEADERS_WITHIN = 60.0  # seconds until a reply must have begun
# Answers worth another attempt; those above 504 are a proxy's.
BUSY = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
BY_HAND = "Give the authors' folder with --data."


def printable(text: str) -> str:
    """A stranger's words without control characters, which a terminal would obey."""
    return "".join(filter(str.isprintable, text))[:200]


class _Redirects(HTTPRedirectHandler):
    """Follows up to five redirects, to http and https only, never from https to http."""

    max_redirections = 5

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> Request | None:
        scheme = urlsplit(newurl).scheme
        steps_down = req.type == "https" and scheme == "http"
        if scheme not in ("http", "https") or steps_down:
            where = printable(newurl)
            raise DataError(f"{req.full_url} redirects to {where}, which is not followed.", BY_HAND)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class _Prompt(http.client.HTTPConnection):
    """A connection whose reply must begin in time: a timeout alone lets headers drip for ever."""

    _late = False

    def getresponse(self) -> http.client.HTTPResponse:
        timer = Timer(HEADERS_WITHIN, self._cut)
        timer.daemon = True
        timer.start()
        try:
            reply = super().getresponse()
        finally:
            timer.cancel()
            if self._late:
                raise TimeoutError(f"no reply began within {HEADERS_WITHIN:g} seconds")
        return reply

    def _cut(self) -> None:
        self._late = True
        with suppress(OSError, AttributeError):  # closed in the meantime
            self.sock.shutdown(SHUT_RDWR)


class _PromptTLS(_Prompt, http.client.HTTPSConnection):
    """The same over TLS."""


class _Plain(HTTPHandler):
    def http_open(self, req: Request) -> Any:
        return self.do_open(_Prompt, req)


class _Secure(HTTPSHandler):
    def https_open(self, req: Request) -> Any:
        return self.do_open(_PromptTLS, req)  # certificates are checked by default


def opener() -> OpenerDirector:
    """What opens an address: redirects are checked, replies must begin in time."""
    return build_opener(_Redirects(), _Plain(), _Secure())
