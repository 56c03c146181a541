"""What answers say under the laws that a benchmark declares: symmetry, converse, negation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gnomon.contracts import OrderLaw, RelationLaw
from gnomon.measures.columns import Codes, Column, compact
from gnomon.measures.consistency import UnitAnswers, agreement, with_twin
from gnomon.measures.statistics import Statistics
from gnomon.measures.table import Flags, Table
from gnomon.measures.units import joined

YES = ("yes", "true", "1", "entailment")
NO = ("no", "false", "0", "contradiction")
OPEN = ("neutral", "unknown", "undetermined", "cannot tell")


class LawStatements(NamedTuple):
    """What the rows of a table say under a law; rows that lack a tag it names are not in it."""

    rows: Codes
    context: Codes  # form and the tags within which statements are compared
    first: Codes
    second: Codes
    objects: tuple[str, ...]
    word: Codes  # what a yes/no item asks about, or -1 where the choices are words themselves
    words: tuple[str, ...]
    # order: 1 first is greater, 0 it is not; else truth (1, 0, 2 open) or a choice's code as a
    # word; or -1
    said: Codes
    gold: Codes  # the same for the right answer
    negated: Flags


def order(table: Table) -> LawStatements | None:
    """What is said about a declared order; none if there is none or no item fits."""
    law = table.laws.order
    if law is None:
        return None
    found = _statements(table, law)
    if found is None:
        return None
    sign = dict.fromkeys(law.greater, 1) | dict.fromkeys(law.lesser, 0)
    by_word = np.array([sign.get(word, -1) for word in (*found.words, "")])
    by_label = np.array([sign.get(label, -1) for label in (*table.labels, "")])
    truth = _truth(table)
    asked = by_word[found.word]

    def greater(label: Codes) -> Codes:
        told = (truth[label] >= 0) & (truth[label] < 2) & (asked >= 0)
        answer = np.where(told, np.where(truth[label] == 1, asked, 1 - asked), -1)
        return np.where(by_label[label] >= 0, by_label[label], answer)

    return found._replace(
        said=greater(table.choice[found.rows]), gold=greater(table.first_right[found.rows])
    )


def relations(table: Table) -> LawStatements | None:
    """What is said about other declared relations; none if there are none or no item fits."""
    law = table.laws.relations
    if law is None:
        return None
    found = _statements(table, law)
    if found is None:
        return None
    flips = found.negated & (found.word >= 0)
    code = {word: i for i, word in enumerate(found.words)}
    by_label = np.array([code.get(label, -1) for label in (*table.labels, "")])
    truth = _truth(table)

    def says(label: Codes) -> Codes:
        answer = truth[label]
        turned = np.where(flips & (answer >= 0) & (answer < 2), 1 - answer, answer)
        return np.where(found.word >= 0, turned, by_label[label])

    return found._replace(
        said=says(table.choice[found.rows]), gold=says(table.first_right[found.rows])
    )


def contexts(context: Codes) -> list[Codes]:
    """The rows of each context; -1 is none."""
    return [np.flatnonzero(context == code) for code in np.unique(context[context >= 0])]


def _statements(table: Table, law: OrderLaw | RelationLaw) -> LawStatements | None:
    first, second = table.tags.get(law.first), table.tags.get(law.second)
    if first is None or second is None:
        return None
    rows = np.flatnonzero((first.codes >= 0) & (second.codes >= 0))
    one, two, objects = _joined(first, second)
    context = table.form.codes[rows].astype(np.int64)
    for name in law.within:
        column = table.tags.get(name)
        if column is None:
            continue
        context = context * (len(column.values) + 1) + column.codes[rows] + 1
    asked = table.tags.get(law.word, Column(np.full(len(table), -1), ()))
    # Where the choices are words, the tag may hold the right one: nothing was asked about it.
    is_yes_no = _truth(table)[table.first_right] >= 0
    declared = _declared(law)
    words = tuple(dict.fromkeys([*asked.values, *declared, *table.labels]))
    place = np.array([words.index(value) for value in asked.values] + [-1])
    negated = _negated(table, law)
    unknown = np.full(len(rows), -1)
    return LawStatements(
        rows,
        context,
        one[rows],
        two[rows],
        objects,
        np.where(is_yes_no, place[asked.codes], -1)[rows],
        words,
        unknown,
        unknown,
        negated[rows],
    )


def _negated(table: Table, law: OrderLaw | RelationLaw) -> Flags:
    """Which rows deny the relation that they ask about."""
    if isinstance(law, OrderLaw) or law.negated not in table.tags:
        return np.zeros(len(table), dtype=bool)
    denied = table.tags[law.negated]
    flags: Flags = np.array([value.lower() in YES for value in denied.values] + [False])
    return flags[denied.codes]


def _declared(law: OrderLaw | RelationLaw) -> list[str]:
    """The words that a law names."""
    if isinstance(law, OrderLaw):
        return [*law.greater, *law.lesser]
    words = [*law.symmetric, *law.transitive]
    for word, opposite in law.converse:
        words += [word, opposite]
    return words


def _truth(table: Table) -> Codes:
    """For each label, and last for no answer: 1 yes, 0 no, 2 neither follows, -1 no such word."""
    meaning = dict.fromkeys(YES, 1) | dict.fromkeys(NO, 0) | dict.fromkeys(OPEN, 2)
    return np.array([meaning.get(label.lower(), -1) for label in (*table.labels, "")])


def _joined(first: Column, second: Column) -> tuple[Codes, Codes, tuple[str, ...]]:
    """Two columns as codes into one vocabulary."""
    values = tuple(dict.fromkeys([*first.values, *second.values]))
    code = {value: i for i, value in enumerate(values)}
    one = np.array([code[value] for value in first.values] + [-1])
    two = np.array([code[value] for value in second.values] + [-1])
    return one[first.codes], two[second.codes], values


# Symmetry, converse and negation under a benchmark's laws; and objects' bias.
#
# Spatial commonsense, section 5.1: symmetry is over the pairs asked both ways, regardless of
# gold. What is not asked (two objects of one level) forms no pair.


class ObjectBias(NamedTuple):
    """How often an object is called the greater one, named first or second, and how often it is."""

    object: str
    context: str
    n: int
    called_greater: float
    called_greater_first: float  # among the items that name it first; NaN if there are none
    called_greater_second: float
    is_greater: float


def symmetry(table: Table, *, and_right: bool = False) -> Statistics:
    """The share of pairs of objects about which items asked either way round say the same fact."""
    parts = []
    found = order(table)
    if found is not None:
        parts.append(_order_said(table, found))
    said = _relation_said(table, "symmetric")
    if said is not None:
        parts.append(said)
    return agreement(_together(parts), and_right=and_right)


def converse(table: Table, *, and_right: bool = False) -> Statistics:
    """The share of facts asked with a word and with its converse that get the same answer."""
    return agreement(_relation_said(table, "converse"), and_right=and_right)


def negation(table: Table, *, and_right: bool = False) -> Statistics:
    """The share of facts asserted and denied that get opposite answers."""
    return agreement(_relation_said(table, "negation"), and_right=and_right)


def object_bias(table: Table) -> list[ObjectBias]:
    """How often each object of an order is called greater (spatial commonsense, figure 5)."""
    found = order(table)
    if found is None:
        return []
    rows = []
    for mine in contexts(found.context):
        one, two = found.first[mine], found.second[mine]
        said, gold = found.said[mine], found.gold[mine]
        context = _context(table, int(found.rows[mine][0]))
        for code in np.unique(np.concatenate([one, two])).tolist():
            called_first, called_second = said[one == code] == 1, said[two == code] == 0
            called = np.concatenate([called_first, called_second])
            is_greater = np.concatenate([gold[one == code] == 1, gold[two == code] == 0])
            row = ObjectBias(
                object=found.objects[code],
                context=context,
                n=len(called),
                called_greater=_share(called),
                called_greater_first=_share(called_first),
                called_greater_second=_share(called_second),
                is_greater=_share(is_greater),
            )
            rows.append(row)
    return rows


def _context(table: Table, row: int) -> str:
    """In which statements are compared: the tags that the law names, and the form."""
    law = table.laws.order
    names = law.within if law else ()
    known = [table.tags[name].value(row) for name in names if name in table.tags]
    return " ".join([*known, table.form.value(row)])


def _share(flags: Flags) -> float:
    return float(flags.mean()) if len(flags) else float("nan")


def _order_said(table: Table, found: LawStatements) -> UnitAnswers:
    """Facts about unordered pairs.

    The same question asked again is no pair, so variants are direction and word.
    """
    turned = found.first > found.second
    low, high = np.minimum(found.first, found.second), np.maximum(found.first, found.second)
    fact = np.where(found.said < 0, -1, found.said ^ turned)
    variant = (found.word + 1) * 2 + turned
    return UnitAnswers(
        _key(found, low, high), fact, table.right[found.rows], table.clusters[found.rows], variant
    )


def _relation_said(table: Table, law: str) -> UnitAnswers | None:
    found, declared = relations(table), table.laws.relations
    if found is None or declared is None:
        return None
    other = {same: same for same in declared.symmetric}
    for name, opposite in declared.converse:
        other[name] = opposite
        other[opposite] = name
    place = {word: code for code, word in enumerate(found.words)}
    turns = np.array([place.get(other.get(word, ""), -1) for word in found.words] + [-1])
    asked, as_choice = found.word, found.word < 0
    turned = found.first > found.second
    # Words as choices: the answer itself is turned round. Yes/no questions: the question is, and
    # its truth stays.
    said = np.where(as_choice & turned, turns[found.said], found.said)
    known = np.where(as_choice, turns[found.gold] >= 0, turns[asked] >= 0)
    symmetric = np.where(as_choice, turns[found.gold] == found.gold, turns[asked] == asked)
    swap, variant = turned, turned.astype(np.int64)
    if law == "negation":
        keep = ~as_choice
        swap, variant = np.zeros(len(turned), dtype=bool), found.negated.astype(np.int64)
    elif law == "symmetric":
        keep = known & symmetric
    else:
        keep = known & ~symmetric
    one, two = np.where(swap, found.second, found.first), np.where(swap, found.first, found.second)
    word = np.where(as_choice, -1, np.where(swap, turns[asked], asked))
    unit = (_key(found, one, two) * (len(found.words) + 1) + word + 1)[keep]
    rows = found.rows[keep]
    if not len(rows):
        return None
    return UnitAnswers(unit, said[keep], table.right[rows], table.clusters[rows], variant[keep])


def _together(parts: list[UnitAnswers]) -> UnitAnswers | None:
    if not parts:
        return None
    if len(parts) == 1:
        return parts[0]
    one, two = parts
    assert one.variant is not None
    assert two.variant is not None
    return UnitAnswers(
        np.concatenate([compact(one.unit)[0], compact(two.unit)[0] + len(one.unit)]),
        np.concatenate([one.outcome, two.outcome]),
        np.concatenate([one.right, two.right]),
        joined(one.clusters, two.clusters),
        np.concatenate([one.variant, two.variant]),
    )


def _key(found: LawStatements, one: Codes, two: Codes) -> Codes:
    size = len(found.objects)
    return (compact(found.context)[0] * size + one) * size + two


SYMMETRY, SYMMETRY_AND_RIGHT = with_twin("symmetry", symmetry, "laws")
CONVERSE, CONVERSE_AND_RIGHT = with_twin("converse", converse, "relations")
NEGATION, NEGATION_AND_RIGHT = with_twin("negation", negation, "relations")
