"""Replies: greedy generation in batches of like length."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import torch

from gnomon.models.choices import ModelReply, by_length, take

BATCH = 16


def generate(
    model: Any, tokenizer: Any, prompts: Sequence[Sequence[int]], *, new_tokens: int
) -> list[ModelReply]:
    """The model's greedy reply to each prompt, of at most `new_tokens` tokens."""
    ends = _end_tokens(model)
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
    filler = _filler(tokenizer)
    longest = max(map(len, prompts))

    ids, mask = [], []
    for prompt in prompts:
        gap = longest - len(prompt)
        padding, seen = [filler] * gap, [1] * len(prompt)
        if decoder_only:  # the reply follows the last token: pad on the left
            ids.append([*padding, *prompt])
            mask.append([0] * gap + seen)
        else:
            ids.append([*prompt, *padding])
            mask.append(seen + [0] * gap)

    with torch.inference_mode():
        made: torch.Tensor = model.generate(
            input_ids=torch.tensor(ids, device=device),
            attention_mask=torch.tensor(mask, device=device),
            max_new_tokens=new_tokens,
            do_sample=False,
            num_beams=1,
            pad_token_id=filler,
            temperature=None,
            top_p=None,
            top_k=None,
        )
    begun = longest if decoder_only else 1  # a decoder of its own begins with a token of its own
    return made[:, begun:]


def _end_tokens(model: Any) -> set[int]:
    """The tokens with which a reply ends."""
    found = model.generation_config.eos_token_id
    if found is None:
        return set()
    return {found} if isinstance(found, int) else set(found)


def _written(tokens: Sequence[int], ends: Collection[int]) -> int:
    """How many tokens the model wrote, its end token included; what follows that is padding."""
    for count, token in enumerate(tokens, start=1):
        if token in ends:
            return count
    return len(tokens)


def _filler(tokenizer: Any) -> int:
    for token in (tokenizer.pad_token_id, tokenizer.eos_token_id):
        if token is not None:
            return int(token)
    return 0
