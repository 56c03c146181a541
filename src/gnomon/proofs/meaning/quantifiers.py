"""Sentences about all, some or none as plain ones, and one name for each thing of a text."""

import re
from collections.abc import Mapping
from itertools import chain

from gnomon.proofs.meaning.sentences import ASKING, BE
from gnomon.proofs.meaning.vocabulary import (
    EVERY,
    NO,
    PERSON,
    QUANTIFIERS,
    SOME,
    Kinds,
    NotUnderstoodError,
    is_number,
    number_of,
)

UNNAMED_THING = "anything"  # stands for whatever a text does not name
_PLACES = ("room", "building", "city", "country", "area", "water")
_MEMBER = ("is", "one", "of")
_BUT = ("except", "but", "save")
# One way or another is said: each begins with the first sign, and one that is denied has the other.
WAY, AGAINST = "|", "~"


class NamedThings:
    """Those whom a text names, by what they are called."""

    def __init__(self, sentences: list[list[str]], kinds: Kinds) -> None:
        self.kinds = dict(kinds)
        self._declared: dict[str, list[str]] = {}
        self._somebody: dict[tuple[str, ...], str] = {}  # one for each sentence about some
        for words in sentences:
            if len(words) > 2 and (words[0] in SOME or words[:2] == ["one", "of"]):
                _, noun, *rest = words if words[1] != "of" else words[1:]
                self.some(noun, rest)
            excepted = _excepted(words)
            if excepted or words[:1] == ["not"]:
                noun = _noun_of(words)[1:]
                first = "other" if excepted else "some-other"
                self.kinds[f"{first}-{noun}"] = kinds.get(noun, frozenset())
            is_member = tuple(words[1:4]) == _MEMBER and len(words) == 5
            if is_member or _is_of_a_sort(words):
                self._declared.setdefault(singular(words[-1]), []).append(words[0])

    def some(self, noun: str, rest: list[str]) -> str:
        """The name of the one of a sort of whom a sentence about some is true."""
        new = f"some-{'further-' * len(self._somebody)}{noun.lstrip('@')}"
        name = self._somebody.setdefault((noun, *rest), new)
        self.kinds[name] = self.kinds.get(noun.lstrip("@"), frozenset())
        return f"@{name}"

    def leave_open(self, words: list[str]) -> None:
        """Count on one that is not named, of the sort that a claim is about: "there is a cup"."""
        noun = _noun_of(words)[1:]
        if noun[:1].islower():
            self.kinds[f"unnamed-{noun}"] = self.kinds.get(noun, frozenset())

    def members(self, noun: str) -> list[str]:
        """Those whom "the cups" stands for."""
        return [name for name in self.called(noun)[1:] if not name.startswith("@unnamed-")]

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
    return len(words) == 3 and words[1] in BE and words[2].startswith("@")


def singular(noun: str) -> str:
    """A noun without the ending of the plural.

    >>> singular("boxes"), singular("cherries"), singular("glass")
    ('box', 'cherry', 'glass')
    """
    for ending, instead in (("ies", "y"), ("xes", "x"), ("ches", "ch"), ("shes", "sh")):
        if noun.endswith(ending):
            return noun.removesuffix(ending) + instead
    return noun if noun.endswith("ss") else noun.removesuffix("s")


def _noun_of(words: list[str]) -> str:
    """The noun that a quantifier counts: the first name of a sentence."""
    return next((word for word in words if word[:1] == "@"), "@")


def _excepted(words: list[str]) -> str:
    """Who is left out: "all @cups except @blue-cup are here"; nobody in most sentences."""
    noun = 2 if words[1:2] == ["of"] else 1
    is_left_out = words[:1] and words[0] in EVERY and words[noun + 1 : noun + 2]
    if not is_left_out or words[noun + 1] not in _BUT:
        return ""
    left_out = words[noun + 2 : noun + 3]
    return left_out[0] if left_out and left_out[0][0] == "@" else ""


def ways_of(words: list[str]) -> list[list[str]]:
    """The sentences of which one is said.

    >>> ways_of("| ~ @cup is old | @cup is red".split())
    [['~', '@cup', 'is', 'old'], ['@cup', 'is', 'red']]
    """
    return [way.split() for way in " ".join(words).split(f"{WAY} ")[1:]]


def denied(sentences: list[list[str]]) -> list[list[str]]:
    """That not all of some sentences are so."""
    found: list[str] = []
    for words in sentences:
        if words[0] in (WAY, "#"):
            raise NotUnderstoodError("A denial of so many or of some is not read.", "Say 'no'.")
        found += [WAY, AGAINST, *words]
    return [found]


