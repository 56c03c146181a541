"""A small BERT learns from captions: below the unigram model, the same again, and after a kill."""

import os
from math import exp, log
from pathlib import Path

import numpy as np
import pytest

from gnomon.errors import DamagedDataWarning, DataError, UsageError
from gnomon.train.captions.kind import open_learner, read
from gnomon.train.captions.learner import CaptionLearner, Unigrams
from gnomon.train.folder import carry_out
from gnomon.train.recipes import load_recipe, recipe_of
from tests.train.killing import killed_at

torch = pytest.importorskip("torch")


def weights(folder):
    from safetensors.torch import load_file

    return load_file(Path(folder) / "model.safetensors")


def same(one, two):
    assert one.keys() == two.keys()
    assert len(one) > 10
    return all(torch.equal(one[name], two[name]) for name in one)


def changed(content, **sections):
    return {**content, **{name: {**content[name], **more} for name, more in sections.items()}}


def test_context_tells_more_than_word_counts(content, tmp_path):
    longer = changed(content, schedule={"epochs": 15, "decay": "constant"})
    outcome = carry_out(recipe_of(longer), tmp_path / "trained")
    tested = outcome.tests["captions held out"]
    assert tested["perplexity"] < 0.5 * tested["unigram_perplexity"]
    assert outcome.best["perplexity"] < 0.5 * outcome.best["unigram_perplexity"]
    card = (tmp_path / "trained" / "README.md").read_text()
    assert f"a perplexity of {tested['perplexity']:.2f}" in card
    assert f"(a unigram model) come to {tested['unigram_perplexity']:.2f}" in card


def test_a_trained_folder_is_asked_like_any_other_masked_model(content, tmp_path):
    import warnings

    from gnomon.models.transformers.hf import hf
    from gnomon.records import Item

    carry_out(recipe_of(content), tmp_path / "trained")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = hf(str(tmp_path / "trained"))
        text = "The cat is [MASK] the table."
        item = Item(id="1", form="cloze", text=text, choices=("on", "under"), gold=("on",))
        (answer,) = model.answer([item])
    assert model.describe()["kind"] == "masked"
    assert answer.choice in item.choices


def test_the_unigram_model_is_that_of_counts_with_one_more_of_each():
    from types import SimpleNamespace

    trained = SimpleNamespace(tokens=np.array([0, 0, 0, 1]))
    held_out = SimpleNamespace(tokens=np.array([0, 1, 2]))
    wanted = -(log(4 / 7) + log(2 / 7) + log(1 / 7)) / 3
    assert Unigrams(trained, 3).perplexity(held_out) == pytest.approx(exp(wanted))


def test_perplexity_is_that_of_one_word_after_the_other(content, tmp_path):
    recipe = recipe_of(content)
    learner = open_learner(recipe, read(recipe))
    learner.module.eval()
    marks, captions = learner.marks, learner.corpus.test
    surprise, count = 0.0, 0
    for number in range(len(captions)):
        row = [*marks.first, *captions[number], *marks.last]
        hidden = list(range(len(marks.first), len(row) - len(marks.last)))
        groups = {}
        for nth, place in enumerate(hidden, start=1):
            groups.setdefault((nth + _row_in_page(captions, number)) % 7, []).append(place)
        for places in groups.values():
            shown = torch.tensor([row])
            shown[0, places] = marks.mask
            with torch.no_grad():
                found = learner.module(input_ids=shown).logits[0].log_softmax(-1)
            surprise -= sum(float(found[place, row[place]]) for place in places)
            count += len(places)
    with torch.no_grad():
        measured = learner.test()["captions held out"]["perplexity"]
    assert measured == pytest.approx(exp(surprise / count), rel=1e-4)


def _row_in_page(captions, number):
    order = np.argsort(captions.sizes, kind="stable").tolist()
    return order.index(number) % 64


def test_batches_are_the_same_for_the_same_seed_and_epoch(content):
    recipe = recipe_of(content)
    one, two = (open_learner(recipe, read(recipe)) for _ in range(2))
    for first, second in zip(one.batches(3), two.batches(3), strict=True):
        assert first.rows.tolist() == second.rows.tolist()
    rows = np.concatenate([batch.rows for batch in one.batches(3)])
    assert sorted(rows.tolist()) == list(range(len(one.corpus.training)))
    assert rows.tolist() != np.concatenate([batch.rows for batch in one.batches(4)]).tolist()


@pytest.mark.parametrize("layout", ["padded", "packed"])
def test_what_is_hidden_changes_from_epoch_to_epoch(content, layout):
    recipe = recipe_of(changed(content, captions={"layout": layout, "length": 32}))
    learner = open_learner(recipe, read(recipe))
    learner.module.eval()
    first = next(iter(learner.batches(0)))
    again = first._replace(epoch=1)
    with torch.no_grad():
        assert float(learner.loss(first)) == float(learner.loss(first))
        assert float(learner.loss(first)) != float(learner.loss(again))


