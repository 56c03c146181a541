"""The Python expressions of the published pattern file: read as conditions, never run."""

from pathlib import Path

import pytest

from gnomon.language.conditions import satisfied
from gnomon.language.problems import BooleanError, parse_boolean
from gnomon.language.world import RelationRow, WorldRelation

NAMES = ["Ada", "Omar", "hill", "bridge"]
PHRASES = ["Ada", "Omar", "the hill", "the bridge"]
KNOWN = {
    "name_pn": WorldRelation("name_pn", 1, (RelationRow(True, (frozenset((0, 1)),)),)),
    "ground_n": WorldRelation("ground_n", 1, (RelationRow(True, (frozenset((2, 3)),)),)),
    "near_p2": WorldRelation(
        "near_p2", 2, (RelationRow(True, (frozenset((0, 2)), frozenset((1, 3)))),)
    ),
}
WORDS = ["at once", "now"]


def read(text: str):
    places = {"NP1": 0, "NP2": 1, "soon_r_01": 2}
    return parse_boolean(text, places, [PHRASES, PHRASES, WORDS], KNOWN, NAMES)


@pytest.mark.parametrize(
    ("text", "fillers", "holds"),
    [
        ("NP1 != NP2", (0, 1, 0), True),
        ("NP1 != NP2", (1, 1, 0), False),
        ("NP1 == NP2 or NP1 == 'Ada'", (0, 1, 0), True),
        ("diff_values([NP1, NP2])", (2, 2, 0), False),
        ("soon_r_01 not in ['now', 'forthwith']", (0, 0, 1), False),
        ("soon_r_01 not in ['now', 'forthwith']", (0, 0, 0), True),
        (
            "NP2 not in ['hill', 'bridge']",
            (0, 2, 0),
            True,
        ),  # compared with "the hill": excludes nothing
        ("NP2 not in ['the hill', 'bridge']", (0, 2, 0), False),
        ("(NP1,NP2) in sig['near_p2']", (0, 1, 0), True),
        (
            "(NP1,NP2) in sig['near_p2']",
            (2, 3, 0),
            False,
        ),  # phrases are sought among names: "the hill" is none
        ("(NP1,NP2) not in sig['near_p2'] and NP1 != NP2", (1, 0, 0), True),
        ("list_is_subset([(NP1,),(NP2,)], sig['name_pn'])", (0, 1, 0), True),
        ("list_is_subset([(NP1,),(NP2,)], sig['name_pn'])", (0, 2, 0), False),
        ("list_is_subset([(NP1,)], sig['ground_n'])", (2, 2, 0), False),
        ("not (NP1 == NP2) and \\\n  ( NP1 != NP2 )", (0, 1, 0), True),
    ],
)
def test_what_a_constraint_means(text, fillers, holds):
    assert satisfied(read(text), fillers) is holds


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('touch PWNED')",
        "open('PWNED', 'w')",
        "[x for x in ()]",
        "NP1.__class__",
        "NP1 < NP2",
        "NP9 != NP1",
        "exec('1')",
        "(lambda: 1)()",
        "NP1 != NP2 != NP1",
        "sig",
        "sig['near_p2']",
        "(NP1,) in sig['absent']",
        "(NP1,) in sig['near_p2']",
        "(NP1,) in globals()['near_p2']",
        "diff_values(NP1)",
        "diff_values([NP1], key=1)",
        "f'{NP1}'",
        "",
        "NP1 !=",
        "NP1 != soon_r_01",
        "(" * 900 + "NP1 != NP2" + ")" * 900,
        "not " * 450 + "NP1",
        "NP1 " * 2000,
        "\0",
        "NP1 in 'Ada'",
        "await NP1",
        "NP1 := 2",
    ],
)
def test_everything_else_is_refused_and_nothing_runs(text, tmp_path):
    with pytest.raises(BooleanError):
        read(text)
    assert list(Path(tmp_path).iterdir()) == []
