"""Prompts as data: how an item is put to a model that continues, fills in or answers text.

A prompt is a YAML file with one template per form of item and perhaps paraphrases of them, or a
short one that says which prompt it is like and gives worked examples of its own. docs/prompts.md
lists the fields.
"""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

import msgspec

from gnomon.errors import DataError, UsageError, unknown
from gnomon.files import package_data, read_text, read_yaml
from gnomon.probing.promptfaults import HINT, not_a_prompt
from gnomon.probing.shots import Drawn
from gnomon.probing.wording import (
    BLANK,
    OPTION_FIELDS,
    Example,
    OptionStyle,
    Parts,
    Wording,
    as_item,
    lay_out,
    unknown_field,
    wording_problem,
)
from gnomon.records import Item

LARGEST = 256 * 2**10  # bytes of a prompt file
_Shots = Annotated[int, msgspec.Meta(ge=0)]
_Changes = dict[str, Any]
# which of them a model has, only the model knows
DEFAULTS = ("plain", "chat", "t5", "masked", "picture", "picture-plain")


class Prompt(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How items are put to a model.

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
    drawn: Drawn | None = None  # examples of a benchmark, in place of the prompt's own

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

    def parts(self, item: Item) -> Parts:
        """The item's own layout, without instruction and examples."""
        if item.form not in self.forms:
            raise UsageError(
                f"The prompt '{self.name}' cannot put items of the form '{item.form}'.",
                f"It has {', '.join(sorted(self.forms))}: choose another with --prompt.",
            )
        style = OptionStyle(self.option, self.option_separator)
        return lay_out(item, self.forms[item.form], style)

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
        wording = self.forms.get(form)
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
        wording = self.forms[item.form]
        found = []
        for words, choice in zip(self.answers(item), item.choices, strict=True):
            ways = dict.fromkeys((*words, *wording.answer_words(choice), choice))
            found.append(tuple(ways))
        return tuple(found)

    def shows_letters(self, form: str) -> bool:
        """Whether items of a form show a letter with each option, so that a letter is an answer."""
        lettered = "{letter}" in self.option.lower()
        return lettered and "{options}" in "".join(self.forms[form].pieces)

    def lists_choices(self, form: str) -> bool:
        """Whether items of a form show their choices in order, so that the order may matter."""
        return form in self.forms and "{options}" in "".join(self.forms[form].pieces)

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

        `drawn` holds those of a benchmark, as `gnomon.fewshot` draws them.
        """
        if drawn:
            return msgspec.structs.replace(self, drawn=_drawn(drawn))
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
        if self.drawn is None:
            del content["drawn"]
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


class Variation(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A prompt that ships with Gnomon, with worked examples of one's own."""

    like: str
    examples: dict[str, tuple[Example, ...]]  # by form
    summary: str = ""


def load_prompt(name: str | Path, wording: int = 1) -> Prompt:
    """A prompt that ships with Gnomon, by name, or a prompt file of one's own (.yaml).

    `wording` chooses among its paraphrases; 1 is the prompt itself.

    >>> item = Item(id="1", form="entailment", context="Ann sits in the car.", text="Ann stands.",
    ...             choices=("entailment", "neutral"), gold=("neutral",))
    >>> load_prompt("t5").context(item)
    'mnli hypothesis: Ann stands. premise: Ann sits in the car.'
    """
    if str(name).endswith((".yaml", ".yml")):
        return _read(Path(name)).worded(wording)
    if name not in prompt_names():
        raise unknown("prompt", str(name), prompt_names())
    return _shipped(str(name)).worded(wording)


def wordings_of(name: str) -> int:
    """How many wordings a prompt has; of no name, how many every default prompt has at least."""
    if name:
        return load_prompt(name).wordings
    return min(load_prompt(default).wordings for default in DEFAULTS)


def prompt_names() -> list[str]:
    """The prompts that ship with Gnomon."""
    return sorted(path.stem for path in package_data("prompts").glob("*.yaml"))


@cache
def _shipped(name: str) -> Prompt:
    return _read(package_data("prompts") / f"{name}.yaml")


def _read(file: Path) -> Prompt:
    _check_aliases(file)
    raw = read_yaml(file, limit=LARGEST)
    try:
        if isinstance(raw, dict) and "like" in raw:
            prompt = _varied(msgspec.convert(raw, Variation), file)
        else:
            prompt = _with_paraphrases(raw)
    except msgspec.ValidationError as error:
        raise not_a_prompt(error, file, Prompt) from None
    for each in (prompt, *prompt.paraphrases):
        _check(each, file)
    return _named(prompt, prompt.name or file.stem)


def _with_paraphrases(raw: Any) -> Prompt:
    """A prompt with its other wordings; what they do not say is as in the first."""
    if not isinstance(raw, dict):
        return msgspec.convert(raw, Prompt)
    if "wording" in raw:
        raise msgspec.ValidationError("a file has no `wording`: list the others as `paraphrases`")
    if "drawn" in raw:
        raise msgspec.ValidationError("Object contains unknown field `drawn`")
    first = {field: value for field, value in raw.items() if field != "paraphrases"}
    prompt = msgspec.convert(first, Prompt)
    changes = msgspec.convert(raw.get("paraphrases", ()), tuple[_Changes, ...])
    others = []
    for wording, change in enumerate(changes, 2):
        changed = {**first, **change, "forms": _changed_forms(first["forms"], change)}
        other = msgspec.convert(changed, Prompt)
        others.append(msgspec.structs.replace(other, wording=wording))
    return msgspec.structs.replace(prompt, paraphrases=tuple(others))


def _changed_forms(forms: dict[str, Any], change: _Changes) -> dict[str, Any]:
    found = dict(forms)
    given = msgspec.convert(change.get("forms", {}), dict[str, dict[str, Any]])
    for form, wording in given.items():
        found[form] = {**forms.get(form, {}), **wording}
    return found


def _named(prompt: Prompt, name: str) -> Prompt:
    others = tuple(_named(other, name) for other in prompt.paraphrases)
    return msgspec.structs.replace(prompt, name=name, paraphrases=others)


def _varied(variation: Variation, file: Path) -> Prompt:
    """The prompt that a variation is like, with its examples."""
    if variation.like not in prompt_names():
        error = unknown("prompt", variation.like, prompt_names())
        raise DataError(error.message, error.hint, file=file)
    model = _shipped(variation.like)
    for form in variation.examples:
        if form not in model.forms:
            raise DataError(
                f"the prompt '{variation.like}' has no form '{form}' to give examples of.",
                f"Give examples of one of its forms: {', '.join(sorted(model.forms))}.",
                file=file,
            )
    others = tuple(_with_examples(other, variation) for other in model.paraphrases)
    prompt = _with_examples(model, variation)
    return msgspec.structs.replace(prompt, name="", paraphrases=others)


def _with_examples(prompt: Prompt, variation: Variation) -> Prompt:
    forms = dict(prompt.forms)
    for form, examples in variation.examples.items():
        forms[form] = msgspec.structs.replace(forms[form], examples=examples)
    summary = variation.summary or prompt.summary
    return msgspec.structs.replace(prompt, summary=summary, forms=forms)


def _check_aliases(file: Path) -> None:
    """Refuse YAML's aliases: with them a short file says gigabytes."""
    import yaml

    text = read_text(file, limit=LARGEST)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        for event in yaml.parse(text, Loader=loader):
            if isinstance(event, yaml.AliasEvent):
                raise DataError(
                    f"a prompt may not have aliases (*{event.anchor}).",
                    "Write the text out where it is used.",
                    file=file,
                )
    except yaml.YAMLError:
        return  # whoever reads the file says where


def _check(prompt: Prompt, file: Path) -> None:
    for form, wording in prompt.forms.items():
        problem = wording_problem(form, wording)
        if problem:
            raise DataError(f"the form {form}: {problem}.", HINT, file=file)
    if unknown_field(prompt.option, OPTION_FIELDS):
        raise DataError(
            "`option` may name only {letter}, {LETTER} and {choice}.", "Fix the line.", file=file
        )


def _drawn(text: str) -> Drawn:
    try:
        return msgspec.json.decode(text, type=Drawn)
    except msgspec.MsgspecError as error:
        raise UsageError(
            f"The option `examples` holds no worked examples: {error}.",
            "Leave it out: --shots N draws them, --shots-from FILE reads them.",
        ) from None


def _question(parts: Parts) -> str:
    if parts.inline and parts.after.strip():
        return f"{parts.before}{parts.lead}{BLANK}{parts.after}".strip()
    return parts.before.strip()


def _right_answer(parts: Parts, item: Item) -> str:
    place = item.choices.index(item.gold[0])
    return parts.answers[place][0]
