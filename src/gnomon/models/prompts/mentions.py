"""How an item's own text mentions what its tags name: "a bus shelter", with the article it has.

A template can then put the objects of an item into another sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from gnomon.errors import UsageError
from gnomon.records import Item

TAG = "tag:"  # {tag:obj_a} in a template
DETERMINER = r"(?:(?:an?|the|some)\s+(?:pair\s+of\s+)?)?"


def mentions(item: Item, tags: Iterable[str]) -> dict[str, str]:
    """For each tag its value as the text has it, with its article; the bare value if it has not.

    >>> item = Item(id="1", form="cloze", text="A bus is [MASK] than a bus shelter.",
    ...             tags={"obj_a": "bus", "obj_b": "bus shelter"})
    >>> mentions(item, ["obj_a", "obj_b"])
    {'obj_b': 'a bus shelter', 'obj_a': 'a bus'}
    """
    values = {tag: _value(item, tag) for tag in tags}
    text = item.text
    found = {}
    for tag, value in longest_first(values):
        match = mention_of(value).search(text)
        if match is None:
            found[tag] = value
            continue
        found[tag] = match[1].lower() + value
        # "bus" must not be found again within "bus shelter"
        text = text[: match.start()] + "\0" + text[match.end() :]
    return found


def mention_of(value: str) -> re.Pattern[str]:
    """A pattern that finds a name in a text, with its article as the first group."""
    return re.compile(rf"(?<!\w)({DETERMINER}){re.escape(value)}(?!\w)", re.IGNORECASE)


def longest_first(values: dict[str, str]) -> list[tuple[str, str]]:
    """Tags and their values, those first whose value may hold another's."""
    return sorted(values.items(), key=lambda pair: -len(pair[1]))


def _value(item: Item, tag: str) -> str:
    value = item.tags.get(tag, "")
    if not value:
        known = ", ".join(item.tags) or "none"
        raise UsageError(
            f"The prompt names the tag '{tag}', which the item '{item.id}' does not have.",
            f"Use tags that all items have: {known}.",
        )
    return value
