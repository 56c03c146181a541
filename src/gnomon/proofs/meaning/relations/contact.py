"""Relations of contact and distance: inside, on, touching, near, far."""

from collections.abc import Callable
from fractions import Fraction

from gnomon.proofs.meaning.formulas import TRUE, Formula, Proposition, Term, every, quantity, some
from gnomon.proofs.meaning.stories import AXES, MOMENTS, Story, When

# The relations by name, as the lexicon calls them.


Relation = Callable[..., Formula]
RELATIONS: dict[str, Relation] = {}


def relation(function: Relation) -> Relation:
    """Make a function known to the lexicon under its own name."""
    RELATIONS[function.__name__.rstrip("_")] = function
    return function


PLAN = ("x", "y")


@relation
def inside(story: Story, when: When, a: str, b: str) -> Formula:
    """All of A is in B, which is the larger one."""
    story.holding.add(b)
    story.filled.add(b)
    story.touches(a, b, within=True)
    story.same_floor_if_inside(a, b, when.at)
    within = story.within(a, b, when.at)
    if story.may_have_legs(b):  # what is under a thing is not in it
        within &= story.low(a, "z", when.at) >= story.underside(b, when.at)
    return within


@relation
def smaller(story: Story, when: When, a: str, b: str) -> Formula:
    """The sides of A are together shorter than those of B."""
    for name in (a, b):
        story.low(name, "z", when.at)  # a thing whose sides matter
    return story.extent(a) < story.extent(b)


def _amount(story: Story, a: str, measure: str) -> Term:
    """How much of a measure a thing has; its height is twice the half of its box."""
    amount = quantity(f"{a}.{measure}")
    story.assume(amount > 0)
    return amount * 2 if measure == "half-z" else amount


@relation
def exceeds(story: Story, when: When, a: str, b: str, measure: str) -> Formula:
    """A is taller, longer or heavier than B: it has more of a measure."""
    return _amount(story, a, measure) > _amount(story, b, measure)


@relation
def times(story: Story, when: When, a: str, b: str, measure: str, number: float = 1) -> Formula:
    """A has so many times as much of a measure as B."""
    return _amount(story, a, measure).same(_amount(story, b, measure) * number)


@relation
def measured(
    story: Story, when: When, a: str, measure: str, sign: str, number: float, unit: str
) -> Formula:
    """A is exactly, more or less than so many units tall, long or wide."""
    amount, limit = _amount(story, a, measure), unit_length(story, unit) * number
    if sign == "exactly":
        return amount.same(limit)
    return amount > limit if sign == "more" else amount < limit


@relation
def scaled(story: Story, when: When, a: str, b: str, number: float) -> Formula:
    """A is so many times as big as B."""
    smaller(story, when, a, b)  # things whose sides matter
    return story.extent(a).same(story.extent(b) * number)


@relation
def surpasses(
    story: Story, when: When, a: str, b: str, measure: str, number: float, unit: str
) -> Formula:
    """A is so many units taller, longer or wider than B."""
    more = unit_length(story, unit) * number
    return _amount(story, a, measure).same(_amount(story, b, measure) + more)


@relation
def tops(story: Story, when: When, a: str, measure: str, order: str) -> Formula:
    """A has most of a measure, or least, of all those of its sort that are spoken of."""
    parts = []
    for name in story.named(a):
        if story.is_a(name, "living") == story.is_a(a, "living"):
            one, other = (a, name) if order == "most" else (name, a)
            parts.append(exceeds(story, when, one, other, measure))
    return every(parts)


@relation
def fits(story: Story, when: When, a: str, b: str) -> Formula:
    """A could be in B: no side of it is longer."""
    no_longer = []
    for axis in AXES:
        length = story.high(a, axis, when.at) - story.low(a, axis, when.at)
        no_longer.append(length <= story.high(b, axis, when.at) - story.low(b, axis, when.at))
    return every([smaller(story, when, a, b), *no_longer])


@relation
def in_corner(story: Story, when: When, a: str, b: str, *sides: str) -> Formula:
    """A is in B, nearer to these of its sides than to the opposite ones."""
    toward = RELATIONS["toward"]
    if story.reads("stepped"):
        return toward(story, when, a, b, *sides)
    with story.told(denied=True):  # of centres
        return inside(story, when, a, b) & toward(story, when, a, b, *sides)


