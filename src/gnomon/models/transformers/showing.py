"""How a model is shown pictures: their place in its text, and what its processor makes of them.

The model's own processor turns pictures into tensors and puts their tokens into the text. It is
called once for each picture, with a text that holds nothing else; what it writes there is put into
every question about the picture. `trial` checks that this gives what the processor itself gives.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from gnomon.errors import ModelError
from gnomon.models.chat import WITHOUT, Writer, chat_template, conversation, showing
from gnomon.vision.decoding import Pixels

QUESTION = "@question@"  # stands for a text while a template or a processor is tried
# what a processor gives for each token, beside the tokens themselves
OF_TOKENS = ("token_type_ids", "mm_token_type_ids")
LEFT_OUT = ("input_ids", "attention_mask", "labels", *OF_TOKENS)


@dataclass(eq=False)
class Shown:
    """Pictures that are shown together, as a model takes them."""

    before: str = ""  # what the processor writes in their place
    after: str = ""  # what it puts after the whole text
    tensors: dict[str, torch.Tensor] = field(default_factory=dict)
    # for each kind of token types, those of the tokens that have another than 0
    types: dict[str, dict[int, int]] = field(default_factory=dict)
    features: Any = None  # what the model made of them, once it has looked (`looking`)
    key: str = ""  # under which its features are kept

    @property
    def reads_both_ways(self) -> bool:
        """Whether the tokens of a question see each other, and only those of the answer do not.

        Models such as PaliGemma say so by types of tokens, of which pictures have none.
        """
        return self.types.get("token_type_ids") == {}

    def token_inputs(
        self, rows: Sequence[Sequence[int]], device: torch.device
    ) -> dict[str, torch.Tensor]:
        """Rows of tokens, and the types of tokens that the model wants beside them."""
        inputs = {"input_ids": torch.tensor(rows, device=device)}
        for name, types in self.types.items():
            found = []
            for row in rows:
                found.append([types.get(token, 0) for token in row])
            inputs[name] = torch.tensor(found, device=device)
        return inputs


class Placing:
    """Where pictures stand in what the model reads, by its chat template or at the front."""

    def __init__(self, processor: Any, *, chat: bool) -> None:
        self.marks = _marks(processor)
        self.mark = self.marks[0]
        self._write = _template(processor) if chat else None
        self._in_parts = True
        if self._write is not None:
            self._learn_template()
        self._stretches: dict[int, str] = {0: ""}
        self.gap = "\n"  # between pictures and text, where there is no template

    def writer(self, pictures: int) -> Writer | None:
        """The chat template for a question with so many pictures; none without a template."""
        if self._write is None:
            return None
        return showing(self._write, pictures, mark="" if self._in_parts else self.mark)

    def stretch(self, pictures: int) -> str:
        """What stands in a text for so many pictures, from the first mark to the last."""
        if pictures not in self._stretches:
            self._stretches[pictures] = self._found_stretch(pictures)
        return self._stretches[pictures]

    def put(self, text: str, pictures: int) -> str:
        """A text with as many pictures before it, where there is no template."""
        return self.stretch(pictures) + self.gap + text if pictures else text

    def expanded(self, text: str, pictures: int, shown: Shown) -> str:
        """A text with what the processor writes in the place of the pictures."""
        if not pictures:
            return shown.before + text + shown.after
        head, _, tail = text.partition(self.stretch(pictures))
        return head + shown.before + tail + shown.after

    def trouble(self, text: str, pictures: int) -> str:
        """Why a text cannot be asked: a question must not hold marks of pictures of its own."""
        for mark in self.marks:
            wanted = pictures if mark == self.mark else 0
            if text.count(mark) != wanted:
                return f"the text holds {mark}, which stands for a picture"
        return ""

    def _learn_template(self) -> None:
        for in_parts in (True, False):
            self._in_parts = in_parts
            for mark in self.marks:
                self.mark = mark
                text = self._tried(1)
                if text.count(mark) == 1 and QUESTION in text and "'type'" not in text:
                    return
        raise ModelError("The model's chat template does not say where pictures stand.", WITHOUT)

    def _tried(self, pictures: int) -> str:
        write = self.writer(pictures)
        assert write is not None
        try:
            return conversation(write, [{"role": "user", "content": QUESTION}])
        except ModelError:
            if self._in_parts:  # a template that takes plain text only
                return ""
            raise

    def _found_stretch(self, pictures: int) -> str:
        if self._write is None:
            return self.mark * pictures
        text = self._tried(pictures)
        first, last = text.find(self.mark), text.rfind(self.mark)
        if text.count(self.mark) != pictures:
            raise ModelError(
                f"The model's chat template does not show {pictures} pictures in one question.",
                "Choose items with one picture, or ask without it: --set chat=no",
            )
        return text[first : last + len(self.mark)]


class Shower:
    """Calls a processor for pictures alone; several threads may do so at once."""

    def __init__(self, processor: Any, placing: Placing) -> None:
        self.processor, self.placing = processor, placing
        self._recorder = _Recorder(processor.tokenizer)
        processor.tokenizer = self._recorder

    def show(self, pictures: Sequence[Pixels]) -> Shown:
        """What the processor makes of pictures that are shown together."""
        text = self.placing.stretch(len(pictures)) + QUESTION
        made = self.processor(text=[text], images=[list(pictures)], return_tensors="pt")
        before, found, after = self._recorder.text.partition(QUESTION)
        if not found:
            raise ModelError(
                "The model's processor does not write pictures into its text.",
                "Choose another model that sees.",
            )
        tensors = {name: value for name, value in made.items() if name not in LEFT_OUT}
        return Shown(before, after, tensors, _types(made))

    def show_nothing(self, like: Shown) -> Shown:
        """What stands around a text without pictures, by what stands around one with some."""
        opening: str = getattr(self._recorder, "bos_token", None) or ""
        if not (opening and like.before.endswith(opening)):
            opening = ""
        return Shown(opening, like.after, {}, like.types)

    def literally(self, text: str, pictures: Sequence[Pixels]) -> dict[str, torch.Tensor]:
        """What the processor makes of a whole text with pictures, as its authors call it."""
        mark = getattr(self._recorder, "bos_token", None)
        special = not (mark and text.startswith(mark))
        made = self.processor(
            text=[text], images=[list(pictures)], return_tensors="pt", add_special_tokens=special
        )
        return {name: value for name, value in made.items() if name != "labels"}


class _Recorder:
    """A tokenizer that remembers, in each thread, the text that it was given last."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._one_at_a_time = threading.Lock()
        self._last = threading.local()

    @property
    def text(self) -> str:
        """The text that this thread's last call was given."""
        return str(getattr(self._last, "text", ""))

    def __call__(self, text: Any, *args: Any, **kwargs: Any) -> Any:
        self._last.text = text if isinstance(text, str) else text[0]
        with self._one_at_a_time:
            return self._tokenizer(text, *args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tokenizer, name)


