"""English on the surface: sentences with slots, and the forms that a filler takes in them.

A sentence is compiled once into a `%`-format and the tables of forms that fill it; rendering is
then one operation. Articles and agreement are decided here, from the flags of an entity
(docs/patterns.md, "Sentences").
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

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
class WordForm:
    """How a slot is shown: "the", "a", "bare", "'s", or a word that agrees with it."""

    kind: str
    singular: str = ""
    plural: str = ""


@dataclass(frozen=True)
class SlottedSentence:
    """A sentence with slots: `%s` in the format stands for the next of the (slot, form) pairs."""

    text: str
    format: str
    markers: tuple[tuple[str, WordForm], ...]

    @property
    def slots(self) -> tuple[str, ...]:
        """Its slots, each once, in the order of their first appearance."""
        return tuple(dict.fromkeys(slot for slot, _ in self.markers))


def parse_sentence(text: str) -> SlottedSentence:
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
    return SlottedSentence(text, plain.replace("%", "%%").replace("\0", "%s"), tuple(markers))


def _marker(text: str) -> tuple[str, WordForm]:
    found = _FORMS.fullmatch(text)
    if found is None:
        forms = "{X}, {a X}, {bare X}, {X's}, {X:is} or {X:it|them}"
        raise SentenceError(f"'{{{text[:40]}}}' is not a slot (write {forms})")
    if found["possessive"]:
        return found["slot"], WordForm("'s")
    if found["singular"] is None:
        return found["slot"], WordForm(found["article"] or "the")
    if found["article"]:
        raise SentenceError(f"'{{{text[:40]}}}' has both an article and a word that agrees")
    plural = found["plural"] or AGREEMENT.get(found["singular"])
    if plural is None:
        raise SentenceError(
            f"the plural of '{found['singular'][:40]}' is not known (write {{X:walks|walk}})"
        )
    return found["slot"], WordForm("agree", found["singular"], plural)


def form_of(entity: Entity, form: WordForm) -> str:
    """What an entity looks like in a form.

    >>> form_of(Entity("apple"), WordForm("a"))
    'an apple'
    >>> form_of(Entity("scissors", frozenset(["plural"])), WordForm("'s"))
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


def forms_of(world: World, form: WordForm) -> tuple[str, ...]:
    """The form of every entity of a world, by number."""
    found = world.forms.get(form)
    if found is None:
        found = world.forms[form] = tuple(form_of(entity, form) for entity in world.entities)
    return found


