"""A model's chat template: Jinja written by strangers, so it runs in a sandbox and its faults are
errors for people."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gnomon.errors import MissingExtraError, ModelError

Messages = list[dict[str, str]]
WITHOUT = "Ask without it: --model-set chat=no"


ANSWER = "@answer@"  # stands for an answer while a template is written out
Writer = Callable[
    [Messages, bool], str
]  # from messages, and whether the next reply is to be begun, to text


def chat_template(source: str, special: Mapping[str, str]) -> Writer:
    """The template as a function from messages to text.

    >>> write = chat_template("{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}<assistant>", {})
    >>> write([{"role": "user", "content": "Is an ant large?"}], True)
    '<user>Is an ant large?<assistant>'
    """
    try:
        from jinja2 import TemplateError
        from jinja2.sandbox import ImmutableSandboxedEnvironment
    except ImportError:
        raise MissingExtraError("A model's chat template", "gguf") from None

    def raise_exception(message: str) -> None:
        raise TemplateError(message)

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
        extensions=["jinja2.ext.loopcontrols"],
    )
    environment.globals["raise_exception"] = raise_exception
    environment.globals["strftime_now"] = lambda _: ""  # the date must not change the answers

    def write(messages: Messages, begin: bool) -> str:
        return str(template.render(messages=messages, add_generation_prompt=begin, **special))

    try:
        template: Any = environment.from_string(source)
    except TemplateError as error:
        raise ModelError(f"The model's chat template cannot be read: {error}.", WITHOUT) from None
    return write


def conversation(write: Writer, messages: Messages, *, answered: bool = False) -> str:
    """A conversation as a template writes it, up to where the answer begins.

    That is where generation starts; or, `answered`, where the template puts an answer that is there
    already: after a space, after a thought that is empty, never inside one. A template that refuses
    or forgets the system message gets it as the beginning of the first question.

    >>> conversation(lambda turns, _: turns[-1]["content"], [{"role": "system", "content": "Be brief."},
    ...                                                      {"role": "user", "content": "Is an ant large?"}])
    'Be brief.\\n\\nIs an ant large?'
    """
    from jinja2 import TemplateError

    system = (
        messages[0]["content"].strip()
        if messages[0]["role"] == "system" and len(messages) > 1
        else ""
    )
    try:
        text = _up_to_answer(write, messages) if answered else write(messages, True)
        if system in text:
            return text
    except (
        TemplateError,
        TypeError,
        ValueError,
        ArithmeticError,
        LookupError,
        AttributeError,
    ) as error:
        if not system:
            raise ModelError(f"The model's chat template fails: {error}.", WITHOUT) from None
    return conversation(write, _without_system(messages), answered=answered)


def _up_to_answer(write: Writer, messages: Messages) -> str:
    before, found, _ = write(
        [*messages, {"role": "assistant", "content": ANSWER}], False
    ).rpartition(ANSWER)
    return before if found else write(messages, True)


def _without_system(messages: Messages) -> Messages:
    system, first, *rest = messages
    return [{"role": first["role"], "content": f"{system['content']}\n\n{first['content']}"}, *rest]
