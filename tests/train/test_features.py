"""What a frozen model makes of a text is computed once, whatever set the text is asked for with."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gnomon.records import Item
from gnomon.train.features import FeatureStore, text_of

pytest.importorskip("torch")  # what is kept is written by it


class Reader:
    """Counts how many texts it was given."""

    mask = "<mask>"

    def __init__(self, **about):
        self.about = {"revision": "abc", "reading": "first", **about}
        self.read: list[str] = []

    def describe(self):
        return self.about

    def vectors(self, texts, watch=None):
        self.read += texts
        if watch:
            watch(len(texts))
        return np.array([[len(text), text.count("a"), 1.0] for text in texts], dtype=np.float32)


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_a_second_time_no_text_is_read():
    FeatureStore(Reader()).vectors(["a", "bb", "ccc"])
    again = Reader()
    found = FeatureStore(again).vectors(["ccc", "a"])
    assert again.read == []
    assert found.tolist() == [[3, 0, 1], [1, 1, 1]]


def test_only_what_is_new_is_read_and_a_repeated_text_once():
    FeatureStore(Reader()).vectors(["a"])
    reader = Reader()
    found = FeatureStore(reader).vectors(["b", "a", "b", "b"])
    assert reader.read == ["b"]
    assert found[:, 1].tolist() == [0, 1, 0, 0]


@pytest.mark.parametrize("other", [{"revision": "def"}, {"reading": "mean"}, {"most_tokens": 9}])
def test_another_model_or_reading_has_vectors_of_its_own(other):
    FeatureStore(Reader()).vectors(["a"])
    reader = Reader(**other)
    FeatureStore(reader).vectors(["a"])
    assert reader.read == ["a"]


def test_weights_without_a_name_and_a_cache_without_room_keep_nothing(own_cache):
    FeatureStore(Reader(revision="")).vectors(["a"])
    FeatureStore(Reader(), 0).vectors(["a"])
    assert not list(own_cache.rglob("*.safetensors"))


def test_a_torn_file_is_read_again(own_cache):
    FeatureStore(Reader()).vectors(["a", "b"])
    (file,) = own_cache.rglob("*.safetensors")
    file.write_bytes(file.read_bytes()[:-5])
    reader = Reader()
    assert FeatureStore(reader).vectors(["a"]).tolist() == [[1, 1, 1]]
    assert reader.read == ["a"]


def test_the_cache_stays_within_its_bound(own_cache):
    store = FeatureStore(Reader(), 2000)
    for number in range(40):
        store.vectors([f"text {number}"])
    files = list(own_cache.rglob("*.safetensors"))
    assert files
    assert sum(file.stat().st_size for file in files) <= 2000


def test_whoever_watches_hears_how_many_texts_are_known():
    FeatureStore(Reader()).vectors(["a"])
    heard = []
    FeatureStore(Reader()).vectors(
        ["a", "b", "c"], lambda known, total: heard.append((known, total))
    )
    assert heard == [(3, 3)]


@given(st.lists(st.text(max_size=8), max_size=12))
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_vectors_stand_in_the_order_of_the_texts(texts):
    found = FeatureStore(Reader()).vectors(texts)
    assert len(found) == len(texts)
    for row, text in zip(found.tolist(), texts, strict=True):
        assert row == [len(text), text.count("a"), 1.0]


def item(text, context="", form="choice"):
    return Item(id="1", form=form, text=text, context=context, choices=("a", "b"), gold=("a",))


def test_context_and_text_are_read_one_after_the_other():
    assert text_of(item("Is it?", "It is. ")) == "It is. Is it?"


def test_the_blank_of_a_cloze_is_the_models_own_mask():
    assert text_of(item("It is [MASK].", form="cloze"), "<mask>") == "It is <mask>."


def test_an_items_own_words_are_never_read_as_a_field():
    odd = item("a {context} {text}", "b {text}")
    assert text_of(odd, "", "{context}: the {text}!") == "b {text}: the a {context} {text}!"


def test_what_was_removed_meanwhile_is_read_again(own_cache):
    reader = Reader()
    store = FeatureStore(reader)
    store.vectors(["a", "b"])
    for file in own_cache.rglob("*.safetensors"):
        file.unlink()
    assert store.vectors(["a"]).tolist() == [[1, 1, 1]]
    assert reader.read == ["a", "b", "a"]
