"""Prompts as data: those that ship with Gnomon, by name, and prompt files of one's own.

A prompt is a YAML file with one template per form of item and perhaps paraphrases of them, or a
short one that says which prompt it is like and gives worked examples of its own. docs/prompts.md
lists the fields. What is wrong with a file is said with the place and the remedy.
"""

from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from gnomon.errors import DataError, UsageError, unknown
from gnomon.files import not_shaped, package_data, read_text, read_yaml, yaml_events
from gnomon.models.prompts.prompt import Prompt
from gnomon.models.prompts.wording import (
    OPTION_FIELDS,
    WorkedExample,
    unknown_field,
    wording_problem,
)
from gnomon.models.reading.points import check_points

__all__ = [
    "DEFAULTS",
    "Prompt",
    "PromptChoice",
    "load_prompt",
    "prompt_file",
    "prompt_names",
    "wordings_of",
]

LARGEST = 256 * 2**10  # bytes of a prompt file
HINT = "docs/prompts.md lists a prompt's fields. Words such as yes, no and 5 must be in quotes."
_Changes = dict[str, Any]
# which of them a model has, only the model knows
DEFAULTS = ("plain", "chat", "t5", "masked", "picture-plain")


class Variation(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A prompt that ships with Gnomon, with worked examples of one's own."""

    like: str
    examples: dict[str, tuple[WorkedExample, ...]]  # by form
    summary: str = ""
    separator: str | None = None


class PromptChoice(NamedTuple):
    """The prompt that a user asks for; without a name, the default of the kind of model."""

    name: str = ""
    wording: int = 1
    shots: int | None = None
    examples: str = ""
    points: str = ""  # how replies write coordinates, if not as they tell themselves

    def load(self, default: str) -> Prompt:
        """The prompt, with its worked examples."""
        check_points(self.points)
        chosen = load_prompt(self.name or default, self.wording)
        if self.points:
            chosen = msgspec.structs.replace(chosen, points=self.points)
        return chosen.with_shots(self.shots, self.examples)


def load_prompt(name: str | Path, wording: int = 1) -> Prompt:
    """A prompt that ships with Gnomon, by name, or a prompt file of one's own (.yaml).

    `wording` chooses among its paraphrases; 1 is the prompt itself.

    >>> from gnomon.records import Item
    >>> item = Item(id="1", form="entailment", context="Ann sits in the car.", text="Ann stands.",
    ...             choices=("entailment", "neutral"), gold=("neutral",))
    >>> load_prompt("t5").context(item)
    'mnli hypothesis: Ann stands. premise: Ann sits in the car.'
    """
    if str(name).endswith((".yaml", ".yml")):
        return _read(Path(name)).worded(wording)
    return _shipped(str(name)).worded(wording)


def wordings_of(name: str) -> int:
    """How many wordings a prompt has; of no name, how many every default prompt has at least."""
    if name:
        return load_prompt(name).wordings
    return min(load_prompt(default).wordings for default in DEFAULTS)


def prompt_names() -> list[str]:
    """The prompts that ship with Gnomon."""
    return sorted(path.stem for path in package_data("prompts").glob("*.yaml"))


def prompt_file(name: str) -> Path:
    """The file of a prompt that ships with Gnomon."""
    if name not in prompt_names():
        error = unknown("prompt", name, prompt_names())
        if Path(name).is_file():
            error = UsageError(error.message, "A prompt file ends in .yaml (docs/prompts.md).")
        raise error
    return package_data("prompts") / f"{name}.yaml"


@cache
def _shipped(name: str) -> Prompt:
    return _read(prompt_file(name))


def _read(file: Path) -> Prompt:
    _check_aliases(file)
    raw = read_yaml(file, limit=LARGEST)
    is_variation = isinstance(raw, dict) and "like" in raw
    try:
        if is_variation:
            prompt = _varied(msgspec.convert(raw, Variation), file)
        else:
            prompt = _with_paraphrases(raw)
    except msgspec.ValidationError as error:
        kind = Variation if is_variation else Prompt
        raise not_shaped(error, kind, "not a prompt: ", HINT, file) from None
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
    try:
        model = _shipped(variation.like)
    except UsageError as error:
        raise DataError(error.message, error.hint, file=file) from None
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
    separator = variation.separator
    if separator is None:
        separator = prompt.separator
    return msgspec.structs.replace(prompt, summary=summary, separator=separator, forms=forms)


def _check_aliases(file: Path) -> None:
    """Refuse YAML's aliases: with them a short file says gigabytes."""
    import yaml

    for event in yaml_events(read_text(file, limit=LARGEST), file):
        if isinstance(event, yaml.AliasEvent):
            raise DataError(
                f"a prompt may not have aliases (*{event.anchor}).",
                "Write the text out where it is used.",
                file=file,
            )


def _check(prompt: Prompt, file: Path) -> None:
    for form, wording in prompt.forms.items():
        problem = wording_problem(form, wording)
        if problem:
            raise DataError(f"the form {form}: {problem}.", HINT, file=file)
    if unknown_field(prompt.option, OPTION_FIELDS):
        raise DataError(
            "`option` may name only {letter}, {LETTER} and {choice}.", "Fix the line.", file=file
        )
