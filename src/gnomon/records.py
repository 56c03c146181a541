"""What all rooms exchange: an Item is asked, an Answer comes back, a Score says what answers mean.

They are plain, immutable and typed; on disk each is one JSON object with the same field names
(docs/formats.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from math import isnan
from typing import Any, Literal, NamedTuple, get_args

import msgspec

Form = Literal[
    "entailment", "cloze", "choice", "caption", "scene", "number", "set", "point", "order"
]
FORMS: tuple[str, ...] = get_args(Form)
WRITTEN = ("number", "set", "point", "order")  # forms whose answers are written: gnomon.forms
MASK = "[MASK]"
OPEN_TASKS = ("contrast",)  # values of the tag `task`: people say what is right, so no item does
CAPTIONS = (
    "captions"  # value of the tag `task`: the choices are sentences, one is true of the picture
)
OUTCOMES = ("right", "wrong")  # choices where a log tells no more than whether an answer was right
DIGITS = 12  # hexadecimal; of a million questions, two share a digest with a chance of 0.2 %


class Image(msgspec.Struct, frozen=True, kw_only=True):
    """A picture that belongs to a question: `sha256` identifies it, `path` says where it is."""

    path: str  # of a file, or a URL
    sha256: str = ""  # of the file's bytes; empty while the picture is not at hand
    width: int = 0  # in pixels; 0 if not known
    height: int = 0

    @property
    def identity(self) -> str:
        """What it counts as where pictures are told apart: its digest, or else its path."""
        return self.sha256 or self.path


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """One question with everything needed to ask it and to judge the answer.

    >>> Item(id="1", form="cloze", text="An ant is [MASK] than a bird.",
    ...      choices=("larger", "smaller"), gold=("smaller",)).gold
    ('smaller',)
    """

    id: str  # stable: the same benchmark, options and seed always give the same ids
    form: Form  # how the question is put
    text: str  # hypothesis, cloze with one [MASK], question, caption or image prompt
    choices: tuple[str, ...] = ()  # the labels to choose from, in a fixed order; a scene needs none
    gold: tuple[str, ...] = ()  # the labels that count as right, of the choices; see docs/kinds.md
    context: str = ""  # premises, or the story, or empty
    group: str = ""  # what must be answered alike: pattern, template, unordered pair, scene
    tags: dict[str, str] = msgspec.field(default_factory=dict)  # category, relation, split, fillers
    images: tuple[Image, ...] = ()  # in the order in which they are shown


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What a model said to one item.

    `choice` is none if the reply could not be read or the model failed.
    """

    item: str  # Item.id
    sample: int = 0  # which of several answers to the item; measures use the first
    scores: tuple[float, ...] | None = None  # one per choice, on the scale the manifest names
    choice: str | None = None
    reply: str | None = None  # raw text, for models that talk
    rule: str | None = None  # how the choice was read from the reply
    files: tuple[str, ...] = ()  # pictures that were made, below the run's folder
    seconds: float | None = None  # how long it took
    tokens: int | None = None  # how many were read and written
    error: str | None = None  # a short reason, if the model failed
    tokens_read: int | None = None
    tokens_written: int | None = None


class Continuation(msgspec.Struct, frozen=True, kw_only=True):
    """A text whose likelihood is scored for a choice, with its tokens where they are known."""

    choice: str
    text: str
    tokens: tuple[str, ...] = ()
    ids: tuple[int, ...] = ()


class Preview(msgspec.Struct, frozen=True, kw_only=True):
    """What a model reads when it is asked an item, and what of it is scored.

    A model that is sent messages has `messages`; any other has `text`, in which the special tokens
    are written out. Tokens are known only to a model that is loaded.
    """

    text: str = ""  # exactly as read, up to where the answer begins
    messages: tuple[dict[str, str], ...] = ()
    scored: tuple[Continuation, ...] = ()
    images: int = 0  # how many pictures are shown with it
    tokens: int | None = None  # that are read before the answer
    ids: tuple[int, ...] = ()  # those tokens
    special: tuple[str, ...] = ()  # the special tokens that stand in `text`
    how: str = ""  # what is asked of the model, in words
    limits: dict[str, Any] = {}  # of a reply: how many tokens, what ends it
    trouble: str = ""  # why the item cannot be asked


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """One figure with its interval, its count of items and its count of independent units."""

    benchmark: str
    model: str
    measure: str
    by: str = ""  # the tag that slices the items, empty for the whole
    key: str = ""  # the value of that tag
    value: float | None  # a fraction, or none where the measure is undefined (an empty slice)
    low: float | None = None
    high: float | None = None
    chance: float | None = None  # what a guess is expected to get; none where that is not known
    n: int = 0  # items that were asked; for some measures pairs, triples or groups of them
    clusters: int = 0  # independent units, of the kind that has fewest
    run: str = ""  # the run's folder; empty for an answer file or for several runs
    units: str = ""  # how many there are of each kind, in words: "16 objects, 30 verbs"


