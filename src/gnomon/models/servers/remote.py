"""A server asked over HTTP: many requests at once, patient with faults, within a budget, discreet.

A fault that may pass (busy, broken connection, garbled reply) is tried again, as long as the server
says or doubling; one that will not (key refused, model unknown, server gone, budget spent) is a
ModelError. Keys and passwords are in the request and nowhere else.
"""

from __future__ import annotations

import asyncio
import logging
import os
import random
import warnings
from collections.abc import Awaitable, Callable, Coroutine
from ipaddress import ip_address
from threading import Thread
from typing import Any, NamedTuple, Protocol, TypeVar
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

from gnomon.errors import GnomonError, MissingExtraError, ModelError, UnencryptedWarning
from gnomon.models.servers.budget import FREE, Budget, Tokens
from gnomon.models.servers.completions import MalformedError
from gnomon.models.servers.pictures import pictures_in
from gnomon.models.servers.refusals import (
    LONGEST_PAUSE,
    AskError,
    PassingError,
    plain_line,
    refusal,
)
from gnomon.models.servers.requests import check_positive
from gnomon.redaction import redact_url, secrets_of

FIRST_PAUSE = 1.0  # seconds before the second attempt; then doubling
REPLY_ROOM = 4 * 2**20  # bytes of one reply, and more for each token that was asked for:
TOKEN_ROOM = 4 * 2**10  # a token comes with the alternatives to it
T = TypeVar("T")


class Used(Protocol):
    """What is kept of a reply: anything that says how many tokens it used."""

    @property
    def used(self) -> Tokens:
        """Tokens that the server counts."""
        ...


Kept = TypeVar("Kept", bound=Used)


class _Response(NamedTuple):
    status: int
    headers: Any
    raw: bytes


class Remote:
    """One server.

    Its requests run on a loop in a thread of their own, so that notebooks can use it too.
    """

    def __init__(
        self,
        base_url: str,
        key_env: str,
        budget: Budget,
        *,
        concurrency: int,
        attempts: int,
        timeout: float,
        wait: Callable[[float], Awaitable[Any]] = asyncio.sleep,
    ) -> None:
        check_positive("concurrency", concurrency)
        check_positive("attempts", attempts)
        check_positive("timeout", timeout)
        self.base_url = base_url
        self.key_env = key_env
        self.attempts = attempts
        self.timeout = timeout
        self.budget = budget
        self._wait = wait
        key = os.environ.get(key_env, "")
        parts = urlsplit(base_url)
        self.secrets = secrets_of(base_url, key)
        _check_encrypted(parts, key)
        self._httpx, self._client = _client(parts, key, concurrency, timeout)
        self.slots = asyncio.Semaphore(concurrency)
        self.ended: GnomonError | None = None  # why nothing more is sent; what is under way arrives
        self._reached = False  # has it ever answered?
        self._hold = 0.0  # loop time before which the server wants no request
        self._loop = asyncio.new_event_loop()
        # what is cancelled or arrives too late is nobody's concern, least of all stderr's
        self._loop.set_exception_handler(lambda loop, context: None)
        self._thread = Thread(target=self._loop.run_forever, name="gnomon-remote", daemon=True)

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
        await self._client.aclose()
        await self._loop.shutdown_asyncgens()

    async def post(
        self,
        path: str,
        body: dict[str, Any],
        most: Tokens,
        parse: Callable[[bytes], Kept],
        *,
        room: int = 0,
    ) -> Kept:
        """What is kept of the reply to one request, which may use at most so many tokens.

        The reply may have `room` bytes, or else as many as so many tokens may need.

        It takes at most `attempts` times a pause of LONGEST_PAUSE and a reply of `timeout` seconds,
        whatever is said. To be called with one of `slots` held, also while it waits: a server in
        trouble is asked less.
        """
        trouble = PassingError("it was never tried")
        for attempt in range(self.attempts):
            await self._pause(trouble, attempt)
            try:
                return await self._try(path, body, most, parse, room)
            except PassingError as error:
                trouble = error
            if trouble.unreachable and attempt and not self._reached:
                break  # no server there, rather than one in trouble
            if trouble.pause:
                self._hold = max(self._hold, self._loop.time() + trouble.pause)
        reason = plain_line(str(trouble), self.secrets)
        if trouble.unreachable:
            raise ModelError(
                f"{redact_url(self.base_url)} cannot be reached: {reason}.",
                "Start the server, or give its address with --base-url.",
            )
        raise AskError(f"{reason} ({self.attempts} attempts)")

    async def _pause(self, trouble: PassingError, attempt: int) -> None:
        """Wait as long as the server asked anybody to; else doubling, spread out a little."""
        seconds = self._hold - self._loop.time()
        if attempt and trouble.pause is not None:
            seconds = max(seconds, trouble.pause)
        elif attempt:
            doubled = min(FIRST_PAUSE * 2 ** (attempt - 1), LONGEST_PAUSE)
            seconds = max(seconds, doubled * random.uniform(0.5, 1.0))
        if seconds > 0:
            await self._wait(seconds)

    async def _try(
        self,
        path: str,
        body: dict[str, Any],
        most: Tokens,
        parse: Callable[[bytes], Kept],
        room: int,
    ) -> Kept:
        """One attempt. It counts in full unless the server refused it or says what it used."""
        if self.ended:
            raise self.ended
        self.budget.reserve(most)
        used = most
        try:
            async with asyncio.timeout(self.timeout):  # a reply that drips in is cut off too
                response = await self._exchange(
                    path, body, room or REPLY_ROOM + most.written * TOKEN_ROOM
                )
            if response.status != 200:
                used = FREE
                raise refusal(
                    *response,
                    secrets=self.secrets,
                    key_env=self.key_env,
                    pictures=pictures_in(body),
                )
            completion = parse(response.raw)
            used = completion.used
        except TimeoutError:
            raise PassingError(f"no whole reply within {self.timeout:g} s") from None
        except MalformedError as error:
            raise PassingError(str(error)) from None
        except PassingError as error:
            if error.unreachable:
                used = FREE
            raise
        else:
            return completion
        finally:
            self.budget.settle(most, used)

    async def _exchange(self, path: str, body: dict[str, Any], room: int) -> _Response:
        httpx = self._httpx
        address = address_of(self.base_url, path)
        try:
            async with self._client.stream("POST", address, json=body) as response:
                _check_encoding(response.headers)
                raw = bytearray()
                async for block in response.aiter_raw():
                    raw += block
                    if len(raw) > room:
                        raise AskError(f"the reply is larger than {room // 2**20} MB")
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise PassingError(str(error) or "no connection", unreachable=True) from None
        except httpx.TransportError as error:
            raise PassingError(f"the connection broke: {type(error).__name__}") from None
        self._reached = True
        return _Response(response.status_code, response.headers, bytes(raw))


