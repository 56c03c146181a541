"""What a classifier gets that sees one part of the question alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np

from gnomon.audit.finding import (
    Finding,
    OffChance,
    against,
    alone,
    finding_of,
    most_frequent_or_guess,
)
from gnomon.audit.sets import AuditItem
from gnomon.audit.subject import ALL_WORDS, Answers, Signs, Subject, best_credit, signs_of, words_of
from gnomon.measures.columns import Floats
from gnomon.models.classifiers import assign_folds
from gnomon.reports.words import percent

# A naive Bayes classifier of signs that never saw what it is asked, on sparse counts.
#
# What is held out must not show by its absence. So labels weigh in the end as they do in the
# whole, each sign counts by how far labels with it differ from the labels in training, and a sign
# that training lacks says nothing.


FOLDS = 5
PRIOR = 1.0  # how many sightings the share of a label counts for, beside those of a sign
TINY = 1e-12


def folds_at_random(count: int, folds: int = FOLDS) -> np.ndarray:
    """A fold for each row, as a bit; all folds have the same size, or nearly."""
    numbers = np.random.default_rng(0).permutation(count) % folds
    return np.asarray(1 << numbers)


def folds_of_units(units: Sequence[tuple[str, ...]], folds: int = FOLDS) -> np.ndarray:
    """The folds of each row as bits: two are set where its two objects lie in different ones."""
    every = [unit for mine in units for unit in mine]
    fold = assign_folds(every, folds)
    found = np.zeros(len(units), dtype=np.int64)
    for row, mine in enumerate(units):
        for unit in mine:
            found[row] |= 1 << fold[unit]
    return found


def held_out_scores(signs: Signs, answers: Answers, folds: np.ndarray) -> Floats:
    """[rows, targets] what each row's signs speak for, learnt from rows that share no fold."""
    scores = np.zeros((len(answers), len(answers.targets)))
    for block in np.unique(folds):
        asked = folds == block
        scores[asked] = block_scores(signs, answers, (folds & block) == 0, asked)
    return scores


def block_scores(signs: Signs, answers: Answers, train: np.ndarray, asked: np.ndarray) -> Floats:
    """[asked rows, targets] the scores, learnt from the rows in `train`."""
    votes = answers.votes
    prior = _log(votes.sum(axis=0) / max(len(votes), 1))
    number = int(asked.sum())
    if not train.any():
        return np.tile(prior, (number, 1))

    weights = sign_weights(signs, votes, train)
    entries = asked[signs.rows]
    place = (np.cumsum(asked) - 1)[signs.rows[entries]]
    codes = signs.codes[entries]
    found = np.tile(prior, (number, 1))
    for target in range(votes.shape[1]):
        column = weights[:, target]
        found[:, target] += np.bincount(place, weights=column[codes], minlength=number)
    return found


def sign_weights(signs: Signs, votes: Floats, train: np.ndarray) -> Floats:
    """[signs, targets] how much more often each target comes with a sign than without regard."""
    entries = train[signs.rows]
    rows = signs.rows[entries]
    codes = signs.codes[entries]
    shares = votes[train].sum(axis=0) / train.sum()
    seen = np.bincount(codes, minlength=len(signs.names))
    found = np.zeros((len(signs.names), votes.shape[1]))
    for target, share in enumerate(shares):
        if share <= 0:
            continue
        with_target = np.bincount(codes, weights=votes[rows, target], minlength=len(signs.names))
        posterior = (with_target + PRIOR * share) / (seen + PRIOR)
        found[:, target] = _log(posterior) - _log(share)
    return found


def _log(value: Floats | float) -> Floats:
    return np.asarray(np.log(np.maximum(value, TINY)))


# What choices that differ from item to item give away by themselves: their words and lengths.


LONGEST_CHOICE = "length, the longest"
WRONG, RIGHT = "wrong", "right"


def _longest_choice(subject: Subject) -> Floats:
    answers = subject.answers
    lengths = np.full(answers.choices.shape, -np.inf)
    for row, question in enumerate(subject.answered):
        lengths[row, : len(question.choices)] = list(map(len, question.choices))
    return best_credit(lengths, answers.gold)


