"""Sentences to words: patterns with slots, or free text in which nouns and names are found."""

from __future__ import annotations

import re
from collections.abc import Mapping

from gnomon.proofs.meaning.vocabulary import (
    EVERY,
    NO,
    PERSON,
    QUANTIFIERS,
    SOME,
    GrammarWords,
    Kinds,
    is_number,
)

_MARKER = re.compile(r"\{(?:(?:a|the|bare) )?([A-Z][A-Z0-9]*)(?:('s)|:([^|}]+)(?:\|[^}]*)?)?\}")
_DETERMINERS = ("the", "a", "an", "my", "your", "his", "her", "their", "our", "this", "that")
_ASKING = frozenset("is are was were does do did has have can could".split())
_BE = frozenset("is are was were".split())
_STANDING = _BE | frozenset("stands stand lies lie hangs hang sits sit".split())
_NAMELESS = ("it", "they", "he", "she", "there", "nothing", "nobody", "everything", "everybody")
_PARTS_OF_THINGS = ("floor", "roof", "walls", "wall", "door")
_MOST_WORDS_OF_A_NOUN = 4
_PARTS = frozenset(
    "left right front back rear top bottom foot middle center edge side sides same other opposite "
    "near far first last one two way direction".split()
)
_OF_PERSONS = re.compile(r"\b(?:to|on|at) (my|your|his|her|their) (left|right)(?: side)?\b")
_HOURS = re.compile(r"\b(?:at|in) (my|your|his|her|their) (\w+) o'clock\b")
_SPEAKER = re.compile(r"\bI (?:am|was)\b|\bI'm\b")
_HEARER = re.compile(r"(?<!@)\b(?:[Yy]ou|me)\b")
_PERSONS = {"my": "@me", "your": "@you", "his": "him", "her": "him", "their": "them"}
_SHORTENED = re.compile(r"\b(\w+)n't\b")
_LABELLED = re.compile(r"\b(?:[Tt]he )?(?:[Oo]bjects?|[Aa]gents?) (?:label+ed )?(?=[A-Z]\b)")
_HOUR = re.compile(r"\b(1?\d):00\b")
_STRANGE = re.compile(r"[^@\w\s,'.-]|\.(?!\d)")  # signs that no sentence needs
_OTHER_MARKER = re.compile(r"\{[^{}]*\}")  # words of a slot of its own: "at once"
_PIECE = re.compile(r"@[^\s,]+|[^\s,]+|,")


def pattern_words(text: str, lexicon: GrammarWords) -> list[str]:
    """The words of a sentence with slots; each slot is a name.

    >>> from gnomon.proofs.meaning.vocabulary import grammar_words
    >>> pattern_words("{X} {X:is} now on {Y}, too", grammar_words())
    ['@X', 'is', 'on', '@Y']
    """
    shown = _MARKER.sub(_shown, text)
    return plain_words(_OTHER_MARKER.sub("", shown), lexicon)


def _shown(marker: re.Match[str]) -> str:
    slot, possessive, word = marker.groups()
    if possessive:
        return f"@{slot} 's"
    if word in ("it", "they", "them"):
        return f"@{slot}"
    return word or f"@{slot}"


def plain_words(text: str, lexicon: GrammarWords) -> list[str]:
    """The words of a sentence in which names are marked with "@"."""
    text = re.sub(r"(@[\w-]+)'s\b", r"\1 's", text.strip().rstrip("."))
    words = []
    for word in _PIECE.findall(text):
        words.append(word if word.startswith("@") else word.lower().replace("may", "May"))
    line = f" {' '.join(words)} ".replace(" its ", " it 's ")
    for phrase, simpler in lexicon.rewrite.items():
        line = line.replace(f" {phrase} ", f" {simpler} " if simpler else " ")
    return line.split()


