"""Decoder models as users ask them: prompts, normalisations, chat, replies."""

from __future__ import annotations

import math

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")


from gnomon.errors import ModelError, UsageError
from gnomon.models.transformers.hf import hf
from gnomon.records import Item

CLOZE = [
    Item(
        id=f"z{i}",
        form="cloze",
        text=f"the {a} is [MASK] than the {b}.",
        choices=("larger", "smaller"),
        gold=("larger",),
    )
    for i, (a, b) in enumerate([("ant", "house"), ("bird", "river"), ("lamp", "box")])
]
PAIRS = [
    Item(
        id=f"e{i}",
        form="entailment",
        context=f"the {a} is inside the box.",
        text=f"the box holds the {a}.",
        choices=("entailment", "contradiction", "neutral"),
        gold=("entailment",),
    )
    for i, a in enumerate(["ant", "bird", "lamp", "book"])
]
TEMPLATE = (
    "{% for m in messages %}{% if m['role'] == 'system' %}{{ raise_exception('no system') }}{% endif %}"
    "<s>{{ m['role'] }}: {{ m['content'] }}</s>\n{% endfor %}"
    "{% if add_generation_prompt %}<s>assistant: {% endif %}"
)


def by_hand(model, context, word):
    """The log-probability of each token of a word after a context, by one plain pass."""
    tokenizer = model.tokenizer
    before = tokenizer(context)["input_ids"] or [tokenizer.bos_token_id]
    whole = tokenizer(context + word)["input_ids"]
    whole = whole if context else before + whole
    with torch.inference_mode():
        logits = model.model(torch.tensor([whole])).logits[0].log_softmax(-1)
    return [logits[i - 1, whole[i]].item() for i in range(len(before), len(whole))]


def test_scores_are_the_log_likelihoods_of_the_choices(folders):
    model = hf(str(folders("llama")))
    for items in (CLOZE, PAIRS):
        for item, answer in zip(items, model.answer(items), strict=True):
            context = model.prompt.context(item)
            wanted = [sum(by_hand(model, context, word)) for (word,) in model.prompt.words(item)]
            assert answer.scores == pytest.approx(wanted, abs=1e-4)
            assert answer.choice == item.choices[wanted.index(max(wanted))]


def test_worked_examples_stand_before_every_item_and_forms_may_mix(folders):
    model = hf(str(folders("llama")), prompt="fewshot", shots=2)
    items = [CLOZE[0], PAIRS[0], CLOZE[1], PAIRS[1]]
    for item, answer in zip(items, model.answer(items), strict=True):
        context = model.prompt.context(item)
        assert answer.item == item.id
        assert answer.scores == pytest.approx(
            [sum(by_hand(model, context, word)) for (word,) in model.prompt.words(item)], abs=1e-4
        )
    assert model.describe()["prompt"]["shots"] == 2


@pytest.mark.parametrize("normalise", ["mean", "byte", "pmi"])
def test_normalisations(folders, normalise):
    model = hf(str(folders("gpt2")), normalise=normalise)
    (answer,) = model.answer(CLOZE[:1])
    wanted = []
    for (word,) in model.prompt.words(CLOZE[0]):
        tokens = by_hand(model, model.prompt.context(CLOZE[0]), word)
        wanted.append(
            {
                "mean": sum(tokens) / len(tokens),
                "byte": sum(tokens) / len(word.encode()),
                "pmi": sum(tokens) - sum(by_hand(model, "", word)),
            }[normalise]
        )
    assert answer.scores == pytest.approx(wanted, abs=1e-4)
    assert model.describe()["normalise"] == normalise


def test_words_that_mean_the_same_add_up(folders, tmp_path):
    file = tmp_path / "sets.yaml"
    file.write_text(
        "summary: sets\nforms:\n  cloze:\n    template: '{before}{answer}{after}'\n"
        "    words: {larger: [larger, bigger]}\n"
    )
    model = hf(str(folders("llama")), prompt=str(file))
    (answer,) = model.answer(CLOZE[:1])
    both = [
        math.exp(sum(by_hand(model, "the ant is", f" {word} than the house.")))
        for word in ("larger", "bigger")
    ]
    assert answer.scores[0] == pytest.approx(math.log(sum(both)), abs=1e-4)


