"""A conversation as a model's own chat template writes it, up to where the answer begins.

The template is Jinja written by strangers: it runs in a sandbox (`sandbox`), and its faults are
errors for people.
"""

from collections.abc import Callable, Mapping
from typing import Any

from gnomon.errors import ModelError, importing

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