def _words_of_choices(subject: Subject) -> Floats:
    """Each choice is a text of its own that is right or wrong."""
    answers = subject.answers
    row, place = np.nonzero(answers.choices >= 0)
    texts = []
    for number, at in zip(row, place, strict=True):
        texts.append(subject.answered[number].choices[at])
    right = answers.gold[row, place]
    every = np.tile(np.array([0, 1]), (len(row), 1))
    alone = Answers(np.arange(len(row)), (WRONG, RIGHT), every, np.stack([~right, right], axis=1))

    way: Way = "by group" if subject.audited.has_groups else "at random"
    scores = held_out_scores(signs_of(texts, words_of), alone, _folds(subject, way)[row])
    found = np.full(answers.choices.shape, -np.inf)
    found[row, place] = scores[:, 1] - scores[:, 0]
    return best_credit(found, answers.gold)


# The parts of a question that a classifier may see alone.


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


CHECK = "partial_input"
LEAST_ITEMS = 40  # fewer teach a classifier nothing
Way = Literal["by split", "by group", "at random"]
HOW: dict[Way, str] = {
    "by split": "and learnt from the training part",
    "by group": "and never saw the item's group",
    "at random": "and saw other items of its group",
}


def partial_input(subject: Subject) -> Iterator[Finding]:
    """Each part of the question, asked in each way that the set allows."""
    answers = subject.answers
    if len(answers) < LEAST_ITEMS:
        yield Finding(
            check=CHECK, says=f"Fewer than {LEAST_ITEMS} items are too few to learn from."
        )
        return
    if not answers.has_labels:
        yield from _choices_alone(subject)
        return
    inputs = list(parts_of_questions(subject))
    ways = _ways(subject)
    for given in inputs:
        for way in ways:
            yield _finding(subject, given, way, len(inputs) * len(ways))


def _ways(subject: Subject) -> list[Way]:
    ways: list[Way] = []
    if subject.splits is not None:
        ways.append("by split")
    if subject.audited.has_groups:
        ways.append("by group")
    return [*ways, "at random"]


def _finding(subject: Subject, given: Input, way: Way, tests: int) -> Finding:
    answers = subject.answers
    asked, scores = _asked(subject, given.signs, way)
    credit = answers.credit(scores)[asked]
    chance = answers.chance[asked]
    reference = most_frequent_or_guess(chance, answers.constant[asked])
    # at random the question is about this very set, not about other groups
    units = alone(len(credit)) if way == "at random" else subject.units[asked]
    off = against(credit, reference, units, tests)

    below = off.below and float(credit.mean()) < float(chance.mean())
    above = off.above and (way == "by group" or not given.whole)
    alarm = above or (below and way == "by split")
    says = _sentence(subject, given, way, off)
    if below and way != "by split":
        says += " Below chance: labels are balanced over these words, so do not divide the set."
    finding = finding_of(off, CHECK, f"{given.name}, {way}", says, n=len(credit), alarm=alarm)
    if not alarm:
        return finding
    return subject.about_answers(finding, np.flatnonzero(asked)[credit == 1])


def _asked(subject: Subject, signs: Signs, way: Way) -> tuple[np.ndarray, Floats]:
    """Which answers are asked for, and the scores of all."""
    answers = subject.answers
    if way != "by split":
        everybody = np.ones(len(answers), dtype=bool)
        return everybody, held_out_scores(signs, answers, _folds(subject, way))

    splits = subject.splits
    assert splits is not None
    *_, train = splits.learnt.values()
    scores = np.zeros((len(answers), len(answers.targets)))
    scores[splits.test] = block_scores(signs, answers, train, splits.test)
    return splits.test, scores


def _folds(subject: Subject, way: Way) -> np.ndarray:
    if way == "at random":
        return folds_at_random(len(subject.answers))
    return folds_of_units([question.kin for question in subject.answered])


def _sentence(subject: Subject, given: Input, way: Way, off: OffChance) -> str:
    how = HOW[way]
    if not subject.audited.has_groups:
        how = how.removesuffix(" of its group")
    return (
        f"A classifier that sees {given.called} alone {how} is right on {percent(off.value)}; "
        f"without it one gets {percent(off.chance)}."
    )


def _choices_alone(subject: Subject) -> Iterator[Finding]:
    """Choices that differ from item to item: do their own words and lengths give one away?"""
    rules = {
        LONGEST_CHOICE: _longest_choice(subject),
        "words of the choices": _words_of_choices(subject),
    }
    for name, credit in rules.items():
        off = against(credit, subject.answers.chance, subject.units, len(rules))
        says = (
            f"Taking the choice by {name} alone, without the question, is right on "
            f"{percent(off.value)} of {len(credit):,} items; a guess gets {percent(off.chance)}."
        )
        alarm = off.above or (off.below and name == LONGEST_CHOICE)  # which learns nothing
        yield finding_of(off, CHECK, name, says, n=len(credit), alarm=alarm)
