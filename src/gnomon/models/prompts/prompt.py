"""How an item is put to a model that continues, fills in or answers text.

A prompt has a template for each form of item, and puts an instruction and worked examples before
what it asks: as one text, or as the turns of a conversation.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Annotated, Any

import msgspec

from gnomon.errors import UsageError
from gnomon.forms import ANSWER_FORMS, Asked
from gnomon.models.prompts.wording import (
    BLANK,
    ItemParts,
    OptionStyle,
    Wording,
    as_item,
    lay_out,
    written_wordings,
)
from gnomon.records import WRITTEN, Item

HoldOut = tuple[tuple[str, ...], ...]
_Shots = Annotated[int, msgspec.Meta(ge=0)]


class DrawnExamples(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Sets of worked examples, and what an item must not share with those it is shown."""

    sets: tuple[tuple[Item, ...], ...]
    hold_out: HoldOut = ()  # as `Benchmark.hold_out`
    source: str = ""  # where they are from, for people
    seed: int = 0

    def set_for(self, item: Item) -> int | None:
        """Which of the sets is shown before an item; none if it shares something with each."""
        mine = shared_units(item, self.hold_out)
        for number, examples in enumerate(self.sets):
            alike = [each for each in examples if each.form == item.form]
            if alike and not any(mine & shared_units(each, self.hold_out) for each in alike):
                return number
        return None

    def examples(self, form: str, number: int = 0) -> list[Item]:
        """The examples of a set that items of a form are preceded by."""
        return [each for each in self.sets[number] if each.form == form]


def shared_units(item: Item, hold_out: HoldOut) -> set[str]:
    """What an item must not share with its examples: its question, its group, what is held out.

    All alternatives of `hold_out` count, since an example out of a file may have other tags.
    """
    found = {f"question {item.context}\n{item.text}"}
    if item.group:
        found.add(f"group {item.group}")
    for tags in hold_out:
        values = [item.tags.get(tag, "") for tag in tags]
        if all(values):
            found |= {f"unit {value}" for value in values}
    return found


