"""What is hidden: 15 % of the words, in the three ways of BERT; every word once when tested."""

import numpy as np
import pytest

from gnomon.train.captions.corpus import Marks
from gnomon.train.captions.learner import hide, packed_rows, padded_rows, page, sweep

MARKS = Marks(first=(2,), last=(3,), pad=0, mask=4)
WORDS = np.arange(5, 1000)


def rows_of(*sizes):
    draw = np.random.default_rng(5)
    return [[draw.choice(WORDS, size=size)] for size in sizes]


def test_a_page_has_marks_around_each_caption_and_padding_behind():
    found = page([[np.array([7, 8])], [np.array([9]), np.array([10, 11])]], MARKS)
    assert found.tokens.tolist() == [[2, 7, 8, 3, 0, 0], [2, 9, 3, 10, 11, 3]]
    assert found.there.tolist() == [[True] * 4 + [False] * 2, [True] * 6]
    assert found.words.sum() == 5


def test_without_special_tokens_captions_stand_bare():
    bare = Marks((), (), pad=0, mask=4)
    found = page([[np.array([7]), np.array([8, 9])], [np.array([7])]], bare)
    assert found.tokens.tolist() == [[7, 8, 9], [7, 0, 0]]


def test_words_are_hidden_in_the_shares_of_bert():
    filled = page(rows_of(*[50] * 2000), MARKS)
    riddle = hide(filled, 0.15, MARKS.mask, WORDS, np.random.default_rng(1))
    assert riddle.asked.sum() / filled.words.sum() == pytest.approx(0.15, abs=0.005)

    shown = riddle.shown[riddle.asked]
    masked = (shown == MARKS.mask).mean()
    same = (shown == riddle.truth).mean()
    assert masked == pytest.approx(0.8, abs=0.01)
    assert same == pytest.approx(0.1, abs=0.01)
    assert np.isin(shown[shown != MARKS.mask], WORDS).all()


def test_what_is_not_asked_is_shown_as_it_is_and_marks_are_never_asked():
    filled = page(rows_of(3, 9, 4), MARKS)
    riddle = hide(filled, 0.5, MARKS.mask, WORDS, np.random.default_rng(1))
    assert riddle.asked.any()
    assert not (riddle.asked & ~filled.words).any()
    assert (riddle.shown == filled.tokens)[~riddle.asked].all()
    assert riddle.truth.tolist() == filled.tokens[riddle.asked].tolist()


def test_something_is_hidden_even_of_one_word():
    filled = page(rows_of(1), MARKS)
    for seed in range(50):
        riddle = hide(filled, 0.01, MARKS.mask, WORDS, np.random.default_rng(seed))
        assert riddle.asked.sum() == 1


def test_a_sweep_hides_every_word_once():
    filled = page(rows_of(1, 2, 7, 30), MARKS)
    told = []
    for riddle in sweep(filled, 0.15, MARKS.mask):
        assert (riddle.shown[riddle.asked] == MARKS.mask).all()
        assert riddle.asked.any(axis=1).all()
        told += riddle.truth.tolist()
    assert sorted(told) == sorted(filled.tokens[filled.words].tolist())
    assert len(told) == 40


def test_packed_rows_hold_every_caption_once_and_none_beyond_the_room():
    sizes = np.random.default_rng(3).integers(2, 12, size=500)
    rows = packed_rows(sizes, 30, np.random.default_rng(1))
    taken = [rows.captions(row) for row in range(rows.total)]
    assert sorted(np.concatenate(taken).tolist()) == list(range(500))
    assert max(sizes[numbers].sum() for numbers in taken) <= 30
    assert rows.total < 200


def test_padded_rows_hold_one_caption_each():
    rows = padded_rows(3)
    assert [rows.captions(row).tolist() for row in range(rows.total)] == [[0], [1], [2]]
