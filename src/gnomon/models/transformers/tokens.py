"""From text to tokens where a context meets its continuations, right for every family of tokenizer.

A continuation is never encoded alone: context and continuation are encoded as one text and split
where the context's own tokens end. Where a tokenizer merges across that boundary the split moves
back, for all choices of an item alike, so that every choice is scored over the same stretch of
text. Texts that share a long beginning are encoded from near the end of it; whether that gives the
same tokens is checked before it is relied on.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from gnomon.models.transformers.rows import Query, shared

TAIL = 64  # characters before the boundary that can influence the tokens after it
WORTHWHILE = 256  # characters that texts must share before their beginning is treated apart
_TWO_WORDS = re.compile(r"[^\sĠĊĉ▁][ Ġ▁]")  # a space as tokenizers write it, after something else
CHECKED = 4  # texts on which a short cut is compared with the long way


class Seam(NamedTuple):
    """How a shared beginning is joined: texts are encoded from `cut` on, `skip` tokens dropped,
    `tokens` put before."""

    beginning: str
    cut: int
    skip: int
    tokens: list[int]


class Encoder:
    """Encodes texts with a tokenizer of transformers, and contexts together with their
    continuations."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        self.backend = (
            getattr(tokenizer, "_tokenizer", None) if getattr(tokenizer, "is_fast", False) else None
        )
        # Without a pre-tokenizer, or with tokens of several words, a merge may reach far: no short
        # cuts then.
        self.local = (
            self.backend is not None
            and self.backend.pre_tokenizer is not None
            and not _spans(self.backend)
        )
        self.opening = opening(tokenizer, self.raw)
        self._seams: list[Seam] = []
        self._joins: dict[tuple[str, str], tuple[int, list[int]]] = {}

    def raw(self, texts: Sequence[str]) -> list[list[int]]:
        """Tokens of each text, without the special ones."""
        if not texts:
            return []
        if self.backend is not None:
            self.backend.no_padding()
            self.backend.no_truncation()
            return [
                encoding.ids
                for encoding in self.backend.encode_batch_fast(
                    list(texts), add_special_tokens=False
                )
            ]
        found: list[list[int]] = self.tokenizer(list(texts), add_special_tokens=False)["input_ids"]
        return found

    def texts(self, texts: Sequence[str]) -> list[list[int]]:
        """The same tokens as `raw`, faster where texts share a long beginning."""
        seam = self._seam(texts)
        if seam is None:
            return self.raw(texts)
        return [
            seam.tokens + ids[seam.skip :] for ids in self.raw([text[seam.cut :] for text in texts])
        ]

    def queries(
        self,
        contexts: Sequence[str],
        continuations: Sequence[Sequence[str]],
        *,
        complete: bool = False,
    ) -> list[Query]:
        """Contexts and their continuations as tokens; a context begins with what the tokenizer
        opens texts with.

        Each continuation has at least one token, and so has each context (the opening token, if it
        has no other). Contexts that are `complete`, such as a chat template writes them, are not
        opened.
        """
        encoded = self.texts(contexts)
        joins = self._joined(contexts, encoded, continuations)
        made = []
        for text, ids, ways in zip(contexts, encoded, joins, strict=True):
            back = max(1 if not tokens and not drop else drop for drop, tokens in ways)
            start = len(ids) - back
            tails = [[*ids[start : len(ids) - drop], *tokens] for drop, tokens in ways]
            made.append(Query(self.open(text, ids[:start], complete=complete), tails))
        return made

    def open(self, text: str, ids: list[int], *, complete: bool = False) -> list[int]:
        """The tokens with the opening special tokens, unless the text has them already; never
        empty."""
        marker: str = getattr(self.tokenizer, "bos_token", None) or ""
        written = complete or (bool(marker) and text.startswith(marker))
        opened = ids if written or not self.opening else self.opening + ids
        return opened or [self.first]

    @property
    def first(self) -> int:
        """The token that stands for an empty context."""
        for name in ("bos_token_id", "eos_token_id", "pad_token_id"):
            found = getattr(self.tokenizer, name, None)
            if found is not None:
                return int(found)
        return 0

    def _joined(
        self,
        contexts: Sequence[str],
        encoded: Sequence[list[int]],
        continuations: Sequence[Sequence[str]],
    ) -> list[list[tuple[int, list[int]]]]:
        """For each continuation: how many tokens of the context it takes back, and the tokens that
        follow."""
        joins = self._joins
        keys = [
            [self._key(context, word) for word in words]
            for context, words in zip(contexts, continuations, strict=True)
        ]
        fresh: dict[tuple[str, str], tuple[str, list[int]]] = {}
        for context, ids, row, words in zip(contexts, encoded, keys, continuations, strict=True):
            for key, word in zip(row, words, strict=True):
                if key not in joins and key not in fresh:
                    fresh[key] = (context + word, ids)
        for (key, (_, ids)), whole in zip(
            fresh.items(), self.texts([text for text, _ in fresh.values()]), strict=True
        ):
            common = shared(ids, whole)
            joins[key] = (len(ids) - common, whole[common:])
        found = [[joins[key] for key in row] for row in keys]
        if len(joins) > 65536:
            joins.clear()
        return found

    def _key(self, context: str, word: str) -> tuple[str, str]:
        tail = context[-TAIL:]
        return (tail if self.local and " " in tail.strip() else context), word

    def _seam(self, texts: Sequence[str]) -> Seam | None:
        if not self.local or len(texts) < 2:
            return None
        beginning = _common_beginning(texts)
        if len(beginning) < WORTHWHILE:
            return None
        for seam in self._seams:
            if (
                beginning.startswith(seam.beginning)
                and len(beginning) < len(seam.beginning) + WORTHWHILE
            ):
                return seam
        found = _find_seam(beginning, self.raw)
        if found is None or not _holds(found, texts[:CHECKED], self.raw):
            return None
        self._seams = [found, *self._seams[:7]]
        return found


