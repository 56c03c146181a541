"""Logs of Inspect: letters mean the sample's own choices; archives are unpacked within bounds."""

import io
import json
import struct
import sys
import zipfile
import zlib
from functools import partial

import pytest

from gnomon.errors import DataError, MissingExtraError
from gnomon.files import read_json
from gnomon.items.answers import inspect as archive


def sample(name, completion="ANSWER: B", answer="B", options=("yes", "no"), error=None, epoch=1):
    return {
        "id": name,
        "epoch": epoch,
        "choices": list(options) if options else None,
        "target": "A",
        "output": {"model": "m", "completion": completion},
        "error": error,
        "scores": {"choice": {"value": "C", "answer": answer}},
    }


SAMPLES = [
    sample("a"),
    sample("b", "Yes, it is.", "Yes, it is.", None),
    sample("c", error={"message": "time out"}),
    sample("a", epoch=2),
]


def write_json(file, samples):
    file.write_text(json.dumps({"version": 2, "status": "success", "samples": samples}))
    return file


def write_zstd(file, members, claimed=None):
    """An archive as Inspect writes it: zip method 93, which zipfile itself cannot write.

    Its headers may claim that the members unpack to fewer bytes than they do.
    """
    zstandard = pytest.importorskip("zstandard")
    body, directory = io.BytesIO(), io.BytesIO()
    for name, content in members.items():
        packed = zstandard.ZstdCompressor().compress(content)
        size = len(content) if claimed is None else claimed
        sizes = (zlib.crc32(content), len(packed), size, len(name), 0)
        common = struct.pack("<HHHHHIIIHH", 63, 0, 93, 0, 33, *sizes)
        place = body.tell()
        body.write(b"PK\x03\x04" + common + name.encode() + packed)
        directory.write(b"PK\x01\x02" + struct.pack("<H", 63) + common)
        directory.write(struct.pack("<HHHII", 0, 0, 0, 0, place) + name.encode())
    count, start = len(members), body.tell()
    end = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, count, count, directory.tell(), start, 0)
    file.write_bytes(body.getvalue() + directory.getvalue() + end)
    return file


def members(samples):
    return {f"samples/{n}.json": json.dumps(each).encode() for n, each in enumerate(samples)}


def test_json_log(tmp_path, joined):
    found, _ = joined(write_json(tmp_path / "log.json", SAMPLES))
    assert [answer.choice for answer in found.values()] == ["no", "yes", None]
    assert found["c"].error == "time out"


def test_letters_mean_the_samples_own_choices(tmp_path, choices):
    file = write_json(tmp_path / "log.json", [sample("a", options=("no", "yes"))])
    assert choices(file)[0] == "yes"


def test_a_letter_in_the_reply_means_the_samples_own_choices_too(tmp_path, choices):
    said = sample("a", completion="The answer is (B).", answer=None, options=("no", "yes"))
    assert choices(write_json(tmp_path / "log.json", [said]))[0] == "yes"


def test_a_letter_without_choices_is_unread(tmp_path, choices):
    file = write_json(tmp_path / "log.json", [sample("a", options=None)])
    assert choices(file)[0] is None


@pytest.mark.parametrize("answer", ["ß", "É", "BB", "Z", "٣"])
def test_an_answer_that_is_no_letter_of_a_choice_is_unread(tmp_path, choices, answer):
    said = sample("a", completion="hm", answer=answer)
    assert choices(write_json(tmp_path / "log.json", [said]))[0] is None


@pytest.mark.parametrize("options", [("yes", "no", "perhaps"), ("yes",), ("yes", "yes")])
def test_other_choices_are_refused_with_both_lists(tmp_path, choices, options):
    file = write_json(tmp_path / "log.json", [sample("a", answer="A", options=options)])
    with pytest.raises(
        DataError, match=r"other choices for item 'a': yes.*\nThe benchmark has: yes, no"
    ):
        choices(file)


