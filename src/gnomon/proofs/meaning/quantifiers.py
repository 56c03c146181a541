"""Sentences about all, some or none as plain ones, and one name for each thing of a text."""

import re
from collections.abc import Mapping

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
        return [[f"@some-{noun[1:]}", *rest]]
    if word in EVERY:
        return _of_each(things.called(noun), rest)
    assert word in NO
    return _of_each(things.called(noun), rest, denied=True)


def _of_each(names: list[str], rest: list[str], *, denied: bool = False) -> list[list[str]]:
    """The same said of each name, or denied of each."""
    if denied and (not rest or rest[0] not in ASKING):
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
