"""Files from the network: bounded, resumed, and checked by their digests."""

import http.client
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from socket import SHUT_RDWR, gaierror
from threading import Timer
from typing import IO, Any, NamedTuple, Protocol
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import (
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
    build_opener,
)

from gnomon.errors import DataError
from gnomon.fingerprint import sha256_of

# How a server is asked: redirects and certificates are checked, a reply must begin in time.


NO_REPLY = (OSError, http.client.HTTPException)  # what asking a server may raise
HEADERS_WITHIN = 60.0  # seconds until a reply must have begun
# Answers worth another attempt; those above 504 are a proxy's.
BUSY = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
BY_HAND = "Give the authors' folder with --data."


def printable(text: str) -> str:
    """A stranger's words without control characters, which a terminal would obey."""
    return "".join(filter(str.isprintable, text))[:200]


class _Redirects(HTTPRedirectHandler):
    """Follows up to five redirects, to http and https only, never from https to http."""

    max_redirections = 5

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> Request | None:
        scheme = urlsplit(newurl).scheme
        steps_down = req.type == "https" and scheme == "http"
        if scheme not in ("http", "https") or steps_down:
            where = printable(newurl)
            raise DataError(f"{req.full_url} redirects to {where}, which is not followed.", BY_HAND)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class _Prompt(http.client.HTTPConnection):
    """A connection whose reply must begin in time: a timeout alone lets headers drip for ever."""

    _late = False

    def getresponse(self) -> http.client.HTTPResponse:
        timer = Timer(HEADERS_WITHIN, self._cut)
        timer.daemon = True
        timer.start()
        try:
            reply = super().getresponse()
        finally:
            timer.cancel()
            if self._late:
                raise TimeoutError(f"no reply began within {HEADERS_WITHIN:g} seconds")
        return reply

    def _cut(self) -> None:
        self._late = True
        with suppress(OSError, AttributeError):  # closed in the meantime
            self.sock.shutdown(SHUT_RDWR)


class _PromptTLS(_Prompt, http.client.HTTPSConnection):
    """The same over TLS."""


class _Plain(HTTPHandler):
    def http_open(self, req: Request) -> Any:
        return self.do_open(_Prompt, req)


class _Secure(HTTPSHandler):
    def https_open(self, req: Request) -> Any:
        return self.do_open(_PromptTLS, req)  # certificates are checked by default


def opener(*, direct: bool = False) -> OpenerDirector:
    """What opens an address: redirects are checked, replies must begin in time.

    A `direct` one passes by any proxy, for servers of this machine.
    """
    proxies = ProxyHandler({} if direct else None)
    return build_opener(_Redirects(), _Plain(), _Secure(), proxies)


CHUNK = 256 * 1024
TIMEOUT = 30.0  # seconds without a byte
GRACE, LEAST_RATE = 60.0, 1000  # after so many seconds, at least so many bytes a second on average


class Progress(Protocol):
    """Called as bytes arrive: the target, how many of its bytes are here, how many there will be.

    The last is 0 if the server does not say.
    """

    def __call__(self, file: Path, done: int, total: int) -> None: ...  # noqa: D102


class Attempts(NamedTuple):
    """How often to try, and how to wait in between (seconds doubling from `pause`)."""

    most: int = 4
    pause: float = 1.0
    wait: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic


class _Wanted(NamedTuple):
    """A file to be fetched, and what is known of it."""

    url: str
    target: Path
    sha256: str
    size: int
    limit: int
    progress: Progress | None

    @property
    def part(self) -> Path:
        return self.target.with_name(self.target.name + ".part")


class _BrokenError(Exception):
    """The connection or the server failed in a way that may pass."""


def download(
    url: str,
    target: Path,
    *,
    sha256: str = "",
    size: int = 0,
    limit: int = 2**40,
    progress: Progress | None = None,
    attempts: Attempts | None = None,
) -> str:
    """Download to `target` and return the sha256.

    A wrong hash or size leaves nothing behind and no older file changed. A connection that breaks
    leaves NAME.part, from which the next call goes on.
    """
    _check_address(url)
    wanted = _Wanted(url, target, sha256, size, limit, progress)
    tries = attempts or Attempts()
    target.parent.mkdir(parents=True, exist_ok=True)
    resumed = _length(wanted.part) > 0
    _try_often(wanted, tries)
    digest = sha256_of(wanted.part)
    problem = _problem(wanted, digest)
    if problem and resumed:  # the old part may have been of another version of the file
        wanted.part.unlink()
        _try_often(wanted, tries)
        digest = sha256_of(wanted.part)
        problem = _problem(wanted, digest)
    if problem:
        wanted.part.unlink()
        raise DataError(
            f"{url} {problem}.",
            "Nothing was kept. The file has changed at its source, or something on the way alters "
            "it: compare with the authors' repository.",
        )
    wanted.part.replace(target)
    return digest


def _check_address(url: str) -> None:
    try:
        scheme = urlsplit(url).scheme
    except ValueError:
        scheme = ""
    if scheme not in ("http", "https"):
        raise DataError(f"{url} is not a web address.", "Only http and https are fetched.")


