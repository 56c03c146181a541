"""Starting the viewer: where it listens, who may come in, and how long it waits for them."""

from __future__ import annotations

import os
import re
import socket
from asyncio import TimerHandle, Transport
from collections.abc import Callable
from typing import Any

from gnomon.errors import UsageError, importing

TOKEN = "GNOMON_VIEW_TOKEN"  # noqa: S105 - the name of an environment variable
SHORTEST = 16  # characters of a token
PATIENCE = 10.0  # seconds in which a client must have sent its request
CONNECTIONS = 256  # open at once: well below what a process may open


def serve(
    folder: str,
    *,
    host: str = "127.0.0.1",
    port: int = 8765,
    allow_remote: bool = False,
    token: str = "",
    read_only: bool = False,
    ready: Callable[[str], None] = print,
) -> None:
    """Serve until interrupted; `ready` is told the address."""
    token = checked(host, allow_remote=allow_remote, token=token or os.environ.get(TOKEN, ""))
    with importing("The viewer", "report"):
        import uvicorn  # noqa: F401

        from gnomon.reports.viewer.app import make_app
    listener = listen(host, port)
    address = f"{address_of(host, listener)}/"
    if token:
        address += f"?token={token}"
    app = make_app(folder, token, writable=may_write(read_only, allow_remote, token))
    ready(address)
    server_of(app, keep_alive=5).run(sockets=[listener])


def may_write(read_only: bool, allow_remote: bool, token: str) -> bool:
    """Whether pages have forms: never for strangers.

    >>> may_write(False, False, ""), may_write(False, True, ""), may_write(True, False, "")
    (True, False, False)
    """
    return not read_only and (bool(token) or not allow_remote)


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


def checked(host: str, *, allow_remote: bool, token: str) -> str:
    """The token to ask for. A token that is given is required, on this machine as beyond.

    >>> checked("127.0.0.1", allow_remote=False, token="")
    ''
    """
    from gnomon.reports.viewer.guard import is_loopback

    if not is_loopback(host) and not (allow_remote and token):
        raise UsageError(
            f"The viewer would be open to others at {host}.",
            f"Give --allow-remote and a token (--token, or {TOKEN} in the environment), "
            "or leave --host out.",
        )
    if token and not re.fullmatch(rf"[A-Za-z0-9._~-]{{{SHORTEST},}}", token):
        raise UsageError(
            "The token is too short or has characters that do not fit into an address.",
            f"Give at least {SHORTEST} letters, digits, '-' or '_', for example from: "
            "python -c 'import secrets; print(secrets.token_urlsafe())'",
        )
    return token


def listen(host: str, port: int, what: str = "The viewer") -> socket.socket:
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

    And it holds no more connections than the process can: a new one beyond that is closed at once.
    """
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Impatient(H11Protocol):  # type: ignore[misc]
        _deadline: TimerHandle | None = None

        def connection_made(self, transport: Transport) -> None:
            super().connection_made(transport)
            if len(self.connections) > CONNECTIONS:
                transport.abort()
                return
            self._wait()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._wait()

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            if self._deadline:
                self._deadline.cancel()

        def _wait(self) -> None:
            if self._deadline:
                self._deadline.cancel()
            self._deadline = self.loop.call_later(PATIENCE, self._cut)

        def _cut(self) -> None:
            answering = self.cycle is not None and not self.cycle.response_complete
            if not answering:
                self.transport.abort()

    return Impatient
