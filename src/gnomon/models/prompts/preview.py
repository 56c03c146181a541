"""Prompts shown without the model, and conversations as chat templates write them.

`PromptFormat` holds the prompt, the chat template written out around a question, and the special
tokens that a tokenizer adds. `preview` puts an item into it: the same text that the model reads, or
none where that cannot be told without the model.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from gnomon.errors import GnomonError, ModelError, importing
from gnomon.models.prompts.library import Prompt
from gnomon.records import FORMS, Continuation, Item, Preview

# A conversation as a model's own chat template writes it, up to where the answer begins.
#
# The template is Jinja written by strangers: it runs in a sandbox (`sandbox`), and its faults are
# errors for people.


Messages = list[dict[str, str]]
Writer = Callable[[Messages, bool], str]  # the flag: begin the next reply
ANSWER = "@answer@"  # stands for an answer while a template is written out
WITHOUT = "Ask without it: --set chat=no"


def chat_template(source: str, special: Mapping[str, str]) -> Writer:
    """The template as a function from messages to text.

    >>> say = chat_template("{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}", {})
    >>> say([{"role": "user", "content": "Is an ant large?"}], True)
    '<user>Is an ant large?'
    """
    with importing("A model's chat template", "gguf"):
        from jinja2 import TemplateError

        from gnomon.models.prompts.sandbox import BoundedTemplate

    try:
        template = BoundedTemplate(source)
    except (TemplateError, RecursionError, MemoryError) as error:
        reason = str(error) or type(error).__name__
        raise ModelError(f"The model's chat template cannot be read: {reason}.", WITHOUT) from None

    # Templates of the hub are used to these names being there, and empty.
    given = {"tools": None, "documents": None, **special}

    def write(messages: Messages, begin: bool) -> str:
        return template.write(messages=messages, add_generation_prompt=begin, **given)

    return write


def showing(write: Writer, pictures: int, *, mark: str = "", gap: str = "\n") -> Writer:
    """The same template for conversations whose last question begins with some pictures.

    Messages are put in parts, as templates of models that see want them; or in plain text, where
    `mark` stands for each picture, and `gap` between pictures and text.

    >>> plain = chat_template("{% for m in messages %}{{ m.content }}{% endfor %}", {})
    >>> showing(plain, 1, mark="<image>")([{"role": "user", "content": "Is it red?"}], True)
    '<image>\\nIs it red?'
    """

    def show(messages: Messages, begin: bool) -> str:
        last = max(place for place, each in enumerate(messages) if each["role"] == "user")
        shown = []
        for place, message in enumerate(messages):
            count = pictures if place == last else 0
            content: Any = message["content"]
            if not mark:
                content = [*({"type": "image"},) * count, {"type": "text", "text": content}]
            elif count:
                content = mark * count + gap + content
            shown.append({**message, "content": content})
        return write(shown, begin)

    return show


def conversation(write: Writer, messages: Messages, *, answered: bool = False) -> str:
    """A conversation as a template writes it, up to where the answer begins.

    That is where generation starts; or, `answered`, where the template puts an answer that is there
    already: after a space, after a thought that is empty, never inside one. A template that refuses
    or forgets the system message gets it as the beginning of the first question.

    >>> turns = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Is it?"}]
    >>> conversation(lambda turns, _: turns[-1]["content"], turns)
    'Be brief.\\n\\nIs it?'
    """
    from jinja2 import TemplateError

    faults = (
        TemplateError,
        TypeError,
        ValueError,
        ArithmeticError,
        LookupError,
        AttributeError,
        RecursionError,
        MemoryError,
    )
    system = _system_message(messages)
    try:
        text = _up_to_answer(write, messages) if answered else write(messages, True)
    except faults as error:
        if system:
            return conversation(write, _without_system(messages), answered=answered)
        reason = str(error) or type(error).__name__
        raise ModelError(f"The model's chat template fails: {reason}.", WITHOUT) from None

    if system not in text:
        return conversation(write, _without_system(messages), answered=answered)
    return text


def _system_message(messages: Messages) -> str:
    """What the system message says; empty if there is none, or nothing else."""
    if len(messages) < 2 or messages[0]["role"] != "system":
        return ""
    return messages[0]["content"].strip()


def _up_to_answer(write: Writer, messages: Messages) -> str:
    answered = [*messages, {"role": "assistant", "content": ANSWER}]
    before, found, _ = write(answered, False).rpartition(ANSWER)
    return before if found else write(messages, True)


def _without_system(messages: Messages) -> Messages:
    system, first, *rest = messages
    question = f"{system['content']}\n\n{first['content']}"
    return [{"role": first["role"], "content": question}, *rest]


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
