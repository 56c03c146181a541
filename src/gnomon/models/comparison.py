"""Models that compare a text with pictures: asked about captions, and about choices filled in.

What such a model gives is one number for a text and its pictures: the more, the better they fit. It
may be the log-odds of a probability, and then it answers by itself. If not, or if that is asked
for, the caption is compared with another text, or the number with a threshold: the `contrast`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from math import exp, fsum, log, log1p
from typing import Any, NamedTuple, Protocol

from gnomon.contracts import ANYTHING, Benchmark, Scale
from gnomon.errors import ModelError, UsageError, check_known
from gnomon.grouped import chunks
from gnomon.lexicon.statements import contrasted, negation, opposite, question, stem
from gnomon.models.choices import ask_those_without_trouble, flat, too_long
from gnomon.models.prompts.preview import HOW, PromptFormat
from gnomon.models.thresholds import FittedThresholds, ScoredExample
from gnomon.records import CAPTIONS, MASK, Answer, Continuation, Image, Item, Preview, pick
from gnomon.vision.images import Prepared

TRUE = ("true", "yes")
FALSE = ("false", "no")
TRUTHS = (frozenset(("false", "true")), frozenset(("no", "yes")))
FORMS: tuple[str, ...] = ("caption", "choice", "cloze")
OTHER_TEXT = {"opposite": opposite, "negation": negation, "stem": stem}
CONTRASTS = ("none", *OTHER_TEXT, "against", "threshold")
SCORES = {
    "none": "log(1-p) and log p of the model's own probability",
    "opposite": "log softmax of opposite and caption",
    "negation": "log softmax of negation and caption",
    "stem": "log softmax of stem and caption",
    "against": "log softmax of the contrast's other caption and caption",
    "threshold": "log sigmoid of the distance from the threshold",
}


class TextPair(NamedTuple):
    """A text and the keys of the pictures that it is compared with.

    Of a question, how well an answer fits both is asked.
    """

    text: str
    pictures: tuple[str, ...]
    answer: str = ""


class Written(NamedTuple):
    """A text as a model reads it, special tokens and all, with its tokens."""

    text: str
    tokens: tuple[str, ...]
    ids: tuple[int, ...]


class Comparer(Protocol):
    """Gives a number for each pair: the log-odds of a match if it is `probable`."""

    pictures: int  # how many pictures go with a text
    asks: bool  # it is put questions, and a choice is an answer
    probable: bool
    usual_contrast: str
    batch: int  # items that it likes to see at once
    longest: int  # tokens of a text; 0 without limit

    def describe(self) -> dict[str, Any]:
        """What determines its numbers."""

    def look(self, images: Sequence[Image]) -> dict[str, Prepared[Any]]:
        """What is seen of each picture, or why it cannot be shown, by its key."""

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """The tokens of each text."""

    def odds(self, pairs: Sequence[TextPair], seen: Mapping[str, Prepared[Any]]) -> list[float]:
        """One number for each pair."""

    def written(self, texts: Sequence[str]) -> list[Written]:
        """Each text as it is read."""

    def around(self) -> dict[str, Any]:
        """What stands around each text, as `PromptFormat` has it."""

    def cannot_answer(self, answer: str) -> str:
        """Why an answer to a question cannot be given a number; empty if it can."""


class ComparisonModel:
    """A model that compares texts with pictures, asked with a stated contrast."""

    scale: Scale = "log-probability"
    takes = ANYTHING

    def __init__(
        self, spec: str, comparer: Comparer, *, contrast: str = "", about: dict[str, Any]
    ) -> None:
        self.spec, self.comparer, self.about = spec, comparer, about
        self.contrast = contrast or comparer.usual_contrast
        check_contrast(self.contrast)
        if self.contrast == "none" and not comparer.probable:
            raise UsageError(
                f"{spec} gives similarities, which say more or less but not true or false.",
                f"Choose a contrast: {', '.join(CONTRASTS[1:])}.",
            )
        self.batch = comparer.batch
        self._thresholds: FittedThresholds | None = None

    def describe(self) -> dict[str, Any]:
        """What determines the answers; `fitted` follows from them and from the items."""
        found = {
            **self.about,
            **self.comparer.describe(),
            "contrast": self.contrast,
            "scores": SCORES[self.contrast],
        }
        if self._thresholds:
            found["fitted"] = self._thresholds.describe()
        return found

    def lists_choices(self, form: str) -> bool:
        """Each choice is compared by itself, so their order is never seen."""
        return False

    @property
    def learns(self) -> bool:
        """Whether its answers depend on all the items: thresholds are fitted on them."""
        return self.contrast == "threshold"

    def prepare(self, items: Iterable[Item], benchmark: Benchmark) -> None:
        """Refuse items without pictures, and fit the thresholds if there are to be any."""
        coming = iter(items)
        first = next(coming)
        if not first.images:
            raise ModelError(
                f"{self.spec} compares texts with pictures, and is shown none.",
                "Leave out --blind, or choose a benchmark whose items have pictures.",
            )
        if self.learns:
            self._fit(chain([first], coming), benchmark)

    def answer(self, items: Sequence[Item]) -> list[Answer]:
        """One answer for each item; one whose picture cannot be shown is answered with why."""
        seen = self._look(items)
        texts = list(map(self._texts, items))
        troubles = self._troubles(items, texts, seen)

        def ask(numbers: Sequence[int]) -> list[Answer]:
            pairs: list[TextPair] = []
            for number in numbers:
                pairs += self._pairs(items[number], texts[number])
            odds = iter(self.comparer.odds(pairs, seen))

            answers = []
            for number in numbers:
                found = list(islice(odds, len(texts[number])))
                answers.append(self._answer(items[number], found))
            return answers

        return ask_those_without_trouble(items, troubles, ask)

    def preview(self, item: Item) -> Preview:
        """The texts that are compared with the pictures of an item."""
        found = self.asking()
        texts = self._texts(item)
        scored = []
        written = self.comparer.written(texts)
        for name, each in zip(names_of_texts(item, len(texts)), written, strict=True):
            scored.append(Continuation(choice=name, **each._asdict()))
        return Preview(
            scored=tuple(scored),
            images=len(item.images),
            tokens=sum(len(each.ids) for each in written),
            special=found.special,
            how=HOW[found.way],
            limits=found.limits,
        )

    def asking(self) -> PromptFormat:
        """What shows prompts without the model."""
        around = self.comparer.around()
        limits = {"contrast": self.contrast, "scores": SCORES[self.contrast]}
        return PromptFormat(way="compare", contrast=self.contrast, limits=limits, **around)

    def _look(self, items: Sequence[Item]) -> dict[str, Prepared[Any]]:
        """What is seen of the pictures of items, each looked at once."""
        images: dict[str, Image] = {}
        for item in items:
            if len(item.images) == self.comparer.pictures:
                images |= zip(_keys(item), item.images, strict=True)
        return self.comparer.look(list(images.values()))

    def _pairs(self, item: Item, texts: Sequence[str]) -> list[TextPair]:
        """The texts of an item with its pictures, and with the choices where it is a question."""
        answers = [""] * len(texts)
        if self.comparer.asks and _is_question(item):
            answers = list(item.choices)
        keys = _keys(item)
        return [TextPair(text, keys, answer) for text, answer in zip(texts, answers, strict=True)]

    def _texts(self, item: Item) -> list[str]:
        """What is compared with the pictures of an item; the caption stands last."""
        if item.form not in FORMS:
            raise UsageError(
                f"{self.spec} takes items of the forms {', '.join(FORMS)}, "
                f"not {item.form} (item {item.id}).",
                "Ask another kind of model, or another benchmark.",
            )
        if item.form == "caption" and frozenset(item.choices) not in TRUTHS:
            raise UsageError(
                f"A caption is true or false, but item {item.id} has the choices "
                f"{', '.join(item.choices)[:80]}.",
                "Ask another kind of model, or another benchmark.",
            )
        return compared_texts(item, self.contrast, asks=self.comparer.asks)

    def _troubles(
        self,
        items: Sequence[Item],
        texts: Sequence[Sequence[str]],
        seen: Mapping[str, Prepared[Any]],
    ) -> list[str]:
        """Why each item cannot be asked; empty if it can."""
        lengths = iter(self.comparer.lengths(flat(texts)))
        found = []
        for item, read in zip(items, texts, strict=True):
            tokens = max(islice(lengths, len(read)))
            trouble = self._trouble(item, read, seen)
            found.append(trouble or too_long(tokens, self.comparer.longest, "text"))
        return found

    def _trouble(self, item: Item, texts: Sequence[str], seen: Mapping[str, Prepared[Any]]) -> str:
        wanted, shown = self.comparer.pictures, len(item.images)
        if wanted != shown:
            pictures = "one picture" if wanted == 1 else f"{wanted} pictures"
            return f"the model compares a text with {pictures}, the item has {shown}"
        for image in item.images:
            trouble = seen[image.identity].trouble
            if trouble:
                return trouble
        if not all(texts) and self.contrast == "against":
            return "the caption is contrasted with no other: it has no relation, or no tag against"
        if not all(texts):
            return "the caption has no stem: where its relation ends is not known"
        for pair in self._pairs(item, texts):
            if pair.answer and (trouble := self.comparer.cannot_answer(pair.answer)):
                return trouble
        return ""

    def _answer(self, item: Item, odds: Sequence[float]) -> Answer:
        if item.form != "caption":
            return pick(item, log_softmax(odds))
        if len(odds) == 2:
            false, true = log_softmax(odds)
        else:
            margin = odds[0] - self._threshold(item)
            false, true = log_sigmoid(-margin), log_sigmoid(margin)
        if item.choices[0] in TRUE:
            return pick(item, (true, false))
        return pick(item, (false, true))

    def _threshold(self, item: Item) -> float:
        if self.contrast != "threshold":
            return 0.0
        found = self._thresholds.at(item) if self._thresholds else None
        if found is None:
            raise ModelError(
                f"{self.spec} has no threshold for item {item.id}: there was nothing to fit it on.",
                "Run more items, with a development split or several groups.",
            )
        return found

    def _fit(self, items: Iterable[Item], benchmark: Benchmark) -> None:
        captions = (item for item in items if item.form == "caption")
        examples: list[ScoredExample] = []
        for part in chunks(captions, self.batch):
            examples += self._examples(part, benchmark)
        if not examples:
            raise ModelError(
                f"{self.spec} has no captions with pictures to fit a threshold on.",
                "Choose another contrast, or a benchmark with captions.",
            )
        self._thresholds = FittedThresholds(examples, benchmark)

    def _examples(self, items: Sequence[Item], benchmark: Benchmark) -> Iterator[ScoredExample]:
        """What thresholds are fitted on: the items that can be asked."""
        seen = self._look(items)
        troubles = self._troubles(items, list(map(self._texts, items)), seen)
        asked = [item for item, trouble in zip(items, troubles, strict=True) if not trouble]
        pairs = [TextPair(self._texts(item)[-1], _keys(item)) for item in asked]
        for item, odds in zip(asked, self.comparer.odds(pairs, seen), strict=True):
            yield ScoredExample.of(item, odds, item.gold[0] in TRUE, benchmark)


def compared_texts(item: Item, contrast: str, *, asks: bool = False) -> list[str]:
    """What is compared with the pictures of an item; a caption stands last.

    To a model that `asks`, statements are put as questions, and a question as it is, once for each
    choice.

    >>> item = Item(id="1", form="choice", text="What color is the cat?", choices=("red", "gray"))
    >>> compared_texts(item, "none", asks=True)
    ['What color is the cat?', 'What color is the cat?']
    """
    if asks and _is_question(item):
        return [_lead(item) + item.text] * len(item.choices)
    texts = _statements(item, contrast)
    if asks:
        return [question(text) if text else "" for text in texts]
    return texts


def _statements(item: Item, contrast: str) -> list[str]:
    if item.form != "caption":
        return filled_in(item)
    relation = item.tags.get("relation", "")
    if contrast == "against":  # the tag has the relation that the other caption of a quad says
        return [contrasted(item.text, relation, item.tags.get("against", "")), item.text]
    other = OTHER_TEXT.get(contrast)
    if other is None:
        return [item.text]
    return [other(item.text, relation), item.text]


def names_of_texts(item: Item, count: int) -> list[str]:
    """The choice that each of the compared texts stands for."""
    if item.form != "caption":
        return list(item.choices)
    false, true = item.choices
    if false in TRUE:
        false, true = true, false
    return [false, true][-count:]


def filled_in(item: Item) -> list[str]:
    """The statement that each choice of an item makes.

    >>> item = Item(id="1", form="cloze", text="The cat is [MASK] the box.", choices=("in", "on"))
    >>> filled_in(item)
    ['The cat is in the box.', 'The cat is on the box.']
    """
    if item.tags.get("task") == CAPTIONS:
        return list(item.choices)
    lead = _lead(item)
    if item.form == "cloze":
        return [lead + item.text.replace(MASK, choice) for choice in item.choices]
    return [f"{lead}{item.text} {choice}" for choice in item.choices]


def _is_question(item: Item) -> bool:
    """Whether the choices are answers; captions to choose among are statements."""
    return item.form == "choice" and item.tags.get("task") != CAPTIONS


def _lead(item: Item) -> str:
    return f"{item.context} " if item.context else ""


def log_sigmoid(value: float) -> float:
    """The logarithm of a probability from its log-odds.

    >>> round(log_sigmoid(0.0), 4), log_sigmoid(-1000.0)
    (-0.6931, -1000.0)
    """
    if value >= 0:
        return -log1p(exp(-value))
    return value - log1p(exp(value))


def log_softmax(values: Sequence[float]) -> tuple[float, ...]:
    """Logarithms of probabilities that are to one another as the exponentials of some values.

    >>> [round(value, 4) for value in log_softmax([1.0, 1.0])]
    [-0.6931, -0.6931]
    """
    most = max(values)
    total = most + log(fsum(exp(value - most) for value in values))
    return tuple(value - total for value in values)


def check_contrast(contrast: str) -> None:
    """Refuse a contrast that does not exist; none at all is the model's usual one."""
    if contrast:
        check_known("contrast", contrast, CONTRASTS)


def _keys(item: Item) -> tuple[str, ...]:
    return tuple(image.identity for image in item.images)
