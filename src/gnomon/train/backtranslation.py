"""Candidates by back-translation: a sentence there and back is often the same in other words.

A sentence is translated once with each answer. Where the translations differ in one stretch alone,
the rest is a new sentence, and the stretches are new answer words. Round trips are ranked by their
likelihood there and back (Jiang et al. 2020).
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, product
from typing import NamedTuple

from gnomon.errors import UsageError
from gnomon.grouped import grouped
from gnomon.models.prompts import wording as wordings
from gnomon.models.prompts.candidates import EXCHANGED, NO_BLANK, NO_OBJECT, Answers, CandidateList
from gnomon.models.prompts.wording import TAG, OptionStyle, Wording
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


# Translates each text in several ways, at most so many, the likeliest first.
Translator = Callable[[Sequence[str], int], list[list[Rendering]]]


class _Frame(NamedTuple):
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
    if not wordings.tags_in(seeds.templates[0]):
        raise UsageError(
            "Back-translation needs sentences that name their objects, such as {tag:obj_a}.",
            "Give some with --candidates FILE; docs/probing.md shows one.",
        )
    traveller = Traveller(there, back, count)
    answers = seeds.answers or ({},)
    for template in seeds.templates:
        for item in examples(items):
            traveller.send(template, answers[0], item)
    templates = [template for template, _ in traveller.templates.most_common(count)]
    words = [dict(pairs) for pairs, _ in traveller.answers.most_common(count)]
    found = CandidateList(
        templates=(*seeds.templates, *templates), answers=(*answers, *words), form=seeds.form
    )
    return Paraphrased(found, dict(traveller.dropped))


class Traveller:
    """Sends sentences there and back, and keeps count of what comes of them."""

    def __init__(self, there: Translator, back: Translator, count: int) -> None:
        self.there, self.back, self.count = there, back, count
        self.templates = Counter[str]()
        self.answers = Counter[tuple[tuple[str, str], ...]]()
        self.dropped = Counter[str]()

    def send(self, template: str, words: Answers, item: Item) -> None:
        """Translate an item's sentence with each of its answers, and note what they agree on."""
        context = CONTEXT if template.startswith(CONTEXT) else ""
        sentences = filled(template.removeprefix(CONTEXT), words, item)
        trips = round_trips(list(sentences.values()), self.there, self.back, self.count)
        names = wordings.mentions(
            item, [field.removeprefix(TAG) for field in wordings.tags_in(template)]
        )
        outputs = {}
        for label, texts in zip(sentences, trips, strict=True):
            with_them = [with_fields(text, names, item) for text in texts]
            outputs[label] = [text for text in with_them if text]
            self.dropped[NO_OBJECT] += with_them.count("")  # they lost an object
        own = {label: words.get(label, label) for label in sentences}
        for frame in frames(outputs, self.dropped):
            if _exchanged(frame.answers, own):
                self.dropped[EXCHANGED] += 1
                continue
            self.templates[context + frame.template] += 1
            self.answers[tuple(frame.answers.items())] += 1


def _exchanged(answers: Answers, own: Answers) -> bool:
    """Whether a label got another one's word, as where a translation turns two objects round.

    Its words are right in its own sentence only, and every sentence is tried with all words.

    >>> own = {"larger": "larger", "smaller": "smaller"}
    >>> _exchanged({"larger": "smaller", "smaller": "bigger"}, own)
    True
    """
    for label, word in answers.items():
        others = [each for other, each in own.items() if other != label]
        if word in others:
            return True
    return False


