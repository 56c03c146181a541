"""A caption about where things are in other words: its opposite, negation, stem and question.

A caption reads "The horse is left of the car.", with a verb of its own ("contains") or "There is a
horse." Which relation is opposed to which the lexicon says.
"""

import re

from gnomon.lexicon.relations import lexicon
from gnomon.lexicon.statements import PRESENT, Clause, Presence, read_clause, read_presence

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
