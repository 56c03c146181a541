"""Classes that see, made small: each choice is that of a plain pass of the model's own processor.

`scripts/seeing.py` tries all classes and writes docs/seeing.md; here some of each way to be asked.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from gnomon.models.transformers.hf import hf

ROOT = Path(__file__).parents[4]
# PaliGemma's processor converts tensors in a way that numpy will not take for ever
pytestmark = [
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]
WHOLE = {
    "blip": "a caption model with a text of its own",
    "blip-2": "a processor that puts pictures where it likes",
    "florence2": "an encoder and a decoder",
    "git": "pictures that stand in no text",
    "instructblip": "a second reader of the question",
    "mllama": "pictures beside the text",
    "gemma4": "settings for each layer",
}
QUICK = ("gemma3", "glm4v", "qwen3_vl")


@pytest.fixture(scope="session")
def seeing_script():
    spec = importlib.util.spec_from_file_location("seeing", ROOT / "scripts" / "seeing.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", [*WHOLE, *QUICK])
def test_each_choice_is_that_of_a_plain_pass(seeing_script, name, tmp_path):
    row = seeing_script.tried(name, tmp_path)
    assert row.works, (row.why, row.worst)
    assert seeing_script.line(row) in seeing_script.PAGE.read_text().splitlines()


def test_the_page_has_every_class_of_transformers(seeing_script):
    page = seeing_script.PAGE.read_text()
    rows = re.findall(r"^\| ([\w.-]+) \| (\w+) \|", page, re.MULTILINE)
    assert dict(rows[1:]) == seeing_script.classes()
    assert page.count("| 1e-5 |") >= 34


def test_replies_by_plain_passes_are_those_of_the_models_own_generate(seeing_script, tmp_path):
    import transformers

    from gnomon.models.transformers.processors import load_processor
    from gnomon.vision.images import pixels

    folder = seeing_script.write("mllama", tmp_path)
    model = hf(str(folder), ask="generate", new_tokens=5, features="off")
    item = seeing_script.items_of(folder)[0]
    (answer,) = model.answer([item])
    own = transformers.MllamaForConditionalGeneration.from_pretrained(folder).eval()
    processor = load_processor(str(folder))
    given = {"images": [[pixels(item.images[0])]], "add_special_tokens": False}
    inputs = processor(text=[model._context(item)], return_tensors="pt", **given)
    made = own.generate(**inputs, max_new_tokens=5, do_sample=False)
    new = made[0, inputs["input_ids"].shape[1] :]
    assert answer.reply == processor.tokenizer.decode(new, skip_special_tokens=True).strip()


def test_a_picture_that_fails_and_a_question_without_one_are_told(seeing_script, tmp_path):
    from msgspec.structs import replace

    from gnomon.records import Image

    folder = seeing_script.write("git", tmp_path)
    model = hf(str(folder), features="off")
    good, other = seeing_script.items_of(folder)
    missing = replace(other, id="missing", images=(Image(path=str(tmp_path / "none.png")),))
    found, broken = model.answer([good, missing])
    assert found.error is None
    assert "none.png" in broken.error or "no such" in broken.error.lower()
    shown = model.preview(good)
    assert [each.choice for each in shown.scored] == ["true", "false"]
    assert "The cat is left of the box." in shown.text


def test_the_word_about_plain_passes_says_why(seeing_script, tmp_path):
    from gnomon.errors import ModelWarning

    folder = seeing_script.write("florence2", tmp_path)
    with pytest.warns(ModelWarning, match="one for each choice.*an encoder and writes with"):
        hf(str(folder), features="off")
