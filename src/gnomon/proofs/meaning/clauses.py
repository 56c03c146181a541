"""What a clause says: meanings with holes filled, in the context of a story."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import product
from typing import Any, NamedTuple

from gnomon.proofs.meaning.formulas import Formula, every, some
from gnomon.proofs.meaning.relations import RELATIONS
from gnomon.proofs.meaning.stories import EARLIER, MIDDLE, MOMENTS, NOW, START, Story, When

# What a clause says: a meaning of the lexicon with its holes filled, at a moment.
#
# Meanings are written as Python expressions of relations: "before(inside(A, B)) and
# after(outside(A, B))". They are read, never executed: only names, strings, numbers, calls, and,
# or, not are known.


Filler = str | float | tuple[str, ...]
EVER, ALWAYS = -1, -2  # for a clause that speaks of some moment, or of all


@dataclass(frozen=True)
class ClauseMeaning:
    """One clause: its meaning, who fills the holes, when, and whether it is denied."""

    meaning: str
    fillers: Mapping[str, Filler] = field(default_factory=dict)
    at: int = NOW
    denied: bool = False
    past: bool = False  # said with "was": it need not be so any more
    lasting: bool = True  # false for a result that need not have lasted, in a reading that says so

    def of(self, name: str) -> ClauseMeaning:
        """The same said of somebody, where the sentence had not yet named the subject."""
        fillers = dict(self.fillers)
        for hole, filler in fillers.items():
            if filler == UNNAMED:
                fillers[hole] = name
        return replace(self, fillers=fillers)

    def formula(self, story: Story) -> Formula:
        """What it says about a story."""
        with story.told(denied=self.denied):
            found = self._affirmed(story)
        return ~found if self.denied else found

    def _affirmed(self, story: Story) -> Formula:
        after = NOW
        at = self.at
        if self.lasting is False and story.reads("passing"):
            after = at = MIDDLE
        if self.at in (EVER, ALWAYS):
            parts = [self._formula(story, When(moment)) for moment in story.moments]
            return some(parts) if self.at == EVER else every(parts)
        if self.at == START:
            return self._formula(story, When(START, EARLIER, START))
        if self.at >= EARLIER:
            return self._formula(story, When(self.at, self.at + 1, self.at))
        return self._formula(story, When(at, START, after))

    def _formula(self, story: Story, when: When) -> Formula:
        return _evaluated(_parsed(self.meaning), story, when, self.fillers)


UNNAMED = "?"  # the subject of a phrase that comes before it


@dataclass(frozen=True)
class EitherMeaning:
    """One or the other is said."""

    ways: tuple[ClauseMeaning, ...]

    def of(self, name: str) -> EitherMeaning:
        """The same said of somebody."""
        return EitherMeaning(tuple(way.of(name) for way in self.ways))

    def formula(self, story: Story) -> Formula:
        """What it says about a story."""
        return some(way.formula(story) for way in self.ways)


@cache
def _parsed(meaning: str) -> ast.expr:
    return ast.parse(meaning, mode="eval").body


def _evaluated(node: ast.expr, story: Story, when: When, fillers: Mapping[str, Filler]) -> Formula:
    match node:
        case ast.BoolOp(op=op, values=values):
            parts = [_evaluated(value, story, when, fillers) for value in values]
            return every(parts) if isinstance(op, ast.And) else some(parts)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            with story.told(denied=True):
                return ~_evaluated(operand, story, when, fillers)
        case ast.Call(func=ast.Name(id=name), args=arguments):
            if name in TIMES:
                parts = []
                for moment in TIMES[name](when):
                    parts.append(_evaluated(arguments[0], story, moment, fillers))
                return some(parts) if name == "ever" else every(parts)
            related: list[str | float] = []
            for argument in arguments:
                related += _values(argument, fillers)
            return RELATIONS[name](story, when, *related)
    raise ValueError(f"not a meaning: {ast.unparse(node)}")


def _values(node: ast.expr, fillers: Mapping[str, Filler]) -> list[str | float]:
    match node:
        case ast.Name(id=hole):
            filler = fillers[hole]
            return list(filler) if isinstance(filler, tuple) else [filler]
        case ast.Constant(value=(str() | int() | float()) as value):
            return [value]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return [-value for value in _values(operand, fillers) if not isinstance(value, str)]
    raise ValueError(f"not a thing: {ast.unparse(node)}")


TIMES = {
    "before": lambda when: [when._replace(at=when.before)],
    "after": lambda when: [when._replace(at=when.after)],
    "now": lambda when: [when._replace(at=NOW)],
    "midway": lambda when: [when._replace(at=MIDDLE)],
    "ever": lambda when: [when._replace(at=moment) for moment in MOMENTS],
    "always": lambda when: [when._replace(at=moment) for moment in MOMENTS],
}


# What a sentence leaves to the next one: who was named, what `it` and `there` stand for.


Sayings = tuple[ClauseMeaning | EitherMeaning, ...]


class Verb(NamedTuple):
    """The kind of a verb (be, move, put, locates, opaque, frame), its tense, and its denial."""

    kind: str = ""
    tense: str = "present"
    denied: bool = False
    never: bool = False
    was: bool = False  # said with "was": it need not be so any more
    arrives: bool = False  # who went to a house is in it; who walked to it may not be


class PhrasePart(NamedTuple):
    """A meaning of the lexicon, who fills its holes, and whether it is denied."""

    meaning: Any
    fillers: Mapping[str, Filler]
    denied: bool = False
    contrast: bool = False  # after "but": a denial of the verb does not reach it


class Located(NamedTuple):
    """A phrase that says where something is: parts that all hold, or these or the others."""

    end: int
    context: Context
    parts: tuple[PhrasePart, ...]
    others: tuple[PhrasePart, ...] = ()


class Context(NamedTuple):
    """Where the reader of a story is."""

    subject: tuple[str, ...] = ()
    verb: Verb = Verb()
    mentioned: tuple[str, ...] = ()
    figure: str = ""  # the thing that the last sentence was about
    grounds: tuple[str, ...] = ()  # of places, the last one last
    there: tuple[str, str] | None = None  # a meaning and its ground
    where: Located | None = None  # the last place, for "and the other is not"
    time: str = ""
    setting: str = ""
    open_ground: bool = False  # after "where": the place is the last ground

    def fresh(self) -> Context:
        """For the next sentence: the setting and those named stay, the rest is forgotten."""
        return self._replace(subject=(), verb=Verb(), where=None, time="", open_ground=False)

    def naming(self, *names: str) -> Context:
        """After somebody has been named."""
        return self._replace(mentioned=(*self.mentioned, *names))


class Step(NamedTuple):
    """What has been understood so far, up to which word."""

    said: Sayings
    end: int
    context: Context

    def adding(
        self, said: Sayings | list[ClauseMeaning | EitherMeaning], end: int, context: Context
    ) -> Step:
        """The step after this one."""
        return Step((*self.said, *said), end, context)


class StoryNames:
    """Those whom a story names, with their kinds, and those who are only implied."""

    def __init__(
        self, kinds: Mapping[str, frozenset[str]], implied: Mapping[str, frozenset[str]]
    ) -> None:
        self.kinds = dict(kinds)
        self.implied = implied

    def is_a(self, name: str, *kinds: str) -> bool:
        """Whether somebody is of one of the kinds."""
        own = self.kinds.get(name) or self.implied.get(name, frozenset())
        return any(kind in own for kind in kinds)


# From a phrase that was found to what it says: fillers, denial and moment put together.


NOTHING = "nothing()"
MOMENTS_OF = {"start": START, "now": NOW, "ever": EVER, "always": ALWAYS}


class Teller:
    """Knows whether a sentence is a premise or a claim, and whether the story moves on.

    `shifted`, of a premise: others tell what came later; of a claim: the premises tell of change.
    """

    def __init__(self, *, claim: bool, shifted: bool) -> None:
        self.claim = claim
        self.shifted = shifted

    def said(
        self, part: PhrasePart, context: Context, verb: Verb
    ) -> list[ClauseMeaning | EitherMeaning]:
        """What a part says; of several grounds it says it of each."""
        denied = part.denied != (verb.denied and not part.contrast)
        meaning, denied = self._denied(part.meaning, denied)
        if meaning == NOTHING:
            return []
        if "THERE" in meaning:
            there = context.there[0] if context.there else "inside(A, B)"
            meaning = meaning.replace("THERE", f"({there})".replace("B", "place"))
        at, lasting = self._moment(context, verb)
        found: list[ClauseMeaning | EitherMeaning] = []
        for fillers in _each(part.fillers):
            found.append(ClauseMeaning(meaning, fillers, at, denied, verb.was, lasting))
        return found

    def located(
        self, located: Located, names: tuple[str, ...], verb: Verb
    ) -> list[ClauseMeaning | EitherMeaning]:
        """What is said of those who are in a place."""
        found: list[ClauseMeaning | EitherMeaning] = []
        for name in names:
            said = self._of(located.parts, name, located.context, verb)
            if not located.others:
                found += said
                continue
            others = self._of(located.others, name, located.context, verb)
            if said and others:  # else one of the ways says nothing, and so do both
                ways = [way for way in (*said, *others) if isinstance(way, ClauseMeaning)]
                found.append(EitherMeaning(tuple(ways)))
        return found

    def _of(
        self, parts: tuple[PhrasePart, ...], name: str, context: Context, verb: Verb
    ) -> list[ClauseMeaning | EitherMeaning]:
        found = []
        for part in parts:
            filled = part._replace(fillers={**part.fillers, "A": name})
            found += self.said(filled, context, verb)
        return found

    def _denied(self, meaning: Any, denied: bool) -> tuple[str, bool]:
        """A meaning, or what its denial means in a premise."""
        if isinstance(meaning, str):
            return meaning, denied
        if denied and "not" in meaning and not self.claim:
            return meaning["not"], False
        if denied and "denial" in meaning:
            return meaning["denial"], False
        return meaning["is"], denied

    def _moment(self, context: Context, verb: Verb) -> tuple[int, bool]:
        """When something is, and whether it is sure to have lasted."""
        premise_of_change = self.shifted and not self.claim
        if verb.never and verb.tense != "present":
            return EVER, True
        if context.time == "noon":
            return (START if premise_of_change else NOW), True
        if context.time in MOMENTS_OF and (context.time, verb.tense) != ("now", "perfect"):
            return MOMENTS_OF[context.time], True
        if verb.tense == "perfect":
            return (EVER, True) if self.claim else (NOW, False)
        if self.shifted and verb.tense == "past" and not context.time:
            return (START if premise_of_change else EVER), True
        return NOW, True


def _each(fillers: Any) -> list[dict[str, Filler]]:
    """One set of fillers for each way to choose from holes that several fill (except all)."""
    lists = []
    for hole, filler in fillers.items():
        if isinstance(filler, tuple) and hole != "ALL":
            lists.append([(hole, one) for one in filler])
        else:
            lists.append([(hole, filler)])
    return [dict(choice) for choice in product(*lists)]


def at_time(said: Sayings, time: str) -> Sayings:
    """What was said last, at a time that is named after it."""
    if not said or time not in MOMENTS_OF:
        return said
    *others, last = said
    if not isinstance(last, ClauseMeaning) or (time == "now" and last.at != EVER):
        return said
    return (*others, replace(last, at=MOMENTS_OF[time]))


def said_of(saying: ClauseMeaning | EitherMeaning, name: str) -> ClauseMeaning | EitherMeaning:
    """The same said of another."""
    if isinstance(saying, EitherMeaning):
        return saying
    return replace(saying, fillers={**saying.fillers, "A": name})
