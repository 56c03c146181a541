"""How far does one answer get that never looks at the question? One label, or one place.

The question is about this very set, not about others like it, so each item counts for itself.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gnomon.audit.finding import Finding, OffChance, against, alone, finding_of, percent
from gnomon.audit.subject import Answers, Subject, answers_of

CONSTANTS = "constants"
LEAST_ITEMS = 30  # with the same choices, before a label among them can be called frequent
MOST_SETS = 6  # sets of choices that have a finding of their own


def constants(subject: Subject) -> Iterator[Finding]:
    """The most frequent label of each set of choices, and the most frequent place."""
    answers = answers_of(subject.audited, as_written=True)
    found = [*_labels(answers), *_places(answers)]
    if found:
        yield from found
        return
    yield Finding(
        check=CONSTANTS, says="No set of choices recurs, so no constant answer was tried."
    )


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
        off = against(credit, answers.chance[mine], alone(int(mine.sum())), tests)
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
    off = against(credits[best], answers.chance, alone(len(answers)), width)
    part = f"choice {best + 1}"
    yield _constant_finding(part, off, everybody, f"Always taking choice {best + 1}")


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
