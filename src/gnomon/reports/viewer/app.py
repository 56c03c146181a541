"""The viewer's web app: who may come in, its pages, what they poll for, and what forms change."""

import asyncio
import hmac
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import parse_qsl, urlencode

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from gnomon import __version__
from gnomon.errors import GnomonError
from gnomon.records import Item
from gnomon.reports.shell import asset, environment, icons, style_sheet
from gnomon.reports.study import labels_of
from gnomon.reports.viewer import home, items
from gnomon.reports.viewer.comparison import compare_page
from gnomon.reports.viewer.shelf import ADDRESSES, Shelf, item_address, run_address
from gnomon.runs import Notes, Run, change_notes, remove, wording_of
from gnomon.scenes.sketches import turning_script
from gnomon.web import App, Guard, Sessions, comes_from_here, form_of, host_name, is_loopback

# Who may read the viewer: this machine, or those who know its token; and whose forms it takes.


COOKIE = "gnomon_token"


def guarded(app: App, token: str = "") -> Guard:
    """The app, answered to loopback names only; with a token, to those who know it."""

    def refusal(request: Request) -> Response | None:
        if token:
            stranger = _without_token(request, token)
        else:
            stranger = _from_elsewhere(request)
        return stranger or _foreign_form(request)

    return Guard(app, refusal)


def _from_elsewhere(request: Request) -> Response | None:
    if is_loopback(host_name(request.headers.get("host", ""))):
        return None
    return PlainTextResponse("This viewer answers only to localhost.\n", 421)


def _without_token(request: Request, token: str) -> Response | None:
    """The answer to who does not have the token as a cookie or in a header."""
    given = request.query_params.get("token", "")
    if _is_same(given, token):
        return _with_cookie(request, given)
    bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
    if _is_same(request.cookies.get(COOKIE, ""), token) or _is_same(bearer, token):
        return None
    return PlainTextResponse("Open the address with ?token=... that `gnomon view` printed.\n", 401)


def _is_same(given: str, token: str) -> bool:
    return hmac.compare_digest(given.encode(), token.encode())


def _foreign_form(request: Request) -> Response | None:
    """The answer to what another site's page sends, or what does not say where it is from."""
    if request.method in ("GET", "HEAD"):
        return None
    if request.headers.get("origin") and comes_from_here(request):
        return None
    return PlainTextResponse("This comes from another site. Nothing was changed.\n", 403)


def _with_cookie(request: Request, token: str) -> Response:
    """To the same page without the token in its address, which others could read there."""
    rest = [(key, value) for key, value in parse_qsl(request.url.query) if key != "token"]
    target = "/" + request.url.path.lstrip("/")  # "//name" would lead to another site
    if rest:
        target += f"?{urlencode(rest)}"
    answer = RedirectResponse(target, 303)
    answer.set_cookie(COOKIE, token, httponly=True, samesite="strict")
    return answer


# What the viewer changes, and nothing else does: notes, doubts and hiding, and deleting a run.
#
# Each is a form that was sent by a page of this viewer (`forms`); where writing is not allowed
# there are no such addresses at all.


OUTDATED = (
    "This page is no longer valid. Go back, reload it, and send it again: nothing was changed."
)
Form = dict[str, str]
Change = Callable[[Run, Form], str]


class Forms:
    """Takes forms, and answers each with the page to go on with."""

    def __init__(self, shelf: Shelf, sessions: Sessions) -> None:
        self._shelf = shelf
        self._sessions = sessions

    def routes(self) -> list[Route]:
        """The only addresses that change something."""
        routes = []
        for change in (self.note, self.forget, self.hide, self.doubt, self.delete):
            address = f"/run/{{name}}/{change.__name__}"
            routes.append(Route(address, self._taking(change), methods=["POST"]))
        return routes

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
        return change(self._shelf.named(name), form)

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
        came_from = {"run": run.path.name, **items.Filter.of(form).query}
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


# What is answered to each request that reads.


def delete_page(shelf: Shelf, request: Request) -> dict[str, Any]:
    """The question before a run is deleted."""
    run = shelf.asked(request)
    running = shelf.state(run) == "running"
    return {
        "run": run,
        "label": labels_of([run])[0],
        "counts": shelf.counts(run),
        "running": running,
    }


