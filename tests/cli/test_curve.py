"""gnomon train --curve: nested draws, points that are resumed, the table, the drawing and the report."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

torch = pytest.importorskip("torch")

from gnomon.cli import main
from gnomon.cli.curve import _summary
from gnomon.errors import DataError
from gnomon.items.writing import write_items
from gnomon.records import Item
from gnomon.reports.figures.against import learning_curves
from gnomon.train import recipes as kinds
from gnomon.train.folder import Amounts, curve_points
from gnomon.train.items import ItemData, read_material
from gnomon.train.recipes import TrainingKind

RECIPE = """
kind: toy
data:
  train: {file: items.jsonl}
  parts:
    groups: {by: group, count: 2}
    samples: {by: item, count: 2}
schedule: {epochs: 4, batch: 4, learning_rate: 0.1, best: last}
"""
LEARNERS: list[ToyLearner] = []
FAILING: list[int] = []  # after how many batches the next learner is killed


class ToyLearner:
    """A linear model of a number that each item says."""

    def __init__(self, recipe, material):
        torch.manual_seed(recipe.seeds.weights)
        self.module = torch.nn.Linear(3, 2)
        self.items, self.size = material.content, recipe.schedule.batch
        self.batches_in_epoch = -(-len(self.items.train) // self.size)
        self.left = FAILING.pop() if FAILING else -1
        LEARNERS.append(self)

    def batches(self, epoch):
        for start in range(0, len(self.items.train), self.size):
            yield self.items.train[start : start + self.size]

    def loss(self, batch):
        if self.left == 0:
            raise KeyboardInterrupt
        self.left -= 1
        logits, right = self._asked(batch)
        return torch.nn.functional.cross_entropy(logits, right)

    def score(self):
        return {}

    def test(self):
        found = {}
        for part, items in self.items.parts.items():
            logits, right = self._asked(items)
            found[part] = {"accuracy": float((logits.argmax(-1) == right).float().mean())}
        return found

    def save(self, folder):
        torch.save(self.module.state_dict(), folder / "weights.pt")

    def _asked(self, items):
        numbers = [float(item.text) for item in items]
        features = torch.tensor([[1.0, number, number % 2] for number in numbers])
        right = torch.tensor([item.choices.index(item.gold[0]) for item in items])
        return self.module(features / 10), right


class Nothing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The section of a kind that has no settings of its own."""


TOY = TrainingKind(
    "a toy",
    ItemData,
    Nothing,
    lambda recipe: read_material(recipe.data, recipe.seeds.data),
    ToyLearner,
)
KIND = TOY


@pytest.fixture(autouse=True)
def toy(monkeypatch, tmp_path):
    monkeypatch.setitem(kinds.KINDS, "toy", __name__)
    LEARNERS.clear()
    FAILING.clear()
    items = []
    for number in range(96):
        label = "low" if number % 12 < 6 else "high"
        items.append(
            Item(
                id=f"i{number}",
                form="choice",
                text=str(number % 12),
                context=f"{number}",
                choices=("low", "high"),
                gold=(label,),
                group=f"g{number // 12}",
            )
        )
    write_items(Path("items.jsonl"), items)
    Path("recipe.yaml").write_text(RECIPE)


@pytest.fixture
def give(capsys):
    def run(*words, code=0):
        capsys.readouterr()
        assert (main([str(word) for word in words]) or 0) == code
        told = capsys.readouterr()
        return told.out, told.err

    return run


CURVE = ("train", "recipe.yaml", "-o", "curve", "--quiet")


def trained_items(point):
    material = read_material(point.recipe.data, point.recipe.seeds.data)
    return material.content


