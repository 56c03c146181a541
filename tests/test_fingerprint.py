"""A changed file is noticed, a described one is not."""

import os

import pytest

from gnomon import fingerprint as module
from gnomon.fingerprint import fingerprint, remembered_sha256, sha256_of

LONG_AGO = 1_600_000_000


@pytest.fixture
def weights(tmp_path, monkeypatch):
    """A file that counts as large, and was written long ago."""
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(module, "LARGE", 1000)
    monkeypatch.setattr(module, "BY_HASH", 1000)
    monkeypatch.setattr(module, "SETTLED", -1.0)
    file = tmp_path / "weights.safetensors"
    write(file, bytes(2000))
    return file


def write(file, content):
    file.write_bytes(content)
    os.utime(file, (LONG_AGO, LONG_AGO))


def readings(monkeypatch):
    """Which files are read whole from now on."""
    read = []
    plain = module.sha256_of
    monkeypatch.setattr(module, "sha256_of", lambda file: read.append(file.name) or plain(file))
    return read


@pytest.mark.parametrize("place", [0, 1, 777, 1850, 1999])
def test_one_byte_of_a_large_file_is_noticed_although_its_size_and_time_stay(weights, place):
    before = fingerprint(weights)
    content = bytearray(2000)
    content[place] = 1
    write(weights, content)
    assert fingerprint(weights) != before
    write(weights, bytes(2000))
    assert fingerprint(weights) == before


def test_a_large_file_is_read_whole_once(weights, monkeypatch):
    read = readings(monkeypatch)
    found = {fingerprint(weights) for _ in range(3)}
    assert len(found) == 1
    assert read == [weights.name]


def test_a_model_in_many_parts_is_read_whole_once_and_again_if_one_part_changes(
    weights, tmp_path, monkeypatch
):
    folder = tmp_path / "model"
    folder.mkdir()
    for number in range(5):
        write(folder / f"part-{number}.safetensors", bytes(1000 + number))
    read = readings(monkeypatch)
    before = fingerprint(folder)
    assert fingerprint(folder) == before
    assert len(read) == 5
    write(folder / "part-3.safetensors", bytes([1] * 1003))
    assert fingerprint(folder) != before
    assert len(read) == 10


def test_a_file_that_was_just_written_is_read_again(weights, monkeypatch):
    monkeypatch.setattr(module, "SETTLED", 60.0)
    read = readings(monkeypatch)
    for _ in range(2):
        remembered_sha256(weights)
    assert read == [weights.name] * 2, "it may change again within a tick of the clock"


def test_a_cache_that_cannot_be_written_or_read_does_no_harm(weights, tmp_path):
    (tmp_path / "cache").write_text("a file")
    assert remembered_sha256(weights) == sha256_of(weights)


def test_a_record_that_is_no_record_is_replaced(weights, tmp_path):
    remembered_sha256(weights)
    (record,) = (tmp_path / "cache" / "hashes").iterdir()
    record.write_bytes(b"[[[")
    assert remembered_sha256(weights) == sha256_of(weights)
    assert b"sha256" in record.read_bytes()


def test_a_folder_in_a_models_folder_counts(tmp_path):
    part = tmp_path / "unet" / "w.safetensors"
    part.parent.mkdir()
    part.write_bytes(b"weights")
    before = fingerprint(tmp_path)
    part.write_bytes(b"WEIGHTS")
    assert fingerprint(tmp_path) != before


def test_checkpoints_of_a_training_and_hidden_folders_do_not_count(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    before = fingerprint(tmp_path)
    for name in ("checkpoint-500", ".git"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "optimizer.pt").write_bytes(b"state")
    assert fingerprint(tmp_path) == before


def test_a_folder_that_holds_itself_has_an_end(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    (tmp_path / "again").symlink_to(tmp_path)
    assert fingerprint(tmp_path) == fingerprint(tmp_path)


def test_a_model_folder_may_be_described_anew(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    (tmp_path / "vocab.txt").write_text("a b")
    before = fingerprint(tmp_path)
    (tmp_path / "README.md").write_text("in other words")
    assert fingerprint(tmp_path) == before
    (tmp_path / "vocab.txt").write_text("b a")
    assert fingerprint(tmp_path) != before


def test_sha256_is_that_of_the_bytes(tmp_path):
    (tmp_path / "a").write_bytes(b"abc")
    assert sha256_of(tmp_path / "a").startswith("ba7816bf8f01cfea414140de5dae2223")
