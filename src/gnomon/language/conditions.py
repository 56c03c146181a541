"""Conditions on the fillers of a pattern, with names resolved to places and sets of entities.

Only membership, identity, relations and logic are left: whether a condition holds depends on
nothing but which sets each filler is in and which fillers are the same. `population` counts by
that.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from gnomon.language import expressions as written
from gnomon.language.expressions import Comparison, ExpressionError
from gnomon.language.world import Members, World, WorldRelation, unknown_name

_COMPARE: Mapping[Comparison, Callable[[int, int], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "!=": operator.ne,
}


@dataclass(frozen=True)
class Within:
    """The filler of a place is a member."""

    place: int
    members: Members


@dataclass(frozen=True)
class Equal:
    """Two places have the same filler."""

    left: int
    right: int


@dataclass(frozen=True)
class Stands:
    """The fillers of the places stand in a relation."""

    relation: WorldRelation
    places: tuple[int, ...]


@dataclass(frozen=True)
class Never:
    """The part does not hold."""

    part: Condition


@dataclass(frozen=True)
class Every:
    """All parts hold."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class EitherCondition:
    """At least one part holds."""

    parts: tuple[Condition, ...]


Condition = Within | Equal | Stands | Never | Every | EitherCondition


def satisfied(condition: Condition, fillers: Sequence[int]) -> bool:
    """Whether a condition holds of the fillers, one by place."""
    match condition:
        case Within(place, members):
            return fillers[place] in members
        case Equal(left, right):
            return fillers[left] == fillers[right]
        case Stands(relation, places):
            return relation.holds([fillers[place] for place in places])
        case Never(part):
            return not satisfied(part, fillers)
        case Every(parts):
            return all(satisfied(part, fillers) for part in parts)
        case EitherCondition(parts):
            return any(satisfied(part, fillers) for part in parts)


def places_of(condition: Condition) -> frozenset[int]:
    """The places that a condition speaks of."""
    match condition:
        case Within(place, _):
            return frozenset([place])
        case Equal(left, right):
            return frozenset([left, right])
        case Stands(_, places):
            return frozenset(places)
        case Never(part):
            return places_of(part)
        case Every(parts) | EitherCondition(parts):
            return frozenset().union(*map(places_of, parts))


def deciding_sets(condition: Condition) -> Iterator[tuple[int, Members]]:
    """Every set that a condition depends on, with the place that it is asked of."""
    match condition:
        case Within(place, members):
            yield place, members
        case Stands(relation, places):
            for position, members in relation.places():
                yield places[position], members
        case Never(part):
            yield from deciding_sets(part)
        case Every(parts) | EitherCondition(parts):
            for part in parts:
                yield from deciding_sets(part)
        case Equal():
            return


def resolve(
    condition: written.Condition,
    world: World,
    slots: Mapping[str, int],
    words: Mapping[str, Sequence[str]],
) -> Condition:
    """Give a written condition its meaning.

    `slots` are the places by name, `words` the slots that are filled by words.
    An unknown name, or a relation with the wrong number of slots, is an ExpressionError.
    """

    def place(slot: str, *, entity: bool = True) -> int:
        if slot not in slots:
            raise ExpressionError(unknown_name("slot", slot, slots))
        if entity and slot in words:
            raise ExpressionError(
                f"the slot '{slot}' is filled by words, which the world knows nothing of"
            )
        return slots[slot]

    def inner(part: written.Condition) -> Condition:
        return resolve(part, world, slots, words)

    match condition:
        case written.MemberOf(slot, members):
            if slot in words:
                return Within(place(slot, entity=False), _listed_words(members, words[slot]))
            return Within(place(slot), world.members(members))
        case written.Same(left, right):
            return Equal(place(left), place(right))
        case written.Related(name, arguments):
            if name not in world.relations:
                raise ExpressionError(unknown_name("relation", name, world.relations))
            relation = world.relations[name]
            if relation.arity != len(arguments):
                raise ExpressionError(
                    f"the relation '{name}' takes {relation.arity} slots, not {len(arguments)}"
                )
            return Stands(relation, tuple(place(slot) for slot in arguments))
        case written.ComparedSets():
            other = place(condition.other) if condition.other else None
            return _compared(condition, world, place(condition.slot), other)
        case written.NotCondition(part):
            return Never(inner(part))
        case written.All(parts):
            return Every(tuple(map(inner, parts)))
        case written.Some(parts):
            return EitherCondition(tuple(map(inner, parts)))


def _listed_words(expression: written.Set, words: Sequence[str]) -> Members:
    if not isinstance(expression, written.Listed):
        raise ExpressionError("a slot of words is compared with {words in braces} only")
    for word in expression.names:
        if word not in words:
            raise ExpressionError(f"'{word[:40]}' is not among the words of the slot")
    return frozenset(words.index(word) for word in expression.names)


def _compared(
    condition: written.ComparedSets, world: World, left: int, right: int | None
) -> Condition:
    if condition.scale not in world.scales:
        raise ExpressionError(unknown_name("scale", condition.scale, world.scales))
    names, levels = world.scales[condition.scale], world.level(condition.scale)
    compare = _COMPARE[condition.comparison]
    if right is None:
        if condition.level not in names:
            raise ExpressionError(
                f"'{condition.level[:40]}' is not a level of {condition.scale} ({', '.join(names)})"
            )
        other = names.index(condition.level)
        chosen = [level for i, level in enumerate(levels) if compare(i, other)]
        return Within(left, frozenset().union(*chosen))
    either = []
    for (i, low), (j, high) in product(enumerate(levels), repeat=2):
        if compare(i, j):
            either.append(Every((Within(left, low), Within(right, high))))
    return EitherCondition(tuple(either))
