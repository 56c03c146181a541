"""Which relations of contact, containment and company hold: touching, on, in, around, part of."""

from math import atan2, degrees, pi

from gnomon.scenes.bodies import (
    Body,
    BodyPair,
    Plan,
    Verdict,
    angle,
    any_of,
    covered_share,
    gap_in_words,
    judge,
    metres,
    minus,
    plan_distance,
    resting_in_words,
    thresholds,
    undecided,
)

# Groups, edges and middles, links, parts, and things that are alike.


def _group_of(pair: BodyPair, body: Body) -> list[Body]:
    """The things that are spoken of together with a body."""
    group = body.placed.group
    if not group or body.part:
        return []
    return [Body(placed) for placed in pair.scene.things if placed.group == group]


def _widest_opening(middle: Plan, others: list[Body]) -> float:
    """The widest angle, in degrees, that a ring of things leaves open around a point."""
    directions = []
    for other in others:
        x, y = minus(other.at, middle)
        directions.append(atan2(y, x))
    directions.sort()
    widest = 0.0
    for number, direction in enumerate(directions):
        step = (direction - directions[number - 1]) % (2 * pi)
        widest = max(widest, step)
    return degrees(widest)


def around(pair: BodyPair) -> Verdict:
    """The subject's group is around the ground."""
    group = _group_of(pair, pair.a)
    if len(group) < 3 or pair.b.placed.group == pair.a.placed.group:
        return undecided(f"{pair.a.name} is not one of three or more that could be around it")
    t = thresholds()
    opening = _widest_opening(pair.b.at, group)
    farthest = max(plan_distance(other, pair.b) for other in group)
    close = farthest <= t["ring_near"] * pair.b.diagonal
    why = f"the {len(group)} things leave an opening of {opening:.0f} degrees around {pair.b.name}"
    return judge(opening <= t["ring_true"] and close, opening >= t["ring_false"], why)


def among(pair: BodyPair) -> Verdict:
    """The ground's group is around the subject."""
    group = _group_of(pair, pair.b)
    if len(group) < 3 or pair.b.placed.group == pair.a.placed.group:
        return undecided(f"{pair.b.name} is not one of three or more")
    t = thresholds()
    opening = _widest_opening(pair.a.at, group)
    why = f"the {len(group)} things leave an opening of {opening:.0f} degrees around {pair.a.name}"
    return judge(opening <= t["ring_true"], opening >= t["ring_false"], why)


def between(pair: BodyPair) -> Verdict:
    """The two things of the ground's group are on opposite sides of the subject."""
    group = _group_of(pair, pair.b)
    if len(group) != 2 or pair.b.placed.group == pair.a.placed.group:
        return undecided(f"{pair.b.name} is not one of two")
    t = thresholds()
    first, second = group
    apart = angle(minus(first.at, pair.a.at), minus(second.at, pair.a.at))
    why = f"the two lie {apart:.0f} degrees apart as seen from {pair.a.name}"
    return judge(apart >= t["between_true"], apart <= t["between_false"], why)


def _from_middle(pair: BodyPair) -> tuple[float, float] | None:
    """Of a subject on a top: distance from its middle and margin to its edge, both as shares."""
    top, scale = pair.b.top, pair.b.placed.scale
    if top is None or not pair.is_on:
        return None
    x, y = pair.b.locate(pair.a.at)
    half_x, half_y = top.size[0] * scale / 2, top.size[1] * scale / 2
    x, y = abs(x - top.at[0] * scale), abs(y - top.at[1] * scale)
    margin = min(half_x - x - pair.a.reach(pair.b.right), half_y - y - pair.a.reach(pair.b.back))
    return max(x / half_x, y / half_y), margin / min(half_x, half_y)


def at_edge(pair: BodyPair) -> Verdict:
    """On the ground, near the edge of its top."""
    t = thresholds()
    place = _from_middle(pair)
    if place is None:
        return _not_on_top(pair)
    distance, margin = place
    central = distance <= t["edge_false"]
    at_the_edge = margin <= t["edge_true"] and not central
    return judge(at_the_edge, central, _distance_in_words(pair, distance))


