"""The Boolean constraints in SpaceNLI's pattern file: Python there, read here without running it.

Python's parser gives a tree, a whitelist of its nodes becomes our conditions. As in the authors'
generator they speak of surface phrases ("the hill"), not of entities ("hill"): `NP2 not in
["hill"]` excludes nothing, and stays so.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations

from gnomon.language.conditions import Condition, Either, Equal, Every, Never, Stands, Within
from gnomon.language.world import Members, Relation, Row
from gnomon.yamlnodes import shown

LENGTH_LIMIT = 2000


class BooleanError(ValueError):
    """The constraint is not one of those that the pattern file may use."""


def parse_boolean(
    text: str,
    places: Mapping[str, int],
    phrases: Sequence[Sequence[str]],
    predicates: Mapping[str, Relation],
    names: Sequence[str],
) -> Condition:
    """A constraint as a condition.

    `phrases` are the surface forms for each place, `names` the entities' own names.

    >>> phrases = ["Ada", "the hill"]
    >>> parse_boolean("NP1 != NP2", {"NP1": 0, "NP2": 1}, [phrases, phrases], {}, [])
    Never(part=Equal(left=0, right=1))
    """
    if len(text) > LENGTH_LIMIT:
        raise BooleanError(f"it is longer than {LENGTH_LIMIT} characters")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        return _Reader(places, phrases, predicates, names).condition(tree)
    except BooleanError:
        raise
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise BooleanError("it is not an expression") from None


class _Reader:
    def __init__(
        self,
        places: Mapping[str, int],
        phrases: Sequence[Sequence[str]],
        predicates: Mapping[str, Relation],
        names: Sequence[str],
    ) -> None:
        self.places, self.phrases, self.predicates, self.names = places, phrases, predicates, names

    def condition(self, node: ast.expr) -> Condition:
        match node:
            case ast.BoolOp(op=ast.And(), values=parts):
                return Every(tuple(map(self.condition, parts)))
            case ast.BoolOp(op=ast.Or(), values=parts):
                return Either(tuple(map(self.condition, parts)))
            case ast.UnaryOp(op=ast.Not(), operand=part):
                return Never(self.condition(part))
            case ast.Compare(left=left, ops=[operator], comparators=[right]):
                return self.comparison(left, operator, right)
            case ast.Call(
                func=ast.Name(id="diff_values"), args=[ast.List(elts=slots)], keywords=[]
            ):
                pairs = combinations(map(self.place, slots), 2)
                return Every(tuple(Never(self.equal(left, right)) for left, right in pairs))
            case ast.Call(
                func=ast.Name(id="list_is_subset"),
                args=[ast.List(elts=tuples), predicate],
                keywords=[],
            ):
                return Every(tuple(self.stands(part, predicate) for part in tuples))
        raise BooleanError(f"'{shown(ast.unparse(node))}' is not allowed")

    def comparison(self, left: ast.expr, operator: ast.cmpop, right: ast.expr) -> Condition:
        match operator:
            case ast.Eq():
                return self.is_equal(left, right)
            case ast.NotEq():
                return Never(self.is_equal(left, right))
            case ast.In():
                return self.is_in(left, right)
            case ast.NotIn():
                return Never(self.is_in(left, right))
        raise BooleanError(f"'{shown(ast.unparse(right))}' is not allowed here")

    def is_equal(self, left: ast.expr, right: ast.expr) -> Condition:
        if isinstance(right, ast.Constant):
            return self.within(left, [right])
        return self.equal(self.place(left), self.place(right))

    def is_in(self, left: ast.expr, right: ast.expr) -> Condition:
        if isinstance(left, ast.Tuple):
            return self.stands(left, right)
        if isinstance(right, (ast.List, ast.Tuple, ast.Set)):
            return self.within(left, right.elts)
        raise BooleanError(f"'{shown(ast.unparse(right))}' is not allowed here")

    def place(self, node: ast.expr) -> int:
        if not isinstance(node, ast.Name) or node.id not in self.places:
            raise BooleanError(f"'{shown(ast.unparse(node))}' is not a slot of the pattern")
        return self.places[node.id]

    def equal(self, left: int, right: int) -> Condition:
        if self.phrases[left] is not self.phrases[right]:
            raise BooleanError("only slots of the same kind can be compared")
        return Equal(left, right)

    def within(self, slot: ast.expr, texts: Sequence[ast.expr]) -> Condition:
        place = self.place(slot)
        wanted = {text.value for text in texts if isinstance(text, ast.Constant)}
        return Within(place, self.with_phrases(place, wanted))

    def stands(self, slots: ast.expr, predicate: ast.expr) -> Condition:
        """`(NP1, NP2)` is among the tuples of `sig['name']`.

        Phrases are sought among the names of entities.
        """
        match slots, predicate:
            case ast.Tuple(elts=elements), ast.Subscript(
                value=ast.Name(id="sig"), slice=ast.Constant(value=str(name))
            ):
                places = tuple(self.place(element) for element in elements)
                relation = self.predicates.get(name)
                if relation is None or relation.arity != len(places):
                    raise BooleanError(
                        f"sig['{shown(name)}'] is not a predicate of {len(places)} slots"
                    )
                rows = [Row(row.adds, self.by_phrase(places, row.sets)) for row in relation.rows]
                return Stands(Relation(name, relation.arity, tuple(rows)), places)
        raise BooleanError(f"'{shown(ast.unparse(predicate))}' is not allowed here")

    def by_phrase(self, places: Sequence[int], sets: Sequence[Members]) -> tuple[Members, ...]:
        found = []
        for place, members in zip(places, sets, strict=True):
            names = {self.names[number] for number in members}
            found.append(self.with_phrases(place, names))
        return tuple(found)

    def with_phrases(self, place: int, wanted: Collection[object]) -> Members:
        """The fillers of a slot whose phrase is one of these."""
        return frozenset(i for i, phrase in enumerate(self.phrases[place]) if phrase in wanted)