@relation
def outside(story: Story, when: When, a: str, b: str) -> Formula:
    """No part of A is in B; as a clear case, which is told, not even at its edge."""
    story.holding.add(b)
    apart = story.disjoint(a, b, when.at)
    if not story.telling:
        return apart
    story.outside[a, b, when.at] = None
    return apart & story.told_of(a, "outside", b, when.at)


@relation
def straddles(story: Story, when: When, a: str, b: str) -> Formula:
    """A is partly in B."""
    return ~story.disjoint(a, b, when.at) & ~story.within(a, b, when.at)


def overlap_in_plan(story: Story, at: int, a: str, b: str) -> Formula:
    """A and B are in one column."""
    parts = []
    for axis in PLAN:
        parts.append(story.low(a, axis, at) < story.high(b, axis, at))
        parts.append(story.low(b, axis, at) < story.high(a, axis, at))
    return every(parts)


@relation
def on(story: Story, when: When, a: str, b: str) -> Formula:
    """A rests on B; asked of a pile, it is open whether what lies between counts."""
    if story.reads("stepped"):
        return RELATIONS["above"](story, when, a, b)
    if story.is_a(b, "water"):  # across its surface; what is in it may be, too
        surface = story.high(b, "z", when.at)
        reaches_down = story.low(a, "z", when.at) <= surface
        reaches_up = story.high(a, "z", when.at) >= surface
        larger = story.extent(a) < story.extent(b)
        return every([larger, reaches_down, reaches_up, overlap_in_plan(story, when.at, a, b)])
    if story.is_a(b, "area"):
        return gap_at_most(story, when, a, b, Term()) & overlap_in_plan(story, when.at, a, b)
    directly = resting(story, when, a, b)
    if story.is_a(b, "unsure"):  # nothing is known of it but that one can go there
        directly |= inside(story, when, a, b)
    if story.telling:
        story.joined[a, "on", b, when.at] = None
        return directly & story.told_of(a, "on", b, when.at)
    stacked = []
    for other in story.named(a, b):
        pile = {(a, "on", other, when.at), (other, "on", b, when.at)}
        if pile <= story.joined.keys():
            stacked.append(resting(story, when, a, other) & resting(story, when, other, b))
    counts = Proposition(f"{a} counts as on {b}, with something between them")
    return directly | some(stacked) & counts


def resting(story: Story, when: When, a: str, b: str) -> Formula:
    """A begins where B ends, in one column."""
    story.touches(a, b)
    meet = story.low(a, "z", when.at).same(story.high(b, "z", when.at))
    return meet & overlap_in_plan(story, when.at, a, b)


@relation
def amid(story: Story, when: When, a: str, b: str) -> Formula:
    """A is in the middle of B: in it, or on it, if B is a piece of furniture."""
    held = inside(story, when, a, b)
    if story.is_a(b, "furniture", "legged"):
        held |= resting(story, when, a, b)
    return held & in_middle(story, when, a, b)


@relation
def under(story: Story, when: When, a: str, b: str) -> Formula:
    """A ends below the underside of B, in one column; between its legs, if B has any."""
    if story.reads("stepped"):
        return RELATIONS["below"](story, when, a, b)
    story.sheltering.add(b)
    room = story.high(a, "z", when.at) <= story.underside(b, when.at)
    if story.is_a(b, "legged"):
        room &= story.low(a, "z", when.at) >= story.low(b, "z", when.at)
    if story.telling or not story.may_have_legs(b):
        room &= story.middle(a, "z", when.at) < story.middle(b, "z", when.at)
    if story.telling:  # a clear case: all of the smaller one is
        is_wider = story.is_a(b, "thing", "living") and not story.is_a(a, "thing", "living")
        room &= _in_column(story, when, b, a) if is_wider else _in_column(story, when, a, b)
    return room & overlap_in_plan(story, when.at, a, b)


def _in_column(story: Story, when: When, a: str, b: str) -> Formula:
    """In plan, all of A is within B."""
    parts = []
    for axis in PLAN:
        parts.append(story.low(a, axis, when.at) >= story.low(b, axis, when.at))
        parts.append(story.high(a, axis, when.at) <= story.high(b, axis, when.at))
    return every(parts)


