"""What stands before every page: the Host header, the token of a remote viewer, and headers that
forbid the rest.

A page of another site can send a browser here, and a name can be made to resolve to this machine;
checking the Host header keeps such pages from reading anything. Beyond loopback, only those with
the token are let in.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
COOKIE = "gnomon_token"
HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class Guard:
    """Wraps the app. Without a token only loopback names are answered; with one, only those who
    know it."""

    def __init__(self, app: App, token: str = "") -> None:
        self.app, self.token = app, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it here."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        request = Request(scope)

        async def sealed(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                names = {name for name, _ in message["headers"]}
                message["headers"] = [
                    *message["headers"],
                    *(
                        (k.encode(), v.encode())
                        for k, v in HEADERS.items()
                        if k.encode() not in names
                    ),
                ]
            await send(message)

        refusal = self._refusal(request)
        await (refusal or self.app)(scope, receive, sealed)

    def _refusal(self, request: Request) -> PlainTextResponse | RedirectResponse | None:
        if not self.token:
            if host_name(request.headers.get("host", "")) not in LOOPBACK:
                return PlainTextResponse("This viewer answers only to localhost.\n", 421)
            return None
        given = request.query_params.get("token")
        if given is not None and self._knows(given):
            rest = urlencode([(k, v) for k, v in parse_qsl(request.url.query) if k != "token"])
            answer = RedirectResponse(request.url.path + (f"?{rest}" if rest else ""), 303)
            answer.set_cookie(COOKIE, given, httponly=True, samesite="strict")
            return answer
        bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
        if self._knows(request.cookies.get(COOKIE, "")) or self._knows(bearer):
            return None
        return PlainTextResponse(
            "Open the address with ?token=... that `gnomon view` printed.\n", 401
        )

    def _knows(self, given: str) -> bool:
        return bool(given) and hmac.compare_digest(given.encode(), self.token.encode())


def host_name(header: str) -> str:
    """The name in a Host header, without the port.

    >>> host_name("localhost:8000"), host_name("[::1]:80"), host_name("evil.example")
    ('localhost', '[::1]', 'evil.example')
    """
    if header.startswith("["):
        return header[: header.find("]") + 1].lower()
    return header.rsplit(":", 1)[0].lower() if ":" in header else header.lower()
