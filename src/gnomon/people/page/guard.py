"""Who may read the page for people, and whose forms it takes: Host header and origin."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from gnomon import web
from gnomon.people.tasks import ResponseError
from gnomon.web import App, Guard, authority, comes_from_here, host_name, is_loopback

TOO_LARGE = "What was sent is too large: a comment may have 2,000 characters."


def guarded(app: App, *, remote: bool = False, address: str = "") -> Guard:
    """The app, answered to names that are ours only, and only to forms that are ours."""
    parts = urlsplit(address)
    own = authority(parts.scheme, parts.netloc)  # empty if no other address was given

    def refusal(request: Request) -> Response | None:
        host = request.headers.get("host", "")
        is_own = bool(own) and authority(parts.scheme, host) == own
        if not (remote or is_own or is_loopback(host_name(host))):
            return PlainTextResponse("This page answers only to localhost.\n", 421)
        if request.method == "POST" and not comes_from_here(request, own=own):
            return PlainTextResponse("This form comes from another site. Nothing was saved.\n", 403)
        return None

    return Guard(app, refusal)


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a form, read within bounds."""
    try:
        return await web.form_of(request)
    except web.TooLargeError:
        hint = "Go back and shorten it. Nothing else of your work is lost."
        raise ResponseError(TOO_LARGE, hint) from None
    except web.FormError as error:
        raise ResponseError(error.message, error.hint) from None
