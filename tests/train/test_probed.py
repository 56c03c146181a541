"""A probe from recipe to answers: trained on a small model on disk, then asked like any model."""

import json

import numpy as np
import pytest
from msgspec.structs import replace

from gnomon.errors import DataError, ModelError, UsageError
from gnomon.items.writing import write_items
from gnomon.records import Item
from gnomon.registry import model

torch = pytest.importorskip("torch")

from gnomon.train.folder import carry_out
from gnomon.train.recipes import load_recipe

SIZES = {"ant": 1, "bird": 2, "cat": 3, "dog": 4, "man": 5, "car": 6, "house": 7, "church": 8}


def pairs(first, last):
    """Items about ordered pairs of things, of which all names are letters of a small model."""
    found = []
    for a in SIZES:
        for b in SIZES:
            if a == b:
                continue
            gold = "larger" if SIZES[a] > SIZES[b] else "smaller"
            found.append(
                Item(
                    id=f"{a}/{b}",
                    form="choice",
                    text=f"the {a} beside the {b}",
                    choices=("larger", "smaller"),
                    gold=(gold,),
                    group=" / ".join(sorted((a, b))),
                    tags={"obj_a": a, "obj_b": b},
                )
            )
    return found[first:last]


@pytest.fixture
def recipe(tmp_path, folders, monkeypatch):
    """A recipe for a probe on a small encoder, with changes."""
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path / "cache"))
    write_items(tmp_path / "train.jsonl", pairs(0, 40))
    write_items(tmp_path / "dev.jsonl", pairs(40, 56))

    def get(*changes, make="bert"):
        return load_recipe(
            "probe",
            [
                f"model=hf:{folders(make)}",
                f"data.train.file={tmp_path / 'train.jsonl'}",
                f"data.parts.dev.file={tmp_path / 'dev.jsonl'}",
                "data.parts.dev.may_share=[group]",
                "schedule.epochs=20",
                "schedule.learning_rate=0.01",
                "probe.device=cpu",
                *changes,
            ],
        )

    return get


def test_what_was_trained_answers_as_its_score_on_dev_says(recipe, tmp_path):
    outcome = carry_out(recipe(), tmp_path / "probe")
    asked = model(f"probe:{tmp_path / 'probe'}", device="cpu").open()
    dev = pairs(40, 56)
    right = [
        answer.choice in item.gold for item, answer in zip(dev, asked.answer(dev), strict=True)
    ]
    assert outcome.best["relaxed_accuracy"] == np.mean(right)


def with_other_labels(items):
    """Every other item offers taller and shorter, as those of scales do."""
    words = {"larger": "taller", "smaller": "shorter"}
    found = []
    for number, item in enumerate(items):
        if number % 2:
            gold = tuple(words[label] for label in item.gold)
            item = replace(item, choices=tuple(words.values()), gold=gold)
        found.append(item)
    return found


def test_a_score_counts_only_the_labels_that_an_item_offers(recipe, tmp_path):
    write_items(tmp_path / "train.jsonl", with_other_labels(pairs(0, 40)))
    dev = with_other_labels(pairs(40, 56))
    write_items(tmp_path / "dev.jsonl", dev)
    outcome = carry_out(recipe("schedule.learning_rate=0.0001"), tmp_path / "probe")
    asked = model(f"probe:{tmp_path / 'probe'}", device="cpu").open()
    answers = asked.answer(dev)
    right = [answer.choice in item.gold for item, answer in zip(dev, answers, strict=True)]
    assert outcome.best["relaxed_accuracy"] == np.mean(right)


def test_scores_are_log_probabilities_of_the_choices(recipe, tmp_path):
    carry_out(recipe(), tmp_path / "probe")
    asked = model(f"probe:{tmp_path / 'probe'}", device="cpu").open()
    (answer,) = asked.answer(pairs(0, 1))
    assert np.exp(answer.scores).sum() == pytest.approx(1)
    turned = replace(pairs(0, 1)[0], choices=("smaller", "larger"))
    assert asked.answer([turned])[0].scores == pytest.approx(answer.scores[::-1])


def test_the_manifest_names_backbone_folder_and_digests(recipe, tmp_path, folders):
    carry_out(recipe(), tmp_path / "probe")
    about = model(f"probe:{tmp_path / 'probe'}", device="cpu").open().describe()
    assert about["backbone"] == f"hf:{folders('bert')}"
    assert about["revision"].startswith("content:")
    assert about["folder"] == str(tmp_path / "probe")
    assert len(about["weights_sha256"]) == 64
    assert (about["reading"], about["head"]) == ("first", "probe")
    assert about["training"]["kind"] == "probe"


def test_the_control_is_asked_by_an_option_and_answers_otherwise(recipe, tmp_path):
    carry_out(recipe(), tmp_path / "probe")
    probe = model(f"probe:{tmp_path / 'probe'}", device="cpu").open()
    control = model(f"probe:{tmp_path / 'probe'}", device="cpu", control=True).open()
    assert control.describe()["head"] == "control"
    items = pairs(0, 10)
    assert [a.scores for a in probe.answer(items)] != [a.scores for a in control.answer(items)]


