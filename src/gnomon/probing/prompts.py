"""Prompts as data: how an item is put to a model that continues, fills in or answers text.

A prompt is a YAML file with one template per form of item. `{answer}` marks where the answer goes:
what stands before it is the context that the model reads, what stands after it closes every answer,
and the space before it belongs to the answer, as the tokenizers of most models want it. A template
without `{answer}` is a question whose answer is a text of its own (encoder-decoder models).
docs/prompts.md lists the fields.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, cast

import msgspec

from gnomon.errors import DataError, UsageError, unknown
from gnomon.files import package_data, read_yaml
from gnomon.records import FORMS, MASK, Form, Item

FIELDS = ("context", "text", "before", "after", "blank", "options", "answer")
_FIELD = re.compile(r"\{(\w+)\}")
_BLANK = "____"


class Example(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A worked example: an item of our own with its right label."""

    text: str
    answer: str
    context: str = ""
    choices: tuple[str, ...] = ()  # default: the labels that the form's `words` name


class Wording(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How items of one form are put. Pieces that mention {context} are left out where an item has
    none."""

    template: str | tuple[str, ...]
    target: str = (
        "{answer}"  # the answer as the decoder writes it, where the template has no {answer}
    )
    words: dict[str, str | tuple[str, ...]] = msgspec.field(
        default_factory=dict
    )  # label -> its answer word(s)
    letters: bool = False  # answer with the letter of the option
    examples: tuple[Example, ...] = ()

    @property
    def pieces(self) -> tuple[str, ...]:
        """The template as a sequence of pieces."""
        return (self.template,) if isinstance(self.template, str) else self.template


class Parts(NamedTuple):
    """An item laid out: `before`, `lead`, one of the answers, `after`."""

    before: str  # what the model reads
    lead: str  # what opens every answer: a space, or what the target has before {answer}
    answers: tuple[tuple[str, ...], ...]  # for each choice its answer word(s)
    after: str  # what closes every answer: the rest of the sentence
    inline: bool  # the answer stands in the same text, not in one of its own


class Prompt(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How items are put to a model: a template for each form, an instruction, worked examples,
    answer words.

    >>> from gnomon.records import Item
    >>> item = Item(id="1", form="cloze", text="An ant is [MASK] than a bird.", choices=("larger", "smaller"),
    ...             gold=("smaller",))
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
    shots: int | None = None  # how many of the examples to show; none: all

    def parts(self, item: Item) -> Parts:
        """The item's own layout, without instruction and examples."""
        wording = self._wording(item)
        before, after = _lay_out(self, wording, item)
        if after is None:
            lead, _, after = wording.target.partition("{answer}")
            return Parts(before, lead, _answers(self, wording, item), after, inline=False)
        text = before.rstrip(" ")
        answers = _answers(self, wording, item, opens=item.form == "cloze" and not text)
        return Parts(text, before[len(text) :], answers, after, inline=True)

    def prefix(self, form: str) -> str:
        """What all items of a form share: instruction and worked examples."""
        blocks = [self.instruction] if self.instruction else []
        for item in self.examples(form):
            parts = self.parts(item)
            gap = "" if parts.inline else "\n"
            blocks.append(f"{parts.before}{gap}{parts.lead}{_right(parts, item)}{parts.after}")
        return "".join(f"{block}{self.separator}" for block in blocks)

    def examples(self, form: str) -> list[Item]:
        """The worked examples that items of a form are preceded by, as items."""
        wording = self.forms.get(form)
        shown = wording.examples[: self.shots] if wording else ()
        return [_as_item(form, wording, example) for example in shown if wording]

    def context(self, item: Item) -> str:
        """All that the model reads before the answer."""
        return self.prefix(item.form) + self.parts(item).before

    def words(self, item: Item) -> tuple[tuple[str, ...], ...]:
        """For each choice its continuation(s) of the context, with leading space and the rest of
        the sentence."""
        parts = self.parts(item)
        return tuple(
            tuple(parts.lead + word + parts.after for word in words) for words in parts.answers
        )

    def answers(self, item: Item) -> tuple[tuple[str, ...], ...]:
        """For each choice its bare answer word(s): what a reply may say."""
        return self.parts(item).answers

    def chat(self, item: Item) -> list[dict[str, str]]:
        """The conversation that asks for the answer: system message, examples as turns, question.

        The answer is the assistant's next message: one of `answers(item)`.
        """
        turns = (
            [{"role": "system", "content": self.instruction.strip()}]
            if self.instruction.strip()
            else []
        )
        for shown in self.examples(item.form):
            turns.append({"role": "user", "content": _question(self.parts(shown))})
            turns.append({"role": "assistant", "content": _right(self.parts(shown), shown)})
        turns.append({"role": "user", "content": _question(self.parts(item))})
        return turns

    def with_shots(self, shots: int | None) -> Prompt:
        """The same prompt with that many worked examples; none keeps all."""
        if shots is None:
            return self
        most = max((len(wording.examples) for wording in self.forms.values()), default=0)
        if not 0 <= shots <= most:
            raise UsageError(
                f"The prompt '{self.name}' has {most} worked examples, not {shots}.",
                "Ask for fewer shots, or write a prompt file with more examples.",
            )
        return msgspec.structs.replace(self, shots=shots)

    def describe(self) -> dict[str, Any]:
        """Name, shots and content hash, for the manifest."""
        from hashlib import sha256

        digest = sha256(msgspec.json.encode(self, order="sorted")).hexdigest()[:16]
        shots = max((len(self.examples(form)) for form in self.forms), default=0)
        return {"name": self.name, "shots": shots, "hash": digest}

    def _wording(self, item: Item) -> Wording:
        if item.form not in self.forms:
            raise UsageError(
                f"The prompt '{self.name}' cannot put items of the form '{item.form}'.",
                f"It has: {', '.join(sorted(self.forms))}. Choose another with --prompt.",
            )
        return self.forms[item.form]


def load_prompt(name: str | Path) -> Prompt:
    """A prompt that ships with Gnomon, by name, or a prompt file of one's own (.yaml).

    >>> load_prompt("t5").context(Item(id="1", form="entailment", context="Ann sits in the car.", text="Ann stands.",
    ...                                choices=("entailment", "neutral"), gold=("neutral",)))
    'mnli hypothesis: Ann stands. premise: Ann sits in the car.'
    """
    if str(name).endswith((".yaml", ".yml")):
        return _read(Path(name))
    if name not in prompt_names():
        raise unknown("prompt", str(name), prompt_names())
    return _shipped(str(name))


def prompt_names() -> list[str]:
    """The prompts that ship with Gnomon."""
    return sorted(path.stem for path in package_data("prompts").glob("*.yaml"))


@cache
def _shipped(name: str) -> Prompt:
    return _read(package_data("prompts") / f"{name}.yaml")


def _read(file: Path) -> Prompt:
    try:
        prompt = msgspec.convert(read_yaml(file), Prompt, strict=False)
    except msgspec.ValidationError as error:
        raise DataError(
            f"not a prompt: {error}.", "docs/prompts.md lists a prompt's fields.", file=file
        ) from None
    for form, wording in prompt.forms.items():
        trouble = _trouble(form, wording)
        if trouble:
            raise DataError(
                f"the form {form}: {trouble}.",
                "docs/prompts.md lists a prompt's fields.",
                file=file,
            )
    if not set(_FIELD.findall(prompt.option)) <= {"letter", "LETTER", "choice"}:
        raise DataError(
            "`option` may name only {letter}, {LETTER} and {choice}.", "Mend the line.", file=file
        )
    return msgspec.structs.replace(prompt, name=prompt.name or file.stem)


def _trouble(form: str, wording: Wording) -> str:
    text = "".join(wording.pieces)
    odd = [field for field in _FIELD.findall(text) if field not in FIELDS]
    if form not in FORMS:
        return f"there is no such form; known: {', '.join(FORMS)}"
    if odd:
        return f"the template names {{{odd[0]}}}; known: {', '.join(FIELDS)}"
    if text.count("{answer}") > 1 or wording.target.count("{answer}") != 1:
        return "{answer} must stand at most once in the template and exactly once in the target"
    for example in wording.examples:
        if example.answer not in (example.choices or tuple(wording.words)):
            return f"the example {example.text!r} has the answer {example.answer!r}, which is not one of its choices"
    return ""


def _lay_out(prompt: Prompt, wording: Wording, item: Item) -> tuple[str, str | None]:
    """The filled-in template before and after {answer}; an item's own text is never read as a
    template."""
    head, _, tail = item.text.partition(MASK) if item.form == "cloze" else (item.text, "", "")
    fields = {
        "context": item.context.strip(),
        "text": item.text,
        "before": head,
        "after": tail,
        "blank": item.text.replace(MASK, _BLANK),
        "options": _options(prompt, wording, item),
    }
    pieces = [piece for piece in wording.pieces if fields["context"] or "{context}" not in piece]
    before, found, after = "".join(pieces).partition("{answer}")
    return _fill(before, fields), _fill(after, fields) if found else None


def _fill(template: str, fields: dict[str, str]) -> str:
    return _FIELD.sub(lambda match: fields[match[1]], template)


def _options(prompt: Prompt, wording: Wording, item: Item) -> str:
    def option(place: int, choice: str) -> str:
        fields = {
            "letter": _letter(place),
            "LETTER": _letter(place).upper(),
            "choice": _values(wording, choice)[0],
        }
        return _fill(prompt.option, fields)

    return prompt.option_separator.join(
        option(place, choice) for place, choice in enumerate(item.choices)
    )


def _answers(
    prompt: Prompt, wording: Wording, item: Item, *, opens: bool = False
) -> tuple[tuple[str, ...], ...]:
    if wording.letters:
        capitals = "{LETTER}" in prompt.option
        return tuple(
            (_letter(i).upper() if capitals else _letter(i),) for i in range(len(item.choices))
        )
    if opens:  # an answer that opens the text is written with a capital
        return tuple(
            tuple(word[:1].upper() + word[1:] for word in _values(wording, c)) for c in item.choices
        )
    return tuple(_values(wording, choice) for choice in item.choices)


def _values(wording: Wording, choice: str) -> tuple[str, ...]:
    found = wording.words.get(choice, wording.words.get(choice.lower(), choice))
    return (found,) if isinstance(found, str) else found


def _letter(place: int) -> str:
    return (
        chr(ord("a") + place) if place < 26 else f"{_letter(place // 26 - 1)}{_letter(place % 26)}"
    )


def _question(parts: Parts) -> str:
    if parts.inline and parts.after.strip():
        return f"{parts.before}{parts.lead}{_BLANK}{parts.after}".strip()
    return parts.before.strip()


def _as_item(form: str, wording: Wording, example: Example) -> Item:
    choices = example.choices or tuple(wording.words)
    return Item(
        id="",
        form=cast(Form, form),  # the keys of `forms` were checked on loading
        text=example.text,
        context=example.context,
        choices=choices,
        gold=(example.answer,),
    )


def _right(parts: Parts, item: Item) -> str:
    return parts.answers[item.choices.index(item.gold[0])][0]
