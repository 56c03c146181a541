"""A probe's figures stand beside those of its control, on the same items, with intervals."""

import numpy as np
import pytest

from gnomon.records import Item
from gnomon.train.probes import Learnt
from gnomon.train.probetraining import part_scores, results_in_words, right_flags, train_scores
from gnomon.train.recipes import TrainingOutcome

LABELS = ("yes", "no")
KNOWS = Learnt(np.eye(2, dtype=np.float32), np.zeros(2, dtype=np.float32), 1, 1.0)
ALL = np.ones((40, 2), dtype=bool)  # every item offers both labels


def example(count=40):
    """Items whose vectors tell the right label; three quarters are yes."""
    labels = [0 if number % 4 else 1 for number in range(count)]
    items = [
        Item(
            id=str(number),
            form="choice",
            text=f"{number}?",
            choices=LABELS if number % 2 else LABELS[::-1],
            gold=(LABELS[label],),
            group=str(number),
        )
        for number, label in enumerate(labels)
    ]
    return items, np.eye(2, dtype=np.float32)[labels]


def example_scores():
    items, vectors = example()
    gold = vectors.astype(bool)
    right = {"probe": right_flags(vectors, gold, ALL, KNOWS), "control": gold[:, 0]}  # always yes
    return part_scores(items, right, None)


def test_selectivity_is_the_probes_lead_over_its_control():
    found = example_scores()
    assert found["relaxed_accuracy"] == 1
    assert found["control"] == found["majority"] == pytest.approx(0.75)
    assert found["selectivity"] == pytest.approx(0.25)
    assert found["selectivity_low"] < 0.25 < found["selectivity_high"]
    assert found["control_low"] < 0.75 < found["control_high"]


def test_what_a_head_learns_by_heart_is_measured_on_its_own_labels():
    _, vectors = example()
    gold = vectors.astype(bool)
    found = train_scores(
        right_flags(vectors, gold, ALL, KNOWS), right_flags(vectors, ~gold, ALL, KNOWS)
    )
    assert found == {"relaxed_accuracy": 1.0, "control_on_its_labels": 0.0}


def test_the_card_tells_every_part_and_what_was_learnt_by_heart():
    scores = example_scores()
    outcome = TrainingOutcome(
        steps=1,
        epochs=1,
        best_step=1,
        best=scores,
        last_loss=0.0,
        stopped_early=False,
        parameters=1,
        trained_parameters=1,
        tests={"test": scores, "train": {"relaxed_accuracy": 0.9, "control_on_its_labels": 0.6}},
    )
    told = results_in_words(outcome)
    assert told.startswith("On test, the probe gets 100.0 % [90.7, 100.0] right")
    assert "On dev (which chose the epoch, and so flatters), the probe gets" in told
    assert "Selectivity: 25.0 points [" in told
    assert "Of its own training labels it has 60.0 % right" in told
