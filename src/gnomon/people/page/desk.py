"""One person at work: which item is next, under which opaque id, and what was said before.

All that touches the disk is done by one thread for each person: SQLite wants that, and it keeps a
person's answers in order.
"""

from __future__ import annotations

import asyncio
import hmac
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from hashlib import sha256
from itertools import chain
from typing import NamedTuple, TypeVar

import msgspec

from gnomon.people.answering import PersonRun
from gnomon.people.extras import Extra
from gnomon.people.links import Link, hash_of, matches, new_secret, opaque, write_link
from gnomon.people.order import Slot
from gnomon.people.questions import ResponseError

LONGEST = 3600.0  # seconds on one item that are believed
T = TypeVar("T")


class Sent(NamedTuple):
    """A response as the browser sent it."""

    response: Mapping[str, str]
    skipped: str = ""
    comment: str = ""
    seconds: float | None = None


class Desk:
    """A person with a run and a link."""

    def __init__(self, run: PersonRun, link: Link, thread: ThreadPoolExecutor) -> None:
        self.run = run
        self.link = link
        self._thread = thread
        self._ids = [opaque(link.salt, slot.key) for slot in run.slots]
        self._places = {name: place for place, name in enumerate(self._ids)}
        self._shown: dict[int, float] = {}
        self.saving = asyncio.Lock()  # a form that is sent twice at once is still one

    @property
    def total(self) -> int:
        """How many items the person meets, with repeats and catch items."""
        return len(self._ids)

    @property
    def done(self) -> int:
        """How many have a response; a skipped one has."""
        return len(self.run.given)

    def id_at(self, place: int) -> str:
        """The opaque id of the item at a place."""
        return self._ids[place]

    def place_of(self, name: str) -> int | None:
        """The place of an opaque id; none if it is not one of this person's."""
        return self._places.get(name)

    def slot_at(self, place: int) -> Slot:
        """What is asked at a place."""
        return self.run.slots[place]

    def said_at(self, place: int) -> Extra | None:
        """The last response at a place."""
        return self.run.given.get(self.run.slots[place].key)

    def next_place(self, after: int = -1) -> int | None:
        """The first place without a response, after a place or else at all; none if all have."""
        for place in chain(range(after + 1, self.total), range(after + 1)):
            if self.said_at(place) is None:
                return place
        return None

    def skipped_places(self) -> list[int]:
        """The places that were skipped."""
        found = []
        for place in range(self.total):
            said = self.said_at(place)
            if said is not None and said.skipped:
                found.append(place)
        return found

    def show(self, place: int) -> None:
        """Note that the item is being shown from now on."""
        self._shown[place] = time.monotonic()

    def knows(self, secret: str) -> bool:
        """Whether a cookie is that of the present session."""
        return matches(secret, self.link.session)

    def form_token(self, secret: str, place: int) -> str:
        """What a form must carry: it fits one session, one item and what was last said to it."""
        said = self.said_at(place)
        state = said.at.isoformat() if said and said.at else ""
        text = f"{self._ids[place]} {state}"
        return hmac.new(secret.encode(), text.encode(), sha256).hexdigest()

    async def begin_session(self) -> str:
        """Begin a session, which ends the one before; gives the secret of its cookie."""
        secret = new_secret()
        link = msgspec.structs.replace(self.link, session=hash_of(secret))
        await self._in_thread(partial(write_link, self.run.folder, link))
        self.link = link
        return secret

    async def save(self, place: int, sent: Sent) -> Extra:
        """Keep a response: when this returns, it is on disk."""
        seconds = self._seconds(place, sent.seconds)
        keep = partial(
            self.run.keep,
            self.run.slots[place],
            sent.response,
            skipped=sent.skipped,
            comment=sent.comment,
            seconds=seconds,
        )
        return await self._in_thread(keep)

    def is_repeated(self, place: int, sent: Sent) -> bool:
        """Whether just this was said last: a form that was sent twice."""
        said = self.said_at(place)
        if said is None:
            return False
        if (said.skipped, said.comment) != (sent.skipped, sent.comment):
            return False
        return bool(sent.skipped) or self._is_same_response(place, said, sent)

    def _is_same_response(self, place: int, said: Extra, sent: Sent) -> bool:
        try:
            return said.response == self.run.checked(self.run.slots[place], sent.response)
        except ResponseError:
            return False

    def close(self) -> None:
        """Close the run."""
        self._thread.submit(self.run.close).result()

    def _seconds(self, place: int, told: float | None) -> float | None:
        """Time on an item: as the browser counts it, but no longer than since it was shown."""
        shown = self._shown.get(place)
        limit = LONGEST if shown is None else min(LONGEST, time.monotonic() - shown)
        if told is None or not told >= 0:
            return None if shown is None else round(limit, 1)
        return round(min(told, limit), 1)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)
