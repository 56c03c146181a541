"""What an item asks about: two things and, where it is a yes-or-no question, their relation.

A reply that says "an apple is larger than a bee" answers "A bee is ____ than an apple" with
*smaller*. To see that, the reader must know which of the two things a sentence speaks of.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from gnomon.lexicon.relations import lexicon
from gnomon.lexicon.replies import any_of, degree_in, phrase, reply_words
from gnomon.lexicon.statements import bare, read_clause, read_question
from gnomon.records import MASK, Item

_BEFORE_BLANK = re.compile(
    r"(?:.*,\s*)?(?P<subject>[^,]+?)\s+(?:is|are|was|were)\b[\w\s]*$", re.DOTALL
)
_AFTER_BLANK = re.compile(
    r"^\s*(?:than\s+)?(?P<object>[^,.?!]*?)(?:\s+in (?:size|height|length|weight))?\s*[.?!]*$"
)
_PEOPLE = ("man", "woman", "boy", "girl", "person", "child")
_PRONOUNS = {
    "he": ("he", "him"),
    "she": ("she", "her"),
    "they": ("they", "them"),
    "it": ("it",),
}
_TRUTHS = frozenset({"yes", "no", "true", "false"})
_NO_THING = frozenset({"", "color", "colour", "in color", "in colour"})


class ItemQuestion(NamedTuple):
    """The two things of a question, and what relates them; empty where there is none."""

    subject: str = ""
    object: str = ""
    relation: str = ""  # of a yes-or-no question; a blank has none
    context: str = ""
    asked: str = ""  # the degree that a question seeks among things: "closer"


NO_QUESTION = ItemQuestion()
EITHER = "either"  # asked by "Is it above or below?": one of the choices holds
POSSIBLE = "possible"  # asked by "Could it be that ...?"


def question_of(item: Item) -> ItemQuestion:
    """What an item asks about, as far as its text has a form that is known.

    >>> question_of(Item(id="1", form="cloze", text="A bee is [MASK] than an apple."))[:2]
    ('bee', 'apple')
    """
    text = " ".join(item.text.casefold().split())
    if item.form == "cloze":
        return _of_blank(text, item.context.casefold())
    if item.form not in ("caption", "choice"):
        return NO_QUESTION
    offered = {choice.casefold() for choice in item.choices}
    if item.form == "choice" and not offered & _TRUTHS:
        return _of_things(text, item)
    words = (*reply_words().converse, *lexicon().words)
    clause = read_clause(text, words) if item.form == "caption" else read_question(text, words)
    if clause is None or clause.denied or "," in clause.after:
        possible = item.form == "choice" and phrase("asks_possible").search(text)
        return ItemQuestion(asked=POSSIBLE) if possible else NO_QUESTION
    return ItemQuestion(clause.subject, clause.ground, clause.relation)


def _of_things(text: str, item: Item) -> ItemQuestion:
    """What a question seeks: a degree among things, or a side of one of two."""
    where = phrase("asks_where").search(text)
    if where:
        subject, ground = where["subject"] or where["subject2"], where["object"] or where["object2"]
        return ItemQuestion(bare(subject), bare(ground.rstrip("?. ")))
    if phrase("asks_which").search(text):
        asked = degree_in(text)
        if asked not in map(str.casefold, item.choices):
            return ItemQuestion(asked=asked)
    return _either(text, item.choices) or NO_QUESTION


def _either(text: str, choices: tuple[str, ...]) -> ItemQuestion | None:
    """The things of "Is the ball above or below the shelf?"."""
    words = any_of({choice.casefold().split(" ")[0] for choice in choices if choice.strip()})
    of = r"(?: than| of| as)?"
    match = re.match(
        rf"(?:is|are) (?P<subject>[^?,]+?) (?:\w+ly )?(?:(?:at|in|on|to) )?(?:the )?(?:{words})\b"
        rf"[^?]*? or [^?]*?{of} (?!the (?:{words})\b)"
        rf"(?P<object>(?:an?|the|your|my) [^?,]+?|\w+)\?*$",
        text,
    )
    if match is None:
        return None
    return ItemQuestion(bare(match["subject"]), bare(match["object"]), asked=EITHER)


def things_pattern(question: ItemQuestion) -> re.Pattern[str]:
    """Where a text names the subject (group `subject`) or the object (group `object`)."""
    subject = _names(question.subject, question.object, ("the former", "the first"))
    others = _names(question.object, question.subject, ("the latter", "the second"))
    if question.subject in _PRONOUNS:
        subject += _person(question)
    return re.compile(
        rf"(?<!\w)(?:(?P<subject>{_any_of(subject)})|(?P<object>{_any_of(others)}))(?!\w)"
    )


def _of_blank(text: str, context: str) -> ItemQuestion:
    before, _, after = text.partition(MASK.casefold())
    subject = _BEFORE_BLANK.match(before.strip())
    if subject is None:
        return NO_QUESTION
    other = _AFTER_BLANK.match(after)
    thing = bare(other["object"]) if other else ""
    if thing in _NO_THING:
        thing = ""
    return ItemQuestion(bare(subject["subject"]), thing, context=context)


def _names(noun: str, other: str, pointers: tuple[str, ...]) -> list[str]:
    """How a thing may be named: whole, or by a word of its own that the other thing lacks."""
    if not noun:
        return []
    whole = r"\s+".join(_any_number(word) for word in noun.split())
    found = [whole]
    for pointer in pointers:
        found.append(rf"{pointer}(?! (?:option|choice|answer|word|label))")
    shared = set(other.split())
    for word in noun.split():
        if len(word) > 2 and word not in shared:
            found.append(_any_number(word))
    return found


def _person(question: ItemQuestion) -> list[str]:
    """A person whom the question calls "he": by pronoun, or by the noun that the text opens with.

    Adjectives may stand before the noun, so the first words of the text count.
    """
    pronouns = _PRONOUNS[question.subject]
    others = set(question.object.split())
    opening = bare(question.context).split()[:2]
    nouns = [word for word in opening if word.isalpha() and word not in others]
    return [*pronouns, *_PEOPLE, *map(re.escape, nouns)]


def _any_number(word: str) -> str:
    """A pattern for a noun in the singular and in the plural."""
    stem = word
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        stem = word[:-1]
    if stem.endswith("y"):
        return re.escape(stem[:-1]) + r"(?:y|ies|ys)"
    return re.escape(stem) + r"(?:e?s)?"


def _any_of(alternatives: list[str]) -> str:
    return "|".join(sorted(alternatives, key=len, reverse=True)) or r"(?!)"