class Prompt(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How items are put to a model.

    >>> from gnomon.models.prompts.library import load_prompt
    >>> from gnomon.records import Item
    >>> item = Item(id="1", form="cloze", text="An ant is [MASK] than a bird.",
    ...             choices=("larger", "smaller"), gold=("smaller",))
    >>> prompt = load_prompt("plain")
    >>> prompt.context(item), prompt.words(item)
    ('An ant is', ((' larger than a bird.',), (' smaller than a bird.',)))
    """

    summary: str
    forms: dict[str, Wording]
    name: str = ""
    instruction: str = ""  # stands before everything; the system message of a chat
    separator: str = "\n\n"  # between instruction, examples and question
    option: str = "({letter}) {choice}"
    option_separator: str = " "
    shots: _Shots | None = None  # how many of the examples to show; none: all
    label: str = ""  # what tables and reports call a wording, where "wording 7" says too little
    wording: int = 1  # which of several wordings this is
    paraphrases: tuple[Prompt, ...] = ()  # the same questions in other words: wordings 2, 3 ...
    drawn: DrawnExamples | None = None  # examples of a benchmark, in place of the prompt's own
    points: str = ""  # how replies write coordinates; empty where that is told by the reply

    @property
    def wordings(self) -> int:
        """In how many wordings the prompt can put an item."""
        return 1 + len(self.paraphrases)

    def worded(self, wording: int) -> Prompt:
        """The prompt in one of its wordings, counted from 1."""
        if not 1 <= wording <= self.wordings:
            known = "1" if self.wordings == 1 else f"1 to {self.wordings}"
            raise UsageError(
                f"The prompt '{self.name}' has no wording {wording}.",
                f"Choose {known}, or another prompt with --prompt.",
            )
        if wording == 1:
            return self
        return self.paraphrases[wording - 2]

    def parts(self, item: Item) -> ItemParts:
        """The item's own layout, without instruction and examples."""
        wording = self.wording_of(item.form)
        if wording is None:
            raise UsageError(
                f"The prompt '{self.name}' cannot put items of the form '{item.form}'.",
                f"It has {', '.join(sorted(self.forms))}: choose another with --prompt.",
            )
        style = OptionStyle(self.option, self.option_separator)
        return lay_out(item, wording, style)

    def wording_of(self, form: str) -> Wording | None:
        """How items of a form are put; where answers are written, every prompt has a wording."""
        found = self.forms.get(form)
        if found is not None or form not in WRITTEN:
            return found
        every = written_wordings()[form]
        return every[(self.wording - 1) % len(every)]

    def prefix(self, form: str, shown: int = 0) -> str:
        """What all items of a form share: instruction and worked examples.

        `shown` says which set of examples, where several were drawn (`shown_to`).
        """
        text = ""
        if self.instruction:
            text = self.instruction + self.separator
        for item in self.examples(form, shown):
            parts = self.parts(item)
            gap = "" if parts.inline else "\n"
            answer = parts.lead + _right_answer(parts, item) + parts.after
            text += parts.before + gap + answer + self.separator
        return text

    def examples(self, form: str, shown: int = 0) -> list[Item]:
        """The worked examples that items of a form are preceded by, as items."""
        if self.drawn is not None:
            return self.drawn.examples(form, shown)
        wording = self.wording_of(form)
        if wording is None:
            return []
        return [as_item(form, wording, example) for example in wording.examples[: self.shots]]

    def shown_to(self, item: Item) -> int:
        """Which set of worked examples an item is shown: one that it shares nothing with."""
        if self.drawn is None:
            return 0
        found = self.drawn.set_for(item)
        if found is None:
            raise ValueError("the item shares something with every set of worked examples")
        return found

    def context(self, item: Item) -> str:
        """All that the model reads before the answer."""
        return self.prefix(item.form, self.shown_to(item)) + self.parts(item).before

    def words(self, item: Item) -> tuple[tuple[str, ...], ...]:
        """For each choice its continuation(s) of the context.

        With leading space, and with the rest of the sentence.
        """
        parts = self.parts(item)
        found = []
        for words in parts.answers:
            found.append(tuple(parts.lead + word + parts.after for word in words))
        return tuple(found)

    def answers(self, item: Item) -> tuple[tuple[str, ...], ...]:
        """For each choice its bare answer word(s): what a reply may say."""
        return self.parts(item).answers

    def accepted(self, item: Item) -> tuple[tuple[str, ...], ...]:
        """For each choice all that a reply may say: its answer words, its option, its label."""
        wording = self.wording_of(item.form)
        assert wording is not None
        found = []
        for words, choice in zip(self.answers(item), item.choices, strict=True):
            ways = dict.fromkeys((*words, *wording.answer_words(choice), choice))
            found.append(tuple(ways))
        return tuple(found)

    def shows_letters(self, form: str) -> bool:
        """Whether items of a form show a letter with each option, so that a letter is an answer."""
        return "{letter}" in self.option.lower() and self.lists_choices(form)

    def lists_choices(self, form: str) -> bool:
        """Whether items of a form show their choices in order, so that the order may matter."""
        wording = self.wording_of(form)
        return wording is not None and "{options}" in "".join(wording.pieces)

    def chat(self, item: Item) -> list[dict[str, str]]:
        """The conversation that asks for the answer: system message, examples as turns, question.

        The answer is the assistant's next message: one of `answers(item)`.
        """
        return self.turns(item.form, self.question(item), self.shown_to(item))

    def turns(self, form: str, question: str, shown: int = 0) -> list[dict[str, str]]:
        """The conversation that ends with a question, for items of a form."""
        turns = []
        instruction = self.instruction.strip()
        if instruction:
            turns.append({"role": "system", "content": instruction})
        for example in self.examples(form, shown):
            parts = self.parts(example)
            turns.append({"role": "user", "content": _question(parts)})
            turns.append({"role": "assistant", "content": _right_answer(parts, example)})
        turns.append({"role": "user", "content": question})
        return turns

    def question(self, item: Item) -> str:
        """What is asked of an item in a conversation."""
        return _question(self.parts(item))

    @property
    def own_examples(self) -> int:
        """How many worked examples the prompt itself has."""
        return max((len(wording.examples) for wording in self.forms.values()), default=0)

    def with_shots(self, shots: int | None, drawn: str = "") -> Prompt:
        """The same prompt with that many worked examples; none keeps all.

        `drawn` holds those of a benchmark, as `gnomon.items.examples` draws them.
        """
        if drawn:
            return msgspec.structs.replace(self, drawn=drawn_examples(drawn))
        if shots is None:
            return self
        if not 0 <= shots <= self.own_examples:
            raise UsageError(
                f"The prompt '{self.name}' has {self.own_examples} worked examples, not {shots}.",
                "Ask a benchmark with `gnomon run` or gnomon.run, which draws them from it; or "
                "choose --prompt fewshot, or write a prompt file with examples.",
            )
        return msgspec.structs.replace(self, shots=shots)

    def describe(self) -> dict[str, Any]:
        """Name, wording if not the first, shots and content hash, for the manifest."""
        content = msgspec.to_builtins(self)
        for other in ("label", "wording", "paraphrases"):
            del content[other]
        for unset in ("drawn", "points"):
            if not content[unset]:
                del content[unset]
        for wording in content["forms"].values():
            if not wording["seeing"]:
                del wording["seeing"]
        digest = sha256(msgspec.json.encode(content, order="sorted")).hexdigest()[:16]
        shots = max((len(self.examples(form)) for form in self.forms), default=0)
        found = {"name": self.name, "shots": shots, "hash": digest}
        if self.wording > 1:
            found["wording"] = self.wording
        if self.label:
            found["label"] = self.label
        if self.drawn is not None:
            found["drawn"] = {"source": self.drawn.source, "sets": len(self.drawn.sets)}
        return found


def drawn_examples(text: str) -> DrawnExamples:
    """Worked examples as an option holds them."""
    try:
        return msgspec.json.decode(text, type=DrawnExamples)
    except msgspec.MsgspecError as error:
        raise UsageError(
            f"The option `examples` holds no worked examples: {error}.",
            "Leave it out: --shots N draws them, --set shots_from=FILE reads them.",
        ) from None


def _question(parts: ItemParts) -> str:
    if parts.inline and parts.after.strip():
        return f"{parts.before}{parts.lead}{BLANK}{parts.after}".strip()
    return parts.before.strip()


def _right_answer(parts: ItemParts, item: Item) -> str:
    form = ANSWER_FORMS.get(item.form)
    if form is not None:
        return form.right_answer(Asked(item.choices, item.gold))
    place = item.choices.index(item.gold[0])
    return parts.answers[place][0]
