"""Candidates by back-translation: a sentence there and back is often the same in other words.

A sentence is translated once with each answer. Where the translations differ in one stretch alone,
the rest is a new sentence, and the stretches are new answer words. Round trips are ranked by their
likelihood there and back (Jiang et al. 2020).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple, Protocol

from gnomon.errors import UsageError
from gnomon.probing.candidates import NO_BLANK, NO_OBJECT, Answers, CandidateList
from gnomon.probing.mentions import TAG, longest_first, mention_of, mentions
from gnomon.probing.wording import OptionStyle, Wording, lay_out, tags_in
from gnomon.records import Item

CONTEXT = "{context} "
EXAMPLES = 3  # items of each kind whose sentences are translated
LONGEST_ANSWER = 4  # words
ALTERNATIVES = 3  # ways to say a label in one sentence that are combined with those of the others
_PIECE = re.compile(r"\{[^{}]+\}|\w+(?:['-]\w+)*|\s+|[^\w\s]")
_WORD = re.compile(r"\w")


class Rendering(NamedTuple):
    """A translation and its log-likelihood."""

    text: str
    score: float


class Translator(Protocol):
    """Translates each text in several ways, the likeliest first."""

    def __call__(self, texts: Sequence[str], count: int) -> list[list[Rendering]]:
        """At most `count` translations of each text."""
        ...


class Frame(NamedTuple):
    """A sentence with a blank, and what fills it for each label."""

    template: str
    answers: Answers


class Paraphrased(NamedTuple):
    """New candidates, and how many translations came to nothing for which reason."""

    candidates: CandidateList
    dropped: dict[str, int]


def back_translated(
    seeds: CandidateList, items: Sequence[Item], there: Translator, back: Translator, count: int
) -> Paraphrased:
    """The candidates with those that a trip there and back makes of them.

    At most `count` new sentences and as many new sets of answer words: those that came up most.
    """
    if not tags_in(seeds.templates[0]):
        raise UsageError(
            "Back-translation needs sentences that name their objects, such as {tag:obj_a}.",
            "Give some with --candidates FILE; docs/probing.md shows one.",
        )
    templates = Counter[str]()
    answers = Counter[tuple[tuple[str, str], ...]]()
    dropped = Counter[str]()
    words = seeds.answers[0] if seeds.answers else {}
    for template in seeds.templates:
        for item in examples(items):
            for frame in _frames_of(template, words, item, there, back, count, dropped):
                templates[frame.template] += 1
                answers[tuple(frame.answers.items())] += 1
    new = [template for template, _ in templates.most_common(count)]
    said = [dict(pairs) for pairs, _ in answers.most_common(count)]
    found = CandidateList(
        templates=(*seeds.templates, *new),
        answers=(*(seeds.answers or ({},)), *said),
        form=seeds.form,
    )
    return Paraphrased(found, dict(dropped))


def examples(items: Sequence[Item]) -> list[Item]:
    """A few items of each set of labels, from different places of the whole."""
    kinds: dict[frozenset[str], list[Item]] = {}
    for item in items:
        kinds.setdefault(frozenset(item.choices), []).append(item)
    found = []
    for members in kinds.values():
        step = max(1, len(members) // EXAMPLES)
        found += members[::step][:EXAMPLES]
    return found


def _frames_of(
    template: str,
    words: Answers,
    item: Item,
    there: Translator,
    back: Translator,
    count: int,
    dropped: Counter[str],
) -> Iterator[Frame]:
    """What the round trips of one item's sentence agree on."""
    lead = CONTEXT if template.startswith(CONTEXT) else ""
    sentences = filled(template.removeprefix(CONTEXT), words, item)
    trips = round_trips(list(sentences.values()), there, back, count)
    tags = [field.removeprefix(TAG) for field in tags_in(template)]
    names = mentions(item, tags)
    outputs = {}
    for label, texts in zip(sentences, trips, strict=True):
        outputs[label] = [with_fields(text, names, item) for text in texts]
    dropped[NO_OBJECT] += sum(texts.count("") for texts in outputs.values())
    for frame in frames(outputs, dropped):
        yield Frame(lead + frame.template, frame.answers)