def is_about_a_sort(words: list[str]) -> bool:
    """Whether a sentence is about all, some or none of a sort."""
    return bool(words) and words[0] in (QUANTIFIERS | {"not"}) - {"neither", "both"}


def claimed(words: list[str], things: NamedThings, *, exists: bool) -> list[list[str]]:
    """The plain sentences of a claim; that there is one is so if it is so of any that is named."""
    is_some = bool(words) and words[0] in SOME
    if words[:1] == ["not"] or is_some or (exists and words[:1] and words[0][0] == "@"):
        noun = _noun_of(words)
        rest = words[words.index(noun) + 1 :] if noun in words else []
        if words[0] == "not":
            rest = _against(rest)
        found: list[str] = []
        for name in things.called(noun):
            found += [WAY, name, *rest]
        return [found]
    return conjuncts(words, things)


def conjuncts(words: list[str], things: NamedThings) -> list[list[str]]:
    """The plain sentences that a sentence with a quantifier stands for.

    >>> conjuncts("neither @Ann nor @Ben is in @hall".split(), NamedThings([], {}))[1]
    ['@Ben', 'is', 'not', 'in', '@hall']
    """
    if not words:
        return [words]
    if words[0] == "then" and words[1:] and words[1] in (*QUANTIFIERS, "nobody", "nothing"):
        sentence, *further = conjuncts(words[1:], things)
        return [["then", *sentence], *further]
    counted = _counted(words)
    if counted:
        return [counted]
    words = [word for word in words if word[0] != "#"]
    first, rest = words[0], words[1:]
    sort = _noun_of(words)
    if first == "not" and rest[:1] and rest[0] in EVERY and sort in words:
        return [[f"@some-other-{sort[1:]}", *_against(words[words.index(sort) + 1 :])]]
    members = things.members(first) if first.startswith("@") and first != singular(first) else []
    if len(members) > 1 and _verb_after_place(rest):
        return [words, *_of_each(members, rest)]
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
        return _of_each(things.others(words, persons=first == "everybody"), rest)
    if words[1:4] == ["is", "the", "only"] and len(words) > 4:
        return _only_of_a_sort(first, words[4], words[5:], things)
    if first == "only" and rest[:1] and rest[0].startswith("@"):
        persons = things.kinds.get(rest[0][1:], PERSON) >= PERSON
        others = _of_each(things.others(words, persons=persons), rest[1:], denied=True)
        return [rest, *others]
    if first not in QUANTIFIERS and words[:2] != ["one", "of"]:
        return [words]
    noun = 2 if words[1:2] == ["of"] else 1
    if not words[noun : noun + 1] or not words[noun].startswith("@"):
        return [words]
    left_out = _excepted(words)
    if left_out:
        rest = words[noun + 3 :]
        members = [name for name in things.called(words[noun])[1:] if name != left_out]
        return [*_of_each(members, rest), *_of_each([left_out], rest, denied=True)]
    return _quantified(first, words[noun], words[noun + 1 :], things)


_ANY_SORT = ("thing", "object", "item", "person", "one")


def _only_of_a_sort(name: str, sort: str, rest: list[str], things: NamedThings) -> list[list[str]]:
    """That somebody is the only one of a sort of whom something is so."""
    noun = sort.lstrip("@")
    if noun in _ANY_SORT:
        return conjuncts(["only", name, "is", *rest], things)
    names = things.called(f"@{noun}")
    if name not in names:
        raise NotUnderstoodError(f"Who else is a {noun} is not known.", "Say 'only' instead.")
    names.remove(name)
    return [[name, "is", *rest], *_of_each(names, ["is", *rest], denied=True)]


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
    numbers = [f"{number_of(text):g}" for text in (number, total) if text]
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
        return [[things.some(noun, rest), *rest]]
    if word in EVERY:
        return _of_each(things.called(noun), rest)
    assert word in NO
    return _of_each(things.called(noun), rest, denied=True)


def _of_each(names: list[str], rest: list[str], *, denied: bool = False) -> list[list[str]]:
    """The same said of each name, or denied of each; after a place only of those who are there."""
    verb = _verb_after_place(rest)
    place, body = rest[:verb], rest[verb:]
    if denied:
        body = _against(body)
    if not place:
        return [[name, *body] for name in names]
    found = []
    for name in names:
        found.append([WAY, AGAINST, name, body[0], *place, WAY, name, *body])
    return found


