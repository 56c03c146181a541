"""Patterns: inferences with holes. A bank is the patterns of some files over one mini world."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gnomon.language.conditions import Condition, satisfied
from gnomon.language.surface import Form, Sentence, forms_of, renderer
from gnomon.language.world import Members, World

Example = Mapping[str, str] | tuple[str, ...]  # fillers, or sentences with the hypothesis last
LABELS = ("entailment", "neutral", "contradiction")
_NOT = re.compile(r"\bnot\b|n't\b")
CLASSES = ("directional", "argument orientation", "projective", "non-projective")


@dataclass(frozen=True)
class Slot:
    """A hole and what may fill it: entities, or words of its own (numbered as listed)."""

    name: str
    domain: Members
    words: tuple[str, ...] = ()


class Problem(NamedTuple):
    """A pattern with its holes filled: premises and hypothesis with capitals and full stops."""

    premises: tuple[str, ...]
    hypothesis: str

    @property
    def text(self) -> str:
        """Premises and hypothesis in one line, to tell problems apart."""
        return " ".join(self.premises) + " => " + self.hypothesis


@dataclass(frozen=True, eq=False)
class Pattern:
    """An inference whose label holds whatever fills its slots, within the restrictions."""

    id: str
    label: str
    kind: str  # one of CLASSES, the paper's "inference class"
    expressions: tuple[str, ...]
    premises: tuple[Sentence, ...]
    hypothesis: Sentence
    slots: tuple[Slot, ...]
    conditions: tuple[Condition, ...]
    distinct: bool  # no entity fills two slots
    siblings: tuple[str, ...]
    examples: tuple[Example, ...]
    world: World
    family: str = ""
    hops: int = 0  # premises that the inference chains; 0 if not known
    note: str = ""
    file: str = ""
    line: int = 0

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        """Premises, then the hypothesis."""
        return (*self.premises, self.hypothesis)

    @property
    def negated(self) -> bool:
        """Whether a sentence holds the word "not" (the paper's negation row, Table 3)."""
        return any(_NOT.search(sentence.text) for sentence in self.sentences)

    def renderers(self) -> list[Callable[[Sequence[int]], str]]:
        """For each sentence a function from fillers to text, without full stop."""
        names = [slot.name for slot in self.slots]
        words = {slot.name: slot.words for slot in self.slots if slot.words}

        def tables(slot: str, form: Form) -> Sequence[str]:
            return words[slot] if slot in words else forms_of(self.world, form)

        return [renderer(sentence, names, tables) for sentence in self.sentences]

    def problem(self, fillers: Sequence[int]) -> Problem:
        """The problem that the fillers make."""
        *premises, hypothesis = (render(fillers) + "." for render in self.renderers())
        return Problem(tuple(premises), hypothesis)

    def phrase(self, place: int, filler: int) -> str:
        """What a filler is called: "the key", "Nora", "at once"."""
        phrases = self.slots[place].words or forms_of(self.world, Form("the"))
        return phrases[filler]

    def allows(self, fillers: Sequence[int]) -> bool:
        """Whether the fillers satisfy every restriction.

        This is the definition that counting and sampling must agree with.
        """
        entities = []
        for slot, filler in zip(self.slots, fillers, strict=True):
            if filler not in slot.domain:
                return False
            if not slot.words:
                entities.append(filler)
        if self.distinct and len(set(entities)) < len(entities):
            return False
        return all(satisfied(condition, fillers) for condition in self.conditions)


@dataclass(frozen=True)
class Bank:
    """Patterns in the order of their files."""

    patterns: tuple[Pattern, ...]
    world: World
    files: tuple[str, ...] = ()
