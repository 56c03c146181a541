"""gnomon train: what it prints, and what it says when something is wrong."""

import json
from pathlib import Path

import pytest
import yaml

from gnomon.cli import main
from gnomon.cli.dispatch import command_parser
from gnomon.items.writing import write_items
from gnomon.records import Item
from gnomon.registry import command

LABELS = ("entailment", "neutral", "contradiction")
WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "is", "in", "near", "not", "the", "house", "ann", ".")


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    """A recipe with a small model beside it."""
    items = []
    for number in range(18):
        label = LABELS[number % 3]
        word = ("in", "near", "not in")[number % 3]
        items.append(
            Item(
                id=str(number),
                form="entailment",
                context=f"ann is in the house {number}.",
                text=f"ann is {word} the house.",
                choices=LABELS,
                gold=(label,),
                group=label,
            )
        )
    write_items(tmp_path / "items.jsonl", items)
    content = {
        "kind": "classify",
        "model": "small",
        "data": {"train": {"file": "items.jsonl"}, "parts": {"dev": {"by": "item", "count": 2}}},
        "schedule": {"epochs": 2, "batch": 6},
        "classify": {"device": "cpu"},
    }
    file = tmp_path / "recipe.yaml"
    file.write_text(yaml.safe_dump(content))
    return file


@pytest.fixture
def small_model(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers

    from gnomon.models.transformers.loading import quiet

    words = Tokenizer(models.WordLevel(dict(zip(WORDS, range(len(WORDS)), strict=True)), "[UNK]"))
    words.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(WORDS),
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
    )
    with quiet():
        transformers.BertModel(config).save_pretrained(tmp_path / "small")
        transformers.PreTrainedTokenizerFast(
            tokenizer_object=words, pad_token="[PAD]", unk_token="[UNK]"
        ).save_pretrained(tmp_path / "small")


def test_a_training_prints_its_scores_and_how_to_ask(recipe, small_model, capsys):
    assert main(["train", str(recipe), "-o", "trained", "--format", "json"]) == 0
    out, told = capsys.readouterr()
    (row,) = [row for row in json.loads(out) if row["measure"] == "accuracy"]
    assert row["part"] == "dev"
    assert 0 <= row["value"] <= 1
    assert "ask it with -m hf:trained" in told
    assert "step 4/4" in told
    assert main(["train", str(recipe), "-o", "trained", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


def test_a_check_reads_the_data_and_trains_nothing(recipe, capsys):
    assert main(["train", str(recipe), "--check", "--format", "csv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("part,items,groups")
    assert lines[1].startswith("train,12,3")
    assert lines[2].startswith("dev,6,3")
    assert not (recipe.parent / "trained").exists()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ([], "no folder for the trained model"),
        (["-o", "trained", "--set", "schedule.epoch=3"], "did you mean epochs"),
        (["-o", "trained", "--set", "classify.labels=[a, b]"], "which is not in the set"),
        (["-o", "trained", "--set", "classify.labels=[yes, no]"], "in quotes"),
        (["-o", "items.jsonl"], "this is a file"),
        (["-o", "trained", "--set", "model=nowhere/at-all/"], "there is no such folder"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(recipe, capsys, more, said):
    if "model=nowhere/at-all/" in more:
        pytest.importorskip("torch")
    assert main(["train", str(recipe), *more]) in (1, 2)
    told = capsys.readouterr().err
    assert said in told
    assert "Traceback" not in told


def test_its_help_shows_how():
    text = command_parser("train", command("train")).format_help()
    assert "gnomon train recipe.yaml -o trained" in text
    assert "--check" in text
