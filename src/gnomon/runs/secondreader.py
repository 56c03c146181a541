"""A second reader: replies that no rule could read are put to a small model, and it is audited.

The answers are those of an earlier run. Where a reply was not read, the reader is asked which of
the choices it gives, or none. It is asked the same about replies that the rules read: how often it
agrees with them, and how often its mistakes make a wrong answer right, is kept with the run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

from msgspec.structs import replace

from gnomon.contracts import Benchmark, Model, Scale
from gnomon.errors import RunError
from gnomon.records import MASK, Answer, Item, digest
from gnomon.registry import ModelSpec
from gnomon.runs.reading import Run

RULE = "second reader"  # of answers that it read
NONE = "none of these"
AUDITED = 200  # replies that the rules read, on which the reader is tried
MOST = 2_000  # characters of a reply that it is shown, from the end


class SecondReader:
    """The answers of a run, with its unread replies read by another model."""

    takes = frozenset({"text", "image"})
    learns = False  # the audit is of the earlier run, whatever is asked

    def __init__(self, run: Run, reader: ModelSpec) -> None:
        self.spec = run.manifest.model
        self.scale = cast(Scale, run.manifest.scale)
        self._run, self._spec = run, reader
        self._reader: Model | None = None
        self._earlier = {answer.item: answer for _, answer in run.answers() if not answer.sample}
        self._trial: dict[str, int] = {}
        read = [answer for answer in self._earlier.values() if answer.reply and answer.choice]
        if not read:
            raise RunError(
                f"{run.path} has no reply that was read, on which a second reader could be tried.",
                "Leave out --read-with: only models that talk give replies.",
            )
        by_chance = sorted(read, key=lambda answer: digest(answer.item))
        self._audited = {answer.item for answer in by_chance[:AUDITED]}

    def describe(self) -> dict[str, Any]:
        """What determines the answers, and how the reader fared where the rules read, too."""
        about = {**self._run.manifest.model_description, "answers_of": self._run.manifest.id}
        about["read_with"] = {"model": self._spec.spec, **self._spec.deciding}
        return {**about, "trial": self._trial} if self._trial else about

    def prepare(self, items: Iterable[Item], benchmark: Benchmark) -> None:
        """Try the reader on replies that the rules read."""
        trial = dict.fromkeys(("shown", "said_shown", "other", "said_other", "recognised"), 0)
        trial["agreed"] = 0
        for item in items:
            if item.id not in self._audited:
                continue
            earlier = self._earlier[item.id]
            choice = self._read(item, earlier)
            kind = "shown" if earlier.choice in item.gold else "other"
            trial[kind] += 1
            trial[f"said_{kind}"] += choice in item.gold
            trial["recognised"] += choice is not None
            trial["agreed"] += choice == earlier.choice
        self._trial = trial

    def answer(self, items: Sequence[Item]) -> list[Answer]:
        """The earlier answers, and what the reader takes unread replies for."""
        return [self._answer(item) for item in items]

    def _answer(self, item: Item) -> Answer:
        earlier = self._earlier.get(item.id)
        if earlier is None:
            return Answer(item=item.id, error="the earlier run has no answer")
        if earlier.choice is not None or earlier.error or not earlier.reply:
            return earlier
        choice = self._read(item, earlier)
        return earlier if choice is None else replace(earlier, choice=choice, rule=RULE)

    def _read(self, item: Item, earlier: Answer) -> str | None:
        if self._reader is None:
            self._reader = self._spec.open()
        (answer,) = self._reader.answer([question_about(item, earlier.reply or "")])
        return None if answer.choice == NONE else answer.choice

    def close(self) -> None:
        """Let go of the reader."""
        close = getattr(self._reader, "close", None)
        if close:
            close()


def question_about(item: Item, reply: str) -> Item:
    """The question which of an item's choices a reply gives.

    >>> item = Item(id="1", form="choice", text="Is it wet?", choices=("yes", "no"))
    >>> question_about(item, "Not by a long shot.").choices
    ('yes', 'no', 'none of these')
    """
    asked = item.text.replace(MASK, "____")
    listed = ", ".join(item.choices)
    text = (
        f"Somebody was asked: {asked}\nThe possible answers were: {listed}.\n"
        f"The reply was: {reply[-MOST:]}\n"
        f"Which of these answers does the reply give? If it gives no answer or several: {NONE}."
    )
    choices = (*item.choices, NONE)
    return Item(id=item.id, form="choice", text=text, choices=choices, gold=item.gold)
