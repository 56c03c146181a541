"""Chains: stories in several steps, with proved answers, by families of relations."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple

from gnomon.proofs.chainfacts import (
    APART,
    CONTAINS,
    FAR,
    INSIDE,
    OUTSIDE,
    Bound,
    Bounds,
    ChainFact,
    Logic,
    Ordering,
    Regions,
    Story,
    Verdict,
    core,
    is_open,
)

# Families of relations, each with the logic that decides its stories.
#
# four    left, right, above, below of points: bAbI 17; nothing is said about the other axis
# eight   directions of points on both axes, and the same place: StepGame
# solids  six directions of whole boxes, and inside
# places  inside, outside, touching, near and far of areas: SpartQA


@dataclass(frozen=True)
class RelationFamily:
    """Relations that stories are told in, what is asked about, and what decides."""

    name: str
    logic: Logic[Any]
    converse: Mapping[str, str]  # every relation, and how it is said the other way round
    asked: tuple[str, ...]
    asked_at_once: tuple[str, ...]  # that one fact can leave open, for chains of one

    @property
    def relations(self) -> tuple[str, ...]:
        """Every relation."""
        return tuple(self.converse)


def _point(axis: str, lesser: str) -> Bound:
    return Bound(lesser, "low", "low", axis)


def _level(axis: str) -> Bounds:
    """Equal on an axis: neither is less."""
    ends = ("low", "low", axis, False)
    return Bound("first", *ends), Bound("second", *ends)


def _box(axis: str, lesser: str) -> Bound:
    return Bound(lesser, "high", "low", axis)


def _within(axis: str) -> Bounds:
    """The first lies between the ends of the second."""
    return Bound("second", "low", "low", axis), Bound("first", "high", "high", axis)


def _turned(bounds: Bounds) -> Bounds:
    found = []
    for bound in bounds:
        other = "first" if bound.lesser == "second" else "second"
        found.append(bound._replace(lesser=other))
    return tuple(found)


def _both_ways(pairs: Mapping[str, str]) -> dict[str, str]:
    found = dict(pairs)
    for one, other in pairs.items():
        found[other] = one
    return found


def _with_converse(bounds: Mapping[str, Bounds], converse: Mapping[str, str]) -> dict[str, Bounds]:
    found = dict(bounds)
    for one, other in converse.items():
        if one in bounds and other not in bounds:
            found[other] = _turned(bounds[one])
    return found


def _four() -> RelationFamily:
    converse = _both_ways({"left": "right", "below": "above"})
    bounds: dict[str, Bounds] = {"left": (_point("x", "first"),), "below": (_point("y", "first"),)}
    logic = Ordering(_with_converse(bounds, converse))
    words = tuple(converse)
    return RelationFamily("four", logic, converse, words, words)


def _eight() -> RelationFamily:
    left, below = _point("x", "first"), _point("y", "first")
    above = _point("y", "second")
    bounds: dict[str, Bounds] = {
        "left": (left, *_level("y")),
        "below": (below, *_level("x")),
        "below left": (left, below),
        "above left": (left, above),
        "same place": (*_level("x"), *_level("y")),
    }
    pairs = {
        "left": "right",
        "below": "above",
        "below left": "above right",
        "above left": "below right",
        "same place": "same place",
    }
    converse = _both_ways(pairs)
    asked = tuple(word for word in converse if word != "same place")
    return RelationFamily("eight", Ordering(_with_converse(bounds, converse)), converse, asked, ())


def _solids() -> RelationFamily:
    bounds: dict[str, Bounds] = {
        "left": (_box("x", "first"),),
        "below": (_box("y", "first"),),
        "in front": (_box("z", "first"),),
        "inside": (*_within("x"), *_within("y"), *_within("z")),
    }
    pairs = {"left": "right", "below": "above", "in front": "behind", "inside": "contains"}
    converse = _both_ways(pairs)
    directions = tuple(word for word in converse if word not in ("inside", "contains"))
    logic = Ordering(_with_converse(bounds, converse), boxes=True)
    return RelationFamily("solids", logic, converse, (*directions, "inside"), directions)


def _places() -> RelationFamily:
    converse = _both_ways({INSIDE: CONTAINS})
    converse |= {name: name for name in APART}
    asked = (INSIDE, OUTSIDE, FAR)
    return RelationFamily("places", Regions(), converse, asked, (FAR,))


FAMILIES = {family.name: family for family in (_four(), _eight(), _solids(), _places())}


# Builds stories in threes, in the same words: one says yes, one says no, one leaves it open.
#
# A story is a chain of facts from the first thing to the last, and distractors that hang on it.
# The three differ in nothing but which of two names comes first in a sentence, and in which
# sentence a relation is said. So neither words nor lengths say anything. Each story is built and
# then proved: its answer must need every fact of the chain and no other, or two arrangements must
# show that it is open.


TRIES = 400  # at a story before another chain is drawn
CHAINS = 100  # that are drawn before there is taken to be none
NESTED = 0.35  # share of links that say what contains what, among boxes
SAME = 0.1  # share of links that say that two things are in the same place
CONTAINMENT = (INSIDE, CONTAINS)
_AXES = {"left": "x", "right": "x", "below": "y", "above": "y", "in front": "z", "behind": "z"}


class Trio(NamedTuple):
    """A question, and a story for each verdict; the facts of the chain come first in each."""

    family: RelationFamily
    hops: int
    question: ChainFact
    stories: dict[Verdict, tuple[ChainFact, ...]]


def make_trio(name: str, hops: int, distractors: int, random: Random) -> Trio | None:
    """Three stories that are proved; none if that many distractors do not allow it."""
    family = FAMILIES[name]
    asked = _askable(family, hops, distractors)
    if not asked:
        return None
    for _ in range(CHAINS):
        question = ChainFact(random.choice(asked), 0, hops)
        base = _told(_drawn_story(family, question, distractors, random), family, random)
        yes = _proved_variant(family, base, question, "yes", random)
        no = _proved_variant(family, base, question, "no", random)
        # an open story begins and ends as one of the others, so that its ends do not tell
        source = random.choice((base, no or base))
        unknown = _proved_variant(family, source, question, "cannot tell", random)
        if yes and no and unknown:
            stories: dict[Verdict, tuple[ChainFact, ...]]
            stories = {"yes": yes, "no": no, "cannot tell": unknown}
            return Trio(family, hops, question, stories)
    return None


def proof(
    family: RelationFamily, story: Story, question: ChainFact, verdict: Verdict
) -> list[ChainFact] | None:
    """The facts that a verdict needs (none if it is open); None if the verdict is not proved."""
    if verdict == "cannot tell":
        return [] if is_open(family.logic, story, question) else None
    if family.logic.verdict(story, question) != verdict:
        return None
    return core(family.logic, story, question)


def _askable(family: RelationFamily, hops: int, distractors: int) -> list[str]:
    """What can be asked: the words of distractors must make the other two stories."""
    asked = family.asked_at_once if hops == 1 else family.asked
    return [word for word in asked if len(_needed(family, word, hops)) <= distractors]


def _needed(family: RelationFamily, asked: str, hops: int) -> list[tuple[str, ...]]:
    """Words that distractors must have, so that a fact of the chain can take them."""
    if family.name == "places":
        if asked == INSIDE:
            return []
        return [CONTAINMENT, (OUTSIDE,)] if hops == 1 else [CONTAINMENT]
    if hops > 1:
        return []
    others = [word for word, axis in _AXES.items() if axis != _AXES[asked]]
    return [tuple(word for word in others if word in family.relations)]


def _drawn_story(
    family: RelationFamily, question: ChainFact, distractors: int, random: Random
) -> list[ChainFact]:
    """A chain from which the answer follows, and facts about other things that hang on it."""
    hops = question.second
    story = _chain(family, question.relation, hops, random)
    needed = _needed(family, question.relation, hops)
    for number in range(distractors):
        words = needed[number] if number < len(needed) else family.relations
        thing = hops + 1 + number
        story.append(ChainFact(random.choice(words), thing, random.randrange(thing)))
    return story


def _chain(family: RelationFamily, asked: str, hops: int, random: Random) -> list[ChainFact]:
    words = [asked] * hops
    if family.name == "eight":
        words = _steps(asked, hops, random)
    elif family.name == "solids" and asked != INSIDE:
        words = _nested_steps(asked, hops, random)
    elif family.name == "places" and asked != INSIDE:
        words = _around(asked, hops, random)
    return [ChainFact(word, place, place + 1) for place, word in enumerate(words)]


def _steps(asked: str, hops: int, random: Random) -> list[str]:
    """Directions that add up to the one that is asked about, on both axes."""
    parts = asked.split()
    words = []
    for _ in range(hops):
        taken = [part for part in parts if random.random() < 0.5] or [random.choice(parts)]
        words.append("same place" if random.random() < SAME else " ".join(taken))
    together = {part for word in words for part in word.split()}
    if not set(parts) <= together:  # an axis is still open
        words[random.randrange(hops)] = asked
    return words


def _nested_steps(asked: str, hops: int, random: Random) -> list[str]:
    """A direction of boxes, passed on by what contains or is inside what.

    Past the near side of a box one may go into it; past its far side only, out of it.
    """
    words: list[str] = []
    past_near_side = False
    while len(words) < hops:
        last = len(words) == hops - 1
        if random.random() >= NESTED or (last and not past_near_side):
            words.append(asked)
            past_near_side = True
        elif past_near_side and (last or random.random() < 0.5):
            words.append(CONTAINS)
        else:
            words.append(INSIDE)
            past_near_side = False
    return words


def _around(asked: str, hops: int, random: Random) -> list[str]:
    """Out of containers, over to another place, and into containers there."""
    before = random.randrange(hops)
    over = FAR if asked == FAR else random.choice(APART)
    return [INSIDE] * before + [over] + [CONTAINS] * (hops - before - 1)


def _told(story: Story, family: RelationFamily, random: Random) -> list[ChainFact]:
    """Each fact one way round or the other."""
    found = []
    for fact in story:
        if random.random() < 0.5:
            fact = ChainFact(family.converse[fact.relation], fact.second, fact.first)
        found.append(fact)
    return found


def _proved_variant(
    family: RelationFamily, base: Story, question: ChainFact, verdict: Verdict, random: Random
) -> tuple[ChainFact, ...] | None:
    """The story in the same words such that the verdict is proved, by the chain as a whole."""
    hops = question.second
    for story in _variants(base, hops, verdict, random):
        found = proof(family, story, question, verdict)
        if found is None:
            continue
        if verdict == "cannot tell" or found == list(story[:hops]):
            return tuple(story)
    return None


def _variants(
    base: Story, hops: int, verdict: Verdict, random: Random
) -> Iterator[list[ChainFact]]:
    if verdict == "yes":
        yield list(base)
        return
    links = range(hops)
    if verdict == "cannot tell" and hops > 2:
        links = range(1, hops - 1)
    for _ in range(TRIES):
        story = list(base)
        if len(base) > hops and random.random() < 0.5:
            _exchange_words(story, random.choice(links), random.randrange(hops, len(base)))
        if verdict == "no" and random.random() < 0.5:
            _turn_directions(story, hops)
        elif verdict == "no":
            _nest(story, hops, random)
        else:
            _turn_some(story, links, random)
        yield story


def _exchange_words(story: list[ChainFact], one: int, two: int) -> None:
    """Let a fact of the chain and a distractor exchange what they say."""
    first, second = story[one].relation, story[two].relation
    story[one] = story[one]._replace(relation=second)
    story[two] = story[two]._replace(relation=first)


def _turn_directions(story: list[ChainFact], hops: int) -> None:
    """The whole chain the other way round, but for what contains what."""
    nested = all(fact.relation in CONTAINMENT for fact in story[:hops])
    for place in range(hops):
        if nested or story[place].relation not in CONTAINMENT:
            story[place] = story[place].turned


def _nest(story: list[ChainFact], hops: int, random: Random) -> None:
    """Up through containers to some link, and down from there; or the reverse."""
    top = random.choice((0, random.randrange(hops + 1), hops))
    rising = random.random() < 0.5
    for place in range(hops):
        fact = story[place]
        if fact.relation not in CONTAINMENT:
            continue
        lower, upper = place, place + 1
        if (place < top) != rising:
            lower, upper = upper, lower
        if fact.relation == CONTAINS:
            lower, upper = upper, lower
        story[place] = ChainFact(fact.relation, lower, upper)


def _turn_some(story: list[ChainFact], links: range, random: Random) -> None:
    """Some facts of the chain the other way round."""
    share = random.random()
    for place in links:
        if random.random() < share:
            story[place] = story[place].turned
