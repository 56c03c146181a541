"""Families of templates: one hypothesis with slots, and premises that make it true, false or open.

The templates of a family draw their hypotheses from one stock, so that a hypothesis alone says
nothing about the label as long as the family's labels are balanced. If its premises are one
sentence in which the slots change places, a premise alone says nothing either. The sentences are
those of the language room (docs/patterns.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from random import Random
from typing import NamedTuple

from gnomon.language.sampling import draws
from gnomon.language.surface import Form, Sentence, form_of, renderer
from gnomon.language.world import Entity

LABELS = ("entailment", "contradiction", "neutral")
MOST_MISSES = 1_000_000  # draws without a new hypothesis before there are taken to be no more
Filling = tuple[int, ...]  # for each draw of the family the number of the row


class Draw(NamedTuple):
    """Slots that are filled together from one row of a list.

    Draws from the same named list never repeat a row.
    """

    slots: tuple[str, ...]
    source: str  # the name of the list; empty for a list of the family's own
    rows: tuple[tuple[Entity, ...], ...]


class Template(NamedTuple):
    """A premise with slots, and the labels that are right with the family's hypothesis."""

    id: str  # family/number
    premise: Sentence
    labels: tuple[str, ...]
    figurative: bool


class Problem(NamedTuple):
    """A premise, a hypothesis, and the template they were made from."""

    template: Template
    premise: str
    hypothesis: str


@dataclass(frozen=True)
class Family:
    """One hypothesis, and a template for each premise.

    Families that ask two things of the same premises, as twins do, have one `kin`.
    """

    name: str
    kin: str
    category: str
    draws: tuple[Draw, ...]
    hypothesis: Sentence
    templates: tuple[Template, ...]

    def problems(self, count: int, *, seed: int = 0, paired: bool = False) -> Iterator[Problem]:
        """`count` problems of each template, or as many as there are hypotheses for, all different.

        The templates share out the hypotheses at random, or are all asked with the same ones if
        they are `paired`. The first n problems of a template do not depend on the count, and other
        families do not change them.
        """
        shares = 1 if paired else len(self.templates)
        drawn = list(self._hypotheses(count * shares, Random(f"{seed}/{self.name}")))
        dealt = len(drawn) // shares * shares  # every template gets as many
        for number, template in enumerate(self.templates):
            random = Random(f"{seed}/{template.id}")
            render, places = self._renderer(template.premise), self._places(template.premise)
            for filling, hypothesis in drawn[number % shares : dealt : shares]:
                premise = render(self._completed(filling, places, random))
                yield Problem(template, premise, hypothesis)

    def _hypotheses(self, count: int, random: Random) -> Iterator[tuple[Filling, str]]:
        used = self._places(self.hypothesis)
        sizes = [len(self.draws[place].rows) for place in used]
        render = self._renderer(self.hypothesis)
        seen: set[str] = set()
        misses = 0  # in a row: a list may say the same thing in a million ways
        for rank in draws(prod(sizes), prod(sizes), random):
            if len(seen) == count or misses > MOST_MISSES:
                return
            filling = [-1] * len(self.draws)
            for place, size in zip(used, sizes, strict=True):
                rank, filling[place] = divmod(rank, size)
            misses += 1
            if self._repeats(filling):
                continue
            text = render(filling)
            if text not in seen:
                misses = 0
                seen.add(text)
                yield tuple(filling), text

    def _completed(self, filling: Filling, places: Sequence[int], random: Random) -> list[int]:
        """The hypothesis's filling, with rows drawn for the slots that only the premise has."""
        whole = list(filling)
        for place in places:
            if whole[place] < 0:
                taken = self._taken(whole, self.draws[place].source)
                free = [row for row in range(len(self.draws[place].rows)) if row not in taken]
                whole[place] = random.choice(free)
        return whole

    def _taken(self, filling: Sequence[int], source: str) -> set[int]:
        """The rows of a named list that a filling uses already."""
        taken = set()
        for row, draw in zip(filling, self.draws, strict=True):
            if source and draw.source == source:
                taken.add(row)
        return taken

    def _repeats(self, filling: Sequence[int]) -> bool:
        seen = set()
        for draw, row in zip(self.draws, filling, strict=True):
            if draw.source and row >= 0:
                if (draw.source, row) in seen:
                    return True
                seen.add((draw.source, row))
        return False

    def _places(self, sentence: Sentence) -> list[int]:
        used = set(sentence.slots)
        return [place for place, draw in enumerate(self.draws) if used & set(draw.slots)]

    @cached_property
    def _where(self) -> dict[str, tuple[int, int]]:
        """For each slot its draw and its column in the rows."""
        where = {}
        for place, draw in enumerate(self.draws):
            for column, slot in enumerate(draw.slots):
                where[slot] = (place, column)
        return where

    def _renderer(self, sentence: Sentence) -> Callable[[Sequence[int]], str]:
        def table(slot: str, form: Form) -> tuple[str, ...]:
            place, column = self._where[slot]
            return tuple(form_of(row[column], form) for row in self.draws[place].rows)

        slots = list(self._where)
        render = renderer(sentence, slots, table)
        places = [self._where[slot][0] for slot in slots]
        return lambda filling: render([filling[place] for place in places]) + "."