def in_middle(pair: BodyPair) -> Verdict:
    """On the ground, at the middle of its top."""
    t = thresholds()
    place = _from_middle(pair)
    if place is None:
        return _not_on_top(pair)
    distance, _ = place
    why = _distance_in_words(pair, distance)
    return judge(distance <= t["middle_true"], distance >= t["middle_false"], why)


def _not_on_top(pair: BodyPair) -> Verdict:
    """Of a subject that is not on a top: false where it is clearly apart, else undecided."""
    apart = pair.gap >= thresholds()["apart_for_edge"] * pair.lesser
    return judge(False, apart, resting_in_words(pair))


def _distance_in_words(pair: BodyPair, distance: float) -> str:
    way = f"{distance:.0%} of the way from the middle to the edge"
    return f"{pair.a.name} is {way} of {pair.b.name}"


def linked(pair: BodyPair) -> Verdict:
    """A rope joins the two."""
    if pair.linked:
        return Verdict(True, f"a rope joins {pair.a.name} and {pair.b.name}")
    apart = pair.gap >= thresholds()["apart_for_link"] * pair.lesser
    return judge(False, apart, f"no rope; {gap_in_words(pair)}")


def detached(pair: BodyPair) -> Verdict:
    """No rope joins the two, and they are apart."""
    if pair.linked:
        return Verdict(False, f"a rope joins {pair.a.name} and {pair.b.name}")
    apart = pair.gap >= thresholds()["apart_for_detached"] * pair.lesser
    return judge(apart and not pair.rests, False, f"no rope; {gap_in_words(pair)}")


def part_of(pair: BodyPair) -> Verdict:
    """The subject is a part of the ground."""
    same = pair.a.placed.id == pair.b.placed.id
    if pair.a.part and not pair.b.part and same:
        return Verdict(True, f"{pair.a.part} is a part of {pair.b.name}, and in its place")
    if same:
        return Verdict(False, f"{pair.b.name} belongs to {pair.a.name}, not the other way round")
    apart = pair.gap >= thresholds()["apart_for_touching"] * pair.lesser
    return judge(False, apart, gap_in_words(pair))


def has_part(pair: BodyPair) -> Verdict:
    """The converse of part of."""
    return part_of(pair.flipped)


def congruent(pair: BodyPair) -> Verdict:
    """Alike in shape and size."""
    t = thresholds()
    if pair.a.part or pair.b.part or pair.a.thing.name != pair.b.thing.name:
        return Verdict(False, f"{pair.a.name} and {pair.b.name} are different things")
    ratio = pair.a.placed.scale / pair.b.placed.scale
    difference = max(ratio, 1 / ratio) - 1
    why = f"the same thing; the sizes differ by {difference:.0%}"
    return judge(difference <= t["alike"], difference >= t["unlike"], why)


# Touching, resting on, being in, above and below.


def is_flush(pair: BodyPair) -> bool:
    """Whether two closed sides touch; what has legs touches with less than its box."""
    closed = pair.a.thing.solid and pair.b.thing.solid and not (pair.a.part or pair.b.part)
    return closed and pair.gap < thresholds()["contact"] and not pair.nested


def touching(pair: BodyPair) -> Verdict:
    """Contact: by resting, or by closed sides that are flush."""
    apart = pair.gap >= thresholds()["apart_for_touching"] * pair.lesser
    return judge(pair.rests or is_flush(pair), apart and not pair.nested, gap_in_words(pair))


def against(pair: BodyPair) -> Verdict:
    """Contact from the side."""
    apart = pair.gap >= thresholds()["apart_for_against"] * pair.lesser
    sideways = is_flush(pair) and pair.heights_overlap and not pair.rests
    return judge(sideways, apart or pair.rests, gap_in_words(pair))


