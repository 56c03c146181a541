"""Who may read the viewer: this machine, or those who know its token; and whose forms it takes."""

from __future__ import annotations

import hmac
from urllib.parse import parse_qsl, urlencode

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from gnomon.web import App, Guard, comes_from_here, host_name, is_loopback

COOKIE = "gnomon_token"


def guarded(app: App, token: str = "") -> Guard:
    """The app, answered to loopback names only; with a token, to those who know it."""

    def refusal(request: Request) -> Response | None:
        if token:
            stranger = _without_token(request, token)
        else:
            stranger = _from_elsewhere(request)
        return stranger or _foreign_form(request)

    return Guard(app, refusal)


def _from_elsewhere(request: Request) -> Response | None:
    if is_loopback(host_name(request.headers.get("host", ""))):
        return None
    return PlainTextResponse("This viewer answers only to localhost.\n", 421)


def _without_token(request: Request, token: str) -> Response | None:
    """The answer to who does not have the token as a cookie or in a header."""
    given = request.query_params.get("token", "")
    if _is_same(given, token):
        return _with_cookie(request, given)
    bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
    if _is_same(request.cookies.get(COOKIE, ""), token) or _is_same(bearer, token):
        return None
    return PlainTextResponse("Open the address with ?token=... that `gnomon view` printed.\n", 401)


def _is_same(given: str, token: str) -> bool:
    return hmac.compare_digest(given.encode(), token.encode())


def _foreign_form(request: Request) -> Response | None:
    """The answer to what another site's page sends, or what does not say where it is from."""
    if request.method in ("GET", "HEAD"):
        return None
    if request.headers.get("origin") and comes_from_here(request):
        return None
    return PlainTextResponse("This comes from another site. Nothing was changed.\n", 403)


def _with_cookie(request: Request, token: str) -> Response:
    """To the same page without the token in its address, which others could read there."""
    rest = [(key, value) for key, value in parse_qsl(request.url.query) if key != "token"]
    target = "/" + request.url.path.lstrip("/")  # "//name" would lead to another site
    if rest:
        target += f"?{urlencode(rest)}"
    answer = RedirectResponse(target, 303)
    answer.set_cookie(COOKIE, token, httponly=True, samesite="strict")
    return answer
