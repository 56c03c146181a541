"""The tokenizer of captions: WordPiece, trained on the captions of training alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from gnomon.errors import ModelError

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


class Marks(NamedTuple):
    """The tokens that stand around captions and in their gaps."""

    first: tuple[int, ...]  # before a row: [CLS], or nothing
    last: tuple[int, ...]  # behind each caption: [SEP], or nothing
    pad: int
    mask: int


def marks_of(tokenizer: Any, *, special: bool) -> Marks:
    """The marks of a tokenizer; without special tokens, captions are read bare."""
    if tokenizer.mask_token_id is None:
        raise ModelError(
            "The tokenizer has no mask, so nothing can be hidden from the model.",
            "Choose the tokenizer of a masked model, or leave it out to train one.",
        )
    pad = tokenizer.pad_token_id
    pad = tokenizer.mask_token_id if pad is None else pad  # it is never looked at
    if not special:
        return Marks((), (), pad, tokenizer.mask_token_id)
    first = _given(tokenizer.cls_token_id)
    last = _given(tokenizer.sep_token_id)
    return Marks(first, last, pad, tokenizer.mask_token_id)


def trained_tokenizer(texts: Iterable[str], size: int, longest: int) -> Any:
    """BERT's uncased WordPiece with at most so many tokens, learnt from some texts."""
    from tokenizers import (
        Tokenizer,
        decoders,
        models,
        normalizers,
        pre_tokenizers,
        processors,
        trainers,
    )
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))  # noqa: S106 - no secret
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    trainer = trainers.WordPieceTrainer(
        vocab_size=size, special_tokens=list(SPECIAL), show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", SPECIAL.index("[CLS]")), ("[SEP]", SPECIAL.index("[SEP]"))],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=longest,
        pad_token="[PAD]",  # noqa: S106
        unk_token="[UNK]",  # noqa: S106
        cls_token="[CLS]",  # noqa: S106
        sep_token="[SEP]",  # noqa: S106
        mask_token="[MASK]",  # noqa: S106
    )


def _given(token: int | None) -> tuple[int, ...]:
    return () if token is None else (token,)
