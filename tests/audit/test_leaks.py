"""Leaks that bench/leaks.py plants are found, what it draws clean is not, and a part is pruned."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from random import Random

import numpy as np
import pytest

from gnomon.audit.auditing import audit
from gnomon.audit.finding import alone, beyond_luck, luck
from gnomon.audit.pruning import prune
from gnomon.audit.sets import AuditSet
from gnomon.cli import main
from gnomon.measures.units import Units

_SPEC = importlib.util.spec_from_file_location(
    "leaks", Path(__file__).parents[2] / "bench" / "leaks.py"
)
leaks = importlib.util.module_from_spec(_SPEC)
sys.modules["leaks"] = leaks
_SPEC.loader.exec_module(leaks)
CHECKS = ("constants", "priors", "rows", "lookup", "flipped_lookup", "partial_input", "words")


@pytest.mark.parametrize("kind", leaks.PLANTED)
def test_a_planted_leak_is_found_by_a_check_that_is_for_it(kind):
    report = audit(leaks.PLANTED[kind](Random(f"test {kind}"), 1_000), (*CHECKS, "order"))
    named = {finding.check for finding in report.alarms}
    assert named & set(leaks.EXPECTED[kind])


@pytest.mark.parametrize("kind", leaks.CLEAN)
def test_clean_sets_raise_no_alarm(kind):
    """Of 70 sets one in two audits of all kinds would have a false alarm at 1 %."""
    false = 0
    for number in range(10):
        size = leaks.SIZES[number % 2]
        report = audit(
            leaks.CLEAN[kind](Random(f"test {kind} {number}"), size), (*CHECKS, "shapes")
        )
        false += bool(report.alarms)
    assert false <= 1


def test_the_figure_of_a_blind_prior_is_told():
    """1,200 sets of options, most of them rare: no constant answer, but some labels are likelier."""
    audited, planted = leaks.blind_prior(Random("a prior"), 5_700)
    findings = {finding.part: finding for finding in audit(audited, ["priors"]).findings}
    rates = findings["labels"]
    assert rates.alarm
    assert rates.chance == pytest.approx(0.257, abs=0.01)
    assert rates.value == pytest.approx(planted, abs=0.02)


def test_luck_is_uniform_and_one_report_is_one_family():
    draws = np.random.default_rng(0).random((4_000, 60)) < 1 / 3
    groups = Units(np.repeat(np.arange(20), 3)[:, None], (1,), ("groups",))
    for units in (alone(60), groups):
        ps = np.array([luck(row - 1 / 3, units) for row in draws])
        assert np.mean(ps < 0.01) < 0.016
        assert 0.02 < np.mean(ps < 0.05) < 0.07
    assert beyond_luck([0.0002, 0.0004, 0.9]) == [True, True, False]
    assert beyond_luck([0.004] * 3) == [False] * 3


def leaky(size: int) -> AuditSet:
    """A word for each label in half of the items, and a final mark in others."""
    draw = Random("leaky")
    items = leaks.inference(draw, size, groups=size // 5)
    marked = [leaks.punctuation(draw, leaks.word("text")(draw, item)) for item in items]
    return leaks.audited(marked)


def test_what_is_pruned_gives_nothing_away_to_a_classifier_of_another_kind():
    sklearn = pytest.importorskip("sklearn")
    assert sklearn
    audited = leaky(1_500)
    found = prune(audited)
    assert 400 < len(found.kept) < 1_450
    assert len(found.kept) + len(found.left_out) == len(audited)
    assert all(left_out.reason for left_out in found.left_out)
    assert any("text" in left_out.reason for left_out in found.left_out)
    before = points_by_characters(audited.questions)
    after = points_by_characters(found.kept)
    assert before[0] > 5 * before[1]
    assert abs(after[0]) < 2.5 * after[1]


def points_by_characters(questions) -> tuple[float, float]:
    """What a support vector machine over characters gets beyond a guess, and its error."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.model_selection import GroupKFold
    from sklearn.svm import LinearSVC

    texts = np.array([question.item.text for question in questions])
    labels = np.array([question.gold[0] for question in questions])
    groups = [question.group for question in questions]
    right = np.zeros(len(texts))
    for train, test in GroupKFold(5).split(texts, labels, groups):
        count = TfidfVectorizer(analyzer="char_wb", ngram_range=(1, 4), min_df=2, lowercase=False)
        machine = LinearSVC(C=0.5).fit(count.fit_transform(texts[train]), labels[train])
        right[test] = machine.predict(count.transform(texts[test])) == labels[test]
    return right.mean() - 1 / 3, right.std() / np.sqrt(len(right))


def test_the_command_writes_the_part_and_why_the_rest_is_left_out(capsys):
    rows = []
    for question in leaky(600).questions:
        item = question.item
        row = {"id": item.id, "premise": item.context, "hypothesis": item.text}
        rows.append({**row, "label": item.gold[0], "template": item.group})
    Path("mine.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert main(["audit", "mine.jsonl", "-o", "clean.jsonl"]) == 1
    assert "clean.left-out.jsonl says why" in capsys.readouterr().err
    kept = [json.loads(line) for line in Path("clean.jsonl").read_text().splitlines()]
    others = [json.loads(line) for line in Path("clean.left-out.jsonl").read_text().splitlines()]
    assert {row["id"] for row in kept} | {row["id"] for row in others} == {r["id"] for r in rows}
    assert len(kept) + len(others) == len(rows)
    assert others
    assert all(row["reason"] for row in others)


def test_a_part_is_of_one_set(capsys):
    assert main(["audit", "scales", "viphy-size", "-o", "clean.jsonl", "--check", "order"]) == 2
    assert "items of one set" in capsys.readouterr().err
