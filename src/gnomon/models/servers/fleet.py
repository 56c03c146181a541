"""Which of several servers is asked next: the least busy of those that are not resting.

A server that fails is rested, for longer each time, and then asked one thing to see whether it is
well again. Meanwhile the others are asked.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from gnomon.models.servers.refusals import LONGEST_PAUSE, PassingError
from gnomon.models.servers.server import RemoteServer


class Fleet:
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
            ready = [server for server in self.servers if self._is_ready(server, now)]
            if ready:
                return min(ready, key=lambda server: (server.under_way, server.asked))
            self._changed.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), self._until_rested(now))

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

    def _is_ready(self, server: RemoteServer, now: float) -> bool:
        if now < server.hold:
            return False
        most = 1 if server.faults else self._most  # one request sees whether it is well again
        return server.under_way < most

    def _until_rested(self, now: float) -> float | None:
        """Seconds until the first of those that rest is rested; none if none rests."""
        rests = [server.hold - now for server in self.servers if server.hold > now]
        return min(rests, default=None)
