"""How good a painter is, given how good its judge is: a score corrected for the judge's mistakes.

A judge is tried on pictures of which one knows whether they show what was asked. How often it says
so where they do, and where they do not, tells what share of the painter's pictures would have to be
right for it to say so as often as it does (Rogan and Gladen 1978). The interval allows for the
trial of the judge being small, too: it is Fieller's, the shares that a test would not reject.

An abstention is not saying so. The trial must be like the pictures that are judged: of the same
things and relations, as easy to recognise.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan, nan, sqrt
from statistics import NormalDist
from typing import Any, NamedTuple

import msgspec
import numpy as np

from gnomon.measures.accuracy import accuracy
from gnomon.measures.intervals import interval
from gnomon.measures.table import Table

STEPS = 1001  # shares that are tried for the interval
UNLIKE = 2.6  # standard errors beyond which pictures are not as easy to recognise as the trial's


class Trial(NamedTuple):
    """How a judge fared on pictures of which one knows what they show."""

    shown: int  # pictures that show what was asked
    said_shown: int  # of which the judge said so
    other: int  # pictures that show something else
    said_other: int  # of which it said all the same that they show what was asked
    recognised: int  # of all of them, those on which it did not abstain
    recognised_shown: int | None = None  # of these, those that show what was asked; if counted

    @property
    def sensitivity(self) -> float:
        """How often it says so where it is so."""
        return _share(self.said_shown, self.shown)

    @property
    def specificity(self) -> float:
        """How often it does not say so where it is not so."""
        return 1 - _share(self.said_other, self.other)

    @property
    def coverage(self) -> float:
        """On how many it did not abstain."""
        return _share(self.recognised, self.shown + self.other)


def trial_in(description: Mapping[str, Any]) -> Trial | None:
    """The trial that the description of a model in a manifest tells of; none if there is none."""
    counts = description.get("trial")
    if not isinstance(counts, Mapping):
        return None
    try:
        return msgspec.convert([counts.get(field) for field in Trial._fields], Trial)
    except msgspec.ValidationError:
        return None


class Corrected(NamedTuple):
    """The share of pictures that show what was asked; NaN where the judge tells nothing.

    Where its trial does not fit the pictures, no share would have it say so as often as it does.
    """

    value: float
    low: float = nan
    high: float = nan
    fits: bool = True


def corrected_accuracy(table: Table, trial: Trial, level: float = 0.95) -> Corrected:
    """The accuracy of a model that paints without the mistakes of its judge."""
    said = interval(accuracy(table))
    looked_at = int((~table.failed).sum())
    decided = _share(int(table.answered.sum()), looked_at)
    if not recognised_alike(decided, looked_at, trial):
        return Corrected(nan, fits=False)
    return corrected(said.value, len(table), trial, error=said.error, level=level)


def recognised_alike(decided: float, pictures: int, trial: Trial) -> bool:
    """Whether the judge decides as often on the pictures as its trial lets expect.

    Whatever share of them is right, that lies between what it decides of those that show what was
    asked and of the others; far from both, the pictures are easier or harder than the trial's.
    """
    if trial.recognised_shown is None or isnan(decided):
        return True
    of_other = trial.recognised - trial.recognised_shown
    shares = []
    for count, tried in ((trial.recognised_shown, trial.shown), (of_other, trial.other)):
        shares.append(_drawn_in(count, tried))
    nearest, of = min(shares, key=lambda share: abs(decided - share[0]))
    if min(shares)[0] <= decided <= max(shares)[0]:
        return True
    error = sqrt(nearest * (1 - nearest) * (1 / of + 1 / pictures))
    return abs(decided - nearest) <= UNLIKE * error


def corrected(
    said: float, pictures: float, trial: Trial, *, error: float = nan, level: float = 0.95
) -> Corrected:
    """The share that is right, from the share of which the judge said so and its trial.

    `error` is the standard error of `said`, if the pictures share objects and so tell less than as
    many unrelated ones; otherwise it is that of independent pictures. The interval holds each share
    that what was said does not speak against: of a judge that tells nothing, all of them.

    >>> corrected(0.5, 1000, Trial(1000, 750, 1000, 0, 1500)).value
    0.6666666666666666
    """
    apart = trial.sensitivity + trial.specificity - 1
    if isnan(apart) or not pictures > 0:
        return Corrected(nan)
    low, high = _interval(said, _independent(said, pictures, error), trial, level)
    if isnan(low):
        return Corrected(nan, fits=False)
    if apart <= 0:
        return Corrected(nan, low, high)
    value = min(1.0, max(0.0, (said + trial.specificity - 1) / apart))
    return Corrected(value, min(low, value), max(high, value))


def _interval(said: float, pictures: float, trial: Trial, level: float) -> tuple[float, float]:
    """The shares from the least to the greatest that a score test would not reject; NaN if none."""
    z = NormalDist().inv_cdf((1 + level) / 2)
    sensitivity, of_shown = _drawn_in(trial.said_shown, trial.shown)
    mistaken, of_other = _drawn_in(trial.said_other, trial.other)

    right = np.linspace(0, 1, STEPS)
    expected = right * sensitivity + (1 - right) * mistaken
    of_said = expected * (1 - expected) / pictures
    of_trial = right**2 * sensitivity * (1 - sensitivity) / of_shown
    of_trial += (1 - right) ** 2 * mistaken * (1 - mistaken) / of_other
    possible = right[np.abs(said - expected) <= z * np.sqrt(of_said + of_trial)]
    if not len(possible):  # less than any share would give, or more
        return nan, nan
    return float(possible[0]), float(possible[-1])


def _drawn_in(count: int, of: int) -> tuple[float, float]:
    """A share drawn a little towards one half, as few pictures are often all alike; and of what."""
    return (count + 0.5) / (of + 1), of + 1.0


def _independent(said: float, pictures: float, error: float) -> float:
    """How many unrelated pictures would give the same error."""
    if isnan(error) or not error > 0:
        return pictures
    inner = (said * pictures + 1) / (pictures + 2)  # the error near 0 and 1 is not that of a share
    return min(pictures, max(2.0, inner * (1 - inner) / error**2))


def _share(part: float, whole: float) -> float:
    return part / whole if whole else nan
