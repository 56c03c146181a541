"""Touching, resting on, being in, above and below."""

from __future__ import annotations

from gnomon.scenes.bodies import Pair, covered_share
from gnomon.scenes.judging.company import around
from gnomon.scenes.judging.verdicts import (
    Verdict,
    any_of,
    gap_in_words,
    judge,
    metres,
    resting_in_words,
    undecided,
)
from gnomon.scenes.rules import thresholds


def is_flush(pair: Pair) -> bool:
    """Whether two closed sides touch; what has legs touches with less than its box."""
    closed = pair.a.thing.solid and pair.b.thing.solid and not (pair.a.part or pair.b.part)
    return closed and pair.gap < thresholds().contact and not pair.nested


def touching(pair: Pair) -> Verdict:
    """Contact: by resting, or by closed sides that are flush."""
    apart = pair.gap >= thresholds().apart_for_touching * pair.lesser
    return judge(pair.rests or is_flush(pair), apart and not pair.nested, gap_in_words(pair))


def against(pair: Pair) -> Verdict:
    """Contact from the side."""
    apart = pair.gap >= thresholds().apart_for_against * pair.lesser
    sideways = is_flush(pair) and pair.heights_overlap and not pair.rests
    return judge(sideways, apart or pair.rests, gap_in_words(pair))


def rests_on(pair: Pair) -> Verdict:
    """On the top surface."""
    if pair.is_on:
        return Verdict(True, resting_in_words(pair))
    if pair.rests or pair.nested:
        return Verdict(False, resting_in_words(pair))
    apart = pair.gap >= thresholds().apart_for_on * pair.lesser
    beside = pair.same_level and pair.gap > thresholds().contact
    return judge(False, apart or beside, gap_in_words(pair))


def inside(pair: Pair) -> Verdict:
    """In the cavity."""
    if pair.is_in:
        return Verdict(True, resting_in_words(pair))
    if pair.rests or pair.nested:
        return Verdict(False, resting_in_words(pair))
    apart = pair.gap >= thresholds().apart_for_in * pair.lesser
    return judge(False, apart, gap_in_words(pair))


def contains(pair: Pair) -> Verdict:
    """The ground is in the subject's cavity."""
    return inside(pair.flipped)


def surrounding(pair: Pair) -> Verdict:
    """The ground is in the cavity, or in the middle of the subject's group."""
    if pair.a.placed.group:
        return any_of(contains(pair), around(pair))
    return contains(pair)


def outside(pair: Pair) -> Verdict:
    """Clearly not in a ground that has a cavity."""
    if pair.b.cavity is None:
        return undecided(f"{pair.b.name} has no hollow")
    apart = pair.gap >= thresholds().apart_for_in * pair.lesser and not pair.rests
    return judge(apart, pair.is_in, gap_in_words(pair))


def out_of(pair: Pair) -> Verdict:
    """Outside, but not far."""
    verdict = outside(pair)
    if verdict.truth and pair.gap > pair.mean:
        return undecided(gap_in_words(pair))
    return verdict


def into(pair: Pair) -> Verdict:
    """In the cavity and sticking out of it."""
    apart = pair.gap > thresholds().apart_for_into * pair.lesser
    if not pair.is_in or pair.b.cavity is None:
        return judge(False, apart or pair.is_on, gap_in_words(pair))
    rim = pair.b.low + pair.b.cavity.rim * pair.b.placed.scale
    out = (pair.a.high - rim) / pair.a.height
    why = f"{max(0.0, out):.0%} of {pair.a.name} is above the rim of {pair.b.name}"
    return judge(out > thresholds().above_rim, False, why)


def off(pair: Pair) -> Verdict:
    """Near a top surface but not on it."""
    if pair.b.top is None:
        return undecided(f"{pair.b.name} has no top on which things stand")
    close = thresholds().apart_for_off * pair.lesser <= pair.gap <= pair.mean
    free = close and not pair.rests and not pair.nested
    return judge(free, pair.is_on, gap_in_words(pair))


def below(pair: Pair) -> Verdict:
    """Lower and in the ground's column, or beneath it, or bearing it."""
    if pair.is_beneath or pair.flipped.is_on:
        return Verdict(True, resting_in_words(pair))
    if pair.rests or pair.flipped.is_beneath:
        return Verdict(False, resting_in_words(pair))
    t = thresholds()
    if pair.a.low >= pair.b.high - t.contact:
        return Verdict(False, f"{pair.a.name} begins where {pair.b.name} ends, or higher")
    if pair.same_level and pair.plan_gap > t.column_gap * pair.lesser:
        return Verdict(False, f"both stand at the same height, {metres(pair.plan_gap)} apart")
    lower = pair.a.high <= pair.b.low + t.contact
    if not lower:
        return undecided(f"{pair.a.name} ends higher than {pair.b.name} begins")
    share = max(covered_share(pair.a, pair.b), covered_share(pair.b, pair.a))
    why = f"{pair.a.name} is lower than {pair.b.name}, and they share {share:.0%} of their columns"
    return judge(share >= t.column_true, False, why)


def above(pair: Pair) -> Verdict:
    """The converse of below."""
    return below(pair.flipped)


def over(pair: Pair) -> Verdict:
    """Above; whether what rests on a thing is over it is debatable."""
    if pair.is_on:
        return undecided(resting_in_words(pair))
    return above(pair)
