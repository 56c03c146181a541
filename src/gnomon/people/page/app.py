"""The annotators' page as a web application, its guard, and how it is served."""

import asyncio
import math
import socket
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from gnomon import web
from gnomon.errors import GnomonError, UsageError, importing, inert
from gnomon.grouped import grouped
from gnomon.people.answering import LONGEST_COMMENT, SentResponse, shown_picture
from gnomon.people.page.study import PARTICIPANT, AnnotationStudy, FullError, PersonDesk
from gnomon.people.tasks import Option, QuestionPart, ResponseError, question_of
from gnomon.redaction import redact_url
from gnomon.reports.shell import asset, environment, icons, style_sheet
from gnomon.web import App, Guard, authority, is_loopback

LONG_LIST = 12  # options beyond which a list can be searched
WIDE = 34  # characters of labels that still fit side by side


def page_view(study: AnnotationStudy, desk: PersonDesk | None, **more: Any) -> dict[str, Any]:
    """What every page may show: the task, how far somebody is, and how long the rest takes.

    There is no desk yet where a panel sends somebody.
    """
    settings = study.settings
    everything = len(study.asked.items) + settings.repeat + len(settings.catch)
    left = desk.total - desk.done if desk else everything
    return {
        "title": settings.task.title,
        "task": settings.task,
        "desk": desk,
        "minutes": max(1, round(left * settings.task.seconds / 60)),
        "token": "",  # of a link that was not taken up yet
        "participant": "",
        **more,
    }


def item_view(
    study: AnnotationStudy,
    desk: PersonDesk,
    place: int,
    token: str,
    *,
    sent: SentResponse | None = None,
    problem: str = "",
) -> dict[str, Any]:
    """One item: all of it that a browser ever gets."""
    said = desk.said_at(place)
    return page_view(
        study,
        desk,
        place=place,
        question=question_of(study.settings.task, desk.slot_at(place).item),
        given=sent or said or SentResponse({}),
        saved=said is not None,
        form=token,
        problem=problem,
        longest=LONGEST_COMMENT,
        long_list=LONG_LIST,
        fits_a_row=_fits_a_row,
        by_group=_by_group,
    )


def _by_group(part: QuestionPart) -> dict[str, list[Option]]:
    return grouped(part.options, lambda option: option.group)


def _fits_a_row(part: QuestionPart) -> bool:
    longest = max((len(option.label) for option in part.options), default=0)
    return longest * len(part.options) <= WIDE * 3 and len(part.options) <= 6


# Who may read the page for people, and whose forms it takes: Host header and origin.


TOO_LARGE = "What was sent is too large: a comment may have 2,000 characters."