def _try_often(wanted: _Wanted, tries: Attempts) -> None:
    for attempt in range(tries.most):
        try:
            return _pull(wanted, tries.clock)
        except _BrokenError as error:
            if attempt + 1 == tries.most:
                raise DataError(
                    f"{wanted.url} could not be fetched: {error}.",
                    "Give the same command again to continue where it stopped, or give the "
                    "authors' folder with --data.",
                ) from None
        tries.wait(tries.pause * 2**attempt)
    return None


def _problem(wanted: _Wanted, digest: str) -> str:
    length = _length(wanted.part)
    if wanted.size and length != wanted.size:
        return f"has {length:,} bytes, not {wanted.size:,}"
    if wanted.sha256 and digest != wanted.sha256:
        return f"has the sha256 {digest}, not {wanted.sha256}"
    if wanted.target.suffix == ".jpg":
        with wanted.part.open("rb") as stream:
            if stream.read(3) != b"\xff\xd8\xff":
                return "is not a JPEG image"
    return ""


def _pull(wanted: _Wanted, clock: Callable[[], float]) -> None:
    """Bring the part to its full length, from where it stands."""
    have = _length(wanted.part)
    headers = {"User-Agent": "gnomon", "Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
    request = Request(wanted.url, headers=headers)  # noqa: S310 - scheme checked
    try:
        with opener().open(request, timeout=TIMEOUT) as reply:
            _store(reply, wanted, have, clock)
    except HTTPError as error:
        _refused(error, wanted, have)
    except (URLError, http.client.HTTPException, ConnectionError, TimeoutError) as error:
        raise _broken(error, wanted.url) from None
    except ValueError:  # what the standard library makes of an address such as http://[::1
        raise DataError(f"{wanted.url} redirects to what is not an address.", BY_HAND) from None


def _store(reply: Any, wanted: _Wanted, have: int, clock: Callable[[], float]) -> None:
    continues = reply.status == 206
    if continues and not _starts_at(reply, have):
        raise _BrokenError("the server sent another part than the one asked for")
    start = have if continues else 0
    total = _total(reply, start)
    if total > wanted.limit:
        raise DataError(
            f"{wanted.url} has {total:,} bytes, more than the {wanted.limit:,} it should have.",
            "Nothing was fetched: the file has changed at its source. " + BY_HAND,
        )
    with wanted.part.open("ab" if continues else "wb") as out:
        done = _copy(reply, out, wanted, start, total, clock)
    if total and done < total:
        raise _BrokenError(f"the connection ended after {done:,} of {total:,} bytes")


def _copy(
    reply: Any,
    out: IO[bytes],
    wanted: _Wanted,
    start: int,
    total: int,
    clock: Callable[[], float],
) -> int:
    """Write what arrives, and return how many bytes there are then."""
    done = start
    began = clock()
    while chunk := reply.read1(CHUNK):  # what is here; `read` would wait for a whole chunk
        done += len(chunk)
        if done > wanted.limit:
            out.close()
            os.unlink(out.name)
            raise DataError(
                f"{wanted.target.name} is longer than the {wanted.limit:,} bytes it should have.",
                "Nothing was kept: the file has changed at its source. " + BY_HAND,
            )
        out.write(chunk)
        if wanted.progress:
            wanted.progress(wanted.target, done, total)
        seconds = clock() - began
        if seconds > GRACE and done - start < LEAST_RATE * seconds:
            raise _BrokenError(f"fewer than {LEAST_RATE:,} bytes arrive in a second")
    return done


def _length(file: Path) -> int:
    return file.stat().st_size if file.is_file() else 0


def _total(reply: Any, start: int) -> int:
    """How many bytes the whole file has, or 0 if the server does not say."""
    length = str(reply.headers.get("Content-Length", ""))
    return start + int(length) if length.isdecimal() else 0


def _starts_at(reply: Any, have: int) -> bool:
    return str(reply.headers.get("Content-Range", "")).startswith(f"bytes {have}-")


def _broken(error: Exception, url: str) -> Exception:
    reason = getattr(error, "reason", None) or error
    if isinstance(reason, gaierror):
        return DataError(
            f"{urlsplit(url).hostname} cannot be reached: its name is not known here.",
            "Check the network. Without one, give the authors' folder with --data.",
        )
    said = getattr(reason, "strerror", None) or str(reason) or type(error).__name__
    return _BrokenError(printable(said))


def _refused(error: HTTPError, wanted: _Wanted, have: int) -> None:
    with error:
        said = f"the server answered {error.code} {printable(str(error.reason))}"
        if error.code == 416 and have:  # there is nothing after what we have
            if str(error.headers.get("Content-Range", "")) == f"bytes */{have}":
                return  # whole already, or another version: the hash tells
            wanted.part.unlink()
            raise _BrokenError("the server has a shorter file than the part that was here")
        if error.code in BUSY:
            raise _BrokenError(said)
        if error.code < 400:
            said = "it redirects in a circle"
        raise DataError(
            f"{wanted.url} could not be fetched: {said}.", f"The file may have moved. {BY_HAND}"
        ) from None
