"""Requests to servers: which one is asked, how often, and what is tried again.

A fault that may pass (busy, broken connection, garbled reply) is tried again, as long as the server
says or doubling, or at another server if there are several; one that will not (key refused, model
unknown, all servers gone, budget spent) is a ModelError. Keys and passwords are in the request and
nowhere else.
"""

import asyncio
import logging
import os
import random
import warnings
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from threading import Thread
from typing import Any, Generic, NamedTuple, Protocol, TypeVar
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

from gnomon.errors import GnomonError, ModelError, UnencryptedWarning, importing
from gnomon.models.servers import refusals
from gnomon.models.servers.protocol import FREE, Budget, MalformedError, Tokens, check_positive
from gnomon.models.servers.refusals import LONGEST_PAUSE, AskError, PassingError
from gnomon.redaction import redact_url, secrets_of
from gnomon.web import BoundedReply, PackedReplyError, ReplyError, is_loopback

# The addresses of a run's servers: connections, secrets, and which of them is asked next.
#
# The least busy of those that are not resting is asked. A server that fails is rested, for longer
# each time, and then asked one thing to see whether it is well again. Meanwhile the others are
# asked.


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


FIRST_PAUSE = 1.0  # seconds before the second attempt; then doubling
REPLY_ROOM = 4 * 2**20  # bytes of one reply, and more for each token that was asked for:
TOKEN_ROOM = 4 * 2**10  # a token comes with the alternatives to it
T = TypeVar("T")


class Used(Protocol):
    """What is kept of a reply: anything that says how many tokens it used."""

    @property
    def used(self) -> Tokens:
        """Tokens that the server counts."""


Kept = TypeVar("Kept", bound=Used)


class Replied(NamedTuple, Generic[Kept]):
    """What is kept of a reply, and the address of the server that gave it."""

    kept: Kept
    base_url: str


class Outgoing(NamedTuple, Generic[Kept]):
    """One request: where it goes, what it says, and how its reply is read."""

    path: str
    body: dict[str, Any]
    most: Tokens  # that it may use
    parse: Callable[[bytes], Kept]
    room: int = 0  # bytes of the reply; 0: as many as so many tokens may need
    pictures: Sequence[str] = ()  # that the body holds, and nothing else may


