"""GGUF files: a tiny model made here is scored like a plain reference; what is no model is named."""

from __future__ import annotations

import math
import os

import pytest

from gnomon.errors import ModelError, UsageError
from gnomon.models.llamacpp.gguf import gguf
from gnomon.models.llamacpp.library import check_layout
from gnomon.models.llamacpp.llama import Llama, PathPlace
from gnomon.models.machine import available_cores
from gnomon.models.prompts.chat import chat_template, conversation
from gnomon.records import Item

pytest.importorskip("xllamacpp")
pytestmark = pytest.mark.usefixtures("own_cache")


@pytest.fixture
def model(tiny):
    opened = gguf(str(tiny), threads=1)
    yield opened
    opened.close()


@pytest.mark.parametrize(("share", "used"), [("1", 1), ("3", 3), ("99", 4), ("", 4), ("x", 4)])
def test_a_worker_uses_its_share_of_the_cores(share, used, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1, 2, 3}, raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", share)
    assert available_cores() == used


def cloze(text="ant is [MASK] than a bird.", choices=("larger", "smaller", "much larger"), n=1):
    return Item(id=str(n), form="cloze", text=text, choices=choices, gold=choices[:1])


def log_probabilities(file, tokens, wanted):
    """Of tokens after others, by a model that has nothing cached."""
    llama = Llama(file, context=1024, threads=1)
    (found,) = llama.log_probabilities(tokens, [PathPlace(len(tokens), tuple(wanted))])
    llama.close()
    return found


def reference(model, context, answer):
    """The log-probability of an answer after a context: a pass of its own for each token."""
    start = len(model.tokenize(context))
    whole = model.tokenize(context + answer)
    steps = [
        log_probabilities(model.file, whole[:n], whole[n : n + 1])[0]
        for n in range(start, len(whole))
    ]
    return sum(steps)


def test_scores_are_sums_of_log_probabilities_token_by_token(model):
    (answer,) = model.answer([cloze()])
    assert model.tokenize("ant is")[0] == 1, "the text begins as the model wants it"
    for choice, score in zip(("larger", "smaller", "much larger"), answer.scores, strict=True):
        assert score == pytest.approx(
            reference(model, "ant is", f" {choice} than a bird."), abs=1e-4
        )
    assert answer.choice == cloze().choices[answer.scores.index(max(answer.scores))]


def test_a_file_that_would_end_every_text_is_scored_as_any_other(model, tmp_path, write_model):
    ending = gguf(str(write_model(tmp_path / "ending.gguf", ends=True)), threads=1)
    assert ending.tokenize("ant is")[-1] != 2
    assert ending.answer([cloze()]) == model.answer([cloze()])
    ending.close()


@pytest.mark.parametrize("quantised", [False, True])
def test_its_parameters_are_counted_as_the_tensors_say(tmp_path, quantised, write_model, words):
    file = write_model(tmp_path / "model.gguf", layers=2, quantised=quantised)
    model = gguf(str(file), threads=1)
    inner = 4 * 32 * 32 + 3 * 32 * 64 + 2 * 32  # attention, feed-forward part, norms
    assert model.describe()["parameters"] == 2 * 32 * len(words) + 32 + 2 * inner
    model.close()


def test_a_run_goes_on_with_other_threads_but_not_with_another_prompt(tiny, tmp_path):
    from gnomon import registry
    from gnomon.items.source import load
    from gnomon.runs import running, runs_in

    def stop(progress):
        if progress.done:
            raise KeyboardInterrupt

    source = load("scales", form="cloze").limited(70)  # two batches
    one, two = (registry.model(f"gguf:{tiny}", threads=n) for n in (1, 2))
    with pytest.raises(KeyboardInterrupt):
        running.run(source, one, runs=tmp_path / "runs", watch=stop)
    (begun,) = runs_in(tmp_path / "runs")
    before = {item.id: answer for item, answer in begun.answers()}
    assert 0 < len(before) < 70

    run = running.run(source, two, runs=tmp_path / "runs")
    after = {item.id: answer for item, answer in run.answers()}
    assert run.path == begun.path
    assert {item: after[item] for item in before} == before
    assert len(after) == 70
    assert run.manifest.model_options == {"threads": 2}

    other = running.run(
        source.limited(2), registry.model(f"gguf:{tiny}", prompt="fewshot"), runs=tmp_path / "runs"
    )
    assert other.path != run.path


