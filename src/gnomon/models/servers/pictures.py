"""Pictures in requests: what is sent of them, what they cost, and that nothing of them is kept.

A picture goes as it is stored, in OpenAI's format, unless its longer side is over a limit. It is
opened when its request is about to be sent, so only pictures of requests under way are in memory.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from math import ceil
from typing import Any, NamedTuple
from urllib.parse import unquote

from gnomon.errors import UsageError
from gnomon.records import Image
from gnomon.redaction import HIDDEN
from gnomon.vision.images import PNG, decode_bytes, file_of, stored

UNKNOWN_SIDE = 1024  # pixels of a picture whose size an item does not name
# What OpenAI's models count: the picture is scaled into a square, then its shorter side down to a
# length; each tile that begins counts, and the picture itself.
SQUARE, SHORTER, TILE = 2048, 768, 512
PICTURE_TOKENS, TILE_TOKENS = 85, 170
QUALITY = 95  # of a JPEG that was scaled
SHORTEST_PIECE = 12  # characters of a picture that are looked for in what a server says
_DATA = re.compile(r"data:[\w.+/-]*;base64,[\w+/=\\%-]*", re.IGNORECASE)
_PIECE = re.compile(rf"[A-Za-z0-9+/=\\%]{{{SHORTEST_PIECE},}}")


class SentPicture(NamedTuple):
    """A picture as a request holds it."""

    url: str
    key: str  # what tells it from others, for the cache of replies
    tokens: int


@dataclass(frozen=True)
class PictureOptions:
    """How the pictures of a run are sent."""

    max_side: int = 0  # pixels of the longer side; 0 sends every picture as it is stored
    tokens: int | None = None  # what the server counts for a picture; none: as OpenAI's do

    def __post_init__(self) -> None:
        if self.max_side < 0 or (self.tokens is not None and self.tokens < 0):
            raise UsageError(
                "The options max_side and image_tokens cannot be below 0.",
                "Give more, or leave them out.",
            )

    def describe(self) -> dict[str, Any]:
        """What of this determines the answers."""
        if not self.max_side:
            return {}
        return {"max_side": self.max_side, "scaled": f"Lanczos; PNG, or JPEG of quality {QUALITY}"}

    def open(self, images: Sequence[Image]) -> list[SentPicture]:
        """The pictures of one request; a `DataError` says which of them cannot be shown."""
        return [self._open(image) for image in images]

    def expected(self, images: Sequence[Image]) -> int:
        """The tokens that pictures will count, by the sizes that items name; none is opened."""
        total = 0
        for image in images:
            width, height = image.width or UNKNOWN_SIDE, image.height or UNKNOWN_SIDE
            scale = min(1.0, self.max_side / max(width, height)) if self.max_side else 1.0
            counted = picture_tokens(ceil(width * scale), ceil(height * scale))
            total += counted if self.tokens is None else self.tokens
        return total

    def _open(self, image: Image) -> SentPicture:
        content = stored(image)
        picture = decode_bytes(content, file_of(image))  # a damaged one is never sent
        key = sha256(content).hexdigest()
        if self.max_side and max(picture.size) > self.max_side:
            kind = _kind(content)
            from PIL.Image import Resampling

            picture.thumbnail((self.max_side, self.max_side), resample=Resampling.LANCZOS)
            scaled = BytesIO()
            picture.save(scaled, kind, quality=QUALITY)
            content = scaled.getvalue()
            key = f"{key} within {self.max_side}"

        tokens = self.tokens
        if tokens is None:
            tokens = picture_tokens(*picture.size)
        data = b64encode(content).decode()
        return SentPicture(f"data:image/{_kind(content)};base64,{data}", key, tokens)


def picture_tokens(width: int, height: int) -> int:
    """What a picture of this size counts as at OpenAI.

    >>> picture_tokens(1024, 1024), picture_tokens(2048, 4096), picture_tokens(512, 512)
    (765, 1105, 255)
    """
    scale = min(1.0, SQUARE / max(width, height))
    scale = min(scale, SHORTER / min(width, height))
    across = ceil(width * scale / TILE)
    down = ceil(height * scale / TILE)
    return PICTURE_TOKENS + TILE_TOKENS * across * down


def with_pictures(body: dict[str, Any], pictures: Sequence[SentPicture]) -> dict[str, Any]:
    """A chat request whose last message begins with pictures.

    >>> asked = {"messages": [{"role": "user", "content": "A cat?"}]}
    >>> with_pictures(asked, [SentPicture("data:...", "", 85)])["messages"][0]["content"][-1]
    {'type': 'text', 'text': 'A cat?'}
    """
    if not pictures:
        return body
    *before, question = body["messages"]
    parts: list[dict[str, Any]] = []
    for picture in pictures:
        parts.append({"type": "image_url", "image_url": {"url": picture.url}})
    parts.append({"type": "text", "text": question["content"]})
    return {**body, "messages": [*before, {**question, "content": parts}]}


def for_the_cache(body: dict[str, Any], pictures: Sequence[SentPicture]) -> dict[str, Any]:
    """The request as the cache of replies knows it: the same text about two pictures differs."""
    if not pictures:
        return body
    return {**body, "pictures": [picture.key for picture in pictures]}


def hide_pictures(text: str, sent: Sequence[str]) -> str:
    """What a server says, without the pictures that it repeats, whole or in pieces.

    >>> hide_pictures("bad url data:image/png;base64,iVBORw0KGgo= in part 0", [])
    'bad url data:*** in part 0'
    """

    def hide(match: re.Match[str]) -> str:
        piece = unquote(match[0].replace("\\", ""))
        repeated = any(piece in url for url in sent)
        return HIDDEN if repeated else match[0]

    text = _DATA.sub(f"data:{HIDDEN}", text)
    return _PIECE.sub(hide, text) if sent else text


def _kind(content: bytes) -> str:
    return "png" if content.startswith(PNG) else "jpeg"
