"""Deriving a seed example from its pattern: which fillers make exactly these sentences?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from gnomon.language.patterns import Pattern

CANDIDATE_LIMIT = 200_000  # fillings tried for one example


def derive(
    pattern: Pattern, example: Mapping[str, str] | tuple[str, ...]
) -> tuple[int, ...] | None:
    """The fillers that make the example and satisfy every restriction; none if there are none."""
    if isinstance(example, Mapping):
        fillers = _named(pattern, example)
        return fillers if fillers is not None and pattern.allows(fillers) else None
    wanted = [sentence.removesuffix(".") for sentence in example]
    renderers = pattern.renderers()
    for fillers in _candidates(pattern, wanted):
        if [render(fillers) for render in renderers] == wanted and pattern.allows(fillers):
            return fillers
    return None


def _named(pattern: Pattern, example: Mapping[str, str]) -> tuple[int, ...] | None:
    found = []
    for slot in pattern.slots:
        name = example[slot.name]
        number = (
            slot.words.index(name)
            if name in slot.words
            else None
            if slot.words
            else pattern.world.numbers.get(name)
        )
        if number is None:
            return None
        found.append(number)
    return tuple(found)


def _candidates(pattern: Pattern, sentences: list[str]) -> Iterator[tuple[int, ...]]:
    """Fillings from the entities and words that the sentences mention."""
    text = " ".join(sentences).lower()
    choices = []
    for slot in pattern.slots:
        names = slot.words if slot.words else [entity.name for entity in pattern.world.entities]
        mentioned = [number for number in sorted(slot.domain) if names[number].lower() in text]
        choices.append(mentioned)
    for tried, fillers in enumerate(product(*choices)):
        if tried >= CANDIDATE_LIMIT:
            return
        yield fillers
