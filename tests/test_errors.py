"""What is printed cannot act."""

import tomllib
from pathlib import Path

import pytest

from gnomon.errors import (
    LONGEST,
    PARTS,
    DataError,
    MissingExtraError,
    UsageError,
    check_known,
    importing,
    inert,
    missing_part,
)

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("said", "printed"),
    [
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),  # sets the window's title
        ("right\rwrong", r"right\rwrong"),  # writes over the line
        ("ab\x08c", r"ab\x08c"),
        ("\x9b31m", r"\x9b31m"),  # an escape in one character
        ("gpt\u202e2", r"gpt\u202e2"),  # turns the direction of writing
        ("a\u2028b", r"a\u2028b"),
        ("\ud800", r"\ud800"),  # half a character, which no stream takes
        ("a\tb", "a b"),
    ],
)
def test_text_that_steers_a_terminal_is_shown_and_does_not_act(said: str, printed: str) -> None:
    assert inert(said) == printed


@pytest.mark.parametrize(
    "text", ["", "two\nlines", "61\xa0%", "👩\u200d💻", "نمی\u200cدانم", "─ – …"]
)
def test_ordinary_text_in_any_script_is_printed_as_it_is(text: str) -> None:
    assert inert(text) == text


def test_a_sentence_with_a_strangers_endless_word_is_shortened():
    error = DataError("a" * 200_000 + " is not a number.", "b" * 200_000, file="f.csv", line=3)
    assert len(error.message) == len(error.hint) == LONGEST
    assert error.message.startswith("f.csv:3: aaa")
    assert error.message.endswith(" is not a number.")


def test_a_sentence_of_usual_length_stays_as_it_is():
    error = UsageError("There is no model 'x'.", "Did you mean y?")
    assert str(error) == "There is no model 'x'.\nDid you mean y?"


def test_a_part_that_is_not_installed_is_told_with_the_extra_that_brings_it() -> None:
    with (
        pytest.raises(MissingExtraError, match=r"Drawing needs(.|\n)*gnomon\[meshes\]"),
        importing("Drawing", "meshes"),
    ):
        raise ModuleNotFoundError("trimesh")


def test_another_error_than_a_missing_part_passes_through_the_import() -> None:
    with pytest.raises(ValueError, match="other"), importing("Drawing", "meshes"):
        raise ValueError("other")


def test_a_name_that_is_not_known_is_refused_with_the_nearest() -> None:
    check_known("rule", "paper", {"paper": 1})
    with pytest.raises(UsageError, match="Did you mean paper"):
        check_known("rule", "papr", ["paper"])


def test_a_module_that_a_part_brings_is_asked_for_by_that_part() -> None:
    error = missing_part(ModuleNotFoundError("no", name="huggingface_hub.constants"))
    assert error is not None
    assert "pip install 'gnomon[hf]'" in str(error)
    assert missing_part(ModuleNotFoundError("no", name="gnomon.nonsense")) is None


def test_every_part_that_brings_a_module_is_one_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"]
    assert set(PARTS.values()) <= extras.keys()
