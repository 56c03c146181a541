"""Numbers: a gold such as "1.2 m", "190 to 220 cm" or "3", and how near an answer comes to it."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import inf, isclose, log10, nan
from statistics import median
from typing import NamedTuple

from gnomon.lexicon.quantities import Quantity, converted, quantities

THRESHOLDS = tuple(round(0.5 + 0.05 * step, 2) for step in range(10))  # .5, .55 ... .95
TOLERANCE = 0.1  # relative error up to which a single measured number counts as right
WRONG = {"right": 0.0, "relative_accuracy": 0.0, "error": inf}
UNKNOWN = {"absolute_error": nan, "log_error": nan}


class Asked(NamedTuple):
    """What an answer is judged by."""

    choices: tuple[str, ...]
    gold: tuple[str, ...]


@lru_cache(maxsize=65536)
def quantity_of(text: str) -> Quantity | None:
    """The amount that a text is, if it is one."""
    found = quantities(text)
    return found[0] if len(found) == 1 else None


def unit_of(gold: Sequence[str]) -> str:
    """The unit in which right answers are given; empty for a bare number."""
    found = quantity_of(gold[0]) if gold else None
    return found.unit if found else ""


def written(value: float, unit: str) -> str:
    """A number as an answer has it.

    >>> written(2.50, "m"), written(3, "")
    ('2.5 m', '3')
    """
    return f"{value:.10g} {unit}".strip()


def problem(choices: tuple[str, ...], gold: tuple[str, ...]) -> str:
    """What is wrong with a number's item; empty if nothing is."""
    for text in (*gold, *choices):
        if quantity_of(text) is None:
            return f"'{text[:40]}' is not a number"
    units = {unit_of((text,)) for text in gold}
    if any(converted(1.0, unit, unit_of(gold)) is None for unit in units):
        return "the right numbers have units of several kinds"
    return "" if len(set(choices)) != 1 else "choices must be two or more"


def relative_error(value: float, gold: Quantity) -> float:
    """How far a value is from the gold, as a share of it; 0 within a range."""
    if gold.low <= value <= gold.high:
        return 0.0
    nearest = gold.low if value < gold.low else gold.high
    return abs(value - nearest) / abs(nearest) if nearest else inf


def mean_relative_accuracy(error: float) -> float:
    """VSI-Bench's score of one answer: the share of thresholds t with a relative error < 1 - t.

    Yang et al. 2025, "Thinking in Space", section 3.

    >>> mean_relative_accuracy(0.0), mean_relative_accuracy(0.2)
    (1.0, 0.6)
    """
    met = [threshold for threshold in THRESHOLDS if error < 1 - threshold]
    return len(met) / len(THRESHOLDS)


def marks(choices: tuple[str, ...], gold: tuple[str, ...], said: str | None) -> Mapping[str, float]:
    """Right or not, mean relative accuracy, relative, absolute and logarithmic error.

    Of several right numbers the nearest counts. Errors of an answer that is none are not known.
    """
    answer = quantity_of(said) if said is not None else None
    if answer is None:
        return WRONG | UNKNOWN
    best: Mapping[str, float] = WRONG | UNKNOWN
    for text in gold:
        right = quantity_of(text)
        value = converted(answer.middle, answer.unit, right.unit) if right else None
        if right is None or value is None:
            continue
        found = _marks(value, right)
        if found["error"] <= best["error"]:
            best = found
    return best


def _marks(value: float, gold: Quantity) -> dict[str, float]:
    error = relative_error(value, gold)
    exact = gold.low == gold.high and not gold.unit and gold.low.is_integer()
    tolerance = TOLERANCE if gold.low == gold.high and not exact else 0.0
    within = error <= tolerance or isclose(error, tolerance)
    nearest = min(max(value, gold.low), gold.high)
    return {
        "right": float(within),
        "relative_accuracy": mean_relative_accuracy(error),
        "error": error,
        "absolute_error": abs(value - nearest),
        "log_error": abs(log10(value / nearest)) if value * nearest > 0 else nan,
    }


def _constants(asked: Sequence[Asked]) -> list[str]:
    """For each item the middle one of all right numbers that have its unit."""
    by_unit: dict[str, list[float]] = {}
    for each in asked:
        for text in each.gold:
            found = quantity_of(text)
            if found is not None:
                by_unit.setdefault(found.unit, []).append(found.middle)
    middle = {unit: written(median(values), unit) for unit, values in by_unit.items()}
    return [middle.get(unit_of(each.gold), "") for each in asked]


def guesses(asked: Sequence[Asked]) -> list[Mapping[str, float]]:
    """What the best constant gets: the median of the right numbers that have the same unit."""
    pairs = zip(asked, _constants(asked), strict=True)
    return [marks(each.choices, each.gold, constant) for each, constant in pairs]


def shortcut(asked: Sequence[Asked]) -> tuple[str, list[str]]:
    """Always the middle one of the right numbers."""
    found = _constants(asked)
    shown = ", ".join(sorted(set(found))[:3])
    return f"always the middle one of the right numbers ({shown})", found


def right_answer(asked: Asked) -> str:
    """The right number as a model would write it."""
    found = quantity_of(asked.gold[0])
    return written(found.middle, found.unit) if found else asked.gold[0]


def in_words(asked: Asked) -> str:
    """The right number, or range, for people."""
    return " or ".join(asked.gold)
