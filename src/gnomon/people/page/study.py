"""The people of a study: each with a run, a link and a page of their own."""

import asyncio
import hmac
import re
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from hashlib import sha256
from itertools import chain, cycle
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from gnomon.errors import GnomonError, RunError
from gnomon.people import answering, order
from gnomon.people.answering import AskedItems, PersonRun, PersonSettings, SentResponse
from gnomon.people.order import LINK, AskedSlot, Extra, Link
from gnomon.people.tasks import ResponseError
from gnomon.records import digest

# One person at work: which item is next, under which opaque id, and what was said before.
#
# All that touches the disk is done by one thread for each person: SQLite wants that, and it keeps
# a person's answers in order.


LONGEST = 3600.0  # seconds on one item that are believed
T = TypeVar("T")


class PersonDesk:
    """A person with a run and a link."""

    def __init__(self, run: PersonRun, link: Link, thread: ThreadPoolExecutor) -> None:
        self.run = run
        self.link = link
        self._thread = thread
        self._ids = [order.opaque(link.salt, slot.key) for slot in run.slots]
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

    @property
    def home(self) -> str:
        """The address of the page on which the person pauses."""
        return f"/p/{self.link.key}/"

    def address(self, place: int) -> str:
        """The address of the item at a place."""
        return f"{self.home}item/{self._ids[place]}"

    def address_after(self, place: int = -1) -> str:
        """Where the person goes on: the next item without a response, or the end."""
        following = self.next_place(place)
        return f"{self.home}done" if following is None else self.address(following)

    def slot_at(self, place: int) -> AskedSlot:
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
        skipped = {extra.slot for extra in self.run.given.values() if extra.skipped}
        return [place for place, slot in enumerate(self.run.slots) if slot.key in skipped]

    def show(self, place: int) -> None:
        """Note that the item is being shown from now on."""
        self._shown[place] = time.monotonic()

    def knows(self, secret: str) -> bool:
        """Whether a cookie is that of the present session."""
        return order.matches(secret, self.link.session)

    def form_token(self, secret: str, place: int) -> str:
        """What a form must carry: it fits one session, one item and what was last said to it."""
        said = self.said_at(place)
        state = said.at.isoformat() if said and said.at else ""
        text = f"{self._ids[place]} {state}"
        return hmac.new(secret.encode(), text.encode(), sha256).hexdigest()

    async def begin_session(self) -> str:
        """Begin a session, which ends the one before; gives the secret of its cookie."""
        secret = order.new_secret()
        link = msgspec.structs.replace(self.link, session=order.hash_of(secret))
        await self._in_thread(partial(order.write_link, self.run.folder, link))
        self.link = link
        return secret

    async def save(self, place: int, sent: SentResponse) -> Extra:
        """Keep a response: when this returns, it is on disk."""
        timed = sent._replace(seconds=self._seconds(place, sent.seconds))
        keep = partial(self.run.keep, self.run.slots[place], **timed._asdict())
        return await self._in_thread(keep)

    def is_repeated(self, place: int, sent: SentResponse) -> bool:
        """Whether just this was said last: a form that was sent twice."""
        said = self.said_at(place)
        if said is None or (said.skipped, said.comment) != (sent.skipped, sent.comment):
            return False
        try:
            checked = self.run.checked(self.run.slots[place], sent.response)
        except ResponseError:
            checked = {}
        return bool(sent.skipped) or said.response == checked

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


THREADS = 8  # that write; a person is always served by the same one
PARTICIPANT = re.compile(r"[A-Za-z0-9._-]{4,64}")


class KnownPanel(NamedTuple):
    """People whom a panel such as Prolific sends, with an id in the address."""

    parameter: str  # of the address that holds the id
    most: int  # people who are let in


def panel_name(participant: str) -> str:
    """The pseudonym of somebody whom a panel sends."""
    return f"panel-{digest(participant)}"


class FullError(GnomonError):
    """Enough people have come."""


