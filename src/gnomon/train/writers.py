"""How likely a model of language writes a label, so that it can be taught to: with gradients.

Each kind of model reads an item and writes a label exactly as it is asked later: the same prompt,
the same tokens. `asker` is the model as it will be asked, `logs` gives what is taught.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from gnomon.errors import DataError
from gnomon.models.choices import contexts
from gnomon.models.prompted import Manner
from gnomon.models.prompts.library import Prompt
from gnomon.models.transformers.causal import Causal
from gnomon.models.transformers.loading import longest_text
from gnomon.models.transformers.masked import Masked, fill
from gnomon.models.transformers.passes import only_at, padded
from gnomon.models.transformers.seq2seq import Seq2seq, start_token
from gnomon.records import Item

NAME = "trained"  # of the model while it is trained: nobody sees it


class _WantedText(NamedTuple):
    """A token that is to be written: after which place of which row, and for which item."""

    row: int
    place: int
    token: int
    item: int


class CausalWriter:
    """A decoder: the word continues the prompt, or is the reply in a conversation."""

    def __init__(self, model: Any, tokenizer: Any, prompt: Prompt, *, chat: bool = False) -> None:
        self.model, self.tokenizer, self.prompt = model, tokenizer, prompt
        self.chat = chat
        self.reader = self.asker()

    def asker(self) -> Causal:
        """The model as it is asked: plain rows, since nothing is gained by trees here."""
        manner = Manner(chat=self.chat)
        return Causal(NAME, self.model, self.tokenizer, self.prompt, manner, trees=False)

    def logs(self, items: Sequence[Item], words: Sequence[str]) -> torch.Tensor:
        """For each item the log-probability that its word is written."""
        endings = []
        for item, word in zip(items, words, strict=True):
            endings.append([self._ending(item, word)])
        texts = self.reader.contexts(items)
        queries = self.reader.encoder.queries(texts, endings, complete=self.chat)

        rows, wanted = [], []
        for number, query in enumerate(queries):
            ending = query.continuations[0]
            rows.append([*query.context, *ending[:-1]])
            first = len(query.context) - 1
            for place, token in enumerate(ending, start=first):
                wanted.append(_WantedText(number, place, token, number))
        return _logs_in_rows(self.model, self.tokenizer, rows, wanted, len(items))

    def _ending(self, item: Item, word: str) -> str:
        if self.chat:
            return word
        parts = self.prompt.parts(item)
        return parts.lead + word + parts.after


class MaskedWriter:
    """A masked model: the word fills the blank, token by token from left to right."""

    def __init__(self, model: Any, tokenizer: Any, prompt: Prompt) -> None:
        self.model, self.tokenizer, self.prompt = model, tokenizer, prompt
        self.reader = self.asker()

    def asker(self) -> Masked:
        """The model as it is asked."""
        return Masked(NAME, self.model, self.tokenizer, self.prompt)

    def logs(self, items: Sequence[Item], words: Sequence[str]) -> torch.Tensor:
        """For each item the log-probability that its word is written."""
        rows: list[list[int]] = []
        wanted = []
        filled = fill(self.tokenizer, self.prompt, items)
        for number, (item, ways) in enumerate(zip(items, filled, strict=True)):
            place_of_word = _place(self.prompt, item, words[number])
            way = ways[place_of_word]
            if not way.span:
                raise DataError(
                    f"the tokenizer makes no token of '{words[number]}' (item {item.id}).",
                    "Choose another prompt or model.",
                )
            for blank in self.reader.blanks(way):
                token = way.tokens[blank.place]
                wanted.append(_WantedText(len(rows), blank.place, token, number))
                rows.append(list(blank.tokens))
        return _logs_in_rows(self.model, self.tokenizer, rows, wanted, len(items))


class Seq2seqWriter:
    """An encoder-decoder: the word is the whole reply."""

    def __init__(self, model: Any, tokenizer: Any, prompt: Prompt) -> None:
        self.model, self.tokenizer, self.prompt = model, tokenizer, prompt
        self.reader = self.asker()
        self.start = [start_token(model), *self.reader.opening]

    def asker(self) -> Seq2seq:
        """The model as it is asked."""
        return Seq2seq(NAME, self.model, self.tokenizer, self.prompt)

    def logs(self, items: Sequence[Item], words: Sequence[str]) -> torch.Tensor:
        """For each item the log-probability that its word is written."""
        sources = self.reader.tokens(contexts(self.prompt, items))
        targets = self.reader.targets([[word.strip()] for word in words])
        rows, wanted = [], []
        for number, (target,) in enumerate(targets):
            rows.append([*self.start, *target[:-1]])
            for place, token in enumerate(target, start=len(self.start) - 1):
                wanted.append(_WantedText(number, place, token, number))

        device = next(self.model.parameters()).device
        filler = self.tokenizer.pad_token_id or 0
        ids, seen = padded(sources, filler, device)
        written, _ = padded(rows, filler, device)
        logits = self.model(
            input_ids=ids, attention_mask=seen, decoder_input_ids=written, use_cache=False
        ).logits
        at = torch.tensor(wanted, device=device)
        return _summed(logits[at[:, 0], at[:, 1]], at, len(items))


WRITERS = {"causal": CausalWriter, "masked": MaskedWriter, "seq2seq": Seq2seqWriter}
PROMPTS = {"causal": "plain", "masked": "masked", "seq2seq": "t5"}  # as hf: asks them
CHAT_PROMPT = "chat"  # of a decoder with a chat template


def _place(prompt: Prompt, item: Item, word: str) -> int:
    """The number of a word among all words of an item's choices."""
    flat = [each for words in prompt.answers(item) for each in words]
    return flat.index(word)


def _logs_in_rows(
    model: Any, tokenizer: Any, rows: Sequence[list[int]], wanted: Sequence[_WantedText], items: int
) -> torch.Tensor:
    """The logs of tokens in rows; the head is given only the places where one is wanted."""
    _check_lengths(model, tokenizer, rows)
    device = next(model.parameters()).device
    ids, seen = padded(rows, tokenizer.pad_token_id or 0, device)
    at = torch.tensor(wanted, device=device)
    places = at[:, 0] * ids.shape[1] + at[:, 1]
    with only_at(model, places) as narrowed:
        logits = model(input_ids=ids, attention_mask=seen).logits
    logits = logits.reshape(-1, logits.shape[-1])
    if not narrowed:  # the head is not where the model says it is
        logits = logits[places]
    return _summed(logits, at, items)


def _check_lengths(model: Any, tokenizer: Any, rows: Sequence[list[int]]) -> None:
    """Refuse rows that the model cannot read."""
    longest, most = max(map(len, rows)), longest_text(model, tokenizer)
    if most and longest > most:
        raise DataError(
            f"an item with its prompt has {longest:,} tokens, the model reads at most {most:,}.",
            "Show fewer worked examples (text.shots: 0), or choose a shorter prompt (text.prompt).",
        )


def _summed(logits: torch.Tensor, at: torch.Tensor, items: int) -> torch.Tensor:
    """For each item the sum over its tokens; `logits` has a row for each token wanted."""
    logits = logits.float()
    found = logits.gather(1, at[:, 2:3]).squeeze(1) - logits.logsumexp(-1)
    return found.new_zeros(items).index_add(0, at[:, 3], found)
