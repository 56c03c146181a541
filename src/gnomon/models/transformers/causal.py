"""Decoder language models: the likelihood of each choice after the prompt, or a generated reply
that is read."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log
from typing import Any

from gnomon.contracts import Scale
from gnomon.errors import UsageError
from gnomon.models.chat import Messages, Writer, conversation
from gnomon.models.transformers.likelihoods import Scorer, takes_trees
from gnomon.models.transformers.rows import Query
from gnomon.models.transformers.tokens import Encoder
from gnomon.probing.prompts import Prompt
from gnomon.records import Answer, Item, pick

NORMALISATIONS = ("sum", "mean", "byte", "pmi")
NO_DATE = "{% macro strftime_now(format) %}{% endmacro %}"  # the date must not change the answers


class Causal:
    """A decoder model of transformers, asked with a prompt."""

    def __init__(
        self,
        spec: str,
        model: Any,
        tokenizer: Any,
        prompt: Prompt,
        *,
        chat: bool = False,
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
        self.chat, self.normalise, self.ask, self.new_tokens = chat, normalise, ask, new_tokens
        self.about = about or {}
        self.encoder = Encoder(tokenizer)
        self.scorer = Scorer(model, trees=takes_trees(model))
        self.batch = 512
        self.budget = token_budget(model)
        self.longest = longest(model, tokenizer)
        self._alone: dict[
            tuple[int, ...], float
        ] = {}  # log-probability of a continuation's tokens after nothing

    def describe(self) -> dict[str, Any]:
        """What determines the answers."""
        return {
            **self.about,
            "prompt": self.prompt.describe(),
            "chat": self.chat,
            "ask": self.ask,
            **(
                {"new_tokens": self.new_tokens}
                if self.ask == "generate"
                else {"normalise": self.normalise}
            ),
        }

    def size(self, item: Item) -> int:
        """About how many tokens are the item's own."""
        return (len(item.context) + len(item.text) + sum(map(len, item.choices))) // 4 + 16

    def answer(self, items: Sequence[Item]) -> list[Answer]:
        """One answer for each item."""
        if self.ask == "generate":
            return self._generated(items)
        forms: dict[str, list[int]] = {}
        for number, item in enumerate(items):
            forms.setdefault(item.form, []).append(number)
        answers: dict[int, Answer] = {}
        for members in forms.values():  # items of one form share their worked examples
            answers |= zip(
                members, self._scored([items[number] for number in members]), strict=True
            )
        return [answers[number] for number in range(len(items))]

    def contexts(self, items: Sequence[Item]) -> list[str]:
        """What the model reads before the answer."""
        if self.chat:
            write, known = template(self.tokenizer), self.ask == "score"
            return [conversation(write, self.prompt.chat(item), answered=known) for item in items]
        prefixes = {form: self.prompt.prefix(form) for form in {item.form for item in items}}
        return [prefixes[item.form] + self.prompt.parts(item).before for item in items]

    def words(self, item: Item) -> tuple[tuple[str, ...], ...]:
        """The continuations that count for each choice."""
        return self.prompt.answers(item) if self.chat else self.prompt.words(item)

    def _scored(self, items: Sequence[Item]) -> list[Answer]:
        words = [self.words(item) for item in items]
        flat = [[word for alternatives in item for word in alternatives] for item in words]
        queries = self.encoder.queries(self.contexts(items), flat, complete=self.chat)
        sizes = [len(query.context) + max(map(len, query.continuations)) - 1 for query in queries]
        fits = [not self.longest or size <= self.longest for size in sizes]
        scored = iter(
            self.scorer.score([query for query, fit in zip(queries, fits, strict=True) if fit])
        )
        if self.normalise == "pmi":
            self._learn_alone(queries)
        answers = []
        for item, choices, texts, query, size, fit in zip(
            items, words, flat, queries, sizes, fits, strict=True
        ):
            if not fit:
                answers.append(Answer(item=item.id, error=too_long(size, self.longest)))
                continue
            normal = [
                self._normal(*one)
                for one in zip(next(scored), texts, query.continuations, strict=True)
            ]
            answers.append(pick(item, gather(normal, choices)))
        return answers

    def _normal(self, score: float, text: str, tokens: list[int]) -> float:
        if self.normalise == "mean":
            return score / len(tokens)
        if self.normalise == "byte":
            return score / max(1, len(text.encode()))
        return score - self._alone[tuple(tokens)] if self.normalise == "pmi" else score

    def _learn_alone(self, queries: Sequence[Query]) -> None:
        """Score the same tokens after nothing: encoded anew, a text may begin with other ones."""
        every = dict.fromkeys(tuple(tokens) for query in queries for tokens in query.continuations)
        fresh = [tokens for tokens in every if tokens not in self._alone]
        nothing = self.encoder.open("", [])
        scores = self.scorer.score([Query(nothing, [list(tokens)]) for tokens in fresh])
        self._alone |= {tokens: score for tokens, (score,) in zip(fresh, scores, strict=True)}

    def _generated(self, items: Sequence[Item]) -> list[Answer]:
        from gnomon.models.reading.replies import as_answer as read_reply
        from gnomon.models.transformers.generating import generate

        contexts = self.contexts(items)
        encoded = self.encoder.texts(contexts)
        tokens = [
            self.encoder.open(text, ids, complete=self.chat)
            for text, ids in zip(contexts, encoded, strict=True)
        ]
        fits = [not self.longest or len(ids) + self.new_tokens <= self.longest for ids in tokens]
        asked = [ids for ids, fit in zip(tokens, fits, strict=True) if fit]
        replies = iter(generate(self.model, self.tokenizer, asked, new_tokens=self.new_tokens))
        return [
            read_reply(item, next(replies), self.prompt.answers(item))
            if fit
            else Answer(item=item.id, error=too_long(len(ids) + self.new_tokens, self.longest))
            for item, ids, fit in zip(items, tokens, fits, strict=True)
        ]


