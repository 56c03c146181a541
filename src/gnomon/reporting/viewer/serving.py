"""Starting the viewer: where it listens, and under which conditions it may listen beyond this
machine."""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Callable

from gnomon.errors import MissingExtraError, UsageError

TOKEN = "GNOMON_VIEW_TOKEN"  # noqa: S105 - the name of an environment variable
SHORTEST = 16


def serve(
    folder: str,
    *,
    host: str = "127.0.0.1",
    port: int = 8765,
    allow_remote: bool = False,
    token: str = "",
    ready: Callable[[str], None] = print,
) -> None:
    """Serve until interrupted; `ready` is told the address."""
    token = checked(host, allow_remote=allow_remote, token=token or os.environ.get(TOKEN, ""))
    try:
        import uvicorn

        from gnomon.reporting.viewer.app import make_app
    except ImportError:
        raise MissingExtraError("The viewer", "report") from None
    listener = listen(host, port)
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{listener.getsockname()[1]}/"
    config = uvicorn.Config(
        make_app(folder, token),
        log_level="warning",
        access_log=False,
        server_header=False,
        lifespan="off",
    )
    ready(address + (f"?token={token}" if token else ""))
    uvicorn.Server(config).run(sockets=[listener])


def checked(host: str, *, allow_remote: bool, token: str) -> str:
    """The token to ask for: none on loopback, a good one beyond; refuse everything else.

    >>> checked("127.0.0.1", allow_remote=False, token="")
    ''
    """
    if is_loopback(host):
        return token if allow_remote else ""
    if not allow_remote or not token:
        raise UsageError(
            f"The viewer would be open to others at {host}.",
            f"Give --allow-remote and a token (--token, or {TOKEN} in the environment), or leave --host out.",
        )
    if len(token) < SHORTEST:
        raise UsageError(
            f"The token has {len(token)} characters.",
            f"Give at least {SHORTEST}, for example from: python -c 'import secrets; print(secrets.token_urlsafe())'",
        )
    return token


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the host.

    >>> is_loopback("localhost"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 takes a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
    except (OSError, OverflowError) as error:
        listener.close()
        raise UsageError(
            f"The viewer cannot listen at {host}, port {port}: {getattr(error, 'strerror', '') or error}.",
            "Give another port with --port; 0 takes a free one.",
        ) from None
    listener.listen(128)
    return listener
