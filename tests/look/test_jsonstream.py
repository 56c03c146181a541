"""Large JSON files in small pieces: what is read, and what is said of damage."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon import jsonstream
from gnomon.errors import DataError
from gnomon.jsonstream import FaultError, JsonFile

TEXTS = st.text(st.characters(codec="utf-8"), max_size=8)
PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS
VALUES = st.recursive(
    PLAIN,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
SAMPLE = b'[{"a": "}]\\"{", "b": [1, {"c": null}]}, {"d": "\\\\"}, 3, "x]"]'


def elements(file):
    """What is read of a file, and the fault that ends it."""
    found = []
    try:
        for element in JsonFile(file).elements():
            found.append(element)
    except FaultError as fault:
        return found, fault
    return found, None


@pytest.fixture(params=[1, 3, 16, 2**18])
def block(request, monkeypatch):
    """Whatever the size of the pieces is in which a file is read."""
    monkeypatch.setattr(jsonstream, "BLOCK", request.param)


@given(content=st.lists(VALUES, max_size=5), indent=st.sampled_from([None, 0, 2]))
def test_the_elements_of_an_array_are_those_that_json_reads(content, indent, tmp_path_factory):
    file = tmp_path_factory.mktemp("json") / "a.json"
    file.write_text(json.dumps(content, indent=indent, ensure_ascii=False), encoding="utf-8")
    found, fault = elements(file)
    assert fault is None
    assert [json.loads(element.text) for element in found] == content


@given(content=st.dictionaries(TEXTS, VALUES, max_size=4))
def test_the_elements_of_an_object_are_those_of_its_arrays(content, tmp_path_factory):
    file = tmp_path_factory.mktemp("json") / "a.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    found, fault = elements(file)
    assert fault is None
    expected = []
    for value in content.values():
        expected += value if isinstance(value, list) else []
    assert [json.loads(element.text) for element in found] == expected


@pytest.mark.usefixtures("block")
def test_a_byte_says_where_an_element_begins(tmp_path):
    file = tmp_path / "a.json"
    file.write_bytes(
        b'\xef\xbb\xbf {"images": [ {"id": 1} ], "n": 12, "annotations": [{"id": 2},3]}'
    )
    found, fault = elements(file)
    assert fault is None
    assert [element.member for element in found] == ["images", "annotations", "annotations"]
    for element in found:
        assert file.read_bytes()[element.byte :].startswith(element.text)


@pytest.mark.usefixtures("block")
def test_a_file_that_is_cut_anywhere_gives_what_is_whole_and_says_where_it_ends(tmp_path):
    file = tmp_path / "a.json"
    file.write_bytes(SAMPLE)
    whole, _ = elements(file)
    assert len(whole) == 4
    for end in range(1, len(SAMPLE)):
        file.write_bytes(SAMPLE[:end])
        found, fault = elements(file)
        assert fault is not None, end
        assert found == whole[: len(found)], end
        assert 0 <= fault.byte <= end
        complete = [element for element in whole if element.byte + len(element.text) < end]
        assert len(found) >= len(complete), end


@given(place=st.integers(0, len(SAMPLE) - 1), byte=st.integers(0, 255))
def test_what_is_read_before_a_changed_byte_stays_the_same(place, byte, tmp_path_factory):
    folder = tmp_path_factory.mktemp("json")
    (folder / "whole.json").write_bytes(SAMPLE)
    whole, _ = elements(folder / "whole.json")
    (folder / "changed.json").write_bytes(SAMPLE[:place] + bytes([byte]) + SAMPLE[place + 1 :])
    try:
        found, _ = elements(folder / "changed.json")
    except DataError:
        found = None
    if found is None:  # refused by its first bytes
        assert place < 4
        return
    before = [element for element in whole if element.byte + len(element.text) < place]
    assert found[: len(before)] == before


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "empty"),
        (b"\xff\xfe[\x00]\x00", "UTF-16"),
        (b"\x1f\x8b\x08\x00", "gzip"),
        (b"PK\x03\x04", "zip"),
    ],
)
def test_what_is_no_plain_json_is_refused_with_a_remedy(tmp_path, content, problem):
    file = tmp_path / "a.json"
    file.write_bytes(content)
    with pytest.raises(DataError, match=problem) as error:
        elements(file)
    assert error.value.hint


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"[" * 100_000, "brackets are open"),
        (b"[{}]x", "follows"),
        (b"[{} {}]", "where , or ] is expected"),
        (b'{"a": [1}', "where , or ] is expected"),
        (b"{1: 2}", "name of a member"),
        (b"[,]", "value is missing"),
        (b"12", "neither"),
    ],
)
def test_a_fault_in_the_structure_is_named(tmp_path, content, what):
    file = tmp_path / "a.json"
    file.write_bytes(content)
    _, fault = elements(file)
    assert fault is not None
    assert what in fault.what


def test_an_element_without_an_end_does_not_fill_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(jsonstream, "LONGEST", 1000)
    monkeypatch.setattr(jsonstream, "BLOCK", 100)
    file = tmp_path / "a.json"
    file.write_bytes(b'[{"a": "' + b"x" * 10_000)
    _, fault = elements(file)
    assert fault is not None
    assert "more than" in fault.what


@given(st.text('{}[]"\\,: ab1', max_size=60).map(str.encode))
def test_both_ways_of_looking_once_find_the_same(text):
    """Before Python 3.11.5 possessive quantifiers miss matches, so there is another way."""
    for pattern, then in ((jsonstream._PASSED, rb"[{}\[\]]"), (jsonstream._STRING, b"")):
        greedy = jsonstream._compiled(pattern, then, possessive=False).match(text)
        if jsonstream.POSSESSIVE:
            other = jsonstream._compiled(pattern, then, possessive=True).match(text)
            assert (greedy and greedy.span()) == (other and other.span())
