"""The guide to patterns is true: its files load, and its tables of forms and conditions say what
happens."""

import re
from pathlib import Path

import pytest

from gnomon.language.checking import check
from gnomon.language.patternfile import read_bank
from gnomon.language.world import parse_world

GUIDE = (Path(__file__).parents[2] / "docs" / "patterns.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```yaml\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("block", [block for block in BLOCKS if "premises" in block])
def test_the_pattern_files_of_the_guide_pass_the_check(tmp_path, block):
    (tmp_path / "mine.yaml").write_text(block, encoding="utf-8")
    report = check(read_bank(tmp_path / "mine.yaml"))
    assert [finding.message for finding in report.findings] == []


def test_the_mini_world_of_the_guide_loads():
    (block,) = [block for block in BLOCKS if block.startswith("classes:")]
    world = parse_world(block)
    assert set(world.relations) == {
        "wears",
        "carries",
        "is-carried-by",
        "hides-behind",
        "city-of",
        "shows",
    }
    assert world.scales == {"size": ("small", "medium", "large")}
