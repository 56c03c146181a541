"""The thresholds of the relations as data (data/space/thresholds.yaml)."""

from __future__ import annotations

from functools import cache

import msgspec

from gnomon.files import package_data, read_yaml


class Thresholds(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Lengths, shares and angles; the file says in which unit each one is."""

    contact: float
    apart_for_touching: float
    apart_for_against: float
    apart_for_on: float
    apart_for_in: float
    apart_for_into: float
    apart_for_edge: float
    apart_for_off: float
    apart_for_link: float
    apart_for_detached: float
    above_rim: float
    column_true: float
    column_gap: float
    beneath_share: float
    near_true: float
    near_false: float
    far_true: float
    far_false: float
    side_near: float
    side_far: float
    side_true: float
    side_false: float
    side_gap: float
    beyond_true: float
    ahead_true: float
    ahead_false: float
    ahead_gap: float
    facing_true: float
    facing_false: float
    away_true: float
    away_false: float
    leave_true: float
    leave_false: float
    opposite_true: float
    opposite_false: float
    parallel_true: float
    parallel_false: float
    square_true: float
    square_false: float
    abreast_true: float
    along_true: float
    along_false: float
    across_true: float
    across_false: float
    edge_true: float
    edge_false: float
    middle_true: float
    middle_false: float
    ring_true: float
    ring_false: float
    ring_near: float
    between_true: float
    between_false: float
    past_gap: float
    past_lane: float
    after_heading: float
    after_true: float
    after_false: float
    after_near: float
    alike: float
    unlike: float


@cache
def thresholds() -> Thresholds:
    """The thresholds that ship."""
    return msgspec.convert(read_yaml(package_data("space/thresholds.yaml")), Thresholds)
