"""Scenes in words: read from a caption, and described so that every relation follows."""

import re
from collections.abc import Callable
from itertools import combinations
from math import atan2, degrees, hypot
from typing import NamedTuple

from gnomon.errors import UsageError, unknown
from gnomon.lexicon.relations import names_by_noun
from gnomon.lexicon.statements import Statement, read_clause
from gnomon.scenes.bodies import Body, BodyPair, Plan, dot, minus
from gnomon.scenes.contacts import is_flush
from gnomon.scenes.directions import heading
from gnomon.scenes.placing import arrange
from gnomon.scenes.relations import relations
from gnomon.scenes.scenes import Scene
from gnomon.scenes.things import things

# From a caption to a scene: "a cup on a table, a dog behind it".
#
# The grammar: clauses with commas, semicolons, full stops or "and" between them. A clause is a
# thing, or a thing, a relation and a thing. "it" is the ground that was named last, or else the
# last thing.


LONGEST = 500  # characters of a caption
MOST_CLAUSES = 12
PRONOUNS = ("it", "them", "that")


class CaptionContent(NamedTuple):
    """The things of a caption by id, and what it says about them."""

    names: dict[str, str]
    statements: list[Statement]


def other_nouns() -> dict[str, str]:
    """Other words for things of scenes."""
    known = things()
    return {n: name for n, name in names_by_noun().items() if name in known and n not in known}


def scene_of(text: str, seed: int = 0) -> Scene:
    """A scene in which a caption is true.

    >>> sorted(placed.thing for placed in scene_of("a cup on a table").things)
    ['cup', 'dining table']
    """
    said = understand(text)
    return arrange(said.names, said.statements, seed)


def understand(text: str) -> CaptionContent:
    """What a caption says.

    >>> understand("a cup on a table, a dog behind it").statements[1]
    Statement(subject='dog', relation='behind', ground='table', denied=False)
    """
    if len(text) > LONGEST:
        raise UsageError(f"The caption is longer than {LONGEST} characters.", "Say less.")
    clauses = [clause.strip() for clause in re.split(r"[,;.]|\band\b", text.lower())]
    clauses = [clause for clause in clauses if clause]
    if not clauses or len(clauses) > MOST_CLAUSES:
        hint = 'Say, for example: "a cup on a table, a dog behind it".'
        raise UsageError(f"A caption has 1 to {MOST_CLAUSES} clauses.", hint)
    said = CaptionContent({}, [])
    it = ""
    for clause in clauses:
        it = _take(clause, said, it)
    return said


def _take(text: str, said: CaptionContent, it: str) -> str:
    """Take in one clause; gives what "it" means in the next one."""
    clause = read_clause(" ".join(text.split()), bare_relations=True)
    if clause is None or clause.meant is None:
        return _named(text, said, it)
    relation = clause.meant
    if not relation.meaning:
        raise unknown("relation of scenes", clause.relation[:60], relations())
    if clause.denied:
        raise UsageError(f"'{text}' says what is not so.", "Say where things are.")
    first = _named(clause.before, said, it)
    second = _named(clause.after, said, it)
    if first == second:
        raise UsageError(f"'{text}' relates a thing to itself.", "Name two things.")
    said.statements.append(Statement(first, relation.name, second))
    return second


def _named(phrase: str, said: CaptionContent, it: str) -> str:
    """The id of what a phrase names; a new thing is added to what was said."""
    words = re.sub(r"\s+", " ", phrase.strip())
    known = re.match(r"(?:the|this|that) (.+)$", words)
    word = re.sub(r"^(?:an?|the|this|that|another|one) ", "", words)
    if word in PRONOUNS:
        if not it:
            raise UsageError(f"'{word}' names nothing yet.", "Name a thing first.")
        return it
    id = word.replace(".", " ")
    if known and id in said.names:
        return id
    name = other_nouns().get(word, word)
    if name not in things():
        raise unknown("thing", word[:60], [*things(), *other_nouns()])
    while id in said.names:
        id = f"other {id}"
    said.names[id] = name
    return id


# A scene in words from which every relation follows, but in other words than those of relations.
#
# The viewer looks north. Places are compass points, lengths and heights; where a thing looks is a
# bearing. Three wordings say the same: a list, sentences, and bearings from the first thing.


OPENING = (
    "You look north at a scene. Bearings are degrees clockwise from north: 90 is east, 180 is "
    "south, 270 is west. Heights are measured from the floor."
)


class MeasuredThing(NamedTuple):
    """A thing as it is described."""

    body: Body
    east: float  # of its middle, in metres from the mark
    north: float
    bearing: float  # of its front or, if it has none, of its longer side


