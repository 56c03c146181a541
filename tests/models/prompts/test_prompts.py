"""Prompts as data: what a model reads and what it may answer."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from gnomon.errors import DataError, UsageError
from gnomon.models.prompts.library import load_prompt, prompt_names
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
        ("5", "not a prompt"),
        ("", "not a prompt"),
        ("summary: 5\nforms: {}", "summary"),
        ("summary: a\nforms: 5", "forms"),
        ("summary: a\nforms: {choice: 5}", "forms"),
        ("summary: a\nforms: {choice: {template: 5}}", "template"),
        ("summary: a\nforms: {choice: {template: '{answer}', words: 5}}", "words"),
        ("summary: a\nforms: {choice: {template: '{answer}', words: {a: 5}}}", "words"),
        ("summary: a\nforms: {choice: {template: '{answer}', words: {a: []}}}", "words"),
        ("summary: a\nforms: {choice: {template: '{answer}', words: {a: ''}}}", "words"),
        ("summary: a\nforms: {choice: {template: '{answer}', words: {yes: no}}}", "words"),
        ("summary: a\nforms: {choice: {template: '{answer}', examples: 5}}", "examples"),
        ("summary: a\nforms: {choice: {template: '{answer}', examples: [5]}}", "examples"),
        ("summary: a\nshots: -1\nforms: {}", "shots"),
        ("summary: a\nshots: many\nforms: {}", "shots"),
        ("summary: a\nwording: 2\nforms: {}", "paraphrases"),
        ("summary: a\nforms: {}\nparaphrases: 5", "a list"),
        ("summary: a\nforms: {}\nparaphrases: [5]", "fields with values"),
        ("summary: a\nforms: {}\nparaphrases: [{forms: 5}]", "fields with values"),
        ("summary: a\nforms: {}\nparaphrases: [{instructoin: b}]", "instructoin"),
        (
            "summary: a\nforms: {choice: {template: '{text} {answer}'}}\n"
            "paraphrases: [{forms: {choice: {template: '{txt} {answer}'}}}]",
            "txt",
        ),
        ("like: fewshto\nexamples: {}", "fewshot"),
        ("like: other.yaml\nexamples: {}", "no prompt named"),
        ("like: 5\nexamples: {}", "like"),
        ("like: fewshot\nexamples: 5", "examples"),
        ("like: fewshot\nexamples: {riddle: []}", "no form 'riddle'"),
        ("like: fewshot\nexamples: {}\nforms: {}", "forms"),
        ("like: fewshot\nexamples: {entailment: [{text: a, answer: perhaps}]}", "not one of"),
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


def test_a_short_file_with_aliases_is_refused_before_it_grows(tmp_path):
    lines = ["summary: a", "x0: &x0 {text: abcdefgh, answer: a, choices: [a, b]}"]
    for level in range(1, 6):
        shared = ", ".join([f"*x{level - 1}"] * 20)
        lines.append(f"x{level}: &x{level} [{shared}]")
    lines.append("forms: {choice: {template: '{answer}', examples: *x5}}")
    with pytest.raises(DataError, match="aliases"):
        load_prompt(write(tmp_path, "\n".join(lines)))


def test_a_prompt_file_that_is_too_large_is_refused(tmp_path):
    with pytest.raises(DataError, match="larger than"):
        load_prompt(write(tmp_path, "summary: " + "a" * 300_000))


DEEP = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=6,
)
FIELD = st.sampled_from(["template", "target", "words", "letters", "examples", "shots", "x"])


@given(st.dictionaries(FIELD, DEEP, max_size=4), DEEP, DEEP)
def test_whatever_stands_in_a_prompt_file_is_put_or_refused_in_a_sentence(wording, option, shots):
    data = {"summary": "s", "forms": {"choice": {"template": "{text} {answer}", **wording}}}
    data |= {"option": option} if option else {}
    data |= {"shots": shots} if shots else {}
    with TemporaryDirectory() as folder:
        file = write(Path(folder), yaml.safe_dump(data))
        try:
            prompt = load_prompt(file)
        except DataError:
            return
    assert isinstance(prompt.context(CHOICE), str)
    assert len(prompt.words(CHOICE)) == 2


def test_gpt_3_is_asked_in_the_frame_of_the_spatialqa_paper():
    prompt = load_prompt("spatialqa-gpt3")
    assert prompt.with_shots(0).context(ENTAILMENT) == (
        "Ann is in the car.\nQuestion: Ann is outside. True, false, or neither?\nAnswer:"
    )
    assert prompt.words(ENTAILMENT) == ((" True",), (" Neither",), (" False",))
    parts = prompt.context(ENTAILMENT).split("\n\n")
    assert [len(part.splitlines()) for part in parts] == [3] * 4, "premise, question and answer"
    answers = [part.splitlines()[2] for part in parts]
    assert answers == ["Answer: True", "Answer: False", "Answer: Neither", "Answer:"]


def test_unifiedqa_is_asked_in_the_frame_of_the_spatialqa_paper():
    prompt = load_prompt("spatialqa-unifiedqa")
    assert prompt.with_shots(0).context(ENTAILMENT) == (
        "Ann is outside.\n(A) True (B) False (C) Neither\nAnn is in the car."
    )
    *examples, question = prompt.context(ENTAILMENT).split("\n\n")
    assert [part.splitlines()[3] for part in examples] == ["True", "False", "Neither"]
    options = {part.splitlines()[1] for part in (*examples, question)}
    assert options == {"(A) True (B) False (C) Neither"}


def test_a_file_may_be_like_a_prompt_with_examples_of_its_own(tmp_path):
    file = write(
        tmp_path,
        """
