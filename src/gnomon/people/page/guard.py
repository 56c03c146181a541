"""What stands before every page: the Host header, the origin of forms, and forbidding headers."""

from __future__ import annotations

import asyncio
from urllib.parse import parse_qsl, urlsplit

from starlette.requests import Request
from starlette.responses import PlainTextResponse

from gnomon.people.tasks import ResponseError
from gnomon.reporting.viewer.guard import (
    HEADERS,
    App,
    Receive,
    Scope,
    Send,
    host_name,
    is_loopback,
    sealed,
)

LARGEST = 64 * 1024  # bytes of a form
DRAINED = 64 * 2**20  # bytes that are read and dropped, so that a browser hears the refusal
MOST_FIELDS = 40
USUAL_PORTS = {"http": ":80", "https": ":443"}
PATIENCE = 30.0  # seconds in which a form must have come
# A form of ours must say where it comes from, which "no-referrer" would forbid.
OWN_HEADERS = {**HEADERS, b"referrer-policy": b"same-origin"}
TOO_LARGE = "What was sent is too large: a comment may have 2,000 characters."


class Guard:
    """Wraps the app: only names that are ours are answered, and only forms that are ours read."""

    def __init__(self, app: App, *, remote: bool = False, address: str = "") -> None:
        self._app = app
        self._remote = remote
        parts = urlsplit(address)
        self._scheme = parts.scheme
        self._own = _authority(parts.scheme, parts.netloc)  # empty if no other address was given

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it here."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        if scope["type"] != "http":
            return

        answer = self._refusal(Request(scope)) or self._app
        await answer(scope, receive, sealed(send, OWN_HEADERS))

    def _refusal(self, request: Request) -> PlainTextResponse | None:
        host = request.headers.get("host", "")
        if not self._is_own_host(host):
            return PlainTextResponse("This page answers only to localhost.\n", 421)
        if request.method == "POST" and not self._is_own_form(request, host):
            return PlainTextResponse("This form comes from another site. Nothing was saved.\n", 403)
        return None

    def _is_own_host(self, host: str) -> bool:
        if self._remote or is_loopback(host_name(host)):
            return True
        return bool(self._own) and _authority(self._scheme, host) == self._own

    def _is_own_form(self, request: Request, host: str) -> bool:
        """Browsers say where a form comes from; one that says another site is refused."""
        site = request.headers.get("sec-fetch-site", "same-origin")
        origin = request.headers.get("origin", "")
        if site not in ("same-origin", "none"):
            return False
        if not origin:
            return True
        parts = urlsplit(origin)
        sender = _authority(parts.scheme, parts.netloc)  # none in "null": a hidden origin
        return bool(sender) and sender in (_authority(parts.scheme, host), self._own)


def _authority(scheme: str, netloc: str) -> str:
    """A host and port as browsers write them: in small letters, without the usual port.

    >>> _authority("https", "Lab.Example:443"), _authority("http", "lab.example:443")
    ('lab.example', 'lab.example:443')
    """
    return netloc.lower().removesuffix(USUAL_PORTS.get(scheme, ""))


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a form, read within bounds."""
    try:
        async with asyncio.timeout(PATIENCE):
            content = await _body_of(request)
    except TimeoutError:
        raise ResponseError("Sending took too long.", "Go back and save it again.") from None
    try:
        pairs = parse_qsl(
            content.decode("ascii"),
            keep_blank_values=True,
            max_num_fields=MOST_FIELDS,
            errors="strict",
        )
    except (ValueError, UnicodeDecodeError):
        raise ResponseError("What was sent is not a form of this page.") from None
    return dict(pairs)


async def _body_of(request: Request) -> bytes:
    content = b""
    length = 0
    async for chunk in request.stream():
        length += len(chunk)
        if length <= LARGEST:
            content += chunk
        if length > DRAINED:
            break
    if length > LARGEST:
        raise ResponseError(TOO_LARGE, "Go back and shorten it. Nothing else of your work is lost.")
    return content