@relation
def over(story: Story, when: When, a: str, b: str) -> Formula:
    """A is above B, in one column with it."""
    return RELATIONS["above"](story, when, a, b) & overlap_in_plan(story, when.at, a, b)


@relation
def around(story: Story, when: When, a: str, b: str) -> Formula:
    """A surrounds B, as a fence does; of persons no more is known than that they are around it."""
    if story.is_a(a, "living"):
        return Proposition(f"{a} is around {b} at {when.at}")
    if story.is_a(a, "fixed") or story.is_a(b, "fixed"):
        return inside(story, when, b, a)
    return _in_column(story, when, b, a) & ~_in_column(story, when, a, b)  # a ring on a finger


@relation
def touching(story: Story, when: When, a: str, b: str) -> Formula:
    """No gap is between A and B; what is in the other may touch it from within."""
    story.touches(a, b)
    first, second = sorted((a, b))
    from_within = Proposition(f"{first} touches {second} from within at {when.at}")
    apart = story.disjoint(a, b, when.at)
    nested = story.within(a, b, when.at) | story.within(b, a, when.at)
    return gap_at_most(story, when, a, b, Term()) & (apart | nested & from_within)


@relation
def against(story: Story, when: When, a: str, b: str) -> Formula:
    """A touches B from without."""
    return touching(story, when, a, b) & story.disjoint(a, b, when.at)


def gap_at_most(story: Story, when: When, a: str, b: str, limit: Term) -> Formula:
    """Along no axis are A and B farther apart."""
    return story.close(a, b, when.at, limit)


@relation
def gap(story: Story, when: When, a: str, b: str) -> Formula:
    """There is some room between A and B."""
    return ~gap_at_most(story, when, a, b, Term())


@relation
def in_middle(story: Story, when: When, a: str, b: str) -> Formula:
    """A is in B and farther from every edge than the width of its rim."""
    story.holding.add(b)
    rim = story.length("rim")
    parts = []
    for axis in PLAN:
        parts.append(story.low(a, axis, when.at) >= story.low(b, axis, when.at) + rim)
        parts.append(story.high(a, axis, when.at) <= story.high(b, axis, when.at) - rim)
    return every(parts)


@relation
def at_edge(story: Story, when: When, a: str, b: str) -> Formula:
    """A is at B, and within its rim."""
    at = gap_at_most(story, when, a, b, story.length("step"))
    rim = story.length("rim")
    ways = []
    for axis in PLAN:
        ways.append(story.low(a, axis, when.at) < story.low(b, axis, when.at) + rim)
        ways.append(story.high(a, axis, when.at) > story.high(b, axis, when.at) - rim)
    return at & some(ways)


@relation
def at_top(story: Story, when: When, a: str, b: str) -> Formula:
    """A begins where B ends."""
    return story.low(a, "z", when.at).same(story.high(b, "z", when.at))


@relation
def at_foot(story: Story, when: When, a: str, b: str) -> Formula:
    """A begins where B begins."""
    return story.low(a, "z", when.at).same(story.low(b, "z", when.at))


@relation
def reaches(story: Story, when: When, a: str, b: str) -> Formula:
    """A is in B if one can be in it, else at it."""
    if story.is_unknown(b) or story.is_a(b, "room", "city", "country", "hollow", "outdoors"):
        return inside(story, when, a, b)
    return gap_at_most(story, when, a, b, story.length("step"))


@relation
def enters(story: Story, when: When, a: str, b: str) -> Formula:
    """A has gone to B, and is in it also if it is a building."""
    return inside(story, when, a, b) if story.is_a(b, "building") else reaches(story, when, a, b)


@relation
def set_down(story: Story, when: When, a: str, b: str) -> Formula:
    """A has been brought to B: on it, if B is a piece of furniture."""
    if story.is_a(b, "furniture") and not story.is_a(a, "living"):
        return on(story, when, a, b)
    return reaches(story, when, a, b)


@relation
def source(story: Story, when: When, a: str, b: str) -> Formula:
    """A is where it is taken from: in B, or on it, if B is no container or place."""
    held = inside(story, when, a, b)
    if story.is_a(b, "furniture", "landmark"):
        return held | resting(story, when, a, b)
    return held


