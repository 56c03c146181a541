"""What the items of a table say under the laws that its benchmark declares (contracts.Laws)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gnomon.contracts import OrderLaw, RelationLaw
from gnomon.measures.codes import Codes
from gnomon.measures.columns import Column
from gnomon.measures.table import Flags, Table

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
