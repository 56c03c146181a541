"""What is true in a scene, and the laws that hold in every scene."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from gnomon.errors import UsageError, unknown
from gnomon.lexicon.relations import Relation, lexicon
from gnomon.lexicon.statements import say
from gnomon.scenes import contacts as company
from gnomon.scenes import contacts as contact
from gnomon.scenes import directions as orientation
from gnomon.scenes import directions as places
from gnomon.scenes.bodies import BodyPair, body_named
from gnomon.scenes.scenes import Scene
from gnomon.scenes.verdicts import Meaning, Verdict, undecided

AskedFrame = Literal["agreed", "viewer", "own"]
FRAMED = ("left", "right", "front", "behind", "left_side", "right_side", "beside")
OF_PARTS = ("part_of", "has_part")


class SceneFact(NamedTuple):
    """Whether a relation holds between two things of a scene, and why."""

    subject: str
    relation: str
    ground: str
    truth: bool | None  # none if undecided
    why: str
    frame: str
    grade: str

    def sentence(self) -> str:
        """The relation as a sentence.

        >>> SceneFact("cup", "on", "table", True, "", "none", "b").sentence()
        'The cup is on the table.'
        """
        return say(self.subject, self.relation, self.ground)


def relations() -> dict[str, Relation]:
    """The relations that scenes can show by name, with frame, grade and rule."""
    return lexicon().shown


def decide(
    scene: Scene, subject: str, relation: str, ground: str, *, frame: AskedFrame = "agreed"
) -> SceneFact:
    """Whether one relation holds; names are ids of the scene, or parts of them ("cup.handle")."""
    if relation not in relations():
        raise unknown("relation", relation[:60], relations())
    return _fact(_pair(scene, subject, ground), relation, frame)


def facts(
    scene: Scene,
    subject: str,
    ground: str,
    *,
    frame: AskedFrame = "agreed",
    only: Iterable[str] | None = None,
) -> dict[str, SceneFact]:
    """Every relation between two things of a scene, or `only` some of them."""
    pair = _pair(scene, subject, ground)
    wanted = relations() if only is None else only
    return {relation: _fact(pair, relation, frame) for relation in wanted}


def explain(fact: SceneFact) -> str:
    """A fact in words, with its reason and the rule.

    >>> reason = "cup stands on the top of table"
    >>> explain(SceneFact("cup", "on", "table", True, reason, "none", "b"))
    "The cup is on the table: true, since cup stands on the top of table. Rule: A stands on B's \
top surface."
    """
    word = {True: "true", False: "false", None: "undecided"}[fact.truth]
    rule = relations()[fact.relation].rule
    return f"{fact.sentence()[:-1]}: {word}, since {fact.why}. Rule: {rule}."


def _pair(scene: Scene, subject: str, ground: str) -> BodyPair:
    if subject == ground:
        raise UsageError(f"'{subject}' stands in no relation to itself.", "Name two things.")
    return BodyPair(body_named(scene, subject), body_named(scene, ground), scene)


def _fact(pair: BodyPair, relation: str, frame: AskedFrame) -> SceneFact:
    rule = relations()[relation]
    verdict = _verdict(pair, rule, frame)
    return SceneFact(
        pair.a.name, relation, pair.b.name, verdict.truth, verdict.why, rule.frame, rule.grade
    )


def _verdict(pair: BodyPair, rule: Relation, frame: AskedFrame) -> Verdict:
    one_thing = pair.a.placed.id == pair.b.placed.id
    if one_thing and rule.meaning not in OF_PARTS:
        return undecided(f"{pair.a.name} and {pair.b.name} are one thing")
    if rule.meaning not in FRAMED:
        return MEANINGS[rule.meaning](pair)
    if frame != "agreed":
        return _in_one_frame(pair, rule, frame)

    verdicts = [places.in_frame(pair, rule.meaning, each) for each in places.frames_of(pair)]
    if len({verdict.truth for verdict in verdicts}) > 1:
        both = "; ".join(verdict.why for verdict in verdicts)
        return undecided(f"the frames differ: {both}")
    return verdicts[0]


def _in_one_frame(pair: BodyPair, rule: Relation, frame: Literal["viewer", "own"]) -> Verdict:
    if frame not in places.frames_of(pair):
        return undecided(f"{pair.b.name} has no front of its own")
    return places.in_frame(pair, rule.meaning, frame)


# The functions that the file of relations may name, beside those of FRAMED.
MEANINGS: dict[str, Meaning] = {
    function.__name__: function
    for function in (
        contact.touching,
        contact.against,
        contact.rests_on,
        contact.inside,
        contact.contains,
        contact.surrounding,
        contact.outside,
        contact.out_of,
        contact.into,
        contact.off,
        contact.below,
        contact.above,
        contact.over,
        places.behind_near,
        places.ahead,
        places.beyond,
        places.near,
        places.far,
        places.next_to,
        places.accompanies,
        orientation.facing,
        orientation.facing_away,
        orientation.toward,
        orientation.leaving,
        orientation.stands_at,
        orientation.opposite,
        orientation.parallel,
        orientation.perpendicular,
        orientation.along,
        orientation.alongside,
        orientation.across,
        orientation.past,
        orientation.after,
        company.around,
        company.among,
        company.between,
        company.at_edge,
        company.in_middle,
        company.linked,
        company.detached,
        company.part_of,
        company.has_part,
        company.congruent,
    )
}


# What holds in every scene: converses, symmetries, exclusions, implications between relations.


def broken_laws(scene: Scene, first: str, second: str) -> list[str]:
    """The laws of the lexicon that two things of a scene break; none, one hopes."""
    there, back = facts(scene, first, second), facts(scene, second, first)
    broken = _unequal(there, back)
    for ways in (there, back):
        broken += _clashes(ways)
    return broken


def _unequal(there: dict[str, SceneFact], back: dict[str, SceneFact]) -> list[str]:
    """Relations that are not what their converse is the other way round."""
    laws = lexicon().laws
    broken = []
    for relation, converse in laws.converse:
        if there[relation].truth != back[converse].truth:
            broken.append(f"{relation} is the converse of {converse}")
    for relation in laws.symmetric:
        if there[relation].truth != back[relation].truth:
            broken.append(f"{relation} is symmetric")
    return broken


def _clashes(found: dict[str, SceneFact]) -> list[str]:
    """Relations that hold although another one does, or does not."""
    laws = lexicon().laws
    broken = []
    for relation, other in laws.excluded:
        if found[relation].truth and found[other].truth:
            broken.append(f"{relation} excludes {other}")
    for relation, other in laws.implied:
        if found[relation].truth and not found[other].truth:
            broken.append(f"{relation} implies {other}")
    return broken