def template_of(processor: Any) -> str:
    """The chat template of a processor or of its tokenizer; empty if there is none."""
    for owner in (processor, processor.tokenizer):
        found = getattr(owner, "chat_template", None)
        if isinstance(found, Mapping):
            found = found.get("default")
        if found:
            return str(found)
    return ""


def _template(processor: Any) -> Writer:
    return chat_template(template_of(processor), processor.tokenizer.special_tokens_map)


def _marks(processor: Any) -> list[str]:
    """What may stand for a picture in a text, as processors name it."""
    found = []
    for owner in (processor, processor.tokenizer):
        for name in ("boi_token", "image_token"):
            mark = getattr(owner, name, None)
            if isinstance(mark, str) and mark and mark not in found:
                found.append(mark)
    if not found:
        raise ModelError(
            "The model's processor does not say what stands for a picture in a text.",
            "Choose another model that sees.",
        )
    return found


def _types(made: Mapping[str, Any]) -> dict[str, dict[int, int]]:
    """The types of tokens as the processor gives them, by token."""
    tokens = made["input_ids"][0].tolist()
    found: dict[str, dict[int, int]] = {}
    for name in OF_TOKENS:
        if name in made:
            types = made[name][0].tolist()
            found[name] = {token: kind for token, kind in zip(tokens, types, strict=True) if kind}
    return found
