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
    NotUnderstoodError,
    is_number,
    number_of,
)

_MARKER = re.compile(r"\{(?:(?:a|the|bare) )?([A-Z][A-Z0-9]*)(?:('s)|:([^|}]+)(?:\|[^}]*)?)?\}")
_DETERMINERS = tuple("the a an another my your his her their our this that these those".split())
_ASKING = frozenset("is are was were does do did has have can could".split())
_BE = frozenset("is are was were".split())
_STANDING = _BE | frozenset("stands stand lies lie hangs hang sits sit".split())
_COUNTING = QUANTIFIERS | set("of the exactly only at least most".split())
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
_INDEFINITE = ("a", "an", "another")
_LABEL = re.compile(r"-(?:[A-Z]|[a-z]+(?<=one|two|ree|our|ive|six|ven|ght|ine|ten))$")
_OF = re.compile(r"(@\??)([\w-]+) of @\??([\w-]+)")
_WHOLE = re.compile(r"\b(?:whole|entire) (?=\w)")
_HER = re.compile(
    r"\b(behind|of|beside|near|to|with|at|from|above|below|under|over|past) her(?=$|[.,?!]| and\b)"
)
_BEFORE_BARE = frozenset("in on at of with under into inside near behind contains contain".split())
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
    text = _HER.sub(r"\1 him", _WHOLE.sub("", text))
    text = _SPEAKER.sub("@me is", _OF_PERSONS.sub(_of_person, text))
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
        if rest and not (rest == 1 and words[at + 1] in lexicon.known):
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
        if stops or is_verb or (proper and not (at and words[end][0].isupper())):
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
    is_there = words[0].lower() == "there" and before in _BE
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


# Sentences about all, some or none: one for each of those whom they speak of.


UNNAMED_THING = "anything"  # stands for whatever a text does not name
_PLACES = ("room", "building", "city", "country", "area", "water")
_MEMBER = ("is", "one", "of")


class NamedThings:
    """Those whom a text names, by what they are called."""

    def __init__(self, sentences: list[list[str]], kinds: Kinds) -> None:
        self.kinds = dict(kinds)
        self._declared: dict[str, list[str]] = {}
        for words in sentences:
            if len(words) > 2 and (words[0] in SOME or words[:2] == ["one", "of"]):
                noun = words[2 if words[1] == "of" else 1].lstrip("@")
                self.kinds[f"some-{noun}"] = kinds.get(noun, frozenset())
            is_member = tuple(words[1:4]) == _MEMBER and len(words) == 5
            if is_member or _is_of_a_sort(words):
                self._declared.setdefault(singular(words[-1]), []).append(words[0])

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
        """Those whom a sentence does not name: persons, or all that are no places."""
        found = [f"@{UNNAMED_THING}"]
        for name, kinds in self.kinds.items():
            fits = kinds >= PERSON if persons else kinds.isdisjoint(_PLACES)
            if fits and f"@{name}" not in words:
                found.append(f"@{name}")
        return found


def _is_of_a_sort(words: list[str]) -> bool:
    """Whether a sentence says what somebody is: "Rex is a dog"."""
    return len(words) == 3 and words[1] in _BE and words[2].startswith("@")


def singular(noun: str) -> str:
    """A noun without the ending of the plural.

    >>> singular("boxes"), singular("cherries"), singular("glass")
    ('box', 'cherry', 'glass')
    """
    for ending, instead in (("ies", "y"), ("xes", "x"), ("ches", "ch"), ("shes", "sh")):
        if noun.endswith(ending):
            return noun.removesuffix(ending) + instead
    return noun if noun.endswith("ss") else noun.removesuffix("s")


def conjuncts(words: list[str], things: NamedThings) -> list[list[str]]:
    """The plain sentences that a sentence with a quantifier stands for.

    >>> conjuncts("neither @Ann nor @Ben is in @hall".split(), NamedThings([], {}))[1]
    ['@Ben', 'is', 'not', 'in', '@hall']
    """
    if not words:
        return [words]
    counted = _counted(words)
    if counted:
        return [counted]
    words = [word for word in words if word[0] != "#"]
    first, rest = words[0], words[1:]
    members = things.called(first)[1:] if first.startswith("@") and first != singular(first) else []
    if len(members) > 1:
        return [[*" , ".join(members[:-1]).split(), "and", members[-1], *rest]]
    if first == "neither" and "nor" in words:
        nor = words.index("nor")
        return _of_each([words[1], words[nor + 1]], words[nor + 2 :], denied=True)
    if "neither" in words and "nor" in words:
        neither, nor = words.index("neither"), words.index("nor")
        verb = words[neither - 1]
        joined = [*words[neither + 1 : nor], "and", verb, "not", *words[nor + 1 :]]
        return [[*words[:neither], "not", *joined]]
    if first in ("nothing", "nobody"):
        return _of_each(things.others(words, persons=first == "nobody"), rest, denied=True)
    if first in ("everything", "everybody"):
        return _of_each(things.others(words, persons=first == "everybody")[1:], rest)
    if words[1:4] == ["is", "the", "only"]:
        return conjuncts(["only", first, "is", *words[5:]], things)
    if first == "only" and rest[:1] and rest[0].startswith("@"):
        persons = things.kinds.get(rest[0][1:], PERSON) >= PERSON
        others = _of_each(things.others(words, persons=persons), rest[1:], denied=True)
        return [rest, *others]
    if first not in QUANTIFIERS and words[:2] != ["one", "of"]:
        return [words]
    noun = 2 if words[1:2] == ["of"] else 1
    if not words[noun : noun + 1] or not words[noun].startswith("@"):
        return [words]
    return _quantified(first, words[noun], words[noun + 1 :], things)


