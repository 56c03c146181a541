"""Starting the page: where it listens, and what links people are given."""

from __future__ import annotations

import socket
from collections.abc import Callable
from importlib import import_module
from typing import NamedTuple
from urllib.parse import urlsplit

from gnomon.errors import UsageError, importing
from gnomon.people.page.study import Study
from gnomon.web import address_of, is_loopback, listen, server_of

EVERYWHERE = ("", "0.0.0.0", "::")  # noqa: S104 - hosts that nobody can open as such


class Where(NamedTuple):
    """Where the page listens, and at which address people reach it."""

    host: str = "127.0.0.1"
    port: int = 8766
    allow_remote: bool = False
    address: str = ""  # as people write it, where a server of the lab stands before this one


def check_where(where: Where) -> None:
    """Refuse to listen beyond this machine without being told to."""
    _check_installed()

    if not is_loopback(where.host) and not where.allow_remote:
        raise UsageError(
            f"The page would be open to others at {where.host}.",
            "Give --allow-remote as well, or leave --host out.",
        )
    if where.address:
        _check_address(where.address)


def _check_address(address: str) -> None:
    """An address of people is a scheme and a host: pages stand at the top, not below a path."""
    example = "For example: --address https://lab.example"
    try:
        parts = urlsplit(address)
        host = parts.hostname if parts.port != 0 else None
    except ValueError:
        raise UsageError(f"'{address}' is not an address.", example) from None
    if parts.scheme not in ("http", "https") or not host or "@" in parts.netloc:
        raise UsageError(f"'{address}' is not an address.", example)
    if parts.path.strip("/") or parts.query or parts.fragment:
        raise UsageError(
            f"The page cannot stand below a path: '{address}'.",
            f"Give it a host or a port of its own. {example}",
        )


def _check_installed() -> None:
    for name in ("jinja2", "starlette", "uvicorn"):
        with importing("The page for people", "people"):
            import_module(name)


def serve(study: Study, where: Where, ready: Callable[[str], None]) -> None:
    """Serve until interrupted, and close the study.

    `ready` is told the address once the page listens, before anybody is let in: links that are made
    then can be used.
    """
    try:
        check_where(where)
        from gnomon.people.page.app import make_app

        with listen(where.host, where.port, "The page") as listener:
            ready(where.address.rstrip("/") or address_of(_host_name(where.host), listener))
            app = make_app(study, remote=where.allow_remote, address=where.address)
            server_of(app, keep_alive=30).run(sockets=[listener])
    finally:
        study.close()


def _host_name(host: str) -> str:
    """The host as others can reach it: where it listens everywhere, this machine's name."""
    return socket.gethostname() if host in EVERYWHERE else host
