"""Verdicts: true, false or undecided, each with its reason in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from gnomon.scenes.bodies import BodyPair


class Verdict(NamedTuple):
    """Whether a relation holds; `truth` is none in the undecided band."""

    truth: bool | None
    why: str


Meaning = Callable[[BodyPair], Verdict]


def judge(true: bool, false: bool, why: str) -> Verdict:
    """The verdict where one condition makes a relation true and another one makes it false."""
    if true:
        return Verdict(True, why)
    if false:
        return Verdict(False, why)
    return Verdict(None, why)


def all_of(*verdicts: Verdict) -> Verdict:
    """True if all are, false if one is."""
    return _first(verdicts, False) or _first(verdicts, None) or _together(True, verdicts)


def any_of(*verdicts: Verdict) -> Verdict:
    """True if one is, false if all are."""
    return _first(verdicts, True) or _first(verdicts, None) or _together(False, verdicts)


def _first(verdicts: tuple[Verdict, ...], truth: bool | None) -> Verdict | None:
    """The first verdict of this truth, if there is one."""
    for verdict in verdicts:
        if verdict.truth is truth:
            return verdict
    return None


def _together(truth: bool, verdicts: tuple[Verdict, ...]) -> Verdict:
    """A verdict with the reasons of all."""
    return Verdict(truth, "; ".join(verdict.why for verdict in verdicts))


def undecided(why: str) -> Verdict:
    """Neither true nor false, and why."""
    return Verdict(None, why)


def metres(length: float) -> str:
    """A length in words."""
    return f"{length * 100:.0f} cm" if length < 1 else f"{length:.1f} m"


def gap_in_words(pair: BodyPair) -> str:
    """How far the two are apart, in words."""
    if pair.rests:
        return resting_in_words(pair)
    return f"{pair.a.name} and {pair.b.name} are {metres(pair.gap)} apart"


def resting_in_words(pair: BodyPair) -> str:
    """Who stands on or in whom, or beneath, in words."""
    for one in (pair, pair.flipped):
        if one.is_in:
            return f"{one.a.name} is in the hollow of {one.b.name}"
        if one.is_on:
            return f"{one.a.name} stands on the top of {one.b.name}"
        if one.is_beneath:
            return f"{one.a.name} is in the room beneath {one.b.name}"
    return f"neither of {pair.a.name} and {pair.b.name} rests on the other"