like: spatialqa-gpt3
examples:
  entailment:
    - {context: The kettle boils., text: The water is hot., answer: entailment}
    - {context: The shop is shut., text: The shop is open., answer: contradiction}
""",
    )
    mine, theirs = load_prompt(file), load_prompt("spatialqa-gpt3")
    assert mine.prefix("entailment") == (
        "The kettle boils.\nQuestion: The water is hot. True, false, or neither?\nAnswer: True\n\n"
        "The shop is shut.\nQuestion: The shop is open. True, false, or neither?\nAnswer: False\n\n"
    )
    assert mine.parts(ENTAILMENT) == theirs.parts(ENTAILMENT)
    assert (mine.describe()["name"], mine.describe()["shots"]) == ("mine", 2)
    assert mine.describe()["hash"] != theirs.describe()["hash"]


def test_a_file_that_is_like_a_prompt_may_have_a_separator_of_its_own(tmp_path):
    text = """
like: spatialqa-gpt3
separator: "\\n---\\n"
examples:
  entailment:
    - {context: The kettle boils., text: The water is hot., answer: entailment}
"""
    prompt = load_prompt(write(tmp_path, text))
    assert prompt.prefix("entailment").endswith("Answer: True\n---\n")


def test_a_wrong_field_beside_like_is_told_with_the_fields_that_may_stand_there(tmp_path):
    text = "like: spatialqa-gpt3\noption: x\nexamples: {}\n"
    with pytest.raises(DataError) as caught:
        load_prompt(write(tmp_path, text))
    assert "(known: like, examples, summary, separator)" in caught.value.message


def test_a_reply_may_say_the_letter_the_option_or_the_label():
    accepted = load_prompt("multiple-choice").accepted(ENTAILMENT)
    assert accepted[1] == ("B", "neither follows", "neutral")
    assert load_prompt("chat").accepted(ENTAILMENT)[1] == ("Neither", "neutral")


def test_letters_are_answers_only_where_the_prompt_shows_them():
    assert load_prompt("multiple-choice").shows_letters("entailment")
    assert load_prompt("unifiedqa").shows_letters("cloze")
    assert not load_prompt("chat").shows_letters("cloze")
    assert not load_prompt("plain").shows_letters("cloze")


PARAPHRASED = (
    "plain",
    "fewshot",
    "chat",
    "picture-plain",
    "multiple-choice",
    "masked",
    "t5",
)


@pytest.mark.parametrize("name", PARAPHRASED)
@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.form)
def test_each_style_asks_each_form_in_at_least_three_different_wordings(name, item):
    wordings = load_prompt(name).wordings
    assert wordings >= 3
    asked = set()
    for wording in range(1, wordings + 1):
        prompt = load_prompt(name, wording)
        assert prompt.wording == wording
        words = prompt.words(item)
        assert len(set(words)) == len(item.choices), "each choice has words of its own"
        text = prompt.context(item) + words[0][0]
        assert "{" not in text
        assert "[MASK]" not in text
        assert item.context in text
        asked.add(text)
    assert len(asked) == wordings


@pytest.mark.parametrize("name", ["plain", "chat", "multiple-choice", "fewshot"])
def test_every_wording_says_when_neither_true_nor_false_is_the_answer(name):
    says = (
        "cannot be told",
        "does not settle",
        "leaves it open",
        "undecided",
        "unclear",
        "Unclear",
    )
    says += ("may or may not", "more would have to be said", "neither follows", "not settled")
    says += ("does not tell",)
    for wording in range(1, load_prompt(name).wordings + 1):
        prompt = load_prompt(name, wording).with_shots(0)
        assert any(words in prompt.context(ENTAILMENT) for words in says), (name, wording)


@pytest.mark.parametrize("name", PARAPHRASED)
def test_no_wording_writes_a_capital_after_a_comma(name):
    for wording in range(1, load_prompt(name).wordings + 1):
        prompt = load_prompt(name, wording).with_shots(0)
        text = prompt.context(ENTAILMENT) + prompt.words(ENTAILMENT)[0][0]
        assert ", Ann" not in text
        assert ", The" not in text


@pytest.mark.parametrize("wording", [1, 2, 3, 4])
@pytest.mark.parametrize("name", ["chat", "multiple-choice"])
@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.form)
def test_a_prompt_that_lists_choices_lists_them_in_the_order_of_the_item(name, wording, item):
    prompt = load_prompt(name, wording)
    assert prompt.lists_choices(item.form)
    turned = replace(item, choices=item.choices[::-1])
    assert prompt.context(item) != prompt.context(turned)
    assert set(prompt.accepted(item)[0]) & {item.choices[0]}


def test_a_prompt_that_shows_no_choices_is_the_same_in_any_order():
    turned = replace(ENTAILMENT, choices=ENTAILMENT.choices[::-1])
    assert not load_prompt("plain").lists_choices("entailment")
    assert load_prompt("plain").context(ENTAILMENT) == load_prompt("plain").context(turned)


def test_an_answer_that_opens_its_sentence_has_a_capital_after_any_frame():
    item = Item(
        id="o", form="cloze", text="[MASK] is small.", choices=("an ant", "a cow"), gold=("an ant",)
    )
    prompt = load_prompt("plain", 2)
    assert prompt.words(item)[0] == ("An ant is small.",)
    assert load_prompt("plain", 3).words(item)[0] == (" an ant",)


def test_a_wording_that_a_prompt_lacks_is_refused():
    with pytest.raises(UsageError, match="no wording 9"):
        load_prompt("plain", 9)
    with pytest.raises(UsageError, match="no wording 2"):
        load_prompt("viphy", 2)
    with pytest.raises(UsageError, match="no wording 0"):
        load_prompt("plain", 0)


def test_a_file_of_ones_own_may_have_paraphrases(tmp_path):
    file = write(
        tmp_path,
        """
