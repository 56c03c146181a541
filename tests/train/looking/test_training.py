"""ViLT, LXMERT and VisualBERT learn true and false as a plain loop with the paper's settings does."""

import os
from pathlib import Path

import pytest
import yaml

from gnomon.items.itemfiles import read_items
from gnomon.models.transformers.hf import hf
from gnomon.models.transformers.loading import quiet
from gnomon.train.checkpoints import read_metrics
from gnomon.train.folder import carry_out
from gnomon.train.recipes import load_recipe, recipe_of
from gnomon.train.visual import open_learner, read
from gnomon.train.visuallearner import LookLearner
from tests.train.killing import killed_at

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")

MAKES = ("vilt", "lxmert", "visualbert")
# table 7 of the paper: learning rate, batch, epochs, tokens
PAPER = {
    "vilt": (1e-5, 12, 30, 40),
    "lxmert": (1e-5, 32, 100, 32),
    "visualbert": (2e-6, 32, 100, 32),
}


def weights(folder):
    from safetensors.torch import load_file

    return load_file(Path(folder) / "model.safetensors")


def losses(folder):
    lines = read_metrics(folder / "metrics.jsonl")
    return [line.loss for line in lines if line.loss is not None]


def plain_inputs(make, studio, tokenizer, items):
    """What the library wants of some items, without anything of ours but the files."""
    import transformers
    from PIL import Image
    from safetensors.torch import load_file

    texts = [item.text for item in items]
    inputs = dict(tokenizer(texts, padding=True, return_tensors="pt"))
    if make == "vilt":
        processor = transformers.ViltImageProcessor(size={"shortest_edge": 32}, size_divisor=8)
        pictures = [Image.open(item.images[0].path).convert("RGB") for item in items]
        seen = processor(pictures, return_tensors="pt")
        return {**inputs, **{name: value[:, None] for name, value in seen.items()}}
    found = []
    for item in items:
        found.append(
            load_file(studio / "regions" / f"{Path(item.images[0].path).stem}.safetensors")
        )
    features = torch.stack([each["features"] for each in found])
    if make == "lxmert":
        boxes = torch.stack([each["boxes"] for each in found])
        return {**inputs, "visual_feats": features, "visual_pos": boxes}
    ones = torch.ones(features.shape[:2], dtype=torch.long)
    masks = {"visual_attention_mask": ones, "visual_token_type_ids": ones}
    return {**inputs, "visual_embeds": features, **masks}


