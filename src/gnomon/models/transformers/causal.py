"""Decoder language models: the likelihood of each choice after the prompt, or a reply."""

from collections.abc import Collection, Sequence
from typing import Any

import torch

from gnomon.grouped import grouped
from gnomon.models.choices import (
    Likelihoods,
    ModelReply,
    Query,
    by_length,
    contexts,
    flat,
    take,
    text_size,
)
from gnomon.models.prompted import Prompted
from gnomon.models.prompts.chat import Writer, chat_template
from gnomon.models.prompts.preview import PromptFormat, frames
from gnomon.models.transformers.loading import longest_text, token_budget
from gnomon.models.transformers.passes import padded
from gnomon.models.transformers.scorer import TorchScorer, try_trees
from gnomon.models.transformers.tokens import (
    TextEncoder,
    end_tokens,
    known_token,
    limits_of,
    special_tokens,
)
from gnomon.records import Answer, Item, Preview


class Causal(Prompted):
    """A decoder model of transformers, asked with a prompt."""

    batch = 512

    def __init__(self, *parts: Any, trees: bool | None = None, **how: Any) -> None:
        super().__init__(*parts, **how)
        self.budget = token_budget(self.model)
        self.longest = longest_text(self.model, self.tokenizer)
        self.template: Writer | None = None
        if self.chat:  # the model's own, to which every day is the same
            source = self.tokenizer.get_chat_template()
            self.template = chat_template(source, self.tokenizer.special_tokens_map)
        self.encoder = TextEncoder(self.tokenizer)
        use = try_trees(self.model, trees, self.spec)
        self.scorer = TorchScorer(self.model, trees=use.trees, packed=use.packed)
        self.likelihoods = Likelihoods(
            self.scorer.score,
            normalise=self.normalise,
            nothing=self.encoder.open("", []),
            longest=self.longest,
        )

    def size(self, item: Item) -> int:
        """About how many tokens are the item's own."""
        return text_size(item)

    def answer(self, items: Sequence[Item]) -> list[Answer]:
        """One answer for each item."""
        if self.ask == "generate":
            return self.answer_texts(items, self.contexts(items))

        kinds = [(item.form, self.prompt.shown_to(item)) for item in items]
        alike = grouped(range(len(items)), kinds.__getitem__)
        answers: dict[int, Answer] = {}
        for numbers in alike.values():  # these share their worked examples
            some = take(items, numbers)
            answers |= zip(numbers, self.answer_texts(some, self.contexts(some)), strict=True)
        return [answers[number] for number in range(len(items))]

    def preview(self, item: Item) -> Preview:
        """What the model reads for an item, and the tokens that are scored."""
        (text,) = self.contexts([item])
        return self.preview_text(item, self.asking().opened(text), text)

    def asking(self) -> PromptFormat:
        """What shows prompts without the model."""
        template = self.template
        framed = None
        if template is not None:
            answered = self.ask == "score"
            framed = frames(self.prompt, lambda _: template, answered=answered)
        return PromptFormat(
            way=self.ask,
            prompt=self.kept_prompt,
            frames=framed,
            bare=self.bare,
            **special_tokens(self.tokenizer, self.encoder.opening),
            limits=limits_of(self.ask, self.new_tokens, self.model, self.tokenizer),
        )

    def contexts(self, items: Sequence[Item]) -> list[str]:
        """What the model reads before the answer."""
        return contexts(self.prompt, items, self.template, answered=self.ask == "score")

    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """What the model reads before it writes."""
        prompts = []
        for text, ids in zip(texts, self.encoder.texts(texts), strict=True):
            prompts.append(self.encoder.open(text, ids, complete=self.chat))
        return prompts

    def queries(
        self, texts: Sequence[str], words: Sequence[Sequence[Sequence[str]]]
    ) -> list[Query]:
        """What the model reads before the answer, and each way to answer, as tokens."""
        asked = [flat(each) for each in words]
        return self.encoder.queries(texts, asked, complete=self.chat)

    def write(self, prompts: Sequence[Sequence[int]]) -> list[ModelReply]:
        """The reply to each prompt."""
        return generate(self.model, self.tokenizer, prompts, new_tokens=self.new_tokens)


# --- replies: greedy generation in batches of like length ----------------------------------------


BATCH = 16


def generate(
    model: Any, tokenizer: Any, prompts: Sequence[Sequence[int]], *, new_tokens: int
) -> list[ModelReply]:
    """The model's greedy reply to each prompt, of at most `new_tokens` tokens."""
    ends = set(end_tokens(model))
    replies = [ModelReply("", 0)] * len(prompts)
    for numbers in by_length(list(map(len, prompts)), lambda batch: len(batch) > BATCH):
        made = _generate_batch(model, tokenizer, take(prompts, numbers), new_tokens)
        texts = tokenizer.batch_decode(made, skip_special_tokens=True)
        for number, tokens, text in zip(numbers, made.tolist(), texts, strict=True):
            read = len(prompts[number])
            cut = len(tokens) >= new_tokens and not ends.intersection(tokens)
            written = _written(tokens, ends)
            replies[number] = ModelReply(text.strip(), read + written, cut, written)
    return replies


def _generate_batch(
    model: Any, tokenizer: Any, prompts: Sequence[Sequence[int]], new_tokens: int
) -> torch.Tensor:
    """What the model writes after each prompt, as tokens."""
    device = next(model.parameters()).device
    decoder_only = not model.config.is_encoder_decoder
    filler = known_token(tokenizer, "pad_token_id", "eos_token_id") or 0
    # of a decoder the reply follows the last token
    ids, mask = padded(prompts, filler, device, left=decoder_only)
    with torch.inference_mode():
        made: torch.Tensor = model.generate(
            input_ids=ids,
            attention_mask=mask,
            max_new_tokens=new_tokens,
            do_sample=False,
            num_beams=1,
            pad_token_id=filler,
            temperature=None,
            top_p=None,
            top_k=None,
        )
    # a decoder beside an encoder begins with a token of its own
    return made[:, ids.shape[1] if decoder_only else 1 :]


def _written(tokens: Sequence[int], ends: Collection[int]) -> int:
    """How many tokens the model wrote, its end token included; what follows that is padding."""
    for count, token in enumerate(tokens, start=1):
        if token in ends:
            return count
    return len(tokens)


# Encoder-decoder models (T5, UnifiedQA, BART): the likelihood of each choice, or a reply.
#