class AnnotationStudy:
    """What is asked, and everybody who is asked."""

    def __init__(
        self,
        asked: AskedItems,
        settings: PersonSettings,
        runs: Path,
        *,
        completion: str = "",
        panel: KnownPanel | None = None,
        command: str = "",
    ) -> None:
        self.asked, self.settings, self.folder = asked, settings, runs
        self.completion, self.panel, self._command = completion, panel, command
        self._panel_token = ""  # its hash
        self._threads = [ThreadPoolExecutor(1) for _ in range(THREADS)]
        self._next_thread = cycle(self._threads)
        self._desks: dict[str, PersonDesk] = {}  # by key
        self._people: dict[str, PersonDesk] = {}  # by name
        self._joining = asyncio.Lock()

    def seat(self, people: Iterable[str], *, new_links: bool = False) -> dict[str, str]:
        """Open everybody's run; gives the tokens of new links, by name.

        Whoever has a link keeps it, and its token is not known any more.
        """
        # all are opened before anybody gets a link: one that cannot be would hide the others' links
        desks = {person: self._people.get(person) or self._open(person) for person in people}
        tokens: dict[str, str] = {}
        for person, desk in desks.items():
            if desk.link.token and not new_links:
                continue
            tokens[person] = order.new_secret()
            desk.link.token = order.hash_of(tokens[person])
            desk.link.session = ""
            order.write_link(desk.run.folder, desk.link)
        return tokens

    def open_panel(self, *, new_links: bool = False) -> str:
        """The token that all people of the panel share; empty if it was given out before.

        Whoever came before has their desk again.
        """
        for file in sorted(self.folder.glob(f"*/{LINK}")):  # whom the panel has sent so far
            before = order.read_link(file.parent)
            person = panel_name(before.participant) if before and before.participant else ""
            if person and self._folder_of(person) == file.parent:
                self._open(person)
        name = f"panel-{digest(self.asked.name, self.settings.task.kind)}.json"
        link = order.read_link(self.folder, name)
        token = ""
        if link is None or new_links:
            token = order.new_secret()
            link = msgspec.structs.replace(order.new_link(), token=order.hash_of(token))
            self.folder.mkdir(parents=True, exist_ok=True)
            order.write_link(self.folder, link, name)
        self._panel_token = link.token
        return token

    def desk(self, key: str) -> PersonDesk | None:
        """The desk at an address."""
        return self._desks.get(key)

    def desk_by_token(self, token: str) -> PersonDesk | None:
        """Whose link has this token."""
        given = order.hash_of(token)
        for desk in self._desks.values():
            if hmac.compare_digest(given, desk.link.token):
                return desk
        return None

    def is_panel_token(self, token: str) -> bool:
        """Whether this is the link that the panel hands out."""
        return self.panel is not None and order.matches(token, self._panel_token)

    async def join(self, participant: str) -> PersonDesk:
        """The desk of somebody whom a panel sends: a new one, or the one they had."""
        name = panel_name(participant)
        async with self._joining:
            known = self._people.get(name)
            if known is not None:
                return known
            come = sum(bool(desk.link.participant) for desk in self._desks.values())
            if self.panel is None or come >= self.panel.most:
                raise FullError("Enough people have taken part. Thank you for coming.")
            desk = await asyncio.to_thread(self._open, name)
            link = msgspec.structs.replace(desk.link, participant=participant)
            await asyncio.to_thread(order.write_link, desk.run.folder, link)
            desk.link = link
            return desk

    def close(self) -> None:
        """Close all runs."""
        while self._desks:
            _, desk = self._desks.popitem()
            desk.close()
        for thread in self._threads:
            thread.shutdown()

    def _open(self, person: str) -> PersonDesk:
        self._check_not_pulled(person)
        thread = next(self._next_thread)
        asked = self.asked, person, self.settings, self.folder
        run = thread.submit(answering.open_person_run, *asked, command=self._command).result()
        link = order.read_link(run.folder) or order.new_link()
        desk = PersonDesk(run, link, thread)
        self._desks[link.key] = desk
        self._people[person] = desk
        return desk

    def _folder_of(self, person: str) -> Path:
        return answering.person_folder(self.asked, person, self.settings.task, self.folder)

    def _check_not_pulled(self, person: str) -> None:
        """Refuse a run whose answers come from Label Studio: the next pull would replace others."""
        folder = self._folder_of(person)
        link = order.read_link(folder)
        if link is None or not link.participant or panel_name(link.participant) == person:
            return
        raise RunError(
            f"{folder} holds answers of {person} that were pulled from Label Studio.",
            "Give another pseudonym with --people, or another folder with --runs.",
        )