def test_probabilities_of_the_next_token_sum_to_one(model, words):
    values = log_probabilities(model.file, model.tokenize("ant is"), range(len(words)))
    assert sum(map(math.exp, values)) == pytest.approx(1)


def test_company_and_order_do_not_change_scores(model):
    items = [
        cloze(f"{who} is [MASK] than a {whom}.", n=f"{who}{whom}")
        for who in ("ant", "bird", "cat", "An ant")
        for whom in ("bird", "cat", "ant")
    ]
    together = model.answer(items)
    backwards = model.answer(items[::-1])[::-1]
    for one, two, item in zip(together, backwards, items, strict=True):
        (alone,) = model.answer([item])
        assert one.scores == pytest.approx(two.scores, abs=1e-5)
        assert one.scores == pytest.approx(alone.scores, abs=1e-5)


def test_what_items_share_is_computed_once(model):
    model.answer([cloze()])
    before = model.llama.computed
    model.answer([cloze("ant is [MASK] than a cat.", n=2)])
    own = model.tokenize("larger than a cat.")
    assert model.llama.computed - before <= 3 * len(own), "the context is not computed again"


def test_normalisations(tiny):
    scores = {}
    for how in ("sum", "mean", "byte", "pmi"):
        model = gguf(str(tiny), normalise=how, threads=1)
        scores[how] = model.answer([cloze(choices=("larger", "much larger"))])[0].scores
        assert model.describe()["normalise"] == how
        model.close()
    assert scores["mean"][0] == pytest.approx(scores["sum"][0] / 5)
    assert scores["mean"][1] == pytest.approx(scores["sum"][1] / 6)
    assert scores["byte"][0] == pytest.approx(scores["sum"][0] / len(" larger than a bird."))
    assert scores["pmi"][0] != pytest.approx(scores["sum"][0])


def test_an_answer_that_opens_the_text_comes_after_the_token_that_begins_texts(model):
    (answer,) = model.answer([cloze("[MASK] is larger.", choices=("ant", "bird"))])
    assert all(math.isfinite(score) for score in answer.scores)


def test_a_prompt_that_does_not_fit_fails_alone(model):
    long = cloze("ant is [MASK] than " + "a bird " * 60, n=2)
    answers = model.answer([cloze(), long, cloze(n=3)])
    assert answers[1].error.endswith("tokens, the model takes 64")
    assert answers[0].choice is not None
    assert answers[2].scores == answers[0].scores


def test_a_chat_template_is_followed_and_texts_begin_once(tmp_path, write_model):
    template = "{{ bos_token }}{% for m in messages %}[{{ m.role }}] {{ m.content }}{% endfor %}[assistant]"
    file = write_model(tmp_path / "chat.gguf", context=1024, template=template)
    model = gguf(str(file), threads=1)
    assert model.chat
    assert model.prompt.name == "chat"

    write = chat_template(template, {"bos_token": "<s>"})
    text = conversation(write, model.prompt.chat(cloze()))
    assert text.startswith("<s>[system]")
    assert text.endswith("[assistant]")
    assert model.tokenize(text).count(1) == 1, "one token begins the text, not two"
    model.close()

    plain = gguf(str(file), chat=False, threads=1)
    assert (plain.chat, plain.prompt.name) == (False, "plain")
    plain.close()


@pytest.mark.parametrize(
    ("template", "says"),
    [
        ("{% for %}", "cannot be read"),
        ("{{ raise_exception('no') }}", "fails: no"),
        ("{{ 1 / 0 }}", "fails"),
        ("{{ messages.__class__.__mro__[1].__subclasses__() }}", "fails"),
        (
            "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
            "does not end",
        ),
        ("{{ 'x' * 10**10 }}", "template"),
    ],
)
def test_a_faulty_or_hostile_chat_template_in_a_file_is_said_so(
    template, says, tmp_path, write_model
):
    file = write_model(tmp_path / "chat.gguf", context=1024, template=template)

    def ask():
        model = gguf(str(file), threads=1)
        try:
            model.answer([cloze()])
        finally:
            model.close()

    with pytest.raises(ModelError, match=says) as caught:
        ask()
    assert "template" in caught.value.message
    assert "chat=no" in caught.value.hint


