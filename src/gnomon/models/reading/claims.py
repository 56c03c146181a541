"""What a reply claims of options that are things: by a degree ("B is farther"), or by a verdict.

"Point B is farther than point A" answers "Which point is closer?" with A: the first of two things
that a clause names is what it speaks of, and the opposite degree of one of two is the other one.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from itertools import pairwise
from string import ascii_lowercase
from typing import NamedTuple

from gnomon.lexicon.relations import (
    any_degree,
    any_of,
    degree_in,
    lexicon,
    may_say,
    phrase,
    phrase_in,
    reply_words,
)
from gnomon.lexicon.statements import Clause, read_clause
from gnomon.models.reading.assertion import Mention
from gnomon.models.reading.segments import lines_of, sentences_of, with_announced

_NOTHING: frozenset[int] = frozenset()
_NEVER = re.compile(r"(?!)")
_REACH = 200  # characters of a clause on either side of a name
_NO_NOUNS = frozenset("a an the is are of in on at to".split())
_STRENGTHS = ("plain_verdict", "verdict", "weak_verdict")  # phrases, the surest first
_MOST = 100  # sentences that are looked at, from the end
_MOST_WORDS = 60  # of an option that may differ from others in one word only


# --- what options have in common: "A is closer", "the second image" ------------------------------


class OptionFrame(NamedTuple):
    """Further names of options that differ in one word, and the degree that they share."""

    names: dict[int, set[str]]
    asked: str
    letters: dict[str, int]  # options whose own word is a letter


def option_frame(choices: Sequence[str]) -> OptionFrame:
    """The frame of the options that differ in one word only; there may be others beside them.

    >>> frame = option_frame(["a is darker", "b is darker", "about the same"])
    >>> frame.asked, "point b" in frame.names[1], sorted(frame.names)
    ('darker', True, [0, 1])
    >>> option_frame(["a " * 100_000, "b " * 100_000]).names  # so long, none is looked for
    {}
    """
    places, at = _differing(choices)
    if not places or statements(choices):
        return OptionFrame({}, "", {})
    words = choices[places[0]].split()
    shared = [*words[:at], *words[at + 1 :]]
    letters: dict[str, int] = {}
    names: dict[int, set[str]] = {}
    for place in places:
        core = choices[place].split()[at]
        names[place] = _names(core, shared)
        if len(core) == 1 and core.isalpha():
            letters[core] = place
    return OptionFrame(names, degree_in(" ".join(shared)), letters)


def statements(choices: Sequence[str]) -> list[Clause]:
    """The clauses of options that all say how two things are related; else none."""
    words = (*reply_words().converse, *lexicon().words)
    clauses = []
    for choice in choices:
        clause = read_clause(choice, words) if len(choice) <= _REACH else None
        if clause is None or clause.denied or not clause.ground:
            return []
        clauses.append(clause)
    return clauses


def _differing(choices: Sequence[str]) -> tuple[list[int], int]:
    """The most options that differ in one word only, and the place of that word."""
    groups: dict[tuple[int, tuple[str, ...]], list[int]] = {}
    for place, choice in enumerate(choices):
        words = choice.split()
        if not 1 < len(words) <= _MOST_WORDS:
            continue
        for at in range(len(words)):
            shared = (*words[:at], "", *words[at + 1 :])
            groups.setdefault((at, shared), []).append(place)
    if not groups:
        return [], 0
    (at, _), places = max(groups.items(), key=lambda each: len(each[1]))
    cores = {choices[place].split()[at] for place in places}
    if len(cores) < 2 or len(cores) < len(places):
        return [], 0
    return places, at


def _names(core: str, shared: Sequence[str]) -> set[str]:
    """What else an option may be called: "point b", "image 2", "the second one"."""
    known = reply_words()
    nouns = {word for word in shared if word not in _NO_NOUNS and not degree_in(word)}
    own_nouns = nouns - set(known.nouns[1])
    for family in known.nouns:
        if nouns & set(family):
            nouns |= set(family)
    if len(core) == 1 and core.isalpha():
        letters = nouns or set(known.nouns[0])
        places = zip(ascii_lowercase, known.ordinals, strict=False)
        firsts = {letter: ordinal[0] for letter, ordinal in places}
        in_turn = {f"{firsts.get(core, core)} {noun}" for noun in own_nouns}
        return in_turn | {f"{noun} {core}" for noun in letters}
    names = {f"{core} {noun}" for noun in nouns} | {f"{core} one"}
    for ordinal in known.ordinals:
        if core in ordinal:
            names |= {f"{noun} {ordinal[-1]}" for noun in nouns}
    return names


class OrdinalNames(NamedTuple):
    """How replies point at each option by its place."""

    named: list[set[str]]  # "second option", "choice 2"
    things: list[set[str]]  # "the latter", "the second is": of options that are things
    bare: list[set[str]]  # "second", "last": only as the whole reply


def ordinal_names(own: Sequence[set[str]]) -> OrdinalNames:
    """The names of options by their places; none where the options are such names themselves.

    >>> "option 2" in ordinal_names([{"left"}, {"right"}]).named[1]
    True
    """
    known = reply_words()
    named: list[set[str]] = [set() for _ in own]
    things: list[set[str]] = [set() for _ in own]
    bare: list[set[str]] = [set() for _ in own]
    numbers = {word for ordinal in known.ordinals for word in ordinal}
    taken = {word for words in own for each in words for word in each.split()}
    if numbers & taken or not own:
        return OrdinalNames(named, things, bare)
    listed = known.ordinals[: len(own)]
    for place, (first, short, number, digit) in enumerate(listed):
        for noun in known.option_nouns:
            named[place] |= {f"{first} {noun}", f"{noun} {number}", f"{noun} {digit}"}
        bare[place] |= {first, short, f"number {digit}", f"number {number}", f"{first} thing"}
        things[place] |= {f"the {first} {rest}" for rest in ("one", "of the two", "is", "weighs")}
    for place, words in known.by_place.get(len(own), {}).items():
        things[place].update(f"the {word}" for word in words)
    things[-1].update(f"the {word}" for word in known.last)
    named[-1].update(f"last {noun}" for noun in known.option_nouns)
    for place, names in enumerate(things):
        bare[place] |= {name.removeprefix("the ") for name in names}
    bare[-1].add("last")
    return OrdinalNames(named, things, bare)


# --- degrees --------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _degrees(asked: str) -> re.Pattern[str]:
    """The words that say as much as a degree (group `more`), or its opposite (group `less`)."""
    known = reply_words()
    more, less = {asked}, set[str]()
    for high, low in known.degrees:
        if asked in high:
            more.update(high)
            less.update(low)
        elif asked in low:
            more.update(low)
            less.update(high)
    same, opposite = any_of(more - less), any_of(less - more)
    return re.compile(rf"(?<!\w)(?:(?P<more>{same})|(?P<less>{opposite}))(?!\w)")


@lru_cache(maxsize=64)
def _scale(words: frozenset[str]) -> tuple[Sequence[str], Sequence[str]] | None:
    """The degrees, and the opposite ones, of which a question's words are."""
    for high, low in reply_words().degrees:
        if words & {*high, *low}:
            return high, low
    return None


