"""The addresses of a run's servers: connections, secrets, and which of them is asked next.

The least busy of those that are not resting is asked. A server that fails is rested, for longer
each time, and then asked one thing to see whether it is well again. Meanwhile the others are asked.
"""

import asyncio
import logging
import random
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

from gnomon.errors import ModelError, UnencryptedWarning, importing
from gnomon.models.servers.refusals import LONGEST_PAUSE, AskError, PassingError
from gnomon.redaction import secrets_of
from gnomon.web import BoundedReply, PackedReplyError, ReplyError, is_loopback

KeyHeaders = Callable[[str], dict[str, str]]  # how a server wants its key
CONNECT = 10.0  # seconds at most for a connection; before the whole request's time is over


class Response(NamedTuple):
    """What a server sent, whatever its status."""

    status: int
    headers: Any
    raw: bytes


class RemoteServer:
    """One address, asked with a key if there is one."""

    def __init__(
        self,
        base_url: str,
        key: str,
        *,
        concurrency: int,
        timeout: float,
        key_headers: KeyHeaders,
    ) -> None:
        parts = urlsplit(base_url)
        self.base_url = base_url
        self.secrets = secrets_of(base_url, key)
        _check_encrypted(parts, key)
        headers = key_headers(key) if key else {}
        self._httpx, self._client = _client(parts, headers, concurrency, timeout)
        self.reached = False  # has it ever answered?
        self.unreachable = False  # was nobody there when it was last asked?
        self.hold = 0.0  # loop time before which it wants no request
        self.faults = 0  # rests in a row without a good reply between them
        self.under_way = 0  # requests
        self.asked = 0  # requests, in all

    async def exchange(self, path: str, body: dict[str, Any], room: int) -> Response:
        """Send one request, and read a reply of at most so many bytes."""
        httpx = self._httpx
        address = address_of(self.base_url, path)
        try:
            async with self._client.stream("POST", address, json=body) as response:
                reply = BoundedReply(response.headers, room)
                async for block in response.aiter_raw():
                    reply.add(block)
        except PackedReplyError as error:
            raise ModelError(error.message, error.hint) from None
        except ReplyError as error:
            raise AskError(error.message.rstrip(".")) from None
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            self.unreachable = True
            raise PassingError(str(error) or "no connection", unreachable=True) from None
        except httpx.TransportError as error:
            raise PassingError(f"the connection broke: {type(error).__name__}") from None
        self.reached, self.unreachable = True, False
        return Response(response.status_code, response.headers, bytes(reply.content))

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()


def address_of(base_url: str, path: str) -> str:
    """Where a request goes: the path stands before the query, and nobody's password is in it.

    >>> address_of("https://me:secret@example.org/v1/?version=2", "/completions")
    'https://example.org/v1/completions?version=2'
    """
    parts = urlsplit(base_url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path.rstrip("/") + path, parts.query, ""))


def bearer(key: str) -> dict[str, str]:
    """How most servers want a key."""
    return {"Authorization": f"Bearer {key}"}


def _client(
    parts: SplitResult, key_headers: dict[str, str], concurrency: int, timeout: float
) -> tuple[Any, Any]:
    """The library, and a client of it that sends the key, or user and password of the address."""
    with importing("A model behind a server", "openai"):
        import httpx
    # at INFO it would write every address down, with the keys in its query
    logging.getLogger("httpx").setLevel(logging.WARNING)
    headers = {"Accept-Encoding": "identity"}
    login = None
    if parts.username:
        login = httpx.BasicAuth(unquote(parts.username), unquote(parts.password or ""))
    else:
        headers |= key_headers
    limits = httpx.Limits(max_connections=concurrency, max_keepalive_connections=concurrency)
    patience = httpx.Timeout(timeout, connect=min(CONNECT, timeout / 2))
    client = httpx.AsyncClient(
        headers=headers, auth=login, limits=limits, timeout=patience, follow_redirects=False
    )
    return httpx, client


def _check_encrypted(parts: SplitResult, key: str) -> None:
    """Warn if a key or password would go over the network for all to read."""
    secret = key or parts.password or parts.username or parts.query
    if parts.scheme == "http" and secret and not is_loopback(parts.hostname or ""):
        warnings.warn(
            f"The key goes to {parts.hostname} unencrypted (http). Use https if the server can.",
            UnencryptedWarning,
            stacklevel=2,
        )


# --- which of several servers is asked next: the least busy of those that are not resting --------


class ServerPool:
    """Servers that answer alike. Each has at most `most` requests at a time."""

    def __init__(
        self, servers: Sequence[RemoteServer], most: int, clock: Callable[[], float]
    ) -> None:
        self.servers = tuple(servers)
        self._most = most
        self._clock = clock
        self._changed = asyncio.Event()  # a request came to its end

    @property
    def is_one(self) -> bool:
        """Whether there is nobody else to ask."""
        return len(self.servers) == 1

    @property
    def none_reached(self) -> bool:
        """Whether nobody has ever answered."""
        return not any(server.reached for server in self.servers)

    @property
    def all_gone(self) -> bool:
        """Whether nobody was there when each was last asked."""
        return all(server.unreachable for server in self.servers)

    async def choose(self) -> RemoteServer:
        """The server to ask; waits until one is free and rested."""
        if self.is_one:
            return self.servers[0]
        while True:
            now = self._clock()
            rests = [server.hold - now for server in self.servers if server.hold > now]
            ready = []
            for server in self.servers:
                most = 1 if server.faults else self._most  # one sees whether it is well again
                if server.hold <= now and server.under_way < most:
                    ready.append(server)
            if ready:
                return min(ready, key=lambda server: (server.under_way, server.asked))
            self._changed.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), min(rests, default=None))

    @contextmanager
    def asking(self, server: RemoteServer) -> Iterator[None]:
        """Count a request while it is under way."""
        server.under_way += 1
        server.asked += 1
        try:
            yield
        finally:
            server.under_way -= 1
            self._changed.set()

    def rest(self, server: RemoteServer, trouble: PassingError, first_pause: float) -> None:
        """Leave a server alone for as long as it asks, or else longer each time that it fails.

        What was under way when it began to fail does not count again.
        """
        now = self._clock()
        if self.is_one:  # then each request waits by itself: see Remote
            seconds = trouble.pause or 0.0
        elif now < server.hold:
            return
        else:
            server.faults += 1
            doubled = min(first_pause * 2 ** min(server.faults - 1, 30), LONGEST_PAUSE)
            seconds = doubled * random.uniform(0.5, 1.0) if trouble.pause is None else trouble.pause
        if seconds:
            server.hold = max(server.hold, now + seconds)