def test_a_template_without_system_messages_gets_it_with_the_first_question():
    source = (
        "{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}"
        "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
    )
    turns = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Is it so?"}]
    assert conversation(chat_template(source, {}), turns) == "user: Be brief.\n\nIs it so?\n"


def test_an_answer_is_scored_after_the_thought_of_a_template(tmp_path, write_model):
    template = (
        "{% for m in messages %}{{ m.role }}:{% if m.role == 'assistant' %} a than{% endif %}"
        " {{ m.content }}{% endfor %}{% if add_generation_prompt %}assistant: a{% endif %}"
    )
    file = write_model(tmp_path / "thought.gguf", context=1024, template=template)
    model = gguf(str(file), threads=1)
    item = cloze(choices=("larger", "smaller"))
    before = conversation(chat_template(template, {}), model.prompt.chat(item), answered=True)
    assert before.endswith("assistant: a than ")
    (answer,) = model.answer([item])
    expected = [reference(model, before.rstrip(), f" {choice}") for choice in item.choices]
    assert answer.scores == pytest.approx(expected, abs=1e-3)
    model.close()


def test_pmi_takes_off_the_same_tokens_after_nothing(tiny):
    plain, pmi = (gguf(str(tiny), normalise=how, threads=1) for how in ("sum", "pmi"))
    item = cloze(choices=("larger", "a bird"))
    sums, scores = plain.answer([item])[0].scores, pmi.answer([item])[0].scores
    start = len(pmi.tokenize("ant is"))
    for choice, whole, found in zip(item.choices, sums, scores, strict=True):
        answer = pmi.tokenize(f"ant is {choice} than a bird.")[start:]
        alone = [
            log_probabilities(tiny, [pmi.llama.bos, *answer[:n]], [answer[n]])[0]
            for n in range(len(answer))
        ]
        assert found == pytest.approx(whole - sum(alone), abs=1e-4)
    plain.close()
    pmi.close()


def test_a_generated_reply_is_the_likeliest_text_and_is_read(tiny, words):
    model = gguf(str(tiny), ask="generate", new_tokens=3, threads=1)
    (first,) = model.answer([cloze()])
    assert model.scale == "none"
    assert first.scores is None
    assert isinstance(first.reply, str)
    assert first.tokens > 3
    assert model.answer([cloze("cat is [MASK] than a bird.", n=2), cloze()])[1] == first
    assert model.describe()["new_tokens"] == 3
    (long,) = model.answer([cloze("ant is " + "a bird " * 60 + "[MASK].")])
    assert "the model takes 64" in long.error

    prompt = model.tokenize("ant is")
    everything = log_probabilities(tiny, prompt, range(len(words)))
    assert model.llama.reply(prompt, 1) == [everything.index(max(everything))]
    assert model.llama.text(prompt) == "ant is"
    model.close()


def test_description_names_file_checksum_weights_and_prompt(model):
    about = model.describe()
    assert about["file"] == "tiny.gguf"
    assert len(about["sha256"]) == 64
    assert about["prompt"]["name"] == "plain"
    assert not about["chat"]
    assert about["xllamacpp"]


def test_the_log_of_llama_cpp_stays_silent(tiny, capfd):
    opened = gguf(str(tiny), threads=1)
    opened.answer([cloze()])
    opened.close()
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("option", [{"context": 0}, {"new_tokens": 0}, {"threads": -1}])
def test_a_number_with_which_nothing_can_be_asked_is_refused(tiny, option):
    (name,) = option
    with pytest.raises(UsageError, match=f"The option {name} must be at least"):
        gguf(str(tiny), **option)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_is_refused_rather_than_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.gguf")
    with pytest.raises(ModelError, match="not an ordinary file"):
        gguf(str(tmp_path / "pipe.gguf"))