class Prediction(NamedTuple):
    """What a file of answers says about one item, which it names by id or by its place (a number).

    A choice is named by its label or, in files that list the choices, by its place among `choices`.
    """

    line: int
    item: str | int
    label: str | None = None
    place: int | None = None
    choices: Sequence[str] | None = None  # as the file lists them, where it does
    # in the order of `choices`, or by label
    scores: Sequence[Any] | Mapping[str, Any] | None = None
    reply: str | None = None
    error: str | None = None


def pick(item: Item, scores: tuple[float, ...]) -> Answer:
    """The answer with the highest score; the earlier choice wins a tie.

    There is no choice if no score is a number.

    >>> item = Item(id="1", form="choice", text="?", choices=("no", "yes"), gold=("yes",))
    >>> pick(item, (0.25, 0.75)).choice
    'yes'
    """
    known = [score for score in scores if not isnan(score)]
    if not known:
        return Answer(item=item.id, scores=scores)
    best = scores.index(max(known))
    return Answer(item=item.id, scores=scores, choice=item.choices[best])


def problem(item: Item) -> str:
    """What is wrong with an item, in a few words; empty if nothing is."""
    if not item.id:
        return "the id is empty"
    if item.form == "scene" and not item.choices:  # to be painted, and judged by looking
        return "gold is given, but there are no choices" if item.gold else ""
    if item.form in WRITTEN:
        from gnomon.forms import ANSWER_FORMS

        return ANSWER_FORMS[item.form].problem(tuple(item.choices), tuple(item.gold))
    gold = tuple(item.gold)
    if not gold and item.tags.get("task") in OPEN_TASKS:
        gold = tuple(item.choices)
    wrong = _problem_of_labels(tuple(item.choices), gold)
    if wrong:
        return wrong
    if item.form == "cloze" and item.text.count(MASK) != 1:
        return f"a cloze text must hold {MASK} exactly once"
    return ""


@lru_cache(maxsize=1024)  # a benchmark has few sets of labels and very many items
def _problem_of_labels(choices: tuple[str, ...], gold: tuple[str, ...]) -> str:
    if len(choices) < 2 or len(set(choices)) != len(choices):
        return "choices must be two or more different labels"
    if not gold or not set(gold) <= set(choices):
        return "gold must be one or more of the choices"
    return ""


def letter_of(place: int) -> str:
    """The letter by which a choice is called, by its place: a to z, then aa, ab ...

    >>> letter_of(0), letter_of(25), letter_of(26)
    ('a', 'z', 'aa')
    """
    earlier, last = divmod(place, 26)
    found = chr(ord("a") + last)
    return letter_of(earlier - 1) + found if earlier else found


def digest(*parts: str, digits: int = DIGITS) -> str:
    """A short name for some texts, for ids: the same question has the same id under any seed.

    Runs are compared by id, so a running number would set unrelated questions beside each other.

    >>> digest("Ann sits.", "Ann stands.") == digest("Ann stands.", "Ann sits.")
    False
    """
    return sha256("\t".join(parts).encode()).hexdigest()[:digits]


class Fingerprint:
    """The sha256 of a stream of items, in order; a picture counts by what it shows.

    `before` is the digest of those that came before, if any did.
    """

    def __init__(self, before: str = "") -> None:
        self._hash = sha256(before.encode())
        self._encode = msgspec.json.Encoder().encode

    def add(self, item: Item) -> None:
        """Take one more item in."""
        if item.images:
            known = tuple(Image(path=image.identity) for image in item.images)
            item = msgspec.structs.replace(item, images=known)
        self._hash.update(self._encode(item))

    def hexdigest(self) -> str:
        """The digest so far."""
        return self._hash.hexdigest()