def address_of(base_url: str, path: str) -> str:
    """Where a request goes: the path stands before the query, and nobody's password is in it.

    >>> address_of("https://me:secret@example.org/v1/?version=2", "/completions")
    'https://example.org/v1/completions?version=2'
    """
    parts = urlsplit(base_url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path.rstrip("/") + path, parts.query, ""))


def _client(parts: SplitResult, key: str, concurrency: int, timeout: float) -> tuple[Any, Any]:
    """The library, and a client of it that sends the key, or user and password of the address."""
    try:
        import httpx
    except ImportError:
        raise MissingExtraError("A model behind a server", "openai") from None
    # at INFO it would write every address down, with the keys in its query
    logging.getLogger("httpx").setLevel(logging.WARNING)
    headers = {"Accept-Encoding": "identity"}
    login = None
    if parts.username:
        login = httpx.BasicAuth(unquote(parts.username), unquote(parts.password or ""))
    elif key:
        headers["Authorization"] = f"Bearer {key}"
    limits = httpx.Limits(max_connections=concurrency, max_keepalive_connections=concurrency)
    client = httpx.AsyncClient(
        headers=headers, auth=login, limits=limits, timeout=timeout, follow_redirects=False
    )
    return httpx, client


def _check_encoding(headers: Any) -> None:
    """Refuse a compressed reply, which was not asked for: a kilobyte may unpack to gigabytes."""
    encoding = headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("", "identity"):
        raise ModelError(
            f"The server compresses its replies ({plain_line(encoding, ())}), although it was "
            "asked not to.",
            "Switch compression off in the server, or in the proxy before it.",
        )


def _check_encrypted(parts: SplitResult, key: str) -> None:
    """Warn if a key or password would go over the network for all to read."""
    secret = key or parts.password or parts.username or parts.query
    if parts.scheme == "http" and secret and not _is_loopback(parts.hostname or ""):
        warnings.warn(
            f"The key goes to {parts.hostname} unencrypted (http). Use https if the server can.",
            UnencryptedWarning,
            stacklevel=2,
        )


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