def test_a_larger_draw_contains_the_smaller_ones_of_its_number_and_parts_stay():
    for unit, values in (("per_pattern", (1.0, 2.0, 5.0)), ("train_share", (10.0, 50.0, 100.0))):
        points = curve_points("recipe.yaml", [], Amounts(unit, values, 3), Path("c"))
        assert len(points) == 9
        by_draw = {}
        parts = set()
        for point in points:
            items = trained_items(point)
            by_draw.setdefault(point.draw, []).append({item.id for item in items.train})
            parts.add(tuple(item.id for members in items.parts.values() for item in members))
        for small, middle, large in by_draw.values():
            assert small < middle < large
        assert by_draw[0][0] != by_draw[1][0], "another draw has other items"
        assert len(parts) == 1, "what is tested is the same for every point"


def test_points_have_seeds_of_their_own():
    changes = ["seeds.order=5"]
    points = curve_points("recipe.yaml", changes, Amounts("per_pattern", (1.0,), 2), Path("c"))
    assert [(p.recipe.seeds.order, p.recipe.seeds.weights) for p in points] == [(5, 0), (6, 1)]
    assert len({point.folder for point in points}) == 2


def test_a_curve_tells_the_mean_and_its_interval_at_each_amount(give):
    out, _ = give(*CURVE, "--curve", "0,1,8", "--format", "json")
    rows = [row for row in json.loads(out)["curve"] if row["part"] == "samples"]
    assert [row["amount"] for row in rows] == [0, 1, 8]
    assert all(row["low"] <= row["mean"] <= row["high"] for row in rows)
    assert all(row["draws"] == 3 for row in rows)
    values = [learner.test()["samples"]["accuracy"] for learner in LEARNERS]
    assert rows[2]["mean"] == pytest.approx(sum(values[6:]) / 3)
    assert json.loads(Path("curve/curve.json").read_text()) == json.loads(out)
    drawing = Path("curve/curve.svg").read_text()
    assert drawing.startswith("<svg")
    assert "samples" in drawing
    table, _ = give(*CURVE, "--curve", "0,1,8")
    assert "training items per pattern" in table


def test_what_is_finished_is_not_trained_again(give):
    give(*CURVE, "--curve", "1,2", "--draws", 2)
    assert len(LEARNERS) == 4
    give(*CURVE, "--curve", "1,2,4", "--draws", 2)
    assert len(LEARNERS) == 6, "only the new amount"


def test_a_point_that_was_stopped_goes_on_to_the_same_result(give):
    often = ("--set", "schedule.save_every=3", "--curve", "4", "--draws", 1, "--quiet")
    give("train", "recipe.yaml", "-o", "whole", *often)
    FAILING.append(7)
    give("train", "recipe.yaml", "-o", "cut", *often, code=130)
    assert not Path("cut/items-4/draw-1/training.json").exists()
    give("train", "recipe.yaml", "-o", "cut", *often)
    one, two = (torch.load(f"{name}/items-4/draw-1/weights.pt") for name in ("whole", "cut"))
    assert all(torch.allclose(one[key], two[key], atol=1e-6) for key in one)


def test_one_point_can_be_trained_alone(give):
    out, _ = give(*CURVE, "--curve", "1,2", "--draws", 2, "--only", "2:2")
    assert "3 of 4 points are not finished" in out
    assert [path.parent.name for path in Path("curve").rglob("training.json")] == ["draw-2"]


def test_amounts_that_no_group_holds_are_told(give):
    _, err = give(*CURVE, "--curve", "10,50", "--draws", 1)
    assert "50 is trained on the same items as 10" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--curve", "1,x"), "not a list of numbers"),
        (("--curve", "1.5"), "no number of items"),
        (("--curve", "120%"), "no percentage"),
        (("--curve", ","), "no points"),
        (("--curve", "1,inf"), "not a list of finite numbers"),
        (("--curve", "nan%"), "not a list of finite numbers"),
        (("--curve", "1,2", "--set", "data.train.percent=50"), "Leave out data.train.percent"),
        (("--curve", "1", "--draws", "0"), "once or more"),
        (("--curve", "1", "--only", "7:1"), "1:1, 1:2, 1:3"),
    ],
)
def test_amounts_that_make_no_curve_are_refused(words, said, give):
    _, err = give(*CURVE, *words, code=2)
    assert said in err
    assert LEARNERS == []


