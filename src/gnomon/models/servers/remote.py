"""A server asked over HTTP: many requests at once but not too many, patient with faults, within a
budget, discreet.

A fault that may pass (busy, broken connection, garbled reply) is tried again, as long as the server
says or doubling; one that will not (key refused, model unknown, server gone, budget spent) is a
ModelError. The key never leaves the request's header: every text that could reach a log or an error
goes through `discreet`.
"""

from __future__ import annotations

import asyncio
import os
import random
import re
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from threading import Thread
from typing import Any, TypeVar

import msgspec

from gnomon.errors import MissingExtraError, ModelError

BUSY = frozenset(
    {408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529}
)  # worth another attempt
REPLY_LIMIT = 16 * 2**20  # bytes of one reply
FIRST_PAUSE, LONGEST_PAUSE = (
    1.0,
    60.0,
)  # seconds before another attempt, at most: doubling from one to the other
_KEY_LIKE = re.compile(r"\b(?:sk|pk|key|Bearer)[-_ ][A-Za-z0-9*_-]{6,}")
T = TypeVar("T")


class AskError(Exception):
    """This request failed for good: the reason is recorded for its item, and the others go on."""


class RejectedError(AskError):
    """The server understood the request and will not have it (400, 422): another try is of no use,
    a change may be."""


class _PassingError(Exception):
    """A fault that may pass. `pause` is how long the server asks to wait."""

    def __init__(
        self, reason: str, *, pause: float | None = None, unreachable: bool = False
    ) -> None:
        super().__init__(reason)
        self.pause, self.unreachable = pause, unreachable


@dataclass
class Budget:
    """What may be spent and what has been: tokens, and money by the million tokens read and
    written."""

    price_input: float = 0.0
    price_output: float = 0.0
    max_cost: float | None = None
    max_tokens: int | None = None
    cost: float = 0.0
    tokens: int = 0

    def reserve(self, read: int, written: int) -> None:
        """Set aside what a request may cost at most, or say that the budget is spent."""
        cost = self._cost(read, written)
        if self.max_cost is not None and self.cost + cost > self.max_cost:
            raise ModelError(
                f"The budget is spent: {self.cost:.4f} of {self.max_cost:g}, and the next request may cost {cost:.4f}.",
                "What was answered is kept. Give the command again to spend as much again, or a larger --max-cost.",
            )
        if self.max_tokens is not None and self.tokens + read + written > self.max_tokens:
            raise ModelError(
                f"The budget is spent: {self.tokens:,} of {self.max_tokens:,} tokens.",
                "What was answered is kept. Give the command again to spend as much again, or a larger budget_tokens.",
            )
        self.cost += cost
        self.tokens += read + written

    def settle(self, reserved: tuple[int, int], used: tuple[int, int]) -> None:
        """Replace what was set aside by what was used."""
        self.cost += self._cost(*used) - self._cost(*reserved)
        self.tokens += sum(used) - sum(reserved)

    def _cost(self, read: int, written: int) -> float:
        return (read * self.price_input + written * self.price_output) / 1e6


