"""What stands before every page: the Host header, the origin of forms, and forbidding headers."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import PlainTextResponse

from gnomon.people.tasks import ResponseError
from gnomon.reports.viewer import forms
from gnomon.reports.viewer.forms import authority, comes_from_here
from gnomon.reports.viewer.guard import (
    FORM_HEADERS,
    App,
    Receive,
    Scope,
    Send,
    host_name,
    is_loopback,
    sealed,
)

TOO_LARGE = "What was sent is too large: a comment may have 2,000 characters."


class Guard:
    """Wraps the app: only names that are ours are answered, and only forms that are ours read."""

    def __init__(self, app: App, *, remote: bool = False, address: str = "") -> None:
        self._app = app
        self._remote = remote
        parts = urlsplit(address)
        self._scheme = parts.scheme
        self._own = authority(parts.scheme, parts.netloc)  # empty if no other address was given

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it here."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        if scope["type"] != "http":
            return

        answer = self._refusal(Request(scope)) or self._app
        await answer(scope, receive, sealed(send, FORM_HEADERS))

    def _refusal(self, request: Request) -> PlainTextResponse | None:
        host = request.headers.get("host", "")
        if not self._is_own_host(host):
            return PlainTextResponse("This page answers only to localhost.\n", 421)
        if request.method == "POST" and not comes_from_here(request, own=self._own):
            return PlainTextResponse("This form comes from another site. Nothing was saved.\n", 403)
        return None

    def _is_own_host(self, host: str) -> bool:
        if self._remote or is_loopback(host_name(host)):
            return True
        return bool(self._own) and authority(self._scheme, host) == self._own


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a form, read within bounds."""
    try:
        return await forms.form_of(request)
    except forms.TooLargeError:
        hint = "Go back and shorten it. Nothing else of your work is lost."
        raise ResponseError(TOO_LARGE, hint) from None
    except forms.FormError as error:
        raise ResponseError(error.message, error.hint) from None
