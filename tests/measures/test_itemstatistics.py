"""Item statistics over models: difficulty and discrimination."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.measures.itemstatistics import item_statistics


def test_difficulty_is_the_share_of_models_that_are_right():
    right = np.array([[1, 0], [1, 0], [1, 1], [0, 0]], dtype=bool)
    assert item_statistics(right).difficulty.tolist() == [0.75, 0.25]


def test_discrimination_is_the_correlation_with_the_other_items():
    draw = np.random.default_rng(1)
    right = draw.random((9, 40)) < np.linspace(0.2, 0.9, 9)[:, None]
    found = item_statistics(right).discrimination
    for item in range(40):
        rest = np.delete(right, item, axis=1).mean(axis=1)
        if right[:, item].any() and not right[:, item].all():
            assert found[item] == pytest.approx(np.corrcoef(right[:, item], rest)[0, 1])
        else:
            assert np.isnan(found[item])


def test_a_wrong_label_shows_as_negative_discrimination():
    ability = np.linspace(0.1, 0.95, 8)
    right = np.random.default_rng(2).random((8, 200)) < ability[:, None]
    right[:, 0] = ability < 0.5  # whoever knows the answer is marked wrong
    found = item_statistics(right).discrimination
    assert found[0] < -0.7
    assert np.nanmean(found[1:]) > 0.3


def test_items_on_which_all_agree_tell_nothing_apart():
    right = np.array([[1, 0, 1], [1, 0, 0], [1, 0, 1]], dtype=bool)
    assert np.isnan(item_statistics(right).discrimination[:2]).all()


def test_two_models_are_too_few():
    right = np.array([[1, 0, 1], [0, 1, 1]], dtype=bool)
    assert np.isnan(item_statistics(right).discrimination).all()
    assert item_statistics(right).difficulty.tolist() == [0.5, 0.5, 1.0]


def test_a_report_of_three_runs_shows_the_hardest_items(tmp_path):
    import gnomon

    source = gnomon.load("scales").limited(40)
    runs = [gnomon.run(source, spec) for spec in ("random", "majority", "constant:yes")]
    gnomon.report(runs, tmp_path / "three.html")
    gnomon.report(runs[:2], tmp_path / "two.html")
    three, two = ((tmp_path / f"{name}.html").read_text() for name in ("three", "two"))
    assert "The hardest items over 3 runs" in three
    assert "Difficulty and discrimination by" in three
    assert "The hardest items over" not in two
