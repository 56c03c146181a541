"""`synth:openai/NAME`: the images endpoint of an OpenAI-compatible server, pictures as base64.

Retries, budgets and secrets are those of every server (`models.servers`). What is no picture is the
trouble of its item.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import re
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from gnomon.errors import DataError, UsageError
from gnomon.models.servers.openai import DEFAULT_KEY, addresses_from, check_name
from gnomon.models.servers.protocol import Budget, Tokens
from gnomon.models.servers.refusals import AskError
from gnomon.models.servers.remote import Outgoing, Remote
from gnomon.options import neutral
from gnomon.paint.factory import as_model
from gnomon.paint.records import Made, Making, PaintedPicture, PaintRequest, PaintTrouble
from gnomon.vision.images import size_in

PATH = "/images/generations"
ROOM = 96 * 2**20  # bytes of a reply: the largest picture that is kept, in base64
ONE = Tokens(0, 1)  # a picture, as budgets count them
SIZE = re.compile(r"auto|[0-9]{1,5}x[0-9]{1,5}")
MILLION = 1e6  # what prices of tokens are for


class _ServerReply(NamedTuple):
    """What a server sent: a picture, or why there is none."""

    made: Made
    used: Tokens = ONE


class _One(msgspec.Struct):
    b64_json: str = ""
    url: str = ""


class _Body(msgspec.Struct):
    data: list[_One] = []


@as_model
@neutral("concurrency", "attempts", "timeout", "max_cost", "price_picture", "key_env")
def server(
    name: str,
    *,
    base_url: str = "",
    size: str = "",
    quality: str = "",
    send_seed: bool = False,
    response_format: bool = True,
    concurrency: int = 4,
    attempts: int = 6,
    timeout: float = 300.0,
    max_cost: float | None = None,
    price_picture: float | None = None,
    key_env: str = DEFAULT_KEY,
) -> ServerPainter:
    """A model of the images endpoint by the name that its server knows.

    base_url   the server's address, or several (else OPENAI_BASE_URL, else OpenAI's own)
    size       as the server takes it, such as 1024x1024 (default: its own)
    quality    as the server takes it (default: its own)
    send_seed  yes sends each picture's seed, for servers that take one
    response_format  no does not ask for base64, for servers that always give it
    concurrency  how many requests to make at a time, to each server
    attempts   how often a request is tried before its item fails
    timeout    seconds that a picture may take
    max_cost   end the run before it spends more than this; needs price_picture
    price_picture  price of one picture
    key_env    the environment variable that holds the key, never the key itself; empty for none
    """
    check_name(name, key_env)
    addresses = addresses_from(base_url)
    if size and not SIZE.fullmatch(size):
        raise UsageError(f"'{size[:40]}' is not a size.", "Write, for example, 1024x1024.")
    format = "b64_json" if response_format else ""
    how = {"response_format": format, "size": size, "quality": quality}
    given = {option: value for option, value in how.items() if value}
    body: dict[str, Any] = {"model": name, "n": 1, **given}
    remote = Remote(
        addresses,
        key_env,
        _budget(max_cost, price_picture),
        concurrency=concurrency,
        attempts=attempts,
        timeout=timeout,
    )
    return ServerPainter(
        name, body, remote, send_seed=send_seed, batch=concurrency * len(addresses)
    )


class ServerPainter:
    """Asks a server for pictures, several at a time."""

    def __init__(
        self, name: str, body: dict[str, Any], remote: Remote, *, send_seed: bool, batch: int
    ) -> None:
        self.spec = f"synth:openai/{name}"
        self.batch = batch
        self._body, self._remote, self._send_seed = body, remote, send_seed

    def describe(self) -> dict[str, Any]:
        """What determines the pictures; never the key."""
        return {
            **self._body,
            "base_url": self._remote.describe(),
            "send_seed": self._send_seed,
        }

    def close(self) -> None:
        """Close all connections."""
        self._remote.close()

    def paint(self, requests: Sequence[PaintRequest]) -> Making:
        """All requests at once, as far as the server's concurrency allows."""
        found = self._remote.run(self._ask_all(requests))
        yield from zip(requests, found, strict=True)

    async def _ask_all(self, requests: Sequence[PaintRequest]) -> list[Made]:
        return list(await asyncio.gather(*(self._ask(request) for request in requests)))

    async def _ask(self, request: PaintRequest) -> Made:
        body = {**self._body, "prompt": request.prompt}
        if self._send_seed:
            body["seed"] = request.seed
        async with self._remote.slots:
            try:
                asked = Outgoing(PATH, body, ONE, self._read, room=ROOM)
                found = await self._remote.post(asked)
            except AskError as error:
                return PaintTrouble(str(error))
        return found.kept.made

    def _read(self, raw: bytes) -> _ServerReply:
        made = read_reply(raw)
        wanted = self._body.get("size", "")
        if isinstance(made, PaintedPicture) and wanted and size_of(made.content) != wanted:
            return _ServerReply(
                PaintTrouble(f"the server sent a picture of another size than {wanted}")
            )
        return _ServerReply(made)


def read_reply(raw: bytes) -> Made:
    """The picture in a server's reply, or what is wrong with it.

    >>> read_reply(b"<html>502 Bad Gateway</html>").reason
    'the server sent a web page, not a picture'
    """
    if raw.lstrip()[:1] == b"<":
        return PaintTrouble("the server sent a web page, not a picture")
    try:
        body = msgspec.json.decode(raw, type=_Body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return PaintTrouble("the server sent something else than pictures")
    if not body.data:
        return PaintTrouble("the server sent no picture")
    if not body.data[0].b64_json:
        return PaintTrouble(
            "the server sent an address, which is not followed, instead of a picture"
        )
    try:
        return PaintedPicture(base64.b64decode(body.data[0].b64_json, validate=True))
    except (binascii.Error, ValueError):
        return PaintTrouble("the server's picture is not base64")


def size_of(content: bytes) -> str:
    """Width and height of a picture as the server names them; empty if it is none."""
    try:
        width, height = size_in(BytesIO(content), Path("the picture"))
    except DataError:
        return ""
    return f"{width}x{height}"


def _budget(max_cost: float | None, price: float | None) -> Budget:
    if max_cost is not None and price is None:
        raise UsageError(
            "A budget in money needs the price of a picture.",
            "Give it with --set price_picture=0.04",
        )
    return Budget(price_output=(price or 0.0) * MILLION, max_cost=max_cost)