@relation
def departed(story: Story, when: When, a: str, b: str) -> Formula:
    """A is neither in, on nor at B any more."""
    story.left.add((a, b))
    if not story.telling:
        return TRUE
    gone = ~story.within(a, b, when.at) & ~resting(story, when, a, b)
    return gone & _gone(a, b, when.at)


def _gone(a: str, b: str, at: int) -> Formula:
    return Proposition(f"{a} has left {b} at {at}")


@relation
def stands_at(story: Story, when: When, a: str, b: str) -> Formula:
    """A is within a step of B, and has not left it."""
    here = beside(story, when, a, b)
    return here & ~_gone(a, b, when.at) if (a, b) in story.left else here


@relation
def on_spot(story: Story, when: When, a: str, b: str) -> Formula:
    """In plan, A is exactly where B is: who stands at a thing and looks around."""
    return story.aligned(a, b, PLAN, when.at)


@relation
def coloured(story: Story, when: When, a: str, number: int) -> Formula:
    """A has the colour of a number; it has one only."""
    return quantity(f"{a}.colour").same(number)


# Near and far, miles, nearer than, between and in a row.


@relation
def beside(story: Story, when: When, a: str, b: str) -> Formula:
    """A is within a step of B, and no wall is between them."""
    close = gap_at_most(story, when, a, b, story.length("step"))
    if story.is_a(a, "fixed") or story.is_a(b, "fixed") or story.reads("open_plan"):
        return close
    shared = []
    for room in story.named(a, b):
        if story.is_a(room, "room"):
            here, there = inside(story, when, a, room), inside(story, when, b, room)
            shared += [here.implies(there), there.implies(here)]
    return every([close, *shared])


@relation
def next_to(story: Story, when: When, a: str, b: str) -> Formula:
    """A is within a step of B, neither in nor on it."""
    heights = (story.low(a, "z", when.at) < story.high(b, "z", when.at)) & (
        story.low(b, "z", when.at) < story.high(a, "z", when.at)
    )
    return beside(story, when, a, b) & heights & story.disjoint(a, b, when.at)


@relation
def near(story: Story, when: When, a: str, b: str) -> Formula:
    """A is near B."""
    return gap_at_most(story, when, a, b, story.length("near"))


@relation
def accompanies(story: Story, when: When, a: str, b: str) -> Formula:
    """A is near B, and in the same places."""
    parts = [near(story, when, a, b)]
    if story.telling:
        for one, other in ((a, b), (b, a)):
            story.joined[one, "with", other, when.at] = None
            parts.append(story.told_of(one, "with", other, when.at))
        return every(parts)
    for name in sorted(story.holding - {a, b}):
        parts.append(story.within(a, name, when.at).implies(story.within(b, name, when.at)))
        parts.append(story.within(b, name, when.at).implies(story.within(a, name, when.at)))
    return every(parts)


@relation
def far(story: Story, when: When, a: str, b: str) -> Formula:
    """A is far from B."""
    return ~gap_at_most(story, when, a, b, story.length("far"))


@relation
def miles_off(story: Story, when: When, a: str, b: str) -> Formula:
    """A is many miles from B."""
    return ~gap_at_most(story, when, a, b, story.length("mile") * 2)


def _ways(story: Story, at: int, a: str, b: str, axes: tuple[str, ...] = AXES) -> list[Term]:
    """From B to A along each axis, both ways; the largest is their distance."""
    found = []
    for axis in axes:
        offset = story.middle(a, axis, at) - story.middle(b, axis, at)
        found += [offset, offset * -1]
    return found


METERS: dict[str, int | Fraction] = {"kilometer": 1000, "meter": 1, "centimeter": Fraction(1, 100)}


def unit_length(story: Story, unit: str) -> Term:
    """How long a unit is."""
    if unit == "mile":
        return story.length(unit)
    length = quantity("one meter" if unit in METERS else f"one {unit}")
    story.assume(length > 0)
    return length * METERS.get(unit, 1)


@relation
def apart(story: Story, when: When, a: str, b: str, sign: str, number: float, unit: str) -> Formula:
    """A is exactly, less or more than so many miles or meters from B, from centre to centre."""
    length = unit_length(story, unit) * number
    offsets = _ways(story, when.at, a, b)
    most = every(offset <= length for offset in offsets)
    if sign == "more":
        return ~most
    if sign == "less":
        return every(offset < length for offset in offsets)
    exactly = most & some(offset.same(length) for offset in offsets)
    in_touch = frozenset((a, b)) in story.in_touch
    if number and (story.telling or in_touch):
        exactly &= gap(story, when, a, b)
    return exactly


