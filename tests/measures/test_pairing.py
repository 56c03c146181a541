"""Which tables were asked the same items: by ids and words, never by how these were put in order."""

from dataclasses import replace

from gnomon.measures import Table
from gnomon.measures.pairing import same_items
from gnomon.measures.table import Details
from gnomon.records import Answer, Item


def asked(ids, *, words="Is it?", choices=("no", "yes"), gold=("yes",), digest=""):
    """A table of items with these ids, all answered."""
    rows = []
    for name in ids:
        item = Item(id=name, form="choice", text=f"{words} {name}", choices=choices, gold=gold)
        rows.append((item, Answer(item=name, choice="yes")))
    table = Table.of(rows, benchmark="quiz")
    return replace(table, about=replace(table.about, digest=digest))


def test_neither_the_order_of_choices_nor_that_of_items_makes_others_of_them():
    plain = asked("abc", digest="1")
    permuted = asked("abc", choices=("yes", "no"), digest="2")
    shuffled = asked("cab", digest="3")
    assert same_items([plain, permuted, shuffled]) == [[0, 1, 2]]


def test_tables_of_fewer_items_stand_apart_and_behind():
    assert same_items([asked("ab"), asked("abc"), asked("ba")]) == [[1], [0, 2]]


def test_the_same_ids_with_other_words_are_other_items():
    one, two, three = asked("ab"), asked("ab", words="Was it?"), asked("ab")
    assert same_items([one, two, three]) == [[0, 2], [1]]


def test_ids_are_enough_where_the_words_are_not_known():
    one = asked("ab")
    assert same_items([one, replace(one, details=Details(dict, lambda: None))]) == [[0, 1]]


def test_items_without_a_right_answer_do_not_count():
    rows = [asked("ab", digest="1"), asked("ab", gold=(), digest="2"), asked("", digest="3")]
    assert same_items(rows) == [[0], [1, 2]]


def test_no_tables_are_no_sets():
    assert same_items([]) == []
