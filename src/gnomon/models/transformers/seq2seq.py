"""Encoder-decoder models (T5, UnifiedQA, BART): the likelihood of each choice as the decoder's
text, or a reply.

The encoder reads an item once. The decoder's first step, and with it the keys and values over the
encoder's states, is shared by all choices of the item; only what differs is computed for each. A
choice is scored with its end token, so that it is the whole reply and not the beginning of another
one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import torch

from gnomon.contracts import Scale
from gnomon.errors import UsageError
from gnomon.models.transformers.causal import gather, longest, token_budget, too_long
from gnomon.models.transformers.tokens import Encoder, opening
from gnomon.probing.prompts import Prompt
from gnomon.records import Answer, Item, pick

NORMALISATIONS = ("sum", "mean", "byte", "pmi")
TARGETS = 64  # of an item that are scored together
LOGITS = 256 * 2**20  # bytes of logits that a batch may have


class Source(NamedTuple):
    """A tokenised item: what the encoder reads and what the decoder may write."""

    tokens: list[int]
    targets: list[list[int]]


class Seq2seq:
    """An encoder-decoder model of transformers, asked with a prompt."""

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
        if normalise not in NORMALISATIONS:
            raise UsageError(
                f"There is no normalisation '{normalise}'.", f"Known: {', '.join(NORMALISATIONS)}."
            )
        self.spec = spec
        self.scale: Scale = "none" if ask == "generate" else "log-probability"
        self.model, self.tokenizer, self.prompt = model, tokenizer, prompt
        self.normalise, self.ask, self.new_tokens = normalise, ask, new_tokens
        self.about = about or {}
        self.encoder = Encoder(tokenizer)
        self.batch, self.budget = 256, token_budget(model)
        self.longest = (
            longest(model, tokenizer)
            if not hasattr(model.config, "relative_attention_num_buckets")
            else 0
        )
        self.tokens = 2048 if next(model.parameters()).device.type == "cpu" else 16384
        self.opening = opening(
            tokenizer, self.encoder.raw, target=True
        )  # what targets begin with: BART's <s>
        self._alone: dict[str, float] = {}

    def describe(self) -> dict[str, Any]:
        """What determines the answers."""
        how = (
            {"new_tokens": self.new_tokens}
            if self.ask == "generate"
            else {"normalise": self.normalise}
        )
        return {**self.about, "prompt": self.prompt.describe(), "ask": self.ask, **how}

    def answer(self, items: Sequence[Item]) -> list[Answer]:
        """One answer for each item."""
        contexts = [self.prompt.context(item) for item in items]
        if self.ask == "generate":
            return self._generated(items, self._read(contexts))
        words = [self.prompt.words(item) for item in items]
        flat = [[word.strip() for alternatives in item for word in alternatives] for item in words]
        sources = [
            Source(*one) for one in zip(self._read(contexts), self._written(flat), strict=True)
        ]
        fits = [not self.longest or len(source.tokens) <= self.longest for source in sources]
        scored = iter(
            self._scores([source for source, fit in zip(sources, fits, strict=True) if fit])
        )
        if self.normalise == "pmi":
            self._learn_alone([word for item in flat for word in item])
        answers = []
        for item, choices, texts, source, fit in zip(
            items, words, flat, sources, fits, strict=True
        ):
            if not fit:
                answers.append(
                    Answer(item=item.id, error=too_long(len(source.tokens), self.longest))
                )
                continue
            counts = map(len, source.targets)
            normal = [self._normal(*one) for one in zip(next(scored), texts, counts, strict=True)]
            answers.append(pick(item, gather(normal, choices)))
        return answers

    def _generated(self, items: Sequence[Item], sources: Sequence[list[int]]) -> list[Answer]:
        from gnomon.models.reading.replies import as_answer
        from gnomon.models.transformers.generating import generate

        fits = [not self.longest or len(tokens) <= self.longest for tokens in sources]
        asked = [tokens for tokens, fit in zip(sources, fits, strict=True) if fit]
        replies = iter(generate(self.model, self.tokenizer, asked, new_tokens=self.new_tokens))
        return [
            as_answer(item, next(replies), self.prompt.answers(item))
            if fit
            else Answer(item=item.id, error=too_long(len(tokens), self.longest))
            for item, tokens, fit in zip(items, sources, fits, strict=True)
        ]

    def _read(self, texts: Sequence[str]) -> list[list[int]]:
        found: list[list[int]] = self.tokenizer(list(texts))[
            "input_ids"
        ]  # with the end token that encoders expect
        return found

    def _written(self, words: Sequence[Sequence[str]]) -> list[list[list[int]]]:
        """Targets as tokens: the text and the end token; each different text is encoded once."""
        texts = list(dict.fromkeys(word for item in words for word in item))
        end = [self.tokenizer.eos_token_id] if self.tokenizer.eos_token_id is not None else []
        known = {text: ids + end for text, ids in zip(texts, self.encoder.raw(texts), strict=True)}
        return [[known[word] for word in item] for item in words]

    def _scores(self, sources: Sequence[Source]) -> list[list[float]]:
        return score(self.model, sources, opening=self.opening, tokens=self.tokens)

    def _normal(self, score: float, text: str, tokens: int) -> float:
        if self.normalise == "mean":
            return score / tokens
        if self.normalise == "byte":
            return score / max(1, len(text.encode()))
        return score - self._alone[text] if self.normalise == "pmi" else score

    def _learn_alone(self, texts: Sequence[str]) -> None:
        fresh = [text for text in dict.fromkeys(texts) if text not in self._alone]
        empty = self._read([""])[0] or [self.encoder.first]
        sources = [
            Source(empty, [targets[0]]) for targets in self._written([[text] for text in fresh])
        ]
        scores = self._scores(sources)
        self._alone |= {text: found for text, (found,) in zip(fresh, scores, strict=True)}


def score(
    model: Any, sources: Sequence[Source], *, opening: Sequence[int] = (), tokens: int = 2048
) -> list[list[float]]:
    """For each source the log-probability of each target, summed over its tokens.

    The decoder begins with its start token and the tokens of `opening`, which are not scored.
    """
    result: list[list[float]] = [[] for _ in sources]
    parts = [
        (number, Source(source.tokens, source.targets[first : first + TARGETS]))
        for number, source in enumerate(sources)
        for first in range(0, len(source.targets), TARGETS)
    ]
    start = [_start(model), *opening]
    found: dict[int, list[float]] = {}
    for numbers in _alike([part for _, part in parts], tokens, _outputs(model)):
        scores = _score_batch(model, [parts[number][1] for number in numbers], start)
        found |= zip(numbers, scores, strict=True)
    for number, (owner, _) in enumerate(parts):
        result[owner] += found[number]
    return result


def _start(model: Any) -> int:
    """The token that a decoder begins with."""
    for owner in (model.config, model.generation_config):
        for name in ("decoder_start_token_id", "bos_token_id"):
            found = getattr(owner, name, None)
            if found is not None:
                return int(found)
    return 0


def _outputs(model: Any) -> int:
    """How many tokens' logits a batch may have."""
    return max(32, LOGITS // (4 * int(model.config.get_text_config(decoder=True).vocab_size)))


def _score_batch(model: Any, sources: Sequence[Source], start: list[int]) -> list[list[float]]:
    device = next(model.parameters()).device
    size = max(len(source.tokens) for source in sources)
    ids = torch.tensor([s.tokens + [0] * (size - len(s.tokens)) for s in sources], device=device)
    mask = torch.tensor(
        [[1] * len(s.tokens) + [0] * (size - len(s.tokens)) for s in sources], device=device
    )
    with torch.inference_mode():
        encoded = model.get_encoder()(input_ids=ids, attention_mask=mask)
        first = torch.tensor([start] * len(sources), device=device)
        opened = model(
            encoder_outputs=encoded, attention_mask=mask, decoder_input_ids=first, use_cache=True
        )
        opening = opened.logits[:, -1].float()
        opening = opening - opening.logsumexp(-1, keepdim=True)
        found = [
            [opening[row, target[0]].item() for target in source.targets]
            for row, source in enumerate(sources)
        ]
        _add_rest(model, sources, encoded, mask, opened.past_key_values, found)
    return found


def _add_rest(
    model: Any,
    sources: Sequence[Source],
    encoded: Any,
    mask: torch.Tensor,
    cache: Any,
    found: list[list[float]],
) -> None:
    """Add the log-probabilities of the tokens after the first, in place."""
    paths: dict[
        tuple[int, tuple[int, ...]], int
    ] = {}  # item and text so far -> row of the decoder's batch
    wanted: list[tuple[int, int, int, int, int]] = []  # row, place, token, item, choice
    for item, source in enumerate(sources):
        for choice, target in enumerate(source.targets):
            if len(target) > 1:
                row = paths.setdefault((item, tuple(target[:-1])), len(paths))
                wanted += [
                    (row, place, token, item, choice) for place, token in enumerate(target[1:])
                ]
    if not paths:
        return
    rows = torch.tensor([item for item, _ in paths], device=mask.device)
    size = max(len(path) for _, path in paths)
    ids = torch.tensor(
        [[*path, *[path[-1]] * (size - len(path))] for _, path in paths], device=mask.device
    )
    cache.batch_select_indices(rows)
    states = type(encoded)(last_hidden_state=encoded.last_hidden_state[rows])
    logits = model(
        encoder_outputs=states,
        attention_mask=mask[rows],
        decoder_input_ids=ids,
        past_key_values=cache,
        use_cache=True,
    ).logits.float()
    at = torch.tensor(
        [[row, place, token] for row, place, token, _, _ in wanted], device=mask.device
    ).T
    values = logits[at[0], at[1], at[2]] - logits.logsumexp(-1)[at[0], at[1]]
    for (_, _, _, item, choice), value in zip(wanted, values.tolist(), strict=True):
        found[item][choice] += value


def _alike(sources: Sequence[Source], tokens: int, outputs: int) -> Iterator[list[int]]:
    """Numbers of sources of like length, at most so many tokens and target tokens in a batch,
    padding counted."""
    batch: list[int] = []
    rows = longest = 0
    for number in sorted(range(len(sources)), key=lambda n: len(sources[n].tokens), reverse=True):
        targets = sources[number].targets
        rows, longest = rows + len(targets), max(longest, *map(len, targets))
        if batch and (
            (len(batch) + 1) * len(sources[batch[0]].tokens) > tokens or rows * longest > outputs
        ):
            yield batch
            batch, rows, longest = [], len(targets), max(map(len, targets))
        batch.append(number)
    if batch:
        yield batch
