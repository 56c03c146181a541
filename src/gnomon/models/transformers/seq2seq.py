"""Encoder-decoder models (T5, UnifiedQA, BART): the likelihood of each choice, or a reply.

A choice is scored with its end token, so that it is the whole reply and not the beginning of
another one. The encoder reads an item once. The decoder's first step, and with it the keys and
values over the encoder's states, is shared by all choices of the item; only what differs is
computed for each.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from gnomon.models.choices import (
    Likelihoods,
    ModelReply,
    Query,
    by_length,
    contexts,
    flat,
    take,
)
from gnomon.models.prompted import Prompted
from gnomon.models.prompts.preview import PromptFormat
from gnomon.models.rows import QueryPart
from gnomon.models.transformers.causal import generate
from gnomon.models.transformers.loading import longest_text, token_budget, tokens_in_a_pass
from gnomon.models.transformers.passes import padded
from gnomon.models.transformers.tokens import (
    TextEncoder,
    known_token,
    limits_of,
    opening,
    surrounding_tokens,
)
from gnomon.records import Answer, Item, Preview


class Seq2seq(Prompted):
    """An encoder-decoder model of transformers, asked with a prompt."""

    batch = 256

    def __init__(self, *parts: Any, **how: Any) -> None:
        super().__init__(*parts, **how)
        self.budget = token_budget(self.model)
        self.in_a_pass = tokens_in_a_pass(self.model)
        self.longest = longest_text(self.model, self.tokenizer)
        if hasattr(self.model.config, "relative_attention_num_buckets"):
            self.longest = 0  # without limit
        self.encoder = TextEncoder(self.tokenizer)
        # what targets begin with: BART's <s>
        self.opening = opening(self.tokenizer, self.encoder.raw, target=True)
        self.likelihoods = Likelihoods(
            self._score,
            normalise=self.normalise,
            nothing=self.tokens([""])[0] or [self.encoder.first],
            longest=self.longest,
            size=lambda query: len(query.context),
        )

    @property
    def room(self) -> int:
        """None after what is read: a reply is a text of its own."""
        return 0

    def describe_kind(self) -> dict[str, Any]:
        """Nothing beside what all kinds say."""
        return {}

    def answer(self, items: Sequence[Item]) -> list[Answer]:
        """One answer for each item."""
        return self.answer_texts(items, contexts(self.prompt, items))

    def preview(self, item: Item) -> Preview:
        """What the encoder reads for an item, and the tokens of the decoder that are scored."""
        (text,) = contexts(self.prompt, [item])
        return self.preview_text(item, self.asking().opened(text), text)

    def asking(self) -> PromptFormat:
        """What shows prompts without the model."""
        return PromptFormat(
            way="target" if self.ask == "score" else self.ask,
            prompt=self.kept_prompt,
            **surrounding_tokens(self.tokenizer),
            limits=limits_of(self.ask, self.new_tokens, self.model, self.tokenizer),
        )

    def words(self, item: Item) -> list[list[str]]:
        """The words of each choice as the decoder's whole text."""
        return [[word.strip() for word in ways] for ways in self.prompt.words(item)]

    def queries(
        self, texts: Sequence[str], words: Sequence[Sequence[Sequence[str]]]
    ) -> list[Query]:
        """What the encoder reads, and each way to answer as the decoder's tokens."""
        targets = self.targets([flat(each) for each in words])
        return [Query(*each) for each in zip(self.tokens(texts), targets, strict=True)]

    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """Texts as the encoder's tokens, with the end token that it expects."""
        return list(self.tokenizer(list(texts))["input_ids"])

    def targets(self, words: Sequence[Sequence[str]]) -> list[list[list[int]]]:
        """Words as the decoder's tokens, with the end token; each word is encoded once."""
        texts = list(dict.fromkeys(flat(words)))
        end = self.tokenizer.eos_token_id
        closing = [] if end is None else [end]
        known = dict(zip(texts, self.encoder.raw(texts), strict=True))
        return [[known[word] + closing for word in each] for each in words]

    def _score(self, queries: Sequence[Query]) -> list[list[float]]:
        return score(self.model, queries, opening=self.opening, tokens=self.in_a_pass)

    def write(self, prompts: Sequence[Sequence[int]]) -> list[ModelReply]:
        """The reply to each text."""
        return generate(self.model, self.tokenizer, prompts, new_tokens=self.new_tokens)


TARGETS = 64  # of an item that are scored together
LOGITS = 256 * 2**20  # bytes of logits that a batch may have


class _Wanted(NamedTuple):
    """A token after the first of a choice: its row and place in the decoder's batch."""

    row: int
    place: int
    token: int
    item: int
    choice: int


class Read(NamedTuple):
    """What the encoder made of a batch, and the decoder's cache after its first step."""

    encoded: Any
    mask: torch.Tensor
    cache: Any


