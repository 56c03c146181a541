"""Which relations of direction, distance and orientation hold: left of, near, facing, along."""

from math import hypot
from typing import Literal

from gnomon.scenes.bodies import (
    BodyPair,
    Plan,
    Verdict,
    all_of,
    angle,
    any_of,
    dot,
    gap_in_words,
    judge,
    metres,
    resting_in_words,
    thresholds,
    undecided,
)

# Left, right, in front, behind; near and far; what is beside what.


Frame = Literal["viewer", "own"]
Side = Literal["left", "right", "front", "back"]


def heading(pair: BodyPair) -> Plan:
    """Where the viewer looks, in plan."""
    viewer = pair.scene.viewer
    x, y = viewer.at[0] - viewer.eye[0], viewer.at[1] - viewer.eye[1]
    length = hypot(x, y)
    return x / length, y / length


def direction_of(pair: BodyPair, side: Side, frame: Frame) -> Plan:
    """The direction of a side of the ground, as the viewer sees it or by the ground's own front.

    What is in front for the viewer is nearer to the viewer; a ground with a front of its own has
    its right where a person who looks that way has it.
    """
    if frame == "viewer":
        ahead = heading(pair)
        front, right = (-ahead[0], -ahead[1]), (ahead[1], -ahead[0])
    else:
        front = pair.b.front
        right = (front[1], -front[0])
    if side == "front":
        return front
    if side == "back":
        return -front[0], -front[1]
    if side == "right":
        return right
    return -right[0], -right[1]


def on_side(pair: BodyPair, side: Side, frame: Frame) -> Verdict:
    """Whether the subject lies on one side of the ground, clear of it."""
    if pair.rests or pair.nested:
        return Verdict(False, resting_in_words(pair))
    t = thresholds()
    direction = direction_of(pair, side, frame)
    off = angle(pair.offset, direction)
    along = dot(pair.offset, direction)
    room = pair.a.reach(direction) + pair.b.reach(direction) + t["side_gap"] * pair.mean
    seen = "as the viewer sees it" if frame == "viewer" else "by its own front"
    why = f"{pair.a.name} lies {off:.0f} degrees off the {side} of {pair.b.name} {seen}"

    opposite = off >= 180 - t["side_true"] and -along >= room
    across = (
        t["side_false"] <= off <= 180 - t["side_false"]
        and pair.plan_gap > t["side_gap"] * pair.mean
    )
    return judge(off <= t["side_true"] and along >= room, opposite or across, why)


def frames_of(pair: BodyPair) -> tuple[Frame, ...]:
    """The frames in which the ground has sides."""
    return ("viewer", "own") if pair.b.has_front else ("viewer",)


def in_frame(pair: BodyPair, meaning: str, frame: Frame) -> Verdict:
    """One of the meanings that depend on a frame, in that frame."""
    if meaning in SIDES:
        return on_side(pair, SIDES[meaning], frame)
    if meaning == "left_side":
        return all_of(on_side(pair, "left", frame), _at_side(pair))
    if meaning == "right_side":
        return all_of(on_side(pair, "right", frame), _at_side(pair))
    return all_of(_lateral(pair, frame), next_to(pair))


SIDES: dict[str, Side] = {"left": "left", "right": "right", "front": "front", "behind": "back"}


def _at_side(pair: BodyPair) -> Verdict:
    t = thresholds()
    near = pair.plan_gap <= t["side_near"] * pair.mean
    return judge(near, pair.plan_gap >= t["side_far"] * pair.mean, gap_in_words(pair))


def _lateral(pair: BodyPair, frame: Frame) -> Verdict:
    """Left or right."""
    return any_of(on_side(pair, "left", frame), on_side(pair, "right", frame))


def behind_near(pair: BodyPair) -> Verdict:
    """At the ground's own back."""
    if not pair.b.has_front:
        return undecided(f"{pair.b.name} has no front of its own")
    return all_of(on_side(pair, "back", "own"), near(pair))


