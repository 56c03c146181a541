"""What a classifier gets that sees one part of the question alone."""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np
from msgspec import structs

from gnomon.audit.finding import Finding, OffChance, against, alone, finding_of, luck
from gnomon.audit.learning import (
    ChoiceBayes,
    LabelRates,
    NaiveBayes,
    SumRule,
    Tried,
    folds_at_random,
    folds_of_units,
    learnt_once,
    tried,
)
from gnomon.audit.sets import AuditItem
from gnomon.audit.sizes import sizes_by_relation
from gnomon.audit.subject import ALL_WORDS, Answers, Signs, Subject, signs_of, words_of
from gnomon.measures.columns import Floats
from gnomon.measures.units import Units
from gnomon.reports.words import percent

CHECK = "partial_input"
LEAST_ITEMS = 40  # fewer teach a classifier nothing
Way = Literal["by split", "by group", "at random"]
HOW: dict[Way, str] = {
    "by split": "and learnt from the training part",
    "by group": "and never saw the item's group",
    "at random": "and saw other items of its group",
}


# The parts of a question that a classifier may see alone.


LONGEST = 40  # words; longer texts count as alike
STEP = 8  # characters by which lengths are told apart
PLACES = 8  # words from the beginning of a text whose place is looked at
LAST = 3  # words before its end
MOST_NUMBERS = 12  # that are values of a tag, to be told apart
TELLING = 3  # signs of choices that are named
LEAST_TELLING = 20  # choices with such a sign
MOST = 4  # capitals or signs of punctuation; more of them count as alike
THINGS = ("first thing", "second thing")
FORM = "lengths and shared words"
SIZES = "the relation and sizes in the picture"


class Input(NamedTuple):
    """A part of the question, and the signs that a classifier sees of it."""

    name: str
    signs: Signs
    whole: bool = False  # whether it is all that there is of the question
    form: bool = False  # whether it is how the question is written, and no word of it

    @property
    def called(self) -> str:
        """The part in a sentence."""
        if self.form or self.name == ALL_WORDS:
            return self.name
        return f"the {self.name}"


def parts_of_questions(subject: Subject) -> Iterator[Input]:
    """Each field, all words of a question with a picture, each of two things, and the form."""
    pictures = any(question.picture for question in subject.answered)
    alone = len(subject.fields) == 1
    whole = alone and not pictures
    for field in subject.fields:
        yield Input(field, subject.signs(field), whole=whole)
    if pictures and not alone:
        yield Input(ALL_WORDS, subject.signs(ALL_WORDS))
    yield from _things(subject)
    forms = [_form(question) for question in subject.answered]
    yield Input(FORM, signs_of(forms, str.split), form=True)
    for field in subject.fields:
        texts = subject.texts(field)
        written = signs_of(texts, signs_of_writing)
        yield Input(f"punctuation and capitals of the {field}", written, form=True)
        places = signs_of(texts, places_of_words)
        yield Input(f"places of words in the {field}", places, whole=whole, form=True)
    sizes = ["\n".join(sizes_by_relation(question)) for question in subject.answered]
    if any(sizes):
        yield Input(SIZES, signs_of(sizes, str.splitlines), form=True)


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
        found.append(f"characters{place}:{min(len(text), LONGEST * STEP) // STEP}")
        found.append(f"shared{place}:{len(seen.intersection(words))}")
        seen.update(words)
    return " ".join(found)


def signs_of_writing(text: str) -> list[str]:
    """How a text is written: its punctuation, its capitals, how it begins and ends; no word of it.

    >>> signs_of_writing("Is it Up?")
    ['first capital', 'last ?', 'capitals 1', 'shouted 0', '? 1', 'last word capital']
    """
    words = text.split()
    inner = words[1:]
    capitals = sum(word[0].isupper() for word in inner)
    shouted = sum(word.isupper() and len(word) > 1 for word in words)
    found = [
        f"first {_kind(text[:1])}",
        f"last {_kind(text[-1:])}",
        f"capitals {min(capitals, MOST)}",
        f"shouted {min(shouted, MOST)}",
    ]
    for sign in sorted(set(text)):
        if not sign.isalnum() and sign != " ":
            found.append(f"{sign} {min(text.count(sign), MOST)}")
        elif sign.isalnum() and not sign.isascii():
            found.append(f"{sign} there")
    if "  " in text:
        found.append("two spaces")
    if any(map(str.isdigit, text)):
        found.append("digits")
    if words:
        found.append(f"last word {'capital' if words[-1][0].isupper() else 'lower'}")
    return found


def _kind(sign: str) -> str:
    if sign.isupper():
        return "capital"
    if sign.isalpha():
        return "letter"
    return "digit" if sign.isdigit() else sign


