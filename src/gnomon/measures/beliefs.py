"""What a model believes about an order: the answers "A over B" as a whole, and how far they agree.

Measures such as symmetry and transitivity count pairs and triples that agree. Here all answers are
taken together: cycles among them, the least number of answers to change so that none is left, and
the order that they then say. Only what claims an order counts: "level with", "cannot tell" and "no"
to a relation of which the opposite need not hold claim none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from gnomon.contracts import OrderLaw, RelationLaw
from gnomon.measures.codes import Codes
from gnomon.measures.laws import LawStatements, contexts, order, relations
from gnomon.measures.ranking import Weights, contradicted, rank
from gnomon.measures.table import Flags, Table

DRAWS = 10  # of coins, for what chance gives; one where there are many answers
MANY = 2_000
NOTHING, UNUSED = -1, -2  # an answer that asserts no word, and a word that no item has


class Belief(NamedTuple):
    """What the answers in one context say about one relation."""

    context: str  # what the law compares within: the scale and the form, or the story
    relation: str
    objects: tuple[str, ...]  # in the order that contradicts the fewest answers, greatest first
    over: Weights  # [object, object] how many answers say that the first is over the second
    both_ways: int  # pairs of objects of which both were said to be over the other
    triangles: int  # cycles of three objects, where most answers to each pair count
    tangles: tuple[tuple[str, ...], ...]  # objects that lie on cycles together, the largest first
    changes: int  # answers that contradict the order
    least: int  # no order contradicts fewer
    by_chance: float  # changes that flips of a coin would need, as a mean
    right: int  # answers that are right
    order_right: int  # answers that would be right if they followed the order

    @property
    def answers(self) -> int:
        """How many answers claim something."""
        return int(self.over.sum())

    @property
    def exact(self) -> bool:
        """Whether fewer changes are impossible."""
        return self.changes == self.least


class _Claims(NamedTuple):
    """Answers that put one object over another, by code."""

    context: str
    relation: str
    names: tuple[str, ...]
    over: Codes
    under: Codes
    right: Flags  # it is so
    reverse: Flags  # it is the other way round


def beliefs(table: Table) -> list[Belief]:
    """What a table's answers say about the orders that its benchmark declares."""
    return [_belief(claims) for claims in _claims(table) if len(claims.over)]


def _belief(claims: _Claims) -> Belief:
    ends = np.concatenate([claims.over, claims.under])
    codes, place = np.unique(ends, return_inverse=True)
    over, under = np.split(place, 2)
    said = np.zeros((len(codes), len(codes)), dtype=np.int64)
    np.add.at(said, (over, under), 1)
    found = rank(said)

    by_rank = np.array(found.order)
    position = np.empty(len(codes), dtype=np.int64)
    position[by_rank] = np.arange(len(codes))
    follows = position[over] < position[under]
    names = [claims.names[code] for code in codes.tolist()]
    tangles = [_named(tangle, names) for tangle in found.tangles]
    assert contradicted(said, found.order) == found.changes
    return Belief(
        context=claims.context,
        relation=claims.relation,
        objects=_named(found.order, names),
        over=said[np.ix_(by_rank, by_rank)],
        both_ways=int(((said > 0) & (said.T > 0)).sum()) // 2,
        triangles=_triangles(said),
        tangles=tuple(tangles),
        changes=found.changes,
        least=found.least,
        by_chance=_by_chance(over, under, len(codes)),
        right=int(claims.right.sum()),
        order_right=int(np.where(follows, claims.right, claims.reverse).sum()),
    )


def _named(things: Iterable[int], names: Sequence[str]) -> tuple[str, ...]:
    return tuple(names[thing] for thing in things)


