"""Models that see, asked as their authors call them: the processor's own inputs, a pass a choice.

For whatever `vlm` cannot speed up: processors that write texts in a way of their own, pictures that
stand in no text, encoders with a decoder. What a trial finds out is how the processor is called.
"""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import torch
from msgspec.structs import replace

from gnomon.contracts import ANYTHING
from gnomon.errors import ModelError, ModelWarning
from gnomon.models.choices import (
    Likelihoods,
    ModelReply,
    Query,
    ask_those_without_trouble,
    check_normalisation,
    contexts,
    flat,
    take,
    text_size,
)
from gnomon.models.prompted import Prompted
from gnomon.models.prompts.preview import PromptFormat
from gnomon.models.transformers.imageinputs import PicturePlaces
from gnomon.models.transformers.imagescorer import CAPTIONS, trial_picture
from gnomon.models.transformers.loading import longest_text, token_budget
from gnomon.models.transformers.scorer import first_line
from gnomon.models.transformers.seq2seq import start_token
from gnomon.models.transformers.tokens import TextEncoder, closing, end_tokens, limits_of
from gnomon.records import Answer, Image, Item, Preview
from gnomon.vision.images import Pixels, pixels, see

Inputs = dict[str, torch.Tensor]
# whole numbers whose second size may be that of the text by chance
OF_PICTURES = ("pixel", "qformer", "image_grid", "image_sizes", "spatial")


class WholeText(NamedTuple):
    """A text as it is handed to the processor, and what the processor made of it."""

    text: str
    inputs: Inputs


class WholeQuery(Query):
    """A question with all that the processor gives for it."""

    inputs: Inputs


class WholePrompt(list[int]):
    """The tokens of such a question, before a reply."""

    inputs: Inputs


class ProcessorCall(NamedTuple):
    """How a processor is called."""

    marked: bool  # with a mark for each picture in the text
    nested: bool  # with a list of pictures for each text, not one list of all


