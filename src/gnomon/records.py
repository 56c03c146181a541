"""The records that all rooms exchange: an Item is asked, an Answer comes back, a Score says what
answers mean.

They are plain, immutable and typed; on disk each is one JSON object with the same field names
(docs/formats.md).
"""

from __future__ import annotations

from hashlib import sha256
from typing import Literal, get_args

import msgspec

Form = Literal["entailment", "cloze", "choice", "caption", "scene"]
FORMS: tuple[str, ...] = get_args(Form)
MASK = "[MASK]"


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """One question with everything needed to ask it and to judge the answer.

    >>> Item(id="1", form="cloze", text="An ant is [MASK] than a bird.", choices=("larger", "smaller"),
    ...      gold=("smaller",)).gold
    ('smaller',)
    """

    id: str  # stable: the same benchmark, options and seed always give the same ids
    form: Form  # how the question is put
    text: str  # hypothesis, cloze with one [MASK], question, caption or image prompt
    choices: tuple[str, ...]  # the labels to choose from, in a fixed order
    gold: tuple[
        str, ...
    ]  # the labels that count as right (one or several), each one of the choices
    context: str = ""  # premises, or the story, or empty
    group: str = ""  # what must be answered alike: pattern, template, unordered pair, scene
    tags: dict[str, str] = msgspec.field(
        default_factory=dict
    )  # category, relation, split, slot fillers ...
    images: tuple[str, ...] = ()  # paths or URLs


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What a model said to one item. `choice` is none if the reply could not be read or the model
    failed."""

    item: str  # Item.id
    scores: tuple[float, ...] | None = (
        None  # one per choice, as the manifest says: log-probability or probability
    )
    choice: str | None = None
    reply: str | None = None  # raw text, for models that talk
    error: str | None = None  # a short reason, if the model failed


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """One figure with its interval, its count of items and its count of independent clusters."""

    benchmark: str
    model: str
    measure: str
    by: str = ""  # the tag that slices the items, empty for the whole
    key: str = ""  # the value of that tag
    value: float | None  # a fraction, or none where the measure is undefined (an empty slice)
    low: float | None = None
    high: float | None = None
    n: int = 0
    clusters: int = 0
    # the run's folder, which tells two runs of one model apart; empty for an answer file or several
    # runs
    run: str = ""


def pick(item: Item, scores: tuple[float, ...]) -> Answer:
    """The answer with the highest score; the earlier choice wins a tie; none if no score is a
    number.

    >>> pick(Item(id="1", form="choice", text="?", choices=("no", "yes"), gold=("yes",)), (0.25, 0.75)).choice
    'yes'
    """
    best = max(
        range(len(scores)),
        key=lambda i: (scores[i] if scores[i] == scores[i] else float("-inf"), -i),
    )
    known = scores[best] == scores[best]
    return Answer(item=item.id, scores=scores, choice=item.choices[best] if known else None)


def problem(item: Item) -> str:
    """What is wrong with an item, in a few words; empty if nothing is."""
    if not item.id:
        return "the id is empty"
    if len(item.choices) < 2 or len(set(item.choices)) != len(item.choices):
        return "choices must be two or more different labels"
    if not item.gold or not set(item.gold) <= set(item.choices):
        return "gold must be one or more of the choices"
    if item.form == "cloze" and item.text.count(MASK) != 1:
        return f"a cloze text must hold {MASK} exactly once"
    return ""


DIGITS = (
    12  # hexadecimal; of a million different questions two share a digest with a chance of 0.2 %
)


def digest(*parts: str, digits: int = DIGITS) -> str:
    """A short name for some texts, for ids: the same question has the same id under any seed.

    Runs are compared by id, so a running number would set unrelated questions beside each other.

    >>> digest("Ann sits.", "Ann stands.") == digest("Ann stands.", "Ann sits.")
    False
    """
    return sha256("\t".join(parts).encode()).hexdigest()[:digits]
