"""Simulated people who answer on the page of `gnomon people ask`, and the server that they use.

They speak HTTP themselves, with little work of their own, so that a trial on two cores measures the
server. Each answer carries a comment that occurs once, by which it is found again on disk.
"""

from __future__ import annotations

import asyncio
import re
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import IO, NamedTuple
from urllib.parse import urlencode

FORM = re.compile(rb'name="form" value="(\w+)"')
OPTION = re.compile(rb'name="(part\.\w+)" value="([^"]+)"')
PICTURE = re.compile(rb'<img src="([^"]+)"')
BACK = re.compile(rb'href="([^"]+)" data-back')
LINK = re.compile(r"  (\S+)  http://[^/]+(/join\?token=\S+)")
PATIENCE = 60.0  # seconds for one answer of the server


class GoneError(Exception):
    """The server is not there, or was killed amid its answer."""


class Heard(NamedTuple):
    """What the server said."""

    status: int
    headers: dict[str, str]
    body: bytes


class Server:
    """`gnomon people ask` in a process of its own, always at the same port."""

    def __init__(
        self, words: Sequence[str], people: Sequence[str], runs: Path, told: IO[str] | None = None
    ) -> None:
        self._command = [
            *(sys.executable, "-m", "gnomon", "people", "ask", *words),
            *("--people", ",".join(people), "--runs", str(runs)),
        ]
        self.port = free_port()
        self._told = told  # where its standard error goes
        self.links: dict[str, str] = {}
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start it, and wait until it listens."""
        self._process = subprocess.Popen(
            [*self._command, "--port", str(self.port)],
            stdout=subprocess.PIPE,
            stderr=self._told,
            text=True,
        )
        assert self._process.stdout is not None
        for line in self._process.stdout:
            found = LINK.match(line)
            if found:
                self.links[found[1]] = found[2]
            if line.startswith("Answers go to"):
                return
        raise GoneError("the server did not start")

    @property
    def pid(self) -> int:
        """Of the process."""
        assert self._process is not None
        return self._process.pid

    def kill(self) -> None:
        """End it without a warning, as kill -9 does."""
        assert self._process is not None
        self._process.kill()
        self._ended(self._process)

    def stop(self) -> None:
        """Ask it to end."""
        assert self._process is not None
        self._process.terminate()
        self._ended(self._process)

    def _ended(self, process: subprocess.Popen[str]) -> None:
        process.wait(60)
        if process.stdout is not None:
            process.stdout.close()


def free_port() -> int:
    """A port that nobody uses now."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


class Annotator:
    """One person with a browser of their own."""

    def __init__(self, name: str, port: int, link: str, seed: int) -> None:
        self.name = name
        self.waits: list[float] = []  # seconds from an answer to the next item
        self.acknowledged: dict[str, str] = {}  # address of an item -> comment
        self.unsure: dict[str, set[str]] = {}  # sent to it since, without an answer
        self.finished = False
        self._link = link
        self._port = port
        self._draw = Random(seed)
        self._cookie = ""
        self._at = ""
        self._page = b""
        self._count = 0
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def join(self) -> None:
        """Open the link and press the button."""
        token = self._link.partition("token=")[2]
        heard = await self._ask("POST", "/join", urlencode({"token": token}))
        if heard.status != 303:
            raise AssertionError(f"the link of {self.name} does not open: {heard.status}")
        self._cookie = heard.headers["set-cookie"].partition(";")[0]
        await self._show(heard.headers["location"])

    async def step(self, *, changes: float = 0.0) -> None:
        """Answer the item on the page, or go back to change the one before."""
        back = BACK.search(self._page)
        if back and self._draw.random() < changes:
            await self._show(back[1].decode())
        self._count += 1
        comment = f"{self.name}-{self._count}"
        await self._send(self._fields(comment), comment)

    async def again(self) -> None:
        """After the server is back: reload the page, as people do, and go on."""
        await self.close()
        await self._show(self._at)

    async def close(self) -> None:
        """Close the connection."""
        if self._streams:
            self._streams[1].close()
        self._streams = None

    async def _send(self, fields: dict[str, str], comment: str) -> None:
        address = self._at
        self.unsure.setdefault(address, set()).add(comment)
        began = time.monotonic()
        heard = await self._ask("POST", address, urlencode(fields))
        if heard.status != 303:
            raise AssertionError(f"{self.name} was answered {heard.status}")
        self.acknowledged[address] = comment
        self.unsure[address].clear()
        await self._show(heard.headers["location"])
        self.waits.append(time.monotonic() - began)

    def _fields(self, comment: str) -> dict[str, str]:
        token = FORM.search(self._page)
        assert token is not None, self._page[:400]
        options: dict[str, list[str]] = {}
        for name, value in OPTION.findall(self._page):
            options.setdefault(name.decode(), []).append(value.decode())
        chosen = {name: self._draw.choice(values) for name, values in options.items()}
        fields = {"form": token[1].decode(), "action": "save", "seconds": "1", "comment": comment}
        return {**fields, **chosen}

    async def _show(self, address: str) -> None:
        """Load a page with its pictures."""
        self._at = address
        heard = await self._ask("GET", address)
        if heard.status != 200:
            raise AssertionError(f"{self.name} was shown {heard.status}: {heard.body[-300:]!r}")
        self._page = heard.body
        self.finished = FORM.search(heard.body) is None
        for picture in PICTURE.findall(heard.body):
            shown = await self._ask("GET", picture.decode())
            assert shown.status == 200
            assert shown.body.startswith(b"\xff\xd8")

    async def _ask(self, method: str, address: str, body: str = "") -> Heard:
        reused = self._streams is not None
        try:
            async with asyncio.timeout(PATIENCE):
                try:
                    return await self._exchange(method, address, body)
                except (OSError, EOFError):
                    if not reused:
                        raise
                # A server closes connections that nobody uses; browsers then try once more.
                await self.close()
                return await self._exchange(method, address, body)
        except (OSError, EOFError, TimeoutError, ValueError) as error:
            await self.close()
            raise GoneError(str(error)) from None

    async def _exchange(self, method: str, address: str, body: str) -> Heard:
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        lines = [f"{method} {address} HTTP/1.1", f"Host: localhost:{self._port}"]
        if self._cookie:
            lines.append(f"Cookie: {self._cookie}")
        if method == "POST":
            lines.append("Content-Type: application/x-www-form-urlencoded")
            lines.append(f"Content-Length: {len(body)}")
        writer.write(("\r\n".join(lines) + "\r\n\r\n" + body).encode())
        await writer.drain()
        heard = await _read_answer(reader)
        if heard.headers.get("connection") == "close":
            await self.close()
        return heard


async def _read_answer(reader: asyncio.StreamReader) -> Heard:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    headers = {}
    for line in head[1:]:
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    length = int(headers.get("content-length", 0))
    return Heard(int(head[0].split()[1]), headers, await reader.readexactly(length))