def gather(scores: Sequence[float], words: Sequence[Sequence[str]]) -> tuple[float, ...]:
    """One score for each choice: the probabilities of words that mean the same add up.

    >>> gather([-1.0, -2.0], [["no"], ["yes"]])
    (-1.0, -2.0)
    """
    left = iter(scores)
    return tuple(_add_up([next(left) for _ in alternatives]) for alternatives in words)


def _add_up(scores: Sequence[float]) -> float:
    most = max(scores)
    return most if len(scores) == 1 else most + log(sum(exp(score - most) for score in scores))


def template(tokenizer: Any) -> Writer:
    """The model's own chat template, to which every day is the same."""
    source = NO_DATE + tokenizer.get_chat_template()

    def write(messages: Messages, begin: bool) -> str:
        how = {"chat_template": source, "tokenize": False, "add_generation_prompt": begin}
        return str(tokenizer.apply_chat_template(messages, **how))

    return write


def too_long(tokens: int, most: int) -> str:
    """Why an item cannot be asked."""
    return f"the prompt has {tokens} tokens, the model takes {most}"


def token_budget(model: Any) -> int:
    """Tokens of a batch: so many that a large model on a CPU saves its answers every few
    seconds."""
    if next(model.parameters()).device.type != "cpu":
        return 65536
    return max(2048, min(65536, int(5e11 / sum(p.numel() for p in model.parameters()))))


def longest(model: Any, tokenizer: Any) -> int:
    """Tokens that a text may have; 0 if the model does not say."""
    config = model.config.get_text_config()
    sizes = [
        getattr(config, name, None) for name in ("max_position_embeddings", "n_positions", "n_ctx")
    ]
    sizes.append(getattr(tokenizer, "model_max_length", None))
    return min((size for size in sizes if isinstance(size, int) and 0 < size < 10**9), default=0)
