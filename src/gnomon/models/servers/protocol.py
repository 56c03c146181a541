"""What a server's API must say to be asked, what is kept of its replies, and what may be spent.

Another API is one module with a class of this shape and a factory beside it: retries, budgets,
pictures, kept replies and the reading of answers are shared by all (`openai` is the first).
"""

from __future__ import annotations

import math
import re
import sqlite3
import time
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from io import BytesIO
from math import ceil
from pathlib import Path
from secrets import token_hex
from typing import Any, NamedTuple, Protocol
from urllib.parse import unquote

import msgspec

from gnomon.contracts import Scale, Takes
from gnomon.errors import ModelError, UsageError
from gnomon.models.choices import log_sum
from gnomon.records import Image
from gnomon.redaction import HIDDEN
from gnomon.vision.images import PNG, decode_bytes, file_of, stored

# What OpenAI's models count: the picture is scaled into a square, then its shorter side down to a
# length; each tile that begins counts, and the picture itself.
SQUARE, SHORTER, TILE = 2048, 768, 512
PICTURE_TOKENS, TILE_TOKENS = 85, 170
UNKNOWN_SIDE = 1024  # pixels of a picture whose size an item does not name
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


class Tokens(NamedTuple):
    """Tokens that a request reads and writes."""

    read: int
    written: int

    def plus(self, other: Tokens) -> Tokens:
        """Both together."""
        return Tokens(self.read + other.read, self.written + other.written)


FREE = Tokens(0, 0)


@dataclass
class Budget:
    """What may be spent and what has been. Prices are per million tokens."""

    price_input: float = 0.0
    price_output: float = 0.0
    max_cost: float | None = None
    max_tokens: int | None = None
    cost: float = 0.0
    tokens: int = 0

    def reserve(self, most: Tokens) -> None:
        """Set aside what a request may cost at most, or say that the budget is spent."""
        cost = self._cost(most)
        if self.max_cost is not None and self.cost + cost > self.max_cost:
            raise ModelError(
                f"The budget is spent: {self.cost:.4f} of {self.max_cost:g}, and the next request "
                f"may cost {cost:.4f}.",
                "What was answered is kept. Give the command again to spend as much again, or a "
                "larger one with --set max_cost=N.",
            )
        if self.max_tokens is not None and self.tokens + sum(most) > self.max_tokens:
            raise ModelError(
                f"The budget is spent: {self.tokens:,} of {self.max_tokens:,} tokens, and the next "
                f"request may take {sum(most):,}.",
                "What was answered is kept. Give the command again to spend as much again, or a "
                "larger budget_tokens.",
            )
        self.cost += cost
        self.tokens += sum(most)

    def settle(self, reserved: Tokens, used: Tokens) -> None:
        """Replace what was set aside by what was used."""
        self.cost += self._cost(used) - self._cost(reserved)
        self.tokens += sum(used) - sum(reserved)

    def _cost(self, tokens: Tokens) -> float:
        price = tokens.read * self.price_input + tokens.written * self.price_output
        return price / 1e6