def _shorter(these: list[Term], those: list[Term]) -> Formula:
    """The largest of these offsets is less than the largest of those."""
    ways = []
    for that in those:
        ways.append(every(this < that for this in these))
    return some(ways)


@relation
def closer(story: Story, when: When, a: str, b: str, c: str, d: str) -> Formula:
    """A is closer to B than C is to D."""
    return _shorter(_ways(story, when.at, a, b), _ways(story, when.at, c, d))


@relation
def closer_of(story: Story, when: When, a: str, b: str, one: str, two: str) -> Formula:
    """Of two things, A is closer to B."""
    other = two if b == one else one
    return closer(story, when, a, b, a, other)


@relation
def as_far(story: Story, when: When, a: str, b: str, c: str, d: str, number: float = 1) -> Formula:
    """A is so many times as far from B as C is from D."""
    these = _ways(story, when.at, a, b)
    those = [way * number for way in _ways(story, when.at, c, d)]
    return ~_shorter(these, those) & ~_shorter(those, these)


@relation
def equally_far(story: Story, when: When, a: str, b: str, c: str) -> Formula:
    """A is as far from B as from C."""
    return as_far(story, when, a, b, a, c)


@relation
def receding(story: Story, when: When, a: str, b: str) -> Formula:
    """A is farther from B after than before."""
    return approaching(story, When(when.at, when.after, when.before), a, b)


@relation
def approaching(story: Story, when: When, a: str, b: str) -> Formula:
    """A is closer to B after than before."""
    then, since = _ways(story, when.before, a, b, PLAN), _ways(story, when.after, a, b, PLAN)
    return _shorter(since, then)


def _in_order(low: Term, middle: Term, high: Term) -> Formula:
    rising = (low < middle) & (middle < high)
    falling = (high < middle) & (middle < low)
    return rising | falling


def _not_past(low: Term, middle: Term, high: Term) -> Formula:
    rising = (low <= middle) & (middle <= high)
    falling = (high <= middle) & (middle <= low)
    return rising | falling


def _between(story: Story, at: int, a: str, b: str, c: str, *, in_line: bool) -> Formula:
    ways = []
    for axis in AXES:
        places = [story.middle(name, axis, at) for name in (b, a, c)]
        parts = [_in_order(*places)]
        for other in AXES:
            if other == axis:
                continue
            low, middle, high = (story.middle(name, other, at) for name in (b, a, c))
            if in_line:
                parts += [middle.same(low), middle.same(high)]
            else:
                parts.append(_not_past(low, middle, high))
        ways.append(every(parts))
    return some(ways)


@relation
def between(story: Story, when: When, a: str, b: str, c: str) -> Formula:
    """A is between B and C, in one row with them."""
    in_a_row = _between(story, when.at, a, b, c, in_line=not story.reads("loose"))
    return in_a_row if story.telling else in_a_row | halfway(story, when, a, b, c)


@relation
def exactly_between(story: Story, when: When, a: str, b: str, c: str) -> Formula:
    """A is between B and C and exactly in line with them, as long as the story lasts."""
    parts = []
    for at in MOMENTS:
        parts.append(_between(story, at, a, b, c, in_line=True))
    return every(parts)


@relation
def halfway(story: Story, when: When, a: str, b: str, c: str) -> Formula:
    """A is in the middle between B and C, which are apart."""
    parts = []
    for axis in AXES:
        ends = story.middle(b, axis, when.at) + story.middle(c, axis, when.at)
        parts.append((story.middle(a, axis, when.at) * 2).same(ends))
    return every(parts) & _between(story, when.at, a, b, c, in_line=False)


@relation
def in_line(story: Story, when: When, *names: str) -> Formula:
    """All stand in one straight row, each in a place of its own."""
    ways = []
    for axis in AXES:
        parts: list[Formula] = []
        for other in AXES:
            if other != axis:
                places = [story.middle(name, other, when.at) for name in names]
                parts += [place.same(places[0]) for place in places[1:]]
        ways.append(every(parts))
    return some(ways)