def free_words(
    text: str, lexicon: GrammarWords, nouns: Mapping[str, object], *, bold: bool = False
) -> list[str]:
    """The words of a free sentence: known nouns, other nouns after "the", and names are marked.

    `bold` takes a word of the lexicon after "the" for a noun, too, unless it is a side or a part.

    >>> from gnomon.proofs.meaning.vocabulary import grammar_words
    >>> nouns = {"cup": 1, "kitchen table": 1}
    >>> free_words("The cup is on the kitchen table. ", grammar_words(), nouns)
    ['@cup', 'is', 'on', '@kitchen-table']
    """
    text = _LABELLED.sub("", _SHORTENED.sub(_in_full, text.replace("\u2019", "'")))
    text = _SPEAKER.sub("@me is", _OF_PERSONS.sub(_of_person, text))
    text = _HOURS.sub(lambda match: f"at {_PERSONS[match[1]]} 's {match[2]} o'clock", text)
    text = _HEARER.sub(lambda match: f"@{match[0].lower()}", text)
    text = _STRANGE.sub(" ", _HOUR.sub(r"\1 o'clock", text))
    words = _PIECE.findall(text.strip().replace("'s", " 's"))
    marked: list[str] = []
    at = 0
    while at < len(words):
        length = _noun_length(words, at, lexicon, nouns, bold)
        if not length:
            marked.append(words[at])
            at += 1
            continue
        if marked and is_number(marked[-1]):
            marked.pop()
        if marked and marked[-1].lower() in _DETERMINERS:
            marked.pop()
        noun = "-".join(words[at : at + length])
        marked.append(f"@{noun if words[at][0].isupper() else noun.lower()}")
        at += length
    return _stated(plain_words(" ".join(marked), lexicon))


def _of_person(side: re.Match[str]) -> str:
    return f"to the {side[2]} of {_PERSONS[side[1]]}"


def _in_full(shortened: re.Match[str]) -> str:
    verb = shortened[1]
    return f"{ {'ca': 'can', 'wo': 'will'}.get(verb, verb) } not"


def _stated(words: list[str]) -> list[str]:
    """A question as the statement that it asks about, and other orders of words as the plain one.

    >>> _stated(["is", "@cup", "on", "@table"]), _stated(["there", "is", "no", "@cup", "in", "it"])
    (['@cup', 'is', 'on', '@table'], ['no', '@cup', 'is', 'in', 'it'])
    >>> _stated(["on", "@table", "there", "is", "@lamp"])
    ['@lamp', 'is', 'on', '@table']
    """
    first = words[0] if words else ""
    start = 2 if words[1:2] == ["not"] else 1  # "isn't it there?" asks whether it is
    end = _end_of_names(words, start)
    if first in _ASKING and end > start:
        words = [*words[start:end], first, *words[end:]]
    if words[:1] == ["there"] and words[1:2] and words[1] in _BE:
        end = _end_of_names(words, 2)
        return [*words[2:end], words[1], *words[end:]] if end > 2 else words
    if words[:1] and not words[0].startswith("@"):
        return _subject_first(words)
    return words


def _subject_first(words: list[str]) -> list[str]:
    """A sentence that ends in its verb and subject, with the subject before the place."""
    for at, word in enumerate(words):
        if at == 0 or word not in _STANDING:
            continue
        end = _end_of_names(words, at + 1)
        if end == at + 1 or end < len(words):
            continue
        place = words[:at]
        while place[-1] in ("there", ","):
            place.pop()
        return [*words[at + 1 :], word, *place]
    return words


def _end_of_names(words: list[str], start: int) -> int:
    """Where the names end that begin at a word: "@cup", "no @cup", "@Ann and @Bob", "it"."""
    if words[start : start + 1] and words[start] in _NAMELESS:
        return start + 1
    end = start
    while end < len(words) and words[end] in QUANTIFIERS | {"of", "the"}:
        end += 1
    while end < len(words) and words[end].startswith("@"):
        end += 1
        joined = words[end : end + 1] in (["and"], [","])
        if not joined or not words[end + 1 : end + 2] or not words[end + 1].startswith("@"):
            return end
        end += 1
    return start


