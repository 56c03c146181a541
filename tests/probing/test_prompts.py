"""Prompts as data: what a model reads and what it may answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.errors import DataError, UsageError
from gnomon.probing.prompts import load_prompt, prompt_names
from gnomon.records import Item

ENTAILMENT = Item(
    id="e",
    form="entailment",
    context="Ann is in the car.",
    text="Ann is outside.",
    choices=("entailment", "neutral", "contradiction"),
    gold=("contradiction",),
)
CLOZE = Item(
    id="z",
    form="cloze",
    text="An ant is [MASK] than a bird.",
    choices=("larger", "smaller"),
    gold=("smaller",),
)
CHOICE = Item(
    id="c", form="choice", text="Is an ant larger than a bird?", choices=("yes", "no"), gold=("no",)
)
CAPTION = Item(
    id="p", form="caption", text="The cat is on the mat.", choices=("true", "false"), gold=("true",)
)
ITEMS = [ENTAILMENT, CLOZE, CHOICE, CAPTION]


def write(folder, text):
    file = folder / "mine.yaml"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize("name", prompt_names())
def test_every_shipped_prompt_puts_its_forms_and_leaves_no_field_open(name):
    prompt = load_prompt(name)
    for item in ITEMS:
        if item.form not in prompt.forms:
            continue
        words = prompt.words(item)
        assert len(words) == len(item.choices)
        assert len({w for alternatives in words for w in alternatives}) >= len(item.choices)
        for text in (prompt.context(item), *(m["content"] for m in prompt.chat(item))):
            assert "{" not in text
            assert "[MASK]" not in text
        assert not prompt.context(item).endswith(" ")


def test_a_cloze_is_continued_with_the_choice_and_the_rest_of_the_sentence():
    prompt = load_prompt("plain")
    assert prompt.context(CLOZE) == "An ant is"
    assert prompt.words(CLOZE) == ((" larger than a bird.",), (" smaller than a bird.",))
    assert prompt.answers(CLOZE) == (("larger",), ("smaller",))


def test_a_blank_that_opens_the_text_is_filled_with_a_capital_and_no_space():
    item = Item(
        id="o",
        form="cloze",
        text="[MASK] is small.",
        choices=("an ant", "a whale"),
        gold=("an ant",),
    )
    assert load_prompt("plain").words(item) == (("An ant is small.",), ("A whale is small.",))


def test_entailment_labels_are_asked_with_words_in_the_order_of_the_choices():
    assert load_prompt("plain").words(ENTAILMENT) == ((" True",), (" Neither",), (" False",))


def test_pieces_with_a_context_are_left_out_where_there_is_none():
    bare = Item(id="c", form="choice", text="Is it?", choices=("yes", "no"), gold=("no",))
    told = Item(
        id="c", form="choice", text="Is it?", context="It is.", choices=("yes", "no"), gold=("no",)
    )
    assert load_prompt("plain").context(bare) == "Question: Is it?\nAnswer:"
    assert load_prompt("plain").context(told) == "It is.\nQuestion: Is it?\nAnswer:"


def test_few_shot_examples_stand_before_the_question_with_their_answers():
    prompt = load_prompt("fewshot")
    context = prompt.context(ENTAILMENT)
    assert context.startswith(prompt.prefix("entailment"))
    assert context.count("Answer:") == 4
    assert all(f"Answer: {word}\n" in context for word in ("True", "False", "Neither"))
    one = prompt.with_shots(1)
    assert one.context(ENTAILMENT).count("Answer:") == 2
    assert prompt.with_shots(0).context(ENTAILMENT) == load_prompt("plain").context(ENTAILMENT)
    assert one.describe()["hash"] != prompt.describe()["hash"]
    with pytest.raises(UsageError, match="3 worked examples"):
        prompt.with_shots(4)


def test_few_shot_examples_are_turns_of_a_chat():
    turns = load_prompt("fewshot").chat(CLOZE)
    assert [turn["role"] for turn in turns] == ["user", "assistant"] * 3 + ["user"]
    assert turns[0]["content"] == "Honey is ____ than vinegar."
    assert turns[1]["content"] == "sweeter"


def test_t5_reads_mnli_and_writes_between_sentinels():
    prompt = load_prompt("t5")
    assert (
        prompt.context(ENTAILMENT) == "mnli hypothesis: Ann is outside. premise: Ann is in the car."
    )
    assert prompt.context(CLOZE) == "An ant is <extra_id_0> than a bird."
    assert prompt.words(CLOZE)[0] == ("<extra_id_0> larger <extra_id_1>",)
    assert prompt.answers(CLOZE)[0] == ("larger",)


def test_unifiedqa_reads_question_options_and_passage_on_one_line():
    assert load_prompt("unifiedqa").context(ENTAILMENT) == (
        r"Ann is outside. \n (a) true (b) neither (c) false \n Ann is in the car."
    )


def test_multiple_choice_is_answered_with_the_letters_that_it_shows():
    prompt = load_prompt("multiple-choice")
    assert "A. larger\nB. smaller" in prompt.context(CLOZE)
    assert prompt.answers(CLOZE) == (("A",), ("B",))


def test_several_words_may_stand_for_one_label():
    assert load_prompt("viphy").answers(CLOZE) == (("larger", "bigger"), ("smaller",))


@given(st.text(), st.text())
def test_braces_in_an_item_are_never_read_as_fields(text, context):
    text += "{answer} {context}"
    item = Item(
        id="x", form="choice", text=text, context=context, choices=("yes", "no"), gold=("no",)
    )
    assert text in load_prompt("t5").parts(item).before
    assert text in load_prompt("plain").parts(item).before


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("summary: a\nforms: {entailment: {template: '{contxt} {answer}'}}", "contxt"),
        ("summary: a\nforms: {riddle: {template: '{answer}'}}", "no such form"),
        ("summary: a\nforms: {choice: {template: '{answer} {answer}'}}", "at most once"),
        ("summary: a\nforms: {choice: {template: '{text} {answer}', wrods: {}}}", "wrods"),
        (
            "summary: a\nforms: {choice: {template: x, examples: [{text: a, answer: b, choices: [c, d]}]}}",
            "not one of",
        ),
        ("summary: a\noption: '{choice.__class__}{x}'\nforms: {}", "letter"),
        ("- 1", "not a prompt"),
    ],
)
def test_a_malformed_prompt_file_is_one_clear_sentence(tmp_path, text, what):
    file = write(tmp_path, text)
    with pytest.raises(DataError, match=what) as caught:
        load_prompt(file)
    assert str(file) in caught.value.message


def test_an_unknown_prompt_or_form_is_named_with_what_there_is():
    with pytest.raises(UsageError, match="fewshot"):
        load_prompt("fewshto")
    with pytest.raises(UsageError, match="entailment"):
        load_prompt("viphy").context(ENTAILMENT)
