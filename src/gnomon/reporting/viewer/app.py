"""The web app: five pages and the progress of a run, all read-only."""

from __future__ import annotations

from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from gnomon import __version__
from gnomon.errors import GnomonError
from gnomon.reporting.page.page import ASSETS, environment, icons, style_sheet
from gnomon.reporting.viewer import itempages, pages
from gnomon.reporting.viewer.guard import Guard
from gnomon.reporting.viewer.shelf import Shelf
from gnomon.runs import Run
from gnomon.space.sketches import turning_script


def make_app(folder: str, token: str = "") -> Guard:
    """The viewer over a folder of runs, behind its guard."""
    shelf = Shelf(folder)

    def home(request: Request) -> Response:
        return _page("leaderboard", pages.leaderboard(shelf, request.query_params))

    def run(request: Request) -> Response:
        return _page("run", pages.run_page(shelf, _run(shelf, request.path_params["name"])))

    def items(request: Request) -> Response:
        asked = _run(shelf, request.path_params["name"])
        return _page("items", itempages.items_page(shelf, asked, request.query_params))

    def progress(request: Request) -> Response:
        return JSONResponse(pages.progress(shelf, _run(shelf, request.path_params["name"])))

    def compare(request: Request) -> Response:
        query = request.query_params
        one = _run(shelf, query.get("a", ""))
        two = _run(shelf, query.get("b", ""))
        return _page("compare", itempages.compare_page(shelf, one, two, query))

    def item(request: Request) -> Response:
        query = request.query_params
        found = itempages.item_page(shelf, query.get("benchmark", ""), query.get("id", ""))
        if found is None:
            raise HTTPException(404, "No run here has this item.")
        return _page("item", found)

    routes = [
        Route("/", home),
        Route("/run/{name}", run),
        Route("/run/{name}/items", items),
        Route("/run/{name}/progress", progress),
        Route("/compare", compare),
        Route("/item", item),
        Route("/style.css", _style),
        Route("/viewer.js", _script),
    ]
    handlers: Any = {GnomonError: _problem, HTTPException: _missing}
    return Guard(Starlette(routes=routes, exception_handlers=handlers), token)


def _run(shelf: Shelf, name: str) -> Run:
    found = shelf.run(name)
    if found is None:
        raise HTTPException(404, f"There is no run named {name[:120]}.")
    return found


def _page(name: str, data: dict[str, Any], status: int = 200) -> HTMLResponse:
    template = environment().get_template(f"viewer/{name}.html.j2")
    return HTMLResponse(template.render(version=__version__, **icons(), **data), status)


def _problem(_: Request, error: Exception) -> Response:
    assert isinstance(error, GnomonError)
    return _page("problem", {"message": error.message, "hint": error.hint}, 400)


def _missing(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _page("problem", {"message": error.detail, "hint": ""}, error.status_code)


def _style(_: Request) -> Response:
    return Response(style_sheet(), media_type="text/css")


def _script(_: Request) -> Response:
    parts = [turning_script()]
    for name in ("page.js", "live.js"):
        parts.append((ASSETS / name).read_text(encoding="utf-8"))
    script = "".join(parts)
    return PlainTextResponse(script, media_type="text/javascript")
