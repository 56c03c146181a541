"""Masks as COCO packs them: lengths of runs outside and inside, down the columns."""

from __future__ import annotations

DIGIT = 0b11111  # five bits of a number in each character, the lowest first
MORE = 0b100000
SIGN = 0b10000
MOST_RUNS = 10_000_000


def unpacked_runs(text: str) -> tuple[int, ...]:
    """The runs in a packed string: numbers in base 32, from the fourth on as differences.

    Each of those is the difference to the run two places before.

    >>> unpacked_runs("52203")
    (5, 2, 2, 2, 5)
    """
    runs: list[int] = []
    value = shift = 0
    for character in text:
        code = ord(character) - 48
        if not 0 <= code < 64:
            raise ValueError(f"{character!r} is no part of packed runs")
        value |= (code & DIGIT) << shift
        shift += 5
        if code & MORE:
            continue
        if code & SIGN:
            value -= 1 << shift
        if len(runs) > 2:
            value += runs[-2]
        runs.append(value)
        value = shift = 0
    if shift:
        raise ValueError("the packed runs end in the middle of a number")
    return tuple(runs)


def problem_of_runs(runs: tuple[int, ...], width: int, height: int) -> str:
    """What is wrong with runs as the mask of a picture of this size; empty if nothing is."""
    if len(runs) > MOST_RUNS or min(runs, default=-1) < 0:
        return "its mask has a run of no length, or far too many"
    if sum(runs) != width * height:
        return f"its mask has {sum(runs):,} pixels, its picture {width * height:,}"
    return ""