def renderer(
    sentence: SlottedSentence,
    slots: Sequence[str],
    tables: Callable[[str, WordForm], Sequence[str]],
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


# A small check of English surface forms: agreement, articles, doubled words, capitals, spaces.
#
# It reads finished sentences and knows only the nouns of the mini world, so it can judge what
# `surface` or a pattern's author has written. It is made to be right when it complains, not to find
# everything.


SINGULAR, PLURAL = frozenset(AGREEMENT), frozenset(AGREEMENT.values())
_DETERMINERS = frozenset(["the", "a", "an", "some"])
# A clause may start after these, so that a noun phrase behind them is a subject.
_CLAUSE = frozenset(["that", "when", "while", "because", "but", "then", "where", "if", "so"])
# Words in -s that follow a subject without being a verb in the third person.
_NOT_VERBS = frozenset(
    "towards always perhaps sometimes afterwards upwards downwards across its".split()
)
# Verbs of place in the bare form, which a singular subject cannot take.
_BARE_VERBS = frozenset(
    """
    stand lie lean hang face sit rest live walk drive run go come stay touch surround contain
    belong flow lead border
    """.split()
)
_TOKEN = re.compile(r"[\w'’-]+|,")


class _Phrase(NamedTuple):
    """A noun phrase in a sentence: its noun, where it ends, and its number."""

    noun: Entity
    end: int
    plural: bool


class Grammar:
    """Knows the nouns of a world.

    >>> nouns = (Entity("jeans", frozenset(["plural"])), Entity("box"))
    >>> world = World(nouns, {}, {}, {}, {"jeans": 0, "box": 1})
    >>> list(Grammar(world).complaints("The jeans is in a box."))
    ["'jeans' does not agree with 'is'"]
    """

    def __init__(self, world: World) -> None:
        self._nouns = {tuple(entity.name.lower().split()): entity for entity in world.entities}
        self._longest = max((len(words) for words in self._nouns), default=1)

    def complaints(self, sentence: str) -> Iterator[str]:
        """What is wrong with a sentence that ends with its full stop."""
        if not sentence[:1].isupper() and not sentence[:1].isdigit():
            yield "it does not start with a capital"
        if not sentence.endswith(".") or sentence.endswith(".."):
            yield "it does not end with one full stop"
        if re.search(r"  | [,.]|[{}_]", sentence):
            yield "it holds a stray space, brace or underscore"
        words = [token.lower() for token in _TOKEN.findall(sentence)]
        for first, second in pairwise(words):
            if first == second:
                yield f"the word '{first}' is doubled"
        yield from self._articles(words)
        yield from self._agreement(words)

    def _noun_at(self, words: Sequence[str], start: int) -> _Phrase | None:
        """The longest noun that starts here."""
        for length in range(min(self._longest, len(words) - start), 0, -1):
            found = self._nouns.get(tuple(words[start : start + length]))
            if found is not None:
                return _Phrase(found, start + length, "plural" in found.flags)
        return None

    def _phrase_at(self, words: Sequence[str], start: int) -> _Phrase | None:
        """A noun phrase that starts here: a noun behind its determiner, or a name."""
        if start >= len(words):
            return None
        found = self._noun_at(words, start)
        if words[start] in _DETERMINERS:
            return found or self._noun_at(words, start + 1)
        if found and "proper" in found.noun.flags:
            return found
        return None

    def _articles(self, words: Sequence[str]) -> Iterator[str]:
        for i, word in enumerate(words[:-1]):
            if word not in _DETERMINERS:
                continue
            if self._noun_at(words, i):  # "the Netherlands" may be a name with its article
                continue
            found = self._noun_at(words, i + 1)
            if found:
                yield from _wrong_before(word, found.noun)
            elif word in ("a", "an"):
                yield from _wrong_sound(word, Entity(words[i + 1]))

    def _agreement(self, words: Sequence[str]) -> Iterator[str]:
        subject = self._subject(words)
        if subject and subject.end < len(words) and _disagrees(words[subject.end], subject.plural):
            yield f"'{subject.noun.name}' does not agree with '{words[subject.end]}'"
        for i, word in enumerate(words):
            if word in SINGULAR | PLURAL:
                yield from self._auxiliary(words, i, subject)
                subject = None  # later ones may have subjects that only a parser could find

    def _subject(self, words: Sequence[str]) -> _Phrase | None:
        """The noun phrase that opens the sentence, or follows what opens it ("In the photo, ...").

        Of "A, B and C" it is the last one, and plural.
        """
        subject = self._phrase_at(words, 0)
        if subject is None and "," in words:
            subject = self._phrase_at(words, words.index(",") + 1)
        while subject and subject.end < len(words) and words[subject.end] in (",", "and"):
            following = self._phrase_at(words, subject.end + 1)
            if following is None:
                break
            subject = following._replace(plural=True)
        return subject

    def _auxiliary(self, words: Sequence[str], at: int, subject: _Phrase | None) -> Iterator[str]:
        found = self._clause_subject(words, at)
        in_main_clause = not _CLAUSE & set(words[:at])
        if found is None and subject and subject.end <= at and in_main_clause:
            found = subject
        if found and (words[at] in SINGULAR) == found.plural:
            yield f"'{found.noun.name}' does not agree with '{words[at]}'"

    def _clause_subject(self, words: Sequence[str], at: int) -> _Phrase | None:
        """The noun phrase right before a verb of an inner clause ("when the jeans were ...")."""
        for start in range(max(1, at - self._longest - 1), at):
            found = self._phrase_at(words, start)
            if found and found.end == at and words[start - 1] in _CLAUSE:
                return found
        return None


def _wrong_before(word: str, noun: Entity) -> Iterator[str]:
    """What is wrong with a determiner before a noun of the world."""
    countless = bool(noun.flags & {"plural", "mass"})
    if "proper" in noun.flags and not (word == "the" and "the" in noun.flags):
        yield f"the name '{noun.name}' has an article"
    elif word in ("a", "an") and countless:
        yield f"'{noun.name}' cannot have '{word}'"
    elif word in ("a", "an"):
        yield from _wrong_sound(word, noun)
    elif word == "some" and not countless:
        yield f"'{noun.name}' cannot have 'some'"


def _wrong_sound(article: str, noun: Entity) -> Iterator[str]:
    if article != indefinite_article(noun):
        yield f"'{article} {noun.name}' has the wrong article"


def _disagrees(verb: str, plural: bool) -> bool:
    """Whether a verb cannot follow a subject of this number."""
    if not plural:
        return verb in _BARE_VERBS
    third_person = re.fullmatch(r"[a-z]{2,}[^s']s", verb)
    return bool(third_person) and verb not in _NOT_VERBS | SINGULAR
