"""Our patterns are ours: none says what one of the authors' patterns says, whatever the slots are
called."""

import re
from pathlib import Path

import pytest

from gnomon.benchmarks.spacenli import published_bank
from gnomon.files import package_data
from gnomon.language.patternfile import read_bank
from gnomon.language.patterns import Pattern

pytestmark = pytest.mark.published


def skeleton(pattern: Pattern) -> str:
    """The sentences with slots numbered in order and verbs in the singular."""
    names: dict[str, str] = {}
    text = " | ".join(sentence.text for sentence in pattern.sentences).lower()
    text = re.sub(r"\{\w+:(\w+)[^}]*\}", r"\1", text)
    return re.sub(r"\{(\w+)\}", lambda slot: names.setdefault(slot[1], f"#{len(names)}"), text)


def test_no_pattern_of_the_bank_is_one_of_the_authors(shared: Path) -> None:
    theirs = {
        skeleton(pattern) for pattern in published_bank(shared / "data" / "spacenli").patterns
    }
    assert len(theirs) > 150
    ours = read_bank(package_data("patterns/bank")).patterns
    assert [pattern.id for pattern in ours if skeleton(pattern) in theirs] == []
