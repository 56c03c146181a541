"""One file from the web, whole and verified or not at all: resumed after a break, bounded, moved
into place at the end.

Only http and https, with certificates checked and no step down from https to http. Bytes go to
NAME.part beside the target; a part that is there already is continued if the server can, and
started over if it cannot.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import time
from collections.abc import Callable
from pathlib import Path
from socket import gaierror
from typing import IO, Any, NamedTuple, Protocol
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, Request, build_opener

from gnomon.errors import DataError

CHUNK = 256 * 1024
TIMEOUT = 30.0  # seconds without a byte
BUSY = {408, 425, 429, 500, 502, 503, 504}  # answers worth another attempt


class Progress(Protocol):
    """Called as bytes arrive: the target, how many bytes of it are here, how many there will be (0:
    not known)."""

    def __call__(self, file: Path, done: int, total: int) -> None: ...  # noqa: D102


class Attempts(NamedTuple):
    """How often to try, and how to wait in between (seconds doubling from `pause`)."""

    most: int = 4
    pause: float = 1.0
    wait: Callable[[float], None] = time.sleep


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
    """Download to `target` and return the sha256. A wrong hash or size leaves nothing behind and no
    older file changed.

    A connection that breaks leaves NAME.part, from which the next call goes on.
    """
    if urlsplit(url).scheme not in ("http", "https"):
        raise DataError(f"{url} is not a web address.", "Only http and https are fetched.")
    tries = attempts or Attempts()
    part = target.with_name(target.name + ".part")
    target.parent.mkdir(parents=True, exist_ok=True)
    resumed = part.is_file() and part.stat().st_size > 0
    for attempt in range(tries.most):
        try:
            _pull(url, part, target, limit, progress)
            break
        except _BrokenError as error:
            if attempt + 1 == tries.most:
                raise DataError(
                    f"{url} could not be fetched: {error}.",
                    "Give the same command again to go on where it stopped, or, without a network, give "
                    "the authors' folder with --data.",
                ) from None
            tries.wait(tries.pause * 2**attempt)
    digest = _digest(part)
    problem = _problem(part, target, digest, sha256, size)
    if problem:
        part.unlink()
        if (
            resumed
        ):  # the old part may have been of another version of the file: once more from the start
            return download(
                url,
                target,
                sha256=sha256,
                size=size,
                limit=limit,
                progress=progress,
                attempts=attempts,
            )
        raise DataError(
            f"{url} {problem}.",
            "Nothing was kept. The file has changed at its source, or something on "
            "the way alters it: compare with the authors' repository.",
        )
    part.replace(target)
    return digest


def _problem(part: Path, target: Path, digest: str, sha256: str, size: int) -> str:
    if size and part.stat().st_size != size:
        return f"has {part.stat().st_size:,} bytes, not {size:,}"
    if sha256 and digest != sha256:
        return f"has the sha256 {digest}, not {sha256}"
    if target.suffix == ".jpg":
        with part.open("rb") as stream:
            if stream.read(3) != b"\xff\xd8\xff":
                return "is not a JPEG image"
    return ""


def _pull(url: str, part: Path, target: Path, limit: int, progress: Progress | None) -> None:
    """Bring `part` to its full length, from where it stands."""
    have = part.stat().st_size if part.is_file() else 0
    headers = {"User-Agent": "gnomon", "Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
    try:
        with _opener().open(Request(url, headers=headers), timeout=TIMEOUT) as reply:  # noqa: S310 - scheme checked
            start = have if reply.status == 206 and _starts_at(reply, have) else 0
            if reply.status == 206 and not start:
                raise _BrokenError("the server sent another part than the one asked for")
            total = _total(reply, start)
            if total > limit:
                raise DataError(
                    f"{url} has {total:,} bytes, more than the {limit:,} it should have.",
                    "Nothing was fetched. Has the file changed at its source?",
                )
            with part.open("ab" if start else "wb") as out:
                _copy(reply, out, target, start, total, limit, progress)
    except HTTPError as error:
        _refused(error, url, part, have)
    except (URLError, http.client.HTTPException, ConnectionError, TimeoutError) as error:
        reason = getattr(error, "reason", None) or error
        if isinstance(reason, gaierror):
            raise DataError(
                f"{urlsplit(url).hostname} cannot be reached: its name is not known here.",
                "Is there a network? Without one, give the authors' folder with --data.",
            ) from None
        raise _BrokenError(
            getattr(reason, "strerror", None) or str(reason) or type(error).__name__
        ) from None


def _copy(
    reply: Any,
    out: IO[bytes],
    target: Path,
    done: int,
    total: int,
    limit: int,
    progress: Progress | None,
) -> None:
    while chunk := reply.read(CHUNK):
        done += len(chunk)
        if done > limit:
            out.close()
            os.unlink(out.name)
            raise DataError(
                f"{target.name} is longer than the {limit:,} bytes it should have.",
                "Nothing was kept. Has the file changed at its source?",
            )
        out.write(chunk)
        if progress:
            progress(target, done, total)
    if total and done < total:
        raise _BrokenError(f"the connection ended after {done:,} of {total:,} bytes")


def _total(reply: Any, start: int) -> int:
    """How many bytes the whole file has, or 0 if the server does not say."""
    length = str(reply.headers.get("Content-Length", ""))
    return start + int(length) if length.isdecimal() else 0


def _starts_at(reply: Any, have: int) -> bool:
    return str(reply.headers.get("Content-Range", "")).startswith(f"bytes {have}-")


def _refused(error: HTTPError, url: str, part: Path, have: int) -> None:
    with error:
        if (
            error.code == 416 and have
        ):  # nothing after what we have: whole already, or another version; the hash tells
            if str(error.headers.get("Content-Range", "")) == f"bytes */{have}":
                return
            part.unlink()
            raise _BrokenError("the server has a shorter file than the part that was here")
        if error.code in BUSY:
            raise _BrokenError(f"the server answered {error.code} {error.reason}")
        said = f"the server answered {error.code} {error.reason}"
        raise DataError(
            f"{url} could not be fetched: {'it redirects in a circle' if error.code < 400 else said}.",
            "The file may have moved; give the authors' folder with --data.",
        ) from None


class _Redirects(HTTPRedirectHandler):
    """Follows up to five redirects, to http and https only, never from https to http."""

    max_redirections = 5

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> Request | None:
        scheme = urlsplit(newurl).scheme
        if scheme not in ("http", "https") or (req.type == "https" and scheme == "http"):
            raise DataError(
                f"{req.full_url} redirects to {newurl}, which is not followed.",
                "Give the authors' folder with --data.",
            )
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _opener() -> OpenerDirector:
    return build_opener(_Redirects())


def _digest(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
