"""English on the surface: sentences with slots, and the forms that a filler takes in them.

A sentence is compiled once into a `%`-format and the tables of forms that fill it; rendering is
then one operation. Articles and agreement are decided here, from the flags of an entity
(docs/patterns.md, "Sentences").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gnomon.language.world import Entity, World

SENTENCE_LIMIT = 400  # characters
SLOT = re.compile(r"[A-Z](?:[A-Z]*[0-9]+)?")

# Singular -> plural of the auxiliaries; other words are written as a pair.
AGREEMENT = {
    "is": "are",
    "was": "were",
    "has": "have",
    "does": "do",
    "isn't": "aren't",
    "wasn't": "weren't",
    "hasn't": "haven't",
    "doesn't": "don't",
}

MARKER = re.compile(r"\{([^{}]*)\}")
_FORMS = re.compile(
    rf"""(?:(?P<article>a|the|bare)\ )?(?P<slot>{SLOT.pattern})
                         (?:(?P<possessive>'s)|:(?P<singular>[^|:]+)(?:\|(?P<plural>[^|:]+))?)?""",
    re.VERBOSE,
)
# Vowel letters that are not vowel sounds, and the reverse.
_CONSONANT_SOUND = re.compile(
    r"(?:uni(?!n|m)|us[aeiu]|usb\b|ut[ei]|uku|eu|ewe|one\b|once\b|ubi|u[^aeiou]i[^n])",
    re.IGNORECASE,
)
_VOWEL_SOUND = re.compile(r"(?:[aeiou]|hour|honest|heir|honou?r)", re.IGNORECASE)


class SentenceError(ValueError):
    """The text is not a sentence with slots; the message says why."""


@dataclass(frozen=True)
class Form:
    """How a slot is shown: "the", "a", "bare", "'s", or a word that agrees with it."""

    kind: str
    singular: str = ""
    plural: str = ""


@dataclass(frozen=True)
class Sentence:
    """A sentence with slots: `%s` in the format stands for the next of the (slot, form) pairs."""

    text: str
    format: str
    markers: tuple[tuple[str, Form], ...]

    @property
    def slots(self) -> tuple[str, ...]:
        """Its slots, each once, in the order of their first appearance."""
        return tuple(dict.fromkeys(slot for slot, _ in self.markers))


def parse_sentence(text: str) -> Sentence:
    """A sentence with slots in braces.

    >>> parse_sentence("{X} {X:is} behind {a Y}").slots
    ('X', 'Y')
    """
    if len(text) > SENTENCE_LIMIT:
        raise SentenceError(f"the sentence is longer than {SENTENCE_LIMIT} characters")
    text = " ".join(text.split())
    if not text.isprintable():
        raise SentenceError("the sentence holds characters that cannot be printed")
    if text.endswith((".", "!", "?")):
        raise SentenceError("the sentence ends with a mark; the full stop is added for you")
    markers = [_marker(found[1]) for found in MARKER.finditer(text)]
    plain = MARKER.sub("\0", text)
    if "{" in plain or "}" in plain:
        raise SentenceError("a brace is not closed or not opened")
    if not plain.replace("\0", "").strip():
        raise SentenceError("the sentence holds no words of its own")
    return Sentence(text, plain.replace("%", "%%").replace("\0", "%s"), tuple(markers))


def _marker(text: str) -> tuple[str, Form]:
    found = _FORMS.fullmatch(text)
    if found is None:
        forms = "{X}, {a X}, {bare X}, {X's}, {X:is} or {X:it|them}"
        raise SentenceError(f"'{{{text[:40]}}}' is not a slot (write {forms})")
    if found["possessive"]:
        return found["slot"], Form("'s")
    if found["singular"] is None:
        return found["slot"], Form(found["article"] or "the")
    if found["article"]:
        raise SentenceError(f"'{{{text[:40]}}}' has both an article and a word that agrees")
    plural = found["plural"] or AGREEMENT.get(found["singular"])
    if plural is None:
        raise SentenceError(
            f"the plural of '{found['singular'][:40]}' is not known (write {{X:walks|walk}})"
        )
    return found["slot"], Form("agree", found["singular"], plural)


def form_of(entity: Entity, form: Form) -> str:
    """What an entity looks like in a form.

    >>> form_of(Entity("apple"), Form("a"))
    'an apple'
    >>> form_of(Entity("scissors", frozenset(["plural"])), Form("'s"))
    "the scissors'"
    """
    plural = "plural" in entity.flags
    if form.kind == "agree":
        return form.plural if plural else form.singular
    if form.kind == "bare":
        return entity.name
    if form.kind == "the":
        return _definite(entity)
    if form.kind == "'s":
        ends_in_s = plural and entity.name.endswith("s")
        return _definite(entity) + ("'" if ends_in_s else "'s")
    if "proper" in entity.flags:
        return _definite(entity)
    if plural or "mass" in entity.flags:
        return f"some {entity.name}"
    return f"{indefinite_article(entity)} {entity.name}"


def _definite(entity: Entity) -> str:
    """With "the", unless it is a name that goes without."""
    if "proper" in entity.flags and "the" not in entity.flags:
        return entity.name
    return f"the {entity.name}"


def indefinite_article(entity: Entity) -> str:
    """`a` or `an`: as the flags say, else by the sound of the first letters.

    >>> [indefinite_article(Entity(name)) for name in ("umbrella", "uniform", "hour", "box")]
    ['an', 'a', 'an', 'a']
    """
    for article in ("an", "a"):
        if article in entity.flags:
            return article
    if _CONSONANT_SOUND.match(entity.name) or not _VOWEL_SOUND.match(entity.name):
        return "a"
    return "an"


def forms_of(world: World, form: Form) -> tuple[str, ...]:
    """The form of every entity of a world, by number."""
    found = world.forms.get(form)
    if found is None:
        found = world.forms[form] = tuple(form_of(entity, form) for entity in world.entities)
    return found


def renderer(
    sentence: Sentence,
    slots: Sequence[str],
    tables: Callable[[str, Form], Sequence[str]],
) -> Callable[[Sequence[int]], str]:
    """A function from fillers to the sentence, without full stop.

    Fillers are one number per slot, in the order of `slots`.
    """
    parts = [(slots.index(slot), tables(slot, form)) for slot, form in sentence.markers]
    template = sentence.format

    def render(fillers: Sequence[int]) -> str:
        text = template % tuple([table[fillers[place]] for place, table in parts])
        if "  " in text or text[:1] == " " or text[-1:] == " ":  # a slot of words was left empty
            text = " ".join(text.split())
        return text[:1].upper() + text[1:]

    return render
