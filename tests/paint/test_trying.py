"""Judging the judge on drawn scenes."""

import pytest

from gnomon.measures.correction import Trial
from gnomon.paint.judges import trials as trying
from gnomon.paint.judges.boxes import boxes_judge
from gnomon.paint.judges.trials import said_of_scenes, trial_of, try_on_scenes
from gnomon.paint.records import JudgeVerdict
from gnomon.records import Item
from gnomon.registry import benchmark

pytest.importorskip("PIL")


@pytest.fixture(scope="module")
def scenes() -> list[Item]:
    return list(benchmark("posrel").sources["fresh"](form="scene"))[:8]


@pytest.fixture(autouse=True)
def _small_drawings(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sixteenth of the pixels: what a scene shows does not depend on them."""
    monkeypatch.setattr(trying, "SIDE", 64)


class Constant:
    """A judge that always says the same."""

    def __init__(self, choice):
        self.choice, self.looks = choice, 0

    def describe(self):
        return {"judge": "constant", "choice": self.choice}

    def look(self, item, painted, picture):
        self.looks += 1
        return JudgeVerdict(self.choice, (), {})


def test_a_judge_that_knows_the_truth_is_found_to_be_right(scenes):
    found = try_on_scenes(boxes_judge(detector="true", depth="true"), scenes)
    assert found == Trial(8, 8, 8, 0, 16, 8)


def test_a_judge_upside_down_is_found_out(scenes):
    judge = boxes_judge(detector="true", depth="true", rule="released")
    said = said_of_scenes(judge, scenes)
    vertical = [each for each in said if each.gold in ("above", "below")]
    assert vertical
    assert all(each.right not in (None, each.gold) for each in vertical)


def test_a_judge_that_always_says_the_same_or_nothing_is_worth_nothing(scenes):
    nothing = try_on_scenes(Constant(None), scenes)
    assert (nothing.said_shown, nothing.said_other, nothing.recognised) == (0, 0, 0)
    same = try_on_scenes(Constant(0), scenes)
    assert same.sensitivity + same.specificity == pytest.approx(
        1 + (same.said_shown - same.said_other) / same.shown
    )
    assert same.recognised == 16


def test_a_trial_is_kept_for_the_next_run_and_belongs_to_its_judge(scenes, tmp_path, monkeypatch):
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path))
    judge = Constant(1)
    first = trial_of(judge, scenes, 3)
    looks = judge.looks
    assert looks == 6
    assert trial_of(judge, reversed(scenes), 3) == first
    assert judge.looks == looks
    other = Constant(2)
    trial_of(other, scenes, 3)
    assert other.looks == 6
    for file in (tmp_path / "trials").iterdir():
        file.write_text("{damaged")
    assert trial_of(judge, scenes, 3) == first
    assert judge.looks == 2 * looks
