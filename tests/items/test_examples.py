"""`--shots N` with any prompt, from the benchmark or from a file; and prompts without a model."""

from __future__ import annotations

import msgspec
import pytest

import gnomon
from gnomon.errors import UsageError
from gnomon.items.examples import DrawnExamples, in_words, shared_units, with_examples
from gnomon.items.source import load
from gnomon.models.prompts.library import load_prompt
from gnomon.registry import model


def drawn_by(spec):
    return msgspec.json.decode(spec.options["examples"], type=DrawnExamples)


def test_a_fresh_source_draws_with_another_seed_and_loses_no_item():
    source = load("scales")
    spec = with_examples(source, model("smollm2", shots=3))
    drawn = drawn_by(spec)
    assert drawn.source == "scales@fresh, seed 1000003"
    asked = list(source.items())
    assert asked
    for item in asked:
        for example in drawn.examples(item.form, drawn.set_for(item)):
            units = shared_units(example, source.benchmark.hold_out)
            assert not units & shared_units(item, source.benchmark.hold_out)
    assert "3 worked examples from scales@fresh, seed 1000003" in in_words(spec)


def test_a_limit_does_not_change_the_examples():
    few = with_examples(load("posrel").limited(10), model("smollm2", shots=2))
    all = with_examples(load("posrel"), model("smollm2", shots=2))
    assert few.options == all.options


def test_a_prompt_with_enough_examples_keeps_its_own():
    source = load("scales")
    own = with_examples(source, model("smollm2", prompt="fewshot", shots=2))
    assert "examples" not in own.options
    more = with_examples(source, model("smollm2", prompt="fewshot", shots=5))
    assert all(len(examples) >= 5 for examples in drawn_by(more).sets)


def test_a_model_without_shots_is_left_alone():
    assert with_examples(load("scales"), model("random")) == model("random")
    assert with_examples(load("scales"), model("smollm2")) == model("smollm2")


def test_fewer_examples_than_none_are_refused():
    with pytest.raises(UsageError, match="--shots must be 0 or more, not -1"):
        with_examples(load("scales"), model("smollm2", shots=-1))


def test_items_with_pictures_have_no_examples_in_words():
    with pytest.raises(UsageError, match="have pictures"):
        with_examples(load("vsr@fresh"), model("smollm2", shots=1))


def test_examples_may_come_from_a_file(tmp_path):
    from gnomon.items.writing import write_items

    file = tmp_path / "mine.jsonl"
    write_items(file, load("scales", seed=5).limited(40).items())
    spec = with_examples(load("scales"), model("smollm2", shots=2), file)
    assert drawn_by(spec).source == "mine.jsonl"
    with pytest.raises(UsageError, match="does not say how many"):
        with_examples(load("scales"), model("smollm2"), file)


def test_a_prompt_with_drawn_examples_shows_them_in_text_and_chat():
    source = load("scales", form="choice")
    spec = with_examples(source, model("smollm2", shots=2))
    prompt = load_prompt("plain").with_shots(2, spec.options["examples"])
    item = next(source.items())
    examples = drawn_by(spec).examples("choice", prompt.shown_to(item))
    before = prompt.context(item)
    for example in examples:
        assert f"Question: {example.text}\nAnswer: {example.gold[0]}\n\n" in before
    assert before.endswith(f"Question: {item.text}\nAnswer:")
    turns = load_prompt("chat").with_shots(2, spec.options["examples"]).chat(item)
    roles = [turn["role"] for turn in turns]
    assert roles == ["system", "user", "assistant", "user", "assistant", "user"]
    assert prompt.describe()["shots"] == 2
    assert prompt.describe()["drawn"]["source"] == "scales@fresh, seed 1000003"


def test_the_hash_of_a_prompt_without_drawn_examples_is_as_before():
    assert load_prompt("plain").describe()["hash"] == "f16d8ac1752bf0fb"


class Echo:
    """A model that says how it would ask, and remembers what it was asked."""

    spec = "echo"
    scale = "none"

    def __init__(self, prompt):
        self.prompt = prompt
        self.read = {}

    def describe(self):
        return {"prompt": self.prompt.describe()}

    def asking(self):
        from gnomon.models.prompts.preview import PromptFormat

        return PromptFormat(way="score", prompt=self.prompt, opening="<s>", special=("<s>",))

    def answer(self, items):
        from gnomon.records import Answer

        for item in items:
            self.read[item.id] = "<s>" + self.prompt.context(item)
        return [Answer(item=item.id, choice=item.choices[0], tokens_read=3) for item in items]


def test_the_prompt_of_an_item_is_told_from_the_manifest_alone(tmp_path):
    from gnomon.reports.prompts import prompt_of

    asked = Echo(load_prompt("fewshot", 2).with_shots(1))
    run = gnomon.run("scales", asked, limit=5, runs=tmp_path)
    assert run.manifest.usage.tokens_read == 15
    items = list(run.items())
    assert len(items) == 5
    for item in items:
        shown = prompt_of(run, item)
        assert shown.text == asked.read[item.id]
        assert shown.special == ("<s>",)


def test_a_run_of_before_has_no_prompt_to_show(tmp_path):
    from gnomon.reports.prompts import prompt_of

    run = gnomon.run("scales", Echo(load_prompt("plain")), limit=1, runs=tmp_path)
    (item,) = run.items()
    run.manifest.asking = {}
    assert prompt_of(run, item) is None
    run.manifest.asking = {"way": 5}
    assert prompt_of(run, item) is None


@pytest.mark.parametrize(
    "strange",
    [
        {"way": "telepathy"},
        {"forms": {"cloze": {"template": "{nonsense} {answer}"}}},
        {"forms": {"cloze": {"template": "{tag:nowhere} {answer}"}}},
        {"drawn": {"sets": []}},
        {"drawn": {"sets": [[]]}},
    ],
)
def test_a_strangers_manifest_has_no_prompt_rather_than_a_traceback(tmp_path, strange):
    from gnomon.reports.prompts import prompt_of

    run = gnomon.run("scales", Echo(load_prompt("plain")), limit=1, runs=tmp_path)
    (item,) = run.items()
    assert prompt_of(run, item) is not None
    way = strange.pop("way", "score")
    prompt = {**msgspec.to_builtins(load_prompt("plain")), **strange}
    run.manifest.asking = {"way": way, "prompt": prompt}
    assert prompt_of(run, item) is None
