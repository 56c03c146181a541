"""Rows of tokens: nothing is computed twice, nothing is lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gnomon.models.choices import Query
from gnomon.models.rows import (
    ROOT,
    QueryFamily,
    batches,
    families,
    line_up,
    plain_rows,
    rows,
    shared,
)

tokens = st.integers(0, 3)  # few, so that beginnings are shared often
texts = st.lists(tokens, min_size=1, max_size=12)
query_lists = st.lists(
    st.builds(Query, texts, st.lists(texts, min_size=1, max_size=4)), max_size=12
)


def paths(made, skip=()):
    """What each row asks, read back: (query, choice) -> [(the text before, the token)]."""
    found: dict[tuple[int, int], list] = {}
    for row in made:
        for want in row.wanted:
            text, node = [], want.node
            while node != ROOT:
                text.append(row.tokens[node])
                node = row.parents[node]
            found.setdefault((want.query, want.choice), []).append(
                ([*skip, *reversed(text)], want.token)
            )
    return found


def expected(queries):
    return {
        (q, c): [
            ([*query.context, *continuation[:i]], token) for i, token in enumerate(continuation)
        ]
        for q, query in enumerate(queries)
        for c, continuation in enumerate(query.continuations)
    }


@given(query_lists, st.integers(4, 60))
def test_trees_ask_each_token_of_each_continuation_after_its_own_text(queries, limit):
    found: dict = {}
    for family in families(queries):
        found |= paths(rows(queries, family, limit=limit), family.prefix)
    assert found == expected(queries)


@given(query_lists)
def test_plain_rows_ask_the_same_and_never_branch(queries):
    made = list(plain_rows(queries))
    assert all(row.chain for row in made)
    assert paths(made) == expected(queries)


@given(query_lists)
def test_depth_counts_the_ancestors_and_parents_come_first(queries):
    for family in families(queries):
        for row in rows(queries, family):
            for place, parent in enumerate(row.parents):
                assert parent < place
                assert row.depths[place] == (0 if parent == ROOT else row.depths[parent] + 1)
            assert row.chain == (row.parents == list(range(-1, len(row.tokens) - 1)))


@given(query_lists, st.integers(1, 40), st.integers(1, 10))
def test_batches_hold_every_row_once_within_their_bounds(queries, size, outputs):
    made = list(plain_rows(queries))
    seen = []
    for batch in batches(made, tokens=size, outputs=outputs):
        assert len(batch) == 1 or len(batch) * max(len(row.tokens) for row in batch) <= size
        assert len(batch) == 1 or sum(len(row.wanted) for row in batch) <= outputs
        assert len(batch[0].tokens) == max(len(row.tokens) for row in batch)
        seen += [id(row) for row in batch]
    assert sorted(seen) == sorted(id(row) for row in made)


def test_a_long_common_beginning_is_a_prefix_and_every_query_keeps_a_token_of_its_own():
    beginning = list(range(100))
    queries = [Query([*beginning, i % 3], [[1]]) for i in range(30)] + [
        Query(beginning, [[2]]) for _ in range(5)
    ]
    (family,) = families(queries)
    assert len(family.prefix) == 99
    assert sorted(family.members) == list(range(35))


def test_two_sets_of_worked_examples_make_two_families():
    queries = [Query([shot] * 200 + [i], [[1]]) for i in range(20) for shot in (7, 8)]
    found = families(queries)
    assert [(len(family.prefix), len(family.members)) for family in found] == [(200, 20), (200, 20)]


def test_a_known_prefix_is_used_again_for_a_few_queries_that_would_not_be_worth_one():
    queries = [Query([7] * 100 + [i], [[1]]) for i in range(3)]
    assert families(queries)[0].prefix == []
    assert len(families(queries, [(7,) * 90])[0].prefix) == 90


def test_items_with_one_context_are_one_row():
    queries = [Query([5, 6, 7, 8], [[i, 1], [i, 2]]) for i in range(10)]
    (row,) = rows(queries, families(queries)[0])
    assert row.tokens[:4] == [5, 6, 7, 8]
    assert len(row.tokens) == 14  # one more for each item: its two choices begin alike


@given(texts, texts)
def test_shared_counts_common_beginnings(one, other):
    count = shared(one, other)
    assert one[:count] == other[:count]
    assert count in (len(one), len(other)) or one[count] != other[count]


def test_packed_batches_keep_texts_that_begin_alike_together():
    beginnings = [[number] * 6 for number in (1, 2, 3)]
    texts = []
    for beginning in beginnings:
        for end in range(10, 20):
            texts.append([*beginning, end, *range(end % 3)])
    made = [row for text in texts for row in plain_rows([Query(text, [[9]])])]
    cut = list(batches(made, tokens=40, outputs=100, packed=True))
    assert sorted(map(str, made)) == sorted(str(row) for batch in cut for row in batch)
    for batch in cut:
        line = line_up(batch)
        assert len(line.tokens) <= 40
        assert len(batch[0].tokens) == max(len(row.tokens) for row in batch)
    assert len(cut) < len(list(batches(made, tokens=40, outputs=100)))


def test_a_line_holds_what_rows_begin_with_alike_once():
    queries = [Query([5, 6, 7], [[1, 2], [3, 4]]), Query([5, 6, 8], [[1, 2]])]
    made = list(rows(queries, QueryFamily([], [0, 1])))
    line = line_up(made)
    assert line.tokens == [5, 6, 7, 1, 3, 8, 1]
    assert line.depths == [0, 1, 2, 3, 3, 2, 3]
    assert [line.places[home] for home in line.homes] == list(range(7))
    read = [line.tokens[place] for place in line.places]
    assert read == [5, 6, 7, 1, 3, 5, 6, 8, 1, 1]