_LIMITS = {"exactly": "exactly", "only": "exactly", "at least": "least", "at most": "most"}
_COUNTED = re.compile(
    r"(?:(?P<limit>exactly|only|at least|at most) )?(?:(?P<number>\S+) of |(?P<all>all ))?"
    r"(?:#(?P<total>\S+) )?@(?P<noun>\S+) (?:is|are|was|were) (?P<rest>.+)"
)


def _counted(words: list[str]) -> list[str]:
    """A sentence about so many of a sort: "#", the noun, the rest, the limit, number and total.

    >>> _counted("exactly one of #4 @chairs is in @hall".split())
    ['#', 'chair', 'in @hall', 'exactly', '1', '4']
    """
    match = _COUNTED.fullmatch(" ".join(words))
    if match is None or not (match["number"] or match["total"]):
        return []
    if match["number"] == "one" and not match["limit"]:  # some one of them
        return []
    number, total = match["number"] or match["total"], match["total"] or ""
    if match["all"]:
        number = total
    elif not match["number"]:
        total = ""
    if not is_number(number):
        return []
    numbers = [str(number_of(text)) for text in (number, total) if text]
    limit = _LIMITS.get(match["limit"] or "", "exactly")
    return ["#", singular(match["noun"]), match["rest"], limit, *numbers]


def check_counts(sentences: list[list[str]]) -> None:
    """Refuse texts that count things of a sort and also speak of them otherwise."""
    counted: set[str] = set()
    named: set[str] = set()
    for words in sentences:
        count = _counted(words)
        if count:
            counted.add(count[1])
        else:
            heads = [word[1:].rpartition("-")[2] for word in words if word[:1] == "@"]
            named |= {singular(head) for head in heads}
    both = sorted(counted & named)
    if both:
        raise NotUnderstoodError(
            f"The text counts '{both[0]}' and also speaks of single ones.", "Ask for one of them."
        )


def _quantified(word: str, noun: str, rest: list[str], things: NamedThings) -> list[list[str]]:
    if word in SOME or word == "one":
        return [[f"@some-{noun[1:]}", *rest]]
    if word in EVERY:
        return _of_each(things.called(noun), rest)
    assert word in NO
    return _of_each(things.called(noun), rest, denied=True)


def _of_each(names: list[str], rest: list[str], *, denied: bool = False) -> list[list[str]]:
    """The same said of each name, or denied of each."""
    if denied and (not rest or rest[0] not in _ASKING):
        rest = ["?", *rest]  # nothing reads this
    elif denied:
        rest = [rest[0], "not", *rest[1:]]
    return [[name, *rest] for name in names]


def renamed(told: list[list[str]], claimed: list[list[str]]) -> list[list[list[str]]]:
    """Sentences in which a thing has one name.

    "The cup" after "the red cup" is the same, and so is "the red cup" if the cup is said to be red.
    "A cup" after "the cup" is another one.

    >>> renamed([["@red-cup", "is", "in", "@?box"], ["@cup", "is", "old"]], [])[0]
    [['@red-cup', 'is', 'in', '@box'], ['@red-cup', 'is', 'old']]
    """
    found: list[list[list[str]]] = [[], []]
    seen: dict[str, list[str]] = {}  # by the last word of a name
    predicates = {(words[0], words[-1]) for words in [*told, *claimed] if len(words) == 3}
    for part, sentences in zip(found, (told, claimed), strict=True):
        for words in sentences:
            new = part is found[0] and not _is_of_a_sort(words)
            named = [_resolved(word, seen, predicates, new=new) for word in words]
            part.append(named)
            for name in dict.fromkeys(named):
                own = seen.setdefault(name[1:].rpartition("-")[2], [])
                if name[:1] == "@" and name not in own:
                    own.append(name)
    return found


def _resolved(
    word: str, seen: Mapping[str, list[str]], predicates: set[tuple[str, str]], *, new: bool
) -> str:
    """The name that a word stands for."""
    if word[:1] != "@" or word[1:2].isupper():
        return word
    name = word.replace("?", "")
    first, _, head = name[1:].rpartition("-")
    others = seen.get(head, [])
    if word != name and new and name in others:
        return f"@another-{name[1:]}"
    if f"@another-{name[1:]}" in others:
        raise NotUnderstoodError(f"It is not clear which {head} is meant.", "Give them names.")
    if not first and len(others) == 1 and name not in others:
        return others[0]
    if first and name not in others and (f"@{head}", first) in predicates:
        return f"@{head}"
    return name