class Remote:
    """One server. Its requests run on a loop of their own thread, so that notebooks can use it as
    well as scripts."""

    def __init__(
        self,
        base_url: str,
        *,
        key_env: str,
        concurrency: int,
        attempts: int,
        timeout: float,
        wait: Callable[[float], Awaitable[Any]] = asyncio.sleep,
    ) -> None:
        try:
            import httpx
        except ImportError:
            raise MissingExtraError("A model behind a server", "openai") from None

        self.base_url, self.key_env = base_url.rstrip("/"), key_env
        self.attempts, self.timeout, self._wait = attempts, timeout, wait
        self._key = os.environ.get(key_env, "")
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        limits = httpx.Limits(max_connections=concurrency, max_keepalive_connections=concurrency)
        self._httpx: Any = httpx
        self._client = httpx.AsyncClient(
            headers=headers, limits=limits, timeout=timeout, follow_redirects=False
        )
        self.slots = asyncio.Semaphore(concurrency)
        self.ended: ModelError | None = (
            None  # why nothing more is to be sent; what is under way still arrives
        )
        self._reached = False  # has it ever answered?
        self._hold = 0.0  # loop time before which the server wants no request
        self._loop = asyncio.new_event_loop()
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
        """Close all connections. A second call does nothing."""
        if self._loop.is_closed():
            return
        if self._thread.is_alive():
            self.run(self._client.aclose())
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
        self._loop.close()

    def discreet(self, text: str) -> str:
        """A text without the key, nor anything that looks like one, nor the password of an
        address."""
        if self._key:
            text = text.replace(self._key, "[key]")
        return re.sub(r"//[^/@\s]*@", "//", _KEY_LIKE.sub("[key]", text))

    async def post(self, path: str, body: dict[str, Any], check: Callable[[Any], str]) -> Any:
        """The reply to one request as JSON. `check` says what is wrong with a reply, or nothing.

        It takes at most `attempts` times a pause of LONGEST_PAUSE and a reply of `timeout` seconds,
        whatever is said. To be called with one of `slots` held, also while it waits: a server in
        trouble is asked less.
        """
        trouble = _PassingError("it was never tried")
        for attempt in range(self.attempts):
            if self.ended:
                raise self.ended
            pauses = (
                self._delay(trouble, attempt) if attempt else 0.0,
                self._hold - self._loop.time(),
            )
            if max(pauses) > 0:
                await self._wait(max(pauses))
            try:
                async with asyncio.timeout(self.timeout):  # a reply that drips in is cut off too
                    reply = await self._post_once(path, body)
            except TimeoutError:
                trouble = _PassingError(f"no whole reply within {self.timeout:g} s")
            except _PassingError as error:
                trouble = error
                if error.unreachable and attempt and not self._reached:
                    break  # no server there, rather than one in trouble
                if error.pause:
                    self._hold = max(self._hold, self._loop.time() + error.pause)
            else:
                if not (problem := check(reply)):
                    return reply
                trouble = _PassingError(problem)
        if trouble.unreachable:
            raise ModelError(
                f"{self.discreet(self.base_url)} cannot be reached: {self.discreet(str(trouble))}.",
                "Is the server up and the address right? Give it with --base-url.",
            )
        raise AskError(f"{self.discreet(str(trouble))} ({self.attempts} attempts)")

    async def _post_once(self, path: str, body: dict[str, Any]) -> Any:
        httpx = self._httpx
        try:
            async with self._client.stream("POST", f"{self.base_url}{path}", json=body) as response:
                raw = bytearray()
                async for block in response.aiter_bytes():
                    raw += block
                    if len(raw) > REPLY_LIMIT:
                        raise AskError(f"the reply is larger than {REPLY_LIMIT // 2**20} MB")
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise _PassingError(str(error) or "no connection", unreachable=True) from None
        except (httpx.TransportError, httpx.DecodingError) as error:
            raise _PassingError(f"the connection broke: {type(error).__name__}") from None
        self._reached = True
        if response.status_code != 200:
            raise self._refusal(response.status_code, response.headers, bytes(raw))
        try:
            return msgspec.json.decode(bytes(raw))
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            raise _PassingError("the reply is not JSON") from None

    def _refusal(self, status: int, headers: Any, raw: bytes) -> Exception:
        said = self.discreet(_message(raw))
        if status in (401, 403):
            return ModelError(
                f"The server refuses the key ({status}): {said}.",
                f"Put a valid key into the environment variable {self.key_env}.",
            )
        if status == 404:
            return ModelError(
                f"The server knows no such model or address (404): {said}.",
                "Check the model's name and --base-url (it usually ends in /v1).",
            )
        if status == 402 or (
            status == 429 and "insufficient_quota" in raw.decode("utf-8", "replace")
        ):
            return ModelError(
                f"The account has no money left ({status}): {said}.",
                "What was answered is kept: give the same command once it has.",
            )
        if status in BUSY:
            return _PassingError(
                f"the server answered {status}: {said}",
                pause=retry_after(headers.get("retry-after")),
            )
        kind = RejectedError if status in (400, 413, 422) else AskError
        return kind(f"the server answered {status}: {said}")

    def _delay(self, trouble: _PassingError, attempt: int) -> float:
        """As long as the server says; else doubling, more or less of it so that not all come back
        at once."""
        if trouble.pause is not None:
            return trouble.pause
        return float(min(FIRST_PAUSE * 2 ** (attempt - 1), LONGEST_PAUSE)) * random.uniform(
            0.5, 1.0
        )


def retry_after(value: str | None) -> float | None:
    """Seconds that a Retry-After header asks for: a number, or a date; none if it says neither.

    >>> retry_after("1.5"), retry_after("soon"), retry_after("Thu, 01 Jan 1970 00:00:00 GMT")
    (1.5, None, 0.0)
    """
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = _seconds_until(value)
        except (ValueError, TypeError):
            return None
    return min(max(seconds, 0.0), LONGEST_PAUSE) if seconds == seconds else None


def _seconds_until(date: str) -> float:
    from datetime import UTC, datetime

    then = parsedate_to_datetime(date)
    return (then - datetime.now(then.tzinfo or UTC)).total_seconds()


def _message(raw: bytes) -> str:
    """What a server says went wrong, in at most 200 characters."""
    try:
        body = msgspec.json.decode(raw)
        found = body.get("error", body) if isinstance(body, dict) else body
        text = found.get("message", found) if isinstance(found, dict) else found
    except (msgspec.DecodeError, RecursionError):
        text = raw[:1000].decode("utf-8", "replace")
    return " ".join(str(text).split())[:200].rstrip(".") or "no reason given"
