"""Words for names and numbers, as sentences, tables and axes of a report write them."""

from collections.abc import Sequence
from math import isnan

from gnomon.naming import clip as clip
from gnomon.naming import counted as counted
from gnomon.naming import model_name as model_name
from gnomon.naming import plain as plain

_PROPER = {"f1": "F1", "ece": "ECE", "auc": "area"}
_WHOLE = {"auc": "AUC"}  # a measure's whole name, not a part of one


def axis_name(measure: str) -> str:
    """A measure as the label of an axis.

    >>> axis_name("macro_f1"), axis_name("ece")
    ('macro F1', 'ECE')
    """
    name = measure_name(measure)
    if name[:2].isupper():
        return name
    return name[:1].lower() + name[1:]


def measure_name(measure: str) -> str:
    """A measure as people read it.

    >>> measure_name("pattern_accuracy@0.95"), measure_name("auc")
    ('Pattern accuracy @0.95', 'AUC')
    """
    if measure in _WHOLE:
        return _WHOLE[measure]
    base, at, threshold = measure.partition("@")
    words = [_PROPER.get(word, word) for word in base.split("_")]
    name = capitalised(" ".join(words))
    return f"{name} @{threshold}" if at else name


def capitalised(text: str) -> str:
    """The text with a capital letter at its beginning, and the rest as it is."""
    return text[:1].upper() + text[1:]


def known(value: float) -> float | None:
    """A figure; none where it is not a number."""
    return None if isnan(value) else value


def percentage(value: float | None, digits: int = 0, space: str = "\u00a0") -> str:
    """A fraction for a sentence, a table or a chart; a dash where it is undefined.

    >>> percentage(0.614), percentage(0.614, 1), percentage(None)
    ('61\xa0%', '61.4\xa0%', '–')
    """
    if value is None or isnan(value):
        return "–"
    return f"{per_cent(value, digits)}{space}%"


def percent(value: float | None, digits: int = 1) -> str:
    """A fraction where no line breaks: in a terminal, on a chart.

    >>> percent(0.6105), percent(None)
    ('61.1 %', '–')
    """
    return percentage(value, digits, space=" ")


def whole_percent(value: float) -> str:
    """A fraction on an axis.

    >>> whole_percent(0.614), whole_percent(0.0004)
    ('61 %', '0 %')
    """
    return percent(value, 0)


def interval(low: float | None, high: float | None, between: str = "–") -> str:
    """An interval in per cent for a terminal, or a dash where there is none.

    >>> interval(0.25, 0.5), interval(-0.25, 0.5, "to"), interval(None, None)
    ('25.0 – 50.0', '-25.0 to 50.0', '–')
    """
    if low is None or high is None or isnan(low):
        return "–"
    return f"{100 * low:.1f} {between} {100 * high:.1f}"


def per_cent(value: float, digits: int = 0) -> str:
    """A fraction in per cent, where the sign stands elsewhere.

    >>> per_cent(0.125), per_cent(0.6105, 1)
    ('13', '61.1')
    """
    exact = 100 * value + 1e-9  # a half is rounded up, whatever its last bit says
    return f"{exact:.{digits}f}"


def interval_of(low: float | None, high: float | None, digits: int = 0) -> str:
    """An interval in per cent; empty where there is none.

    >>> interval_of(0.25, 0.5), interval_of(0.25, 0.5, 1)
    ('25–50', '25.0–50.0')
    """
    if low is None or high is None or isnan(low):
        return ""
    return f"{per_cent(low, digits)}–{per_cent(high, digits)}"


def listed(parts: Sequence[str], joint: str = "and") -> str:
    """Words in a row, as people write them.

    >>> listed(["a", "b", "c"]), listed(["a", "b"], "or")
    ('a, b and c', 'a or b')
    """
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} {joint} {parts[-1]}"


def span(numbers: Sequence[int]) -> str:
    """The least and the most of some numbers.

    >>> span([40, 39, 1200]), span([7])
    ('39 to 1,200', '7')
    """
    least, most = min(numbers), max(numbers)
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"