def places_of_words(text: str) -> list[str]:
    """Each word with its place from the beginning, the last ones also with theirs from the end.

    >>> places_of_words("On the mat")
    ['0 on', '1 the', '2 mat', '-1 mat', '-2 the', '-3 on']
    """
    words = words_of(text)
    found = [f"{place} {word}" for place, word in enumerate(words[:PLACES])]
    for back, word in enumerate(reversed(words[-LAST:]), 1):
        found.append(f"-{back} {word}")
    return found


# How choices that differ from item to item are written, each beside the others.


def writing_of_choices(question: AuditItem) -> list[str]:
    """Signs of each choice: its rank by length and by shared words, punctuation, capitals."""
    choices = question.choices
    asked = {word for text in question.texts for word in words_of(text)}
    words = [set(words_of(choice)) for choice in choices]
    with_question = [len(mine & asked) / max(1, len(mine)) for mine in words]
    with_others = [sum(len(mine & other) for other in words) / max(1, len(mine)) for mine in words]
    found = []
    for place, choice in enumerate(choices):
        signs = [sign.replace(" ", "_") for sign in signs_of_writing(choice)]
        signs += [f"place:{place}", f"words:{min(len(choice.split()), LONGEST)}"]
        signs.append(f"length:{_rank(list(map(len, choices)), place)}")
        signs.append(f"question:{_rank(with_question, place)}")
        signs.append(f"others:{_rank(with_others, place)}")
        signs.append(f"alphabet:{sorted(choices).index(choice)}")
        found.append(" ".join(signs))
    return found


def _rank(values: Sequence[float], place: int) -> str:
    """Which of several values one is, and of how many it is the same."""
    mine = values[place]
    larger = sum(value > mine for value in values)
    same = sum(value == mine for value in values)
    return f"{larger}of{len(values)}x{same}"


# Each rule is held against a guess and against the rates of labels alone.


class Folded(NamedTuple):
    """How rows are held out, with what label rates alone get in this way."""

    way: Way
    folds: np.ndarray
    rates: Tried


def folded(subject: Subject, way: Way) -> Folded:
    """The folds of a way; made once."""
    known: Folded | None = subject.folded.get(way)
    if known is not None:
        return known
    answers = subject.answers
    folds = folds_at_random(len(answers))
    if way == "by group":
        kin = subject.audited.kin
        folds = folds_of_units([kin[row] for row in answers.rows])
    made = Folded(way, folds, tried(LabelRates(answers), answers, folds))
    subject.folded[way] = made
    return made


def usual_way(subject: Subject) -> Way:
    """By group, where there are enough of them."""
    return "by group" if subject.grouped else "at random"


def tried_against_rates(subject: Subject, learner: SumRule, way: Way) -> tuple[OffChance, Floats]:
    """What a rule gets beyond a guess and beyond label rates, and what it earns on each row."""
    answers = subject.answers
    held = folded(subject, way)
    mine = tried(learner, answers, held.folds)
    # at random the question is about this very set, not about other groups
    apart = alone(len(answers))
    shown = apart if way == "at random" else subject.units
    tested = apart if way == "at random" else subject.independent
    return beyond_rates(mine, held.rates, answers.chance, shown, tested), mine.shown


def beyond_rates(
    mine: Tried, rates: Tried, chance: Floats, shown: Units, tested: Units
) -> OffChance:
    """A rule against a guess or, where that gets more, the rates of labels alone.

    The interval is over the units that are shown, luck over those that are tested.
    """
    better = rates.shown.mean() > chance.mean()
    p = max(luck(mine.tested - chance, tested), luck(mine.tested - rates.tested, tested))
    return against(mine.shown, rates.shown if better else chance, shown, p)


def partial_input(subject: Subject) -> Iterator[Finding]:
    """Each part of the question, asked in each way that the set allows."""
    answers = subject.answers
    if len(answers) < LEAST_ITEMS:
        yield Finding(
            check=CHECK, says=f"Fewer than {LEAST_ITEMS} items are too few to learn from."
        )
        return
    if not answers.same_offer:
        yield from _choices_alone(subject)
    if not answers.has_labels:
        return
    for given in parts_of_questions(subject):
        ways = _ways(subject)
        if given.form:
            ways = [usual_way(subject)]
        for way in ways:
            yield _finding(subject, given, way)


def _ways(subject: Subject) -> list[Way]:
    ways: list[Way] = []
    if subject.splits is not None:
        ways.append("by split")
    if subject.audited.has_groups:
        ways.append("by group")
    return [*ways, "at random"]