class WholeVlm(Prompted):
    """A model that sees and writes, each choice scored by one pass over everything."""

    takes = ANYTHING
    batch = 16

    def __init__(self, *parts: Any, processor: Any, why: str, **how: Any) -> None:
        super().__init__(*parts, **how)
        check_normalisation(self.normalise, ("sum", "mean", "byte"))
        self.processor = processor
        self.device = next(self.model.parameters()).device
        self.two_parts = has_encoder_and_decoder(self.model.config)
        self.budget = token_budget(self.model)
        self.longest = 0 if self.two_parts else longest_text(self.model, self.tokenizer)
        self.encoder = TextEncoder(self.tokenizer)
        self.closing = closing(self.tokenizer, self.encoder.raw)
        self.places = PicturePlaces(processor, chat=self.chat, may_lack_marks=True)
        self.call = self._try_out()
        self.likelihoods = Likelihoods(self._score, normalise=self.normalise, longest=self.longest)
        warnings.warn(
            f"{self.spec} is asked by plain passes, one for each choice, which are as exact but "
            f"slower: {why}.",
            ModelWarning,
            stacklevel=3,
        )

    def _try_out(self) -> ProcessorCall:
        """The first way to call the processor with which the model sees a picture."""
        marked = [mark for mark in (True, False) if self.places.marks or not mark]
        if self.chat:
            marked = [True]
        trouble = ""
        for ways in product(marked, (True, False)):
            self.call = ProcessorCall(*ways)
            found = self._trouble_of_call()
            if not found:
                return self.call
            trouble = trouble or found
        raise ModelError(
            f"{self.spec} cannot be shown pictures as its authors do: {trouble}.",
            "Choose another model that sees.",
        )

    def _trouble_of_call(self) -> str:
        """Why the processor cannot be called in this way; empty if the model sees by it."""
        picture = trial_picture()
        seen = []
        try:
            for shown in (picture, picture.rotate(180)):
                text = self._plain_text(CAPTIONS[0])
                asked = WholeText(text, self._inputs(text, [shown]))
                (query,) = self.queries([asked], [[["yes"], ["no"]]])
                seen.append(torch.tensor(self._score([query])[0]))
        except Exception as error:  # whatever a processor or a model of strangers raises
            return f"a plain pass fails ({type(error).__name__}: {first_line(error)})"
        if not bool(torch.isfinite(torch.stack(seen)).all()):
            return "a plain pass gives no numbers"
        if bool(torch.equal(*seen)):
            return "a plain pass gives the same for two pictures"
        return ""

    def describe_kind(self) -> dict[str, Any]:
        """What of this kind of model determines the answers."""
        return {"chat": self.chat, "passes": "whole", **self.call._asdict()}

    def size(self, item: Item) -> int:
        """About how many tokens are the item's own."""
        return text_size(item)

    def answer(self, items: Sequence[Item]) -> list[Answer]:
        """One answer for each item; one whose pictures cannot be shown is answered with why."""
        texts = [self._context(item) for item in items]
        found: list[WholeText | None] = []
        troubles: list[str] = []
        for item, text, seen in zip(items, texts, self._seen(items), strict=True):
            trouble = seen.trouble or self.places.trouble(text, self._marks_of(item))
            asked = None
            if not trouble:
                asked, trouble = self._read(item, text, seen.made or [])
            found.append(asked)
            troubles.append(trouble)

        def ask(numbers: Sequence[int]) -> list[Answer]:
            return self.answer_texts(take(items, numbers), take(found, numbers))

        return ask_those_without_trouble(items, troubles, ask)

    def preview(self, item: Item) -> Preview:
        """What the processor is given for an item, and what is scored."""
        text = self._context(item)
        (seen,) = self._seen([item])
        asked, trouble = None, seen.trouble
        if not trouble:
            asked, trouble = self._read(item, text, seen.made or [])
        if asked is None:
            return replace(self.previewed(item, text, []), tokens=None, trouble=trouble)
        return self.preview_text(item, text, asked)

    def asking(self) -> PromptFormat:
        """What shows prompts without the model: nothing, as the processor writes them."""
        limits = limits_of(self.ask, self.new_tokens, self.model, self.tokenizer)
        return PromptFormat(way=self.ask, takes_pictures=True, limits=limits)

    def words(self, item: Item) -> Sequence[Sequence[str]]:
        """The continuations that count for each choice; whole texts, where a decoder begins."""
        words = super().words(item)
        if not self.two_parts:
            return words
        return [[word.strip() for word in ways] for ways in words]

    def _context(self, item: Item) -> str:
        """What the processor is given, with marks for the pictures if it wants some."""
        count = self._marks_of(item)
        write = self.places.writer(len(item.images))
        (text,) = contexts(self.prompt, [item], write, answered=self.ask == "score")
        return text if write else self.places.put(text, count)

    def _plain_text(self, question: str) -> str:
        trial = Item(id="trial", form="caption", text=question, choices=("false", "true"))
        return self._context(replace(trial, images=(Image(path="trial.png"),)))

    def _marks_of(self, item: Item) -> int:
        return len(item.images) if self.call.marked else 0

    def _seen(self, items: Sequence[Item]) -> Iterator[Any]:
        return see([item.images for item in items], lambda many: list(map(pixels, many)), ahead=8)

    def _read(
        self, item: Item, text: str, pictures: Sequence[Pixels]
    ) -> tuple[WholeText | None, str]:
        """What the processor makes of an item, or why it makes nothing."""
        try:
            return WholeText(text, self._inputs(text, pictures)), ""
        except Exception as error:
            what = "the picture" if pictures else "a question without a picture"
            reason = first_line(error)[:120]
            return None, f"the model's processor does not take {what}: {reason}"

    def _inputs(self, text: str, pictures: Sequence[Pixels]) -> Inputs:
        """What the processor gives for a text with pictures, as the model takes it."""
        given: dict[str, Any] = {"text": [text], "return_tensors": "pt"}
        if pictures:
            given["images"] = [list(pictures)] if self.call.nested else list(pictures)
        begins = getattr(self.tokenizer, "bos_token", None)
        if begins and text.startswith(begins):
            given["add_special_tokens"] = False
        made = {}
        for name, value in self.processor(**given).items():
            if name == "labels" or not isinstance(value, torch.Tensor):
                continue
            dtype = self.model.dtype if value.is_floating_point() else value.dtype
            made[name] = value.to(self.device, dtype)
        if self.two_parts:
            return made
        return self._open_ended(made)

    def _open_ended(self, inputs: Inputs) -> Inputs:
        """The inputs of a decoder without the tokens that close a text: an answer follows it."""
        ids = inputs["input_ids"][0].tolist()
        kept = len(ids) - len(self.closing)
        if self.closing and kept > 0 and ids[kept:] == self.closing:
            inputs = cut(inputs, kept)
        if type(self.model).__name__ == "BlipForConditionalGeneration":
            # its own `generate` begins a text with this token instead of [CLS]
            inputs["input_ids"][0, 0] = self.model.config.text_config.bos_token_id
        return inputs

    def tokens(self, texts: Sequence[WholeText]) -> list[WholePrompt]:
        """What the model reads before it writes."""
        found = []
        for each in texts:
            prompt = WholePrompt(each.inputs["input_ids"][0].tolist())
            prompt.inputs = each.inputs
            found.append(prompt)
        return found

    def queries(
        self, texts: Sequence[WholeText], words: Sequence[Sequence[Sequence[str]]]
    ) -> list[WholeQuery]:
        """What the model reads before the answer, and each way to answer, as tokens."""
        found = []
        for each, ways in zip(texts, words, strict=True):
            if self.two_parts:
                found.append(self._target_query(each, flat(ways)))
            else:
                found.append(self._continuing_query(each, flat(ways)))
        return found

    def _target_query(self, asked: WholeText, words: Sequence[str]) -> WholeQuery:
        end = self.tokenizer.eos_token_id
        closing = [] if end is None else [end]
        tails = [[*tokens, *closing] for tokens in self.encoder.raw(list(words))]
        made = WholeQuery(asked.inputs["input_ids"][0].tolist(), tails)
        made.inputs = asked.inputs
        return made

    def _continuing_query(self, asked: WholeText, words: Sequence[str]) -> WholeQuery:
        """Where a token joins text and answer, the text ends before it."""
        (joined,) = self.encoder.queries([asked.text], [list(words)])
        whole = self.encoder.open(asked.text, self.encoder.texts([asked.text])[0])
        back = len(whole) - len(joined.context)
        inputs = cut(asked.inputs, asked.inputs["input_ids"].shape[1] - back)
        made = WholeQuery(inputs["input_ids"][0].tolist(), joined.continuations)
        made.inputs = inputs
        return made

    def _score(self, queries: Sequence[Query]) -> list[list[float]]:
        """For each query the log-probability of each continuation, summed over its tokens."""
        result = []
        for query in queries:
            assert isinstance(query, WholeQuery)
            result.append([self._log(query.inputs, tokens) for tokens in query.continuations])
        return result

    def _log(self, inputs: Inputs, tokens: Sequence[int]) -> float:
        answer = torch.tensor([list(tokens)], device=self.device)
        if self.two_parts:
            start = torch.tensor([[start_token(self.model)]], device=self.device)
            given = {**inputs, "decoder_input_ids": torch.cat([start, answer[:, :-1]], 1)}
        else:
            given = followed_by(inputs, answer[:, :-1])
        with torch.inference_mode():
            logits = self.model(**given).logits[0, -len(tokens) :]
        logs = logits.float().log_softmax(-1)
        return float(logs.gather(1, answer[0, :, None]).sum())

    def write(self, prompts: Sequence[WholePrompt]) -> list[ModelReply]:
        """The model's greedy reply to each prompt."""
        return [self._reply(prompt) for prompt in prompts]

    def _reply(self, prompt: WholePrompt) -> ModelReply:
        room = self.new_tokens
        with torch.inference_mode():
            made = self.model.generate(**prompt.inputs, max_new_tokens=room, do_sample=False)
        tokens = made[0].tolist()
        if tokens[: len(prompt)] == list(prompt):  # some models give back what they read
            tokens = tokens[len(prompt) :]
        cut_short = len(tokens) >= room and not set(tokens).intersection(end_tokens(self.model))
        text = self.tokenizer.decode(tokens, skip_special_tokens=True).strip()
        return ModelReply(text, len(prompt) + len(tokens), cut_short, len(tokens))