def test_a_model_with_a_chat_template_is_asked_in_a_conversation(folders, tmp_path):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from gnomon.models.transformers.loading import quiet

    with quiet():
        tokenizer = AutoTokenizer.from_pretrained(folders("llama"))
        tokenizer.chat_template = TEMPLATE
        tokenizer.save_pretrained(tmp_path)
        AutoModelForCausalLM.from_pretrained(folders("llama")).save_pretrained(tmp_path)
    model = hf(str(tmp_path))
    assert model.describe()["chat"] is True
    assert model.prompt.name == "chat"
    (context,) = model.contexts(PAIRS[:1])
    assert context.startswith("<s>user: Answer the question.")  # a template without system messages
    assert context.endswith("<s>assistant: ")
    (answer,) = model.answer(PAIRS[:1])
    ids = tokenizer(context, add_special_tokens=False)["input_ids"]
    assert ids.count(tokenizer.bos_token_id) == 2
    whole = [
        tokenizer(context + word, add_special_tokens=False)["input_ids"]
        for word in ("True", "False", "Neither")
    ]
    with torch.inference_mode():
        wanted = [
            sum(
                model.model(torch.tensor([ids])).logits[0].log_softmax(-1)[i - 1, ids[i]].item()
                for i in range(min(map(_common(tokenizer, context), whole)), len(ids))
            )
            for ids in whole
        ]
    assert answer.scores == pytest.approx(wanted, abs=1e-4)
    assert hf(str(tmp_path), chat=False).describe()["chat"] is False
    with pytest.raises(UsageError, match="no chat template"):
        hf(str(folders("llama")), chat=True)


def _common(tokenizer, context):
    before = tokenizer(context, add_special_tokens=False)["input_ids"]
    return lambda whole: next(
        (i for i, (a, b) in enumerate(zip(before, whole, strict=False)) if a != b), len(before)
    )


def test_generated_replies_are_read_or_none(folders):
    model = hf(str(folders("llama")), ask="generate", new_tokens=4)
    answers = model.answer(PAIRS)
    alone = [model.answer([item])[0] for item in PAIRS]
    assert model.scale == "none"
    assert answers == alone  # padding on the left changes nothing
    assert all(answer.reply is not None for answer in answers)
    for item, answer in zip(PAIRS, answers, strict=True):
        read = len(model.tokenizer(model.prompt.context(item))["input_ids"])
        assert read < answer.tokens <= read + 4
    assert all(
        answer.choice in (None, *item.choices) for answer, item in zip(answers, PAIRS, strict=True)
    )


def test_a_prompt_that_is_too_long_is_that_items_failure(folders):
    long = Item(
        id="long",
        form="choice",
        text="the ant is inside the box. " * 200,
        choices=("yes", "no"),
        gold=("no",),
    )
    first, second = hf(str(folders("gpt2"))).answer([long, CLOZE[0]])
    assert "the model takes 512" in first.error
    assert first.choice is None
    assert second.choice in CLOZE[0].choices


def test_quantised_and_compiled_models_say_so(folders):
    model = hf(str(folders("llama")), quantise="int8")
    (answer,) = model.answer(CLOZE[:1])
    plain = hf(str(folders("llama")))
    assert model.describe()["quantise"] == "int8"
    assert answer.scores == pytest.approx(plain.answer(CLOZE[:1])[0].scores, rel=0.2)
    assert answer.scores != plain.answer(CLOZE[:1])[0].scores
    with pytest.raises(ModelError, match="int8"):
        hf(str(folders("mamba")), quantise="int8")
    with pytest.raises(UsageError, match="int4"):
        hf(str(folders("llama")), quantise="int4")


