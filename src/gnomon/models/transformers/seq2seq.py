"""Encoder-decoder models (T5, UnifiedQA, BART): the likelihood of each choice, or a reply.

A choice is scored with its end token, so that it is the whole reply and not the beginning of
another one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from gnomon.models.asking import Asking
from gnomon.models.choices import (
    Likelihoods,
    ModelReply,
    Query,
    contexts,
    describe_asking,
    flat,
    replied,
    scale_of,
)
from gnomon.models.prompts.library import Prompt
from gnomon.models.transformers.decoding import score
from gnomon.models.transformers.generating import generate
from gnomon.models.transformers.limits import longest_text, token_budget, tokens_in_a_pass
from gnomon.models.transformers.previewing import (
    limits_of,
    previewed,
    scored_words,
    surrounding_tokens,
)
from gnomon.models.transformers.tokens import TextEncoder, opening
from gnomon.records import Answer, Item, Preview


class Seq2seq:
    """An encoder-decoder model of transformers, asked with a prompt."""

    batch = 256

    def __init__(
        self,
        spec: str,
        model: Any,
        tokenizer: Any,
        prompt: Prompt,
        *,
        normalise: str = "sum",
        ask: str = "score",
        new_tokens: int = 32,
        about: dict[str, Any] | None = None,
    ) -> None:
        self.spec, self.model, self.tokenizer, self.prompt = spec, model, tokenizer, prompt
        self.lists_choices = prompt.lists_choices
        self.ask, self.new_tokens, self.about = ask, new_tokens, about or {}
        self.scale = scale_of(ask)
        self.budget = token_budget(model)
        self.tokens = tokens_in_a_pass(model)
        self.longest = _longest_source(model, tokenizer)
        self.encoder = TextEncoder(tokenizer)
        # what targets begin with: BART's <s>
        self.opening = opening(tokenizer, self.encoder.raw, target=True)
        self.likelihoods = Likelihoods(
            self._score,
            normalise=normalise,
            nothing=self.read([""])[0] or [self.encoder.first],
            longest=self.longest,
            size=lambda query: len(query.context),
        )

    def describe(self) -> dict[str, Any]:
        """What determines the answers."""
        how = describe_asking(self.ask, self.likelihoods.normalise, self.new_tokens)
        return {**self.about, "prompt": self.prompt.describe(), **how}

    def answer(self, items: Sequence[Item]) -> list[Answer]:
        """One answer for each item."""
        sources = self.read(contexts(self.prompt, items))
        if self.ask == "generate":
            return replied(items, self.prompt, sources, self._write, longest=self.longest)

        words = [self.words(item) for item in items]
        return self.likelihoods.answers(items, words, self._queries(sources, words))

    def _queries(
        self, sources: Sequence[list[int]], words: Sequence[Sequence[Sequence[str]]]
    ) -> list[Query]:
        targets = self.targets([flat(each) for each in words])
        return [Query(*each) for each in zip(sources, targets, strict=True)]

    def preview(self, item: Item) -> Preview:
        """What the encoder reads for an item, and the tokens of the decoder that are scored."""
        found = self.asking()
        (written,) = contexts(self.prompt, [item])
        text = found.opened(written)
        (source,) = self.read([written])
        if self.ask == "generate":
            return previewed(found, item, self.tokenizer, text, source)
        words = self.words(item)
        (query,) = self._queries([source], [words])
        scored = scored_words(item, words, query.continuations, self.tokenizer)
        return previewed(found, item, self.tokenizer, text, query.context, scored)

    def asking(self) -> Asking:
        """What shows prompts without the model."""
        return Asking(
            way="target" if self.ask == "score" else self.ask,
            prompt=replace(self.prompt, paraphrases=()),
            **surrounding_tokens(self.tokenizer),
            limits=limits_of(self.ask, self.new_tokens, self.model, self.tokenizer),
        )

    def words(self, item: Item) -> list[list[str]]:
        """The words of each choice as the decoder's whole text."""
        words = []
        for alternatives in self.prompt.words(item):
            words.append([word.strip() for word in alternatives])
        return words

    def read(self, texts: Sequence[str]) -> list[list[int]]:
        """Texts as the encoder's tokens, with the end token that it expects."""
        found: list[list[int]] = self.tokenizer(list(texts))["input_ids"]
        return found

    def targets(self, words: Sequence[Sequence[str]]) -> list[list[list[int]]]:
        """Words as the decoder's tokens, with the end token; each word is encoded once."""
        texts = list(dict.fromkeys(word for each in words for word in each))
        end = self.tokenizer.eos_token_id
        closing = [] if end is None else [end]
        known = {}
        for text, ids in zip(texts, self.encoder.raw(texts), strict=True):
            known[text] = ids + closing

        targets = []
        for each in words:
            targets.append([known[word] for word in each])
        return targets

    def _score(self, queries: Sequence[Query]) -> list[list[float]]:
        return score(self.model, queries, opening=self.opening, tokens=self.tokens)

    def _write(self, sources: Sequence[Sequence[int]]) -> list[ModelReply]:
        return generate(self.model, self.tokenizer, sources, new_tokens=self.new_tokens)


def _longest_source(model: Any, tokenizer: Any) -> int:
    """Tokens that the encoder may read; 0 if without limit, as with relative positions."""
    if hasattr(model.config, "relative_attention_num_buckets"):
        return 0
    return longest_text(model, tokenizer)
