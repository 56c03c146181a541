"""The parts of a question that a classifier may see alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gnomon.audit.sets import AuditItem
from gnomon.audit.signs import Signs, signs_of, words_of
from gnomon.audit.subject import ALL_WORDS, Subject

LONGEST = 40  # words; longer texts count as alike
THINGS = ("first thing", "second thing")
FORM = "lengths and shared words"


class Input(NamedTuple):
    """A part of the question, and the signs that a classifier sees of it."""

    name: str
    signs: Signs
    whole: bool = False  # whether it is all that there is of the question

    @property
    def called(self) -> str:
        """The part in a sentence."""
        if self.name in (ALL_WORDS, FORM):
            return self.name
        return f"the {self.name}"


def parts_of_questions(subject: Subject) -> Iterator[Input]:
    """Each field, all words of a question with a picture, each of two things, and lengths."""
    pictures = any(question.picture for question in subject.answered)
    alone = len(subject.fields) == 1
    for field in subject.fields:
        yield Input(field, subject.signs(field), whole=alone and not pictures)
    if pictures and not alone:
        yield Input(ALL_WORDS, subject.signs(ALL_WORDS))
    yield from _things(subject)
    forms = [_form(question) for question in subject.answered]
    yield Input(FORM, signs_of(forms, str.split))


def _things(subject: Subject) -> Iterator[Input]:
    """Each of two things that are compared, unless they are the fields already."""
    things = [question.things for question in subject.answered]
    if not all(things) or things[0] == subject.answered[0].texts:
        return
    for name, names in zip(THINGS, zip(*things, strict=True), strict=True):
        yield Input(name, signs_of(names))


def _form(question: AuditItem) -> str:
    """How long the texts of a question are, and how many words they share; no word itself."""
    found = []
    seen: set[str] = set()
    for place, text in enumerate(question.texts):
        words = words_of(text)
        found.append(f"length{place}:{min(len(words), LONGEST)}")
        found.append(f"shared{place}:{len(seen.intersection(words))}")
        seen.update(words)
    return " ".join(found)
