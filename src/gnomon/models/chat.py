"""A model's chat template: Jinja written by strangers, so it runs in a sandbox and its faults are errors for people."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gnomon.errors import MissingExtraError, ModelError

Messages = list[dict[str, str]]
WITHOUT = "Ask without it: --model-set chat=no"


def chat_template(source: str, special: Mapping[str, str]) -> Callable[[Messages], str]:
    """The template as a function from messages to the text that the model reads, up to where its reply begins.

    A template that knows no system message gets it as the beginning of the first question.

    >>> say = chat_template("{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}<assistant>", {})
    >>> say([{"role": "user", "content": "Is an ant large?"}])
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
        trim_blocks=True, lstrip_blocks=True, autoescape=False, extensions=["jinja2.ext.loopcontrols"]
    )
    environment.globals["raise_exception"] = raise_exception
    environment.globals["strftime_now"] = lambda _: ""  # the date must not change the answers

    def write(messages: Messages) -> str:
        return str(template.render(messages=messages, add_generation_prompt=True, **special))

    def say(messages: Messages) -> str:
        return conversation(write, messages)

    try:
        template: Any = environment.from_string(source)
    except TemplateError as error:
        raise ModelError(f"The model's chat template cannot be read: {error}.", WITHOUT) from None
    return say


def conversation(write: Callable[[Messages], str], messages: Messages) -> str:
    """What a template writes; the system message stands before the first question if it refuses or forgets that.

    >>> conversation(lambda turns: turns[-1]["content"], [{"role": "system", "content": "Be brief."},
    ...                                                   {"role": "user", "content": "Is an ant large?"}])
    'Be brief.\\n\\nIs an ant large?'
    """
    from jinja2 import TemplateError

    system = messages[0]["content"].strip() if messages[0]["role"] == "system" and len(messages) > 1 else ""
    try:
        text = write(messages)
        if system in text:
            return text
    except (TemplateError, TypeError, ValueError, ArithmeticError, LookupError, AttributeError) as error:
        if not system:
            raise ModelError(f"The model's chat template fails: {error}.", WITHOUT) from None
    return conversation(write, _without_system(messages))


def _without_system(messages: Messages) -> Messages:
    system, first, *rest = messages
    return [{"role": first["role"], "content": f"{system['content']}\n\n{first['content']}"}, *rest]
