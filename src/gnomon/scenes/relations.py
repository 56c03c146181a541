"""What is true in a scene, and why."""

from collections.abc import Iterable
from typing import Literal, NamedTuple

from gnomon.errors import UsageError, unknown
from gnomon.lexicon.relations import Relation, lexicon
from gnomon.lexicon.statements import say
from gnomon.scenes import contacts, directions
from gnomon.scenes.bodies import BodyPair, Meaning, Verdict, body_named, undecided
from gnomon.scenes.scenes import Scene

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
        return rule_of(rule.meaning)(pair)
    if frame != "agreed":
        return _in_one_frame(pair, rule, frame)

    verdicts = [
        directions.in_frame(pair, rule.meaning, each) for each in directions.frames_of(pair)
    ]
    if len({verdict.truth for verdict in verdicts}) > 1:
        both = "; ".join(verdict.why for verdict in verdicts)
        return undecided(f"the frames differ: {both}")
    return verdicts[0]


def rule_of(meaning: str) -> Meaning:
    """The function that judges a meaning, which the file of relations calls by its name."""
    home = contacts if hasattr(contacts, meaning) else directions
    found: Meaning = getattr(home, meaning)
    return found


def _in_one_frame(pair: BodyPair, rule: Relation, frame: Literal["viewer", "own"]) -> Verdict:
    if frame not in directions.frames_of(pair):
        return undecided(f"{pair.b.name} has no front of its own")
    return directions.in_frame(pair, rule.meaning, frame)
