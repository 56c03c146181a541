"""Strangers' YAML: bounded, plain, and every complaint names its line."""

import pytest

from gnomon.errors import DataError
from gnomon.yamlnodes import DEPTH_LIMIT, parse_document, read_document


def complaint(text: str) -> DataError:
    with pytest.raises(DataError) as caught:
        parse_document(text, "file.yaml")
    return caught.value


def test_scalars_stay_the_text_that_was_written():
    node = parse_document("a: no\nb: 012\nc: 1e3\nd: '~'\ne: ~")
    assert [node.entries[key].text for key in "abcde"] == ["no", "012", "1e3", "~", None]


def test_nodes_know_their_lines():
    node = parse_document("a:\n  - x\n  - y: 1\n    z: 2\n")
    assert node.entries["a"].items[1].entries["z"].line == 4


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("a: &x b\nc: *x", 1, "anchors"),
        ("a: !!python/object:os.system b", 1, "tags"),
        ("a: !custom b", 1, "tags"),
        ("a: 1\nb: 2\na: 3", 3, "twice"),
        ("a: 1\n---\nb: 2", 2, "second document"),
        ("a: [1, 2", 2, "not YAML"),
        ("a: 1\n\tb: 2", 2, "not YAML"),
        ("? [a, b]\n: c", 1, "key"),
        ("[" * 1000, 1, "deep"),
    ],
)
def test_what_is_refused_and_where(text, line, says):
    error = complaint(text)
    assert says in str(error)
    assert error.line == line
    assert str(error).startswith("file.yaml:")


def test_a_hundred_thousand_open_brackets_are_refused_without_exhausting_the_stack():
    assert f"{DEPTH_LIMIT} levels" in str(complaint("[" * 100_000))


def test_a_binary_file_is_one_sentence(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_bytes(b"\x80\x81\x00\x01")
    with pytest.raises(DataError, match="not UTF-8"):
        read_document(file)


def test_an_unknown_key_suggests_the_near_one():
    with pytest.raises(DataError, match="Did you mean premises"):
        parse_document("premise: x").mapping("a pattern", ("premises", "label"))