class Completion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All of a reply that is used or kept."""

    text: str
    used: Tokens
    first: dict[str, float] = {}  # what could have come first, with log-probabilities
    offsets: tuple[int, ...] = ()  # of an echoed prompt: where each token begins
    logprobs: tuple[float | None, ...] = ()  # and how likely it is after those before it
    cut: bool = False  # it was too long to be kept whole
    unfinished: bool = False  # the server ended it at the limit of tokens


class MalformedError(Exception):
    """A reply with status 200 that cannot be used."""


class ServerApi(Protocol):
    """How a model is asked by one kind of server."""

    scheme: str  # what stands before the model's name, as in openai:NAME
    model: str
    path: str  # where requests go, below the server's address
    scale: Scale
    takes: frozenset[Takes]
    converses: bool  # it is given the turns of a conversation, not one text
    logprobs: bool  # it is asked for what could have come first
    echo: bool  # it gives back a whole text with its log-probabilities
    limits: Sequence[int]  # tokens of a reply: at first, and each time that it was cut

    def describe(self) -> dict[str, Any]:
        """What of this determines the answers."""

    def for_reply(
        self, said: str | list[dict[str, str]], limit: int, answers: Sequence[str]
    ) -> dict[str, Any]:
        """A request for a reply of so many tokens; if that is constrained, one of the answers."""

    def for_echo(self, text: str) -> dict[str, Any]:
        """A request that gives back its own text with log-probabilities."""

    def sent(self, body: dict[str, Any], pictures: Sequence[SentPicture]) -> dict[str, Any]:
        """A request as it is sent: in words that this server knows, and with its pictures."""

    def estimate(self, body: dict[str, Any]) -> Tokens:
        """The most tokens that a request is likely to use, its pictures aside."""

    def parse(self, raw: bytes, asked: RequestFacts) -> Completion:
        """What is kept of a reply; a `MalformedError` says that it cannot be used."""

    def learns_words(self, complaint: str, sent: dict[str, Any]) -> bool:
        """Whether a refused request may be sent again in other words that mean the same."""

    def refused(self, complaint: str, sent: dict[str, Any]) -> tuple[str, str] | None:
        """The parameter that a server complains about, and what to do without it."""


class RequestFacts(NamedTuple):
    """What of a request decides how its reply is read."""

    most: Tokens  # that it may use, by our own estimate
    secrets: Sequence[str] = ()  # which are not kept
    pictures: Sequence[str] = ()  # nor are they
    picture_tokens: int = 0  # their part of `most`


def scores_of(
    alternatives: dict[str, float], answers: Sequence[Sequence[str]]
) -> tuple[float, ...] | None:
    """The log-probability of each choice, from the first token's alternatives.

    None if the token that came, which leads, begins no answer. A token counts for the one choice
    whose answer it begins. A choice that is not among the alternatives is at most as likely as the
    least of them and as all that is left.

    >>> scores_of({"True": -0.1, " false": -2.5, "I": -4.0}, [["True"], ["False"]])
    (-0.1, -2.5)
    """
    found: list[list[float]] = [[] for _ in answers]
    for token, value in alternatives.items():
        owner = _begins(token, answers)
        if owner is not None:
            found[owner].append(value)
        elif not any(found):
            return None
    if not any(found):
        return None
    left = 1.0 - sum(math.exp(value) for value in alternatives.values())
    bound = min(min(alternatives.values()), math.log(max(left, 1e-9)))
    return tuple(log_sum(values) if values else bound for values in found)


def first_choice(alternatives: dict[str, float], answers: Sequence[Sequence[str]]) -> int | None:
    """The choice that the token which came first begins, if it begins one and no other.

    >>> first_choice({"True": -0.1, " false": -2.5}, [["True"], ["False"]])
    0
    """
    if not alternatives:
        return None
    return _begins(next(iter(alternatives)), answers)


def echo_score(completion: Completion, start: int) -> float:
    """The sum over the tokens of an echoed prompt that reach beyond its first characters."""
    ends = [*completion.offsets[1:], math.inf]
    total = 0.0
    for value, end in zip(completion.logprobs, ends, strict=False):
        if end > start and value is not None:
            total += value
    return total


def _begins(token: str, answers: Sequence[Sequence[str]]) -> int | None:
    """The one choice that has an answer beginning with this token, if there is one and no other."""
    text = token.strip().casefold()
    if not text:
        return None
    owners = []
    for place, ways in enumerate(answers):
        if any(word.casefold().startswith(text) for word in ways):
            owners.append(place)
    return owners[0] if len(owners) == 1 else None


def check_positive(option: str, value: float) -> None:
    """Refuse an option that must be above 0 and is not."""
    if not value > 0:
        raise UsageError(
            f"The option {option} must be above 0, not {value}.", "Give more, or leave it out."
        )


# Replies that were paid for, kept on disk for the run that they were given to.
#
# A run that is stopped within a batch continues without paying for it again. Another run, or one
# that starts over, asks anew: the server may have other weights by then.


LONGEST_KEPT = 30 * 24 * 3600.0  # seconds after which no run is expected to continue


class Replies:
    """A table from requests (address and body) of a run to what is kept of the reply.

    Several processes may use it at once.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     replies = Replies(Path(folder) / "replies.sqlite")
    ...     replies.keep("http://localhost/v1", {"model": "a"}, Completion("yes", (9, 1)))
    ...     found = [replies.find("http://localhost/v1", {"model": name}) for name in "ab"]
    ...     replies.close()
    >>> found[0].text, found[1]
    ('yes', None)
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._opened = time.time()
        self.run = token_hex(8)  # whose replies these are: of nobody else, unless that is said
        self.used: Counter[str] = Counter()  # kept before this was opened, by day
        with self._usable():
            file.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(
                file, timeout=60, isolation_level=None, check_same_thread=False
            )
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.execute("DROP TABLE IF EXISTS replies")  # of an earlier version, for all runs
            self._db.execute(
                "CREATE TABLE IF NOT EXISTS kept (run TEXT, request BLOB, reply BLOB, at REAL, "
                "PRIMARY KEY (run, request)) WITHOUT ROWID"
            )
            self._db.execute("DELETE FROM kept WHERE at < ?", (self._opened - LONGEST_KEPT,))

    def find(self, address: str, body: dict[str, Any]) -> Completion | None:
        """What was kept of the reply to this request, if this run was ever given one."""
        asked = (self.run, _key(address, body))
        with self._usable():
            row = self._db.execute(
                "SELECT reply, at FROM kept WHERE run = ? AND request = ?", asked
            ).fetchone()
        if row is None:
            return None
        reply, at = row
        try:
            completion = msgspec.json.decode(reply, type=Completion)
            day = f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}"
        except (msgspec.DecodeError, TypeError, ValueError, OverflowError, OSError):
            return None  # as another version kept it: ask again
        if at < self._opened:
            self.used[day] += 1
        return completion

    def keep(self, address: str, body: dict[str, Any], completion: Completion) -> None:
        """Remember a reply."""
        row = (self.run, _key(address, body), msgspec.json.encode(completion), time.time())
        with self._usable():
            self._db.execute("INSERT OR REPLACE INTO kept VALUES (?, ?, ?, ?)", row)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    @contextmanager
    def _usable(self) -> Iterator[None]:
        """While inside, what is wrong with the file is an error for people."""
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            raise ModelError(
                f"The cache of replies {self._file} cannot be used: {error}.",
                "Remove the file, or ask without it: --set cache=no (in Python cache=False)",
            ) from None


def _key(address: str, body: dict[str, Any]) -> bytes:
    return sha256(msgspec.json.encode([address, body], order="sorted")).digest()
