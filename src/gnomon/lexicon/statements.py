"""Statements about where two things are, said and read: "The cup is not left of the jug".

All doors read with `read_clause` or `read_statement`, so a word that one of them knows, all know.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from gnomon.lexicon.relations import Lexicon, Relation, lexicon

PRESENT = ("is", "are")
_COPULA = r"(?P<copula>is|are|was|were)(?P<no> not)?(?: located)?"
_ARTICLE = re.compile(
    r"^(?:an?|the|some|one|this|that|another|your|my|his|her|its|their)\s+", re.IGNORECASE
)
_PRESENCE = re.compile(
    r"There (?P<verb>is|are) (?P<no>no )?(?P<article>an? )?(?P<thing>.+?)\.?", re.IGNORECASE
)
_QUESTION = re.compile(r"(?P<copula>is|are|was|were) (?P<rest>.+?)\s*\?*", re.IGNORECASE)


_WHICH = re.compile(
    r"(?:what|which|where) (?:is|are) "
    r"(?:the (?:relation|relationship|position|location|direction) of )?"
    r"(?P<first>.+?)(?: located| placed)? (?:in relation to|relative to|with respect to|from|to)"
    r" (?P<second>.+?)\s*\?*",
    re.IGNORECASE,
)
_LABELLED = re.compile(r"^(?:the )?(?:agent|object|item) (?=[A-Z]$)")


class Statement(NamedTuple):
    """That a relation, by its name in the lexicon, holds between two things, or does not."""

    subject: str
    relation: str
    ground: str
    denied: bool = False


class Clause(NamedTuple):
    """A text taken apart, with all its signs: "The horse", "is", "left of", " the car."."""

    before: str
    auxiliary: str  # is, are, was, were, does, do, or nothing before a verb or a bare relation
    relation: str  # as it is said; empty if it is not known where the relation ends
    after: str  # with the space before it
    denied: bool = False

    @property
    def meant(self) -> Relation | None:
        """The relation of the lexicon."""
        return lexicon().find(self.relation.lower())

    @property
    def subject(self) -> str:
        """What is spoken of, without an article."""
        return bare(self.before)

    @property
    def ground(self) -> str:
        """What it is related to, without an article and the full stop."""
        return bare(self.after.strip().rstrip(".!?"))


class Presence(NamedTuple):
    """That a thing is there: "There is no cup."."""

    thing: str
    verb: str
    denied: bool


def say(
    subject: str, relation: str, ground: str, *, several: bool = False, denied: bool = False
) -> str:
    """A statement as a sentence; `several` says it of several subjects.

    >>> say("cat", "on", "dining table")
    'The cat is on the dining table.'
    >>> say("box", "contains", "cat", denied=True)
    'The box does not contain the cat.'
    """
    plural = lexicon().verbs.get(relation)
    if plural is None:
        copula = "are" if several else "is"
        words = f"{copula} not {relation}" if denied else f"{copula} {relation}"
    elif denied:
        words = f"{'do' if several else 'does'} not {plural}"
    else:
        words = plural if several else relation
    return f"The {subject} {words} the {ground}."


def read_statement(text: str) -> Statement | None:
    """What a sentence, or a phrase without "is", says of two things; none if it is neither.

    >>> read_statement("The cup is not underneath the table.")
    Statement(subject='cup', relation='below', ground='table', denied=True)
    >>> read_statement("a dog on the left side of a chair").relation
    'at the left side of'
    """
    clause = read_clause(text, bare_relations=True)
    if clause is None or clause.meant is None:
        return None
    return Statement(clause.subject, clause.meant.name, clause.ground, clause.denied)


def read_clause(
    text: str, words: Iterable[str] = (), *, bare_relations: bool = False
) -> Clause | None:
    """The parts of a sentence with one of some words, or with any of the lexicon.

    Of several words that fit, the longest counts. `bare_relations` reads "a cup on a table", too.

    >>> read_clause("The boxes do not contain the cat.")[:3]
    ('The boxes', 'do', 'contain')
    """
    known = lexicon()
    chosen = tuple(words) or known.words
    match = _sentence(known, chosen).fullmatch(text)
    if match is None and bare_relations:
        match = _phrase(chosen).fullmatch(text)
    if match is None:
        return None
    parts = match.groupdict()
    auxiliary = parts.get("copula") or parts.get("do") or ""
    relation = parts.get("relation") or parts.get("undone") or parts.get("verb") or ""
    denied = bool(parts.get("no") or parts.get("do"))
    return Clause(parts["before"], auxiliary, relation, parts["after"], denied)


def read_question(text: str, words: Iterable[str]) -> Clause | None:
    """The parts of a question whether one of some words holds: "Is a bee larger than a cat?".

    >>> read_question("Is the cup left of the jug?", ["left of"]).ground
    'jug'
    """
    asked = _QUESTION.fullmatch(text)
    if asked is None:
        return None
    match = _phrase(tuple(words)).fullmatch(asked["rest"])
    if match is None:
        return None
    before = match["before"].removesuffix(" located")
    return Clause(before, asked["copula"], match["relation"], match["after"])


def read_which(text: str) -> tuple[str, str] | None:
    """The two things of a question in which relation one is to the other.

    >>> read_which("What is the relation of the agent K to the agent D?")
    ('K', 'D')
    >>> read_which("Where is the cup relative to the red box?")
    ('the cup', 'the red box')
    """
    asked = _WHICH.fullmatch(text.strip())
    if asked is None:
        return None
    return _LABELLED.sub("", asked["first"]), _LABELLED.sub("", asked["second"])


def read_presence(text: str) -> Presence | None:
    """That a thing is there, or is not.

    >>> read_presence("There is no owl.")
    Presence(thing='owl', verb='is', denied=True)
    """
    match = _PRESENCE.fullmatch(text.strip())
    if match is None:
        return None
    return Presence(match["thing"], match["verb"].lower(), bool(match["no"]))


def bare(noun: str) -> str:
    """A noun in small letters, without its article.

    >>> bare("The old man")
    'old man'
    """
    return _ARTICLE.sub("", noun.strip()).lower()


def any_of(words: Iterable[str]) -> str:
    """A pattern for one of some words, the longest first; nothing matches it if there are none."""
    longest_first = sorted(words, key=lambda word: (-len(word), word))
    return "|".join(map(re.escape, longest_first)) or "(?!)"


@lru_cache(maxsize=256)
def _sentence(known: Lexicon, words: tuple[str, ...]) -> re.Pattern[str]:
    """Sentences with one of some words: is on, is not on, does not contain, contains."""
    verbs = {*known.verbs, *known.verbs.values()}
    return re.compile(
        r"(?P<before>.+?) (?:"
        rf"{_COPULA} (?P<relation>{any_of(words)})(?: than)?"
        rf"|(?P<do>does|do) not (?P<undone>{any_of(words)})"
        rf"|(?P<verb>{any_of(word for word in words if word in verbs)})"
        r")(?P<after> .+)",
        re.IGNORECASE,
    )


@lru_cache(maxsize=256)
def _phrase(words: tuple[str, ...]) -> re.Pattern[str]:
    """Two things with nothing but the words between them: a cup on a table."""
    return re.compile(
        rf"(?P<before>\S.*?) (?P<relation>{any_of(words)})(?: than)?(?P<after> .+)", re.IGNORECASE
    )


# A caption about where things are in other words: its opposite, negation, stem and question.
#
# A caption reads "The horse is left of the car.", with a verb of its own ("contains") or "There is
# a horse." Which relation is opposed to which the lexicon says.


COPULA = re.compile(r"(?P<before>.+?) (?P<auxiliary>is|are)(?P<no> not)?(?P<after> .+)")
LOWERED = ("The ", "A ", "An ", "There ", "From ")  # first words that are no names


def opposite(caption: str, relation: str = "") -> str:
    """The caption with the opposite relation; its negation if the relation has none.

    >>> opposite("The horse is left of the car.", "left of")
    'The horse is right of the car.'
    >>> opposite("The box contains the cat.")
    'The box does not contain the cat.'
    """
    clause = _clause(caption, relation)
    if clause is None or clause.denied or clause.meant is None or not clause.meant.opposite:
        return negation(caption, relation)
    return _said(clause, clause.auxiliary, clause.meant.opposite)


def contrasted(caption: str, relation: str, other: str) -> str:
    """The caption with another relation in the place of its own; empty if it has none to replace.

    >>> contrasted("The horse is left of the car.", "left of", "behind")
    'The horse is behind the car.'
    >>> contrasted("The box contains the cat.", "contains", "under")
    'The box is under the cat.'
    """
    clause = _clause(caption, relation)
    if clause is None or not clause.relation or not other:
        return ""
    several = clause.auxiliary in ("are", "do")
    if not clause.auxiliary:
        several = _do(clause) == "do"
    if other in lexicon().verbs:
        return _said(clause, _infinitive(other) if several else other)
    return _said(clause, "are" if several else "is", other)


def negation(caption: str, relation: str = "") -> str:
    """The caption denied; a denied one affirmed.

    >>> negation("The cats are on the bed."), negation("There is an owl.")
    ('The cats are not on the bed.', 'There is no owl.')
    >>> negation("A dog sleeps.")
    'It is not true that a dog sleeps.'
    """
    presence = read_presence(caption)
    if presence is not None:
        return _denied_presence(presence) + _full_stop(caption)

    clause = _clause(caption, relation)
    if clause is None:
        return f"It is not true that {_lower_first(caption)}"
    if clause.auxiliary in PRESENT and clause.denied:
        return _said(clause, clause.auxiliary, clause.relation)
    if clause.auxiliary in PRESENT:
        return _said(clause, clause.auxiliary, "not", clause.relation)
    if clause.denied:
        return _said(clause, _inflected(clause.relation, clause.auxiliary))
    return _said(clause, _do(clause), "not", _infinitive(clause.relation))


def stem(caption: str, relation: str = "") -> str:
    """The caption up to its relation; empty if it is not known where that ends.

    >>> stem("The horse is left of the car.")
    'The horse is left of'
    """
    clause = _clause(caption, relation)
    if clause is None or not clause.relation:
        return ""
    return caption.removesuffix(clause.after)


def question(caption: str, relation: str = "") -> str:
    """Whether the caption is true.

    >>> question("The horse is left of the car."), question("The box contains the cat.")
    ('Is the horse left of the car?', 'Does the box contain the cat?')
    >>> question("From where the viewer stands, the cat is behind the dog.")
    'From where the viewer stands, is the cat behind the dog?'
    """
    if read_presence(caption) is not None:
        _, verb, rest = caption.split(" ", 2)
        return _asked(f"{verb.capitalize()} there {rest}")

    clause = _clause(caption, relation)
    if clause is None or clause.denied:
        return _asked(f"Is it true that {_lower_first(caption)}")

    lead, comma, subject = clause.before.rpartition(", ")
    plain = clause._replace(before=_lower_first(subject))
    verb, rest = _do(clause), _said(plain, _infinitive(clause.relation))
    if clause.auxiliary in PRESENT:
        verb, rest = clause.auxiliary, _said(plain, clause.relation)
    if not lead:
        verb = verb.capitalize()
    return _asked(f"{lead}{comma}{verb} {rest}")


def _clause(caption: str, relation: str) -> Clause | None:
    """The parts of a caption; none if it has neither a copula nor a verb that is known."""
    words = (relation, _infinitive(relation)) if relation else ()
    clause = read_clause(caption, words)
    if clause is not None and clause.auxiliary not in ("was", "were"):
        return clause
    match = COPULA.fullmatch(caption)
    if match is None:
        return None
    return Clause(match["before"], match["auxiliary"], "", match["after"], bool(match["no"]))


def _said(clause: Clause, *words: str) -> str:
    """The clause with other words between its two things."""
    return " ".join(word for word in (clause.before, *words) if word) + clause.after


def _do(clause: Clause) -> str:
    """What a verb is denied and asked with."""
    return "does" if clause.relation in lexicon().verbs else "do"


def _denied_presence(presence: Presence) -> str:
    thing, verb = presence.thing, presence.verb
    if not presence.denied:
        return f"There {verb} no {thing}"
    if verb == "are":
        return f"There are {thing}"
    article = "an" if thing[0] in "aeiou" else "a"
    return f"There is {article} {thing}"


def _full_stop(caption: str) -> str:
    return "." if caption.rstrip().endswith(".") else ""


def _infinitive(relation: str) -> str:
    """A verb as it is said of several things; other relations stay as they are."""
    return lexicon().verbs.get(relation, relation)


def _inflected(relation: str, auxiliary: str) -> str:
    """A verb without the does or do that it was said with."""
    if auxiliary == "do":
        return relation
    of_one = {several: one for one, several in lexicon().verbs.items()}
    return of_one.get(relation, relation)


def _asked(text: str) -> str:
    return f"{text.rstrip('.')}?"


def _lower_first(text: str) -> str:
    """The text as it stands within a sentence; a name keeps its capital."""
    if text.startswith(LOWERED):
        return text[0].lower() + text[1:]
    return text