def test_a_selectivity_below_zero_is_told_with_its_interval():
    curves = {"test": {"selectivity": {1.0: [-0.2, -0.1, -0.15]}}}
    ((_, _, point),) = _summary(curves, {"test": 50})
    assert point.low < point.mean < point.high < 0


def taught(amount, draw, model="minilm"):
    """A run of a model that was trained on so many items of each pattern, as a report sees it."""
    recipe = {
        "kind": "classify",
        "model": model,
        "data": {"train": {"per_group": amount, "draw": draw}},
        "schedule": {"epochs": 3 if amount else 0, "batch": 16},
        "seeds": {"order": draw},
    }
    accuracy = 0.3 + 0.02 * amount + 0.01 * draw
    training = {"from": model, "recipe": recipe, "tests": {"samples": {"accuracy": accuracy}}}
    manifest = SimpleNamespace(
        model_description={"training": training, "per_pattern": amount, "train_share": 100.0}
    )
    return SimpleNamespace(run=SimpleNamespace(manifest=manifest))


def untaught():
    manifest = SimpleNamespace(model_description={"prompt": {}})
    return SimpleNamespace(run=SimpleNamespace(manifest=manifest))


def test_a_report_draws_the_curve_beside_that_of_the_paper():
    runs = [taught(amount, draw) for amount in (0, 5, 20) for draw in (0, 1)]
    study = SimpleNamespace(entrants=[*runs, untaught()], spec=SimpleNamespace(name="spacenli"))
    (figure,) = learning_curves(study)
    own = [row for row in figure.rows if row[0] == "samples"]
    assert [(row[1], pytest.approx(row[2])) for row in own] == [(0, 0.305), (5, 0.405), (20, 0.705)]
    for _, _, mean, low, high, _, draws in own:
        assert low < mean < high
        assert draws == 2
    paper = [row[1:3] for row in figure.rows if row[0] == "RoBERTa-L (SMFA), SpaceNLI"]
    assert paper == [(0.0, 0.556), (1.0, 0.696), (20.0, 0.99)]
    assert "RoBERTa-L" in figure.svg()
    assert "minilm" in figure.title


def test_other_models_and_other_recipes_are_other_curves():
    runs = [taught(amount, 0, model) for amount in (1, 5) for model in ("minilm", "bert")]
    study = SimpleNamespace(entrants=runs, spec=SimpleNamespace(name="viphy-size"))
    titles = [figure.title for figure in learning_curves(study)]
    assert len(titles) == 2
    assert titles[0].endswith("minilm")
    relaxed = taught(5, 0)
    description = relaxed.run.manifest.model_description
    description["training"]["tests"] = {"samples": {"loss": 1.0, "relaxed_accuracy": 0.5}}
    study = SimpleNamespace(entrants=[*runs, relaxed], spec=SimpleNamespace(name="viphy-size"))
    assert len(list(learning_curves(study))) == 2, "one amount of another measure is no curve"
    alone = SimpleNamespace(entrants=[taught(5, 0)], spec=None)
    assert list(learning_curves(alone)) == [], "one amount is no curve"


def test_every_point_is_checked_before_the_first_is_trained(give, monkeypatch):
    def refuse_many(recipe):
        material = read_material(recipe.data, recipe.seeds.data)
        if len(material.content.train) > 6:
            raise DataError("train and the part 'groups' share 3 items.", "Leave them out.")
        return material

    monkeypatch.setattr(sys.modules[__name__], "KIND", TOY._replace(read=refuse_many))
    _, told = give(*CURVE, "--curve", "1,5", code=1)
    assert "share 3 items" in told
    assert LEARNERS == []
    assert not Path("curve").exists()