def score(
    model: Any, queries: Sequence[Query], *, opening: Sequence[int] = (), tokens: int = 2048
) -> list[list[float]]:
    """For each query the log-probability of each continuation, summed over its tokens.

    The decoder begins with its start token and the tokens of `opening`, which are not scored.
    """
    result = [[0.0] * len(query.continuations) for query in queries]
    parts = _parts(queries)
    lengths = [len(part.query.context) for part in parts]
    vocabulary = int(model.config.get_text_config(decoder=True).vocab_size)
    outputs = max(32, LOGITS // (4 * vocabulary))  # tokens' logits of a batch
    start = [start_token(model), *opening]

    def overfull(batch: Sequence[int]) -> bool:
        if len(batch) * lengths[batch[0]] > tokens:
            return True
        return _outputs(take(parts, batch)) > outputs

    for numbers in by_length(lengths, overfull):
        batch = take(parts, numbers)
        scores = _score_batch(model, [part.query for part in batch], start)
        for part, found in zip(batch, scores, strict=True):
            end = part.first + len(found)
            result[part.number][part.first : end] = found
    return result


def _parts(queries: Sequence[Query]) -> list[QueryPart]:
    """Queries with at most TARGETS continuations each."""
    parts = []
    for number, query in enumerate(queries):
        for first in range(0, len(query.continuations), TARGETS):
            some = query.continuations[first : first + TARGETS]
            parts.append(QueryPart(number, first, Query(query.context, some)))
    return parts


def _outputs(parts: Sequence[QueryPart]) -> int:
    """How many tokens' logits a batch has, padding counted."""
    targets = [target for part in parts for target in part.query.continuations]
    return len(targets) * max(map(len, targets))


def start_token(model: Any) -> int:
    """The token that a decoder begins with."""
    for owner in (model.config, model.generation_config):
        found = known_token(owner, "decoder_start_token_id", "bos_token_id")
        if found is not None:
            return found
    return 0


def _score_batch(model: Any, queries: Sequence[Query], start: list[int]) -> list[list[float]]:
    device = next(model.parameters()).device
    ids, mask = padded([query.context for query in queries], 0, device)

    with torch.inference_mode():
        encoded = model.get_encoder()(input_ids=ids, attention_mask=mask)
        opened = model(
            encoder_outputs=encoded,
            attention_mask=mask,
            decoder_input_ids=torch.tensor([start] * len(queries), device=device),
            use_cache=True,
        )
        found = _first_tokens(opened.logits[:, -1].float(), queries)
        read = Read(encoded, mask, opened.past_key_values)
        _add_later_tokens(model, queries, read, found)
    return found


def _first_tokens(logits: torch.Tensor, queries: Sequence[Query]) -> list[list[float]]:
    """The log-probability of each continuation's first token."""
    logits = logits - logits.logsumexp(-1, keepdim=True)
    found = []
    for row, query in zip(logits, queries, strict=True):
        first = [target[0] for target in query.continuations]
        found.append(row[first].tolist())
    return found


def _add_later_tokens(
    model: Any, queries: Sequence[Query], read: Read, found: list[list[float]]
) -> None:
    """Add the log-probabilities of the tokens after the first, in place."""
    paths: dict[tuple[int, tuple[int, ...]], int] = {}  # item and text so far -> row
    wanted: list[_Wanted] = []
    for item, query in enumerate(queries):
        for choice, target in enumerate(query.continuations):
            if len(target) > 1:
                row = paths.setdefault((item, tuple(target[:-1])), len(paths))
                for place, token in enumerate(target[1:]):
                    wanted.append(_Wanted(row, place, token, item, choice))
    if not wanted:
        return

    logits = _continued(model, list(paths), read)
    sums = logits.logsumexp(-1)
    at = torch.tensor([want[:3] for want in wanted], device=logits.device).T
    values = logits[at[0], at[1], at[2]] - sums[at[0], at[1]]
    for want, value in zip(wanted, values.tolist(), strict=True):
        found[want.item][want.choice] += value


def _continued(
    model: Any, paths: Sequence[tuple[int, tuple[int, ...]]], read: Read
) -> torch.Tensor:
    """The decoder's logits along each path, after the first step of the path's item."""
    device = read.mask.device
    items = torch.tensor([item for item, _ in paths], device=device)
    size = max(len(path) for _, path in paths)
    ids = []
    for _, path in paths:
        ids.append([*path, *path[-1:] * (size - len(path))])

    read.cache.batch_select_indices(items)
    states = type(read.encoded)(last_hidden_state=read.encoded.last_hidden_state[items])
    logits: torch.Tensor = model(
        encoder_outputs=states,
        attention_mask=read.mask[items],
        decoder_input_ids=torch.tensor(ids, device=device),
        past_key_values=read.cache,
        use_cache=True,
    ).logits
    return logits.float()