def describe_scene(scene: Scene, wording: int = 0) -> str:
    """A scene in one of three wordings."""
    measured = [_measured(scene, Body(placed)) for placed in scene.things]
    lines = [OPENING, *WORDINGS[wording % len(WORDINGS)](measured)]
    for first, second in scene.links:
        lines.append(f"A rope runs from the {first} to the {second}.")
    for one, two in combinations(measured, 2):
        if is_flush(BodyPair(one.body, two.body, scene)):
            names = f"the {one.body.name} and the {two.body.name}"
            lines.append(f"The sides of {names} meet without a gap.")
    return "\n".join(lines)


def _measured(scene: Scene, body: Body) -> MeasuredThing:
    mark = (scene.viewer.at[0], scene.viewer.at[1])
    ahead = heading(BodyPair(body, body, scene))
    offset = minus(body.at, mark)
    way = body.front
    if not body.has_front:
        way = body.right if body.width >= body.depth else body.back
    return MeasuredThing(body, _east(offset, ahead), dot(offset, ahead), _bearing(way, ahead))


def _east(offset: Plan, ahead: Plan) -> float:
    return dot(offset, (ahead[1], -ahead[0]))


def _bearing(way: Plan, ahead: Plan) -> float:
    return degrees(atan2(_east(way, ahead), dot(way, ahead))) % 360


# How things are said.


def _list(measured: list[MeasuredThing]) -> list[str]:
    """A row for each thing, with its place as two numbers."""
    lines = ["Centimetres east and north of a mark on the floor; the south and west are negative:"]
    for each in measured:
        place = f"east {_cm(each.east)}, north {_cm(each.north)}"
        facts = "; ".join(_facts(each))
        lines.append(f"- {each.body.name}: middle {place}; {facts}")
    return lines


def _sentences(measured: list[MeasuredThing]) -> list[str]:
    """A few sentences for each thing, with its place as a walk from the mark."""
    lines = []
    for each in measured:
        north = f"{_cm(abs(each.north))} cm {'north' if each.north >= 0 else 'south'}"
        east = f"{_cm(abs(each.east))} cm {'east' if each.east >= 0 else 'west'}"
        lines.append(
            f"To reach the middle of the {each.body.name}, go {north} and then {east} from a mark "
            f"on the floor. About the {each.body.name}: {', '.join(_facts(each))}."
        )
    return lines


def _bearings(measured: list[MeasuredThing]) -> list[str]:
    """Each further thing by bearing and distance from the first one."""
    first = measured[0]
    lines = [f"The {first.body.name} comes first: {', '.join(_facts(first))}."]
    for each in measured[1:]:
        east, north = each.east - first.east, each.north - first.north
        bearing = degrees(atan2(east, north)) % 360
        lines.append(
            f"The middle of the {each.body.name} has a bearing of {bearing:.1f} as seen from the "
            f"middle of the {first.body.name}, {_cm(hypot(east, north))} cm away as the floor is "
            f"measured: {', '.join(_facts(each))}."
        )
    return lines


WORDINGS: tuple[Callable[[list[MeasuredThing]], list[str]], ...] = (_list, _sentences, _bearings)


def _facts(each: MeasuredThing) -> list[str]:
    """Size, height and direction, and what room there is: the same words in every wording."""
    body = each.body
    scale = body.placed.scale
    longer, shorter = max(body.width, body.depth), min(body.width, body.depth)
    if body.has_front:
        found = [
            f"front to bearing {each.bearing:.1f}",
            f"{_cm(body.width)} cm wide and {_cm(body.depth)} cm deep",
        ]
    else:
        found = [
            f"{_cm(longer)} cm long and {_cm(shorter)} cm broad",
            f"length to bearing {each.bearing % 180:.1f}",
        ]
    found.append(f"it starts at height {_cm(body.low)} cm and ends at height {_cm(body.high)} cm")
    if body.top is not None:
        height = body.low + body.top.height * scale
        sides = f"{_cm(body.top.size[0] * scale)} cm x {_cm(body.top.size[1] * scale)} cm"
        found.append(f"its flat surface of {sides} has height {_cm(height)} cm")
    if body.cavity is not None:
        floor, rim = body.low + body.cavity.floor * scale, body.low + body.cavity.rim * scale
        found.append(f"it is hollow from height {_cm(floor)} cm to an open rim at {_cm(rim)} cm")
    if body.thing.beneath:
        room = body.low + body.thing.beneath * scale
        found.append(f"its legs or stem leave free room up to height {_cm(room)} cm")
    return found


def _cm(metres: float) -> str:
    """A length in centimetres.

    >>> _cm(0.7604), _cm(-0.00001)
    ('76.0', '0.0')
    """
    text = f"{metres * 100:.1f}"
    return "0.0" if text == "-0.0" else text