def filled(template: str, words: Mapping[str, str], item: Item) -> dict[str, str]:
    """The sentence of an item with each of its labels written in.

    >>> item = Item(id="1", form="cloze", text="An ant is [MASK] than a cow.",
    ...             choices=("larger", "smaller"), gold=("smaller",),
    ...             tags={"obj_a": "ant", "obj_b": "cow"})
    >>> filled("{tag:obj_b} and {tag:obj_a}: the first is {answer}.", {}, item)["larger"]
    'A cow and an ant: the first is larger.'
    """
    wording = Wording(template=template, words=dict(words))
    parts = lay_out(item, wording, OptionStyle("", ""))
    found = {}
    for label, (word, *_) in zip(item.choices, parts.answers, strict=True):
        found[label] = parts.before + parts.lead + word + parts.after
    return found


def round_trips(
    texts: Sequence[str], there: Translator, back: Translator, count: int
) -> list[list[str]]:
    """For each text the likeliest different texts that come back, at most `count`."""
    gone = there(texts, count)
    abroad: list[Rendering] = []
    for renderings in gone:
        abroad += renderings
    returned = iter(back([each.text for each in abroad], count))
    found = []
    for renderings in gone:
        best: dict[str, float] = {}
        for foreign in renderings:
            for home in next(returned):
                score = foreign.score + home.score
                best[home.text] = max(score, best.get(home.text, score))
        ranked = sorted(best, key=lambda text: (-best[text], text))
        found.append(ranked[:count])
    return found


def with_fields(text: str, names: Mapping[str, str], item: Item) -> str:
    """The text with fields for the objects that it names; empty unless it names each once."""
    for tag, phrase in longest_first(dict(names)):
        pattern = mention_of(item.tags[tag])
        if len(pattern.findall(text)) != 1:
            return ""
        # an article stays where the item's own text gives none: "the {tag:person}"
        keep = r"\g<1>" if phrase == item.tags[tag] else ""
        text = pattern.sub(f"{keep}{{{TAG}{tag}}}", text)
    return text


def frames(outputs: Mapping[str, Sequence[str]], dropped: Counter[str]) -> list[Frame]:
    """Sentences that were found with every label and differ in one stretch alone.

    >>> told = {"larger": ["It is bigger."], "smaller": ["It is smaller.", "Tiny it is."]}
    >>> frames(told, Counter())
    [Frame(template='It is {answer}.', answers={'larger': 'bigger', 'smaller': 'smaller'})]
    """
    by_label = {label: _by_template(texts) for label, texts in outputs.items()}
    first, *others = by_label.values()
    found = []
    used = set()
    for template in first:
        if not all(template in other for other in others):
            continue
        for answers in _combined([known[template] for known in by_label.values()]):
            if _differ_as_a_whole(answers):
                found.append(Frame(template, dict(zip(by_label, answers, strict=True))))
                used |= {template.replace("{answer}", answer) for answer in answers}
    texts = {text for each in outputs.values() for text in each if text}
    dropped[NO_BLANK] += len(texts - used)
    return found


def _by_template(texts: Iterable[str]) -> dict[str, list[str]]:
    """The sentences with a blank that texts can be read as, each with what filled it."""
    found: dict[str, list[str]] = {}
    for text in texts:
        for template, answer in _blanked(text):
            answers = found.setdefault(template, [])
            if answer not in answers:
                answers.append(answer)
    return found


def _combined(alternatives: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """One answer for each label in every way, those first that came first."""
    numbered = [list(enumerate(words[:ALTERNATIVES])) for words in alternatives]
    ways = sorted(product(*numbered), key=lambda way: sum(rank for rank, _ in way))
    return [tuple(word for _, word in way) for way in ways]


def _blanked(text: str) -> Iterator[tuple[str, str]]:
    """The text with each short stretch of words taken out, and the stretch."""
    pieces = _PIECE.findall(text)
    words = [place for place, piece in enumerate(pieces) if _WORD.search(piece)]
    for start, first in enumerate(words):
        for last in words[start : start + LONGEST_ANSWER]:
            stretch = pieces[first : last + 1]
            if any(piece.startswith("{") for piece in stretch):
                break
            rest = [*pieces[:first], "{answer}", *pieces[last + 1 :]]
            yield "".join(rest), "".join(stretch)


def _differ_as_a_whole(answers: Sequence[str]) -> bool:
    """Whether the answers are different, and share neither their first nor their last word."""
    if len(set(answers)) < len(answers):
        return False
    words = [answer.split() for answer in answers]
    shares_first = len({each[0] for each in words}) == 1
    shares_last = len({each[-1] for each in words}) == 1
    return not shares_first and not shares_last
