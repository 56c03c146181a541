"""What answers say under the laws that a benchmark declares: symmetry, converse, negation."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from gnomon.contracts import OrderLaw, RelationLaw
from gnomon.measures.columns import Codes, Column, compact, pooled
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
    found = _statements(table, law)
    if law is None or found is None:
        return None
    sign = dict.fromkeys(law.greater, 1) | dict.fromkeys(law.lesser, 0)
    asked = _codes(sign, found.words)[found.word]
    by_label = _codes(sign, table.labels)
    truth = _truth(table)

    def greater(label: Codes) -> Codes:
        told = (truth[label] >= 0) & (truth[label] < 2) & (asked >= 0)
        answer = np.where(told, np.where(truth[label] == 1, asked, 1 - asked), -1)
        return np.where(by_label[label] >= 0, by_label[label], answer)

    return found._replace(
        said=greater(table.choice[found.rows]), gold=greater(table.first_right[found.rows])
    )


def relations(table: Table) -> LawStatements | None:
    """What is said about other declared relations; none if there are none or no item fits."""
    found = _statements(table, table.laws.relations)
    if found is None:
        return None
    flips = found.negated & (found.word >= 0)
    by_label = _codes({word: i for i, word in enumerate(found.words)}, table.labels)
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


def context_in_words(table: Table, row: int, law: OrderLaw | RelationLaw) -> str:
    """In which a row's statement is compared: the tags that the law names, and the form."""
    known = [table.tags[name].value(row) for name in law.within if name in table.tags]
    return " ".join(filter(None, [*known, table.form.value(row)]))


def _statements(table: Table, law: OrderLaw | RelationLaw | None) -> LawStatements | None:
    if law is None or not {law.first, law.second} <= table.tags.keys():
        return None
    codes, objects = pooled([table.tags[law.first], table.tags[law.second]])
    rows = np.flatnonzero((codes >= 0).all(axis=1))
    context = table.form.codes[rows].astype(np.int64)
    for name in law.within:
        if name in table.tags:
            column = table.tags[name]
            context = context * (len(column.values) + 1) + column.codes[rows] + 1
    asked = table.tags.get(law.word, Column(np.full(len(table), -1), ()))
    # Where the choices are words, the tag may hold the right one: nothing was asked about it.
    is_yes_no = _truth(table)[table.first_right] >= 0
    words = tuple(dict.fromkeys([*asked.values, *_declared(law), *table.labels]))
    place = np.array([words.index(value) for value in asked.values] + [-1])
    unknown = np.full(len(rows), -1)
    return LawStatements(
        rows,
        context,
        first=codes[rows, 0],
        second=codes[rows, 1],
        objects=objects,
        word=np.where(is_yes_no, place[asked.codes], -1)[rows],
        words=words,
        said=unknown,
        gold=unknown,
        negated=_negated(table, law)[rows],
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
    return _codes(meaning, map(str.lower, table.labels))


def _codes(meaning: Mapping[str, int], words: Iterable[str]) -> Codes:
    """What each word stands for, -1 for one without a meaning, and last -1 for no word."""
    return np.array([meaning.get(word, -1) for word in words] + [-1])


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
    said = _either_way_round(table, symmetric=True)
    if said is not None:
        parts.append(said)
    return agreement(_together(parts), and_right=and_right)


def converse(table: Table, *, and_right: bool = False) -> Statistics:
    """The share of facts asked with a word and with its converse that get the same answer."""
    return agreement(_either_way_round(table, symmetric=False), and_right=and_right)


def negation(table: Table, *, and_right: bool = False) -> Statistics:
    """The share of facts asserted and denied that get opposite answers."""
    return agreement(_asserted_and_denied(table), and_right=and_right)


def object_bias(table: Table) -> list[ObjectBias]:
    """How often each object of an order is called greater (spatial commonsense, figure 5)."""
    found, law = order(table), table.laws.order
    if found is None or law is None:
        return []
    rows = []
    for mine in contexts(found.context):
        one, two = found.first[mine], found.second[mine]
        said, gold = found.said[mine], found.gold[mine]
        context = context_in_words(table, int(found.rows[mine][0]), law)
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


def _share(flags: Flags) -> float:
    return float(flags.mean()) if len(flags) else float("nan")


def _order_said(table: Table, found: LawStatements) -> UnitAnswers:
    """Facts about unordered pairs.

    The same question asked again is no pair, so variants are direction and word.
    """
    turned = found.first > found.second
    fact = np.where(found.said < 0, -1, found.said ^ turned)
    variant = (found.word + 1) * 2 + turned
    rows = found.rows
    return UnitAnswers(_pair(found), fact, table.right[rows], table.clusters[rows], variant)


def _asserted_and_denied(table: Table) -> UnitAnswers | None:
    """Yes/no questions about a relation of two objects, asserted or denied: two variants."""
    found = relations(table)
    if found is None:
        return None
    pair = _key(found, found.first, found.second)
    return _of_words(table, found, pair, found.word >= 0, found.negated)


def _either_way_round(table: Table, *, symmetric: bool) -> UnitAnswers | None:
    """Statements about a pair of objects, named either way round: two variants.

    All are put as if the object with the lower code came first. To turn a statement round, a yes/no
    question is asked with the converse word, and its truth stays; where words are the choices, the
    answer becomes the converse word.
    """
    found, law = relations(table), table.laws.relations
    if found is None or law is None:
        return None
    converse = _converse_words(found.words, law)
    has_word_choices = found.word < 0
    # what a statement is about: the word that it asks with, or the choice that is right
    relation = np.where(has_word_choices, found.gold, found.word)
    is_symmetric = converse[relation] == relation
    keep = (converse[relation] >= 0) & (is_symmetric == symmetric)

    turned = found.first > found.second
    put = found._replace(
        word=np.where(turned & ~has_word_choices, converse[found.word], found.word),
        said=np.where(turned & has_word_choices, converse[found.said], found.said),
    )
    return _of_words(table, put, _pair(found), keep, turned)


def _converse_words(words: tuple[str, ...], law: RelationLaw) -> Codes:
    """For each word what says the same of the objects exchanged; -1 if none does, or for none."""
    converse = {word: word for word in law.symmetric}
    for word, opposite in law.converse:
        converse[word] = opposite
        converse[opposite] = word
    place = {word: code for code, word in enumerate(words)}
    return _codes(place, [converse.get(word, "") for word in words])


def _of_words(
    table: Table, found: LawStatements, pair: Codes, keep: Flags, variant: Flags
) -> UnitAnswers | None:
    """Some of the statements; those of one pair that ask with one word are about one fact."""
    rows = found.rows[keep]
    if not len(rows):
        return None
    fact = pair * (len(found.words) + 1) + found.word + 1
    variants = variant[keep].astype(np.int64)
    return UnitAnswers(
        fact[keep], found.said[keep], table.right[rows], table.clusters[rows], variants
    )


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


def _pair(found: LawStatements) -> Codes:
    """The two objects of each statement in its context, whichever is named first."""
    low, high = np.minimum(found.first, found.second), np.maximum(found.first, found.second)
    return _key(found, low, high)


def _key(found: LawStatements, one: Codes, two: Codes) -> Codes:
    size = len(found.objects)
    return (compact(found.context)[0] * size + one) * size + two


SYMMETRY, SYMMETRY_AND_RIGHT = with_twin("symmetry", symmetry, "laws")
CONVERSE, CONVERSE_AND_RIGHT = with_twin("converse", converse, "relations")
NEGATION, NEGATION_AND_RIGHT = with_twin("negation", negation, "relations")