def _against(rest: list[str]) -> list[str]:
    """What is said of somebody, denied."""
    verb = _verb_after_place(rest)
    if not rest or rest[verb] not in ASKING:
        return ["?", *rest]  # nothing reads this
    return [*rest[: verb + 1], "not", *rest[verb + 1 :]]


def _verb_after_place(rest: list[str]) -> int:
    """Where the verb is that follows on a place: "in @box is old"; 0 if it comes first."""
    if not rest or rest[0] in ASKING:
        return 0
    for at, word in enumerate(rest):
        if word in (",", "and", "or", "but", "who", "which"):
            return 0
        if word in BE:
            return at
    return 0


def renamed(told: list[list[str]], claimed: list[list[str]]) -> list[list[list[str]]]:
    """Sentences in which a thing has one name.

    "The cup" after "the red cup" is the same, and so is "the red cup" if the cup is said to be red.
    "A cup" after "the cup" is another one.

    >>> renamed([["@red-cup", "is", "in", "@?box"], ["@cup", "is", "old"]], [])[0]
    [['@red-cup', 'is', 'in', '@box'], ['@red-cup', 'is', 'old']]
    """
    text = [*told, *claimed]
    told = [_ones(words, text) for words in told]
    claimed = [_ones(words, text) for words in claimed]
    found: list[list[list[str]]] = [[], []]
    seen: dict[str, list[str]] = {}  # by the last word of a name
    predicates = {(words[0], words[-1]) for words in [*told, *claimed] if len(words) == 3}
    for part, sentences in zip(found, (told, claimed), strict=True):
        for words in sentences:
            new = part is found[0] and not _is_of_a_sort(words)
            named = [_resolved(word, seen, predicates, new=new) for word in words]
            sort = _noun_of(words) if is_about_a_sort(words) else ""
            if sort in words:
                named[words.index(sort)] = sort
            if part is found[1] and words[:1] and words[0][:2] == "@?":
                named[0] = words[0].replace("?", "")  # any one of the sort
            is_claim = part is found[1]
            part.append(_with_any_ground(words, named, told) if is_claim else named)
            for name in dict.fromkeys(named):
                own = seen.setdefault(name[1:].rpartition("-")[2], [])
                if name[:1] == "@" and name not in (*own, sort):
                    own.append(name)
    return found


def _with_any_ground(words: list[str], named: list[str], told: list[list[str]]) -> list[str]:
    """A claim in which "a box" is the one that was told of, or one that is not named."""
    names = {word.replace("?", "") for word in chain.from_iterable(told)}
    places = []
    for at, word in enumerate(words[1:], start=1):
        is_told = word.replace("?", "") in names or named[at] in names
        if word[:2] == "@?" and is_told:
            places.append(at)
    if not places or is_about_a_sort(words) or words[0][:2] == "@?":
        return named
    if len(places) > 1 or "not" in words:
        raise NotUnderstoodError("It is not clear which one is meant.", "Say 'the' for 'a'.")
    (at,) = places
    unnamed = f"@unnamed-{words[at][2:]}"
    return [WAY, *named, WAY, *named[:at], unnamed, *named[at + 1 :]]


def _ones(words: list[str], text: list[list[str]]) -> list[str]:
    """A sentence with "the blue cup" for "the blue one", if the text has one such sort only."""
    if "one" not in words:
        return words
    sorts = set()
    for word in chain.from_iterable(text):
        first, _, head = word[1:].rpartition("-")
        is_sort = bool(first) or head != singular(head)
        if word[0] == "@" and word[1:2].islower() and is_sort:
            sorts.add(singular(head))
    found: list[str] = []
    for word in words:
        before = found[-1] if found else ""
        if word == "one" and before[:1] == "@" and before[1:2].islower() and len(sorts) == 1:
            found[-1] = f"{before}-{min(sorts)}"
        else:
            found.append(word)
    return found


def some_for_one(sentences: list[list[str]]) -> list[list[str]]:
    """Sentences with "some" for "at least one", where nothing else of the sort is counted."""
    counts = [_counted(words) for words in sentences]
    more = {count[1] for count in counts if count and count[3:] != ["least", "1"]}
    found = []
    for words, count in zip(sentences, counts, strict=True):
        is_one = bool(count) and count[1] not in more
        found.append(["some", *words[3:]] if is_one else words)
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
