"""From text to tokens where a context meets its continuations, right for every family of tokenizer.

A continuation is never encoded alone: context and continuation are encoded as one text and split
where the context's own tokens end. Where a tokenizer merges across that boundary the split moves
back, for all choices of an item alike, so that every choice is scored over the same stretch of
text. Texts that share a long beginning are encoded from near the end of it (`seams`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from gnomon.models.choices import Query
from gnomon.models.transformers.rows import shared
from gnomon.models.transformers.seams import Seams

TAIL = 64  # characters before the boundary that can influence the tokens after it
JOINS_KEPT = 65536
_TWO_WORDS = re.compile(r"[^\sĠĊĉ▁][ Ġ▁]")  # a space as tokenizers write it, after something else


class Join(NamedTuple):
    """How a continuation joins a context: tokens that it takes back, and those that follow."""

    back: int
    tokens: list[int]


class TextEncoder:
    """Encodes texts with a tokenizer of transformers, and contexts with their continuations."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        self.backend = _backend(tokenizer)
        self.local = _is_local(self.backend)
        self.opening = opening(tokenizer, self.raw)
        self._seams = Seams(self.raw)
        self._joins: dict[tuple[str, str], Join] = {}

    def raw(self, texts: Sequence[str]) -> list[list[int]]:
        """Tokens of each text, without the special ones."""
        if not texts:
            return []
        if self.backend is None:
            found: list[list[int]] = self.tokenizer(list(texts), add_special_tokens=False)[
                "input_ids"
            ]
            return found

        self.backend.no_padding()
        self.backend.no_truncation()
        encoded = self.backend.encode_batch_fast(list(texts), add_special_tokens=False)
        return [encoding.ids for encoding in encoded]

    def texts(self, texts: Sequence[str]) -> list[list[int]]:
        """The same tokens as `raw`, faster where texts share a long beginning."""
        if self.local and len(texts) > 1:
            return self._seams.encode(texts)
        return self.raw(texts)

    def queries(
        self,
        contexts: Sequence[str],
        continuations: Sequence[Sequence[str]],
        *,
        complete: bool = False,
    ) -> list[Query]:
        """Contexts and their continuations as tokens; a context is opened as texts are.

        Each continuation has at least one token, and so has each context (the opening token, if it
        has no other). Contexts that are `complete`, such as a chat template writes them, are not
        opened.
        """
        encoded = self.texts(contexts)
        joins = self._joined(contexts, encoded, continuations)
        made = []
        for text, ids, ways in zip(contexts, encoded, joins, strict=True):
            # an empty continuation takes the last token of the context
            back = max(join.back if join.back or join.tokens else 1 for join in ways)
            start = len(ids) - back
            tails = [[*ids[start : len(ids) - join.back], *join.tokens] for join in ways]
            made.append(Query(self.open(text, ids[:start], complete=complete), tails))
        return made

    def open(self, text: str, ids: list[int], *, complete: bool = False) -> list[int]:
        """The tokens with the opening ones, unless the text has them already; never empty."""
        marker: str = getattr(self.tokenizer, "bos_token", None) or ""
        written = complete or (bool(marker) and text.startswith(marker))
        if self.opening and not written:
            return self.opening + ids
        return ids or [self.first]

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
    ) -> list[list[Join]]:
        """For each context how each of its continuations joins it."""
        if len(self._joins) > JOINS_KEPT:
            self._joins.clear()
        ends = [self._influential_end(context) for context in contexts]
        fresh: dict[tuple[str, str], tuple[str, list[int]]] = {}
        for context, end, ids, words in zip(contexts, ends, encoded, continuations, strict=True):
            for word in words:
                if (end, word) not in self._joins:
                    fresh[end, word] = (context + word, ids)

        wholes = self.texts([text for text, _ in fresh.values()])
        for (key, (_, ids)), whole in zip(fresh.items(), wholes, strict=True):
            common = shared(ids, whole)
            self._joins[key] = Join(len(ids) - common, whole[common:])

        found = []
        for end, words in zip(ends, continuations, strict=True):
            found.append([self._joins[end, word] for word in words])
        return found

    def _influential_end(self, context: str) -> str:
        """As much of a context as can influence the tokens of what follows it."""
        tail = context[-TAIL:]
        return tail if self.local and " " in tail.strip() else context


def opening(tokenizer: Any, raw: Any, *, target: bool = False) -> list[int]:
    """The special tokens that a tokenizer puts before a text: [CLS], <s>, nothing.

    `target` asks for those before a text to be written.
    """
    plain = raw(["a"])[0]
    what = "text_target" if target else "text"
    special: list[int] = tokenizer(**{what: "a"})["input_ids"]
    for start in range(len(special) - len(plain) + 1):
        if special[start : start + len(plain)] == plain:
            return special[:start]
    return []


def _backend(tokenizer: Any) -> Any:
    """The fast tokenizer within one of transformers, if there is one."""
    if getattr(tokenizer, "is_fast", False):
        return getattr(tokenizer, "_tokenizer", None)
    return None


def _is_local(backend: Any) -> bool:
    """Whether tokens depend on their own word only, so that short cuts are possible.

    Without a pre-tokenizer, or with tokens of several words ("of the"), a merge may reach far.
    """
    if backend is None or backend.pre_tokenizer is None:
        return False
    vocabulary = backend.get_vocab(with_added_tokens=False)
    return not any(_TWO_WORDS.search(token) for token in vocabulary)
