"""Where a context meets its continuations, for every family of tokenizer."""

from __future__ import annotations

import pytest

pytest.importorskip("transformers")

from gnomon.models.transformers.tokens import TextEncoder

FAMILIES = [
    "byte-level",
    "byte-level, space first",
    "unigram",
    "wordpiece",
    "wordpiece, cased",
    "bpe without words",
]
SHOTS = [("ant", "house", "true"), ("bird", "river", "false"), ("lamp", "box", "neither")] * 2
EXAMPLES = "".join(
    f"The {a} is behind the {b}.\nQuestion: is it true, false or neither?\nAnswer: {c}\n\n"
    for a, b, c in SHOTS
)
ENDINGS = [
    "Mary is inside the house.\nAnswer:",
    "the ant is",
    "",
    "John stands above the bridge.\nAnswer:",
    "an is",
]
WORDS = [" true", " false", " neither", " larger than a bird.", "land", "."]


def slow(encoder, contexts, continuations):
    """Encode every whole text on its own and split it where all choices still agree with the
    context."""
    made = []
    for context, words in zip(contexts, continuations, strict=True):
        before = encoder.raw([context])[0]
        whole = [encoder.raw([context + word])[0] for word in words]
        common = min(
            next(
                (i for i, (a, b) in enumerate(zip(before, one, strict=False)) if a != b),
                min(len(before), len(one)),
            )
            for one in whole
        )
        if any(len(w) <= common for w in whole):
            common -= 1
        made.append((encoder.open(context, before[:common]), [w[common:] for w in whole]))
    return made


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("shots", [0, 1])
def test_queries_are_the_whole_texts_split_where_all_choices_agree(tokenizers, family, shots):
    encoder = TextEncoder(tokenizers(family))
    contexts = [EXAMPLES * shots + ending for ending in ENDINGS]
    continuations = [WORDS[i % 3 :][: 3 + i % 2] for i in range(len(contexts))]
    for _ in range(2):  # the second time everything comes from memory
        made = encoder.queries(contexts, continuations)
        assert [(query.context, query.continuations) for query in made] == slow(
            encoder, contexts, continuations
        )
        for context, words, query in zip(contexts, continuations, made, strict=True):
            for word, tokens in zip(words, query.continuations, strict=True):
                whole = [*query.context, *tokens]
                assert (
                    whole[-len(encoder.raw([context + word])[0]) :]
                    == encoder.raw([context + word])[0]
                )
                assert tokens


def test_a_merge_across_the_boundary_moves_it_back_for_all_choices(tokenizers):
    encoder = TextEncoder(tokenizers("byte-level"))
    (query,) = encoder.queries(["Mary is behind an is"], [["land", " larger"]])
    text = tokenizers("byte-level").decode
    assert text(query.context) == "Mary is behind an"
    assert [text(tokens) for tokens in query.continuations] == [" island", " is larger"]


@pytest.mark.parametrize("family", FAMILIES)
def test_an_empty_context_is_opened_by_a_special_token(tokenizers, family):
    encoder = TextEncoder(tokenizers(family))
    (query,) = encoder.queries([""], [["Mary is inside.", "John is inside."]])
    special = tokenizers(family).all_special_ids
    assert query.context
    assert query.context[0] in special
    assert [
        tokenizers(family).decode(tokens).strip().lower().replace(" ", "")
        for tokens in query.continuations
    ] == [
        "maryisinside.",
        "johnisinside.",
    ]


def test_special_tokens_that_a_text_has_already_are_not_doubled(tokenizers):
    encoder = TextEncoder(tokenizers("bpe without words"))
    assert encoder.opening == [1]
    assert encoder.open("the ant", [5, 6]) == [1, 5, 6]
    assert encoder.open("<s>the ant", [1, 5, 6]) == [1, 5, 6]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_shared_beginning_changes_no_token(tokenizers, family):
    encoder = TextEncoder(tokenizers(family))
    texts = [EXAMPLES + ending for ending in [*ENDINGS, "\n", "s", " ", ".\n"]]
    assert encoder.texts(texts) == encoder.raw(texts)


def test_a_shared_beginning_is_encoded_once(tokenizers, monkeypatch):
    encoder = TextEncoder(tokenizers("byte-level"))
    texts = [
        EXAMPLES + f"the {word} is" for word in ["ant", "bird", "lamp", "box", "river", "house"]
    ]
    wanted = encoder.raw(texts)
    assert encoder.texts(texts) == wanted
    sizes = []
    raw = encoder.raw
    monkeypatch.setattr(
        encoder, "raw", lambda texts: sizes.append(sum(map(len, texts))) or raw(texts)
    )
    assert encoder.texts(texts) == wanted
    assert sum(sizes) < len(EXAMPLES)


def test_an_empty_continuation_still_has_a_token_to_score(tokenizers):
    encoder = TextEncoder(tokenizers("byte-level"))
    (query,) = encoder.queries(["the ant is"], [["", " inside"]])
    assert all(query.continuations)


def superwords():
    """A vocabulary whose tokens reach over several words, as superword tokenizers have it."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=600, special_tokens=["<s>"], initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(
        [EXAMPLES, *[f"the {a} is inside the {b}. " * 3 for a, b, _ in SHOTS]], trainer
    )
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>")


def test_tokens_of_several_words_are_never_cut_short(tokenizers):
    encoder = TextEncoder(superwords())
    assert not encoder.local
    assert TextEncoder(tokenizers("byte-level")).local
    contexts = [
        f"{beginning}the {a} is inside the"
        for beginning in ("", "Mary is ", EXAMPLES, "x " * 40)
        for a, _, _ in SHOTS[:3]
    ]
    words = [[" house", " box.", " river is"]] * len(contexts)
    made = encoder.queries(contexts, words)
    assert [(query.context, query.continuations) for query in made] == slow(
        encoder, contexts, words
    )