def has_encoder_and_decoder(config: Any) -> bool:
    """Whether a model reads with an encoder: its answers do not follow pictures and question.

    Florence-2 and BLIP-2 with T5 are of this kind.
    """
    both = (config, config.get_text_config())
    return any(getattr(each, "is_encoder_decoder", False) for each in both)


def of_tokens(inputs: Mapping[str, torch.Tensor]) -> list[str]:
    """The names of inputs that say something of each token of the text."""
    size = inputs["input_ids"].shape[1]
    found = []
    for name, value in inputs.items():
        whole_numbers = not value.is_floating_point() and value.dim() > 1
        if whole_numbers and value.shape[1] == size and not name.startswith(OF_PICTURES):
            found.append(name)
    return found


def cut(inputs: Inputs, size: int) -> Inputs:
    """The inputs of the first tokens of a text."""
    return {**inputs, **{name: inputs[name][:, :size].clone() for name in of_tokens(inputs)}}


def followed_by(inputs: Inputs, answer: torch.Tensor) -> Inputs:
    """The inputs with an answer after the text, of which the same is said as of its last token."""
    found = dict(inputs)
    for name in of_tokens(inputs):
        last = inputs[name][:, -1:]
        more = last.repeat_interleave(answer.shape[1], dim=1)
        if name == "input_ids":
            more = answer
        found[name] = torch.cat([inputs[name], more.to(last.dtype)], 1)
    return found
