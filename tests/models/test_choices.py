"""The steps that every model which scores choices shares, with a model of a few lines."""

from __future__ import annotations

import math
import subprocess
import sys

import pytest

from gnomon.errors import UsageError
from gnomon.models.choices import (
    Likelihoods,
    ModelReply,
    Query,
    ask_those_without_trouble,
    by_length,
    contexts,
    replied,
)
from gnomon.models.prompts.library import load_prompt
from gnomon.records import Answer, Item

ITEM = Item(
    id="1",
    form="cloze",
    text="An ant is [MASK] than a bird.",
    choices=("larger", "smaller"),
    gold=("smaller",),
)
WORDS = (("big", "large"), ("small",))
QUERY = Query([1, 2], [[5], [6], [7, 8]])


def score(queries):
    """The log-probability of a token is minus itself; after nothing it is half of that."""
    found = []
    for query in queries:
        share = 1.0 if len(query.context) > 1 else 0.5
        found.append([-share * sum(tokens) for tokens in query.continuations])
    return found


def scores(normalise):
    likelihoods = Likelihoods(score, normalise=normalise, nothing=[0])
    (answer,) = likelihoods.answers([ITEM], [WORDS], [QUERY])
    return answer.scores


def both(*logs):
    return math.log(sum(math.exp(log) for log in logs))


@pytest.mark.parametrize(
    ("normalise", "wanted"),
    [
        ("sum", (both(-5, -6), -15)),
        ("mean", (both(-5, -6), -7.5)),
        ("byte", (both(-5 / 3, -6 / 5), -3)),
        ("pmi", (both(-2.5, -3), -7.5)),
    ],
)
def test_words_of_a_choice_add_up_after_they_were_made_comparable(normalise, wanted):
    assert scores(normalise) == pytest.approx(wanted)


def test_what_is_known_after_nothing_is_asked_once():
    asked = []

    def counting(queries):
        asked.append(list(queries))
        return score(queries)

    likelihoods = Likelihoods(counting, normalise="pmi", nothing=[0])
    likelihoods.answers([ITEM], [WORDS], [QUERY])
    likelihoods.answers([ITEM], [WORDS], [QUERY])
    alone = [query for queries in asked for query in queries if query.context == [0]]
    assert [query.continuations for query in alone] == [[[5]], [[6]], [[7, 8]]]


def test_a_query_that_is_too_long_is_that_items_failure_and_is_never_scored():
    asked = []

    def noting(queries):
        asked.extend(queries)
        return score(queries)

    likelihoods = Likelihoods(noting, longest=3)
    long = Query([1, 2, 3], [[5], [6], [7, 8]])  # the 8 is asked for, not read
    first, second = likelihoods.answers([ITEM, ITEM], [WORDS, WORDS], [long, QUERY])
    assert first == Answer(item="1", error="the prompt has 4 tokens, the model takes 3")
    assert second.choice == "larger"
    assert asked == [QUERY]


def test_a_normalisation_that_does_not_exist_is_named():
    with pytest.raises(UsageError, match="median"):
        Likelihoods(score, normalise="median")


def test_items_keep_their_order_around_those_that_are_not_asked():
    items = [Item(id=str(n), form="choice", text="?", choices=("a", "b")) for n in range(4)]
    troubles = ["", "too long", "", "unknown"]

    def ask(numbers):
        assert numbers == [0, 2]
        return [Answer(item=items[number].id, choice="a") for number in numbers]

    found = ask_those_without_trouble(items, troubles, ask)
    assert [answer.item for answer in found] == ["0", "1", "2", "3"]
    assert [answer.error for answer in found] == [None, "too long", None, "unknown"]


def test_a_reply_keeps_its_text_its_rule_and_its_tokens_and_must_leave_room():
    def generate(prompts):
        return [ModelReply("smaller", len(prompt) + 2) for prompt in prompts]

    prompt = load_prompt("plain")
    asked = [[1, 2, 3], [1] * 9]
    first, second = replied([ITEM, ITEM], prompt, asked, generate, longest=10, room=2)
    assert (first.choice, first.reply, first.tokens) == ("smaller", "smaller", 5)
    assert first.rule == "whole"
    assert second.error == "the prompt has 11 tokens, the model takes 10"


def test_a_cut_reply_without_an_answer_is_an_error_that_names_the_option():
    def generate(prompts):
        return [ModelReply("<think>An ant is", 9, cut=True), ModelReply("smaller", 9, cut=True)]

    first, second = replied([ITEM, ITEM], load_prompt("plain"), [[1], [2]], generate)
    assert (first.choice, first.reply) == (None, "<think>An ant is")
    assert "cut" in first.error
    assert "new_tokens" in first.error
    assert (second.choice, second.error) == ("smaller", None)  # it answered before it was cut


def test_a_thought_that_was_cut_is_never_read():
    texts = ["It is tiny, so it is smaller. But", "</think>smaller", "smaller", "It is smaller and"]

    def generate(prompts):
        return [ModelReply(texts[number], 9, cut=True) for (number,) in prompts]

    asked = [[0], [1], [2], [3]]
    thinking = replied([ITEM] * 4, load_prompt("plain"), asked, generate, longest=9999, room=2048)
    assert [answer.choice for answer in thinking] == [None, "smaller", "smaller", None]
    brief = replied([ITEM] * 4, load_prompt("plain"), asked, generate, longest=9999, room=32)
    assert [answer.choice for answer in brief] == [None, "smaller", "smaller", None]


def test_contexts_are_those_of_the_prompt_or_of_the_conversation():
    prompt = load_prompt("fewshot")
    assert contexts(prompt, [ITEM, ITEM]) == [prompt.context(ITEM)] * 2

    def write(turns, begin):
        text = "".join(f"<{turn['role']}>{turn['content']}" for turn in turns)
        return text + ("<assistant><think>" if begin else "")

    (known,) = contexts(prompt, [ITEM], write)
    (free,) = contexts(prompt, [ITEM], write, answered=False)
    assert known.endswith("<assistant>")
    assert free.endswith("<assistant><think>")


def test_batches_hold_every_text_once_and_one_alone_is_never_too_many():
    lengths = [5, 1, 9, 9, 2, 30]
    found = list(by_length(lengths, lambda batch: lengths[batch[0]] * len(batch) > 18))
    assert found == [[5], [2, 3], [0, 4, 1]]
    assert list(by_length([], lambda batch: True)) == []


def test_the_skeleton_needs_no_torch():
    code = "import sys, gnomon.models.choices; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