def examples(items: Sequence[Item]) -> list[Item]:
    """A few items of each set of labels, from different places of the whole."""
    found = []
    for members in grouped(items, lambda item: frozenset(item.choices)).values():
        step = max(1, len(members) // EXAMPLES)
        found += members[::step][:EXAMPLES]
    return found


def filled(template: str, words: Mapping[str, str], item: Item) -> dict[str, str]:
    """The sentence of an item with each of its labels written in.

    >>> item = Item(id="1", form="cloze", text="An ant is [MASK] than a cow.",
    ...             choices=("larger", "smaller"), gold=("smaller",),
    ...             tags={"obj_a": "ant", "obj_b": "cow"})
    >>> filled("{tag:obj_b} and {tag:obj_a}: the first is {answer}.", {}, item)["larger"]
    'A cow and an ant: the first is larger.'
    """
    wording = Wording(template=template, words=dict(words))
    parts = wordings.lay_out(item, wording, OptionStyle("", ""))
    found = {}
    for label, (word, *_) in zip(item.choices, parts.answers, strict=True):
        found[label] = parts.before + parts.lead + word + parts.after
    return found


def round_trips(
    texts: Sequence[str], there: Translator, back: Translator, count: int
) -> list[list[str]]:
    """For each text the likeliest different texts that come back, at most `count`."""
    gone = there(texts, count)
    abroad = list(chain.from_iterable(gone))
    returned = iter(back([each.text for each in abroad], count))
    found = []
    for renderings in gone:
        best: dict[str, float] = {}
        for foreign, homes in zip(renderings, returned, strict=False):
            for home in homes:
                score = foreign.score + home.score
                best[home.text] = max(score, best.get(home.text, score))
        ranked = sorted(best, key=lambda text: (-best[text], text))
        found.append(ranked[:count])
    return found


def with_fields(text: str, names: Mapping[str, str], item: Item) -> str:
    """The text with fields for the objects that it names; empty unless it names each once."""
    for tag, phrase in wordings.longest_first(dict(names)):
        pattern = wordings.mention_of(item.tags[tag])
        if len(pattern.findall(text)) != 1:
            return ""
        # an article stays where the item's own text gives none: "the {tag:person}"
        keep = r"\g<1>" if phrase == item.tags[tag] else ""
        text = pattern.sub(f"{keep}{{{TAG}{tag}}}", text)
    return text


def frames(outputs: Mapping[str, Sequence[str]], dropped: Counter[str]) -> list[_Frame]:
    """Sentences that were found with every label and differ in one stretch alone.

    >>> told = {"larger": ["It is bigger."], "smaller": ["It is smaller.", "Tiny it is."]}
    >>> frames(told, Counter())
    [_Frame(template='It is {answer}.', answers={'larger': 'bigger', 'smaller': 'smaller'})]
    """
    by_label = {label: _by_template(texts) for label, texts in outputs.items()}
    first, *others = by_label.values()
    found = []
    for template in first:
        if not all(template in other for other in others):
            continue
        alternatives = [known[template] for known in by_label.values()]
        for answers in _combined(alternatives):
            if _differ_as_a_whole(answers):
                found.append(_Frame(template, dict(zip(by_label, answers, strict=True))))
    texts = set(chain.from_iterable(outputs.values()))
    for frame in found:  # the texts from which it was made
        texts -= {frame.template.replace("{answer}", answer) for answer in frame.answers.values()}
    dropped[NO_BLANK] += len(texts)
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
    few = [words[:ALTERNATIVES] for words in alternatives]
    ranks = product(*[range(len(words)) for words in few])
    found = []
    for way in sorted(ranks, key=sum):
        found.append(tuple(words[rank] for words, rank in zip(few, way, strict=True)))
    return found


def _blanked(text: str) -> Iterator[tuple[str, str]]:
    """The text with each short stretch of words taken out, and the stretch; never the whole."""
    pieces = _PIECE.findall(text)
    words = [place for place, piece in enumerate(pieces) if _WORD.search(piece)]
    for start, first in enumerate(words):
        for last in words[start : start + LONGEST_ANSWER]:
            stretch = pieces[first : last + 1]
            if any(piece.startswith("{") for piece in stretch):
                break
            if (first, last) == (words[0], words[-1]):
                continue
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
