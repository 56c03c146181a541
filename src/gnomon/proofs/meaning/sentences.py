"""Sentences to words: patterns with slots, or free text in which nouns and names are found."""

import re
from collections.abc import Mapping

from gnomon.errors import UsageError
from gnomon.proofs.meaning.vocabulary import (
    QUANTIFIERS,
    GrammarWords,
    is_number,
)

LONGEST_TEXT = 4000  # characters of the premises
_MARKER = re.compile(r"\{(?:(?:a|the|bare) )?([A-Z][A-Z0-9]*)(?:('s)|:([^|}]+)(?:\|[^}]*)?)?\}")
_DETERMINERS = tuple("the a an another my your his her their our this that these those".split())
ASKING = frozenset("is are was were does do did has have can could".split())
BE = frozenset("is are was were".split())
_STANDING = BE | frozenset("stands stand lies lie hangs hang sits sit".split())
_COUNTING = QUANTIFIERS | set("of the exactly only".split())
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
_ACTING = re.compile(r"(?:^|(?<=[,;] )|(?<=\band )|(?<=\bthat ))I (?=[a-z])")  # "I put it there"
_HEARER = re.compile(r"(?<!@)\b(?:[Yy]ou|me)\b")
_PERSONS = {"my": "@me", "your": "@you", "his": "him", "her": "him", "their": "them"}
_SHORTENED = re.compile(r"\b(\w+)n't\b")
_LABELLED = re.compile(r"\b(?:[Tt]he )?(?:[Oo]bjects?|[Aa]gents?) (?:label+ed )?(?=[A-Z]\b)")
_HOUR = re.compile(r"\b(1?\d):00\b")
_STRANGE = re.compile(r"[^@\w\s,'.-]|\.(?!\d)")  # signs that no sentence needs
_OTHER_MARKER = re.compile(r"\{[^{}]*\}")  # words of a slot of its own: "at once"
_INDEFINITE = ("a", "an", "another")
_LABEL = re.compile(r"-(?:[A-Z]|[a-z]+(?<=one|two|ree|our|ive|six|ven|ght|ine|ten))$")
_OF = re.compile(r"(@\??)([\w-]+) of @\??([\w-]+)")
_BEFOREHAND = re.compile(r"^(.+\b(?:was|were)\b.+) before (?:the|it|he|she|they|[A-Z])\b.*$")
_WHOLE = re.compile(r"\b(?:whole|entire) (?=\w)")
_HER = re.compile(
    r"\b(behind|of|beside|near|to|with|at|from|above|below|under|over|past) her(?=$|[.,?!]| and\b)"
)
_BEFORE_BARE = frozenset(
    "in on at of with under into inside near behind contains contain by around above below beside "
    "over against among outside beneath".split()
)
_PIECE = re.compile(r"@[^\s,]+|[^\s,]+|,")


def sentences_of(text: str) -> list[str]:
    """The sentences of a text; a question keeps its sign.

    >>> sentences_of("Ann is here. Is Ben 2.5 miles off? He is not.")
    ['Ann is here', 'Is Ben 2.5 miles off?', 'He is not']
    """
    if len(text) > LONGEST_TEXT:
        raise UsageError(f"The premises are longer than {LONGEST_TEXT} characters.", "Say less.")
    parts = [part.strip().rstrip(".;!") for part in re.split(r"(?<=[.;!?])\s+", text)]
    return [part for part in parts if part]


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
    text = _BEFOREHAND.sub(r"Before that, \1", text)
    text = _HER.sub(r"\1 him", _WHOLE.sub("", text))
    text = _SPEAKER.sub("@me is", _OF_PERSONS.sub(_of_person, text))
    text = _ACTING.sub("@me ", text)
    text = _HOURS.sub(lambda match: f"at {_PERSONS[match[1]]} 's {match[2]} o'clock", text)
    text = _HEARER.sub(lambda match: f"@{match[0].lower()}", text)
    text = _STRANGE.sub(" ", _HOUR.sub(r"\1 o'clock", text))
    words = _PIECE.findall(text.strip().replace("'s", " 's"))
    marked: list[str] = []
    at = 0
    while at < len(words):
        owned = words[at] == "'s" and bool(marked) and marked[-1].startswith("@")
        start = at + 1 if owned else at
        length = 0
        if start < len(words):
            length = _noun_length(words, start, lexicon, nouns, bold=bold, owned=owned)
        if not length:
            marked.append(words[at])
            at += 1
            continue
        name = _name("-".join(words[start : start + length]))
        if owned:
            name = f"{marked.pop()[1:].lower()}-{name}"
        marked += [f"{_article(marked)}{name}"]
        at = start + length
    return _stated(plain_words(_of_parts(" ".join(marked)), lexicon))


def _name(noun: str) -> str:
    """A noun as a name: in small letters, unless it is a name already; "Town A" is a town."""
    if noun[0].isupper() and not _LABEL.search(noun):
        return noun
    return noun[0].lower() + noun[1:] if _LABEL.search(noun) else noun.lower()


