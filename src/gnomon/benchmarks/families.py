"""Families of templates: one hypothesis with slots, and premises that make it true, false or open.

The templates of a family draw their hypotheses from one stock, so that a hypothesis alone says
nothing about the label as long as the family's labels are balanced. If its premises are one
sentence in which the slots change places, a premise alone says nothing either. The sentences are
those of the language room (docs/patterns.md).
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import msgspec

from gnomon.errors import DataError
from gnomon.files import read_yaml
from gnomon.language import surface
from gnomon.language.sampling import draws
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
    premise: surface.SlottedSentence
    labels: tuple[str, ...]
    figurative: bool


class FamilyProblem(NamedTuple):
    """A premise, a hypothesis, and the template they were made from."""

    template: Template
    premise: str
    hypothesis: str


@dataclass(frozen=True)
class TemplateFamily:
    """One hypothesis, and a template for each premise.

    Families that ask two things of the same premises, as twins do, have one `kin`.
    """

    name: str
    kin: str
    category: str
    draws: tuple[Draw, ...]
    hypothesis: surface.SlottedSentence
    templates: tuple[Template, ...]

    def problems(
        self, count: int, *, seed: int = 0, paired: bool = False
    ) -> Iterator[FamilyProblem]:
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
                yield FamilyProblem(template, premise, hypothesis)

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

    def _places(self, sentence: surface.SlottedSentence) -> list[int]:
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

    def _renderer(self, sentence: surface.SlottedSentence) -> Callable[[Sequence[int]], str]:
        def table(slot: str, form: surface.WordForm) -> tuple[str, ...]:
            place, column = self._where[slot]
            return tuple(surface.form_of(row[column], form) for row in self.draws[place].rows)

        slots = list(self._where)
        render = surface.renderer(sentence, slots, table)
        places = [self._where[slot][0] for slot in slots]
        return lambda filling: render([filling[place] for place in places]) + "."


# Files of families: what they may say, and what is wrong with those that say something else.
#
# A family has a premise for each label, or one premise in which the slots change places from
# label to label; a twin asks something else of the same premises (docs/families.md).


MOST_FAMILIES = 10_000
ROLE = re.compile(r"(\{(?:(?:a|the|bare) )?)([1-9])(?=[':}])")  # {1}, {bare 2}, {1's}, {1:is}
Rows = list[str | list[str]]  # fillers: one for each slot, or several that go together


class _Entry(msgspec.Struct, forbid_unknown_fields=True):
    """A family as written in a file; its other keys are labels, each with a premise.

    If there is one premise for all labels, each of them names the slots that take its roles.
    """

    hypothesis: str
    slots: dict[str, str | Rows]
    category: str = ""
    premise: str = ""
    figurative: dict[str, str] = msgspec.field(default_factory=dict)
    literal: dict[str, str] = msgspec.field(default_factory=dict)
    twin: dict[str, Any] = msgspec.field(default_factory=dict)

    def premises(self) -> Iterator[tuple[str, str, bool]]:
        """Each label, its premise, and whether that is a figure of speech."""
        for label, text in self.literal.items():
            yield label, self._premise(text), False
        for label, text in self.figurative.items():
            yield label, self._premise(text), True

    def _premise(self, text: str) -> str:
        if not self.premise:
            return text
        slots = text.split()
        roles = {int(role[2]) for role in ROLE.finditer(self.premise)}
        if roles != set(range(1, len(slots) + 1)):
            raise surface.SentenceError(
                f"'{text}' does not name a slot for each role of '{self.premise}'"
            )
        return ROLE.sub(lambda role: role[1] + slots[int(role[2]) - 1], self.premise)


def read_families(file: Path, words: Mapping[str, Rows] | None = None) -> list[TemplateFamily]:
    """The families of a file.

    `words` are lists of fillers that it may name; its own entry `words` adds to them.
    """
    content = read_yaml(file)
    if not isinstance(content, dict):
        raise DataError(
            "a file of families names each family, with its hypothesis, slots and premises.",
            "Write it as docs/families.md shows.",
            file=file,
        )
    lists = {**(words or {}), **_word_lists(content.pop("words", None), file)}
    if len(content) > MOST_FAMILIES:
        raise DataError(
            f"the file has more than {MOST_FAMILIES:,} families.",
            "Divide it into several files.",
            file=file,
        )
    found: list[TemplateFamily] = []
    for name, entry in content.items():
        found += _family_and_twin(str(name), entry, file, lists)
    return found


def _word_lists(content: Any, file: Path) -> dict[str, Rows]:
    """The entry `words` of a file: lists of fillers by name."""
    try:
        return msgspec.convert(content or {}, dict[str, Rows])
    except msgspec.ValidationError as error:
        raise DataError(
            f"the entry 'words': {error}.",
            "Write each list by its name, in brackets: words: {peak: [Etna, Fuji, Elbrus]}.",
            file=file,
        ) from None


def _family_and_twin(
    name: str, content: Any, file: Path, words: Mapping[str, Rows]
) -> Iterator[TemplateFamily]:
    try:
        entry = _entry(content)
        yield _family(name, name, entry, file.stem, words)
        if not entry.twin:
            return
        twin = _entry({"slots": entry.slots, "category": entry.category, **entry.twin})
        if twin.twin:
            raise surface.SentenceError("a twin has no twin of its own")
        yield _family(f"{name}-twin", name, twin, file.stem, words)
    except (msgspec.ValidationError, surface.SentenceError) as error:
        raise DataError(
            f"the family '{name}': {error}.",
            "Write it as docs/families.md shows.",
            file=file,
        ) from None


def _family(
    name: str, kin: str, entry: _Entry, category: str, words: Mapping[str, Rows]
) -> TemplateFamily:
    templates = []
    for number, (label, text, figurative) in enumerate(entry.premises()):
        premise = _sentence(text, entry)
        templates.append(Template(f"{name}/{number}", premise, _labels(label), figurative))
    if not templates:
        raise surface.SentenceError("it has no premises")
    drawn = tuple(_draw(slots, source, words) for slots, source in entry.slots.items())
    _check_enough(drawn)
    hypothesis = _sentence(entry.hypothesis, entry)
    return TemplateFamily(
        name, kin, entry.category or category, drawn, hypothesis, tuple(templates)
    )


def _entry(content: Any) -> _Entry:
    if not isinstance(content, dict):
        raise surface.SentenceError("it must have a hypothesis, slots and premises")
    own = set(_Entry.__struct_fields__) - {"literal"}
    fields: dict[str, Any] = {"literal": {}}
    for key, value in content.items():
        if key in own:
            fields[key] = value
        else:
            fields["literal"][key] = value
    return msgspec.convert(fields, _Entry)


def _labels(text: str) -> tuple[str, ...]:
    labels = text.split("/")
    if not set(labels) <= set(LABELS):
        raise surface.SentenceError(f"'{text}' is not a label, or several with / between them")
    return tuple(sorted(set(labels), key=LABELS.index))


def _sentence(text: str, entry: _Entry) -> surface.SlottedSentence:
    sentence = surface.parse_sentence(text)
    declared = " ".join(entry.slots).split()
    for slot in sentence.slots:
        if slot not in declared:
            raise surface.SentenceError(f"the slot {slot} of '{text}' is not declared")
    return sentence


def _draw(slots: str, source: str | Rows, words: Mapping[str, Rows]) -> Draw:
    if not isinstance(source, str):
        name, listed = "", source
    elif source in words:
        name, listed = source, words[source]
    else:
        raise surface.SentenceError(f"there is no list of words named '{source}'")
    names = tuple(slots.split())
    rows = []
    for row in listed:
        fillers = row if isinstance(row, list) else [row]
        if len(fillers) != len(names):
            raise surface.SentenceError(
                f"the words for {slots} must fill {len(names)} slot(s) in each row"
            )
        rows.append(tuple(_entity(word) for word in fillers))
    if not rows:
        raise surface.SentenceError(f"there are no words for {slots}")
    return Draw(names, name, tuple(rows))


def _check_enough(drawn: Sequence[Draw]) -> None:
    """Draws from one named list never repeat a row, so it needs a row for each."""
    times = Counter(draw.source for draw in drawn if draw.source)
    for draw in drawn:
        if times[draw.source] > len(draw.rows):
            rows, draws_of = len(draw.rows), times[draw.source]
            raise surface.SentenceError(
                f"the list '{draw.source}' has {rows} row(s) for {draws_of} different slots"
            )


def _entity(text: str) -> Entity:
    """A name with a capital is a proper one."""
    features = frozenset({"proper"}) if text[:1].isupper() else frozenset[str]()
    return Entity(text, features)