def ahead(pair: BodyPair) -> Verdict:
    """Where the ground looks."""
    if not pair.b.has_front or pair.rests:
        return undecided(f"{pair.b.name} has no front of its own, or the two rest on one another")
    t = thresholds()
    off = angle(pair.offset, pair.b.front)
    clear = pair.plan_gap >= t["ahead_gap"] * pair.mean
    why = f"{pair.a.name} is {off:.0f} degrees off where {pair.b.name} looks"
    return judge(off <= t["ahead_true"] and clear, off >= t["ahead_false"] and clear, why)


def beyond(pair: BodyPair) -> Verdict:
    """Behind for the viewer, with some room between."""
    behind = on_side(pair, "back", "viewer")
    distant = pair.plan_gap >= thresholds()["beyond_true"] * pair.mean
    return all_of(behind, judge(distant, False, gap_in_words(pair)))


def near(pair: BodyPair) -> Verdict:
    """Hardly a gap."""
    t = thresholds()
    close = pair.gap <= t["near_true"] * pair.lesser
    return judge(close or pair.rests, pair.gap >= t["near_false"] * pair.mean, gap_in_words(pair))


def far(pair: BodyPair) -> Verdict:
    """A gap of several times their size."""
    t = thresholds()
    close = pair.gap <= t["far_false"] * pair.mean
    return judge(pair.gap >= t["far_true"] * pair.mean, close or pair.rests, gap_in_words(pair))


def next_to(pair: BodyPair) -> Verdict:
    """Near, at the same height, neither resting nor beneath."""
    if pair.rests or pair.nested:
        return Verdict(False, resting_in_words(pair))
    same_height = judge(pair.heights_overlap, False, f"a gap of {metres(pair.gap)} in height")
    return all_of(near(pair), same_height)


def accompanies(pair: BodyPair) -> Verdict:
    """Near, said of the living."""
    if not pair.a.thing.living:
        return undecided(f"{pair.a.name} is not alive")
    return near(pair)


# Where things look, and how their long axes lie.


def _look(pair: BodyPair) -> float | None:
    """Degrees between the subject's front and the way to the ground; none if that says nothing."""
    if not pair.a.has_front or pair.rests or pair.plan_gap <= 1e-6:
        return None
    return angle(pair.a.front, (-pair.offset[0], -pair.offset[1]))


def _look_in_words(pair: BodyPair, off: float) -> str:
    return f"{pair.a.name} looks {off:.0f} degrees past {pair.b.name}"


def _no_look(pair: BodyPair) -> Verdict:
    return undecided(f"{pair.a.name} has no front, or is too close to {pair.b.name} to face it")


def facing(pair: BodyPair) -> Verdict:
    """The subject looks at the ground."""
    off = _look(pair)
    if off is None:
        return _no_look(pair)
    t = thresholds()
    return judge(off <= t["facing_true"], off >= t["facing_false"], _look_in_words(pair, off))


def facing_away(pair: BodyPair) -> Verdict:
    """The subject looks the other way."""
    off = _look(pair)
    if off is None:
        return _no_look(pair)
    t = thresholds()
    return judge(off >= t["away_true"], off <= t["away_false"], _look_in_words(pair, off))


def toward(pair: BodyPair) -> Verdict:
    """Facing, said of what moves."""
    if not pair.a.thing.moves:
        return undecided(f"{pair.a.name} does not move")
    return facing(pair)


def leaving(pair: BodyPair) -> Verdict:
    """Facing away at some distance, said of what moves."""
    if not pair.a.thing.moves:
        return undecided(f"{pair.a.name} does not move")
    t = thresholds()
    distant = pair.plan_gap >= t["leave_true"] * pair.mean
    close = pair.plan_gap <= t["leave_false"] * pair.mean
    return all_of(facing_away(pair), judge(distant, close, gap_in_words(pair)))


def stands_at(pair: BodyPair) -> Verdict:
    """A living subject at a piece of furniture."""
    if not pair.a.thing.living or pair.b.thing.kind not in ("furniture", "appliance"):
        return undecided(f"{pair.a.name} is not alive, or {pair.b.name} is not a thing to be at")
    return all_of(near(pair), facing(pair))


