"""Answers from a file, passed on as a model's: `answers:FILE`."""

from __future__ import annotations

import hashlib

import pytest

from gnomon.contracts import Benchmark
from gnomon.errors import AnswerFileWarning, DataError, UsageError
from gnomon.items.answers.joining import answers
from gnomon.records import Item

BENCHMARK = Benchmark(name="mine", summary="items of our own", sources={})
ITEMS = [
    Item(id=str(n), form="choice", text="?", choices=("yes", "no"), gold=("yes",)) for n in range(3)
]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "said.csv"
    path.write_text("id,label\n0,yes\n2,no\n")
    return path


def test_an_item_that_the_file_lacks_fails_with_a_reason(file):
    model = answers(str(file))
    with pytest.warns(AnswerFileWarning, match="no answer to 1 of 3 items"):
        model.prepare(iter(ITEMS), BENCHMARK)
    first, second, third = model.answer(ITEMS)
    assert (first.choice, third.choice) == ("yes", "no")
    assert second.choice is None
    assert second.error == "not in the file of answers"


def test_the_file_is_known_by_its_bytes(file):
    about = answers(str(file)).describe()
    assert about == {
        "file": "said.csv",
        "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
    }


def test_a_missing_file_or_name_is_said_so(tmp_path):
    with pytest.raises(UsageError, match="needs a file"):
        answers("")
    with pytest.raises(DataError, match="there is no such file"):
        answers(str(tmp_path / "absent.csv"))
