"""Models that see and write: the likelihood of each choice after a question, or a reply.

Pictures are read ahead in threads, each once for all the questions about it, and let go in chunks:
memory does not grow with the batch. A picture that cannot be shown is the trouble of its items.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from msgspec.structs import replace

from gnomon.contracts import ANYTHING
from gnomon.downloads.catalogue import cache_folder
from gnomon.errors import DataError
from gnomon.grouped import grouped
from gnomon.keep import DEFAULT_BYTES, TensorKeep, key_of
from gnomon.models.asking import MOST_PICTURES, Asking, frames
from gnomon.models.chat import Writer, conversation
from gnomon.models.choices import (
    Likelihoods,
    Query,
    Reply,
    ask_those_without_trouble,
    contexts,
    describe_asking,
    flat,
    replied,
    scale_of,
    take,
)
from gnomon.models.prompts.library import Prompt
from gnomon.models.transformers.imageprefix import PictureQuery, PictureScorer
from gnomon.models.transformers.limits import longest_text, on_cpu, token_budget
from gnomon.models.transformers.looking import Looking
from gnomon.models.transformers.previewing import (
    limits_of,
    previewed,
    scored_words,
    special_tokens,
)
from gnomon.models.transformers.showing import Placing, Shower, Shown
from gnomon.models.transformers.tokens import Encoder
from gnomon.models.transformers.trial import CAPTIONS, trial_picture, try_out
from gnomon.models.transformers.writing import write_seeing
from gnomon.records import Answer, Image, Item, Preview
from gnomon.vision.images import decode_bytes
from gnomon.vision.pictures import Prepared, file_of, see, stored

AHEAD = 8  # pictures that are ready before they are asked for
ON_CPU, ON_GPU = 16, 32  # pictures that are held at once: what a processor reads in one pass
CHUNK_BYTES = 64 * 2**20  # of their tensors

Pictures = tuple[Image, ...]


class Seeing:
    """A model of transformers that is shown pictures and writes, asked with a prompt."""

    takes = ANYTHING
    batch = 512

    def __init__(
        self,
        spec: str,
        model: Any,
        tokenizer: Any,
        processor: Any,
        prompt: Prompt,
        *,
        chat: bool = True,
        normalise: str = "sum",
        ask: str = "score",
        new_tokens: int = 32,
        features: int = DEFAULT_BYTES,
        about: dict[str, Any] | None = None,
    ) -> None:
        self.spec, self.model, self.tokenizer, self.prompt = spec, model, tokenizer, prompt
        self.lists_choices = prompt.lists_choices
        self.ask, self.new_tokens, self.about = ask, new_tokens, about or {}
        self.scale = scale_of(ask)
        self.budget = token_budget(model)
        self.longest = longest_text(model, tokenizer)
        self.chunk = ON_CPU if on_cpu(model) else ON_GPU
        self.chat = chat
        self.encoder = Encoder(tokenizer)
        self.placing = Placing(processor, chat=chat)
        self.shower = Shower(processor, self.placing)
        self.looking = Looking(model, _store(features, self.about))
        self.scorer = PictureScorer(model, self.looking)
        self._kept_by = json.dumps(self.about, sort_keys=True, default=str)
        self._try_out()
        self.likelihoods = Likelihoods(
            self._score,
            normalise=normalise,
            nothing=self.encoder.open("", []),
            longest=self.longest,
        )

    def _try_out(self) -> None:
        shown = self.shower.show([trial_picture()])
        if shown.after:  # the processor puts text and picture together in its own way
            self.placing.gap = ""
        self.nothing = self.shower.show_nothing(shown)
        self.picture_tokens = len(self.encoder.raw([shown.before])[0])
        texts = [self._plain_text(caption) for caption in CAPTIONS]
        try_out(self.scorer, self.shower, self.encoder, texts, shown, self.spec)

    def _plain_text(self, question: str) -> str:
        write = self.placing.writer(1)
        if write is None:
            return self.placing.put(question, 1)
        return conversation(write, [{"role": "user", "content": question}])

    def describe(self) -> dict[str, Any]:
        """What determines the answers."""
        return {
            **self.about,
            "prompt": self.prompt.describe(),
            "chat": self.chat,
            "shares_pictures": self.scorer.sharing,
            **describe_asking(self.ask, self.likelihoods.normalise, self.new_tokens),
        }

    def size(self, item: Item) -> int:
        """About how many tokens are the item's own."""
        text = len(item.context) + len(item.text) + sum(map(len, item.choices))
        return text // 4 + 16 + len(item.images) * self.picture_tokens

    def answer(self, items: Sequence[Item]) -> list[Answer]:
        """One answer for each item."""
        # Templates run within bounds of the whole process: before any thread opens a picture.
        texts = [self._context(item) for item in items]
        by_pictures = grouped(range(len(items)), lambda number: items[number].images)

        answers: dict[int, Answer] = {}
        for chunk in self._chunks(list(by_pictures)):
            numbers: list[int] = []
            seen: list[Prepared[Shown]] = []
            for pictures, made in chunk.items():
                numbers += by_pictures[pictures]
                seen += [made] * len(by_pictures[pictures])
            found = self._answer(take(items, numbers), take(texts, numbers), seen)
            answers |= zip(numbers, found, strict=True)
        return [answers[number] for number in range(len(items))]

    def _chunks(self, many: Sequence[Pictures]) -> Iterator[Mapping[Pictures, Prepared[Shown]]]:
        """The pictures as they are shown, so many at once as memory should hold."""
        chunk: dict[Pictures, Prepared[Shown]] = {}
        taken = 0
        for pictures, seen in zip(many, see(many, self._show, ahead=AHEAD), strict=True):
            chunk[pictures] = seen
            if seen.made is not None:
                taken += sum(tensor.nbytes for tensor in seen.made.tensors.values())
            if len(chunk) == self.chunk or taken > CHUNK_BYTES:
                yield chunk
                chunk, taken = {}, 0
        if chunk:
            yield chunk

    def _show(self, pictures: Pictures) -> Shown:
        """Pictures that are shown together, as the model takes them; called in threads."""
        if not pictures:
            return self.nothing
        contents = [stored(image) for image in pictures]
        digests = []
        for image, content in zip(pictures, contents, strict=True):
            digests.append(image.sha256 or sha256(content).hexdigest())
        key = key_of(self._kept_by, self.placing.stretch(len(pictures)), *digests)
        known = self.looking.remember(key)
        if known is not None:
            return known

        decoded = []
        for image, content in zip(pictures, contents, strict=True):
            decoded.append(decode_bytes(content, file_of(image)))
        try:
            shown = self.shower.show(decoded)
        except (ValueError, RuntimeError, ArithmeticError) as error:
            reason = " ".join(str(error).split())[:120]
            raise DataError(
                f"the model's processor does not take the picture: {reason}.",
                "Scale it, or leave the item out.",
                file=file_of(pictures[0]),
            ) from None
        shown.key = key
        return shown

    def _answer(
        self, items: Sequence[Item], texts: Sequence[str], seen: Sequence[Prepared[Shown]]
    ) -> list[Answer]:
        """The answers to items whose pictures are at hand."""
        troubles = []
        for item, text, each in zip(items, texts, seen, strict=True):
            troubles.append(each.trouble or self.placing.trouble(text, len(item.images)))

        def ask(numbers: Sequence[int]) -> list[Answer]:
            shown, expanded = [], []
            for number in numbers:
                made = seen[number].made or self.nothing
                shown.append(made)
                expanded.append(self._expanded(items[number], texts[number], made))
            way = self._replied if self.ask == "generate" else self._scored
            return way(take(items, numbers), expanded, shown)

        return ask_those_without_trouble(items, troubles, ask)

    def _expanded(self, item: Item, text: str, shown: Shown) -> str:
        return self.placing.expanded(text, len(item.images), shown)

    def preview(self, item: Item) -> Preview:
        """What the model reads for an item, with a mark for each picture, and what is scored.

        The tokens are counted with those of the pictures.
        """
        found = self.asking()
        text = self._context(item)
        (seen,) = see([item.images], self._show, ahead=1)
        trouble = seen.trouble or self.placing.trouble(text, len(item.images))
        if trouble:
            made = previewed(found, item, self.tokenizer, text, [])
            return replace(made, tokens=None, trouble=trouble)
        expanded = self._expanded(item, text, seen.made or self.nothing)
        text = self._opened(self._marked(item, text), expanded)
        if self.ask == "generate":
            (ids,) = self._prompts([expanded])
            return previewed(found, item, self.tokenizer, text, ids)
        words = self.words(item)
        (query,) = self.encoder.queries([expanded], [flat(words)])
        scored = scored_words(item, words, query.continuations, self.tokenizer)
        return previewed(found, item, self.tokenizer, text, query.context, scored)

    def _marked(self, item: Item, text: str) -> str:
        """The text as the processor writes it, but with one mark for each picture."""
        marks = self.placing.stretch(len(item.images)) + self.nothing.before
        return self._expanded(item, text, Shown(marks, self.nothing.after))

    def _opened(self, text: str, expanded: str) -> str:
        """The text with the tokens that the encoder puts before it, unless they stand there."""
        marker: str = getattr(self.tokenizer, "bos_token", None) or ""
        if marker and expanded.startswith(marker):
            return text if text.startswith(marker) else marker + text
        return self._opening + text

    @property
    def _opening(self) -> str:
        return "".join(self.tokenizer.convert_ids_to_tokens(self.encoder.opening))

    def asking(self) -> Asking:
        """What shows prompts without the model: nothing, where the processor adds to texts."""
        if self.nothing.before or self.nothing.after:
            return Asking(way=self.ask, takes_pictures=True)
        framed = None
        if self.chat:
            framed = frames(
                self.prompt,
                self._writer,
                answered=self.ask == "score",
                most_pictures=MOST_PICTURES,
            )
            for name, (before, after) in framed.items():
                framed[name] = (self._opened(before, before), after)
        special = special_tokens(self.tokenizer, self.encoder.opening)
        return Asking(
            way=self.ask,
            prompt=replace(self.prompt, paraphrases=()),
            frames=framed,
            bare=self.chat or bool(self.nothing.after),
            takes_pictures=True,
            mark=self.placing.mark,
            gap=self.placing.gap,
            pictures_first=True,
            **special,
            limits=limits_of(self.ask, self.new_tokens, self.model, self.tokenizer),
        )

    def _writer(self, pictures: int) -> Writer:
        write = self.placing.writer(pictures)
        assert write is not None
        return write

    def _context(self, item: Item) -> str:
        """What the model reads before the answer, with marks for its pictures."""
        count = len(item.images)
        self.placing.stretch(count)  # learnt here, not in a thread
        write = self.placing.writer(count)
        (text,) = contexts(self.prompt, [item], write, answered=self.ask == "score")
        return text if write else self.placing.put(text, count)

    def words(self, item: Item) -> tuple[tuple[str, ...], ...]:
        """The continuations that count for each choice."""
        if self.chat or self.nothing.after:
            return self.prompt.answers(item)
        return self.prompt.words(item)

    def _scored(
        self, items: Sequence[Item], texts: Sequence[str], shown: Sequence[Shown]
    ) -> list[Answer]:
        words = [self.words(item) for item in items]
        queries = []
        asked = self.encoder.queries(texts, [flat(each) for each in words])
        for query, pictures in zip(asked, shown, strict=True):
            queries.append(PictureQuery.of(query, pictures))
        return self.likelihoods.answers(items, words, queries)

    def _score(self, queries: Sequence[Query]) -> list[list[float]]:
        """What the scorer gives; a text that stands after nothing is shown nothing."""
        asked = []
        for query in queries:
            if not isinstance(query, PictureQuery):
                query = PictureQuery.of(query, self.nothing)
            asked.append(query)
        return self.scorer.score(asked)

    def _prompts(self, texts: Sequence[str]) -> list[list[int]]:
        """What the model reads before it writes."""
        prompts = []
        for text, ids in zip(texts, self.encoder.texts(texts), strict=True):
            prompts.append(self.encoder.open(text, ids))
        return prompts

    def _replied(
        self, items: Sequence[Item], texts: Sequence[str], shown: Sequence[Shown]
    ) -> list[Answer]:
        prompts = self._prompts(texts)
        by_prompt = {id(prompt): each for prompt, each in zip(prompts, shown, strict=True)}

        def write(asked: Sequence[Sequence[int]]) -> list[Reply]:
            pictures = [by_prompt[id(prompt)] for prompt in asked]
            return write_seeing(
                self.model, self.tokenizer, self.looking, asked, pictures, self.new_tokens
            )

        return replied(
            items, self.prompt, prompts, write, longest=self.longest, room=self.new_tokens
        )


def _store(most_bytes: int, about: Mapping[str, Any]) -> TensorKeep | None:
    """Where what the model makes of pictures is kept; nowhere if its weights cannot be named."""
    if not most_bytes or not about.get("revision"):
        return None
    return TensorKeep(cache_folder() / "features", most_bytes)
