"""What a model of transformers reads, for people: its tokens by name, the special ones written out.

Which special tokens a tokenizer puts around a text is found by encoding a text that needs none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gnomon.models.asking import HOW, Asking, continuations
from gnomon.models.comparing import Written
from gnomon.records import Continuation, Item, Preview


def previewed(
    asking: Asking,
    item: Item,
    tokenizer: Any,
    text: str,
    ids: Sequence[int],
    scored: tuple[Continuation, ...] = (),
) -> Preview:
    """What a model reads for an item: `text`, which is `ids` to it."""
    special = []
    for token in dict.fromkeys(ids):
        if token in tokenizer.all_special_ids:
            special.append(tokenizer.convert_ids_to_tokens(token))
    return Preview(
        text=text,
        scored=scored,
        images=len(item.images) if asking.takes_pictures else 0,
        tokens=len(ids),
        ids=tuple(ids),
        special=tuple(special),
        how=HOW[asking.way],
        limits=asking.limits,
    )


def scored_words(
    item: Item, words: Sequence[Sequence[str]], tokens: Sequence[Sequence[int]], tokenizer: Any
) -> tuple[Continuation, ...]:
    """The words of each choice with the tokens that are scored."""
    return continuations(item, words, tokens, lambda token: str(tokenizer.decode([token])))


def written(tokenizer: Any, texts: Sequence[str]) -> list[Written]:
    """Whole texts as they are read, with the special tokens around them."""
    around = surrounding_tokens(tokenizer)
    found = []
    for text, ids in zip(texts, tokenizer(list(texts))["input_ids"], strict=True):
        tokens = tuple(str(tokenizer.decode([token])) for token in ids)
        read = around["opening"] + text + around["closing"]
        found.append(Written(read, tokens, tuple(ids)))
    return found


def special_tokens(tokenizer: Any, opening: Sequence[int]) -> dict[str, Any]:
    """What stands before a text that is continued, and the special tokens that there are."""
    return {
        "opening": _written(tokenizer, opening),
        "begins": getattr(tokenizer, "bos_token", None) or "",
        "special": tuple(tokenizer.all_special_tokens),
    }


def surrounding_tokens(tokenizer: Any) -> dict[str, Any]:
    """What stands before and after a whole text."""
    opening, closing = _around(tokenizer("a")["input_ids"], _plain(tokenizer, "a"))
    return {
        "opening": _written(tokenizer, opening),
        "closing": _written(tokenizer, closing),
        "special": tuple(tokenizer.all_special_tokens),
    }


def tokens_around_a_pair(tokenizer: Any) -> dict[str, Any]:
    """What stands before, between and after the texts of a pair."""
    one = _plain(tokenizer, "a")
    ids = tokenizer("a", "a")["input_ids"]
    opening, rest = _around(ids, one)
    middle, closing = _around(rest, one)
    return {
        "opening": _written(tokenizer, opening),
        "middle": _written(tokenizer, middle),
        "closing": _written(tokenizer, closing),
        "special": tuple(tokenizer.all_special_tokens),
    }


def limits_of(ask: str, new_tokens: int, model: Any, tokenizer: Any) -> dict[str, Any]:
    """How long a reply may be, and the tokens that end it; nothing where none is written."""
    if ask != "generate":
        return {}
    found = model.generation_config.eos_token_id
    ends = found if isinstance(found, list) else [found]
    stops = [tokenizer.convert_ids_to_tokens(end) for end in ends if end is not None]
    return {"new_tokens": new_tokens, "stops": stops, "draws": "always the likeliest token"}


def _plain(tokenizer: Any, text: str) -> list[int]:
    found: list[int] = tokenizer(text, add_special_tokens=False)["input_ids"]
    return found


def _around(ids: Sequence[int], inner: Sequence[int]) -> tuple[list[int], list[int]]:
    """What stands before and after some tokens among others; the first place counts."""
    size = len(inner)
    for start in range(len(ids) - size + 1):
        if list(ids[start : start + size]) == list(inner):
            return list(ids[:start]), list(ids[start + size :])
    return [], []


def _written(tokenizer: Any, ids: Sequence[int]) -> str:
    return "".join(tokenizer.convert_ids_to_tokens(list(ids)))
