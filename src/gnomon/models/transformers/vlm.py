"""Models that see and write: the likelihood of each choice after a question, or a reply.

Pictures are read ahead in threads, each once for all the questions about it, and let go in chunks:
memory does not grow with the batch. A picture that cannot be shown is the trouble of its items.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from msgspec.structs import replace

from gnomon.contracts import ANYTHING
from gnomon.downloads.catalogue import cache_folder
from gnomon.errors import DataError
from gnomon.grouped import grouped
from gnomon.keep import DEFAULT_BYTES, TensorKeep, key_of
from gnomon.models.choices import (
    Likelihoods,
    ModelReply,
    Query,
    alike,
    ask_those_without_trouble,
    contexts,
    flat,
    take,
    text_size,
)
from gnomon.models.prompted import Prompted
from gnomon.models.prompts.chat import Writer, conversation
from gnomon.models.prompts.preview import MOST_PICTURES, PromptFormat, frames
from gnomon.models.transformers.causal import BATCH, generate
from gnomon.models.transformers.imageinputs import (
    PictureEncoder,
    PicturePlaces,
    PictureProcessor,
    ShownPictures,
    shape_of,
)
from gnomon.models.transformers.imagescorer import (
    CAPTIONS,
    PictureQuery,
    PictureScorer,
    trial_picture,
    try_out,
)
from gnomon.models.transformers.loading import longest_text, on_cpu, token_budget
from gnomon.models.transformers.tokens import TextEncoder, limits_of, special_tokens
from gnomon.records import Answer, Image, Item, Preview
from gnomon.vision.images import Prepared, decode_bytes, file_of, see, stored

AHEAD = 8  # pictures that are ready before they are asked for
ON_CPU, ON_GPU = 16, 32  # pictures that are held at once: what a processor reads in one pass
CHUNK_BYTES = 64 * 2**20  # of their tensors

Pictures = tuple[Image, ...]


class PictureText(NamedTuple):
    """A text as the model reads it, and what is shown with it."""

    text: str
    shown: ShownPictures


class PicturePrompt(list[int]):
    """The tokens of such a text, before which nothing is scored."""

    shown: ShownPictures


class Vlm(Prompted):
    """A model of transformers that is shown pictures and writes, asked with a prompt."""

    takes = ANYTHING
    batch = 512

    def __init__(
        self, *parts: Any, processor: Any, features: int = DEFAULT_BYTES, **how: Any
    ) -> None:
        super().__init__(*parts, **how)
        model = self.model
        self.budget = token_budget(model)
        self.longest = longest_text(model, self.tokenizer)
        self.chunk = ON_CPU if on_cpu(model) else ON_GPU
        self.encoder = TextEncoder(self.tokenizer)
        self.places = PicturePlaces(processor, chat=self.chat)
        self.processor = PictureProcessor(processor, self.places)
        self.pictures = PictureEncoder(model, _store(features, self.about))
        self.scorer = PictureScorer(model, self.pictures)
        self._kept_by = json.dumps(self.about, sort_keys=True, default=str)
        self._try_out()
        self.bare = self.chat or bool(self.nothing.after)
        self.likelihoods = Likelihoods(
            self._score,
            normalise=self.normalise,
            nothing=self.encoder.open("", []),
            longest=self.longest,
        )

    def _try_out(self) -> None:
        shown = self.processor.show([trial_picture()])
        if shown.after:  # the processor puts text and picture together in its own way
            self.places.gap = ""
        self.nothing = self.processor.show_nothing(shown)
        self.picture_tokens = len(self.encoder.raw([shown.before])[0])
        texts = [self._plain_text(caption) for caption in CAPTIONS]
        try_out(self.scorer, self.processor, self.encoder, texts, shown, self.spec)

    def _plain_text(self, question: str) -> str:
        write = self.places.writer(1)
        if write is None:
            return self.places.put(question, 1)
        return conversation(write, [{"role": "user", "content": question}])

    def describe_kind(self) -> dict[str, Any]:
        """What of this kind of model determines the answers."""
        return {"chat": self.chat, "shares_pictures": self.scorer.sharing}

    def size(self, item: Item) -> int:
        """About how many tokens are the item's own."""
        return text_size(item) + len(item.images) * self.picture_tokens

    def answer(self, items: Sequence[Item]) -> list[Answer]:
        """One answer for each item."""
        # Templates run within bounds of the whole process: before any thread opens a picture.
        texts = [self._context(item) for item in items]
        by_pictures = grouped(range(len(items)), lambda number: items[number].images)

        answers: dict[int, Answer] = {}
        for chunk in self._chunks(list(by_pictures)):
            numbers: list[int] = []
            seen: list[Prepared[ShownPictures]] = []
            for pictures, made in chunk.items():
                numbers += by_pictures[pictures]
                seen += [made] * len(by_pictures[pictures])
            found = self._answer(take(items, numbers), take(texts, numbers), seen)
            answers |= zip(numbers, found, strict=True)
        return [answers[number] for number in range(len(items))]

    def _chunks(
        self, many: Sequence[Pictures]
    ) -> Iterator[Mapping[Pictures, Prepared[ShownPictures]]]:
        """The pictures as they are shown, so many at once as memory should hold."""
        chunk: dict[Pictures, Prepared[ShownPictures]] = {}
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

    def _show(self, pictures: Pictures) -> ShownPictures:
        """Pictures that are shown together, as the model takes them; called in threads."""
        if not pictures:
            return self.nothing
        contents = [stored(image) for image in pictures]
        digests = []
        for image, content in zip(pictures, contents, strict=True):
            digests.append(image.sha256 or sha256(content).hexdigest())
        key = key_of(self._kept_by, self.places.stretch(len(pictures)), *digests)
        known = self.pictures.remember(key)
        if known is not None:
            return known

        decoded = []
        for image, content in zip(pictures, contents, strict=True):
            decoded.append(decode_bytes(content, file_of(image)))
        try:
            shown = self.processor.show(decoded)
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
        self, items: Sequence[Item], texts: Sequence[str], seen: Sequence[Prepared[ShownPictures]]
    ) -> list[Answer]:
        """The answers to items whose pictures are at hand."""
        troubles = []
        for item, text, each in zip(items, texts, seen, strict=True):
            troubles.append(each.trouble or self.places.trouble(text, len(item.images)))

        def ask(numbers: Sequence[int]) -> list[Answer]:
            asked = []
            for number in numbers:
                made = seen[number].made or self.nothing
                asked.append(self._expanded(items[number], texts[number], made))
            return self.answer_texts(take(items, numbers), asked)

        return ask_those_without_trouble(items, troubles, ask)

    def _expanded(self, item: Item, text: str, shown: ShownPictures) -> PictureText:
        return PictureText(self.places.expanded(text, len(item.images), shown), shown)

    def preview(self, item: Item) -> Preview:
        """What the model reads for an item, with a mark for each picture, and what is scored.

        The tokens are counted with those of the pictures.
        """
        text = self._context(item)
        (seen,) = see([item.images], self._show, ahead=1)
        trouble = seen.trouble or self.places.trouble(text, len(item.images))
        if trouble:
            return replace(self.previewed(item, text, []), tokens=None, trouble=trouble)
        asked = self._expanded(item, text, seen.made or self.nothing)
        return self.preview_text(item, self._opened(self._marked(item, text), asked.text), asked)

    def _marked(self, item: Item, text: str) -> str:
        """The text as the processor writes it, but with one mark for each picture."""
        marks = self.places.stretch(len(item.images)) + self.nothing.before
        return self._expanded(item, text, ShownPictures(marks, self.nothing.after)).text

    def _opened(self, text: str, expanded: str) -> str:
        """The text with the tokens that the encoder puts before it, unless they stand there."""
        marker: str = getattr(self.tokenizer, "bos_token", None) or ""
        if marker and expanded.startswith(marker):
            return text if text.startswith(marker) else marker + text
        return self._opening + text

    @property
    def _opening(self) -> str:
        return "".join(self.tokenizer.convert_ids_to_tokens(self.encoder.opening))

    def asking(self) -> PromptFormat:
        """What shows prompts without the model: nothing, where the processor adds to texts."""
        if self.nothing.before or self.nothing.after:
            return PromptFormat(way=self.ask, takes_pictures=True)
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
        return PromptFormat(
            way=self.ask,
            prompt=self.kept_prompt,
            frames=framed,
            bare=self.bare,
            takes_pictures=True,
            mark=self.places.mark,
            gap=self.places.gap,
            pictures_first=True,
            **special_tokens(self.tokenizer, self.encoder.opening),
            limits=limits_of(self.ask, self.new_tokens, self.model, self.tokenizer),
        )

    def _writer(self, pictures: int) -> Writer:
        write = self.places.writer(pictures)
        assert write is not None
        return write

    def _context(self, item: Item) -> str:
        """What the model reads before the answer, with marks for its pictures."""
        count = len(item.images)
        self.places.stretch(count)  # learnt here, not in a thread
        write = self.places.writer(count)
        (text,) = contexts(self.prompt, [item], write, answered=self.ask == "score")
        return text if write else self.places.put(text, count)

    def _score(self, queries: Sequence[Query]) -> list[list[float]]:
        """What the scorer gives; a text that stands after nothing is shown nothing."""
        asked = []
        for query in queries:
            if not isinstance(query, PictureQuery):
                query = PictureQuery.of(query, self.nothing)
            asked.append(query)
        return self.scorer.score(asked)

    def tokens(self, texts: Sequence[PictureText]) -> list[PicturePrompt]:
        """What the model reads before it writes."""
        prompts = []
        encoded = self.encoder.texts([each.text for each in texts])
        for each, ids in zip(texts, encoded, strict=True):
            prompt = PicturePrompt(self.encoder.open(each.text, ids))
            prompt.shown = each.shown
            prompts.append(prompt)
        return prompts

    def queries(
        self, texts: Sequence[PictureText], words: Sequence[Sequence[Sequence[str]]]
    ) -> list[PictureQuery]:
        """What the model reads before the answer, and each way to answer, as tokens."""
        written = [each.text for each in texts]
        queries = self.encoder.queries(written, [flat(each) for each in words])
        asked = zip(queries, texts, strict=True)
        return [PictureQuery.of(query, each.shown) for query, each in asked]

    def write(self, prompts: Sequence[PicturePrompt]) -> list[ModelReply]:
        """The reply to each prompt: those of one length with pictures of one shape are one pass."""
        self.pictures.look([prompt.shown for prompt in prompts])
        kinds = [(len(prompt), shape_of(prompt.shown)) for prompt in prompts]
        replies = [ModelReply("", 0)] * len(prompts)
        for numbers in alike(kinds, BATCH):
            some = take(prompts, numbers)
            writer = _PictureWriter(self.model, self.pictures, [prompt.shown for prompt in some])
            found = generate(writer, self.tokenizer, some, new_tokens=self.new_tokens)
            for number, reply in zip(numbers, found, strict=True):
                replies[number] = reply
        return replies


def _store(most_bytes: int, about: Mapping[str, Any]) -> TensorKeep | None:
    """Where what the model makes of pictures is kept; nowhere if its weights cannot be named."""
    if not most_bytes or not about.get("revision"):
        return None
    return TensorKeep(cache_folder() / "features", most_bytes)


class _PictureWriter:
    """A model that writes with pictures before it, one entry for each prompt of a pass."""

    def __init__(
        self, model: Any, pictures: PictureEncoder, shown: Sequence[ShownPictures]
    ) -> None:
        self._model, self._pictures, self._shown = model, pictures, shown

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def generate(self, **inputs: Any) -> Any:
        """What the model itself generates."""
        rows = inputs.pop("input_ids")
        own = self._shown[0].token_inputs(rows.tolist(), rows.device)
        return self._model.generate(**inputs, **own, **self._pictures.inputs(self._shown))