def rests_on(pair: BodyPair) -> Verdict:
    """On the top surface."""
    if pair.is_on:
        return Verdict(True, resting_in_words(pair))
    if pair.rests or pair.nested:
        return Verdict(False, resting_in_words(pair))
    apart = pair.gap >= thresholds()["apart_for_on"] * pair.lesser
    beside = pair.same_level and pair.gap > thresholds()["contact"]
    return judge(False, apart or beside, gap_in_words(pair))


def inside(pair: BodyPair) -> Verdict:
    """In the cavity."""
    if pair.is_in:
        return Verdict(True, resting_in_words(pair))
    if pair.rests or pair.nested:
        return Verdict(False, resting_in_words(pair))
    apart = pair.gap >= thresholds()["apart_for_in"] * pair.lesser
    return judge(False, apart, gap_in_words(pair))


def contains(pair: BodyPair) -> Verdict:
    """The ground is in the subject's cavity."""
    return inside(pair.flipped)


def surrounding(pair: BodyPair) -> Verdict:
    """The ground is in the cavity, or in the middle of the subject's group."""
    if pair.a.placed.group:
        return any_of(contains(pair), around(pair))
    return contains(pair)


def outside(pair: BodyPair) -> Verdict:
    """Clearly not in a ground that has a cavity."""
    if pair.b.cavity is None:
        return undecided(f"{pair.b.name} has no hollow")
    apart = pair.gap >= thresholds()["apart_for_in"] * pair.lesser and not pair.rests
    return judge(apart, pair.is_in, gap_in_words(pair))


def out_of(pair: BodyPair) -> Verdict:
    """Outside, but not far."""
    verdict = outside(pair)
    if verdict.truth and pair.gap > pair.mean:
        return undecided(gap_in_words(pair))
    return verdict


def into(pair: BodyPair) -> Verdict:
    """In the cavity and sticking out of it."""
    apart = pair.gap > thresholds()["apart_for_into"] * pair.lesser
    if not pair.is_in or pair.b.cavity is None:
        return judge(False, apart or pair.is_on, gap_in_words(pair))
    rim = pair.b.low + pair.b.cavity.rim * pair.b.placed.scale
    out = (pair.a.high - rim) / pair.a.height
    why = f"{max(0.0, out):.0%} of {pair.a.name} is above the rim of {pair.b.name}"
    return judge(out > thresholds()["above_rim"], False, why)


def off(pair: BodyPair) -> Verdict:
    """Near a top surface but not on it."""
    if pair.b.top is None:
        return undecided(f"{pair.b.name} has no top on which things stand")
    close = thresholds()["apart_for_off"] * pair.lesser <= pair.gap <= pair.mean
    free = close and not pair.rests and not pair.nested
    return judge(free, pair.is_on, gap_in_words(pair))


def below(pair: BodyPair) -> Verdict:
    """Lower and in the ground's column, or beneath it, or bearing it."""
    if pair.is_beneath or pair.flipped.is_on:
        return Verdict(True, resting_in_words(pair))
    if pair.rests or pair.flipped.is_beneath:
        return Verdict(False, resting_in_words(pair))
    t = thresholds()
    if pair.a.low >= pair.b.high - t["contact"]:
        return Verdict(False, f"{pair.a.name} begins where {pair.b.name} ends, or higher")
    if pair.same_level and pair.plan_gap > t["column_gap"] * pair.lesser:
        return Verdict(False, f"both stand at the same height, {metres(pair.plan_gap)} apart")
    lower = pair.a.high <= pair.b.low + t["contact"]
    if not lower:
        return undecided(f"{pair.a.name} ends higher than {pair.b.name} begins")
    share = max(covered_share(pair.a, pair.b), covered_share(pair.b, pair.a))
    why = f"{pair.a.name} is lower than {pair.b.name}, and they share {share:.0%} of their columns"
    return judge(share >= t["column_true"], False, why)


def above(pair: BodyPair) -> Verdict:
    """The converse of below."""
    return below(pair.flipped)


def over(pair: BodyPair) -> Verdict:
    """Above; whether what rests on a thing is over it is debatable."""
    if pair.is_on:
        return undecided(resting_in_words(pair))
    return above(pair)