summary: mine
instruction: Be brief.
forms:
  choice: {template: "{text} {answer}", words: {"yes": aye, "no": nay}}
paraphrases:
  - forms: {choice: {template: "Tell me: {text} {answer}"}}
""",
    )
    assert load_prompt(file).wordings == 2
    second = load_prompt(file, 2)
    assert second.context(CHOICE) == "Be brief.\n\nTell me: Is an ant larger than a bird?"
    assert second.answers(CHOICE) == (("aye",), ("nay",))
    assert second.describe()["wording"] == 2
    assert second.describe()["hash"] != load_prompt(file).describe()["hash"]
    assert "wording" not in load_prompt(file).describe()


def test_worked_examples_go_with_every_wording():
    assert load_prompt("fewshot", 3).context(CLOZE).count("Fill in the blank") == 4


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (
            "summary: a\nform: {}",
            "it has an unknown field 'form' (did you mean forms?)",
            "docs/prompts.md",
        ),
        (
            "summary: a\nforms: {choice: {template: '{answer}', words: {large: no}}}",
            "forms[...].words[...] must be a text or a list, not yes or no",
            "in quotes",
        ),
        (
            "summary: a\nforms: {choice: {template: '{answer}', words: {yes: large}}}",
            "a name in forms[...].words must be a text, not yes or no",
            "in quotes",
        ),
        ("forms: {}", "it lacks the field 'summary'", "docs/prompts.md"),
        ("summary: a\nshots: -1\nforms: {}", "shots must be 'int' >= 0", ""),
    ],
)
def test_what_is_wrong_with_a_prompt_file_is_said_in_words(tmp_path, text, message, hint):
    with pytest.raises(DataError) as caught:
        load_prompt(write(tmp_path, text))
    assert message in caught.value.message
    assert hint in caught.value.hint
    assert "Object" not in str(caught.value)
    assert "Expected" not in str(caught.value)


@pytest.mark.parametrize("name", ["unifiedqa", "multiple-choice", "chat"])
def test_choices_that_a_question_lists_itself_are_listed_once(name):
    """ViPhy's questions end in (a) smaller (b) larger, and these prompts list choices too."""
    item = Item(
        id="1",
        form="choice",
        text="what is the size of day in comparison to animal? (a) smaller (b) larger",
        choices=("smaller", "larger"),
        gold=("larger",),
    )
    context = load_prompt(name).context(item)
    assert context.count("smaller") == context.count("larger") == 1


def test_the_format_of_unifiedqa_is_that_of_the_paper():
    text = "what is the size of day in comparison to animal? (a) smaller (b) larger"
    choices = ("smaller", "larger")
    item = Item(id="1", form="choice", text=text, choices=choices, gold=("larger",))
    question = "what is the size of day in comparison to animal?"
    assert load_prompt("unifiedqa").context(item) == f"{question} \\n (a) smaller (b) larger"
    assert load_prompt("verbatim").context(item) == text