def plain_loop(make, studio, steps):
    """The paper's loop in plain torch: AdamW with its defaults, cross-entropy, nothing else."""
    import transformers

    rate, size, _, _ = PAPER[make]
    items = list(read_items(studio / "items.jsonl"))
    torch.manual_seed(1)
    with quiet():
        tokenizer = transformers.AutoTokenizer.from_pretrained(studio / make)
        if make == "vilt":
            maker = transformers.ViltForImagesAndTextClassification
            model = maker.from_pretrained(studio / make, num_images=1, num_labels=2)
        elif make == "lxmert":
            model = transformers.LxmertForPreTraining.from_pretrained(studio / make)
        else:
            maker = transformers.VisualBertForVisualReasoning
            model = maker.from_pretrained(studio / make, num_labels=2)
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate)
    torch.manual_seed(1)
    found = []
    epoch = 0
    while len(found) < steps:
        order = np.random.default_rng([1, epoch]).permutation(len(items))
        epoch += 1
        for start in range(0, len(items), size):
            batch = [items[number] for number in order[start : start + size]]
            labels = torch.tensor([item.choices.index(item.gold[0]) for item in batch])
            outputs = model(**plain_inputs(make, studio, tokenizer, batch))
            logits = outputs.cross_relationship_score if make == "lxmert" else outputs.logits
            loss = torch.nn.functional.cross_entropy(logits, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            found.append(loss.item())
    return found[:steps]


def built_in(make, content, *changes):
    """The paper's recipe, with a small model and other items."""
    small = content(make)
    data = [f"data={yaml.safe_dump(small['data'], default_flow_style=True)}"]
    shown = [f"{name}={value}" for name, value in small["look"].items()]
    return load_recipe(f"vsr-{make}", [*data, f"model={small['model']}", *shown, *changes])


@pytest.mark.parametrize("make", MAKES)
def test_losses_of_fifty_steps_are_those_of_a_plain_loop(make, content, studio, tmp_path):
    recipe = built_in(make, content, "schedule.steps=50", "schedule.evaluate_every=20")
    carry_out(recipe, tmp_path / "trained")
    found = losses(tmp_path / "trained")
    assert len(found) == 50
    assert found == pytest.approx(plain_loop(make, studio, 50), abs=1e-6)
    assert max(found) - min(found) > 0.01


@pytest.mark.parametrize("make", MAKES)
def test_sixty_four_rendered_pairs_are_memorised(make, content, studio, tmp_path):
    dropout = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    schedule = {"epochs": 120, "batch": 16, "clip": 1, "evaluate_every": 20, "patience": 40}
    schedule |= {"decay": "linear", "learning_rate": 2e-3, "weight_decay": 0.0}
    recipe = content(make, {"config": dropout}, **schedule)
    outcome = carry_out(recipe_of(recipe), tmp_path / "trained")
    assert outcome.best["accuracy"] >= 0.95  # words alone get half

    shown = {} if make == "vilt" else {"regions": str(studio / "regions")}
    items = list(read_items(studio / "items.jsonl"))
    answers = hf(str(tmp_path / "trained"), **shown).answer(items)
    assert len(items) == 64
    right = sum(answer.choice == item.gold[0] for item, answer in zip(items, answers, strict=True))
    assert right / len(items) == outcome.best["accuracy"]


@pytest.mark.parametrize("make", MAKES)
def test_the_same_seed_gives_the_same_weights_and_another_does_not(make, content, tmp_path):
    recipe = content(make, steps=3)
    for name in ("one", "two"):
        carry_out(recipe_of(recipe), tmp_path / name)
    carry_out(recipe_of({**recipe, "seeds": {"order": 1, "weights": 2}}), tmp_path / "other")
    one, two, other = (weights(tmp_path / name) for name in ("one", "two", "other"))
    assert all(torch.equal(one[key], two[key]) for key in one)
    if make != "lxmert":  # whose head is not new
        assert not all(torch.equal(one[key], other[key]) for key in one)
    carry_out(recipe_of({**recipe, "seeds": {"order": 2, "weights": 1}}), tmp_path / "order")
    order = weights(tmp_path / "order")
    assert not all(torch.equal(one[key], order[key]) for key in one)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("make", MAKES)
def test_a_killed_training_goes_on_to_the_same_best_checkpoint(make, content, tmp_path):
    recipe = recipe_of(content(make, steps=10, evaluate_every=4, save_every=3))
    whole = carry_out(recipe, tmp_path / "whole")
    killed_at(8, LookLearner, recipe, tmp_path / "killed")
    assert (tmp_path / "killed" / "checkpoints").is_dir()
    assert not (tmp_path / "killed" / "model.safetensors").exists()

    assert carry_out(recipe, tmp_path / "killed") == whole
    one, two = weights(tmp_path / "killed"), weights(tmp_path / "whole")
    assert one.keys() == two.keys()
    assert all(torch.equal(one[key], two[key]) for key in one)
    assert losses(tmp_path / "killed") == losses(tmp_path / "whole")


@pytest.mark.parametrize("make", MAKES)
def test_the_built_in_recipes_have_the_settings_of_the_paper(make):
    recipe = load_recipe(f"vsr-{make}")
    schedule = recipe.schedule
    found = (schedule.learning_rate, schedule.batch, schedule.epochs, recipe.settings.length)
    assert found == PAPER[make]
    assert (schedule.optimizer, schedule.weight_decay, schedule.decay) == (
        "adamw",
        0.01,
        "constant",
    )
    assert (schedule.warmup, schedule.clip, schedule.evaluate_every) == (0, 0, 100)
    assert not recipe.settings.like_paper


@pytest.mark.parametrize("make", MAKES)
def test_batches_of_other_sizes_score_the_same(make, content):
    recipe = recipe_of(content(make))
    learner = open_learner(recipe, read(recipe))
    learner.module.eval()
    items = learner.items.train[:6]
    with torch.no_grad():
        together = learner._logits(items)
        alone = torch.cat([learner._logits([item]) for item in items])
    assert torch.allclose(together, alone, atol=1e-5)
    assert together.std(0).max() > 1e-4
