"""One fact put in several ways: by its converse, denied, and of the picture in a mirror.

It takes any captions that name their two things and relation by tags. The right answer follows
from that of the plain caption, by data/vsr/ways.yaml; where it is not certain, the way is left out.
The items of a fact share the tag `fact`, and stand together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from gnomon.benchmarks.vsr import wording
from gnomon.benchmarks.vsr.categories import CHOICES, category
from gnomon.errors import UsageError, unknown
from gnomon.files import package_data, read_yaml
from gnomon.records import Item
from gnomon.scenes.saying import synonyms
from gnomon.scenes.things import things

PLAIN = "plain"
WAYS = ("converse", "negation", "mirror")
ALL = "all"
OTHER_SIDE = {"subject": "ground", "ground": "subject", "": ""}


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is said in place of each relation; see the file."""

    symmetric: tuple[str, ...]
    converse: dict[str, str]
    converse_if_drawn: dict[str, str]
    converse_without_fronts: dict[str, str]
    mirrored: dict[str, str]


class Statement(NamedTuple):
    """What a caption says: the same words for published and for fresh ones."""

    subject: str
    relation: str
    ground: str
    several: str = ""  # the role of which there are several: subject, ground or none
    frame: str = ""  # whose left and right are meant, where the caption says so
    denied: bool = False

    @classmethod
    def of(cls, item: Item) -> Statement | None:
        """What an item's tags say; none if it is no statement about two things."""
        tags = item.tags
        subject, ground = tags.get("subj", ""), tags.get("obj", "")
        if not subject or not ground or tags.get("control") == "yes":
            return None
        frame = tags.get("frame", "") if "viewer" in tags else ""
        return cls(subject, tags["relation"], ground, tags.get("several", ""), frame)

    def text(self) -> str:
        """The statement as a caption."""
        plain = wording.caption(
            self.subject, self.relation, self.ground, several=self.several, denied=self.denied
        )
        return wording.framed(plain, self.frame, self.ground)


def chosen_ways(text: str, form: str = "caption") -> tuple[str, ...]:
    """The ways that an option names, with commas between them, or all that a form allows.

    >>> chosen_ways("negation, converse"), chosen_ways("all", "text")
    (('converse', 'negation'), ('converse', 'negation'))
    """
    possible = WAYS if form == "caption" else WAYS[:2]
    asked = [name.strip() for name in text.split(",") if name.strip()]
    if not asked:
        return ()
    if form == "scene":
        raise UsageError("A prompt is put in one way only.", "Leave --set ways out.")
    if asked == [ALL]:
        return possible
    for name in asked:
        if name not in WAYS:
            raise unknown("way of asking", name[:60], (*WAYS, ALL))
        if name not in possible:
            raise UsageError(
                "A description in words has no mirror.", "Ask for converse and negation."
            )
    return tuple(way for way in WAYS if way in asked)


def in_ways(items: Iterable[Item], ways: Sequence[str], *, drawn: bool = False) -> Iterator[Item]:
    """Each item as it is, and after it the same fact in other ways, as far as they are certain.

    More is certain of scenes that were `drawn` than of photographs.
    """
    for item in items:
        if not ways:
            yield item
            continue
        fact = item.tags.get("fact", item.id)
        plain = replace(item, tags=item.tags | {"fact": fact, "way": PLAIN})
        yield plain
        for way in ways:
            other = put(plain, way, drawn=drawn)
            if other is not None:
                yield other


def put(item: Item, way: str, *, drawn: bool = False) -> Item | None:
    """An item's fact in another way; none where its truth would not be certain.

    The picture of a mirrored item is still the plain one: it is mirrored when it is needed.
    """
    said = Statement.of(item)
    if said is None:
        return None
    other = PUT[way](said, drawn=drawn)
    if other is None:
        return None

    true = item.gold == ("true",)
    text = other.text()
    if item.form == "choice":  # the scene is described, and the caption a question about it
        text = wording.question(text)
    gold = (CHOICES[true != other.denied],)
    return replace(
        item, id=f"{item.id}/{way}", text=text, gold=gold, tags=_tags(item.tags, other, way)
    )


def converse(said: Statement, *, drawn: bool = False) -> Statement | None:
    """The same fact with its two things changing places; none if that is not certain."""
    if said.frame:  # it would go by the other thing's sides
        return None
    fronts = _may_have_front(said.subject) or _may_have_front(said.ground)
    word = _converses(drawn=drawn, fronts=fronts).get(said.relation)
    if word is None:
        return None
    return said._replace(
        subject=said.ground,
        relation=word,
        ground=said.subject,
        several=OTHER_SIDE[said.several],
    )


def denied(said: Statement, *, drawn: bool = False) -> Statement:
    """That it is not so: true exactly if the statement is false."""
    return said._replace(denied=True)


def mirrored(said: Statement, *, drawn: bool = False) -> Statement:
    """What is true of the mirrored picture exactly if the statement is true of the picture."""
    return said._replace(relation=table().mirrored.get(said.relation, said.relation))


@cache
def table() -> _Table:
    """The table of ways."""
    return msgspec.convert(read_yaml(package_data("vsr/ways.yaml")), _Table)


@cache
def _converses(*, drawn: bool, fronts: bool) -> dict[str, str]:
    """The converse of each relation that has a certain one."""
    words = table()
    found = {word: word for word in words.symmetric} | words.converse
    if drawn:
        found |= words.converse_if_drawn
    if not fronts:
        found |= words.converse_without_fronts
    return found


def _may_have_front(name: str) -> bool:
    thing = things().get(synonyms().get(name, name))
    return thing is None or thing.front


def _tags(tags: dict[str, str], said: Statement, way: str) -> dict[str, str]:
    found = tags | {
        "relation": said.relation,
        "category": category(said.relation),
        "subj": said.subject,
        "obj": said.ground,
        "way": way,
    }
    if said.several:
        found["several"] = said.several
    if "pair" in tags:
        found["pair"] = f"{tags['pair']}/{way}"
    if said.denied:
        for frame in ("viewer", "own"):  # whether it is true in each
            if frame in tags:
                found[frame] = CHOICES[tags[frame] == "false"]
    return found


PUT = {"converse": converse, "negation": denied, "mirror": mirrored}