Show = Callable[[Shelf, Request], dict[str, Any]]
PAGES: dict[str, tuple[str, Show]] = {  # by address: the template, and what it shows
    "/": ("home", home.home),
    "/benchmark": ("benchmark", home.benchmark_page),
    "/model": ("model", home.model_page),
    "/compare": ("compare", compare_page),
    "/item": ("item", items.item_page),
    "/run/{name}": ("run", home.run_page),
    "/run/{name}/items": ("items", items.items_page),
    "/run/{name}/delete": ("delete", delete_page),
}


class ViewerPages:
    """What is answered to each request that reads."""

    def __init__(self, shelf: Shelf, sessions: Sessions | None) -> None:
        self._shelf = shelf
        self._sessions = sessions

    def routes(self) -> list[Route]:
        """All addresses that change nothing."""
        pages = [
            Route(address, self._page(*page), methods=["GET"]) for address, page in PAGES.items()
        ]
        return [
            *pages,
            Route("/live", self.live),
            Route("/doubts.jsonl", self.doubts),
            Route("/run/{name}/progress", self.progress),
            Route("/style.css", _style),
            Route("/viewer.js", _script),
        ]

    def _page(self, template: str, show: Show) -> Callable[[Request], Response]:
        def answer(request: Request) -> Response:
            if self._sessions is None and template == "delete":
                raise HTTPException(404, "This viewer changes nothing.")
            shown = show(self._shelf, request)
            if self._sessions is None:
                return _render(template, {**shown, "writable": False, "form_token": ""})
            session = self._sessions.of(request)
            token = self._sessions.token(session)
            page = _render(template, {**shown, "writable": True, "form_token": token})
            self._sessions.keep(page, session)
            return page

        return answer

    def live(self, request: Request) -> Response:
        """What the first page polls for."""
        shown = home.shown_runs(self._shelf, request.query_params)
        return JSONResponse(home.live(self._shelf, shown))

    def progress(self, request: Request) -> Response:
        """What the page of a run polls for."""
        return JSONResponse(home.progress(self._shelf, self._shelf.asked(request)))

    def doubts(self, request: Request) -> Response:
        """The doubtful labels as lines of JSON: of a run, of a benchmark, or all."""
        query = request.query_params
        lines = []
        for run in self._shelf.runs():
            is_wanted = query.get("run") in (None, run.path.name)
            is_on_benchmark = query.get("benchmark") in (None, run.benchmark)
            if is_wanted and is_on_benchmark:
                lines += _doubt_lines(self._shelf, run)
        headers = {"content-disposition": 'attachment; filename="doubts.jsonl"'}
        return Response(b"".join(lines), media_type="application/jsonl", headers=headers)


def make_app(folder: str, token: str = "", *, writable: bool = True) -> Guard:
    """The viewer over a folder of runs, behind its guard."""
    shelf = Shelf(folder)
    sessions = Sessions() if writable else None
    routes = ViewerPages(shelf, sessions).routes()
    if sessions is not None:
        routes += Forms(shelf, sessions).routes()
    handlers: Any = {GnomonError: _problem, HTTPException: _missing}
    return guarded(Starlette(routes=routes, exception_handlers=handlers), token)


def _doubt_lines(shelf: Shelf, run: Run) -> list[bytes]:
    """The marks beside a run, each with the item that it is on."""
    lines = []
    for doubt in shelf.notes(run).doubts.values():
        found = run.row(doubt.item)
        if found is None:
            continue
        item = found[0]
        line = {
            "benchmark": run.benchmark,
            "run": run.path.name,
            "item": doubt.item,
            "comment": doubt.comment,
            "at": doubt.at,
            "context": item.context,
            "text": item.text,
            "choices": item.choices,
            "gold": item.gold,
        }
        lines.append(msgspec.json.encode(line) + b"\n")
    return lines


def _render(name: str, data: dict[str, Any], status: int = 200) -> Response:
    template = environment().get_template(f"viewer/{name}.html.j2")
    page = template.render(version=__version__, **icons(), **ADDRESSES, **data)
    return Response(page, status, media_type="text/html")


def _problem(_: Request, error: Exception) -> Response:
    assert isinstance(error, GnomonError)
    return _render("problem", {"message": error.message, "hint": error.hint}, 400)


def _missing(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _render("problem", {"message": error.detail, "hint": ""}, error.status_code)


def _style(_: Request) -> Response:
    return Response(style_sheet() + asset("viewer/viewer.css"), media_type="text/css")


def _script(_: Request) -> Response:
    script = turning_script() + asset("page.js") + asset("live.js")
    return PlainTextResponse(script, media_type="text/javascript")