def guarded(app: App, *, remote: bool = False, address: str = "") -> Guard:
    """The app, answered to names that are ours only, and only to forms that are ours."""
    parts = urlsplit(address)
    own = authority(parts.scheme, parts.netloc)  # empty if no other address was given

    def refusal(request: Request) -> Response | None:
        host = request.headers.get("host", "")
        is_own = bool(own) and authority(parts.scheme, host) == own
        if not (remote or is_own or is_loopback(web.host_name(host))):
            return PlainTextResponse("This page answers only to localhost.\n", 421)
        if request.method == "POST" and not web.comes_from_here(request, own=own):
            return PlainTextResponse("This form comes from another site. Nothing was saved.\n", 403)
        return None

    return Guard(app, refusal)


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a form, read within bounds."""
    try:
        return await web.form_of(request)
    except web.TooLargeError:
        hint = "Go back and shorten it. Nothing else of your work is lost."
        raise ResponseError(TOO_LARGE, hint) from None
    except web.FormError as error:
        raise ResponseError(error.message, error.hint) from None


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


class _AnnotationPages:
    """What is answered to each request."""

    def __init__(self, study: AnnotationStudy, *, secure: bool = False) -> None:
        self._study = study
        self._secure = secure  # whether people come by https

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
            view = page_view(self._study, None, token=token, participant=participant)
            return _page("start", view)
        desk = self._study.desk_by_token(token)
        if desk is None:
            raise HTTPException(403, WRONG_LINK)
        return _page("start", page_view(self._study, desk, token=token))

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
        answer = RedirectResponse(desk.address_after(), 303)
        answer.set_cookie(
            COOKIE, secret, path=desk.home, httponly=True, samesite="lax", secure=self._secure
        )
        return answer

    async def start(self, request: Request) -> Response:
        """Instructions and progress: where one pauses."""
        desk, _ = self._seated(request)
        return _page("start", page_view(self._study, desk))

    async def done(self, request: Request) -> Response:
        """The end, with the link back to the panel; or the next item if there is one."""
        desk, _ = self._seated(request)
        if desk.next_place() is not None:
            return RedirectResponse(desk.address_after(), 303)
        return _page("done", page_view(self._study, desk, completion=self._study.completion))

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
        return RedirectResponse(desk.address_after(place), 303)

    def _sent_before(
        self, desk: PersonDesk, place: int, sent: SentResponse, token: str
    ) -> Response:
        """The answer to a form that is not the newest: it changes nothing."""
        if desk.is_repeated(place, sent):
            return RedirectResponse(desk.address_after(place), 303)
        return _page("item", item_view(self._study, desk, place, token, problem=SENT_BEFORE), 409)

    async def picture(self, request: Request) -> Response:
        """A picture of an item."""
        desk, _ = self._seated(request)
        images = desk.slot_at(_place(desk, request)).item.images
        number = request.path_params["number"]
        if number >= len(images):
            raise HTTPException(404, "There is no such picture.")
        content = await asyncio.to_thread(shown_picture, images[number])
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

    def _seated(self, request: Request) -> tuple[PersonDesk, str]:
        """Whose page this is, and the secret of the session; anybody else is sent away."""
        desk = self._study.desk(request.path_params["key"])
        secret = request.cookies.get(COOKIE, "")
        if desk is None or not secret or not desk.knows(secret):
            raise HTTPException(403, ELSEWHERE)
        return desk, secret


def make_app(study: AnnotationStudy, *, remote: bool = False, address: str = "") -> Guard:
    """The app over a study, behind its guard."""
    handlers: Any = {GnomonError: _problem, HTTPException: _missing}
    pages = _AnnotationPages(study, secure=address.startswith("https://"))
    app = Starlette(routes=pages.routes(), exception_handlers=handlers)
    return guarded(app, remote=remote, address=address)


def _place(desk: PersonDesk, request: Request) -> int:
    place = desk.place_of(request.path_params["name"])
    if place is None:
        raise HTTPException(404, NOT_YOURS)
    return place


def _sent(form: dict[str, str]) -> SentResponse:
    comment = form.get("comment", "").replace("\r\n", "\n").strip()
    try:
        seconds = float(form.get("seconds", ""))
    except ValueError:
        seconds = math.nan
    told = seconds if math.isfinite(seconds) else None
    if form.get("action") == "skip":
        return SentResponse({}, form.get("skip") or "-", comment, told)
    parts = [name for name in form if name.startswith(PART)]
    return SentResponse({name.removeprefix(PART): form[name] for name in parts}, "", comment, told)


def _page(name: str, data: dict[str, Any], status: int = 200) -> HTMLResponse:
    template = environment(OWN_ASSETS).get_template(f"{name}.html.j2")
    return HTMLResponse(template.render(**icons(), **data), status)


def _problem_page(status: int, message: str, hint: str = "") -> Response:
    return _page("problem", {"title": "Not this way", "message": message, "hint": hint}, status)


def _problem(_: Request, error: Exception) -> Response:
    assert isinstance(error, GnomonError)
    if isinstance(error, ResponseError | FullError):
        return _problem_page(400, error.message, error.hint)
    print(f"gnomon: {inert(str(error))}", file=sys.stderr)  # for the researcher, not the browser
    return _problem_page(500, NOT_WORKING)


def _missing(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _problem_page(error.status_code, error.detail)


async def _style(_: Request) -> Response:
    return _asset(style_sheet() + asset("page.css", OWN_ASSETS), "text/css")


async def _script(_: Request) -> Response:
    return _asset(asset("page.js") + asset("page.js", OWN_ASSETS), "text/javascript")


def _asset(text: str, media_type: str) -> Response:
    return Response(text, media_type=media_type, headers={"cache-control": "max-age=600"})


# Starting the page: where it listens, and what links people are given.


EVERYWHERE = ("", "0.0.0.0", "::")  # noqa: S104 - hosts that nobody can open as such


class Where(NamedTuple):
    """Where the page listens, and at which address people reach it."""

    host: str = "127.0.0.1"
    port: int = 8766
    allow_remote: bool = False
    address: str = ""  # as people write it, where a server of the lab stands before this one


def check_where(where: Where) -> None:
    """Refuse to listen beyond this machine without being told to."""
    for name in ("jinja2", "starlette", "uvicorn"):
        with importing("The page for people", "people"):
            import_module(name)
    if not is_loopback(where.host) and not where.allow_remote:
        raise UsageError(
            f"The page would be open to others at {where.host}.",
            "Give --allow-remote as well, or leave --host out.",
        )
    if where.address:
        _check_address(where.address)


def _check_address(address: str) -> None:
    """An address of people is a scheme and a host: pages stand at the top, not below a path."""
    shown = redact_url(address)
    example = "For example: --set address=https://lab.example"
    try:
        parts = urlsplit(address)
        host = parts.hostname if parts.port != 0 else None
    except ValueError:
        raise UsageError(f"'{shown}' is not an address.", example) from None
    if parts.scheme not in ("http", "https") or not host or "@" in parts.netloc:
        raise UsageError(f"'{shown}' is not an address.", example)
    if parts.path.strip("/") or parts.query or parts.fragment:
        raise UsageError(
            f"The page cannot stand below a path: '{shown}'.",
            f"Give it a host or a port of its own. {example}",
        )


def _host_name(host: str) -> str:
    """How others reach a host: where the page listens everywhere, by this machine's name."""
    return socket.gethostname() if host in EVERYWHERE else host


def serve(study: AnnotationStudy, where: Where, ready: Callable[[str], None]) -> None:
    """Serve until interrupted, and close the study.

    `ready` is told the address once the page listens, before anybody is let in: links that are made
    then can be used.
    """
    try:
        check_where(where)

        host = _host_name(where.host)
        with web.listen(where.host, where.port, "The page") as listener:
            ready(where.address.rstrip("/") or web.address_of(host, listener))
            app = make_app(study, remote=where.allow_remote, address=where.address)
            web.server_of(app, keep_alive=30).run(sockets=[listener])
    finally:
        study.close()