class Remote:
    """One server, or several that answer alike.

    Requests run on a loop in a thread of their own, so that notebooks can use it too.
    """

    def __init__(
        self,
        addresses: Sequence[str],
        key_env: str,
        budget: Budget,
        *,
        concurrency: int,
        attempts: int,
        timeout: float,
        key_headers: KeyHeaders = bearer,
        wait: Callable[[float], Awaitable[Any]] = asyncio.sleep,
    ) -> None:
        check_positive("concurrency", concurrency)
        check_positive("attempts", attempts)
        check_positive("timeout", timeout)
        self.addresses = tuple(addresses)
        self.key_env = key_env
        self.attempts = attempts
        self.timeout = timeout
        self.budget = budget
        self._wait = wait
        key = os.environ.get(key_env, "")
        how: dict[str, Any] = {"concurrency": concurrency, "timeout": timeout}
        servers = []
        for address in addresses:
            servers.append(RemoteServer(address, key, key_headers=key_headers, **how))
        self.secrets = tuple(dict.fromkeys(chain.from_iterable(each.secrets for each in servers)))
        self.slots = asyncio.Semaphore(concurrency * len(servers))
        self.ended: GnomonError | None = None  # why nothing more is sent; what is under way arrives
        self._loop = asyncio.new_event_loop()
        self._pool = ServerPool(servers, concurrency, self._loop.time)
        # what is cancelled or arrives too late is nobody's concern, least of all stderr's
        self._loop.set_exception_handler(lambda loop, context: None)
        self._thread = Thread(target=self._loop.run_forever, name="gnomon-remote", daemon=True)

    def describe(self) -> str | list[str]:
        """The address, or all of them, as a manifest names them."""
        shown = [redact_url(address) for address in self.addresses]
        return shown[0] if len(shown) == 1 else shown

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Carry out asynchronous work and return its result; Ctrl-C cancels it."""
        if not self._thread.is_alive():
            self._thread.start()
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def close(self) -> None:
        """Give up what is under way and close all connections. A second call does nothing."""
        if self._loop.is_closed():
            return
        if self._thread.is_alive():
            self.run(self._wind_up())
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
        self._loop.close()

    async def _wind_up(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        for server in self._pool.servers:
            await server.close()
        await self._loop.shutdown_asyncgens()

    async def post(self, request: Outgoing[Kept]) -> Replied[Kept]:
        """What is kept of the reply to one request.

        It takes at most `attempts` times a pause of LONGEST_PAUSE and a reply of `timeout` seconds,
        whatever is said. To be called with one of `slots` held, also while it waits: a server in
        trouble is asked less.
        """
        trouble = refusals.PassingError("it was never tried")
        attempt = 0
        while attempt < self.attempts:
            server = await self._pool.choose()
            if self._pool.is_one:
                await self._pause(server, trouble, attempt)
            try:
                kept = await self._try(server, request)
            except refusals.PassingError as error:
                trouble = error
            else:
                server.faults = 0
                return Replied(kept, server.base_url)
            self._pool.rest(server, trouble, FIRST_PAUSE)
            if trouble.unreachable and not self._pool.all_gone:
                continue  # that cost nothing, and others are there
            attempt += 1
            if self._pool.none_reached and attempt > 1 and self._pool.all_gone:
                break  # no server there, rather than one in trouble
        raise self._given_up(trouble)

    def _given_up(self, trouble: refusals.PassingError) -> Exception:
        """The end of the run if nobody is there, else that of the request."""
        reason = refusals.plain_line(str(trouble), self.secrets)
        if not trouble.unreachable:
            return refusals.AskError(f"{reason} ({self.attempts} attempts)")
        shown = ", ".join(map(redact_url, self.addresses))
        which = shown if self._pool.is_one else f"None of {shown}"
        cannot = "cannot" if self._pool.is_one else "can"
        return ModelError(
            f"{which} {cannot} be reached: {reason}.",
            "Start the server, or give its address with --base-url.",
        )

    async def _pause(
        self, server: RemoteServer, trouble: refusals.PassingError, attempt: int
    ) -> None:
        """Wait as long as the server asked anybody to; else doubling, spread out a little."""
        seconds = server.hold - self._loop.time()
        if attempt and trouble.pause is not None:
            seconds = max(seconds, trouble.pause)
        elif attempt:
            doubled = min(FIRST_PAUSE * 2 ** (attempt - 1), refusals.LONGEST_PAUSE)
            seconds = max(seconds, doubled * random.uniform(0.5, 1.0))
        if seconds > 0:
            await self._wait(seconds)

    async def _try(self, server: RemoteServer, request: Outgoing[Kept]) -> Kept:
        """One attempt. It counts in full unless the server refused it or says what it used."""
        if self.ended:
            raise self.ended
        most = request.most
        self.budget.reserve(most)
        used = most
        room = request.room or REPLY_ROOM + most.written * TOKEN_ROOM
        try:
            with self._pool.asking(server):
                async with asyncio.timeout(self.timeout):  # a reply that drips in is cut off too
                    response = await self._exchange(server, request.path, request.body, room)
            if response.status != 200:
                used = FREE
                raise self._refusal(server, response, request.pictures)
            completion = request.parse(response.raw)
            used = completion.used
        except TimeoutError:
            raise refusals.PassingError(f"no whole reply within {self.timeout:g} s") from None
        except MalformedError as error:
            raise refusals.PassingError(str(error)) from None
        except refusals.PassingError as error:
            if error.unreachable:
                used = FREE
            raise
        else:
            return completion
        finally:
            self.budget.settle(most, used)

    async def _exchange(
        self, server: RemoteServer, path: str, body: dict[str, Any], room: int
    ) -> Response:
        return await server.exchange(path, body, room)

    def _refusal(
        self, server: RemoteServer, response: Response, pictures: Sequence[str]
    ) -> Exception:
        """The error that a status other than 200 stands for; of several servers it names the one.

        What ends a run ends it although others might answer: their user must know.
        """
        found = refusals.refusal(
            *response, secrets=self.secrets, key_env=self.key_env, pictures=pictures
        )
        if isinstance(found, ModelError) and not self._pool.is_one:
            return ModelError(f"{redact_url(server.base_url)}: {found.message}", found.hint)
        return found
