"""What a model believes about an order: its answers as a whole, and the order nearest to them."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gnomon.contracts import OrderLaw, RelationLaw
from gnomon.graphs import shortest_cycle, strong_components
from gnomon.measures.columns import Codes
from gnomon.measures.laws import LawStatements, context_in_words, contexts, order, relations
from gnomon.measures.table import Flags, Table

# The order that contradicts the fewest statements "A over B": how many, exactly or within bounds.
#
# Statements that no cycle contains agree with some order, so each tangle of objects (a strongly
# connected component) is solved by itself: exactly, by dynamic programming over subsets, if it is
# small, or if bounds from both sides meet; else within these bounds. This is the linear ordering
# problem, or the least feedback arc set.


Weights = NDArray[np.int64]  # [over, under] how often it was said
Left = list[dict[int, int]]  # the same, by object over and object under
EXACT = 16  # objects of a tangle that are solved by trying all subsets
MOST_ROUNDS = 30  # of moving objects of a larger tangle to better places
MOST_CYCLES = 3_000  # that are looked for, for the bound from below
FAR = np.iinfo(np.int64).max // 4


class Ranking(NamedTuple):
    """An order of objects, and how many statements contradict it."""

    order: tuple[int, ...]  # the greatest first
    changes: int
    least: int  # no order contradicts fewer
    tangles: tuple[tuple[int, ...], ...]  # objects that lie on cycles together

    @property
    def exact(self) -> bool:
        """Whether no order is better."""
        return self.changes == self.least


def rank(weights: Weights) -> Ranking:
    """The order that contradicts the fewest of weights[over, under] statements.

    >>> rank(np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]])).changes
    1
    """
    opposed = np.minimum(weights, weights.T)
    certain = int(opposed.sum()) // 2  # of two opposite statements one must change
    net = weights - opposed
    order: list[int] = []
    changes = least = certain
    tangles = []
    for component in components(net):
        if len(component) > 1:
            tangles.append(tuple(sorted(component)))
            places = np.array(sorted(component))
            own, above, below = _solved(net[np.ix_(places, places)])
            component = places[own].tolist()
            changes += above
            least += below
        order += component
    tangles.sort(key=lambda tangle: (-len(tangle), tangle))
    return Ranking(tuple(order), changes, least, tuple(tangles))


def contradicted(weights: Weights, order: Iterable[int]) -> int:
    """How many statements an order contradicts."""
    places = np.array(list(order))
    return int(np.tril(weights[np.ix_(places, places)]).sum())


def components(weights: Weights) -> list[list[int]]:
    """Objects that lie on cycles together, tangle by tangle, the greatest first."""
    under = {thing: np.flatnonzero(row).tolist() for thing, row in enumerate(weights > 0)}
    return list(strong_components(under))[::-1]


def _solved(weights: Weights) -> tuple[list[int], int, int]:
    """An order of a tangle, what contradicts it, and what contradicts any order at least."""
    if len(weights) <= EXACT:
        order = _best_order(weights)
        changes = contradicted(weights, order)
        return order, changes, changes
    order = _good_order(weights)
    return order, contradicted(weights, order), _cycles_at_least(weights)


def _best_order(weights: Weights) -> list[int]:
    """Dynamic programming over subsets: which object comes last of each subset.

    The cost of a last object is what it was said to be over (M. Held and R. M. Karp, 1962).
    """
    count = len(weights)
    subsets = np.arange(1 << count)
    sizes = _bits(subsets, count)
    cost = np.stack([_sums(weights[last], count) for last in range(count)])
    best = np.full(1 << count, FAR, dtype=np.int64)
    best[0] = 0
    last_of = np.zeros(1 << count, dtype=np.int8)
    for size in range(1, count + 1):
        layer = subsets[sizes == size]
        for last in range(count):
            here = layer[(layer >> last) & 1 == 1]
            before = here ^ (1 << last)
            total = best[before] + cost[last, before]
            better = total < best[here]
            best[here[better]] = total[better]
            last_of[here[better]] = last

    order = []
    rest = (1 << count) - 1
    while rest:
        last = int(last_of[rest])
        order.append(last)
        rest ^= 1 << last
    return order[::-1]


def _bits(subsets: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    sizes = np.zeros(len(subsets), dtype=np.int64)
    for place in range(count):
        sizes += (subsets >> place) & 1
    return sizes


def _sums(values: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """The sum over each subset."""
    found = np.zeros(1, dtype=np.int64)
    for place in range(count):
        found = np.concatenate([found, found + values[place]])
    return found


def _good_order(weights: Weights) -> list[int]:
    """By balance of statements, and then each object to its best place until none moves."""
    balance = weights.sum(axis=1) - weights.sum(axis=0)
    order: list[int] = np.argsort(-balance, kind="stable").tolist()
    for _ in range(MOST_ROUNDS):
        before = list(order)
        for thing in before:
            _move_to_best(order, thing, weights)
        if order == before:
            break
    return order


def _move_to_best(order: list[int], thing: int, weights: Weights) -> None:
    order.remove(thing)
    others = np.array(order)
    # at place p: those before p are put over the thing, those from p on under it
    over = np.concatenate([[0], np.cumsum(weights[thing, others])])
    under = np.concatenate([[0], np.cumsum(weights[others, thing])])
    cost = over + (under[-1] - under)
    order.insert(int(np.argmin(cost)), thing)


def _cycles_at_least(weights: Weights) -> int:
    """Statements on cycles that share none: each cycle must lose one."""
    left: Left = []
    for row in weights:
        under = np.flatnonzero(row)
        left.append(dict(zip(under.tolist(), row[under].tolist(), strict=True)))
    found = tried = 0
    for start in range(len(left)):
        while tried < MOST_CYCLES:
            tried += 1
            cycle = shortest_cycle(left.__getitem__, start)
            if not cycle:
                break
            found += _use_up(left, cycle)
    return found


def _use_up(left: Left, cycle: list[int]) -> int:
    """Take the statements of a cycle away, as often as all of them are there; how often that is."""
    arcs = list(zip(cycle, [*cycle[1:], cycle[0]], strict=True))
    least = min(left[over][under] for over, under in arcs)
    for over, under in arcs:
        left[over][under] -= least
        if not left[over][under]:
            del left[over][under]
    return least


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
    named = context_in_words(table, int(found.rows[mine[0]]), law)
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
    named = context_in_words(table, int(found.rows[mine[0]]), law)
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
