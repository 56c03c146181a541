"""The web app: a page before work, one for each item, and one when all is done."""

from __future__ import annotations

import asyncio
import math
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from gnomon.errors import GnomonError, inert
from gnomon.people.page.desk import Desk, Sent
from gnomon.people.page.guard import form_of, guarded
from gnomon.people.page.pictures import Gallery
from gnomon.people.page.study import PARTICIPANT, FullError, Study
from gnomon.people.page.views import done_view, item_view, start_view, welcome_view
from gnomon.people.tasks import ResponseError
from gnomon.reports.shell import asset, environment, icons, style_sheet
from gnomon.web import Guard

OWN_ASSETS = Path(__file__).parent / "assets"
COOKIE = "gnomon_people"
PART = "part."  # how the fields of a form that hold answers begin
WRONG_LINK = "This link does not fit. Ask the person who sent it for a new one."
ELSEWHERE = (
    "Your link was opened somewhere else since, or replaced. "
    "Open your personal link again to continue here: nothing is lost."
)
NOT_YOURS = "This is not one of your items."
NOT_WORKING = (
    "This did not work. Tell the person who sent you the link: what you saved before is kept."
)
SENT_BEFORE = (
    "This item was answered since this page was shown. Here is the answer that was kept: "
    "change it if it is wrong."
)


class Pages:
    """What is answered to each request."""

    def __init__(self, study: Study, *, secure: bool = False) -> None:
        self._study = study
        self._secure = secure  # whether people come by https
        self._gallery = Gallery()

    def routes(self) -> list[Route]:
        """All addresses."""
        return [
            Route("/", self.nothing),
            Route("/join", self.welcome, methods=["GET"]),
            Route("/join", self.join, methods=["POST"]),
            Route("/p/{key}/", self.start),
            Route("/p/{key}/done", self.done),
            Route("/p/{key}/item/{name}", self.item, methods=["GET"]),
            Route("/p/{key}/item/{name}", self.save, methods=["POST"]),
            Route("/p/{key}/picture/{name}/{number:int}", self.picture),
            Route("/style.css", _style),
            Route("/page.js", _script),
        ]

    async def nothing(self, request: Request) -> Response:
        """The bare address: only a personal link leads somewhere."""
        raise HTTPException(404, "Open the personal link that you were given.")

    async def welcome(self, request: Request) -> Response:
        """What a link opens. Nothing is changed yet: programs that preview links come here, too."""
        token = request.query_params.get("token", "")
        if self._study.is_panel_token(token):
            participant = self._participant(request.query_params)
            return _page("start", welcome_view(self._study, None, token, participant))
        desk = self._study.desk_by_token(token)
        if desk is None:
            raise HTTPException(403, WRONG_LINK)
        return _page("start", welcome_view(self._study, desk, token))

    async def join(self, request: Request) -> Response:
        """Begin a session for whoever pressed the button."""
        form = await form_of(request)
        token = form.get("token", "")
        if self._study.is_panel_token(token):
            desk = await self._study.join(self._participant(form, "participant"))
        else:
            found = self._study.desk_by_token(token)
            if found is None:
                raise HTTPException(403, WRONG_LINK)
            desk = found
        secret = await desk.begin_session()
        answer = RedirectResponse(self._address_after(desk, -1), 303)
        path = f"/p/{desk.link.key}/"
        answer.set_cookie(
            COOKIE, secret, path=path, httponly=True, samesite="lax", secure=self._secure
        )
        return answer

    async def start(self, request: Request) -> Response:
        """Instructions and progress: where one pauses."""
        desk, _ = self._seated(request)
        return _page("start", start_view(self._study, desk))

    async def done(self, request: Request) -> Response:
        """The end, with the link back to the panel; or the next item if there is one."""
        desk, _ = self._seated(request)
        if desk.next_place() is not None:
            return RedirectResponse(self._address_after(desk, -1), 303)
        return _page("done", done_view(self._study, desk))

    async def item(self, request: Request) -> Response:
        """One item, with what was said before."""
        desk, secret = self._seated(request)
        place = _place(desk, request)
        desk.show(place)
        token = desk.form_token(secret, place)
        return _page("item", item_view(self._study, desk, place, token))

    async def save(self, request: Request) -> Response:
        """Keep a response; only when it is on disk is the next item shown."""
        desk, secret = self._seated(request)
        place = _place(desk, request)
        form = await form_of(request)
        sent = _sent(form)
        async with desk.saving:
            token = desk.form_token(secret, place)
            if form.get("form") != token:
                return self._sent_before(desk, place, sent, token)
            try:
                await desk.save(place, sent)
            except ResponseError as error:
                view = item_view(self._study, desk, place, token, sent=sent, problem=str(error))
                return _page("item", view, 422)
        return RedirectResponse(self._address_after(desk, place), 303)

    def _sent_before(self, desk: Desk, place: int, sent: Sent, token: str) -> Response:
        """The answer to a form that is not the newest: it changes nothing."""
        if desk.is_repeated(place, sent):
            return RedirectResponse(self._address_after(desk, place), 303)
        return _page("item", item_view(self._study, desk, place, token, problem=SENT_BEFORE), 409)

    async def picture(self, request: Request) -> Response:
        """A picture of an item."""
        desk, _ = self._seated(request)
        images = desk.slot_at(_place(desk, request)).item.images
        number = request.path_params["number"]
        if number >= len(images):
            raise HTTPException(404, "There is no such picture.")
        content = await asyncio.to_thread(self._gallery.shown, images[number])
        return Response(
            content, media_type="image/jpeg", headers={"cache-control": "private, max-age=3600"}
        )

    def _participant(self, fields: Any, name: str = "") -> str:
        panel = self._study.panel
        assert panel is not None
        given = str(fields.get(name or panel.parameter, ""))
        if not PARTICIPANT.fullmatch(given):
            raise HTTPException(
                403, f"The address lacks your participant id ({panel.parameter}=...)."
            )
        return given

    def _seated(self, request: Request) -> tuple[Desk, str]:
        """Whose page this is, and the secret of the session; anybody else is sent away."""
        desk = self._study.desk(request.path_params["key"])
        secret = request.cookies.get(COOKIE, "")
        if desk is None or not secret or not desk.knows(secret):
            raise HTTPException(403, ELSEWHERE)
        return desk, secret

    def _address_after(self, desk: Desk, place: int) -> str:
        following = desk.next_place(place)
        if following is None:
            return f"/p/{desk.link.key}/done"
        return f"/p/{desk.link.key}/item/{desk.id_at(following)}"


