"""Which fields of a stranger's rows hold the question: as the user says, or by usual names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from gnomon.errors import UsageError, nearest
from gnomon.items.mapping import ALIASES, gold_is
from gnomon.items.nested import MISSING, value_at

# What can be named, and the names by which it is known without being named.
USUAL: dict[str, tuple[str, ...]] = {
    "id": ("id", "item_id", "question_id", "qid", "doc_id", "guid", "uid"),
    "context": ("context", "premise", "premises", "passage", "story", "sentence1"),
    "text": (
        "text",
        "question",
        "hypothesis",
        "caption",
        "sentence2",
        "input",
        "query",
        "ctx",
        "sentence",
    ),
    "choices": ("choices", "options", "endings", "answers", "candidates"),
    "gold": ("gold", "answer", "label", "target", "answerKey", "entailment", "gold_label"),
    "group": ("group", "template", "pattern", "function_name"),
    "split": ("split",),
    "image": ("image", "images", "image_id", "image_path", "picture"),
    "votes": ("votes",),
    "votes_true": ("votes_true", "vote_true_validator_id"),
    "votes_false": ("votes_false", "vote_false_validator_id"),
    "relation": ("relation",),
    "first": ("first", "obj_a", "o1"),
    "second": ("second", "obj_b", "o2"),
}


IGNORED = ("labels", "tags", "form")  # of a map for asking; an audit needs none of them
GOLD_IS = "gold_is"  # how the right answer is named; an audit must know from where numbers count


@dataclass(frozen=True)
class FieldMap:
    """Which fields hold what; several fields of one kind are joined, or seen one by one."""

    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def has(self, what: str) -> bool:
        """Whether a field is known to hold this."""
        return bool(self.fields.get(what))

    def texts(self) -> list[str]:
        """The fields that hold words of the question, in their order.

        Where two things are compared and no text is named, their names are the question.
        """
        words = [*self.fields.get("context", ()), *self.fields.get("text", ())]
        compared = [*self.fields.get("first", ()), *self.fields.get("second", ())]
        return words or compared

    def value(self, row: Mapping[str, Any], what: str) -> Any:
        """What a row holds of this; none if nothing."""
        names = self.fields.get(what, ())
        values = [field_of(row, name) for name in names]
        there = [value for value in values if value is not None]
        if what == "choices" and len(names) > 1:  # a column for each option
            return there
        return there[0] if there else None


def field_of(row: Mapping[str, Any], name: str) -> Any:
    """What a row holds in a field, or in one within another (a.b); none if nothing."""
    value = value_at(row, name)
    return None if value is MISSING else value


def parse_map(texts: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """What a user writes: text=question,choices=options or text=premise+hypothesis.

    >>> parse_map(["text=premise+hypothesis,gold=label"])
    {'text': ('premise', 'hypothesis'), 'gold': ('label',)}
    """
    found: dict[str, tuple[str, ...]] = {}
    for text in texts:
        for part in text.split(","):
            written, equals, names = part.partition("=")
            what = ALIASES.get(written.strip(), written.strip())
            if what in IGNORED:
                continue
            if what == GOLD_IS:
                found[what] = (gold_is(names.split("+")),)
                continue
            if what not in USUAL or not equals or not names.strip():
                meant = _meant(what, USUAL) if equals else ""
                what_for = f"WHAT is one of: {', '.join(USUAL)}."
                raise UsageError(
                    f"'{part}' does not say which field holds what.",
                    f"{meant}Write WHAT=FIELD or WHAT=FIELD+FIELD. {what_for}",
                )
            found[what] = tuple(name.strip() for name in names.split("+"))
    return found


def complete_map(given: Mapping[str, tuple[str, ...]], columns: Sequence[str]) -> FieldMap:
    """The fields that a user named, and the usual ones of the rest that the rows have."""
    for what, names in given.items():
        if what != GOLD_IS:
            _check_named(what, names, columns)
    found = dict(given)
    taken = set(chain.from_iterable(given.values()))
    for what, usual in USUAL.items():
        there = [name for name in usual if name in columns and name not in taken]
        if there and what not in found:
            found[what] = (there[0],)
            taken.add(there[0])
    _check_whole(found, columns)
    return FieldMap(found)


def _check_named(what: str, names: Iterable[str], columns: Sequence[str]) -> None:
    """Refuse fields that the rows do not have."""
    for name in names:
        if name in columns or name.partition(".")[0] in columns:
            continue
        raise UsageError(
            f"There is no field '{name}', which is to be the {what}.",
            f"{_meant(name, columns)}The fields are: {', '.join(columns)}.",
        )


def _check_whole(found: Mapping[str, tuple[str, ...]], columns: Sequence[str]) -> None:
    """Refuse a map without a question: a text and its answer, or two things and theirs."""
    is_pair = {"first", "second"} <= found.keys()
    needed = ("gold",) if is_pair else ("text", "gold")
    for what in needed:
        if what not in found:
            raise UsageError(
                f"No field is known to hold the {what} of a question.",
                f"Name it with --map {what}=FIELD. The fields are: {', '.join(columns)}.",
            )


def _meant(name: str, known: Iterable[str]) -> str:
    near = nearest(name, known)
    return f"Did you mean {' or '.join(near)}? " if near else ""