def _noun_length(
    words: list[str], at: int, lexicon: GrammarWords, nouns: Mapping[str, object], bold: bool
) -> int:
    """How many words from here on are a noun or a name; 0 if there is none."""
    word = words[at].lower()
    if is_number(word) and word not in _DETERMINERS:
        return 0
    counted = at > 0 and is_number(words[at - 1].lower()) and words[at - 1].lower() != "a"
    determined = _is_determined(words, at) and not (counted and word in lexicon.units)
    proper = words[at][0].isupper()
    if words[at] == "A" and not _is_letter(words, at, lexicon):
        return 0
    if determined or proper:
        length = _known_noun(words, at, nouns)
        if length:
            return length
    is_letter = proper and len(word) == 1
    if not is_letter and (word in lexicon.known or word in _DETERMINERS):
        is_noun = bold and determined and word not in _PARTS
        return int(is_noun)
    if not determined and not proper:
        return 0
    end = at + 1
    while end < min(len(words), at + _MOST_WORDS_OF_A_NOUN):
        length = 0 if proper else _known_noun(words, end, nouns)
        if length:
            return end + length - at
        following = words[end].lower()
        stops = following in lexicon.known or following in _DETERMINERS or following == ","
        if stops or (proper and not (at and words[end][0].isupper())):
            break
        end += 1
    return end - at


def _is_determined(words: list[str], at: int) -> bool:
    """Whether a word comes after an article, a quantifier or a number, so that it is a noun."""
    before = words[at - 1].lower() if at else ""
    if is_number(before) and before not in _DETERMINERS:
        return at == 1 or _is_determined(words, at - 1)
    is_mass = before == "of" and words[at - 2] == "full"
    return is_mass or before in _DETERMINERS or before in QUANTIFIERS


def _is_letter(words: list[str], at: int, lexicon: GrammarWords) -> bool:
    """Whether an "A" is a name, not an article."""
    following = words[at + 1].lower() if at + 1 < len(words) else ","
    return at > 0 or following in lexicon.known or following in (",", "'s")


def _known_noun(words: list[str], at: int, nouns: Mapping[str, object]) -> int:
    for length in (3, 2, 1):
        noun = " ".join(words[at : at + length])
        of_something = length == 1 and words[at + 1 : at + 2] == ["of"] and noun in _PARTS_OF_THINGS
        if (noun in nouns or noun.removesuffix("s") in nouns) and not of_something:
            return length
    return 0


# Sentences about all, some or none: one for each of those whom they speak of.


UNNAMED_THING = "anything"  # stands for whatever a text does not name
_MEMBER = ("is", "one", "of")


class NamedThings:
    """Those whom a text names, by what they are called."""

    def __init__(self, sentences: list[list[str]], kinds: Kinds) -> None:
        self.kinds = dict(kinds)
        self._declared: dict[str, list[str]] = {}
        for words in sentences:
            if words and words[0] in SOME:
                noun = words[2 if words[1] == "of" else 1][1:]
                self.kinds[f"some-{noun}"] = kinds.get(noun, frozenset())
            if tuple(words[1:4]) == _MEMBER and len(words) == 5:
                self._declared.setdefault(singular(words[4]), []).append(words[0])

    def called(self, noun: str) -> list[str]:
        """A noun as a name, and everything that the text calls by it: "@cups" has "@red-cup"."""
        *wanted, head = noun[1:].split("-")
        found = [noun, *self._declared.get(singular(noun), [])]
        for name in self.kinds:
            *attributes, own = name.split("-")
            if singular(own) == singular(head) and set(wanted) <= set(attributes):
                found.append(f"@{name}")
        return list(dict.fromkeys(found))

    def others(self, words: list[str], *, persons: bool) -> list[str]:
        """Those whom a sentence does not name: persons, or all that can be moved."""
        found = [f"@{UNNAMED_THING}"]
        for name, kinds in self.kinds.items():
            fits = kinds >= PERSON if persons else "fixed" not in kinds
            if fits and f"@{name}" not in words:
                found.append(f"@{name}")
        return found


