"""From a phrase that was found to what it says: fillers, denial and moment put together."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

from gnomon.proofs.meaning.context import Context, Located, Part, Sayings, Verb
from gnomon.proofs.meaning.statements import ALWAYS, EVER, Either, Filler, Said
from gnomon.proofs.meaning.stories import NOW, START

NOTHING = "nothing()"
MOMENTS_OF = {"start": START, "now": NOW, "ever": EVER, "always": ALWAYS}


class Teller:
    """Knows whether a sentence is a premise or a claim, and whether the story moves on.

    `shifted`, of a premise: others tell what came later; of a claim: the premises tell of change.
    """

    def __init__(self, *, claim: bool, shifted: bool) -> None:
        self.claim = claim
        self.shifted = shifted

    def said(self, part: Part, context: Context, verb: Verb) -> list[Said | Either]:
        """What a part says; of several grounds it says it of each."""
        denied = part.denied != (verb.denied and not part.contrast)
        meaning, denied = self._denied(part.meaning, denied)
        if meaning == NOTHING:
            return []
        if "THERE" in meaning:
            there = context.there[0] if context.there else "inside(A, B)"
            meaning = meaning.replace("THERE", f"({there})".replace("B", "place"))
        at, lasting = self._moment(context, verb)
        found: list[Said | Either] = []
        for fillers in _each(part.fillers):
            found.append(Said(meaning, fillers, at, denied, lasting))
        return found

    def located(self, located: Located, names: tuple[str, ...], verb: Verb) -> list[Said | Either]:
        """What is said of those who are in a place."""
        found: list[Said | Either] = []
        for name in names:
            said = self._of(located.parts, name, located.context, verb)
            if not located.others:
                found += said
                continue
            others = self._of(located.others, name, located.context, verb)
            if said and others:  # else one of the ways says nothing, and so do both
                ways = [way for way in (*said, *others) if isinstance(way, Said)]
                found.append(Either(tuple(ways)))
        return found

    def _of(
        self, parts: tuple[Part, ...], name: str, context: Context, verb: Verb
    ) -> list[Said | Either]:
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
    if not isinstance(last, Said) or (time == "now" and last.at != EVER):
        return said
    return (*others, replace(last, at=MOMENTS_OF[time]))


def said_of(saying: Said | Either, name: str) -> Said | Either:
    """The same said of another."""
    if isinstance(saying, Either):
        return saying
    return replace(saying, fillers={**saying.fillers, "A": name})
