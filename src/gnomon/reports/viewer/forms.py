"""Forms that a page sends: only from the page itself, only with its token, and within bounds."""

from __future__ import annotations

import asyncio
import hmac
import re
import secrets
from hashlib import sha256
from urllib.parse import parse_qsl, urlsplit

from starlette.requests import Request
from starlette.responses import Response

from gnomon.errors import UsageError

LARGEST = 64 * 1024  # bytes of a form
DRAINED = 64 * 2**20  # bytes that are read and dropped, so that a browser hears the refusal
MOST_FIELDS = 40
PATIENCE = 30.0  # seconds in which a form must have come
USUAL_PORTS = {"http": ":80", "https": ":443"}
SESSION = "gnomon_session"  # a cookie


class FormError(UsageError):
    """What was sent is no form of ours."""


class TooLargeError(FormError):
    """A form is larger than any of ours."""


def authority(scheme: str, netloc: str) -> str:
    """A host and port as browsers write them: in small letters, without the usual port.

    >>> authority("https", "Lab.Example:443"), authority("http", "lab.example:443")
    ('lab.example', 'lab.example:443')
    """
    return netloc.lower().removesuffix(USUAL_PORTS.get(scheme, ""))


def comes_from_here(request: Request, *, own: str = "") -> bool:
    """Whether a request that names its sender comes from a page of the same host and port.

    `own` is another authority by which this page is known, behind a proxy.
    """
    site = request.headers.get("sec-fetch-site", "same-origin")
    if site not in ("same-origin", "none"):
        return False
    origin = request.headers.get("origin", "")
    if not origin:
        return True
    parts = urlsplit(origin)
    sender = authority(parts.scheme, parts.netloc)  # none in "null": a hidden origin
    here = authority(parts.scheme, request.headers.get("host", ""))
    return bool(sender) and sender in (here, own)


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a form, read within bounds."""
    try:
        async with asyncio.timeout(PATIENCE):
            content = await _body_of(request)
    except TimeoutError:
        raise FormError("Sending took too long.", "Go back and save it again.") from None
    try:
        pairs = parse_qsl(
            content.decode("ascii"),
            keep_blank_values=True,
            max_num_fields=MOST_FIELDS,
            errors="strict",
        )
    except (ValueError, UnicodeDecodeError):
        raise FormError("What was sent is not a form of this page.") from None
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
        raise TooLargeError("What was sent is too large.", "Go back and shorten it.")
    return content


class Sessions:
    """What a form must carry: a token that fits the cookie of the browser that it was shown in.

    The key is this process's own: a form that was shown before a restart no longer fits.
    """

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)

    def of(self, request: Request) -> str:
        """The session of a browser; a new one if it has none."""
        found: str = request.cookies.get(SESSION, "")
        if re.fullmatch(r"[A-Za-z0-9_-]{20,80}", found):
            return found
        return secrets.token_urlsafe(24)

    def token(self, session: str) -> str:
        """The token of a session's forms."""
        return hmac.new(self._key, session.encode(), sha256).hexdigest()

    def knows(self, request: Request, token: str) -> bool:
        """Whether a form was shown in the browser that sends it."""
        session = request.cookies.get(SESSION, "")
        expected = self.token(session)
        return bool(session) and hmac.compare_digest(token.encode(), expected.encode())

    def keep(self, answer: Response, session: str) -> None:
        """Have the browser keep its session."""
        answer.set_cookie(SESSION, session, httponly=True, samesite="strict")
