"""Servers asked over HTTP: many requests at once, patient with faults, within a budget, discreet.

A fault that may pass (busy, broken connection, garbled reply) is tried again, as long as the server
says or doubling, or at another server if there are several; one that will not (key refused, model
unknown, all servers gone, budget spent) is a ModelError. Keys and passwords are in the request and
nowhere else.
"""

import asyncio
import os
import random
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from itertools import chain
from threading import Thread
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from gnomon.errors import GnomonError, ModelError
from gnomon.models.servers import refusals
from gnomon.models.servers.pool import KeyHeaders, RemoteServer, Response, ServerPool, bearer
from gnomon.models.servers.protocol import FREE, Budget, MalformedError, Tokens, check_positive
from gnomon.redaction import redact_url

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
