"""Deriving a seed example from its pattern: which fillers make exactly these sentences?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice, product

from gnomon.language.patterns import Pattern

CANDIDATE_LIMIT = 200_000  # fillings tried for one example


def derive(
    pattern: Pattern, example: Mapping[str, str] | tuple[str, ...]
) -> tuple[int, ...] | None:
    """The fillers that make the example and satisfy every restriction; none if there are none."""
    if isinstance(example, Mapping):
        named = _named(pattern, example)
        if named is None or not pattern.allows(named):
            return None
        return named
    wanted = [sentence.removesuffix(".") for sentence in example]
    renderers = pattern.renderers()
    for fillers in _candidates(pattern, wanted):
        if [render(fillers) for render in renderers] == wanted and pattern.allows(fillers):
            return fillers
    return None


def _named(pattern: Pattern, example: Mapping[str, str]) -> tuple[int, ...] | None:
    found = []
    for slot in pattern.slots:
        numbers: Mapping[str, int] = pattern.world.numbers
        if slot.words:
            numbers = {word: number for number, word in enumerate(slot.words)}
        number = numbers.get(example[slot.name])
        if number is None:
            return None
        found.append(number)
    return tuple(found)


def _candidates(pattern: Pattern, sentences: list[str]) -> Iterator[tuple[int, ...]]:
    """Fillings from the entities and words that the sentences mention."""
    text = " ".join(sentences).lower()
    entities = [entity.name for entity in pattern.world.entities]
    choices = []
    for slot in pattern.slots:
        names = slot.words or entities
        mentioned = [number for number in sorted(slot.domain) if names[number].lower() in text]
        choices.append(mentioned)
    yield from islice(product(*choices), CANDIDATE_LIMIT)
