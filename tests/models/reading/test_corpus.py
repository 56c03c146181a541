"""Hard replies as data, each read through the prompt that asked, and what holds for any reply."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gnomon.models.prompts.library import load_prompt
from gnomon.models.reading.replies import as_answer
from gnomon.records import Item

FOLDER = Path(__file__).parent
POLITE = [
    "{}\n\nLet me know if you have any other questions!",
    "Thank you for your question.\n\n{}",
    "Sure, happy to help.\n\n{}\n\nI hope this helps!",
]
# Beginnings and ends of a text have a meaning of their own here: an opened or closed tag.
UNDRESSED = ("<", "{", "|", "\n")


class Case(msgspec.Struct, frozen=True):
    """A reply to an item, and the choice that it must be read as."""

    item: Item
    prompt: str
    reply: str
    choice: str | None


def cases(name):
    found = []
    questions = yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))
    for key, asked in questions.items():
        item = Item(
            id=key,
            form=asked["form"],
            text=asked["text"],
            context=asked.get("context", ""),
            choices=tuple(asked["choices"]),
        )
        for reply, choice, *_ in asked["replies"]:
            found.append(Case(item, asked["prompt"], reply, choice))
    return found


CORPUS = cases("corpus.yaml")
UNSEEN = [*cases("unseen.yaml"), *cases("spoken.yaml"), *cases("styles.yaml")]


def chosen(case, reply=None, item=None):
    answer = as_answer(item or case.item, case.reply if reply is None else reply, prompt_of(case))
    return answer.choice


def prompt_of(case):
    return load_prompt(case.prompt)


def name_of(case):
    return f"{case.item.id}: {case.reply[:50]}"


@pytest.mark.parametrize("case", CORPUS, ids=name_of)
def test_a_hard_reply_is_read_as_what_it_says(case):
    assert chosen(case) == case.choice


@pytest.mark.parametrize("case", UNSEEN, ids=name_of)
def test_a_reply_written_before_the_rules_is_read_as_what_it_says(case):
    assert chosen(case) == case.choice


def test_the_corpus_is_as_large_as_the_docs_say_and_every_reply_has_a_reason():
    assert len(CORPUS) >= 300
    assert len(UNSEEN) == 953
    questions = yaml.safe_load((FOLDER / "corpus.yaml").read_text(encoding="utf-8"))
    for asked in questions.values():
        assert all(len(row) == 3 and row[2] for row in asked["replies"])


@given(st.sampled_from(CORPUS), st.text(max_size=300))
def test_reading_never_breaks_whatever_the_text(case, reply):
    assert chosen(case, reply) in (None, *case.item.choices)


@given(st.sampled_from(CORPUS), st.sampled_from(CORPUS), st.sampled_from(["", " ", "\n", ". "]))
def test_reading_never_breaks_on_replies_run_together(first, second, gap):
    assert chosen(first, first.reply + gap + second.reply) in (None, *first.item.choices)


@pytest.mark.parametrize("frame", POLITE)
def test_polite_words_around_a_reply_do_not_change_its_reading(frame):
    differing = []
    for case in CORPUS:
        dressed = frame.format(case.reply)
        if case.reply.strip() and not case.reply.startswith(UNDRESSED):
            found = chosen(case, dressed)
            if found != case.choice:
                differing.append((case.reply, found))
    assert differing == []


def test_permuted_choices_are_read_as_the_same_choice_where_no_letters_are_shown():
    worded = [case for case in CORPUS if case.prompt == "chat" and len(case.item.choices) < 5]
    assert worded
    for case in worded:
        for order in permutations(case.item.choices):
            item = msgspec.structs.replace(case.item, choices=order)
            assert chosen(case, item=item) == case.choice, (order, case.reply)


def test_a_letter_stands_for_the_option_that_it_was_shown_with():
    shown = next(case for case in CORPUS if case.item.id == "letters-bus")
    for order in permutations(shown.item.choices):
        item = msgspec.structs.replace(shown.item, choices=order)
        for letter, choice in zip("ABC", order, strict=True):
            assert chosen(shown, f"Answer: {letter}", item=item) == choice


@given(
    st.sampled_from(CORPUS),
    st.lists(st.sampled_from("the garden path was muddy before noon while rain fell".split())),
)
def test_a_reply_that_names_no_choice_is_unread(case, words):
    assert chosen(case, " ".join(words)) is None
