"""What the viewer changes, and nothing else does: notes, doubts and hiding, and deleting a run.

Each is a form that was sent by a page of this viewer (`forms`); where writing is not allowed there
are no such addresses at all.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from gnomon.records import Item
from gnomon.reports.viewer.addresses import item_address, run_address
from gnomon.reports.viewer.filtering import Filter
from gnomon.reports.viewer.shelf import Shelf
from gnomon.runs import Notes, Run, change_notes, remove, wording_of
from gnomon.web import Sessions, form_of

OUTDATED = (
    "This page is no longer valid. Go back, reload it, and send it again: nothing was changed."
)
Form = dict[str, str]
Change = Callable[[Run, Form], str]


class Desk:
    """Takes forms, and answers each with the page to go on with."""

    def __init__(self, shelf: Shelf, sessions: Sessions) -> None:
        self._shelf = shelf
        self._sessions = sessions

    def routes(self) -> list[Route]:
        """The only addresses that change something."""
        changes: dict[str, Change] = {
            "note": self.note,
            "forget": self.forget,
            "hide": self.hide,
            "doubt": self.doubt,
            "delete": self.delete,
        }
        return [
            Route(f"/run/{{name}}/{name}", self._taking(change), methods=["POST"])
            for name, change in changes.items()
        ]

    def _taking(self, change: Change) -> Callable[[Request], Awaitable[Response]]:
        async def take(request: Request) -> Response:
            form = await form_of(request)
            if not self._sessions.knows(request, form.get("token", "")):
                raise HTTPException(403, OUTDATED)
            name = request.path_params["name"]
            # A disk may be slow, and a lock may be another's: no other page waits for that.
            address = await asyncio.to_thread(self._change, change, name, form)
            return RedirectResponse(address, 303)

        return take

    def _change(self, change: Change, name: str, form: Form) -> str:
        run = self._shelf.run(name)
        if run is None:
            raise HTTPException(404, f"There is no run named {name[:120]}.")
        return change(run, form)

    def note(self, run: Run, form: Form) -> str:
        """Add a remark to a run."""
        change_notes(run.path, lambda notes: notes.add_note(form.get("text", "")))
        return f"{run_address(run)}#notes"

    def forget(self, run: Run, form: Form) -> str:
        """Remove a remark."""
        change_notes(run.path, lambda notes: notes.remove_note(form.get("note", "")))
        return f"{run_address(run)}#notes"

    def hide(self, run: Run, form: Form) -> str:
        """Leave a run out of the lists, or take it in again."""
        hidden = form.get("hidden") == "1"

        def change(notes: Notes) -> None:
            notes.hidden = hidden

        change_notes(run.path, change)
        return run_address(run)

    def doubt(self, run: Run, form: Form) -> str:
        """Mark an item's label as doubtful beside a run, or take all marks on it off."""
        name = form.get("item", "")
        found = run.row(name)
        if found is None:
            raise HTTPException(404, "This run has no such item.")
        item = found[0]
        if form.get("mark") == "1":
            comment, seen = form.get("comment", ""), form.get("seen", "").replace("\r\n", "\n")
            change_notes(run.path, lambda notes: notes.doubt(item, comment, seen=seen))
        else:
            self._trust(item, run.benchmark)
        came_from = {"run": run.path.name, **Filter.of(form).query}
        return item_address(run.benchmark, name, came_from) + "#doubt"

    def _trust(self, item: Item, benchmark: str) -> None:
        """Take the marks on an item off; another item of the same id keeps its own."""
        for run in self._shelf.runs():
            if run.benchmark != benchmark:
                continue
            doubt = self._shelf.notes(run).doubts.get(item.id)
            if doubt and doubt.wording == wording_of(item):
                change_notes(run.path, lambda notes: notes.trust(item.id))

    def delete(self, run: Run, form: Form) -> str:
        """Delete a run for good, as `gnomon runs rm` does; one that is going on is refused."""
        if form.get("sure") != "1":
            return f"{run_address(run)}/delete"
        remove(run)
        return "/"


def forms_of(sessions: Sessions | None, request: Request) -> dict[str, Any]:
    """What a page with forms needs: whether there are any, and their token."""
    if sessions is None:
        return {"writable": False, "form_token": "", "session": ""}
    session = sessions.of(request)
    return {"writable": True, "form_token": sessions.token(session), "session": session}
