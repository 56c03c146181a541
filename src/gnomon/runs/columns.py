"""Items and answers as columns, as the frames of pandas and polars want them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gnomon.records import Answer, Item


def answer_columns(rows: Iterator[tuple[Item, Answer | None]]) -> dict[str, list[Any]]:
    """Items and answers as columns, for a frame."""
    asked = list(rows)
    tags: dict[str, None] = {}
    for item, _ in asked:
        tags |= dict.fromkeys(item.tags)
    found: dict[str, list[Any]] = {}
    for name in ("id", "form", "context", "text", "group"):
        found[name] = [getattr(item, name) for item, _ in asked]
    for name in ("choices", "gold"):
        found[name] = [list(getattr(item, name)) for item, _ in asked]
    found["answer"] = [answer and answer.choice for _, answer in asked]
    found["right"] = [answer and answer.choice in item.gold for item, answer in asked]
    found["scores"] = [_as_list(answer) for _, answer in asked]
    for name in ("reply", "error", "seconds", "tokens"):
        found[name] = [getattr(answer, name, None) for _, answer in asked]
    for tag in tags:
        found[f"tag_{tag}"] = [item.tags.get(tag) for item, _ in asked]
    return found


def _as_list(answer: Answer | None) -> list[float] | None:
    if answer is None or answer.scores is None:
        return None
    return list(answer.scores)