def opposite(pair: BodyPair) -> Verdict:
    """The two face each other."""
    if not (pair.a.has_front and pair.b.has_front) or pair.rests:
        return undecided("one of the two has no front, or they rest on one another")
    t = thresholds()
    room = pair.plan_gap >= t["opposite_true"] * pair.lesser
    close = pair.plan_gap < t["opposite_false"] * pair.lesser
    return all_of(facing(pair), facing(pair.flipped), judge(room, close, gap_in_words(pair)))


def _axes_in_words(pair: BodyPair, between: float) -> str:
    return f"the long axes of {pair.a.name} and {pair.b.name} are {between:.0f} degrees apart"


def _no_axes(pair: BodyPair) -> Verdict:
    return undecided(f"one of {pair.a.name} and {pair.b.name} has no long axis")


def _in_line(pair: BodyPair) -> bool:
    """Whether one of two things lies in the direction in which the other one is long."""
    for axis in (pair.a.long_axis, pair.b.long_axis):
        if axis is None:
            continue
        off = angle(pair.offset, axis)
        if min(off, 180 - off) < thresholds()["abreast_true"]:
            return True
    return False


def parallel(pair: BodyPair) -> Verdict:
    """The long axes run the same way, not end to end."""
    between = pair.axes_angle
    if between is None or pair.rests:
        return _no_axes(pair)
    t = thresholds()
    why = _axes_in_words(pair, between)
    abreast = between <= t["parallel_true"] and not _in_line(pair)
    return judge(abreast, between >= t["parallel_false"], why)


def perpendicular(pair: BodyPair) -> Verdict:
    """The long axes are at right angles."""
    between = pair.axes_angle
    if between is None or pair.rests:
        return _no_axes(pair)
    t = thresholds()
    why = _axes_in_words(pair, between)
    return judge(between >= t["square_true"], between <= t["square_false"], why)


def along(pair: BodyPair) -> Verdict:
    """Near or on the ground, in its direction, not end to end."""
    between = pair.axes_angle
    if between is None:
        return _no_axes(pair)
    t = thresholds()
    why = _axes_in_words(pair, between)
    abreast = pair.rests or not _in_line(pair)
    same_way = judge(between <= t["along_true"] and abreast, between >= t["along_false"], why)
    return all_of(same_way, near(pair))


def alongside(pair: BodyPair) -> Verdict:
    """Next to the ground, in its direction."""
    return all_of(along(pair), next_to(pair))


def across(pair: BodyPair) -> Verdict:
    """On the ground, at right angles to it."""
    between = pair.axes_angle
    if between is None:
        return _no_axes(pair)
    t = thresholds()
    if not pair.is_on:
        apart = pair.same_level and pair.plan_gap > t["apart_for_edge"] * pair.mean
        return judge(False, apart, resting_in_words(pair))
    why = _axes_in_words(pair, between)
    return judge(between >= t["across_true"], between <= t["across_false"], why)


def past(pair: BodyPair) -> Verdict:
    """The ground lies behind the subject's heading, beside its lane."""
    if not (pair.a.thing.moves and pair.a.has_front) or pair.rests:
        return undecided(f"{pair.a.name} does not head anywhere")
    t = thresholds()
    front = pair.a.front
    lead = dot(pair.offset, front)
    sideways = abs(dot(pair.offset, (-front[1], front[0])))
    clear = pair.a.reach(front) + pair.b.reach(front) + t["past_gap"] * pair.mean
    in_lane = sideways <= t["past_lane"] * (pair.a.width + pair.b.diagonal)
    why = f"{pair.a.name} is {lead:.1f} m ahead of {pair.b.name} on its way"
    return judge(lead >= clear and in_lane, lead <= -clear, why)


def after(pair: BodyPair) -> Verdict:
    """The subject follows the ground."""
    if not (pair.a.has_front and pair.b.has_front) or pair.rests:
        return undecided("one of the two has no front")
    t = thresholds()
    if angle(pair.a.front, pair.b.front) > t["after_heading"]:
        return undecided("the two do not head the same way")
    off = angle(pair.a.front, (-pair.offset[0], -pair.offset[1]))
    follows = off <= t["after_true"] and pair.plan_gap <= t["after_near"] * pair.mean
    return judge(follows, off >= t["after_false"], _look_in_words(pair, off))
