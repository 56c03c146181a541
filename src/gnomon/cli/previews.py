"""What a model reads for an item, for the terminal: special tokens and scored tokens marked."""

from __future__ import annotations

import re
from textwrap import indent
from typing import Any

from gnomon.errors import inert
from gnomon.records import Item, Preview

MARGIN = "  │ "


def in_words(item: Item, shown: Preview) -> str:
    """An item as a model reads it."""
    lines = [f"[{item.id}]  {item.form}, {_size(shown)}"]
    if shown.trouble:
        lines.append(f"  It cannot be asked: {shown.trouble}.")
    if shown.images and not shown.messages:
        lines.append(f"  with {_pictures(shown.images)}")
    for message in shown.messages:
        lines.append(f"  {message['role']}:")
        lines.append(indent(message["content"], MARGIN, lambda _: True))
    if shown.messages and shown.images:
        lines.append(f"  with {_pictures(shown.images)} before the last message")
    if shown.text:
        marked = mark_special(shown.text, shown.special)
        if marked.endswith("\n"):  # nobody would see it
            marked = marked.removesuffix("\n") + "⏎"
        lines.append(indent(marked, MARGIN, lambda _: True))
    if shown.how:
        lines.append(f"  Asked for: {shown.how}")
    lines += _scored(item, shown)
    for name, value in shown.limits.items():
        lines.append(f"    {name}: {_value(value)}")
    return inert("\n".join(lines))


def mark_special(text: str, special: tuple[str, ...]) -> str:
    """A text with its special tokens in brackets that no text has.

    >>> mark_special("<s>An ant is", ("<s>",))
    '⟦<s>⟧An ant is'
    """
    if not special:
        return text
    longest_first = sorted(filter(None, special), key=len, reverse=True)
    either = "|".join(map(re.escape, longest_first))
    return re.sub(either, lambda match: f"⟦{match[0]}⟧", text)


def visible(token: str) -> str:
    """A token with its spaces and line ends to be seen.

    >>> visible(" larger")
    '␣larger'
    """
    return token.replace(" ", "␣").replace("\n", "⏎")


def _scored(item: Item, shown: Preview) -> list[str]:
    width = max((len(each.choice) for each in shown.scored), default=0)
    lines = []
    for each in shown.scored:
        right = "✓" if each.choice in item.gold else " "
        text = "·".join(map(visible, each.tokens)) or visible(each.text)
        count = f"  ({_tokens(len(each.tokens))})" if each.tokens else ""
        lines.append(f"  {right} {each.choice:<{width}}  {text}{count}")
    return lines


def _size(shown: Preview) -> str:
    if shown.tokens is None:
        return "tokens not counted: the tokenizer is elsewhere" if not shown.trouble else "not read"
    return _tokens(shown.tokens)


def _tokens(count: int) -> str:
    return "1 token" if count == 1 else f"{count:,} tokens"


def _pictures(count: int) -> str:
    return "a picture" if count == 1 else f"{count} pictures"


def _value(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return str(value)