def test_packing_takes_fewer_rows(content):
    padded = recipe_of(content)
    packed = recipe_of(changed(content, captions={"layout": "packed", "length": 32}))
    rows = [open_learner(recipe, read(recipe)).rows.total for recipe in (padded, packed)]
    assert rows[1] < rows[0] / 2


def test_a_checkpoint_goes_on_learning_with_its_own_tokenizer(content, tmp_path):
    first = carry_out(recipe_of(content), tmp_path / "first")
    further = recipe_of({**content, "model": str(tmp_path / "first"), "captions": {"length": 16}})
    learner = open_learner(further, read(further))
    learner.module.eval()
    with torch.no_grad():
        assert learner.score() == pytest.approx(first.best)


def test_seeds_of_weights_and_order_are_apart(content, tmp_path):
    made = {}
    for name, seeds in {"a": {}, "b": {"order": 1}, "c": {"weights": 1}}.items():
        recipe = recipe_of({**content, "seeds": seeds})
        learner = open_learner(recipe, read(recipe))
        order = [batch.rows.tolist() for batch in learner.batches(0)]
        made[name] = order, learner.module.get_input_embeddings().weight[5].tolist()
    assert made["a"][0] != made["b"][0]
    assert made["a"][1] == made["b"][1]
    assert made["a"][0] == made["c"][0]
    assert made["a"][1] != made["c"][1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("layout", ["padded", "packed"])
def test_a_killed_training_goes_on_to_the_same_weights(layout, content, tmp_path):
    recipe = recipe_of(
        changed(content, captions={"layout": layout}, schedule={"save_every": 4, "batch": 8})
    )
    whole = carry_out(recipe, tmp_path / "whole")
    killed_at(9, CaptionLearner, recipe, tmp_path / "killed")
    assert not (tmp_path / "killed" / "model.safetensors").exists()

    assert carry_out(recipe, tmp_path / "killed") == whole
    assert same(weights(tmp_path / "whole"), weights(tmp_path / "killed"))
    logs = [(tmp_path / name / "metrics.jsonl").read_text() for name in ("whole", "killed")]
    assert logs[0] == logs[1]


def test_a_recipe_without_captions_or_model_is_refused(content, tmp_path):
    with pytest.raises(UsageError, match="no file of captions"):
        read(recipe_of({**content, "data": {}}))
    with pytest.raises(UsageError, match="no config of a new one"):
        read(recipe_of({**content, "captions": {}}))
    with pytest.raises(DataError, match="no such file"):
        read(recipe_of({**content, "data": {"files": "gone.jsonl"}}))


def test_a_config_that_makes_no_model_is_refused(content):
    wrong = recipe_of(changed(content, captions={"config": {"model_type": "bret"}}))
    with pytest.raises(UsageError, match="cannot be made"):
        open_learner(wrong, read(wrong))


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("hiden_size", 32, r"'hiden_size'.*\n.*hidden_size"),
        ("hidden_size", "big", "cannot be made.*hidden_size"),
        ("num_attention_heads", 0, "cannot be made"),
        ("max_position_embeddings", "many", "max_position_embeddings"),
        ("hidden_act", "gleu", "cannot be made.*gleu"),
    ],
)
def test_a_field_of_the_config_that_is_wrong_is_refused(content, field, value, said):
    config = {**content["captions"]["config"], field: value}
    wrong = recipe_of(changed(content, captions={**content["captions"], "config": config}))
    with pytest.raises(UsageError, match=said):
        open_learner(wrong, read(wrong))


def test_a_perplexity_beyond_all_numbers_is_a_large_number(content):
    recipe = recipe_of(content)
    learner = open_learner(recipe, read(recipe))
    with torch.no_grad():
        for weights in learner.module.parameters():
            weights.mul_(1e6)
        learner.module.eval()
        found = learner.score()["perplexity"]
    assert 1e300 < found < float("inf")


def test_rows_longer_than_the_model_reads_are_refused(content):
    long = recipe_of(changed(content, captions={"length": 64}))
    with pytest.raises(UsageError, match="at most 32"):
        open_learner(long, read(long))


def test_damaged_lines_are_told(content, file):
    with file.open("a") as stream:
        stream.write("\n{broken\n")
    with pytest.warns(DamagedDataWarning, match=f"{file.name}, line 145: "):
        read(recipe_of(content))


@pytest.mark.parametrize("name", ["capbert", "capbert-paper"])
def test_the_built_in_recipes_take_captions_by_a_short_name(name):
    recipe = load_recipe(name, ["captions=some.jsonl", "captions.length=24"])
    assert recipe.data.files == "some.jsonl"
    assert recipe.settings.length == 24
    assert recipe.settings.config["model_type"] == "bert"


def test_the_paper_s_settings():
    recipe = load_recipe("capbert-paper")
    schedule = recipe.schedule
    assert (schedule.optimizer, schedule.learning_rate, schedule.epochs) == ("adam", 1e-5, 20)
    assert (schedule.batch, recipe.settings.length, recipe.settings.masked) == (128, 32, 0.15)
    assert not recipe.settings.special_tokens