def _by_chance(over: Codes, under: Codes, size: int) -> float:
    """The changes that are needed if a coin decides each answer: few, where few pairs are asked."""
    random = np.random.default_rng(0)
    draws = DRAWS if len(over) <= MANY else 1
    total = 0
    for _ in range(draws):
        turned = random.random(len(over)) < 0.5
        said = np.zeros((size, size), dtype=np.int64)
        np.add.at(said, (np.where(turned, under, over), np.where(turned, over, under)), 1)
        total += rank(said).changes
    return total / draws


def _triangles(said: Weights) -> int:
    """Cycles of three in what most answers to each pair say."""
    most = (said > said.T).astype(np.int64)
    return int(np.trace(most @ most @ most)) // 3


def _claims(table: Table) -> Iterator[_Claims]:
    """The claims in each context, law by law."""
    ordered, law = order(table), table.laws.order
    if ordered is not None and law is not None:
        for mine in contexts(ordered.context):
            yield _of_order(table, ordered, mine, law)
    related, other = relations(table), table.laws.relations
    if related is not None and other is not None:
        for mine in contexts(related.context):
            yield from _of_relations(table, related, mine, other)


def _of_order(table: Table, found: LawStatements, mine: Codes, law: OrderLaw) -> _Claims:
    """Every answer claims something: who is not greater is lesser."""
    claimed = mine[found.said[mine] >= 0]
    named = _context(table, int(found.rows[mine[0]]), law.within)
    word = _greater_word(table, found, int(mine[0]), law)
    said, gold = found.said[claimed], found.gold[claimed]
    return _directed(found, claimed, said == 1, (gold == 1, gold == 0), named, word)


def _greater_word(table: Table, found: LawStatements, place: int, law: OrderLaw) -> str:
    """The word for "greater" that a row is about, by its choices or by what it asks."""
    row = int(found.rows[place])
    offered = {table.labels[code] for code in table.choices[row].tolist() if code >= 0}
    if found.word[place] >= 0:
        offered.add(found.words[found.word[place]])
    for greater, lesser in zip(law.greater, law.lesser, strict=False):
        if {greater, lesser} & offered:
            return greater
    return " or ".join(law.greater)


def _of_relations(
    table: Table, found: LawStatements, mine: Codes, law: RelationLaw
) -> Iterator[_Claims]:
    """Answers that assert a relation with a converse, or one that passes on."""
    named = _context(table, int(found.rows[mine[0]]), law.within)
    place = {word: code for code, word in enumerate(found.words)}
    pairs = list(law.converse)
    paired = {word for pair in pairs for word in pair}
    pairs += [(word, "") for word in law.transitive if word not in paired]
    said, gold = _asserted(found, mine, found.said), _asserted(found, mine, found.gold)
    for greater, lesser in pairs:
        codes = place.get(greater, UNUSED), place.get(lesser, UNUSED)
        chosen = np.isin(said, codes)
        if chosen.any():
            forward, truth = said[chosen] == codes[0], gold[chosen]
            true = truth == codes[0], truth == codes[1]
            yield _directed(found, mine[chosen], forward, true, named, greater)


def _asserted(found: LawStatements, mine: Codes, answer: Codes) -> Codes:
    """The word that each answer asserts of the first object: its own, or the one it says yes to."""
    asked = found.word[mine]
    agreed = np.where(answer[mine] == 1, asked, NOTHING)
    return np.where(asked >= 0, agreed, answer[mine])


def _directed(
    found: LawStatements,
    mine: Codes,
    forward: Flags,
    true: tuple[Flags, Flags],  # that the first object is over the second, or the reverse
    context: str,
    relation: str,
) -> _Claims:
    first, second = found.first[mine], found.second[mine]
    return _Claims(
        context,
        relation,
        found.objects,
        over=np.where(forward, first, second),
        under=np.where(forward, second, first),
        right=np.where(forward, *true),
        reverse=np.where(forward, *true[::-1]),
    )


def _context(table: Table, row: int, within: tuple[str, ...]) -> str:
    known = [table.tags[name].value(row) for name in within if name in table.tags]
    return " ".join(filter(None, [*known, table.form.value(row)]))
