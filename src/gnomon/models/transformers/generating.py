"""Replies: greedy generation in batches of like length."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch

BATCH = 16


def generate(
    model: Any, tokenizer: Any, prompts: Sequence[Sequence[int]], *, new_tokens: int
) -> list[str]:
    """The model's greedy reply to each prompt, of at most `new_tokens` tokens, without special
    tokens."""
    device = next(model.parameters()).device
    decoder_only = not model.config.is_encoder_decoder
    replies = [""] * len(prompts)
    for numbers in _alike(prompts):
        longest = max(len(prompts[number]) for number in numbers)
        gaps = [longest - len(prompts[number]) for number in numbers]
        filler = _filler(tokenizer)
        if decoder_only:  # the reply follows the last token: pad on the left
            ids = [
                [filler] * gap + list(prompts[number])
                for number, gap in zip(numbers, gaps, strict=True)
            ]
            mask = [[0] * gap + [1] * (longest - gap) for gap in gaps]
        else:
            ids = [
                list(prompts[number]) + [filler] * gap
                for number, gap in zip(numbers, gaps, strict=True)
            ]
            mask = [[1] * (longest - gap) + [0] * gap for gap in gaps]
        with torch.inference_mode():
            made = model.generate(
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
        own = made[:, longest:] if decoder_only else made
        for number, text in zip(
            numbers, tokenizer.batch_decode(own, skip_special_tokens=True), strict=True
        ):
            replies[number] = text.strip()
    return replies


def _alike(prompts: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    order = sorted(range(len(prompts)), key=lambda number: len(prompts[number]))
    for start in range(0, len(order), BATCH):
        yield order[start : start + BATCH]


def _filler(tokenizer: Any) -> int:
    found = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id
    return 0 if found is None else int(found)
