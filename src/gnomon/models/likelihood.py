"""Log-probabilities put together: words that mean the same, and choices of different length."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from gnomon.errors import UsageError

NORMALISATIONS = ("sum", "mean", "byte", "pmi")


def log_sum(values: Iterable[float]) -> float:
    """The logarithm of a sum of probabilities: a choice is as likely as all its words together.

    >>> round(log_sum([math.log(0.25), math.log(0.5)]), 6) == round(math.log(0.75), 6)
    True
    """
    found = list(values)
    top = max(found)
    if len(found) == 1 or top == -math.inf:
        return top
    return top + math.log(sum(math.exp(value - top) for value in found))


def gather(scores: Sequence[float], words: Sequence[Sequence[str]]) -> tuple[float, ...]:
    """One score for each choice out of one for each word: words of the same choice add up.

    >>> gather([-1.0, -2.0], [["no"], ["yes"]])
    (-1.0, -2.0)
    """
    found = []
    start = 0
    for alternatives in words:
        end = start + len(alternatives)
        found.append(log_sum(scores[start:end]))
        start = end
    return tuple(found)


def comparable(score: float, normalise: str, word: str, tokens: int, alone: float = 0.0) -> float:
    """A word's log-probability, made comparable with that of a longer or more common word.

    `tokens` is how many tokens the word has, `alone` its log-probability after nothing.

    >>> comparable(-6.0, "mean", "larger", tokens=2)
    -3.0
    """
    if normalise == "mean":
        return score / max(1, tokens)
    if normalise == "byte":
        return score / max(1, len(word.encode()))
    if normalise == "pmi":
        return score - alone
    return score


def check_normalisation(normalise: str, known: Sequence[str] = NORMALISATIONS) -> None:
    """Refuse a normalisation that the model does not have."""
    if normalise not in known:
        raise UsageError(
            f"There is no normalisation '{normalise}' for this kind of model.",
            f"Known: {', '.join(known)}.",
        )