class PlainComparison:
    """Says "dwarfs", "half the size of" and "not as small as" by the degree that is asked about."""

    def __init__(self, words: set[str]) -> None:
        self._scale = _scale(frozenset(words))

    def of(self, text: str) -> str:
        """The text with comparisons of two things as "is larger than"."""
        if self._scale is None or not phrase("compares").search(text):
            return text
        (more, *_), (less, *_) = self._scale
        text = phrase("weighs").sub(r"weighs \g<degree>", text)
        text = phrase("unsurpassed").sub(r"the \g<degree> one is", text)
        text = phrase("all_but").sub(self._all_but, text)
        text = phrase("outdone").sub(f"is {less} than", text)
        text = phrase("outdoes").sub(f"is {more} than", text)
        text = phrase("part_of").sub(partial(_said, less), text)
        text = phrase("multiple_of").sub(partial(_said, more), text)
        text = phrase("less_so").sub(partial(self._by_adjective, opposite=True), text)
        for form in ("more_so", "by_standard"):
            text = phrase(form).sub(partial(self._by_adjective, opposite=False), text)
        return text

    def _all_but(self, match: re.Match[str]) -> str:
        return f"{match['thing']} is{self._by_adjective(match, opposite=True)}"

    def _by_adjective(self, match: re.Match[str], *, opposite: bool) -> str:
        scale = self._scale
        adjective = match["adjective"]
        if scale is None or adjective not in {*scale[0], *scale[1]}:
            scale = _scale(frozenset({adjective}))
        if scale is None:
            return match[0]
        is_more = (adjective in scale[0]) != opposite
        degree = scale[0][0] if is_more else scale[1][0]
        return _said(degree, match)