def _finding(subject: Subject, given: Input, way: Way) -> Finding:
    answers = subject.answers
    learner = NaiveBayes(given.signs, answers)
    if way == "by split":
        off, credit, asked = _by_split(subject, learner)
    else:
        off, credit = tried_against_rates(subject, learner, way)
        asked = np.arange(len(answers))
    seen_whole = given.whole and way == "at random" and subject.audited.has_groups
    alarm = (off.above and not seen_whole) or (off.below and way == "by split")
    says = _sentence(subject, given, way, off)
    low = off.high is not None and off.high < float(answers.chance[asked].mean())
    if low and way != "by split":
        says += " Below chance: labels are balanced over these words, so do not divide the set."
    part = f"{given.name}, {way}"
    if off.above:
        says += _by_number(subject, asked, credit)
    finding = finding_of(off, CHECK, part, says, n=len(credit), alarm=alarm)
    finding = structs.replace(finding, whole=given.whole)
    if not off.above:
        return finding
    return subject.about_answers(finding, asked[credit == 1])


def _by_number(subject: Subject, asked: np.ndarray, credit: Floats) -> str:
    """What it gets by each tag that is a number, such as how many steps an answer takes."""
    told = ""
    for name in subject.tags:
        values = np.array([subject.answered[row].unit(name) for row in asked])
        different = sorted(set(values.tolist()), key=lambda value: (len(value), value))
        if not 1 < len(different) <= MOST_NUMBERS or not all(map(str.isdigit, different)):
            continue
        shares = [f"{percent(credit[values == one].mean())} ({one})" for one in different]
        told += f" By {name}: {', '.join(shares)}."
    return told


def _by_split(subject: Subject, learner: SumRule) -> tuple[OffChance, Floats, np.ndarray]:
    """The same, learnt from the authors' training part: to be reliably wrong tells as much."""
    answers, splits = subject.answers, subject.splits
    assert splits is not None
    *_, train = splits.learnt.values()
    credit = learnt_once(learner, answers, train, splits.test)
    rates = learnt_once(LabelRates(answers), answers, train, splits.test)
    chance, shown = answers.chance[splits.test], subject.units[splits.test]
    tested = subject.independent[splits.test]
    off = beyond_rates(Tried(credit, credit), Tried(rates, rates), chance, shown, tested)
    wrong = luck(chance - credit, tested)
    return off._replace(p=min(1.0, 2 * min(off.p, wrong))), credit, np.flatnonzero(splits.test)


def _sentence(subject: Subject, given: Input, way: Way, off: OffChance) -> str:
    how = HOW[way]
    if not subject.audited.has_groups:
        how = how.removesuffix(" of its group")
    return (
        f"A classifier that sees {given.called} alone {how} is right on {percent(off.value)}; "
        f"guessing by the labels alone gets {percent(off.chance)}."
    )


def signs_of_choices(subject: Subject) -> dict[str, Signs]:
    """What can be seen of each choice, one after the other, without the question."""
    written = []
    for question in subject.answered:
        written += writing_of_choices(question)
    texts = [choice for question in subject.answered for choice in question.choices]
    return {
        "length, place and writing": signs_of(written, str.split),
        "words": signs_of(texts, words_of),
    }


def _choices_alone(subject: Subject) -> Iterator[Finding]:
    """Choices that differ from item to item: does how they are written give one away?"""
    answers = subject.answers
    for name, signs in signs_of_choices(subject).items():
        off, credit = tried_against_rates(subject, ChoiceBayes(signs, answers), usual_way(subject))
        says = (
            f"Taking the choice by the {name} of the choices alone, without the question, is right "
            f"on {percent(off.value)} of {len(credit):,} items; without them one gets "
            f"{percent(off.chance)}."
        )
        if off.above:
            says += f" Most telling: {', '.join(_telling(signs, answers))}."
        part = f"{name} of the choices"
        finding = finding_of(off, CHECK, part, says, n=len(credit), alarm=off.above)
        yield subject.about_answers(finding, np.flatnonzero(credit == 1))


def _telling(signs: Signs, answers: Answers) -> Iterator[str]:
    """The signs that tell right choices from wrong ones most, and how many of each have them."""
    right = answers.gold[answers.choices >= 0]
    having = right[signs.rows]
    with_sign = np.bincount(signs.codes, having, len(signs.names))
    without = np.bincount(signs.codes, ~having, len(signs.names))
    expected = (with_sign + without) * right.mean()
    spread = np.sqrt(expected * (1 - right.mean()))
    surplus = np.abs(with_sign - expected) / np.maximum(spread, 1)
    enough = np.where(with_sign + without >= LEAST_TELLING, surplus, 0)
    for code in np.argsort(-enough, kind="stable")[:TELLING]:
        name = signs.names[code].replace("_", " ")
        yield f"'{name}' in {int(with_sign[code]):,} right and {int(without[code]):,} wrong ones"
