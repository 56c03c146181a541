"""What a manifest keeps so that the prompt of any item can be shown without the model.

`PromptFormat` holds the prompt, the chat template written out around a question, and the special
tokens that a tokenizer adds. `preview` puts an item into it: the same text that the model reads, or
none where that cannot be told without the model.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from gnomon.errors import GnomonError
from gnomon.models.prompts.chat import Writer, conversation
from gnomon.models.prompts.library import Prompt
from gnomon.records import FORMS, Continuation, Item, Preview

# A conversation as a model's own chat template writes it, up to where the answer begins.
#


QUESTION = "@question@"  # stands for a question while a template is written out
TRIALS = ("Is an ant larger than a bird?\n\nAnswer: yes", "An apple.")
MARKUP = "<>[]{}|"  # a template may treat a question that holds these in its own way
MOST_PICTURES = 2  # in one question, for which the template is written out
HOW = {
    "score": "the likelihood of each continuation",
    "target": "the likelihood of each continuation, written by the decoder",
    "generate": "a reply, which is read",
    "fill": "the likelihood of each word in the blank",
    "pair": "the probability of each label for the pair",
    "compare": "how well each text fits the picture",
    "echo": "the likelihood of each continuation, echoed by the server",
}


class PromptFormat(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a model is asked, as far as prompts need it."""

    way: str  # one of HOW
    prompt: Prompt | None = None
    # what the chat template writes before and after the question, by `frame_name`
    frames: dict[str, tuple[str, str]] | None = None
    sends_messages: bool = False  # the server has the template
    bare: bool = False  # the continuations are answer words, without what stands around them
    opening: str = ""  # special tokens before a text
    middle: str = ""  # between the two texts of a pair
    closing: str = ""
    begins: str = ""  # a text that begins with this is not opened again
    blank: str = ""  # the mask token
    mark: str = ""  # what stands for a picture
    gap: str = "\n"  # between pictures and what follows them
    pictures_first: bool = False  # before instruction and examples, not only before the question
    takes_pictures: bool = False
    special: tuple[str, ...] = ()
    limits: dict[str, Any] = {}
    contrast: str = ""  # what a caption is compared with
    asks: bool = False  # a caption is put as a question

    def preview(self, item: Item) -> Preview | None:
        """What the model reads for an item; none if that cannot be told without the model."""
        if self.way == "pair":
            return self._pair(item)
        if self.way == "compare":
            return self._compared(item)
        if self.prompt is None or item.form not in self.prompt.forms:
            return None
        if self.sends_messages:
            text, messages = "", tuple(self.prompt.chat(item))
        else:
            found = self._text(item)
            if found is None:
                return None
            text, messages = found, ()
        return Preview(
            text=text,
            messages=messages,
            scored=self._scored(item),
            images=self._pictures(item),
            special=tuple(token for token in self.special if token in text),
            how=HOW[self.way],
            limits=self.limits,
        )

    def text(self, item: Item) -> str:
        """What the model reads for an item, with the special tokens; empty if that is not known."""
        if self.way == "pair":
            premise, hypothesis = pair_of(item)
            return self.opening + premise + self.middle + hypothesis + self.closing
        return self._text(item) or ""

    def _pair(self, item: Item) -> Preview | None:
        if item.form != "entailment":
            return None
        return Preview(text=self.text(item), special=self.special, how=HOW[self.way])

    def _compared(self, item: Item) -> Preview | None:
        from gnomon.models.comparison import compared_texts, names_of_texts

        texts = compared_texts(item, self.contrast, asks=self.asks)
        found = []
        for name, text in zip(names_of_texts(item, len(texts)), texts, strict=True):
            found.append(Continuation(choice=name, text=self.opening + text + self.closing))
        return Preview(
            scored=tuple(found),
            images=len(item.images),
            special=self.special,
            how=HOW[self.way],
            limits=self.limits,
        )

    def _pictures(self, item: Item) -> int:
        return len(item.images) if self.takes_pictures else 0

    def _text(self, item: Item) -> str | None:
        assert self.prompt is not None
        pictures = self._pictures(item)
        shown = self.prompt.shown_to(item)
        if self.frames is not None:
            question = self.prompt.question(item)
            frame = self.frames.get(frame_name(item.form, shown, pictures))
            if frame is None or not set(question).isdisjoint(MARKUP):
                return None
            before, after = frame
            return before + question + after

        prefix = self.prompt.prefix(item.form, shown)
        parts = self.prompt.parts(item)
        marks = self.mark * pictures + self.gap if pictures else ""
        if self.way == "fill":
            return self.opened(prefix + parts.before + parts.lead + self.blank + parts.after)
        if self.pictures_first:
            return self.opened(marks + prefix + parts.before)
        return self.opened(prefix + marks + parts.before)

    def opened(self, text: str) -> str:
        """A text with the special tokens that the tokenizer puts around it; none in a template."""
        if self.frames is not None:
            return text
        if self.begins and text.startswith(self.begins):
            return text + self.closing
        return self.opening + text + self.closing

    def _scored(self, item: Item) -> tuple[Continuation, ...]:
        assert self.prompt is not None
        if self.way == "generate":
            return ()
        words = self.prompt.answers(item) if self.bare else self.prompt.words(item)
        found = continuations(item, words)
        if self.way != "target":
            return found
        return tuple(msgspec.structs.replace(each, text=each.text.strip()) for each in found)


def pair_of(item: Item) -> tuple[str, str]:
    """The premises of an item as one text, and its hypothesis."""
    return " ".join(item.context.split()), item.text


def frame_name(form: str, shown: int, pictures: int) -> str:
    """Under which name the frame of a form is kept, for a set of examples and some pictures."""
    return f"{form} {shown} {pictures}"


def frames(
    prompt: Prompt,
    writer: Callable[[int], Writer],
    *,
    answered: bool,
    most_pictures: int = 0,
) -> dict[str, tuple[str, str]]:
    """The chat template written out around the question of each form.

    `writer` gives the template for so many pictures. A frame that two other questions do not fit
    is left out.
    """
    sets = 1 if prompt.drawn is None else len(prompt.drawn.sets)
    found = {}
    for pictures in range(most_pictures + 1):
        write = writer(pictures)
        for form in FORMS:
            if form not in prompt.forms:
                continue
            for shown in range(sets):
                frame = _frame(prompt, write, form, shown, answered=answered)
                if frame is not None:
                    found[frame_name(form, shown, pictures)] = frame
    return found


def _frame(
    prompt: Prompt, write: Writer, form: str, shown: int, *, answered: bool
) -> tuple[str, str] | None:
    def written(question: str) -> str:
        return conversation(write, prompt.turns(form, question, shown), answered=answered)

    try:
        before, found, after = written(QUESTION).partition(QUESTION)
        if not found:
            return None
        for trial in TRIALS:
            if written(trial) != before + trial + after:
                return None
    except GnomonError:
        return None
    return before, after


def continuations(
    item: Item,
    words: Sequence[Sequence[str]],
    tokens: Iterable[Sequence[int]] | None = None,
    write: Callable[[int], str] = str,
) -> tuple[Continuation, ...]:
    """The words of each choice as they are scored, with their tokens where they are known."""
    coming = None if tokens is None else iter(tokens)
    found = []
    for choice, ways in zip(item.choices, words, strict=True):
        for word in ways:
            ids: tuple[int, ...] = () if coming is None else tuple(next(coming))
            written = tuple(map(write, ids))
            found.append(Continuation(choice=choice, text=word, tokens=written, ids=ids))
    return tuple(found)
