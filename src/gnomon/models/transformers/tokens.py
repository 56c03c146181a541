"""From text to tokens where a context meets its continuations, right for every family of tokenizer.

A continuation is never encoded alone: context and continuation are encoded as one text and split
where the context's own tokens end. Where a tokenizer merges across that boundary the split moves
back, for all choices of an item alike, so that every choice is scored over the same stretch of
text. Texts that share a long beginning are encoded from near the end of it. What is read can be
shown to people: tokens by name, the special ones written out.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from gnomon.models.choices import Query
from gnomon.models.comparison import Written
from gnomon.models.rows import shared

WORTHWHILE = 256  # characters that texts must share before their beginning is treated apart
CHECKED = 4  # texts on which a short cut is compared with the long way
KEPT = 8  # beginnings

Encode = Callable[[Sequence[str]], list[list[int]]]


class SharedBeginning(NamedTuple):
    """How a beginning is joined: texts are encoded from `cut` on, their first tokens replaced."""

    beginning: str
    cut: int
    skip: int  # tokens that are dropped
    tokens: list[int]  # those put in their place

    def encode(self, texts: Sequence[str], raw: Encode) -> list[list[int]]:
        """The tokens of texts that have this beginning."""
        ends = raw([text[self.cut :] for text in texts])
        return [self.tokens + ids[self.skip :] for ids in ends]


class SharedBeginnings:
    """The beginnings that were met so far, for one tokenizer."""

    def __init__(self, raw: Encode) -> None:
        self.raw = raw
        self._found: list[SharedBeginning] = []

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """The same tokens as `raw` gives."""
        known = self._beginning(texts)
        if known is None:
            return self.raw(texts)
        return known.encode(texts, self.raw)

    def _beginning(self, texts: Sequence[str]) -> SharedBeginning | None:
        beginning = _common_beginning(texts)
        if len(beginning) < WORTHWHILE:
            return None
        for known in self._found:
            longest = len(known.beginning) + WORTHWHILE
            if beginning.startswith(known.beginning) and len(beginning) < longest:
                return known

        made = _shared_beginning(beginning, self.raw)
        some = texts[:CHECKED]
        if made is None or made.encode(some, self.raw) != self.raw(some):
            return None
        self._found = [made, *self._found[: KEPT - 1]]
        return made


def _common_beginning(texts: Sequence[str]) -> str:
    first, last = min(texts), max(texts)  # what these two share, all share
    for place, (one, other) in enumerate(zip(first, last, strict=False)):
        if one != other:
            return first[:place]
    return first


def _shared_beginning(beginning: str, raw: Encode) -> SharedBeginning | None:
    """A place a few words before the end of a beginning, from where on its tokens are the same."""
    whole = raw([beginning])[0]
    for words in (8, 16):
        last_words = beginning.rsplit(" ", words)[1:]
        cut = len(beginning) - len(" ".join(last_words)) - 1
        if cut <= 0:
            return None
        last = raw([beginning[cut:]])[0]
        for skip in range(4):
            rest = last[skip:]
            if len(rest) > words // 2 and whole[-len(rest) :] == rest:
                return SharedBeginning(beginning, cut, skip, whole[: len(whole) - len(rest)])
    return None


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
        fast = getattr(tokenizer, "is_fast", False)
        self.backend = getattr(tokenizer, "_tokenizer", None) if fast else None
        self.local = _is_local(self.backend)
        self.opening = opening(tokenizer, self.raw)
        self._beginnings = SharedBeginnings(self.raw)
        self._joins: dict[tuple[str, str], Join] = {}

    def raw(self, texts: Sequence[str]) -> list[list[int]]:
        """Tokens of each text, without the special ones."""
        if not texts:
            return []
        if self.backend is None:
            encoding = self.tokenizer(list(texts), add_special_tokens=False)
            return list(encoding["input_ids"])

        self.backend.no_padding()
        self.backend.no_truncation()
        encoded = self.backend.encode_batch_fast(list(texts), add_special_tokens=False)
        return [encoding.ids for encoding in encoded]

    def texts(self, texts: Sequence[str]) -> list[list[int]]:
        """The same tokens as `raw`, faster where texts share a long beginning."""
        if self.local and len(texts) > 1:
            return self._beginnings.encode(texts)
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
        return known_token(self.tokenizer, "bos_token_id", "eos_token_id", "pad_token_id") or 0

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


def opening(tokenizer: Any, raw: Encode, *, target: bool = False) -> list[int]:
    """The special tokens that a tokenizer puts before a text: [CLS], <s>, nothing.

    `target` asks for those before a text to be written.
    """
    what = "text_target" if target else "text"
    return _around(tokenizer(**{what: "a"})["input_ids"], raw(["a"])[0])[0]


def closing(tokenizer: Any, raw: Encode) -> list[int]:
    """The special tokens that a tokenizer puts after a text: [SEP], </s>, nothing."""
    return _around(tokenizer("a")["input_ids"], raw(["a"])[0])[1]


def known_token(owner: Any, *names: str) -> int | None:
    """The first of some tokens that a tokenizer or a config has."""
    for name in names:
        found = getattr(owner, name, None)
        if found is not None:
            return int(found)
    return None


def end_tokens(model: Any) -> list[int]:
    """The tokens with which a reply ends."""
    found = model.generation_config.eos_token_id
    if found is None:
        return []
    return [found] if isinstance(found, int) else list(found)


def _is_local(backend: Any) -> bool:
    """Whether tokens depend on their own word only, so that short cuts are possible.

    Without a pre-tokenizer, or with tokens of several words ("of the"), a merge may reach far.
    """
    if backend is None or backend.pre_tokenizer is None:
        return False
    vocabulary = backend.get_vocab(with_added_tokens=False)
    return not any(_TWO_WORDS.search(token) for token in vocabulary)


# --- what a model reads, for people --------------------------------------------------------------


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
    plain = tokenizer("a", add_special_tokens=False)["input_ids"]
    opening, closing = _around(tokenizer("a")["input_ids"], plain)
    return {
        "opening": _written(tokenizer, opening),
        "closing": _written(tokenizer, closing),
        "special": tuple(tokenizer.all_special_tokens),
    }


def tokens_around_a_pair(tokenizer: Any) -> dict[str, Any]:
    """What stands before, between and after the texts of a pair."""
    one = tokenizer("a", add_special_tokens=False)["input_ids"]
    opening, rest = _around(tokenizer("a", "a")["input_ids"], one)
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
    stops = [tokenizer.convert_ids_to_tokens(end) for end in end_tokens(model)]
    return {"new_tokens": new_tokens, "stops": stops, "draws": "always the likeliest token"}


def _around(ids: Sequence[int], inner: Sequence[int]) -> tuple[list[int], list[int]]:
    """What stands before and after some tokens among others; the first place counts."""
    size = len(inner)
    for start in range(len(ids) - size + 1):
        if list(ids[start : start + size]) == list(inner):
            return list(ids[:start]), list(ids[start + size :])
    return [], []


def _written(tokenizer: Any, ids: Sequence[int]) -> str:
    return "".join(tokenizer.convert_ids_to_tokens(list(ids)))