def singular(noun: str) -> str:
    """A noun without the ending of the plural.

    >>> singular("boxes"), singular("cherries"), singular("glass")
    ('box', 'cherry', 'glass')
    """
    for ending, instead in (("ies", "y"), ("xes", "x"), ("ches", "ch"), ("shes", "sh")):
        if noun.endswith(ending):
            return noun.removesuffix(ending) + instead
    return noun if noun.endswith("ss") else noun.removesuffix("s")


def conjuncts(words: list[str], cast: NamedThings) -> list[list[str]]:
    """The plain sentences that a sentence with a quantifier stands for.

    >>> conjuncts("neither @Ann nor @Ben is in @hall".split(), NamedThings([], {}))[1]
    ['@Ben', 'is', 'not', 'in', '@hall']
    """
    if not words:
        return [words]
    first, rest = words[0], words[1:]
    if first == "neither" and "nor" in words:
        nor = words.index("nor")
        return _of_each([words[1], words[nor + 1]], words[nor + 2 :], denied=True)
    if "neither" in words and "nor" in words:
        neither, nor = words.index("neither"), words.index("nor")
        verb = words[neither - 1]
        joined = [*words[neither + 1 : nor], "and", verb, "not", *words[nor + 1 :]]
        return [[*words[:neither], "not", *joined]]
    if first in ("nothing", "nobody"):
        return _of_each(cast.others(words, persons=first == "nobody"), rest, denied=True)
    if first in ("everything", "everybody"):
        return _of_each(cast.others(words, persons=first == "everybody")[1:], rest)
    if words[1:4] == ["is", "the", "only"]:
        return conjuncts(["only", first, "is", *words[5:]], cast)
    if first == "only" and rest[:1] and rest[0].startswith("@"):
        persons = cast.kinds.get(rest[0][1:], PERSON) >= PERSON
        others = _of_each(cast.others(words, persons=persons), rest[1:], denied=True)
        return [rest, *others]
    if first not in QUANTIFIERS:
        return [words]
    noun = 2 if words[1:2] == ["of"] else 1
    if not words[noun : noun + 1] or not words[noun].startswith("@"):
        return [words]
    return _quantified(first, words[noun], words[noun + 1 :], cast)


def _quantified(word: str, noun: str, rest: list[str], cast: NamedThings) -> list[list[str]]:
    if word in SOME:
        return [[f"@some-{noun[1:]}", *rest]]
    if word in EVERY:
        return _of_each(cast.called(noun), rest)
    assert word in NO
    return _of_each(cast.called(noun), rest, denied=True)


def _of_each(names: list[str], rest: list[str], *, denied: bool = False) -> list[list[str]]:
    """The same said of each name, or denied of each."""
    if denied and (not rest or rest[0] not in _ASKING):
        rest = ["?", *rest]  # nothing reads this
    elif denied:
        rest = [rest[0], "not", *rest[1:]]
    return [[name, *rest] for name in names]


def renamed(sentences: list[list[str]]) -> dict[str, str]:
    """Names that stand for others: "the cup" after "the red cup", "the red cup" if the cup is red.

    >>> renamed([["@red-cup", "is", "in", "@box"], ["@cup", "is", "old"]])
    {'@cup': '@red-cup'}
    """
    found: dict[str, str] = {}
    seen: dict[str, list[str]] = {}  # by the last word of a name
    predicates = {(words[0], words[-1]) for words in sentences if words and len(words) == 3}
    for words in sentences:
        named = [word for word in dict.fromkeys(words) if word[:1] == "@" and word[1:2].islower()]
        for name in named:
            first, _, head = name[1:].rpartition("-")
            others = seen.get(head, [])
            if not first and len(others) == 1 and name not in others:
                found[name] = others[0]
            elif first and name not in others and (f"@{head}", first) in predicates:
                found[name] = f"@{head}"
        for name in named:
            own = seen.setdefault(name[1:].rpartition("-")[2], [])
            if name not in found and name not in own:
                own.append(name)
    return found
