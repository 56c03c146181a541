"""Left, right, in front, behind; near and far; what is beside what."""

from __future__ import annotations

from math import hypot
from typing import Literal

from gnomon.scenes.bodies import Pair, Plan, angle, dot
from gnomon.scenes.judging.verdicts import (
    Verdict,
    all_of,
    any_of,
    gap_in_words,
    judge,
    metres,
    resting_in_words,
    undecided,
)
from gnomon.scenes.rules import thresholds

Frame = Literal["viewer", "own"]
Side = Literal["left", "right", "front", "back"]


def heading(pair: Pair) -> Plan:
    """Where the viewer looks, in plan."""
    viewer = pair.scene.viewer
    x, y = viewer.at[0] - viewer.eye[0], viewer.at[1] - viewer.eye[1]
    length = hypot(x, y)
    return x / length, y / length


def direction_of(pair: Pair, side: Side, frame: Frame) -> Plan:
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


def on_side(pair: Pair, side: Side, frame: Frame) -> Verdict:
    """Whether the subject lies on one side of the ground, clear of it."""
    if pair.rests or pair.nested:
        return Verdict(False, resting_in_words(pair))
    t = thresholds()
    direction = direction_of(pair, side, frame)
    off = angle(pair.offset, direction)
    along = dot(pair.offset, direction)
    room = pair.a.reach(direction) + pair.b.reach(direction) + t.side_gap * pair.mean
    seen = "as the viewer sees it" if frame == "viewer" else "by its own front"
    why = f"{pair.a.name} lies {off:.0f} degrees off the {side} of {pair.b.name} {seen}"

    opposite = off >= 180 - t.side_true and -along >= room
    across = t.side_false <= off <= 180 - t.side_false and pair.plan_gap > t.side_gap * pair.mean
    return judge(off <= t.side_true and along >= room, opposite or across, why)


def frames_of(pair: Pair) -> tuple[Frame, ...]:
    """The frames in which the ground has sides."""
    return ("viewer", "own") if pair.b.has_front else ("viewer",)


def in_frame(pair: Pair, meaning: str, frame: Frame) -> Verdict:
    """One of the meanings that depend on a frame, in that frame."""
    if meaning in SIDES:
        return on_side(pair, SIDES[meaning], frame)
    if meaning == "left_side":
        return all_of(on_side(pair, "left", frame), _at_side(pair))
    if meaning == "right_side":
        return all_of(on_side(pair, "right", frame), _at_side(pair))
    return all_of(_lateral(pair, frame), next_to(pair))


SIDES: dict[str, Side] = {"left": "left", "right": "right", "front": "front", "behind": "back"}


def _at_side(pair: Pair) -> Verdict:
    t = thresholds()
    near = pair.plan_gap <= t.side_near * pair.mean
    return judge(near, pair.plan_gap >= t.side_far * pair.mean, gap_in_words(pair))


def _lateral(pair: Pair, frame: Frame) -> Verdict:
    """Left or right."""
    return any_of(on_side(pair, "left", frame), on_side(pair, "right", frame))


def behind_near(pair: Pair) -> Verdict:
    """At the ground's own back."""
    if not pair.b.has_front:
        return undecided(f"{pair.b.name} has no front of its own")
    return all_of(on_side(pair, "back", "own"), near(pair))


def ahead(pair: Pair) -> Verdict:
    """Where the ground looks."""
    if not pair.b.has_front or pair.rests:
        return undecided(f"{pair.b.name} has no front of its own, or the two rest on one another")
    t = thresholds()
    off = angle(pair.offset, pair.b.front)
    clear = pair.plan_gap >= t.ahead_gap * pair.mean
    why = f"{pair.a.name} is {off:.0f} degrees off where {pair.b.name} looks"
    return judge(off <= t.ahead_true and clear, off >= t.ahead_false and clear, why)


def beyond(pair: Pair) -> Verdict:
    """Behind for the viewer, with some room between."""
    behind = on_side(pair, "back", "viewer")
    distant = pair.plan_gap >= thresholds().beyond_true * pair.mean
    return all_of(behind, judge(distant, False, gap_in_words(pair)))


def near(pair: Pair) -> Verdict:
    """Hardly a gap."""
    t = thresholds()
    close = pair.gap <= t.near_true * pair.lesser
    return judge(close or pair.rests, pair.gap >= t.near_false * pair.mean, gap_in_words(pair))


def far(pair: Pair) -> Verdict:
    """A gap of several times their size."""
    t = thresholds()
    close = pair.gap <= t.far_false * pair.mean
    return judge(pair.gap >= t.far_true * pair.mean, close or pair.rests, gap_in_words(pair))


def next_to(pair: Pair) -> Verdict:
    """Near, at the same height, neither resting nor beneath."""
    if pair.rests or pair.nested:
        return Verdict(False, resting_in_words(pair))
    same_height = judge(pair.heights_overlap, False, f"a gap of {metres(pair.gap)} in height")
    return all_of(near(pair), same_height)


def accompanies(pair: Pair) -> Verdict:
    """Near, said of the living."""
    if not pair.a.thing.living:
        return undecided(f"{pair.a.name} is not alive")
    return near(pair)
