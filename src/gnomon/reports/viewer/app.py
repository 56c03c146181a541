"""The web app: its pages, what they poll for, and the few things that forms change."""

from __future__ import annotations

from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from gnomon import __version__
from gnomon.errors import GnomonError
from gnomon.reports.shell import asset, environment, icons, style_sheet
from gnomon.reports.study import labels_of
from gnomon.reports.viewer import home, itempages, pages
from gnomon.reports.viewer.addresses import run_address
from gnomon.reports.viewer.comparing import compare_page
from gnomon.reports.viewer.guard import guarded
from gnomon.reports.viewer.shelf import Shelf
from gnomon.reports.viewer.writing import Desk, forms_of
from gnomon.runs import Run
from gnomon.scenes.sketches import turning_script
from gnomon.web import Guard, Sessions


class Pages:
    """What is answered to each request that reads."""

    def __init__(self, shelf: Shelf, sessions: Sessions | None) -> None:
        self._shelf = shelf
        self._sessions = sessions

    def routes(self) -> list[Route]:
        """All addresses that change nothing."""
        return [
            Route("/", self.home),
            Route("/live", self.live),
            Route("/benchmark", self.benchmark),
            Route("/model", self.model),
            Route("/compare", self.compare),
            Route("/item", self.item),
            Route("/doubts.jsonl", self.doubts),
            Route("/run/{name}", self.run),
            Route("/run/{name}/items", self.items),
            Route("/run/{name}/progress", self.progress),
            Route("/run/{name}/delete", self.delete, methods=["GET"]),
            Route("/style.css", _style),
            Route("/viewer.js", _script),
        ]

    def home(self, request: Request) -> Response:
        """The overview, what is going on, and the leaderboards."""
        return self._page(request, "home", home.home(self._shelf, request.query_params))

    def live(self, request: Request) -> Response:
        """What the first page polls for."""
        runs = home.shown_runs(self._shelf, request.query_params)
        return JSONResponse(home.live(self._shelf, runs))

    def benchmark(self, request: Request) -> Response:
        """One benchmark, by category."""
        found = home.benchmark_page(self._shelf, request.query_params)
        if found is None:
            raise HTTPException(404, "No run here is on this benchmark.")
        return self._page(request, "benchmark", found)

    def model(self, request: Request) -> Response:
        """One model with all its runs."""
        found = pages.model_page(self._shelf, request.query_params.get("name", ""))
        if found is None:
            raise HTTPException(404, "No run here is of this model.")
        return self._page(request, "model", found)

    def run(self, request: Request) -> Response:
        """One run."""
        return self._page(request, "run", pages.run_page(self._shelf, self._run(request)))

    def items(self, request: Request) -> Response:
        """The items of a run."""
        found = itempages.items_page(self._shelf, self._run(request), request.query_params)
        return self._page(request, "items", found)

    def progress(self, request: Request) -> Response:
        """What the page of a run polls for."""
        return JSONResponse(home.progress(self._shelf, self._run(request)))

    def compare(self, request: Request) -> Response:
        """Several runs side by side."""
        query = request.query_params
        names = query.getlist("run") or [query.get("a", ""), query.get("b", "")]
        runs = [self._named(name) for name in names]
        return self._page(request, "compare", compare_page(self._shelf, runs, query))

    def item(self, request: Request) -> Response:
        """One item."""
        found = itempages.item_page(self._shelf, request.query_params)
        if found is None:
            raise HTTPException(404, "No run here has this item.")
        return self._page(request, "item", found)

    def delete(self, request: Request) -> Response:
        """The question before a run is deleted."""
        if self._sessions is None:
            raise HTTPException(404, "This viewer changes nothing.")
        run = self._run(request)
        found = {
            "run": run,
            "label": labels_of([run])[0],
            "url": run_address(run),
            "counts": self._shelf.counts(run),
            "running": self._shelf.state(run) == "running",
        }
        return self._page(request, "delete", found)

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

    def _run(self, request: Request) -> Run:
        return self._named(request.path_params["name"])

    def _named(self, name: str) -> Run:
        found = self._shelf.run(name)
        if found is None:
            raise HTTPException(404, f"There is no run named {name[:120]}.")
        return found

    def _page(self, request: Request, name: str, data: dict[str, Any]) -> Response:
        forms = forms_of(self._sessions, request)
        answer = _render(name, {**data, **forms})
        if self._sessions is not None:
            self._sessions.keep(answer, forms["session"])
        return answer


def make_app(folder: str, token: str = "", *, writable: bool = True) -> Guard:
    """The viewer over a folder of runs, behind its guard."""
    shelf = Shelf(folder)
    sessions = Sessions() if writable else None
    routes = Pages(shelf, sessions).routes()
    if sessions is not None:
        routes += Desk(shelf, sessions).routes()
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


def _render(name: str, data: dict[str, Any], status: int = 200) -> HTMLResponse:
    template = environment().get_template(f"viewer/{name}.html.j2")
    return HTMLResponse(template.render(version=__version__, **icons(), **data), status)


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
