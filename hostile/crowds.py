"""Holds 300 half-open connections to a page, and looks whether others are still let in.

    python -m hostile.crowds [--connections N] [--json]

One address opens them to the viewer and to the page of `gnomon people ask`: without a word, amid a
request, and amid a form. Meanwhile the same page is asked for from another address, and by another
client of the same one: it must come within a second, none may be refused, and the server, whose
connections are then cut off, must not print a traceback.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import median
from typing import IO

from gnomon.web import CONNECTIONS
from hostile.annotators import Server
from hostile.arguments import parser_of
from hostile.command import command
from hostile.tally import Tally, tell

PROMPT = 1.0  # seconds until a page is there
REQUESTS = 5
FORM = "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\nContent-Type: "
HALVES = {
    "without a word": "",
    "amid a request": "GET {path} HTTP/1.1\r\nHost: local",
    "amid a form": f"{FORM}application/x-www-form-urlencoded\r\n\r\ntoken=",
}
CLIENTS = {"another address": "127.0.0.2", "the same address": "127.0.0.1"}


class Page:
    """Where a page is."""

    def __init__(self, port: int, path: str) -> None:
        self.port = port
        self.path = path

    def seconds(self, client: str) -> float:
        """How long the page takes, from an address of this machine."""
        began = time.monotonic()
        with self.connected(client) as there:
            there.sendall(f"GET {self.path} HTTP/1.0\r\nHost: localhost\r\n\r\n".encode())
            heard = b""
            while block := there.recv(2**16):
                heard += block
        if not heard.startswith(b"HTTP/1.1 200 ") or b"</html>" not in heard:
            raise ConnectionError(f"{heard[:80]!r}")
        return time.monotonic() - began

    def connected(self, client: str) -> socket.socket:
        """A connection from an address of this machine."""
        return socket.create_connection(("127.0.0.1", self.port), 30, source_address=(client, 0))


@contextmanager
def viewer(folder: Path, told: IO[str]) -> Iterator[Page]:
    """The viewer of one run."""
    runs = str(folder / "runs")
    command("run", "scales", "-m", "random", "--limit", "20", "--runs", runs, "--quiet")
    words = [sys.executable, "-m", "gnomon", "view", "--runs", runs, "--port", "0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=told, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().split()[2]
        try:
            yield Page(int(address.rstrip("/").rpartition(":")[2]), "/")
        finally:
            process.kill()


@contextmanager
def annotate(folder: Path, told: IO[str]) -> Iterator[Page]:
    """The page on which people answer."""
    server = Server(("scales", "--limit", "20"), ["ann"], folder, told)
    server.start()
    try:
        yield Page(server.port, server.links["ann"])
    finally:
        server.kill()


def crowd(page: Page, connections: int, half: str) -> list[socket.socket]:
    """So many connections of one address, each with one half of something."""
    held = []
    for _ in range(connections):
        there = page.connected("127.0.0.1")
        with suppress(OSError):  # closed already, in favour of the others
            there.sendall(half.format(path=page.path.partition("?")[0]).encode())
        held.append(there)
    return held


def tried(page: Page, connections: int, tally: Tally) -> None:
    """Each kind of half-open connection, and each kind of other client."""
    page.seconds("127.0.0.1")  # what is computed once is there
    for name, half in HALVES.items():
        for client, address in CLIENTS.items():
            tally.tried += 1
            held = crowd(page, connections, half)
            what = f"{connections} connections {name}, a page for {client}"
            try:
                usual = median(page.seconds(address) for _ in range(REQUESTS))
            except OSError as error:
                tally.fault("failed", f"{what}: {error}")
            else:
                tally.read += 1
                if usual > PROMPT:
                    tally.fault("hang", f"{what}: {usual:.2f} s")
            for each in held:
                each.close()


def tallies(connections: int) -> Iterator[tuple[str, Tally]]:
    """Both pages with what came of the crowd before them."""
    for title, serving in (("viewer", viewer), ("annotate", annotate)):
        tally = Tally()
        with tempfile.TemporaryDirectory() as place, tempfile.TemporaryFile("w+") as told:
            with serving(Path(place), told) as page:
                tried(page, connections, tally)
            told.seek(0)
            said = told.read()
        if said:
            tally.fault("traceback", f"{said.count('Traceback')} times: {said[-200:]}")
        yield f"half-open connections: {title}", tally


def main() -> int:
    parser = parser_of(__doc__ or "")
    most = f"more than the {CONNECTIONS} that a page holds"
    parser.add_argument("--connections", type=int, default=300, help=most)
    args = parser.parse_args()
    return 0 if tell(tallies(args.connections), as_json=args.json) else 1


if __name__ == "__main__":
    sys.exit(main())