def talking(folders, target, template, make="llama"):
    """A small model that has a chat template."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from gnomon.models.transformers.loading import quiet

    with quiet():
        tokenizer = AutoTokenizer.from_pretrained(folders(make))
        tokenizer.chat_template = template
        tokenizer.save_pretrained(target)
        AutoModelForCausalLM.from_pretrained(folders(make)).save_pretrained(target)
    return str(target)


# as Qwen 3 and DeepSeek R1 do it: generation opens a thought, an answer that is there has an empty
# one
THINKING = (
    "{% for m in messages %}{{ m.role }}:{% if m.role == 'assistant' %} <think></think>{% endif %} {{ m.content }}\n"
    "{% endfor %}{% if add_generation_prompt %}assistant: <think>{% endif %}"
)


def test_an_answer_is_scored_where_the_template_puts_it_and_never_inside_a_thought(
    folders, tmp_path
):
    folder = talking(folders, tmp_path, THINKING)
    assert hf(folder).contexts(PAIRS[:1])[0].endswith("\nassistant: <think></think> ")
    assert hf(folder, ask="generate").contexts(PAIRS[:1])[0].endswith("\nassistant: <think>")


def test_what_a_template_says_of_the_date_and_forgets_of_the_system_message(folders, tmp_path):
    template = (
        "Today: {{ strftime_now('%d %b %Y') }}\n{% for m in messages if m.role != 'system' %}{{ m.role }}: "
        "{{ m.content }}\n{% endfor %}assistant: "
    )
    (context,) = hf(talking(folders, tmp_path, template), ask="generate").contexts(PAIRS[:1])
    assert context.startswith("Today: \nuser: Answer the question.")


def test_a_template_that_fails_ends_the_run(folders, tmp_path):
    model = hf(talking(folders, tmp_path, "{{ raise_exception('never') }}"))
    with pytest.raises(ModelError, match="never"):
        model.answer(PAIRS[:1])


def test_what_a_template_writes_is_not_opened_again(folders, tmp_path):
    template = "{% for m in messages %}\n<s>{{ m.role }}: {{ m.content }}{% endfor %}"
    model = hf(talking(folders, tmp_path, template, "llama, spaces"))
    assert model.encoder.opening == [1]
    (query,) = model.encoder.queries(model.contexts(PAIRS[:1]), [["True"]], complete=True)
    assert query.context.count(1) == 3  # system, user, assistant
    seen = []
    hook = model.model.get_input_embeddings().register_forward_hook(
        lambda _, args, __: seen.append(args[0].tolist())
    )
    try:
        model.answer(PAIRS[:1])
    finally:
        hook.remove()
    assert all(row.count(1) == 3 for batch in seen for row in batch)


def test_pmi_compares_the_same_tokens_with_and_without_the_prompt(folders):
    """A tokenizer that puts a space before every text would cut " larger" otherwise at the
    beginning of one."""
    model = hf(str(folders("llama, spaces")), normalise="pmi")
    tokenizer = model.tokenizer
    (answer,) = model.answer(CLOZE[:1])
    context = tokenizer("the ant is", add_special_tokens=False)["input_ids"]
    for word, score in zip(("larger", "smaller"), answer.scores, strict=True):
        whole = tokenizer(f"the ant is {word} than the house.", add_special_tokens=False)[
            "input_ids"
        ]
        assert whole[: len(context)] == context
        with torch.inference_mode():
            found = []
            for before in ([1, *context], [1]):
                ids = [*before, *whole[len(context) :]]
                logits = model.model(torch.tensor([ids])).logits[0].log_softmax(-1)
                found.append(
                    sum(logits[i - 1, ids[i]].item() for i in range(len(before), len(ids)))
                )
        assert score == pytest.approx(found[0] - found[1], abs=1e-4)


def test_a_reply_may_name_the_label_itself_and_must_fit(folders, monkeypatch):
    from gnomon.models.choices import ModelReply
    from gnomon.models.transformers import causal

    def contradict(_, __, prompts, **___):
        return [ModelReply("contradiction", 7)] * len(prompts)

    monkeypatch.setattr(causal, "generate", contradict)
    long = Item(
        id="long",
        form="choice",
        text="the ant is inside the box. " * 200,
        choices=("yes", "no"),
        gold=("no",),
    )
    model = hf(str(folders("gpt2")), ask="generate")
    first, second = model.answer([long, PAIRS[0]])
    assert "the model takes 512" in first.error
    assert second.choice == "contradiction"  # the prompt's word is False
    assert second.tokens == 7


@pytest.mark.parametrize(
    "options", [{"normalise": "median"}, {"ask": "sing"}, {"kind": "oracle"}, {"dtype": "float7"}]
)
def test_options_that_do_not_exist_are_named(folders, options):
    with pytest.raises(UsageError, match=next(iter(options.values()))):
        hf(str(folders("llama")), **options)