def test_what_is_no_model_is_said_so(tmp_path, tiny):
    with pytest.raises(UsageError, match="needs a file"):
        gguf("")
    with pytest.raises(ModelError, match="there is no such file"):
        gguf(str(tmp_path / "absent.gguf"))
    with pytest.raises(ModelError, match="not an ordinary file"):
        gguf(str(tmp_path))
    (tmp_path / "page.gguf").write_text("<html>not found</html>")
    with pytest.raises(ModelError, match="not a GGUF file"):
        gguf(str(tmp_path / "page.gguf"))
    raw = tiny.read_bytes()
    for broken in (raw[: len(raw) // 2], raw[:200], raw[:8], raw[:24] + b"\xff" * 500):
        (tmp_path / "broken.gguf").write_bytes(broken)
        with pytest.raises(ModelError, match="cannot be loaded by llama"):
            gguf(str(tmp_path / "broken.gguf"))
    with pytest.raises(UsageError, match="no normalisation"):
        gguf(str(tiny), normalise="cube")
    with pytest.raises(UsageError, match="no way to ask"):
        gguf(str(tiny), ask="politely")
    with pytest.raises(UsageError, match="no chat template"):
        gguf(str(tiny), chat=True)


class Library:
    """A library whose blocks may be laid out otherwise."""

    def __init__(self, **other):
        from types import SimpleNamespace as Block

        fields = other.pop("fields", [512, 2048, 512, 1])
        batch = {"n_tokens": 0, "token": 8, "embd": None, "pos": 8, "n_seq_id": 8, "seq_id": 8}
        batch |= {"logits": 8} | other
        self.llama_context_default_params = lambda: Block(fields=fields)
        self.llama_batch_init = lambda *_: Block(**batch)
        self.llama_batch_free = lambda batch: None


@pytest.mark.parametrize(
    "other",
    [
        {"fields": [0, 512, 2048, 512]},
        {"embd": 8},
        {"pos": None},
        {"n_tokens": 1},
    ],
)
def test_a_library_with_another_layout_is_refused(other):
    check_layout(Library())
    with pytest.raises(ModelError, match="does not offer llama") as caught:
        check_layout(Library(**other))
    assert "Install another version" in caught.value.hint


def test_transformers_gives_the_same_scores_for_the_same_file(tiny, model, own_cache):
    """Also where only llama.cpp takes it that texts begin with a special token."""
    for name in ("torch", "transformers", "accelerate"):
        pytest.importorskip(name)
    from gnomon.models.transformers.hf import hf

    items = [cloze(), cloze("An ant is [MASK] than a cat.", n=2)]
    converted = hf(str(tiny), threads=1)
    assert converted.tokenizer("ant is")["input_ids"] == model.tokenize("ant is")
    for one, other in zip(converted.answer(items), model.answer(items), strict=True):
        # llama.cpp keeps keys and values in 16 bits
        assert one.scores == pytest.approx(other.scores, rel=0.005)
    assert list((own_cache / "models").glob("tiny-*/model.safetensors"))


def test_a_damaged_file_is_not_converted_and_leaves_nothing(tiny, tmp_path, own_cache):
    for name in ("torch", "transformers", "accelerate"):
        pytest.importorskip(name)
    from gnomon.models.llamacpp.conversion import converted

    (tmp_path / "cut.gguf").write_bytes(tiny.read_bytes()[:3000])
    with pytest.raises(ModelError, match="cannot be converted for transformers") as caught:
        converted(tmp_path / "cut.gguf")
    assert "Fetch the file again" in caught.value.hint
    assert [file for file in (own_cache / "models").iterdir() if file.is_dir()] == []


@pytest.mark.parametrize(
    ("tokenizer", "said", "begun"),
    [
        (("llama", "default"), None, True),
        (("llama", "default"), False, False),
        (("gpt2", "smollm"), None, False),
        (("gpt2", "smollm"), True, True),
        (("gpt2", "llama-bpe"), None, True),
        (("gpt2", "gpt-2"), None, False),
    ],
)
def test_texts_begin_as_the_file_says_or_as_its_tokenizer_wants(tokenizer, said, begun):
    from gnomon.models.llamacpp.conversion import begins

    metadata = dict(zip(("tokenizer.ggml.model", "tokenizer.ggml.pre"), tokenizer, strict=True))
    assert (
        begins(metadata | ({} if said is None else {"tokenizer.ggml.add_bos_token": said})) is begun
    )
