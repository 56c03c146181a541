"""What all models share that are asked with a prompt: choices scored as continuations, or replies.

A kind of model says how texts become tokens, what gives log-probabilities and what writes. How
items are answered with that, and what people are shown of it, is here, once for all kinds.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from gnomon.contracts import Scale
from gnomon.forms import is_written
from gnomon.grouped import grouped
from gnomon.models.choices import (
    Likelihoods,
    ModelReply,
    Query,
    describe_asking,
    replied,
    scale_of,
    take,
)
from gnomon.models.prompts.preview import HOW, PromptFormat, continuations
from gnomon.models.prompts.prompt import Prompt
from gnomon.records import Answer, Continuation, Item, Preview


class Manner(NamedTuple):
    """How a model is asked, beside its prompt."""

    ask: str = "score"  # or generate
    new_tokens: int = 32  # the most of a reply
    normalise: str = "sum"
    chat: bool = False  # as a conversation


PLAIN = Manner()


class Prompted:
    """A model that is asked with a prompt.

    A kind sets `likelihoods` and `longest`, and says what `asking`, `tokens`, `queries` and `write`
    are. What it reads for an item may be more than a text: pictures with it.
    """

    likelihoods: Likelihoods
    longest: int  # tokens that a text may have; 0 without limit

    def __init__(
        self,
        spec: str,
        model: Any,
        tokenizer: Any,
        prompt: Prompt,
        manner: Manner = PLAIN,
        *,
        about: dict[str, Any] | None = None,
    ) -> None:
        self.spec, self.model, self.tokenizer = spec, model, tokenizer
        self.prompt, self.about = prompt, about or {}
        self.ask, self.new_tokens, self.normalise, self.chat = manner
        self.lists_choices = prompt.lists_choices
        self.scale: Scale = scale_of(self.ask)
        self.bare = self.chat  # what follows is an answer, without what stands around it

    def asking(self) -> PromptFormat:
        """What shows prompts without the model."""
        raise NotImplementedError

    def tokens(self, texts: Sequence[Any]) -> Sequence[Sequence[int]]:
        """What the model reads before it writes."""
        raise NotImplementedError

    def queries(
        self, texts: Sequence[Any], words: Sequence[Sequence[Sequence[str]]]
    ) -> Sequence[Query]:
        """What the model reads before the answer, and each way to answer, as tokens."""
        raise NotImplementedError

    def write(self, prompts: Sequence[Any]) -> list[ModelReply]:
        """The reply to each prompt."""
        raise NotImplementedError

    @property
    def room(self) -> int:
        """How many tokens must fit after what is read, for a reply."""
        return self.new_tokens

    @property
    def kept_prompt(self) -> Prompt:
        """The prompt as a manifest keeps it."""
        return replace(self.prompt, paraphrases=())

    def describe(self) -> dict[str, Any]:
        """What determines the answers."""
        return {
            **self.about,
            "prompt": self.prompt.describe(),
            **self.describe_kind(),
            **describe_asking(self.ask, self.normalise, self.new_tokens),
        }

    def describe_kind(self) -> dict[str, Any]:
        """What of this kind of model determines the answers."""
        return {"chat": self.chat}

    def words(self, item: Item) -> Sequence[Sequence[str]]:
        """The continuations that count for each choice."""
        if self.bare:
            return self.prompt.answers(item)
        return self.prompt.words(item)

    def answer_texts(self, items: Sequence[Item], texts: Sequence[Any]) -> list[Answer]:
        """The answers to items, for each of which the model is given a text.

        Those whose answer must be written are replied to, however the others are asked.
        """
        by_way = grouped(range(len(items)), lambda number: self.replies_to(items[number]))
        answers: dict[int, Answer] = {}
        for replies, numbers in by_way.items():
            ask = self._written_answers if replies else self._scored_answers
            found = ask(take(items, numbers), take(texts, numbers))
            answers |= zip(numbers, found, strict=True)
        return [answers[number] for number in range(len(items))]

    def replies_to(self, item: Item) -> bool:
        """Whether the model writes a reply to an item, rather than scoring its choices."""
        return self.ask == "generate" or is_written(item)

    def _written_answers(self, items: Sequence[Item], texts: Sequence[Any]) -> list[Answer]:
        prompts = self.tokens(texts)
        longest, room = self.longest, self.room
        return replied(items, self.prompt, prompts, self.write, longest=longest, room=room)

    def _scored_answers(self, items: Sequence[Item], texts: Sequence[Any]) -> list[Answer]:
        words = [self.words(item) for item in items]
        return self.likelihoods.answers(items, words, self.queries(texts, words))

    def preview_text(self, item: Item, shown: str, text: Any) -> Preview:
        """What the model reads for an item: `text`, of which people see `shown`."""
        if self.replies_to(item):
            (prompt,) = self.tokens([text])
            return self.previewed(item, shown, prompt)
        words = self.words(item)
        (query,) = self.queries([text], [words])
        scored = continuations(item, words, query.continuations, self.piece)
        return self.previewed(item, shown, query.context, scored)

    def previewed(
        self,
        item: Item,
        shown: str,
        ids: Sequence[int],
        scored: tuple[Continuation, ...] = (),
    ) -> Preview:
        """What people see of a text, which is `ids` to the model."""
        asking = self.asking()
        return Preview(
            text=shown,
            scored=scored,
            images=len(item.images) if asking.takes_pictures else 0,
            tokens=len(ids),
            ids=tuple(ids),
            special=self.special(shown, ids),
            how=HOW["generate" if self.replies_to(item) else asking.way],
            limits=asking.limits,
        )

    def piece(self, token: int) -> str:
        """A token as people read it."""
        return str(self.tokenizer.decode([token]))

    def special(self, shown: str, ids: Sequence[int]) -> tuple[str, ...]:
        """The special tokens in what the model reads."""
        return special_names(self.tokenizer, ids)


def special_names(tokenizer: Any, ids: Sequence[int]) -> tuple[str, ...]:
    """The special tokens among some, each once, as a tokenizer of transformers names them."""
    special = [token for token in dict.fromkeys(ids) if token in tokenizer.all_special_ids]
    return tuple(map(tokenizer.convert_ids_to_tokens, special))