def _said(degree: str, match: re.Match[str]) -> str:
    return f" {degree} than" if match["than"] else f" {degree}"


class ThingComparison:
    """What clauses with a degree say of the things that a question compares."""

    def __init__(self, asked: str, things: frozenset[int], options: int) -> None:
        self._degrees = _degrees(asked) if asked else _NEVER
        self._things = things
        self._exhaustive = options == len(things) == 2

    def claimed(
        self, segment: str, mention: Mention, named: Callable[[str], bool]
    ) -> frozenset[int] | None:
        """The choices that a clause claims by a mention; none if it compares nothing.

        `named` says whether a text names one of the options.
        """
        start, end = max(0, mention.start - _REACH), mention.end + _REACH
        earlier, later = segment[start : mention.start], segment[mention.end : end]
        if in_one_breath(earlier, later):
            return _NOTHING
        before = phrase("claim_starts").split(earlier)[-1]
        if phrase("compared_with").search(before) and not phrase("ends_in_is").search(before):
            return self._as_object(mention, before, named)
        after = _clause_after(later)
        degree = self._degrees.search(after)
        if degree and len(self._things) > 2 and self._is_of_two(after, named):
            return _NOTHING  # "a brick is heavier than a feather", where there is an anvil
        if degree:
            return self._of_subject(mention, degree, after[: degree.start()], before)
        degree = self._degrees.search(before)
        if degree is None:
            return self._without_degree(after, named)
        between = before[degree.end() :]
        # "the larger is B", "north of Anna is Carla"
        return self._of_subject(mention, degree, between, before[: degree.start()])

    def _as_object(
        self, mention: Mention, before: str, named: Callable[[str], bool]
    ) -> frozenset[int] | None:
        """What "bigger than the cat" claims: of whom is it said?"""
        degree = self._degrees.search(before)
        if degree is None:
            return None
        between = before[degree.end() :]
        subject = before[: degree.start()]
        if named(subject) or named(between) or not phrase("no_subject").fullmatch(subject):
            return _NOTHING
        return self._signed(self._other(mention.choices), degree, subject)

    def _is_of_two(self, after: str, named: Callable[[str], bool]) -> bool:
        than = phrase("than").search(after)
        return than is not None and named(after[than.end() :])

    def _without_degree(self, after: str, named: Callable[[str], bool]) -> frozenset[int] | None:
        """ "Box A is smaller than box B" says nothing of which is better."""
        if phrase("other_degree").match(after):
            return _NOTHING
        than = phrase("than").search(after)
        if than is None or phrase_in("verdict", after[: than.start()]):
            return None
        return _NOTHING if named(after[than.end() :]) else None

    def _of_subject(
        self, mention: Mention, degree: re.Match[str], between: str, before: str
    ) -> frozenset[int]:
        if phrase("unsure").search(before) or phrase("unsure").search(between):
            return _NOTHING
        return self._signed(mention.choices, degree, between + before)

    def _signed(self, place: frozenset[int], degree: re.Match[str], around: str) -> frozenset[int]:
        denied = phrase("denies").search(around) is not None
        if denied and not self._exhaustive:
            return _NOTHING
        if (degree["more"] is not None) != denied:
            return place
        return self._other(place)

    def _other(self, place: frozenset[int]) -> frozenset[int]:
        if len(self._things) != 2 or not place <= self._things:
            return _NOTHING
        return self._things - place


def in_one_breath(before: str, after: str) -> bool:
    """Whether an option is named together with another one: "the second or third image"."""
    if phrase("coordinated_before").search(before):
        return True
    return phrase("coordinated_after").match(after) is not None


