"""What models made of pictures is kept within bounds, and never trusted where it is damaged."""

from __future__ import annotations

import os

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")

from gnomon.errors import DataError, UsageError
from gnomon.keep import Keep, KeptTensors, TensorKeep, bytes_of, key_of


def entry(number, size=1000):
    return KeptTensors({"picture.0": torch.full((size,), float(number))}, {"before": f"<{number}>"})


def test_an_entry_comes_back_as_it_was(tmp_path):
    store = TensorKeep(tmp_path / "new")
    assert store.read("a") is None
    store.write("a", entry(1))
    found = store.read("a")
    assert found.texts == {"before": "<1>"}
    assert torch.equal(found.tensors["picture.0"], torch.full((1000,), 1.0))
    assert [file.name for file in (tmp_path / "new").iterdir()] == ["a.safetensors"]


def test_what_was_used_longest_ago_goes_first(tmp_path):
    store = TensorKeep(tmp_path, most_bytes=13_000)  # three entries of 4 kB
    for number, key in enumerate("abc"):
        store.write(key, entry(number))
        os.utime(tmp_path / f"{key}.safetensors", (number, number))
    assert store.read("a") is not None  # used just now
    store.write("d", entry(3))
    assert store.read("b") is None
    assert store.read("a") is not None
    assert store.read("d") is not None
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) <= 13_000


def test_the_bound_counts_what_earlier_runs_left(tmp_path):
    for number in range(10):
        TensorKeep(tmp_path, most_bytes=13_000).write(f"{number}", entry(number))
        assert sum(file.stat().st_size for file in tmp_path.iterdir()) <= 13_000
    assert list(tmp_path.iterdir())


def test_a_damaged_entry_is_no_entry(tmp_path):
    store = TensorKeep(tmp_path)
    store.write("a", entry(1))
    file = tmp_path / "a.safetensors"
    file.write_bytes(file.read_bytes()[:50])
    assert store.read("a") is None
    assert not file.exists()


def test_a_folder_that_cannot_be_written_keeps_nothing(tmp_path):
    (tmp_path / "file").write_text("")
    store = TensorKeep(tmp_path / "file")
    store.write("a", entry(1))
    assert store.read("a") is None


def test_a_key_depends_on_every_part():
    assert len({key_of("a", "b"), key_of("ab"), key_of("b", "a"), key_of("a", "b", "")}) == 4


def test_a_size_that_is_none_is_refused():
    assert bytes_of("500MB") == 500 * 2**20
    with pytest.raises(UsageError, match="'plenty' is not a size"):
        bytes_of("plenty")


def test_an_entry_of_another_shape_is_made_again(tmp_path):
    store = Keep(tmp_path)
    assert store.kept("a", dict[str, int], lambda: {"cat": 1}) == {"cat": 1}
    assert store.kept("a", list[int], lambda: [2]) == [2]
    assert store.kept("a", list[int], lambda: [3]) == [2]


def test_an_entry_that_unpacks_to_more_than_any_is_damaged(tmp_path, monkeypatch):
    monkeypatch.setattr("gnomon.keep.LARGEST", 1000)
    store = Keep(tmp_path)
    store.write("small", bytes(1000))
    store.write("large", bytes(2000))
    assert store.read("small") == bytes(1000)
    assert store.read("large") is None
    assert not store.file("large").exists()


def test_a_folder_that_cannot_be_read_is_as_good_as_none_unless_it_is_needed(tmp_path):
    (tmp_path / "file").write_text("no folder")
    assert Keep(tmp_path / "file").read("a") is None
    with pytest.raises(DataError):
        Keep(tmp_path / "file", needed=True).read("a")


def test_what_a_killed_process_left_is_removed(tmp_path):
    kept = Keep(tmp_path)
    kept.write("one", b"1")
    (tmp_path / ".two.kept.4711.part").write_bytes(b"half")
    kept.remove_torn()
    assert [file.name for file in tmp_path.iterdir()] == ["one.kept"]
    assert kept.read("one") == b"1"
