"""A set in which labels have nothing to do with texts raises an alarm hardly ever."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from random import Random

import pytest

from gnomon.audit.auditing import audit
from gnomon.audit.sets import AuditItem
from tests.audit.soundsets import LABELS, NOUNS, VERBS, alarms, asked, random_set, set_of

SETS = 80
CHECKS = ("constants", "lookup", "flipped_lookup", "partial_input", "words", "shapes")


def test_random_sets_raise_an_alarm_at_about_the_nominal_rate():
    """Each check may be wrong on 1 % of the sets, all its parts together: of 80 about one."""
    counts: Counter[str] = Counter()
    for seed in range(SETS):
        draw = Random(seed)
        split = lambda number, question: draw.choice(["train", "dev", "test"])  # noqa: B023, E731
        counts.update(alarms(random_set(seed, items=240, split=split), *CHECKS).keys())
    assert all(counts[check] <= 4 for check in CHECKS), counts  # 5 or more: 1 in 500 at 1 %
    assert counts.total() <= 10


def balanced(planted: bool) -> list[AuditItem]:
    """Every sentence is asked once with each label: no word, alone or with others, says anything.

    Planted: a word that comes with one label in most groups.
    """
    draw = Random(11)
    questions = []
    for number, (one, two) in enumerate(permutations(NOUNS[:12], 2)):
        claim = f"A {one} {VERBS[number % 6]} a {two}."
        for label in LABELS:
            premise = f"It is day {draw.randrange(40)} of month {draw.randrange(40)}."
            if planted and draw.random() < 0.6:
                premise += f" {dict(zip(LABELS, ('So', 'Maybe', 'Never'), strict=True))[label]}."
            name = f"{number} {label}"
            questions.append(asked(name, (premise, claim), LABELS, (label,), group=f"g{number}"))
    return questions


def test_an_exactly_balanced_set_raises_no_alarm_though_it_lies_below_chance():
    report = audit(set_of(balanced(planted=False)))
    assert report.alarms == []
    at_random = {finding.part: finding for finding in report.findings}["text, at random"]
    assert at_random.value < at_random.chance - 0.1  # what is held out shows by its absence
    assert "balanced over these words" in at_random.says


def test_a_shortcut_in_a_balanced_set_is_found():
    parts = alarms(set_of(balanced(planted=True)), "partial_input")["partial_input"]
    assert "context, by group" in parts
    assert not any(part.startswith("text") for part in parts)


@pytest.mark.parametrize("groups", [8, 120])
def test_labels_that_go_by_group_alone_are_no_alarm_for_who_has_not_seen_the_group(groups):
    """Items of a template share a label: many items, few independent ones."""
    counts = 0
    for seed in range(20):
        draw = Random(seed)
        label = {f"g{number}": draw.choice(LABELS) for number in range(groups)}
        audited = random_set(
            seed,
            group=lambda number, question: f"g{number % groups}",
            gold=lambda number, question: (label[f"g{number % groups}"],),  # noqa: B023
        )
        parts = alarms(audited, "partial_input").get("partial_input", [])
        counts += any(part.endswith("by group") for part in parts)
    assert counts <= 2
