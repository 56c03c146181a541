"""Answers without reading: constants, look-up in training, contexts that splits share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

import numpy as np

from gnomon.audit.finding import (
    SHOWN,
    Finding,
    OffChance,
    against,
    alone,
    fault,
    finding_of,
    luck,
    so_many,
)
from gnomon.audit.learning import FOLDS, LabelRates, tried
from gnomon.audit.partialinput import (
    Way,
    beyond_rates,
    folded,
    tried_against_rates,
    usual_way,
)
from gnomon.audit.sets import Splits
from gnomon.audit.subject import ALL_WORDS, Answers, Subject, answers_of
from gnomon.forms import ANSWER_FORMS, RIGHT, Asked
from gnomon.forms import credit as credit_of
from gnomon.grouped import grouped
from gnomon.measures.columns import CodeBook, Floats
from gnomon.records import WRITTEN, problem
from gnomon.reports.words import percent

# How far does one answer get that never looks at the question? One label, or one place.
#
# The question is about this very set, not about others like it, so each item counts for itself.


CONSTANTS = "constants"
LEAST_ITEMS = 30  # with the same choices, before a label among them can be called frequent
MOST_SETS = 6  # sets of choices that have a finding of their own


def constants(subject: Subject) -> Iterator[Finding]:
    """The most frequent label of each set of choices, and the most frequent place."""
    answers = answers_of(subject.audited, as_written=True)
    found = [*_labels(answers), *_places(answers), *_of_written(subject)]
    if found:
        yield from found
        return
    yield Finding(
        check=CONSTANTS, says="No set of choices recurs, so no constant answer was tried."
    )


def _of_written(subject: Subject) -> Iterator[Finding]:
    """Where answers are written, one that needs no question: the middle, all, as listed."""
    written = [question.item for question in subject.questions if question.item.form in WRITTEN]
    judged = [item for item in written if item.gold and not problem(item)]
    for name, items in grouped(judged, lambda item: item.form).items():
        form = ANSWER_FORMS[name]
        asked = [Asked(item.choices, item.gold) for item in items]
        words, said = form.shortcut(asked)
        credit = np.array([credit_of(*pair) for pair in zip(items, said, strict=True)])
        chance = np.array([guess[RIGHT] for guess in form.guesses(asked)])
        everybody = np.ones(len(items), dtype=bool)
        off = _best_of(1, credit, chance)
        yield _constant_finding(f"{name}s", off, everybody, f"Answering {words}")


def _labels(answers: Answers) -> Iterator[Finding]:
    if not answers.has_labels:
        return
    sizes = np.bincount(answers.offers)
    offers = [int(offer) for offer in np.argsort(-sizes) if sizes[offer] >= LEAST_ITEMS]
    tests = 0
    for offer in offers:
        tests += len(set(answers.choices[answers.offers == offer][0]) - {-1})
    for offer in offers[:MOST_SETS]:
        mine = answers.offers == offer
        best = int(answers.votes[mine].sum(axis=0).argmax())
        credit = answers.credit_of(best)[mine]
        off = _best_of(tests, credit, answers.chance[mine])
        label = answers.targets[best]
        part = f"'{label}'"
        if len(offers) > 1:
            names = sorted(answers.targets[code] for code in answers.choices[mine][0] if code >= 0)
            part = f"{part} among {', '.join(names)}"
        yield _constant_finding(part, off, mine, f"Always answering '{label}'")


def _places(answers: Answers) -> Iterator[Finding]:
    """The place of the right answer, where choices do not always stand in the same order."""
    if not len(answers) or not _orders_vary(answers.choices):
        return
    width = answers.choices.shape[1]
    credits = []
    for place in range(width):
        there = answers.choices[:, place] >= 0
        credits.append(np.where(there, answers.gold[:, place], answers.chance))
    means = [credit.mean() for credit in credits]
    best = int(np.argmax(means))
    everybody = np.ones(len(answers), dtype=bool)
    off = _best_of(width, credits[best], answers.chance)
    part = f"choice {best + 1}"
    yield _constant_finding(part, off, everybody, f"Always taking choice {best + 1}")


def _best_of(tests: int, credit: Floats, chance: Floats) -> OffChance:
    """The best of so many rules: one of them is lucky so many times as often."""
    units = alone(len(credit))
    return against(credit, chance, units, min(1.0, tests * luck(credit - chance, units)))


def _orders_vary(choices: np.ndarray) -> bool:
    """Whether the same choices stand in several orders, or differ from item to item."""
    orders = len(np.unique(choices, axis=0))
    sets = len(np.unique(np.sort(choices, axis=1), axis=0))
    return orders > sets or sets > MOST_SETS


def _constant_finding(part: str, off: OffChance, mine: np.ndarray, what: str) -> Finding:
    says = (
        f"{what} is right on {percent(off.value)} of {int(mine.sum()):,} items; "
        f"a guess gets {percent(off.chance)}."
    )
    return finding_of(off, CONSTANTS, part, says, n=int(mine.sum()), alarm=off.above)


# Which label is right when it is offered? Counted over all other items, or over those with the same
# value of a tag: a template, an author, a kind of question.


PRIORS = "priors"
LEAST_WITH = 10  # items with a value of a tag, before a sentence names it


def priors(subject: Subject) -> Iterator[Finding]:
    """The rates of labels where offers differ, and within each tag."""
    if not subject.answers.same_offer:
        yield _rates_finding(subject)
    for name, codes in subject.tags.items():
        yield _tag_finding(subject, name, codes)
    if subject.answers.same_offer and not subject.tags:
        says = "All items offer the same labels, and no column has few values that recur."
        yield Finding(check=PRIORS, says=says)


def _rates_finding(subject: Subject) -> Finding:
    answers = subject.answers
    rates = folded(subject, usual_way(subject)).rates
    p = luck(rates.tested - answers.chance, subject.independent)
    off = against(rates.shown, answers.chance, subject.units, p)
    says = (
        f"Of the labels that are offered, the one that is right most often elsewhere is right on "
        f"{percent(off.value)} of {len(answers):,} items; a guess gets {percent(off.chance)}."
    )
    finding = finding_of(off, PRIORS, "labels", says, n=len(answers), alarm=off.above)
    return subject.about_answers(finding, np.flatnonzero(rates.shown == 1))


def _tag_finding(subject: Subject, name: str, codes: np.ndarray) -> Finding:
    answers = subject.answers
    way = _way_of_tag(subject, codes)
    off, credit = tried_against_rates(subject, LabelRates(answers, codes), way)
    says = (
        f"Whoever knows the {name} alone, and which label it goes with elsewhere, is right on "
        f"{percent(off.value)} of {len(answers):,} items; guessing by the labels alone gets "
        f"{percent(off.chance)}"
    )
    told = _labels_by_value(subject, name, codes)
    if off.above and told:
        says += f": {', '.join(told)}"
    finding = finding_of(off, PRIORS, name, f"{says}.", n=len(answers), alarm=off.above)
    if not off.above:
        return finding
    return subject.about_answers(finding, np.flatnonzero(credit == 1))


def _way_of_tag(subject: Subject, codes: np.ndarray) -> Way:
    """By group, unless each value of the tag is found in one group only."""
    words = CodeBook()
    kin = [words[subject.audited.kin[row][0]] for row in subject.answers.rows]
    pairs = np.unique(np.stack([codes, np.array(kin)], axis=1), axis=0)
    if len(pairs) == len(np.unique(codes)):
        return "at random"
    return usual_way(subject)


def _labels_by_value(subject: Subject, name: str, codes: np.ndarray) -> list[str]:
    """The most frequent label of some values of a tag, those with most items of it first."""
    labels = [" or ".join(one.gold) for one in subject.answered]
    by_value: dict[str, Counter[str]] = {}
    for one, label in zip(subject.answered, labels, strict=True):
        by_value.setdefault(one.unit(name), Counter())[label] += 1
    told = []
    for value, counts in by_value.items():
        label, times = counts.most_common(1)[0]
        if counts.total() >= LEAST_WITH:
            told.append((-times, f"'{value}' is '{label}' in {percent(times / counts.total())}"))
    return [sentence for _, sentence in sorted(told)[:SHOWN]]


# Does the order of the rows say which label is right? Sorted labels, runs, labels that alternate.


ROWS = "rows"
BLOCK = 25  # rows, at least, that are taken together
MOST_BLOCKS = 200
MOST_ROUNDS = 0.9  # share of the rounds with every label once, from which it is no accident
FAR_BACK = 100  # rows before an item among which one of another group is looked for


def rows(subject: Subject) -> Iterator[Finding]:
    """Where in the file an item stands, and the right answer of the item before it."""
    answers = subject.answers
    if len(answers) < 2 * BLOCK:
        yield Finding(check=ROWS, says=f"Fewer than {2 * BLOCK} items have hardly an order.")
        return
    if not answers.has_labels:  # then the place of the right answer may go with the row
        places = np.where(answers.choices >= 0, np.arange(answers.choices.shape[1]), -1)
        names = tuple(f"choice {place + 1}" for place in range(places.shape[1]))
        answers = replace(answers, choices=places, targets=names)
    size = max(BLOCK, len(answers) // MOST_BLOCKS)
    in_blocks = np.arange(len(answers)) // size
    usual = folded(subject, usual_way(subject)).folds
    yield _rows_finding(subject, answers, "place in the file", in_blocks, usual)
    in_order = 1 << (np.arange(len(answers)) * FOLDS // len(answers))
    before = _answers_before(subject, answers)
    yield _rows_finding(subject, answers, "answer before it", before, in_order)


def in_rounds(answers: Answers) -> bool:
    """Whether the labels come in rounds: in nearly each run of rows every label once."""
    size = len(answers.targets)
    rounds = len(answers) // size if answers.has_labels else 0
    if not rounds:
        return False
    first = answers.gold.argmax(axis=1)
    right = answers.choices[np.arange(len(answers)), first][: rounds * size]
    ordered = np.sort(right.reshape(rounds, size), axis=1)
    return float((ordered == np.arange(size)).all(axis=1).mean()) > MOST_ROUNDS


def _rows_finding(
    subject: Subject, answers: Answers, part: str, codes: np.ndarray, folds: np.ndarray
) -> Finding:
    mine = tried(LabelRates(answers, codes), answers, folds)
    rates = tried(LabelRates(answers), answers, folds)
    off = beyond_rates(mine, rates, answers.chance, subject.units, subject.independent)
    says = (
        f"Who knows of an item only the {part} is right on {percent(off.value)} of "
        f"{len(answers):,}; guessing by the labels alone gets {percent(off.chance)}."
    )
    return finding_of(off, ROWS, part, says, n=len(answers), alarm=off.above)


def _answers_before(subject: Subject, answers: Answers) -> np.ndarray:
    """The answer of the nearest item before that shares nothing with this one; 0 for none."""
    first = answers.gold.argmax(axis=1)
    right = answers.choices[np.arange(len(answers)), first] + 1
    kin = [subject.audited.kin[row] for row in answers.rows]
    found = np.zeros(len(answers), dtype=np.int64)
    for row in range(1, len(answers)):
        back = row - 1
        while back >= 0 and not set(kin[back]).isdisjoint(kin[row]):
            back -= 1
            if row - back > FAR_BACK:
                back = -1
        found[row] = right[back] if back >= 0 else 0
    return found


# Does the training part tell the answers of the test part? Look a text up, take or flip its
# label.
#
# Flipping matters: where each text is asked once true and once false, and a split tears the two
# apart, the label that was seen is reliably the wrong one. A text that training lacks gets a
# guess.


PICTURE = "picture"


class Rule(NamedTuple):
    """Which answer is given."""

    check: str
    flipped: bool


class Looked(NamedTuple):
    """What is looked up, in which part of the set."""

    field: str
    keys: list[str]  # for each answer
    learnt: str


def lookup(subject: Subject) -> Iterator[Finding]:
    """The label that the same text has in training."""
    yield from _findings(subject, "lookup", flipped=False)


def flipped_lookup(subject: Subject) -> Iterator[Finding]:
    """Any other label than the same text has in training."""
    yield from _findings(subject, "flipped_lookup", flipped=True)


def _findings(subject: Subject, check: str, *, flipped: bool) -> Iterator[Finding]:
    splits = subject.splits
    if splits is None:
        says = "Only one part was read, so nothing was looked up in a training part."
        yield Finding(check=check, says=says)
        return
    if not subject.answers.has_labels:
        says = "No label recurs, so none can be looked up."
        yield Finding(check=check, says=says)
        return
    parts = parts_to_look_up(subject)
    rule = Rule(check, flipped)
    for field, keys in parts.items():
        for learnt in splits.learnt:
            yield _look_up_finding(subject, splits, rule, Looked(field, keys, learnt))


def parts_to_look_up(subject: Subject) -> dict[str, list[str]]:
    """What can be looked up: each field, all words where there are several, the picture."""
    parts = {field: subject.texts(field) for field in subject.fields_and_all}
    pictures = [question.picture for question in subject.answered]
    if any(pictures):
        parts[PICTURE] = pictures
    return parts


def _look_up_finding(subject: Subject, splits: Splits, rule: Rule, looked: Looked) -> Finding:
    answers = subject.answers
    test = np.flatnonzero(splits.test)
    known, scores = _looked_up(looked.keys, answers.votes, splits.learnt[looked.learnt])
    credit = answers.credit(-scores if rule.flipped else scores)[test]
    chance = answers.chance[test]
    p = luck(credit - chance, subject.independent[test])
    off = against(credit, chance, subject.units[test], p)

    seen = test[known[test]]
    what = looked.field if looked.field == ALL_WORDS else f"the {looked.field}"
    answer = "another answer than" if rule.flipped else "the answer that"
    says = (
        f"Looking {what} up in {looked.learnt} and giving {answer} it has there is right on "
        f"{percent(off.value)} of {len(test):,} items of {splits.test_name}, where chance is "
        f"{percent(off.chance)}; {len(seen):,} of them can be looked up."
    )
    part = f"{looked.field} in {looked.learnt}"
    alarm = off.above and len(seen) > 0  # below chance the other of the two rules is above
    finding = finding_of(off, rule.check, part, says, n=len(test), alarm=alarm)
    return subject.about_answers(finding, seen)


def _looked_up(keys: list[str], votes: Floats, train: np.ndarray) -> tuple[np.ndarray, Floats]:
    """Whether each key occurs in training, and the votes that it has there."""
    words = CodeBook()
    codes = np.array([words[key] for key in keys], dtype=np.int64)
    sums = np.zeros((len(words), votes.shape[1]))
    np.add.at(sums, codes[train], votes[train])
    scores = sums[codes]
    return scores.sum(axis=1) > 0, scores


# Are the contexts of the test part known from training? Pictures, stories, templates.


SHARED_CONTEXT = "shared_context"


def shared_context(subject: Subject) -> Iterator[Finding]:
    """One finding for each kind of context that questions have."""
    splits = subject.audited.splits
    if splits is None:
        says = "Only one part was read, so nothing is known of what parts share."
        yield Finding(check=SHARED_CONTEXT, says=says)
        return
    for kind, contexts in _contexts(subject).items():
        for learnt in splits.learnt:
            yield _shared_finding(subject, splits, kind, contexts, learnt)


def _contexts(subject: Subject) -> dict[str, list[str]]:
    """For each kind of context that there is, the context of each question."""
    found = {
        "picture": [question.picture for question in subject.questions],
        "group": [question.group for question in subject.questions],
    }
    for field in subject.fields:
        if field in subject.audited.contexts:
            found[field] = subject.audited.column(field)
    found["reversed pair"] = _reversed_pairs(subject)
    return {kind: contexts for kind, contexts in found.items() if any(contexts)}


def _reversed_pairs(subject: Subject) -> list[str]:
    """Two things that are compared in their order; in the test part the other way round."""
    splits = subject.audited.splits
    assert splits is not None
    found = []
    for question, asked in zip(subject.questions, splits.test, strict=True):
        things = question.things[::-1] if asked else question.things
        found.append(" > ".join(things))
    return found


def _shared_finding(
    subject: Subject, splits: Splits, kind: str, contexts: list[str], learnt: str
) -> Finding:
    known: set[str] = set()
    asked: dict[str, list[int]] = {}
    for number, context in enumerate(contexts):
        if splits.learnt[learnt][number]:
            known.add(context)
        elif splits.test[number]:
            asked.setdefault(context, []).append(number)
    known.discard("")
    asked.pop("", None)

    shared = [context for context in asked if context in known]
    behind = list(chain.from_iterable(asked[context] for context in shared))
    says = (
        f"{so_many(len(shared), len(asked), f'different {kind}s')} of {splits.test_name} are also "
        f"in {learnt}; {len(behind):,} items have one of them."
    )
    finding = fault(SHARED_CONTEXT, f"{kind} in {learnt}", len(shared), len(asked), says)
    return subject.about(finding, behind)
