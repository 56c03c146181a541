"""Files of families: what they may say, and what is wrong with those that say something else.

A family has a premise for each label, or one premise in which the slots change places from label to
label; a twin asks something else of the same premises (docs/families.md).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from gnomon.benchmarks.families import LABELS, Draw, Family, Template
from gnomon.errors import DataError
from gnomon.files import read_yaml
from gnomon.language.surface import Sentence, SentenceError, parse_sentence
from gnomon.language.world import Entity

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
            raise SentenceError(f"'{text}' does not name a slot for each role of '{self.premise}'")
        return ROLE.sub(lambda role: role[1] + slots[int(role[2]) - 1], self.premise)


def read_families(file: Path, words: Mapping[str, Rows] | None = None) -> list[Family]:
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
    found: list[Family] = []
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
) -> Iterator[Family]:
    try:
        entry = _entry(content)
        yield _family(name, name, entry, file.stem, words)
        if not entry.twin:
            return
        twin = _entry({"slots": entry.slots, "category": entry.category, **entry.twin})
        if twin.twin:
            raise SentenceError("a twin has no twin of its own")
        yield _family(f"{name}-twin", name, twin, file.stem, words)
    except (msgspec.ValidationError, SentenceError) as error:
        raise DataError(
            f"the family '{name}': {error}.",
            "Write it as docs/families.md shows.",
            file=file,
        ) from None


def _family(name: str, kin: str, entry: _Entry, category: str, words: Mapping[str, Rows]) -> Family:
    templates = []
    for number, (label, text, figurative) in enumerate(entry.premises()):
        premise = _sentence(text, entry)
        templates.append(Template(f"{name}/{number}", premise, _labels(label), figurative))
    if not templates:
        raise SentenceError("it has no premises")
    drawn = tuple(_draw(slots, source, words) for slots, source in entry.slots.items())
    _check_enough(drawn)
    hypothesis = _sentence(entry.hypothesis, entry)
    return Family(name, kin, entry.category or category, drawn, hypothesis, tuple(templates))


def _entry(content: Any) -> _Entry:
    if not isinstance(content, dict):
        raise SentenceError("it must have a hypothesis, slots and premises")
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
        raise SentenceError(f"'{text}' is not a label, or several with / between them")
    return tuple(sorted(set(labels), key=LABELS.index))


def _sentence(text: str, entry: _Entry) -> Sentence:
    sentence = parse_sentence(text)
    declared = " ".join(entry.slots).split()
    for slot in sentence.slots:
        if slot not in declared:
            raise SentenceError(f"the slot {slot} of '{text}' is not declared")
    return sentence


def _draw(slots: str, source: str | Rows, words: Mapping[str, Rows]) -> Draw:
    if not isinstance(source, str):
        name, listed = "", source
    elif source in words:
        name, listed = source, words[source]
    else:
        raise SentenceError(f"there is no list of words named '{source}'")
    names = tuple(slots.split())
    rows = []
    for row in listed:
        fillers = row if isinstance(row, list) else [row]
        if len(fillers) != len(names):
            raise SentenceError(f"the words for {slots} must fill {len(names)} slot(s) in each row")
        rows.append(tuple(_entity(word) for word in fillers))
    if not rows:
        raise SentenceError(f"there are no words for {slots}")
    return Draw(names, name, tuple(rows))


def _check_enough(drawn: Sequence[Draw]) -> None:
    """Draws from one named list never repeat a row, so it needs a row for each."""
    times = Counter(draw.source for draw in drawn if draw.source)
    for draw in drawn:
        if times[draw.source] > len(draw.rows):
            rows, draws_of = len(draw.rows), times[draw.source]
            raise SentenceError(
                f"the list '{draw.source}' has {rows} row(s) for {draws_of} different slots"
            )


def _entity(text: str) -> Entity:
    """A name with a capital is a proper one."""
    features = frozenset({"proper"}) if text[:1].isupper() else frozenset[str]()
    return Entity(text, features)
