"""What is wrong with a prompt file, in sentences that name the place and the remedy."""

from __future__ import annotations

import re
from difflib import get_close_matches
from pathlib import Path

import msgspec

from gnomon.errors import DataError
from gnomon.files import type_words
from gnomon.models.prompts.wording import Wording, WorkedExample

HINT = "docs/prompts.md lists a prompt's fields. Words such as yes, no and 5 must be in quotes."
_QUOTES = "YAML reads yes, no, on, off and 5 as other things: write them in quotes."


def not_a_prompt(
    error: msgspec.ValidationError, file: Path, prompt: type[msgspec.Struct]
) -> DataError:
    """What is wrong with a prompt file, in a sentence, and what to do."""
    problem, _, place = str(error).partition(" - at ")
    message, hint = _in_a_sentence(problem, _place(place), prompt)
    return DataError(f"not a prompt: {message}.", hint, file=file)


def _in_a_sentence(problem: str, where: str, prompt: type[msgspec.Struct]) -> tuple[str, str]:
    """What is wrong at a place, and what to do about it."""
    odd = re.search(r"unknown field `(.*)`", problem)
    if odd:
        known = _known_fields(where, prompt)
        near = get_close_matches(odd[1], known, n=1, cutoff=0.5)
        hint = f"Did you mean `{near[0]}`?" if near else f"Known: {', '.join(known)}."
        return f"{where} has a field `{odd[1]}`, which there is not", hint
    lacking = re.search(r"missing required field `(.*)`", problem)
    if lacking:
        return f"{where} lacks the field `{lacking[1]}`", "docs/prompts.md says what it is."
    mixed = re.search(r"Expected `(.*)`, got `(.*)`", problem)
    if mixed:
        wanted, got = type_words(mixed[1].partition(" |")[0]), type_words(mixed[2])
        hint = _QUOTES if wanted == "a text" else HINT
        return f"{where} must be {wanted}, not {got}", hint
    if problem.startswith("Expected `int`"):
        return f"{where} must be a number, 0 or more", HINT
    return f"{where}: {problem}", HINT


def _place(path: str) -> str:
    """Where in a prompt file something is: $.forms[...].template is `template` of a form.

    >>> _place("`$.forms[...].examples[0].answer`"), _place("`key` in `$.forms`"), _place("")
    ('`forms.FORM.examples[0].answer`', 'a name in `forms`', 'the file')
    """
    key = path.startswith("`key` in ")
    path = path.removeprefix("`key` in ").strip("`").lstrip("$.")
    path = path.replace("forms[...]", "forms.FORM").replace("[...]", ".NAME")
    if not path:
        return "the file"
    return f"a name in `{path}`" if key else f"`{path}`"


def _known_fields(where: str, prompt: type[msgspec.Struct]) -> tuple[str, ...]:
    """The fields that may stand at a place."""
    if ".examples[" in where:
        return WorkedExample.__struct_fields__
    if ".FORM" in where:
        return Wording.__struct_fields__
    hidden = ("wording", "drawn")  # which are not for files
    return tuple(field for field in prompt.__struct_fields__ if field not in hidden)
