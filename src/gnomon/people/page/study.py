"""All people of one annotation: who they are, by which link they come, and where they sit."""

from __future__ import annotations

import asyncio
import hmac
import re
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

import msgspec

from gnomon.errors import GnomonError, RunError
from gnomon.people.answering import Asked, Settings, open_person_run, person_folder
from gnomon.people.links import LINK, hash_of, matches, new_link, new_secret, read_link, write_link
from gnomon.people.page.desk import Desk
from gnomon.records import digest

THREADS = 8  # that write; a person is always served by the same one
PARTICIPANT = re.compile(r"[A-Za-z0-9._-]{4,64}")


class Panel(NamedTuple):
    """People whom a panel such as Prolific sends, with an id in the address."""

    parameter: str  # of the address that holds the id
    most: int  # people who are let in


def panel_name(participant: str) -> str:
    """The pseudonym of somebody whom a panel sends."""
    return f"panel-{digest(participant)}"


class FullError(GnomonError):
    """Enough people have come."""


class Study:
    """What is asked, and everybody who is asked."""

    def __init__(
        self,
        asked: Asked,
        settings: Settings,
        runs: Path,
        *,
        completion: str = "",
        panel: Panel | None = None,
        command: str = "",
    ) -> None:
        self.asked = asked
        self.settings = settings
        self.completion = completion
        self.panel = panel
        self._panel_token = ""  # its hash
        self.folder = runs
        self._command = command
        self._threads = [ThreadPoolExecutor(1) for _ in range(THREADS)]
        self._next_thread = cycle(self._threads)
        self._desks: dict[str, Desk] = {}  # by key
        self._people: dict[str, Desk] = {}  # by name
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
            tokens[person] = new_secret()
            desk.link.token = hash_of(tokens[person])
            desk.link.session = ""
            write_link(desk.run.folder, desk.link)
        return tokens

    def open_panel(self, *, new_links: bool = False) -> str:
        """The token that all people of the panel share; empty if it was given out before.

        Whoever came before has their desk again.
        """
        for person in self._panel_people():
            self._open(person)
        name = f"panel-{digest(self.asked.name, self.settings.task.kind)}.json"
        link = read_link(self.folder, name)
        token = ""
        if link is None or new_links:
            token = new_secret()
            link = msgspec.structs.replace(new_link(), token=hash_of(token))
            self.folder.mkdir(parents=True, exist_ok=True)
            write_link(self.folder, link, name)
        self._panel_token = link.token
        return token

    def _panel_people(self) -> list[str]:
        """Those whom the panel has sent to these items so far."""
        found = []
        for file in sorted(self.folder.glob(f"*/{LINK}")):
            link = read_link(file.parent)
            if link is None or not link.participant:
                continue
            name = panel_name(link.participant)
            task = self.settings.task
            if person_folder(self.asked, name, task, self.folder) == file.parent:
                found.append(name)
        return found

    def desk(self, key: str) -> Desk | None:
        """The desk at an address."""
        return self._desks.get(key)

    def desk_by_token(self, token: str) -> Desk | None:
        """Whose link has this token."""
        given = hash_of(token)
        for desk in self._desks.values():
            if hmac.compare_digest(given, desk.link.token):
                return desk
        return None

    def is_panel_token(self, token: str) -> bool:
        """Whether this is the link that the panel hands out."""
        return self.panel is not None and matches(token, self._panel_token)

    async def join(self, participant: str) -> Desk:
        """The desk of somebody whom a panel sends: a new one, or the one they had."""
        name = panel_name(participant)
        async with self._joining:
            known = self._people.get(name)
            if known is not None:
                return known
            if self.panel is None or self._people_of_panel() >= self.panel.most:
                raise FullError("Enough people have taken part. Thank you for coming.")
            desk = await asyncio.to_thread(self._open, name)
            link = msgspec.structs.replace(desk.link, participant=participant)
            await asyncio.to_thread(write_link, desk.run.folder, link)
            desk.link = link
            return desk

    def _people_of_panel(self) -> int:
        return sum(1 for desk in self._desks.values() if desk.link.participant)

    def close(self) -> None:
        """Close all runs."""
        while self._desks:
            _, desk = self._desks.popitem()
            desk.close()
        for thread in self._threads:
            thread.shutdown()

    def _open(self, person: str) -> Desk:
        self._check_not_pulled(person)
        thread = next(self._next_thread)
        opening = thread.submit(
            open_person_run,
            self.asked,
            person,
            self.settings,
            self.folder,
            command=self._command,
        )
        run = opening.result()
        link = read_link(run.folder) or new_link()
        desk = Desk(run, link, thread)
        self._desks[link.key] = desk
        self._people[person] = desk
        return desk

    def _check_not_pulled(self, person: str) -> None:
        """Refuse a run whose answers come from Label Studio: the next pull would replace others."""
        folder = person_folder(self.asked, person, self.settings.task, self.folder)
        link = read_link(folder)
        if link is None or not link.participant or panel_name(link.participant) == person:
            return
        raise RunError(
            f"{folder} holds answers of {person} that were pulled from Label Studio.",
            "Give another pseudonym with --people, or another folder with --runs.",
        )
