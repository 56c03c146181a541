"""The small web server of Gnomon's pages: guard, forms, and serving; and replies within bounds.

A page of another site can send a browser here, and a name can be made to resolve to this machine;
checking the Host header keeps such pages from reading anything, and the Origin header keeps their
forms out. No client holds more connections than others leave it.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import re
import secrets
import socket
from asyncio import TimerHandle, Transport
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, MutableMapping
from hashlib import sha256
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from gnomon.errors import GnomonError, UsageError, inert

if TYPE_CHECKING:  # of the extras: what only listens or knows names needs none of it
    from starlette.requests import Request
    from starlette.responses import Response

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LARGEST_FORM = 64 * 1024  # bytes
DRAINED = 64 * 2**20  # bytes that are read and dropped, so that a browser hears the refusal
MOST_FIELDS = 40
FORM_PATIENCE = 30.0  # seconds in which a form must have come
PATIENCE = 10.0  # seconds in which a client must have sent its request
LONGEST_REPLY = 600.0  # seconds of a whole reply, however steadily it comes
CONNECTIONS = 256  # open at once: well below what a process may open
USUAL_PORTS = {"http": ":80", "https": ":443"}
SESSION = "gnomon_session"  # a cookie
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    b"content-security-policy": POLICY.encode(),
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"same-origin",  # a form of ours must say where it comes from
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"cache-control": b"no-store",
}
_HOST = re.compile(r"(\[[0-9a-fA-F:.]+\]|[^:\[\]]+)(?::[0-9]{1,5})?")


class Guard:
    """Wraps an app: what `refusal` has an answer to never reaches it; every answer is sealed."""

    def __init__(self, app: App, refusal: Callable[[Request], Response | None]) -> None:
        self.app = app
        self._refusal = refusal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it here."""
        from starlette.requests import Request

        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        if scope["type"] != "http":
            return

        answer = self._refusal(Request(scope)) or self.app
        await answer(scope, receive, sealed(send, HEADERS))


def sealed(send: Send, headers: Mapping[bytes, bytes]) -> Send:
    """Sends answers with these headers, but for those that an answer has of its own."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            present = {name for name, _ in message["headers"]}
            added = [pair for pair in headers.items() if pair[0] not in present]
            message["headers"] = [*message["headers"], *added]
        await send(message)

    return send_with_headers


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


class ReplyError(GnomonError):
    """A server's reply breaks the bounds of all replies that are read."""


class PackedReplyError(ReplyError):
    """A reply is compressed, which nobody asked for."""


class BoundedReply:
    """A reply as it comes over the network, within bounds: every client reads by this.

    It is never unpacked: a kilobyte may be gigabytes.
    """

    def __init__(self, headers: Mapping[str, str], largest: int) -> None:
        packed = headers.get("content-encoding", "").strip().lower()
        if packed not in ("", "identity"):
            raise PackedReplyError(
                f"The server compresses its replies ({inert(packed)[:100]}), although it was asked "
                "not to.",
                "Switch compression off in the server, or in the proxy before it.",
            )
        self.content = bytearray()
        self._largest = largest
        self._end = monotonic() + LONGEST_REPLY

    def add(self, block: bytes) -> None:
        """Take the next bytes."""
        self.content += block
        if len(self.content) > self._largest:
            megabytes = self._largest // 2**20
            raise ReplyError(f"the reply is larger than {megabytes} MB.", "Check the address.")
        if monotonic() > self._end:
            raise ReplyError(
                f"the reply took longer than {LONGEST_REPLY:.0f} seconds.",
                "Give the same command again: what was sent is not sent twice.",
            )


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
    from starlette.requests import ClientDisconnect

    try:
        async with asyncio.timeout(FORM_PATIENCE):
            content = await _body_of(request)
    except TimeoutError:
        raise FormError("Sending took too long.", "Go back and save it again.") from None
    except ClientDisconnect:  # nobody is there to be told
        raise FormError("The form ended too early.", "Go back and save it again.") from None
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
        if length <= LARGEST_FORM:
            content += chunk
        if length > DRAINED:
            break
    if length > LARGEST_FORM:
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


def address_of(host: str, listener: socket.socket) -> str:
    """Where a browser finds what listens there."""
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{listener.getsockname()[1]}"


def server_of(app: Any, *, keep_alive: int) -> Any:
    """A server that says little and waits for nobody long; `keep_alive` is in seconds."""
    import uvicorn

    config = uvicorn.Config(
        app,
        http=impatient_protocol(),
        log_level="error",
        access_log=False,
        server_header=False,
        lifespan="off",
        timeout_keep_alive=keep_alive,
    )
    return uvicorn.Server(config)


def listen(host: str, port: int, what: str = "The page") -> socket.socket:
    """A socket that listens there; port 0 takes a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
    except (OSError, OverflowError) as error:
        listener.close()
        reason = getattr(error, "strerror", "") or str(error).rstrip(".")
        raise UsageError(
            f"{what} cannot listen at {host}, port {port}: {reason}.",
            "Give another port with --port; 0 takes a free one.",
        ) from None
    listener.listen(128)
    return listener


def impatient_protocol() -> Any:
    """uvicorn's protocol, which waits for a slow client without end, made to wait for a while.

    And it holds no more connections than the process can: beyond that, the address that has most of
    them loses one that waits, so that nobody can lock others out.
    """
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Impatient(H11Protocol):  # type: ignore[misc]
        _deadline: TimerHandle | None = None

        def connection_made(self, transport: Transport) -> None:
            super().connection_made(transport)
            self.since = self.loop.time()
            if len(self.connections) > CONNECTIONS:
                _one_to_close(self.connections, self).transport.abort()
            self._wait()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._wait()

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            if self._deadline:
                self._deadline.cancel()

        @property
        def answering(self) -> bool:
            """Whether an answer is under way, or what was asked is still being sent."""
            return self.cycle is not None and not self.cycle.response_complete

        @property
        def waiting(self) -> bool:
            """Whether the client has yet to send something: a request, or the rest of a form."""
            return not self.answering or self.cycle.more_body

        def _wait(self) -> None:
            if self._deadline:
                self._deadline.cancel()
            self._deadline = self.loop.call_later(PATIENCE, self._cut)

        def _cut(self) -> None:
            if not self.answering:
                self.transport.abort()

    return Impatient


def _one_to_close(connections: Collection[Any], newest: Any) -> Any:
    """Of the address with most connections the one that waits longest; the newest if none waits."""
    held = Counter(map(_address_of_client, connections))
    most = max(held.values())
    waiting = []
    for each in connections:
        if held[_address_of_client(each)] == most and each.waiting:
            waiting.append(each)
    return min(waiting, key=lambda each: each.since, default=newest)


def _address_of_client(connection: Any) -> str:
    return connection.client[0] if connection.client else ""