def test_the_same_recipe_gives_the_same_weights(recipe, tmp_path):
    carry_out(recipe(), tmp_path / "one")
    carry_out(recipe("probe.features=off"), tmp_path / "two")
    one, two = (tmp_path / name / "model.safetensors" for name in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()


def test_another_seed_of_weights_gives_other_weights(recipe, tmp_path):
    carry_out(recipe(), tmp_path / "one")
    carry_out(recipe("seeds.weights=1"), tmp_path / "two")
    one, two = (tmp_path / name / "model.safetensors" for name in ("one", "two"))
    assert one.read_bytes() != two.read_bytes()


def test_the_folder_says_how_the_probe_came_about(recipe, tmp_path):
    carry_out(recipe(), tmp_path / "probe")
    lines = (tmp_path / "probe" / "metrics.jsonl").read_text().splitlines()
    assert len(lines) == 2 * 20
    assert json.loads(lines[1])["dev"].keys() == {"relaxed_accuracy", "control"}
    data = json.loads((tmp_path / "probe" / "data.json").read_text())
    assert data["dev"]["shared_with_train"]["with a group of train"] > 0
    card = (tmp_path / "probe" / "README.md").read_text()
    assert "The control is the same probe, trained on random labels" in card
    assert "-m probe:FOLDER" in card
    for part in ("dev", "test"):
        for what, count in data.get(part, {}).get("shared_with_train", {}).items():
            assert f"{count:,}" in card
            assert what in card
    assert "{'" not in card


@pytest.mark.parametrize("make", ["gpt2", "t5"])
def test_other_kinds_of_models_are_probed_by_the_same_recipe(make, recipe, tmp_path):
    carry_out(recipe(make=make), tmp_path / "probe")
    asked = model(f"probe:{tmp_path / 'probe'}", device="cpu").open()
    assert asked.answer(pairs(0, 1))[0].choice in ("larger", "smaller")


def test_items_with_labels_that_the_probe_does_not_know_are_refused(recipe, tmp_path):
    carry_out(recipe(), tmp_path / "probe")
    asked = model(f"probe:{tmp_path / 'probe'}", device="cpu").open()
    strange = replace(pairs(0, 1)[0], choices=("larger", "wider"))
    assert "'wider'" in asked.answer([strange])[0].error
    with pytest.raises(UsageError, match=r"larger, smaller, but the items offer larger, wider"):
        asked.prepare([strange], None)


def test_a_control_by_type_is_measured_by_its_own_labels(recipe, tmp_path):
    outcome = carry_out(recipe("probe.control_by=obj_a"), tmp_path / "probe")
    about = json.loads((tmp_path / "probe" / "probe.json").read_text())
    assert outcome.best["control"] == about["dev"]["control"]


def test_a_backbone_that_has_changed_is_refused(recipe, tmp_path, folders):
    carry_out(recipe(), tmp_path / "probe")
    about = tmp_path / "probe" / "probe.json"
    about.write_text(about.read_text().replace("content:", "content:0"))
    with pytest.raises(ModelError, match="has changed since"):
        model(f"probe:{tmp_path / 'probe'}", device="cpu").open()


def test_a_folder_without_a_probe_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"no probe.json"):
        model(f"probe:{tmp_path}").open()


def test_torn_weights_are_refused(recipe, tmp_path):
    carry_out(recipe(), tmp_path / "probe")
    file = tmp_path / "probe" / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(DataError, match="cannot be read"):
        model(f"probe:{tmp_path / 'probe'}").open()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("schedule.warmup=5", "does not follow the schedule's warmup"),
        ("schedule.optimizer=adamw", "plain Adam"),
        ("schedule.best=accuracy", "best epoch by relaxed_accuracy"),
        ("probe.wording=the", r"hold \{text\} exactly once"),
        ("probe.control_by=colour", "tag 'colour', which the item"),
        ("probe.reading=last", "no reading 'last'"),
        ("data.parts={}", "development part"),
    ],
)
def test_a_recipe_that_a_probe_cannot_follow_is_refused(change, words, recipe, tmp_path):
    with pytest.raises(UsageError, match=words):
        carry_out(recipe(change), tmp_path / "probe")


def test_a_part_with_other_labels_is_refused(recipe, tmp_path):
    other = [replace(item, choices=("larger", "smaller", "equal")) for item in pairs(40, 56)]
    write_items(tmp_path / "other.jsonl", other)
    with pytest.raises(UsageError, match="'equal', which no item of train has"):
        carry_out(recipe(f"data.parts.dev.file={tmp_path / 'other.jsonl'}"), tmp_path / "probe")


def test_a_killed_training_is_done_again_to_the_same_weights(recipe, tmp_path):
    carry_out(recipe(), tmp_path / "whole")
    folder = tmp_path / "stopped"
    carry_out(recipe(), folder)
    for name in ("training.json", "probe.json", "README.md"):  # as if it had been killed earlier
        (folder / name).unlink()
    (folder / "metrics.jsonl").write_text('{"step":4,"ep')
    carry_out(recipe(), folder)
    for name in ("model.safetensors", "probe.json", "metrics.jsonl", "training.json"):
        assert (folder / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name
