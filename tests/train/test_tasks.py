"""Finetuning small models made on disk: they learn, are saved, and are asked as they were scored."""

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
import yaml

torch = pytest.importorskip("torch")

from gnomon.errors import DataError, ModelError, RunError, UsageError
from gnomon.items.writing import write_items
from gnomon.models.transformers.hf import hf
from gnomon.train.folder import carry_out, finished
from gnomon.train.recipes import Seeds, kind, recipe_of

LEARNING = {"epochs": 25, "batch": 12, "learning_rate": 4e-3, "warmup": 0.1}


def recipe(model: Path, items: Path, kind: str, settings: dict | None = None, **schedule: object):
    content = {
        "kind": kind,
        "model": str(model),
        "data": {
            "train": {"file": str(items)},
            "parts": {"dev": {"by": "item", "count": 2}, "test": {"by": "item", "count": 2}},
        },
        kind: {"device": "cpu", **(settings or {})},
        "schedule": {**LEARNING, **schedule},
    }
    return recipe_of(content, name="made")


def accuracy(folder: Path, items) -> float:
    answers = hf(str(folder), device="cpu").answer(items)
    right = [answer.choice in item.gold for item, answer in zip(items, answers, strict=True)]
    return sum(right) / len(right)


TASKS = {
    "a head for pairs": ("encoder", "classify", {}),
    "a masked model": ("masked", "text", {}),
    "a decoder": ("causal", "text", {}),
    "an encoder-decoder": ("seq2seq", "text", {}),
}


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.filterwarnings("ignore:.*obvious pairs")
def test_a_small_model_learns_and_is_asked_as_it_was_scored(
    small_model, items_file, tmp_path, task
):
    make, name, settings = TASKS[task]
    wanted = recipe(small_model(make), items_file, name, settings)
    outcome = carry_out(wanted, tmp_path / "trained")
    assert outcome.best["accuracy"] >= 0.8, "a third would be chance"
    items = kind(name).read(wanted).content
    for part, scores in {"dev": outcome.best, **outcome.tests}.items():
        assert accuracy(tmp_path / "trained", items.parts[part]) == scores["accuracy"]


def test_frozen_layers_stay_as_they_are_and_the_others_learn(small_model, items_file, tmp_path):
    from safetensors.torch import load_file

    folder = tmp_path / "trained"
    wanted = recipe(small_model("encoder"), items_file, "classify", {"freeze": 1}, epochs=1)
    carry_out(wanted, folder)
    before = load_file(small_model("encoder") / "model.safetensors")
    after = load_file(folder / "model.safetensors")
    changed = {name for name in before if not torch.equal(before[name], after[f"bert.{name}"])}
    assert "encoder.layer.1.attention.self.query.weight" in changed
    assert not [name for name in changed if name.startswith(("embeddings", "encoder.layer.0"))]


def test_the_loss_of_a_writer_is_the_likelihood_that_it_is_asked_for(small_model, items_file):
    from gnomon.train.text import Lesson

    for make in ("causal", "seq2seq"):
        wanted = recipe(small_model(make), items_file, "text")
        material = kind("text").read(wanted)
        learner = kind("text").open_learner(wanted, material)
        learner.module.eval()
        items = material.content.train[:6]
        answers = hf(str(small_model(make)), device="cpu").answer(items)
        for item, answer in zip(items, answers, strict=True):
            place = item.choices.index(item.gold[0])
            word = learner.prompt.answers(item)[place][0]
            with torch.no_grad():
                loss = learner.loss([Lesson(item, word)]).item()
            assert -loss == pytest.approx(answer.scores[place], abs=1e-4)


def test_the_losses_of_a_batch_are_those_of_its_items(small_model, items_file):
    for make, name in (("encoder", "classify"), ("masked", "text"), ("causal", "text")):
        wanted = recipe(small_model(make), items_file, name)
        learner = kind(name).open_learner(wanted, kind(name).read(wanted))
        learner.module.eval()
        batch = next(iter(learner.batches(0)))
        with torch.no_grad():
            alone = [learner.loss([each]).item() for each in batch]
            together = learner.loss(batch).item()
        assert together == pytest.approx(sum(alone) / len(alone), abs=1e-5)


@pytest.mark.filterwarnings("ignore:.*obvious pairs")
def test_matrices_of_lora_are_merged_so_that_the_folder_loads(small_model, items_file, tmp_path):
    pytest.importorskip("peft")
    for make, name in (("encoder", "classify"), ("causal", "text")):
        wanted = recipe(small_model(make), items_file, name, {"lora": {"rank": 4}}, epochs=2)
        outcome = carry_out(wanted, tmp_path / make)
        assert 0 < outcome.trained_parameters < outcome.parameters / 2
        items = kind(name).read(wanted).content.parts["test"]
        assert accuracy(tmp_path / make, items) == outcome.tests["test"]["accuracy"]


