"""One fact put in several ways: by its converse, denied, and of the picture in a mirror.

It takes any captions that name their two things and relation by tags. The right answer follows
from that of the plain caption, by the laws of the lexicon; where it is not certain, the
way is left out. The items of a fact share the tag `fact`, and stand together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from gnomon.benchmarks.vsr import wording
from gnomon.benchmarks.vsr.files import CHOICES, category
from gnomon.errors import UsageError, unknown
from gnomon.lexicon.relations import lexicon, names_by_noun
from gnomon.records import Item
from gnomon.scenes.things import things

PLAIN = "plain"
WAYS = ("converse", "negation", "mirror")
ALL = "all"
OTHER_SIDE = {"subject": "ground", "ground": "subject", "": ""}


class CaptionFact(NamedTuple):
    """What a caption says: the same words for published and for fresh ones."""

    subject: str
    relation: str
    ground: str
    several: str = ""  # the role of which there are several: subject, ground or none
    frame: str = ""  # whose left and right are meant, where the caption says so
    denied: bool = False

    @classmethod
    def of(cls, item: Item) -> CaptionFact | None:
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
    said = CaptionFact.of(item)
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


def converse(said: CaptionFact, *, drawn: bool = False) -> CaptionFact | None:
    """The same fact with its two things changing places; none if that is not certain."""
    if said.frame:  # it would go by the other thing's sides
        return None
    fronts = _may_have_front(said.subject) or _may_have_front(said.ground)
    word = certain_converse(said.relation, drawn=drawn, fronts=fronts)
    if not word:
        return None
    return said._replace(
        subject=said.ground,
        relation=word,
        ground=said.subject,
        several=OTHER_SIDE[said.several],
    )


def denied(said: CaptionFact, *, drawn: bool = False) -> CaptionFact:
    """That it is not so: true exactly if the statement is false."""
    return said._replace(denied=True)


def mirrored(said: CaptionFact, *, drawn: bool = False) -> CaptionFact:
    """What is true of the mirrored picture exactly if the statement is true of the picture."""
    known = lexicon().relations.get(said.relation)
    other = known.mirrored if known is not None else ""
    return said._replace(relation=other or said.relation)


def certain_converse(relation: str, *, drawn: bool, fronts: bool) -> str:
    """The converse of a relation, or nothing if there is none that is certain."""
    known = lexicon().relations.get(relation)
    if known is None:
        return ""
    if known.symmetric:
        return relation
    words = known.converse
    if not fronts and words.without_fronts:
        return words.without_fronts
    if drawn and words.drawings:
        return words.drawings
    return words.always or words.captions


def _may_have_front(name: str) -> bool:
    thing = things().get(names_by_noun().get(name, name))
    return thing is None or thing.front


def _tags(tags: dict[str, str], said: CaptionFact, way: str) -> dict[str, str]:
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
