"""VSR's main finding with small models: places are learnt by the one that is told them."""

import importlib.util
from pathlib import Path

import pytest

pytest.importorskip("torch")
SCRIPT = Path(__file__).parents[3] / "scripts" / "leftright.py"


def test_lxmert_learns_left_and_right_and_visualbert_without_boxes_does_not(tmp_path):
    spec = importlib.util.spec_from_file_location("leftright", SCRIPT)
    leftright = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(leftright)
    leftright.make_models(tmp_path, leftright.make_set(tmp_path, 160))
    assert leftright.learnt(tmp_path, "lxmert") >= 0.9
    assert 0.3 <= leftright.learnt(tmp_path, "visualbert") <= 0.7