def test_where_several_labels_are_right_any_of_them_will_do(small_model, make_pairs, tmp_path):
    items = [msgspec.structs.replace(item, gold=item.choices[:2]) for item in make_pairs()]
    write_items(tmp_path / "items.jsonl", items)
    wanted = recipe(small_model("encoder"), tmp_path / "items.jsonl", "classify")
    learner = kind("classify").open_learner(wanted, kind("classify").read(wanted))
    learner.module.eval()
    with torch.no_grad():
        loss = learner.loss(items[:4]).item()
        inputs, _ = learner.inputs(items[:4])
        chances = learner.module(**inputs).logits.softmax(-1)[:, :2].sum(-1)
    assert loss == pytest.approx(-chances.log().mean().item(), abs=1e-6)
    drawn = kind("text").open_learner(
        recipe(small_model("causal"), tmp_path / "items.jsonl", "text"),
        kind("text").read(recipe(small_model("causal"), tmp_path / "items.jsonl", "text")),
    )
    words = {
        lesson.word for epoch in range(3) for batch in drawn.batches(epoch) for lesson in batch
    }
    assert len(words) == 2


def test_the_folder_holds_weights_recipe_digests_metrics_and_a_card(
    small_model, items_file, tmp_path
):
    wanted = recipe(small_model("encoder"), items_file, "classify", epochs=2)
    folder = tmp_path / "trained"
    outcome = carry_out(wanted, folder)
    assert {file.name for file in folder.iterdir()} == {
        "README.md",
        "config.json",
        "data.json",
        "metrics.jsonl",
        "model.safetensors",
        "recipe.yaml",
        "tokenizer.json",
        "tokenizer_config.json",
        "training.json",
    }
    assert recipe_of(yaml.safe_load((folder / "recipe.yaml").read_text()), name="made") == wanted
    assert finished(folder) == outcome
    card = (folder / "README.md").read_text()
    assert "took 6 steps, 2 epochs" in card
    assert "items 36" in card
    assert "| test |" in card


def test_the_same_command_again_says_what_came_of_it(small_model, items_file, tmp_path):
    wanted = recipe(small_model("encoder"), items_file, "classify", epochs=1)
    outcome = carry_out(wanted, tmp_path / "trained")
    before = (tmp_path / "trained" / "model.safetensors").stat().st_mtime_ns
    assert carry_out(wanted, tmp_path / "trained") == outcome
    assert (tmp_path / "trained" / "model.safetensors").stat().st_mtime_ns == before


def test_a_folder_of_another_recipe_is_refused_with_what_differs(small_model, items_file, tmp_path):
    folder = tmp_path / "trained"
    carry_out(recipe(small_model("encoder"), items_file, "classify", epochs=1), folder)
    other = recipe(small_model("encoder"), items_file, "classify", epochs=2)
    with pytest.raises(RunError, match=r"schedule\.epochs was 1 and is 2"):
        carry_out(other, folder)


def test_data_that_changed_are_refused(small_model, items_file, make_pairs, tmp_path):
    wanted = recipe(small_model("encoder"), items_file, "classify", epochs=1)
    carry_out(wanted, tmp_path / "trained")
    write_items(items_file, make_pairs(seed=5))
    with pytest.raises(RunError, match="data have changed"):
        carry_out(wanted, tmp_path / "trained")


