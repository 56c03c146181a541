"""What a run answered to an item, as the item's page shows it: with reply, prompt and pictures."""

from __future__ import annotations

from math import isnan
from typing import Any

from gnomon.errors import GnomonError
from gnomon.naming import clip
from gnomon.records import Answer, Item, Preview
from gnomon.reports.prompts import prompt_of
from gnomon.reports.viewer.addresses import run_address
from gnomon.reports.viewer.paintings import painted
from gnomon.reports.words import percentage
from gnomon.runs import Run

REPLY = 4_000  # characters of a reply
TEXT = 20_000  # characters of a prompt
BRIEF = 0.01  # seconds: what takes less is not worth a word


def answer_row(run: Run, item: Item, answer: Answer | None) -> dict[str, Any]:
    """What a run answered to an item, and what it was asked."""
    row: dict[str, Any] = {
        "url": run_address(run),
        "asked": False,
        "said": "not asked",
        "chances": [],
        "right": False,
        "reply": "",
        "rule": "",
        "error": "",
        "took": "",
        "paintings": [],
        "prompt": None,
    }
    if answer is None:
        return row
    return {
        **row,
        "asked": True,
        "said": answer.choice or "no answer",
        "chances": _chances(run.manifest.scale, item, answer),
        "right": answer.choice in item.gold,
        "reply": clip(answer.reply or "", REPLY),
        "rule": answer.rule or "",
        "error": answer.error or "",
        "took": _took(answer),
        "paintings": painted(run, answer),
        "prompt": _prompt(run, item),
    }


def _took(answer: Answer) -> str:
    """How long an answer took, and how many tokens, as far as the model says."""
    parts = []
    if answer.tokens_read is not None or answer.tokens_written is not None:
        read, written = answer.tokens_read or 0, answer.tokens_written or 0
        parts.append(f"{read:,} tokens read, {written:,} written")
    elif answer.tokens is not None:
        parts.append(f"{answer.tokens:,} tokens")
    if answer.seconds is not None and answer.seconds >= BRIEF:
        parts.append(f"{answer.seconds:.2f} s")
    return " · ".join(parts)


def _prompt(run: Run, item: Item) -> dict[str, Any] | None:
    """Exactly what the model read, where that can be said without loading it."""
    try:
        found: Preview | None = prompt_of(run, item)
    except (GnomonError, ImportError):  # a model, prompt or file that is not here
        return None
    if found is None:
        return None
    messages = []
    for message in found.messages:
        messages.append((message.get("role", ""), clip(message.get("content", ""), TEXT)))
    scored = []
    for each in found.scored:
        scored.append({"choice": each.choice, "text": each.text, "tokens": list(each.tokens)})
    return {"text": clip(found.text, TEXT), "messages": messages, "scored": scored}


def _chances(scale: str, item: Item, answer: Answer) -> list[tuple[str, str]]:
    """The probability of each choice, by the rule that measures use."""
    from gnomon.measures.table import Table

    if answer.scores is None or scale == "none":
        return []
    table = Table.of([(item, answer)], scale=scale)
    found = []
    for choice, chance in zip(item.choices, table.probabilities[0].tolist(), strict=False):
        found.append((choice, "–" if isnan(chance) else percentage(chance)))
    return found
