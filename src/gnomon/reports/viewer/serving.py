"""Starting the viewer: where it listens, and who may come in."""

import os
import re
from collections.abc import Callable

from gnomon.errors import UsageError, importing
from gnomon.web import address_of, is_loopback, listen, server_of

TOKEN = "GNOMON_VIEW_TOKEN"  # noqa: S105 - the name of an environment variable
SHORTEST = 16  # characters of a token


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
    listener = listen(host, port, "The viewer")
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


def checked(host: str, *, allow_remote: bool, token: str) -> str:
    """The token to ask for. A token that is given is required, on this machine as beyond.

    >>> checked("127.0.0.1", allow_remote=False, token="")
    ''
    """
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