def test_a_folder_with_something_else_in_it_is_left_alone(small_model, items_file, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("precious")
    with pytest.raises(RunError, match=r"holds something else: thesis\.txt"):
        carry_out(recipe(small_model("encoder"), items_file, "classify"), tmp_path / "full")


def test_two_processes_do_not_train_in_one_folder(small_model, items_file, tmp_path):
    from filelock import FileLock

    (tmp_path / "trained").mkdir()
    with (
        FileLock(tmp_path / "trained" / ".lock"),
        pytest.raises(RunError, match="by another process"),
    ):
        carry_out(recipe(small_model("encoder"), items_file, "classify"), tmp_path / "trained")


@pytest.mark.filterwarnings("ignore:.*obvious pairs")
def test_a_run_of_a_trained_model_names_its_training(small_model, items_file, tmp_path):
    wanted = recipe(small_model("encoder"), items_file, "classify", epochs=2)
    outcome = carry_out(wanted, tmp_path / "trained")
    about = hf(str(tmp_path / "trained"), device="cpu").describe()
    assert about["train_items"] == 36
    training = about["training"]
    assert training["recipe"]["schedule"]["epochs"] == 2
    assert training["best"] == outcome.best
    assert [step for step, _ in training["losses"]] == [1, 2, 3, 4, 5, 6]
    assert [step for step, _ in training["dev"]] == [3, 6]
    assert training["data_sha256"].keys() == {"train", "dev", "test"}
    msgspec.json.encode(about)  # as the manifest does
    assert "training" not in hf(str(small_model("causal")), device="cpu").describe()


def test_a_training_that_is_not_finished_is_not_asked(tmp_path):
    (tmp_path / "begun" / "checkpoints").mkdir(parents=True)
    (tmp_path / "begun" / "recipe.yaml").write_text("kind: classify\n")
    with pytest.raises(ModelError, match=r"not finished.*\n.*again"):
        hf(str(tmp_path / "begun"), device="cpu")


def test_a_label_that_is_not_in_the_set_is_named_before_anything_loads(items_file):
    wanted = recipe(Path("no/such/model"), items_file, "classify", {"labels": ["entailment", "no"]})
    with pytest.raises(
        DataError, match=r"label '(neutral|contradiction)', which is not in the set"
    ):
        kind("classify").read(wanted)


def test_items_of_another_form_are_refused_by_a_head_for_pairs(make_pairs, tmp_path):
    cloze = [msgspec.structs.replace(item, form="choice") for item in make_pairs()]
    write_items(tmp_path / "items.jsonl", cloze)
    with pytest.raises(UsageError, match="is a choice"):
        kind("classify").read(recipe(Path("x"), tmp_path / "items.jsonl", "classify"))


def test_an_encoder_without_a_head_cannot_learn_to_write(small_model, items_file, tmp_path):
    with pytest.raises(UsageError, match="BertModel"):
        carry_out(recipe(small_model("encoder"), items_file, "text"), tmp_path / "trained")


def test_a_recipe_without_a_model_says_so(items_file, tmp_path):
    wanted = recipe(Path(), items_file, "classify")
    with pytest.raises(UsageError, match="which model to begin with"):
        carry_out(replace(wanted, model=""), tmp_path / "trained")


def test_seeds_of_weights_choose_the_new_head_and_seeds_of_data_the_items(
    small_model, items_file, tmp_path
):
    wanted = recipe(small_model("encoder"), items_file, "classify")
    heads, drawn = {}, {}
    for data in (0, 1):
        for weights in (0, 1):
            each = replace(wanted, seeds=Seeds(data=data, weights=weights))
            material = kind("classify").read(each)
            learner = kind("classify").open_learner(each, material)
            heads[data, weights] = learner.module.classifier.weight.detach().clone()
            drawn[data, weights] = material.digests["train"]["sha256"]
    assert torch.equal(heads[0, 0], heads[1, 0])
    assert not torch.equal(heads[0, 0], heads[0, 1])
    assert drawn[0, 0] == drawn[0, 1] != drawn[1, 0]


@pytest.mark.filterwarnings("ignore:.*obvious pairs")
def test_a_head_for_the_same_labels_keeps_the_order_of_its_classes(
    reversed_nli, items_file, tmp_path
):
    wanted = recipe(reversed_nli, items_file, "classify", epochs=0, best="last")
    carry_out(wanted, tmp_path / "trained")
    items = kind("classify").read(wanted).content.train
    answers = hf(str(tmp_path / "trained"), device="cpu").answer(items)
    assert {answer.choice for answer in answers} == {"contradiction"}


UNMEASURED = {
    "a typo": ("classify", "acuracy", {}, r"'acuracy'.*\n.*accuracy, loss, last"),
    "a loss that is not scored": ("text", "loss", {}, r"'loss'.*\n.*accuracy, last"),
    "no part to choose on": ("classify", "loss", {"parts": {}}, r"on the part dev.*\n.*best: last"),
}


@pytest.mark.parametrize("case", UNMEASURED)
def test_a_measure_that_cannot_choose_is_refused_before_anything_loads(items_file, tmp_path, case):
    name, best, data, said = UNMEASURED[case]
    wanted = recipe(Path("no/such/model"), items_file, name, best=best)
    wanted = replace(wanted, data=msgspec.structs.replace(wanted.data, **data))
    with pytest.raises(UsageError, match=said):
        carry_out(wanted, tmp_path / "trained")
    assert not (tmp_path / "trained").exists()


@pytest.fixture
def chatting(small_model, tmp_path):
    """A decoder with a chat template."""
    import shutil

    folder = tmp_path / "chatting"
    shutil.copytree(small_model("causal"), folder)
    turns = "{% for m in messages %}{{ m.role }} : {{ m.content }} {% endfor %}"
    start = "{% if add_generation_prompt %}assistant : {% endif %}"
    (folder / "chat_template.jinja").write_text(turns + start)
    return folder


@pytest.mark.parametrize("chat", [None, False])
def test_a_model_that_converses_is_taught_as_it_is_asked(chatting, items_file, chat):
    from gnomon.train.text import Lesson

    wanted = recipe(chatting, items_file, "text", {"chat": chat})
    material = kind("text").read(wanted)
    learner = kind("text").open_learner(wanted, material)
    learner.module.eval()
    asked = hf(str(chatting), device="cpu", chat=chat)
    assert asked.describe()["chat"] is (chat is None)
    items = material.content.train[:3]
    for item, answer in zip(items, asked.answer(items), strict=True):
        place = item.choices.index(item.gold[0])
        word = learner.prompt.answers(item)[place][0]
        with torch.no_grad():
            loss = learner.loss([Lesson(item, word)]).item()
        assert -loss == pytest.approx(answer.scores[place], abs=1e-4)


def test_the_card_says_how_a_model_taught_otherwise_is_asked(chatting, items_file, tmp_path):
    wanted = recipe(chatting, items_file, "text", {"chat": False, "wording": 1}, epochs=0)
    carry_out(wanted, tmp_path / "trained")
    card = (tmp_path / "trained" / "README.md").read_text()
    assert "`gnomon run BENCHMARK -m hf:FOLDER --set chat=false`" in card


def test_a_conversation_with_a_model_that_has_no_template_is_refused(small_model, items_file):
    wanted = recipe(small_model("causal"), items_file, "text", {"chat": True})
    with pytest.raises(UsageError, match="has no chat template"):
        kind("text").open_learner(wanted, kind("text").read(wanted))


@pytest.fixture
def decoder(make_tokenizer, tmp_path):
    """A decoder that names no token to fill up rows, and reads 32 tokens."""
    import transformers
    from tokenizers.processors import TemplateProcessing

    tokenizer = make_tokenizer()
    plain = TemplateProcessing(single="$A", pair="$A $B:1", special_tokens=[])
    tokenizer.backend_tokenizer.post_processor = plain
    tokenizer.pad_token = None
    sizes = {"n_embd": 16, "n_layer": 1, "n_head": 2, "n_positions": 32}
    config = transformers.GPT2Config(vocab_size=len(tokenizer), eos_token_id=3, **sizes)
    transformers.GPT2LMHeadModel(config).save_pretrained(tmp_path / "decoder")
    tokenizer.save_pretrained(tmp_path / "decoder")
    return tmp_path / "decoder"


@pytest.mark.filterwarnings("ignore:.*obvious pairs")
def test_a_decoder_without_a_token_for_padding_learns_pairs(decoder, items_file, tmp_path):
    wanted = recipe(decoder, items_file, "classify", epochs=1)
    outcome = carry_out(wanted, tmp_path / "trained")
    items = kind("classify").read(wanted).content.parts["test"]
    assert accuracy(tmp_path / "trained", items) == outcome.tests["test"]["accuracy"]


def test_a_pair_longer_than_the_model_reads_is_cut(small_model, make_pairs, tmp_path):
    long = [msgspec.structs.replace(item, context="ann is in " * 50) for item in make_pairs()]
    write_items(tmp_path / "items.jsonl", long)
    wanted = recipe(small_model("encoder"), tmp_path / "items.jsonl", "classify")
    learner = kind("classify").open_learner(wanted, kind("classify").read(wanted))
    inputs, _ = learner.inputs(long[:2])
    assert inputs["input_ids"].shape == (2, 64)
    assert learner.loss(long[:2]) > 0


def test_an_item_too_long_for_a_writer_is_refused(decoder, make_pairs, tmp_path):
    long = [msgspec.structs.replace(item, context="ann is in " * 50) for item in make_pairs()]
    write_items(tmp_path / "items.jsonl", long)
    wanted = recipe(decoder, tmp_path / "items.jsonl", "text")
    learner = kind("text").open_learner(wanted, kind("text").read(wanted))
    batch = next(iter(learner.batches(0)))
    with pytest.raises(DataError, match=r"reads at most 32.*\n.*shots"):
        learner.loss(batch)
