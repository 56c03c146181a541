"""Answers that are written, as replies give them: numbers, sets, orders, points."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from gnomon.forms import lists, regions
from gnomon.forms.numbers import unit_of, written
from gnomon.lexicon.quantities import (
    UNCLEAR,
    Quantity,
    Token,
    converted,
    quantities,
    quantity_words,
    spelled_plainly,
    stray_units,
    tokens_of,
)
from gnomon.lexicon.relations import phrase
from gnomon.models.prompts.prompt import Prompt
from gnomon.models.reading.points import read_points
from gnomon.models.reading.segments import RULES, clean, lines_of, sentences_of, without_thoughts
from gnomon.records import Item, letter_of

UNKNOWN_SIZE = (1000, 1000)  # of a picture of which nothing is known


class WrittenReading(NamedTuple):
    """The answer that was read, as answers of its form are written, and by which rule."""

    said: str | None
    rule: str


def _number(item: Item, reply: str, letters: bool, points: str) -> WrittenReading:
    unit = unit_of(item.gold)
    found = read_number(reply, unit, item.text)
    if found.value is None:
        return WrittenReading(None, found.rule)
    return WrittenReading(written(found.value, unit), found.rule)


def _point(item: Item, reply: str, letters: bool, points: str) -> WrittenReading:
    shown = (item.images[0].width, item.images[0].height) if item.images else (0, 0)
    judged = regions.size_of(item.gold) or (shown if shown[0] else UNKNOWN_SIZE)
    size = shown if shown[0] else judged
    found = read_points(reply, size, points)
    across, down = judged[0] / size[0], judged[1] / size[1]  # a mask may be smaller
    placed = [(x * across, y * down) for x, y in found.points]
    return WrittenReading(regions.write_points(placed) or None, found.rule)


def _set(item: Item, reply: str, letters: bool, points: str) -> WrittenReading:
    found = read_set(reply, item.choices, letters=letters)
    return WrittenReading(lists.written(found.labels or ()) or None, found.rule)


def _order(item: Item, reply: str, letters: bool, points: str) -> WrittenReading:
    found = read_order(reply, item.choices, letters=letters)
    return WrittenReading(lists.written(found.labels or ()) or None, found.rule)


READERS: dict[str, Callable[[Item, str, bool, str], WrittenReading]] = {
    "number": _number,
    "point": _point,
    "set": _set,
    "order": _order,
}


def read_written(
    item: Item, reply: str, *, letters: bool = False, points: str = ""
) -> WrittenReading | None:
    """How the reply to an item reads whose answer is written; none for items of other forms.

    `letters` stand for the choices, where the question showed them; `points` says how coordinates
    are written.
    """
    reader = READERS.get(item.form)
    return reader(item, reply, letters, points) if reader else None


def read_prompted(item: Item, reply: str, prompt: Prompt) -> WrittenReading | None:
    """The same for an item that a prompt put."""
    if item.form not in READERS:
        return None
    letters = prompt.shows_letters(item.form)
    return read_written(item, reply, letters=letters, points=prompt.points)


# The labels that a reply lists: all of a set, or an order of all.


LONGEST = 8_000  # characters that are looked at, from the end
DECIDING = ("whole", "boxed", "announced", "corrected", "concluded", "last line")


class ListReading(NamedTuple):
    """The labels that were read, and by which rule; none if there are none."""

    labels: tuple[str, ...] | None
    rule: str


class _Labels(NamedTuple):
    """Labels, the pattern that finds them, and whether letters stand for them."""

    names: tuple[str, ...]
    by_words: dict[str, str]  # as they stand in plain text
    pattern: re.Pattern[str]
    letters: bool

    def in_order(self, text: str) -> list[str]:
        """The labels that a text names, in its order, each as often as it does."""
        found = [self.by_words[match[0]] for match in self.pattern.finditer(text)]
        if found or not self.letters:
            return found
        return self._by_letters(text)

    def _by_letters(self, text: str) -> list[str]:
        by_letter = {letter_of(place): name for place, name in enumerate(self.names)}
        run = phrase("run_of_letters").fullmatch(text)
        if run and len(set(run[1])) == len(run[1]) and set(run[1]) <= set(by_letter):
            return [by_letter[letter] for letter in run[1]]
        said = phrase("label_letter").findall(text)
        rest = phrase("beside_letters").sub("", phrase("label_letter").sub("", text))
        if rest or not set(said) <= set(by_letter):
            return []
        return [by_letter[letter] for letter in said]


@lru_cache(maxsize=256)
def _labels(names: tuple[str, ...], letters: bool) -> _Labels:
    by_words = {clean(name): name for name in names}
    longest_first = sorted(by_words, key=len, reverse=True)
    words = "|".join(map(re.escape, longest_first))
    return _Labels(names, by_words, re.compile(rf"(?<!\w)(?:{words})(?!\w)"), letters)


def read_set(reply: str, choices: Sequence[str], *, letters: bool = False) -> ListReading:
    """All labels that a reply takes.

    >>> read_set("The sofa and the lamp, but not the bed.", ["bed", "lamp", "sofa"]).labels
    ('lamp', 'sofa')
    """
    known = _labels(tuple(choices), letters)
    for rule, segment in _segments(_plain(reply)):
        whole = _whole_set(segment, known.names)
        if whole:
            return ListReading(whole, rule)
        if rule == "whole" and not _is_plain_list(segment, known):
            continue
        taken = set(known.in_order(phrase("left_out").sub(" ", segment)))
        if taken:
            return ListReading(tuple(name for name in known.names if name in taken), rule)
    return ListReading(None, "none")


def _plain(reply: str) -> str:
    """A reply as plain text, with commas where it has arrows."""
    return clean(phrase("arrow_between_labels").sub(", ", reply[-LONGEST:]))


def _segments(text: str) -> Iterator[tuple[str, str]]:
    """The parts of a reply that decide, surest first."""
    for rule in RULES:
        if rule.name in DECIDING:
            for segment in rule.segments(text):
                yield rule.name, segment.strip()


def _whole_set(segment: str, names: Sequence[str]) -> tuple[str, ...]:
    """What "all of them" and "none of the above" mean."""
    none = tuple(name for name in names if phrase("none_label").fullmatch(name.strip().casefold()))
    if phrase("all_labels").fullmatch(segment):
        return tuple(name for name in names if name not in none)
    return none if phrase("no_labels").fullmatch(segment) else ()


def _is_plain_list(segment: str, known: _Labels) -> bool:
    """Whether a reply is one sentence, or lines that each begin with a label."""
    if len(sentences_of(segment)) <= 1 and len(lines_of(segment)) <= 1:
        return True
    return all(known.in_order(line) and len(line) < 200 for line in lines_of(segment))


def read_order(reply: str, choices: Sequence[str], *, letters: bool = False) -> ListReading:
    """The order in which a reply puts all labels.

    >>> read_order("bee, then cat, then cow", ["cat", "cow", "bee"]).labels
    ('bee', 'cat', 'cow')
    """
    known = _labels(tuple(choices), letters)
    text = _plain(reply)
    for rule, segment in _segments(text):
        found = known.in_order(segment)
        if _is_order(found, choices):
            return ListReading(tuple(found), rule)
    found = known.in_order(text)
    count = len(choices)
    last = found[-count:]
    repeats = len(found) > count and _is_order(found[:count], choices)
    if _is_order(last, choices) and (not repeats or found[:count] == last):
        return ListReading(tuple(last), "sole")
    return ListReading(None, "several" if found else "none")


def _is_order(found: Sequence[str], choices: Sequence[str]) -> bool:
    return len(found) == len(choices) == len(set(found))


# The number that a reply gives, in the unit that was asked for.
#
# A bare number is in that unit; one with another unit of its kind is converted; one whose unit is
# of another kind, or two numbers that do not agree, are no answer.


LONGEST_NUMBER = 8_000  # characters that are looked at, from the end
SAME = 0.1  # relative difference of two numbers that say one thing: "2 m (about 6.6 feet)"
SKIPPED = ("thought", "approved", "closing")  # rules that are for letters and labels
_KEPT = str.maketrans({"·": ".", "‚": ","})


class NumberReading(NamedTuple):
    """The number that was read, and by which rule; none if there is none."""

    value: float | None
    rule: str


class _Asked(NamedTuple):
    """What is asked for: a unit, or things that are counted; and the unit of bare numbers."""

    unit: str
    nouns: frozenset[str]
    bare: str = ""  # another unit that the reply says its numbers are in


class _DisagreementError(Exception):
    """Two numbers that do not agree, or one in a unit of another kind."""


def read_number(reply: str, unit: str = "", question: str = "") -> NumberReading:
    """The number that a reply gives.

    >>> read_number("It is about one and a half metres.", "cm")
    NumberReading(value=150.0, rule='whole')
    >>> read_number("There are 3 chairs and 2 tables.", "", "How many chairs are there?").value
    3.0
    """
    text = clean(spelled_plainly(without_thoughts(reply)[-LONGEST_NUMBER:]))
    if len(phrase("number_of_an_entry").findall(text)) > 1:
        text = phrase("number_of_an_entry").sub("", text)
    text = phrase("thousands_comma").sub("‚", phrase("decimal_point").sub("·", text))
    asked = _Asked(unit, frozenset() if unit else _nouns(question))
    try:
        if unit:
            asked = asked._replace(bare=_unit_of_bare(text.translate(_KEPT), unit))
        return _by_rules(text, asked)
    except _DisagreementError:
        return NumberReading(None, "several")


def _by_rules(text: str, asked: _Asked) -> NumberReading:
    for rule in RULES:
        if rule.name in SKIPPED:
            continue
        for segment in rule.segments(text):
            plain = segment.translate(_KEPT)
            if rule.alone and not _is_alone(plain):
                continue
            value = _said(plain, asked)
            if value is not None:
                return NumberReading(value, rule.name)
    return NumberReading(None, "none")


@lru_cache(maxsize=1024)
def _nouns(question: str) -> frozenset[str]:
    return frozenset(map(_stem, phrase("word_of_a_question").findall(question.casefold())))


def _stem(word: str) -> str:
    """A noun without its plural, as far as that matters for counting."""
    return word.removesuffix("s")


def _is_alone(segment: str) -> bool:
    """Whether a segment is one amount and words that only hedge it."""
    found = quantities(segment)
    if not found:
        return False
    hedges = quantity_words().hedges
    inside = {place for each in found for place in range(each.start, each.end)}
    for place, token in enumerate(tokens_of(segment)):
        is_word = token.text[0].isalnum()
        if place not in inside and is_word and token.text not in hedges:
            return False
    return True


def _said(segment: str, asked: _Asked) -> float | None:
    """The number that a segment commits itself to; none if it names none."""
    segment = _settled(segment)
    tokens = tokens_of(segment)
    found = quantities(segment)
    if any(_is_bounded(tokens, each) for each in found):
        raise _DisagreementError
    if not found:
        return _none_of(segment, asked)
    if asked.unit:
        return _agreed(_in_unit(tokens, found, asked))
    return _agreed(_counted(tokens, found, asked))


def _settled(segment: str) -> str:
    """Of a reply that adds up or takes something back, what stands behind that."""
    if len(quantities(segment)) < 2:
        return segment
    for mark in reversed(list(phrase("settles").finditer(segment))):
        rest = segment[mark.end() :]
        if quantities(rest):
            return rest
    return segment


def _is_bounded(tokens: Sequence[Token], found: Quantity) -> bool:
    """Whether a number is only said to be less or more: "less than 1 m", not "just under 2 m"."""
    words = quantity_words()
    before = [token.text for token in tokens[max(0, found.start - 4) : found.start]]
    if words.near & set(before):
        return False
    last_two = " ".join(before[-2:])
    return last_two in words.bounds or " ".join(before[-1:]) in words.bounds


def _unit_of_bare(text: str, unit: str) -> str:
    """The unit in which a reply says that its bare numbers are: "in feet: 10", "unit": "feet".

    Another unit of the same kind that only stands somewhere tells nothing, and none is sure.
    """
    said = unit
    for stray, before in stray_units(text):
        if stray == unit or converted(1.0, stray, unit) is None:
            continue
        said = stray if before in ("in", "unit", "units", ":", "(", "=") else ""
    return said


def _in_unit(tokens: Sequence[Token], found: Sequence[Quantity], asked: _Asked) -> list[Quantity]:
    """Those that measure what was asked for; bare numbers where there is no other."""
    unit = asked.unit
    measured = []
    for each in found:
        if each.unit == UNCLEAR:
            raise _DisagreementError
        if not each.unit:
            continue
        low, high = converted(each.low, each.unit, unit), converted(each.high, each.unit, unit)
        if low is not None and high is not None:
            measured.append(each._replace(low=low, high=high))
    if measured:
        return measured
    bare = [each for each in found if not each.unit]
    unknown = any(_may_be_unit(tokens, each) for each in bare)
    if len(bare) < len(found) or unknown or not asked.bare:
        raise _DisagreementError  # it has a unit, of another kind or of one that is not known
    times = converted(1.0, asked.bare, unit) or 1.0
    return [each._replace(low=each.low * times, high=each.high * times) for each in bare]


def _may_be_unit(tokens: Sequence[Token], found: Quantity) -> bool:
    """Whether the word after a bare number may be a unit that is not known: "3 furlongs"."""
    after = tokens[found.end].text if found.end < len(tokens) else ""
    words = quantity_words()
    return bool(after) and after[0].isalpha() and after not in words.hedges | words.after


def _counted(tokens: Sequence[Token], found: Sequence[Quantity], asked: _Asked) -> list[Quantity]:
    """Those that count things: what the question names, where a number stands before it."""
    bare = [each for each in found if not each.unit]
    if not bare:
        raise _DisagreementError
    named = [each for each in bare if _noun_after(tokens, each) in asked.nouns]
    return named or bare


def _noun_after(tokens: Sequence[Token], found: Quantity) -> str:
    """The word after a number; the one after that, where an adjective stands between."""
    following = tokens[found.end : found.end + 2]
    return _stem(following[0].text) if following else ""


def _none_of(segment: str, asked: _Asked) -> float | None:
    """Zero, where a segment says that there are none of what is counted."""
    match = phrase("no_number").search(segment) if not asked.unit else None
    if match is None:
        return None
    noun = match["noun"]
    return 0.0 if noun is None or _stem(noun) in asked.nouns else None


def _agreed(found: Sequence[Quantity]) -> float:
    """What numbers amount to that say one thing, the first of them."""
    first = found[0]
    for other in found[1:]:
        largest = max(abs(first.middle), abs(other.middle))
        near = SAME * largest if other.unit != first.unit else 0.0
        if abs(other.middle - first.middle) > near:
            raise _DisagreementError
    return first.middle