@pytest.mark.parametrize("first", [0, 1])
def test_numbers_for_ids_count_from_0_or_from_1(tmp_path, choices, first):
    answers = ("A", "B", "A")
    samples = [sample(n, answer=answer) for n, answer in enumerate(answers, start=first)]
    assert choices(write_json(tmp_path / "log.json", samples)) == ["yes", "no", "yes"]


def test_eval_archive_packed_with_zstd_as_inspect_does(tmp_path, choices):
    content = {"header.json": b"{}", **members(SAMPLES), "summaries.json": b"[]"}
    assert choices(write_zstd(tmp_path / "log.eval", content)) == ["no", "yes", None]


def test_eval_archive_packed_with_deflate(tmp_path, choices):
    with zipfile.ZipFile(tmp_path / "log.eval", "w", zipfile.ZIP_DEFLATED) as out:
        for name, content in members(SAMPLES).items():
            out.writestr(name, content)
    assert choices(tmp_path / "log.eval") == ["no", "yes", None]


def test_without_the_package_for_zstd_the_extra_is_named(tmp_path, choices, monkeypatch):
    file = write_zstd(tmp_path / "log.eval", members(SAMPLES))
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(MissingExtraError, match=r"gnomon\[inspect\]"):
        choices(file)


@pytest.mark.parametrize("claimed", [None, 10], ids=["honest", "lying"])
def test_a_member_that_unpacks_to_too_much_is_refused(tmp_path, choices, monkeypatch, claimed):
    monkeypatch.setattr(archive, "MEMBER_LIMIT", 1000)
    file = write_zstd(tmp_path / "log.eval", {"samples/1.json": b" " * 2**20}, claimed)
    with pytest.raises(DataError, match="unpacks to too much"):
        choices(file)


def test_members_that_unpack_to_too_much_together_are_refused(tmp_path, choices, monkeypatch):
    file = write_zstd(tmp_path / "log.eval", members(SAMPLES))
    monkeypatch.setattr(archive, "ARCHIVE_LIMIT", 300)
    with pytest.raises(DataError, match="unpacks to too much"):
        choices(file)


def test_a_json_log_that_is_too_large_is_refused(tmp_path, choices, monkeypatch):
    file = write_json(tmp_path / "log.json", SAMPLES)
    monkeypatch.setattr("gnomon.items.rows.read_json", partial(read_json, limit=100))
    with pytest.raises(DataError, match="larger than"):
        choices(file)


def flipped(file, find):
    raw = bytearray(file.read_bytes())
    place = raw.index(find) + len(find)
    raw[place + 12] ^= 0xFF
    file.write_bytes(bytes(raw))


@pytest.mark.parametrize("method", ["deflate", "zstd"])
def test_damaged_archives_are_one_sentence(tmp_path, choices, method):
    file = tmp_path / "log.eval"
    if method == "zstd":
        write_zstd(file, members(SAMPLES))
    else:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as out:
            out.writestr("samples/0.json", json.dumps(SAMPLES[0]))
    flipped(file, b"samples/0.json")
    with pytest.raises(DataError, match="the archive is damaged"):
        choices(file)


BAD = {
    "not an archive": (lambda file: file.write_text("hello"), "the archive is damaged"),
    "not a sample": (lambda file: write_zstd(file, {"samples/1.json": b"[]"}), "not a sample"),
    "no samples": (lambda file: write_zstd(file, {"header.json": b"{}"}), "has no samples"),
    "missing": (lambda file: None, "there is no such file"),
}


@pytest.mark.parametrize(("write", "words"), BAD.values(), ids=BAD)
def test_what_does_not_fit_is_named(write, words, tmp_path, choices):
    write(tmp_path / "log.eval")
    with pytest.raises(DataError, match=words):
        choices(tmp_path / "log.eval")


def test_a_sample_that_is_not_utf8_is_one_sentence(tmp_path, choices):
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as out:
        out.writestr("samples/0.json", b'{"id": "\xff"}')
    with pytest.raises(DataError, match=r"samples/0.json is not a sample of Inspect"):
        choices(tmp_path / "log.eval")
