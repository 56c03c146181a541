"""Which cues a model follows, as tests: the tag `rule` names the cue of an item (see cues)."""

from math import comb
from typing import NamedTuple

import numpy as np

from gnomon.measures.comparison import SIGNIFICANT, holm
from gnomon.measures.cues import CONSISTENT, COUNTER, CUE, FRAME, OPEN, has_cues, has_value
from gnomon.measures.table import Flags, Table

RULE, ANY_CUE = "rule", "that is easy"
ERRORS = "at most 5 % of models that follow no cue are said to follow or oppose one (Holm)"


class CueTest(NamedTuple):
    """How right a model is where a cue is right, and where it is wrong, and a sign test of both."""

    rule: str
    consistent: float
    counter: float
    p: float

    def told(self) -> str:
        """Both shares in words."""
        return (
            f"{self.rule} (right on {100 * self.consistent:.0f} % where that is right, and on "
            f"{100 * self.counter:.0f} % where it is wrong)"
        )


def cue_tests(table: Table) -> list[CueTest]:
    """A sign test for each cue, over the matched sets in which it is right and wrong as often.

    The p-values are corrected by Holm for the number of cues.
    """
    found = []
    asked = table.where(~has_value(table, FRAME, OPEN))
    rules = asked.column(RULE).values if asked.has(RULE) else [ANY_CUE]
    for rule in rules:
        part = asked.where(has_value(asked, RULE, rule)) if asked.has(RULE) else asked
        first, second = has_value(part, CUE, CONSISTENT), has_value(part, CUE, COUNTER)
        if not first.any() or not second.any():
            continue
        ups, downs = _signs(part, first, second)
        right = part.right
        p = _sign_test(ups, downs)
        found.append(CueTest(rule, float(right[first].mean()), float(right[second].mean()), p))
    adjusted = holm([each.p for each in found])
    return [each._replace(p=p) for each, p in zip(found, adjusted, strict=True)]


def _signs(table: Table, first: Flags, second: Flags) -> tuple[int, int]:
    """In how many matched sets a model is better where the cue is right, and where it is wrong."""
    codes = table.column("group").codes
    size = int(codes.max()) + 1
    counts = [np.bincount(codes[rows], minlength=size) for rows in (first, second)]
    rights = [np.bincount(codes[rows & table.right], minlength=size) for rows in (first, second)]
    ahead = rights[0] * counts[1] - rights[1] * counts[0]
    return int((ahead > 0).sum()), int((ahead < 0).sum())


def _sign_test(ups: int, downs: int) -> float:
    """The chance of signs as uneven as these if both were equally likely.

    >>> _sign_test(6, 0), _sign_test(2, 2)
    (0.03125, 1.0)
    """
    number = ups + downs
    rare = sum(comb(number, k) for k in range(min(ups, downs) + 1))
    return min(1.0, rare / 2.0 ** (number - 1))


def told_cues(table: Table) -> str:
    """Which easy cues a model follows, in sentences; empty where no item has one."""
    if not has_cues(table):
        return ""
    sentences = []
    tests = cue_tests(table)
    for each in tests:
        if each.p >= SIGNIFICANT:
            verdict = "no sign that it follows"
        else:
            verdict = "it follows" if each.consistent > each.counter else "it goes against"
        sentences.append(f"{verdict} the cue {each.told()}")
    return f"{'; '.join(sentences)}: sign tests over matched sets, {ERRORS}."
