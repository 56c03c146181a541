"""Candidates for a prompt: sentences to put an item in, and words to answer it with.

Every sentence is tried with every set of answer words. Candidates come from a file, from our own
lists (data/candidates) or from back-translation. Those that are kept become an ordinary prompt file
with a wording for each, so that asking with one is an ordinary run.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec

from gnomon.errors import DataError, UsageError
from gnomon.files import package_data, read_yaml, shaped
from gnomon.models.prompts.wording import Wording, tags_in, wording_problem
from gnomon.records import Form, Item, digest

LARGEST = 256 * 2**10  # bytes of a file
_HINT = "docs/probing.md shows a file of candidates. Words such as yes, no and 5 must be in quotes."
_PART = re.compile(r"\{[^{}]+\}|\w+")
_Template = Annotated[str, msgspec.Meta(min_length=1)]
Answers = dict[str, str]  # label -> the word that stands for it

SAME = "say the same as an earlier one"
NO_BLANK = "lost the blank"
NO_OBJECT = "lost an object"
EXCHANGED = "exchange the words of two answers"
SAME_ANSWER = "give two answers the same word"


class CandidateList(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A file of candidates."""

    templates: tuple[_Template, ...]
    answers: tuple[Answers, ...] = ()  # none: each label stands for itself
    form: Form = "cloze"
    benchmarks: tuple[str, ...] = ()  # of our own lists: which benchmarks it is for


class Candidate(NamedTuple):
    """A sentence with a blank, and the words that may fill it."""

    template: str
    answers: Answers

    @property
    def label(self) -> str:
        """What tables call it: the sentence, and those words that are not the labels themselves."""
        others = [f"{label}: {word}" for label, word in self.answers.items() if word != label]
        if not others:
            return self.template
        return f"{self.template} ({', '.join(others)})"


class Sifted(NamedTuple):
    """The candidates that can be asked, and how many were dropped for which reason."""

    candidates: tuple[Candidate, ...]
    dropped: dict[str, int]

    def with_dropped(self, more: Mapping[str, int]) -> Sifted:
        """The same, with those that were dropped before."""
        return self._replace(dropped=dict(Counter(self.dropped) + Counter(more)))


def read_candidates(file: Path) -> CandidateList:
    """A file of candidates, checked."""
    raw = read_yaml(file, limit=LARGEST)
    found = shaped(raw, CandidateList, "not a list of candidates: ", _HINT, file)
    for template in found.templates:
        wrong = wording_problem(found.form, Wording(template=template))
        if wrong and template.count("{answer}") == 1:  # the others are dropped, and counted
            raise DataError(f"the template {template[:80]!r}: {wrong}.", _HINT, file=file)
    return found


def is_candidate_list(file: Path) -> bool:
    """Whether a file lists candidates; else it is a prompt file, whose wordings are tried."""
    raw = read_yaml(file, limit=LARGEST)
    return isinstance(raw, dict) and "templates" in raw


def our_candidates(benchmark: str, form: str) -> CandidateList | None:
    """Our own list for items of a benchmark, if there is one."""
    for file in sorted(package_data("candidates").glob("*.yaml")):
        found = read_candidates(file)
        if benchmark in found.benchmarks and form == found.form:
            return found
    return None


def sift(found: CandidateList, kinds: Iterable[Sequence[str]]) -> Sifted:
    """Every sentence with every set of answer words, without those that cannot be asked.

    `kinds` are the sets of labels that items have. The first sentence says which objects belong in.
    Two candidates are the same if letters, digits and fields agree in their order: capitals, spaces
    and punctuation do not count.
    """
    dropped = Counter[str]()
    templates = _kept_templates(found.templates, dropped)
    answers = _kept_answers(found.answers or ({},), list(kinds), dropped)
    kept = []
    for words in answers:
        kept += [Candidate(template, words) for template in templates]
    if not kept:
        raise UsageError(
            f"No candidate can be asked: {told_of_dropped(dropped)}.",
            "Each needs {answer} once, and every object of the first one.",
        )
    return Sifted(tuple(kept), dict(dropped))


def _kept_templates(templates: Sequence[str], dropped: Counter[str]) -> list[str]:
    needed = tags_in(templates[0]) if templates else []
    kept: dict[tuple[str, ...], str] = {}
    for template in templates:
        essence = tuple(_PART.findall(template.casefold()))
        if template.count("{answer}") != 1:
            dropped[NO_BLANK] += 1
        elif not _names_all(template, needed):
            dropped[NO_OBJECT] += 1
        elif essence in kept:
            dropped[SAME] += 1
        else:
            kept[essence] = template
    return list(kept.values())


def _names_all(template: str, needed: Sequence[str]) -> bool:
    """Whether a sentence names every object once, or is the item's own."""
    if "{before}" in template and "{after}" in template:
        return True
    if "{blank}" in template or "{text}" in template:
        return True
    return all(template.count(f"{{{field}}}") == 1 for field in needed)


def _kept_answers(
    answers: Sequence[Answers], kinds: Sequence[Sequence[str]], dropped: Counter[str]
) -> list[Answers]:
    asked = set(chain.from_iterable(kinds))
    kept: dict[tuple[str, ...], Answers] = {}
    for every in answers:
        words = {label: word for label, word in every.items() if label in asked}
        each = [[words.get(label, label).casefold() for label in kind] for kind in kinds]
        said = tuple(chain.from_iterable(each))
        if said in kept:
            dropped[SAME] += 1
        elif any(len(set(kind)) < len(kind) for kind in each):
            dropped[SAME_ANSWER] += 1
        else:
            kept[said] = words
    return list(kept.values())


def told_of_dropped(dropped: Mapping[str, int]) -> str:
    """How many were dropped for which reason, in words.

    >>> told_of_dropped({NO_BLANK: 2})
    '2 lost the blank'
    """
    return ", ".join(f"{count} {reason}" for reason, count in dropped.items()) or "there is none"


def kinds_of(items: Iterable[Item]) -> list[tuple[str, ...]]:
    """The sets of labels that items have, each once whatever the order of its labels."""
    found: dict[frozenset[str], tuple[str, ...]] = {}
    for item in items:
        found.setdefault(frozenset(item.choices), item.choices)
    return list(found.values())


def write_prompt(candidates: Sequence[Candidate], form: str, folder: Path, name: str) -> Path:
    """Write the candidates as a prompt file with a wording for each.

    The same candidates give the same file, and so the same runs.
    """
    import yaml

    first, *others = [_as_wording(candidate, form) for candidate in candidates]
    content = {"summary": f"{len(candidates)} candidates", **first, "paraphrases": others}
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=10_000)
    file = folder / f"{name}-{digest(text, digits=8)}.yaml"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(".part")
        part.write_text(text, encoding="utf-8")
        part.replace(file)
    return file


def _as_wording(candidate: Candidate, form: str) -> dict[str, Any]:
    wording = {"template": candidate.template, "words": dict(candidate.answers)}
    return {"label": candidate.label, "forms": {form: wording}}
