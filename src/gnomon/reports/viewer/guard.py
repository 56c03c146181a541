"""What stands before every page: the Host header, the token, and headers that forbid the rest.

A page of another site can send a browser here, and a name can be made to resolve to this machine;
checking the Host header keeps such pages from reading anything, and the Origin header keeps their
forms out. Where a token was given, only those who know it are let in.
"""

from __future__ import annotations

import hmac
import ipaddress
import re
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse

from gnomon.reports.viewer.forms import comes_from_here

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

COOKIE = "gnomon_token"
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    b"content-security-policy": POLICY.encode(),
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"cache-control": b"no-store",
}
# A form of ours must say where it comes from, which "no-referrer" would forbid.
FORM_HEADERS = {**HEADERS, b"referrer-policy": b"same-origin"}
_HOST = re.compile(r"(\[[0-9a-fA-F:.]+\]|[^:\[\]]+)(?::[0-9]{1,5})?")


def sealed(send: Send, headers: Mapping[bytes, bytes]) -> Send:
    """Sends answers with these headers, but for those that an answer has of its own."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            present = {name for name, _ in message["headers"]}
            added = [pair for pair in headers.items() if pair[0] not in present]
            message["headers"] = [*message["headers"], *added]
        await send(message)

    return send_with_headers


class Guard:
    """Wraps the app.

    Without a token only loopback names are answered; with one, only those who know it.
    """

    def __init__(self, app: App, token: str = "") -> None:
        self.app = app
        self.token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it here."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        if scope["type"] != "http":
            return

        request = Request(scope)
        answer = self._refusal(request) or self._foreign_form(request) or self.app
        await answer(scope, receive, sealed(send, FORM_HEADERS))

    def _foreign_form(self, request: Request) -> PlainTextResponse | None:
        """The answer to what another site's page sends, or what does not say where it is from."""
        if request.method in ("GET", "HEAD"):
            return None
        if request.headers.get("origin") and comes_from_here(request):
            return None
        return PlainTextResponse("This comes from another site. Nothing was changed.\n", 403)

    def _refusal(self, request: Request) -> PlainTextResponse | RedirectResponse | None:
        if not self.token:
            if is_loopback(host_name(request.headers.get("host", ""))):
                return None
            return PlainTextResponse("This viewer answers only to localhost.\n", 421)
        given = request.query_params.get("token")
        if given is not None and self._knows(given):
            return _with_cookie(request, given)
        bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
        if self._knows(request.cookies.get(COOKIE, "")) or self._knows(bearer):
            return None
        return PlainTextResponse(
            "Open the address with ?token=... that `gnomon view` printed.\n", 401
        )

    def _knows(self, given: str) -> bool:
        return bool(given) and hmac.compare_digest(given.encode(), self.token.encode())


def _with_cookie(request: Request, token: str) -> RedirectResponse:
    """To the same page without the token in its address, which others could read there."""
    rest = [(key, value) for key, value in parse_qsl(request.url.query) if key != "token"]
    target = "/" + request.url.path.lstrip("/")  # "//name" would lead to another site
    if rest:
        target += f"?{urlencode(rest)}"
    answer = RedirectResponse(target, 303)
    answer.set_cookie(COOKIE, token, httponly=True, samesite="strict")
    return answer


def host_name(header: str) -> str:
    """The name in a Host header, without the port; empty if it is none.

    >>> host_name("localhost:8000"), host_name("[::1]:80"), host_name("localhost:evil")
    ('localhost', '::1', '')
    """
    found = _HOST.fullmatch(header)
    if not found:
        return ""
    return found[1].strip("[]").lower()


def is_loopback(host: str) -> bool:
    """Whether a name or address can only mean this machine.

    >>> is_loopback("localhost"), is_loopback("127.0.0.2"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
