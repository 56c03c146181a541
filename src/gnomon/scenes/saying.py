"""From a caption to a scene: "a cup on a table, a dog behind it".

The grammar: clauses with commas, semicolons, full stops or "and" between them. A clause is a thing,
or a thing, a relation and a thing. "it" is the ground that was named last, or else the last thing.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from gnomon.errors import UsageError, unknown
from gnomon.lexicon.statements import Statement, read_clause
from gnomon.lexicon.things import names_by_noun
from gnomon.scenes.placing import arrange
from gnomon.scenes.relations import relations
from gnomon.scenes.scenes import Scene
from gnomon.scenes.things import things

LONGEST = 500  # characters of a caption
MOST_CLAUSES = 12
PRONOUNS = ("it", "them", "that")


class Said(NamedTuple):
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


def understand(text: str) -> Said:
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
    said = Said({}, [])
    it = ""
    for clause in clauses:
        it = _take(clause, said, it)
    return said


def _take(text: str, said: Said, it: str) -> str:
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


def _named(phrase: str, said: Said, it: str) -> str:
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