def make_app(study: Study, *, remote: bool = False, address: str = "") -> Guard:
    """The app over a study, behind its guard."""
    handlers: Any = {GnomonError: _problem, HTTPException: _missing}
    pages = Pages(study, secure=address.startswith("https://"))
    app = Starlette(routes=pages.routes(), exception_handlers=handlers)
    return guarded(app, remote=remote, address=address)


def _place(desk: Desk, request: Request) -> int:
    place = desk.place_of(request.path_params["name"])
    if place is None:
        raise HTTPException(404, NOT_YOURS)
    return place


def _sent(form: dict[str, str]) -> Sent:
    response = {}
    for name, value in form.items():
        if name.startswith(PART):
            response[name.removeprefix(PART)] = value
    comment = form.get("comment", "").replace("\r\n", "\n").strip()
    skips = form.get("action") == "skip"
    if skips:
        return Sent({}, form.get("skip") or "-", comment, _seconds(form))
    return Sent(response, "", comment, _seconds(form))


def _seconds(form: dict[str, str]) -> float | None:
    try:
        found = float(form.get("seconds", ""))
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def _page(name: str, data: dict[str, Any], status: int = 200) -> HTMLResponse:
    template = environment(OWN_ASSETS).get_template(f"{name}.html.j2")
    return HTMLResponse(template.render(**icons(), **data), status)


def _problem_view(message: str, hint: str = "") -> dict[str, Any]:
    return {"title": "Not this way", "message": message, "hint": hint}


def _problem(_: Request, error: Exception) -> Response:
    assert isinstance(error, GnomonError)
    if isinstance(error, ResponseError | FullError):
        return _page("problem", _problem_view(error.message, error.hint), 400)
    print(f"gnomon: {inert(str(error))}", file=sys.stderr)  # for the researcher, not the browser
    return _page("problem", _problem_view(NOT_WORKING), 500)


def _missing(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _page("problem", _problem_view(error.detail), error.status_code)


async def _style(_: Request) -> Response:
    return _asset(_style_sheet(), "text/css")


async def _script(_: Request) -> Response:
    return _asset(_own_script(), "text/javascript")


def _asset(text: str, media_type: str) -> Response:
    return Response(text, media_type=media_type, headers={"cache-control": "max-age=600"})


@lru_cache(maxsize=1)
def _style_sheet() -> str:
    return style_sheet() + asset("page.css", OWN_ASSETS)


@lru_cache(maxsize=1)
def _own_script() -> str:
    return asset("page.js") + asset("page.js", OWN_ASSETS)