def _clause_after(text: str) -> str:
    """The rest of a clause; what stands between commas after its subject is passed over."""
    aside = phrase("apposition").match(text)
    if aside:
        text = text[aside.end() :]
    return phrase("claim_ends").split(text, maxsplit=1)[0]


# --- verdicts: the sentences that decide, of a reply that speaks of several options ---------------


def verdict(text: str, decided: Callable[[str], set[int]], *, by_degree: bool = False) -> set[int]:
    """The one choice on which the deciding sentences of a reply agree, or which the last concludes.

    `decided` gives the choices that a text asserts or names together. A reply that says that it
    cannot tell must decide all the same. `by_degree`: options are compared, so that "farther"
    decides, too.
    """
    undecided = phrase_in("no_decision", text) is not None
    claims: dict[str, list[set[int]]] = {}
    concluding, last = False, set[int]()
    sentences = sentences_of(text)[-_MOST:]
    entries = [number for number, said in enumerate(sentences) if phrase("list_entry").match(said)]
    listed = len(entries) > 1
    for number in range(len(sentences)):
        sentence = with_announced(sentences, number)
        described = listed and number in entries
        if described and not phrase_in("plain_verdict", sentence):
            continue
        if undecided and phrase_in("no_decision", sentence):
            if by_degree or not phrase("no_certainty").search(sentence):
                claims.clear()  # what it leant to before, it does not stand by
                concluding = False
            continue
        if undecided and not phrase("all_the_same").search(sentence):
            continue
        said, strength = _deciding_part(sentence, by_degree)
        found = decided(said) if said else set()
        if not found:
            continue
        concludes = phrase("concluding").search(sentence) is not None
        if len(found) == 1:
            claims.setdefault(strength, []).append(found)
            concluding, last = concludes, found
        elif concludes:
            concluding, last = True, set()  # "Therefore, the points are A and B"
    if concluding:
        return last
    made = [*claims.get("plain_verdict", ()), *claims.get("verdict", ())]
    is_open = phrase("left_open").search("".join(sentences[-1:])) is not None
    if not made and not undecided and not is_open:
        made = claims.get("weak_verdict", [])
    agree = made and all(claim == made[0] for claim in made)
    return made[0] if agree else set()


def committed(
    text: str, decided: Callable[[str], set[int]], *, by_degree: bool = False
) -> set[int]:
    """The choice that a reply commits itself to, even if it breaks off later.

    It does so where it concludes in its last paragraph, or before it gives its reasons: "I believe
    it is the third image. Here's why: ...".
    """
    *_, last = lines_of(text)
    if phrase("concluding").match(last):
        concluded = verdict(last, decided, by_degree=by_degree)
        if concluded:
            return concluded
    if phrase_in("no_decision", text):
        return set()
    claims: set[int] = set()
    for sentence, following in pairwise((*sentences_of(text)[:_MOST], "")):
        if phrase("commits").search(sentence) or phrase("gives_reasons").match(following):
            said, strength = _deciding_part(sentence, by_degree)
            found = decided(said) if strength in _STRENGTHS[:2] else set()
            if len(found) == 1:
                claims |= found
    return claims


def _deciding_part(sentence: str, by_degree: bool) -> tuple[str, str]:
    """What of a sentence may decide, and how strongly it says so; nothing if it only contrasts."""
    if not _strength(sentence, by_degree)[0]:
        return "", ""
    if any(phrase(aside).search(sentence) for aside in ("contrast_opens", "sets_out")):
        return "", ""
    said = sentence
    if may_say("contrast_clause", said):
        said = phrase("contrast_clause").sub("", said)
    strength, end = _strength(said, by_degree)
    if not strength or phrase_in("least", said) or phrase_in("worse", said[:end]):
        return "", ""
    return said, strength


def _strength(said: str, by_degree: bool) -> tuple[str, int]:
    """How strongly a sentence decides, and up to where it must not say the opposite."""
    for strength in _STRENGTHS:
        mark = phrase_in(strength, said)
        if mark is None and strength == "verdict":
            mark = phrase_in("letter_verdict", said)
            if mark is None and by_degree:
                mark = any_degree().search(said)
        if mark:
            return strength, len(said) if strength == "weak_verdict" else mark.end()
    return "", 0
