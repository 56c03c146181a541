"""A part of a set in which blind rules know nothing: what gives itself away is left out.

Held-out blind rules say how likely each answer is. An item stays with the probability of its least
likely answer over that of its right one: then, of items that look alike to the rules, each answer
is right equally often, and nothing is left to learn. That is repeated with rules that are learnt
anew until they, and a classifier of another kind over characters, gain nothing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np

from gnomon.audit import learning
from gnomon.audit.auditing import AuditReport
from gnomon.audit.integrity import same_questions
from gnomon.audit.partialinput import (
    folded,
    parts_of_questions,
    signs_of_choices,
    usual_way,
)
from gnomon.audit.sets import AuditItem, AuditSet, Splits
from gnomon.audit.shortcuts import parts_to_look_up
from gnomon.audit.subject import ALL_WORDS, Subject, signs_of
from gnomon.items.writing import write_items, write_records
from gnomon.measures.columns import Floats
from gnomon.reports.shell import make_folder
from gnomon.reports.words import counted
from gnomon.trust import check_begins

ROUNDS = 12
LEAST_ITEMS = 40  # fewer teach a rule nothing
GAIN = 2.0  # natural units of information in all, below which a rule has learnt nothing
STRENGTHS = (0.03, 0.06, 0.12, 0.25, 0.5, 1.0, 2.0, 4.0)  # spreads of a rule's scores that count
LONGEST_PART = 4  # characters
CAUTION = 0.9  # of what is known: what a round leaves the next one sees, what it overdoes none does
SEED = 0
TINY = 1e-12


class PrunedItem(NamedTuple):
    """An item that is not in the part, and why."""

    id: str
    reason: str
    likely: float | None  # the probability that blind rules gave its right answer


class Pruned(NamedTuple):
    """The items that stay, and those that do not."""

    kept: list[AuditItem]
    left_out: list[PrunedItem]
    rounds: int


class Blind(NamedTuple):
    """What blind rules say together of each choice, and which says most of the right one."""

    likely: Floats  # [rows, width]
    part: list[str]
    gain: float


def prune(audited: AuditSet) -> Pruned:
    """The part of a set that blind rules cannot answer, in the order of the set."""
    draw = Random(SEED)
    left_out: dict[int, PrunedItem] = dict(_unfit(audited))
    rounds = 0
    while rounds < ROUNDS:
        kept = [number for number in range(len(audited)) if number not in left_out]
        subject = Subject(replace(audited, questions=[audited.questions[one] for one in kept]))
        if len(subject.answers) < LEAST_ITEMS:
            break
        blind = _blind(subject)
        if blind.gain < GAIN:
            break
        rounds += 1
        for row, reason in _given_away(subject, blind, draw):
            left_out[kept[int(subject.answers.rows[row])]] = reason
    stays = [audited.questions[one] for one in range(len(audited)) if one not in left_out]
    return Pruned(stays, [left_out[number] for number in sorted(left_out)], rounds)


def write_pruned(report: AuditReport, file: Path) -> str:
    """Write the part, and beside it why each other item was left out; what was done, in words.

    Where the order of the rows is an alarm, the items are shuffled.
    """
    found = prune(report.audited)
    items = [one.item for one in found.kept]
    if any(finding.check == "rows" for finding in report.alarms):
        Random(SEED).shuffle(items)
    beside = file.with_name(f"{file.stem}.left-out.jsonl")
    make_folder(file.parent)
    check_begins(beside, rb'^\{"id":[^\n]*"reason":[^\n]*"likely":')
    write_items(file, items)
    write_records(beside, (left_out._asdict() for left_out in found.left_out))
    total = len(report.audited)
    return (
        f"{file}: {len(items):,} of {total:,} items, which blind rules cannot answer after "
        f"{counted(found.rounds, 'rounds')}; {beside} says why the others were left out."
    )


def _unfit(audited: AuditSet) -> Iterator[tuple[int, PrunedItem]]:
    """Items that cannot be answered, and those that are there twice."""
    subject = Subject(audited)
    can_be_asked = set(subject.answers.rows.tolist())
    for number, question in enumerate(audited.questions):
        if number not in can_be_asked:
            yield number, PrunedItem(question.id, "has no right answer among its choices", None)
    for numbers in same_questions(subject):
        golds = {frozenset(audited.questions[number].gold) for number in numbers}
        if len(golds) > 1:
            repeated, reason = numbers, "is asked twice with different right answers"
        else:
            first = audited.questions[numbers[0]].id
            repeated, reason = numbers[1:], f"repeats {first} word for word"
        for number in repeated:
            yield number, PrunedItem(audited.questions[number].id, reason, None)


def _given_away(subject: Subject, blind: Blind, draw: Random) -> Iterator[tuple[int, PrunedItem]]:
    """The rows that do not stay, by a draw: the more likely the right answer, the more rarely."""
    answers = subject.answers
    offered = answers.choices >= 0
    least = np.where(offered, blind.likely, np.inf).min(axis=1)
    right = (blind.likely * answers.gold).sum(axis=1) / answers.gold.sum(axis=1)
    for row, question in enumerate(subject.answered):
        if draw.random() * right[row] > least[row]:
            reason = f"{blind.part[row]} give its answer away"
            yield row, PrunedItem(question.id, reason, round(float(right[row]), 3))


def _blind(subject: Subject) -> Blind:
    """All rules together: one after the other, the best first, each by what it adds."""
    answers = subject.answers
    scores = dict(_scores(subject))
    total = np.where(answers.choices >= 0, 0.0, -np.inf)
    nothing = known = _information(total, answers.gold)
    best = np.full(len(answers), -np.inf)
    part = ["label rates"] * len(answers)
    alone = {name: _best_strength(total, mine, answers.gold) for name, mine in scores.items()}
    for name in sorted(scores, key=lambda name: -alone[name][1]):
        strength, information = _best_strength(total, scores[name], answers.gold)
        if information < known + GAIN / 2:
            continue
        known = information
        total = total + strength * scores[name]
        mine = np.log(_likely(strength * scores[name]))
        said = np.where(answers.gold, mine, -np.inf).max(axis=1)
        for row in np.flatnonzero(said > best):
            part[row] = name
        best = np.maximum(best, said)
    return Blind(_likely(CAUTION * total), part, known - nothing)


def _scores(subject: Subject) -> Iterator[tuple[str, Floats]]:
    """What each rule says of each choice: learnt from other groups, and from all other items."""
    answers = subject.answers
    usual = folded(subject, usual_way(subject))
    for name, learner in _rules(subject).items():
        held_out = learning.held_out_scores(learner, answers, usual.folds)
        rates = isinstance(learner, learning.LabelRates)
        yield name, _logarithms(held_out) if rates else held_out
    if not answers.has_labels:
        return
    anyhow = folded(subject, "at random").folds
    for given in parts_of_questions(subject) if usual.way != "at random" else ():
        if not given.form and not given.whole:
            words = learning.NaiveBayes(given.signs, answers)
            held_out = learning.held_out_scores(words, answers, anyhow)
            yield f"words of the {given.name} in other items of the group", held_out
    if subject.splits is not None:
        yield from _looked_up(subject, subject.splits)


def _looked_up(subject: Subject, splits: Splits) -> Iterator[tuple[str, Floats]]:
    """Of test items, the label that a text or picture has in other parts, and any other label."""
    answers = subject.answers
    offered = answers.choices >= 0
    before = np.flatnonzero(next(iter(splits.learnt.values())))
    asked = np.flatnonzero(splits.test)
    for name, keys in parts_to_look_up(subject).items():
        codes = np.unique(keys, return_inverse=True)[1]
        learner = learning.LabelRates(answers, codes)
        same = np.where(offered, 0.0, -np.inf)
        same[asked] = _logarithms(learner.scores(learner.counts(before), asked))
        yield f"the label of the same {name} in other parts", same
        yield f"another label of the same {name} in other parts", np.where(offered, -same, -np.inf)


def _logarithms(rates: Floats) -> Floats:
    """Of rates of labels; those that are not offered stay impossible."""
    return np.where(rates >= 0, np.log(np.maximum(rates, TINY)), -np.inf)


def _rules(subject: Subject) -> Mapping[str, learning.SumRule]:
    """Every rule that the checks know, and the second classifier over characters."""
    answers = subject.answers
    rules: dict[str, learning.SumRule] = {"label rates": learning.LabelRates(answers)}
    for tag, codes in subject.tags.items():
        rules[f"label rates of the {tag}"] = learning.LabelRates(answers, codes)
    if not answers.same_offer:
        for name, signs in signs_of_choices(subject).items():
            rules[f"{name} of the choices"] = learning.ChoiceBayes(signs, answers)
    if not answers.has_labels:
        return rules
    for given in parts_of_questions(subject):
        words = "" if given.form or given.name == ALL_WORDS else "words of the "
        rules[f"{words}{given.name}"] = learning.NaiveBayes(given.signs, answers)
    for field in subject.fields:
        characters = signs_of(subject.texts(field), parts_of_words)
        rules[f"characters of the {field}"] = learning.Ridge(characters, answers)
    return rules


def parts_of_words(text: str) -> list[str]:
    """All runs of characters up to a length.

    >>> len(parts_of_words("a cat"))
    14
    """
    found = []
    for length in range(1, LONGEST_PART + 1):
        for begin in range(len(text) - length + 1):
            found.append(text[begin : begin + length])
    return found


def _best_strength(total: Floats, mine: Floats, gold: np.ndarray) -> tuple[float, float]:
    """By how much a rule's scores should count beside the others, and what is known then."""
    best = (0.0, _information(total, gold))
    spread = float(np.std(mine[np.isfinite(mine)]))
    if spread <= 0:
        return best
    for strength in STRENGTHS:
        by = strength / max(spread, 1e-9)
        information = _information(total + by * mine, gold)
        if information > best[1]:
            best = (by, information)
    return best


def _likely(scores: Floats) -> Floats:
    """Scores as probabilities of the choices."""
    highest = scores.max(axis=1, keepdims=True)
    weights = np.exp(scores - highest)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _information(scores: Floats, gold: np.ndarray) -> float:
    """The logarithm of the probability of all right answers."""
    right = (_likely(scores) * gold).sum(axis=1)
    return float(np.log(np.maximum(right, TINY)).sum())
