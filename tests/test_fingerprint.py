"""A changed file is noticed, a described one is not."""

from gnomon import fingerprint as module
from gnomon.fingerprint import fingerprint, sha256_of


def test_a_large_file_is_known_by_pieces_of_it(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "WHOLE", 1000)
    monkeypatch.setattr(module, "PIECE", 4)
    monkeypatch.setattr(module, "PIECES", 10)
    file = tmp_path / "weights"
    content = bytearray(2000)
    file.write_bytes(content)
    before = fingerprint(file)
    content[1801] = 1
    file.write_bytes(content)
    assert fingerprint(file) != before
    content[1801], content[1850] = 0, 1  # between two pieces: the price of not reading it all
    file.write_bytes(content)
    assert fingerprint(file) == before
    file.write_bytes(bytes(2001))
    assert fingerprint(file) != before


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