def _article(marked: list[str]) -> str:
    """How the name after some words begins; their articles and numbers are taken away."""
    number = ""
    if marked and is_number(marked[-1].lower()) and marked[-1].lower() not in _INDEFINITE:
        number = f"#{marked.pop().lower()} "
    if not marked or marked[-1].lower() not in _DETERMINERS:
        return f"{number}@"
    if marked.pop().lower() in _INDEFINITE:
        return "@?"
    of_them = marked and marked[-1].lower() == "of"
    return f"{number}@" if of_them else "@"


def _of_parts(line: str) -> str:
    """ "The surface of the sea" as one name."""
    return _OF.sub(lambda match: f"{match[1]}{match[3].lower()}-{match[2]}", line)


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
    if first in ASKING and end > start:
        words = [*words[start:end], first, *words[end:]]
    if words[:1] == ["there"] and words[1:2] and words[1] in BE:
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
    if words[start : start + 2] in (["at", "least"], ["at", "most"]):
        end += 2
    while end < len(words) and (words[end] in _COUNTING or words[end][0] == "#"):
        end += 1
    while end < len(words) and words[end].startswith("@"):
        end += 1
        joined = words[end : end + 1] in (["and"], [","])
        if not joined or not words[end + 1 : end + 2] or not words[end + 1].startswith("@"):
            return end
        end += 1
    return start


def _noun_length(
    words: list[str],
    at: int,
    lexicon: GrammarWords,
    nouns: Mapping[str, object],
    *,
    bold: bool,
    owned: bool = False,
) -> int:
    """How many words from here on are a noun or a name; 0 if there is none."""
    word = words[at].lower()
    if is_number(word) and word not in _DETERMINERS:
        return 0
    after = words[at + 1 : at + 2]
    labelled = bool(after) and len(after[0]) == 1 and after[0].isupper() and word.isalpha()
    labelled = labelled and len(word) > 1 and word not in lexicon.known - set(nouns)
    counted = at > 0 and is_number(words[at - 1].lower()) and words[at - 1].lower() != "a"
    determined = owned or labelled or _is_determined(words, at, lexicon)
    determined = determined and not (counted and word in lexicon.units)
    proper = words[at][0].isupper()
    if words[at] == "A" and not _is_letter(words, at, lexicon):
        return 0
    if determined and word in lexicon.modifiers and words[at + 1 :] and len(words[at + 1]) > 1:
        rest = _noun_length(words, at + 1, lexicon, nouns, bold=bold, owned=True)
        is_noun = words[at + 1] not in lexicon.known or (bold and words[at + 1] in nouns)
        if rest > 1 or (rest and is_noun):
            return rest + 1
    if determined or proper:
        length = _known_noun(words, at, nouns)
        following = words[at + length : at + length + 1]
        if length and not proper and following and following[0] not in lexicon.known:
            length += _known_noun(words, at + length, nouns)  # a pear tree
        if length:
            return length + labelled
    is_letter = proper and len(word) == 1
    if not is_letter and (word in lexicon.known or word in _DETERMINERS):
        is_noun = bold and determined and word not in _PARTS
        return int(is_noun)
    if not determined and not proper:
        return 0
    return _end_of_noun(words, at, lexicon, nouns) - at


def _end_of_noun(
    words: list[str], at: int, lexicon: GrammarWords, nouns: Mapping[str, object]
) -> int:
    """Where a noun ends that nobody knows: at a word that is known, or a verb."""
    proper = words[at][0].isupper()
    end = at + 1
    while end < min(len(words), at + _MOST_WORDS_OF_A_NOUN):
        length = 0 if proper else _known_noun(words, end, nouns)
        if length:
            return end + length
        following = words[end].lower()
        is_label = len(following) == 1 and words[end].isupper()
        if is_label and words[at].isalpha():
            return end + 1
        stops = following in lexicon.known or following in _DETERMINERS or following == ","
        is_verb = following.endswith("ed") or (
            following.endswith("s") and words[end + 1 : end + 2] and words[end + 1] in _DETERMINERS
        )
        if stops or is_verb or (proper and not words[end][0].isupper()):
            break
        end += 1
    return end


def _is_determined(words: list[str], at: int, lexicon: GrammarWords) -> bool:
    """Whether a word comes after an article, a quantifier or a number, so that it is a noun."""
    before = words[at - 1].lower() if at else ""
    if before in _DETERMINERS or before in QUANTIFIERS or is_number(before):
        return True
    bare = words[at]
    if bare.lower() in lexicon.known or not bare.isalpha() or bare.endswith(("ing", "ly")):
        return False
    is_there = words[0].lower() == "there" and before in BE
    return is_there or before in _BEFORE_BARE


def _is_letter(words: list[str], at: int, lexicon: GrammarWords) -> bool:
    """Whether an "A" is a name, not an article."""
    following = words[at + 1].lower() if at + 1 < len(words) else ","
    return at > 0 or following in lexicon.known or following in (",", "'s")


def _known_noun(words: list[str], at: int, nouns: Mapping[str, object]) -> int:
    for length in (3, 2, 1):
        noun = " ".join(words[at : at + length])
        if at + length > len(words):
            continue
        of_something = length == 1 and words[at + 1 : at + 2] == ["of"] and noun in _PARTS_OF_THINGS
        if (noun in nouns or noun.removesuffix("s") in nouns) and not of_something:
            return length
    return 0
