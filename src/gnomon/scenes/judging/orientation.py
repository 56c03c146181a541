"""Where things look, and how their long axes lie."""

from __future__ import annotations

from gnomon.scenes.bodies import Pair, angle, dot
from gnomon.scenes.judging.places import near, next_to
from gnomon.scenes.judging.verdicts import (
    Verdict,
    all_of,
    gap_in_words,
    judge,
    resting_in_words,
    undecided,
)
from gnomon.scenes.rules import thresholds


def _look(pair: Pair) -> float | None:
    """Degrees between the subject's front and the way to the ground; none if that says nothing."""
    if not pair.a.has_front or pair.rests or pair.plan_gap <= 1e-6:
        return None
    return angle(pair.a.front, (-pair.offset[0], -pair.offset[1]))


def _look_in_words(pair: Pair, off: float) -> str:
    return f"{pair.a.name} looks {off:.0f} degrees past {pair.b.name}"


def _no_look(pair: Pair) -> Verdict:
    return undecided(f"{pair.a.name} has no front, or is too close to {pair.b.name} to face it")


def facing(pair: Pair) -> Verdict:
    """The subject looks at the ground."""
    off = _look(pair)
    if off is None:
        return _no_look(pair)
    t = thresholds()
    return judge(off <= t.facing_true, off >= t.facing_false, _look_in_words(pair, off))


def facing_away(pair: Pair) -> Verdict:
    """The subject looks the other way."""
    off = _look(pair)
    if off is None:
        return _no_look(pair)
    t = thresholds()
    return judge(off >= t.away_true, off <= t.away_false, _look_in_words(pair, off))


def toward(pair: Pair) -> Verdict:
    """Facing, said of what moves."""
    if not pair.a.thing.moves:
        return undecided(f"{pair.a.name} does not move")
    return facing(pair)


def leaving(pair: Pair) -> Verdict:
    """Facing away at some distance, said of what moves."""
    if not pair.a.thing.moves:
        return undecided(f"{pair.a.name} does not move")
    t = thresholds()
    distant = pair.plan_gap >= t.leave_true * pair.mean
    close = pair.plan_gap <= t.leave_false * pair.mean
    return all_of(facing_away(pair), judge(distant, close, gap_in_words(pair)))


def stands_at(pair: Pair) -> Verdict:
    """A living subject at a piece of furniture."""
    if not pair.a.thing.living or pair.b.thing.kind not in ("furniture", "appliance"):
        return undecided(f"{pair.a.name} is not alive, or {pair.b.name} is not a thing to be at")
    return all_of(near(pair), facing(pair))


def opposite(pair: Pair) -> Verdict:
    """The two face each other."""
    if not (pair.a.has_front and pair.b.has_front) or pair.rests:
        return undecided("one of the two has no front, or they rest on one another")
    t = thresholds()
    room = pair.plan_gap >= t.opposite_true * pair.lesser
    close = pair.plan_gap < t.opposite_false * pair.lesser
    return all_of(facing(pair), facing(pair.flipped), judge(room, close, gap_in_words(pair)))


def _axes_in_words(pair: Pair, between: float) -> str:
    return f"the long axes of {pair.a.name} and {pair.b.name} are {between:.0f} degrees apart"


def _no_axes(pair: Pair) -> Verdict:
    return undecided(f"one of {pair.a.name} and {pair.b.name} has no long axis")


def _in_line(pair: Pair) -> bool:
    """Whether one of two things lies in the direction in which the other one is long."""
    for axis in (pair.a.long_axis, pair.b.long_axis):
        if axis is None:
            continue
        off = angle(pair.offset, axis)
        if min(off, 180 - off) < thresholds().abreast_true:
            return True
    return False


def parallel(pair: Pair) -> Verdict:
    """The long axes run the same way, not end to end."""
    between = pair.axes_angle
    if between is None or pair.rests:
        return _no_axes(pair)
    t = thresholds()
    why = _axes_in_words(pair, between)
    abreast = between <= t.parallel_true and not _in_line(pair)
    return judge(abreast, between >= t.parallel_false, why)


def perpendicular(pair: Pair) -> Verdict:
    """The long axes are at right angles."""
    between = pair.axes_angle
    if between is None or pair.rests:
        return _no_axes(pair)
    t = thresholds()
    why = _axes_in_words(pair, between)
    return judge(between >= t.square_true, between <= t.square_false, why)


def along(pair: Pair) -> Verdict:
    """Near or on the ground, in its direction, not end to end."""
    between = pair.axes_angle
    if between is None:
        return _no_axes(pair)
    t = thresholds()
    why = _axes_in_words(pair, between)
    abreast = pair.rests or not _in_line(pair)
    same_way = judge(between <= t.along_true and abreast, between >= t.along_false, why)
    return all_of(same_way, near(pair))


def alongside(pair: Pair) -> Verdict:
    """Next to the ground, in its direction."""
    return all_of(along(pair), next_to(pair))


def across(pair: Pair) -> Verdict:
    """On the ground, at right angles to it."""
    between = pair.axes_angle
    if between is None:
        return _no_axes(pair)
    t = thresholds()
    if not pair.is_on:
        apart = pair.same_level and pair.plan_gap > t.apart_for_edge * pair.mean
        return judge(False, apart, resting_in_words(pair))
    why = _axes_in_words(pair, between)
    return judge(between >= t.across_true, between <= t.across_false, why)


def past(pair: Pair) -> Verdict:
    """The ground lies behind the subject's heading, beside its lane."""
    if not (pair.a.thing.moves and pair.a.has_front) or pair.rests:
        return undecided(f"{pair.a.name} does not head anywhere")
    t = thresholds()
    front = pair.a.front
    lead = dot(pair.offset, front)
    sideways = abs(dot(pair.offset, (-front[1], front[0])))
    clear = pair.a.reach(front) + pair.b.reach(front) + t.past_gap * pair.mean
    in_lane = sideways <= t.past_lane * (pair.a.width + pair.b.diagonal)
    why = f"{pair.a.name} is {lead:.1f} m ahead of {pair.b.name} on its way"
    return judge(lead >= clear and in_lane, lead <= -clear, why)


def after(pair: Pair) -> Verdict:
    """The subject follows the ground."""
    if not (pair.a.has_front and pair.b.has_front) or pair.rests:
        return undecided("one of the two has no front")
    t = thresholds()
    if angle(pair.a.front, pair.b.front) > t.after_heading:
        return undecided("the two do not head the same way")
    off = angle(pair.a.front, (-pair.offset[0], -pair.offset[1]))
    follows = off <= t.after_true and pair.plan_gap <= t.after_near * pair.mean
    return judge(follows, off >= t.after_false, _look_in_words(pair, off))
