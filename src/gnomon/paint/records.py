"""What painters, the folder of pictures and judges exchange.

A painter turns a Request into a picture, which is kept as Painted. A judge looks at it and gives a
Verdict on what its item asks: which of two things is larger or taller, or where one of them is.
"""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

import msgspec

from gnomon.records import Item
from gnomon.vision.detection import Box
from gnomon.vision.images import Pixels

Kind = Literal["size", "height", "position"]
# The tags of a scene that name its two things. A position is that of the first to the second.
FIRST, SECOND = "thing_a", "thing_b"
# The tags of a picture that people are shown: the id of the scene, and which of its pictures.
PAINTED, PICTURE = "painted", "picture"
SIZES = frozenset({"larger", "smaller"})
HEIGHTS = frozenset({"taller", "shorter"})


class PaintQuestion(NamedTuple):
    """What a judge is to find out: how the first thing stands to the second."""

    first: str
    second: str
    kind: Kind


def asked_of(item: Item) -> PaintQuestion | None:
    """What an item asks of its picture; none if its tags do not name two things.

    >>> item = Item(id="1", form="scene", text="An ant and a bird.", choices=("larger", "smaller"),
    ...             gold=("smaller",), tags={"thing_a": "ant", "thing_b": "bird"})
    >>> asked_of(item)
    PaintQuestion(first='ant', second='bird', kind='size')
    """
    first, second = item.tags.get(FIRST, ""), item.tags.get(SECOND, "")
    if not first or not second:
        return None
    choices = frozenset(item.choices)
    if choices <= SIZES:
        return PaintQuestion(first, second, "size")
    if choices <= HEIGHTS:
        return PaintQuestion(first, second, "height")
    return PaintQuestion(first, second, "position")


class PaintRequest(NamedTuple):
    """One picture to be painted: the item, which of its pictures, the prompt and the seed."""

    item: Item
    number: int  # 0, 1 ... of the item's pictures
    prompt: str
    seed: int


def seed_of(item: str, number: int, seed: int = 0) -> int:
    """The seed of a picture, by its item's id and number: the same in any order and batch.

    >>> seed_of("size/ant/bird", 0) == seed_of("size/ant/bird", 0) != seed_of("size/ant/bird", 1)
    True
    """
    found = sha256(f"{seed}\t{number}\t{item}".encode(errors="surrogatepass")).digest()
    return int.from_bytes(found[:4])  # what every generator of random numbers takes


class PaintTrouble(NamedTuple):
    """Why there is no picture, in a few words."""

    reason: str


class TrueThing(msgspec.Struct, frozen=True, kw_only=True):
    """What a renderer knows of one thing in its picture."""

    name: str
    box: Box  # around all of it that is in the picture, hidden or not
    visible: float  # the share of it that nothing hides
    distance: float  # from the camera, in metres
    size: float  # the cube root of its volume's box, in metres
    height: float  # in metres


class Truth(msgspec.Struct, frozen=True, kw_only=True):
    """What a renderer knows of its picture: the item's two things, in order."""

    first: TrueThing
    second: TrueThing


class Painted(msgspec.Struct, frozen=True, kw_only=True):
    """A picture that was kept, or why there is none."""

    item: str  # Item.id
    number: int
    prompt: str
    seed: int
    file: str = ""  # below the folder of pictures
    sha256: str = ""  # of the file's bytes
    painter: str = ""  # its spec, and a digest of what it says of itself
    trouble: str = ""
    truth: Truth | None = None  # what the renderer knows; none for real painters


class FoundThing(NamedTuple):
    """A thing as a detector, and perhaps a depth map, sees it."""

    name: str  # the item's name for it
    box: Box
    confidence: float = 1.0
    distance: float | None = None  # large is far; none if not known


class ThingsFound(NamedTuple):
    """What is seen in one picture of the two things that an item names."""

    first: FoundThing | None
    second: FoundThing | None
    extras: tuple[FoundThing, ...] = ()  # others of the two kinds, less sure


class JudgeVerdict(NamedTuple):
    """What a judge says of one picture: the place of a choice, or none if it abstains."""

    choice: int | None
    scores: tuple[float, ...]  # one per choice, or none
    seen: dict[str, Any]  # plain JSON: boxes, distances, the rule, why it abstains


class PaintedPicture(NamedTuple):
    """A picture as a painter gives it: the bytes of a PNG or JPEG file."""

    content: bytes
    truth: Truth | None = None


Made = PaintedPicture | PaintTrouble
Making = Iterable[tuple[PaintRequest, Made]]


@runtime_checkable
class Painter(Protocol):
    """Turns requests into pictures.

    A class may also have
      count(item) -> int   how many pictures it has for an item, if it cannot make more
      keep(folder)         called before painting: what it keeps there of a picture that is not
                           done yet outlives the process
      close()              called at the end
    """

    spec: str  # as the user names it: "synth:render"
    batch: int  # requests that are painted together

    def describe(self) -> dict[str, Any]:
        """What determines the pictures (plain JSON)."""

    def paint(self, requests: Sequence[PaintRequest]) -> Making:
        """Each request with its picture, or with why there is none, in any order.

        `ModelError` ends the run; any other exception is the trouble of the batch's requests.
        """


class OneByOne:
    """A painter that makes one picture after the other: by `paint_one`."""

    def paint(self, requests: Sequence[PaintRequest]) -> Making:
        """Each request with its picture."""
        for request in requests:
            yield request, self.paint_one(request)

    def paint_one(self, request: PaintRequest) -> Made:
        """The picture of a request, or why there is none."""
        raise NotImplementedError


@runtime_checkable
class Judge(Protocol):
    """Looks at one picture at a time and decides what its item asks, or abstains."""

    def describe(self) -> dict[str, Any]:
        """What determines the verdicts (plain JSON)."""

    def look(self, item: Item, painted: Painted, picture: Pixels) -> JudgeVerdict:
        """What the picture shows. It raises DataError for a picture that it cannot look at."""