def _common_beginning(texts: Sequence[str]) -> str:
    first, last = min(texts), max(texts)  # what these two share, all share
    size = next(
        (place for place, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first)
    )
    return first[:size]


def _find_seam(beginning: str, raw: Any) -> Seam | None:
    """A place a few words before the end of a beginning, from where on its tokens are the same as
    in the whole."""
    whole = raw([beginning])[0]
    for words in (8, 16):
        cut = len(beginning) - len(" ".join(beginning.rsplit(" ", words)[1:])) - 1
        if cut <= 0:
            return None
        last = raw([beginning[cut:]])[0]
        for skip in range(4):
            rest = last[skip:]
            if len(rest) > words // 2 and whole[-len(rest) :] == rest:
                return Seam(beginning, cut, skip, whole[: len(whole) - len(rest)])
    return None


def _holds(seam: Seam, texts: Sequence[str], raw: Any) -> bool:
    short = raw([text[seam.cut :] for text in texts])
    return all(
        seam.tokens + ids[seam.skip :] == whole
        for ids, whole in zip(short, raw(texts), strict=True)
    )


def _spans(backend: Any) -> bool:
    """Whether some token reaches from one word into the next ("of the"), as those of superword
    vocabularies do."""
    return any(_TWO_WORDS.search(token) for token in backend.get_vocab(with_added_tokens=False))


def opening(tokenizer: Any, raw: Any, *, target: bool = False) -> list[int]:
    """The special tokens that a tokenizer puts before a text, or before a text to be written:
    [CLS], <s>, nothing."""
    plain = raw(["a"])[0]
    special: list[int] = tokenizer(**{"text_target" if target else "text": "a"})["input_ids"]
    for start in range(len(special) - len(plain) + 1):
        if special[start : start + len(plain)] == plain:
            return special[:start]
    return []
