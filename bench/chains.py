"""Proves the labels of `chains` once more, by another road: from the words, with z3.

    python bench/chains.py                    600 items of seed 0
    python bench/chains.py --items 10000      as many as you like
    python bench/chains.py --seed 7

Each story is read back from its sentences; points and boxes are real numbers, areas are sets of
places with distances between them. The label must be what z3 says: yes if the story and the
opposite of the question cannot both hold, no if the story and the question cannot, and open if each
of them can. The story itself must be consistent, and a core of z3's must have as many facts as the
item has hops. Needs z3-solver.
"""

from __future__ import annotations

import argparse
import re
import time
from collections import Counter
from functools import cache
from itertools import combinations, product
from typing import NamedTuple

import z3

import gnomon
from gnomon.files import package_data, read_yaml
from gnomon.records import Item

NO_ROUNDS = 40  # of seeds, at most
AXES = {"left": "x", "right": "x", "below": "y", "above": "y", "in front": "z", "behind": "z"}
WORDS = read_yaml(package_data("chains.yaml"))


class Said(NamedTuple):
    """A sentence as it is read: who is how to whom."""

    relation: str
    first: str
    second: str


def main() -> None:
    args = arguments()
    start = time.process_time()
    found: Counter[tuple[str, str]] = Counter()
    cores: Counter[bool] = Counter()
    for item in items_of(args.seed, args.items):
        label, core = judged(item)
        found[item.gold[0], label] += 1
        if label != "cannot tell":
            cores[core == int(item.tags["hops"])] += 1
        if label != item.gold[0]:
            print(f"{item.id}: {item.gold[0]} in the set, {label} by proof")
    seconds = time.process_time() - start
    right = sum(count for (gold, label), count in found.items() if gold == label)
    print(f"{right:,} of {found.total():,} labels proved; {seconds:.0f} s of CPU")
    print(f"{cores[True]:,} of {cores.total():,} cores have as many facts as hops")
    for (gold, label), count in sorted(found.items()):
        print(f"  {gold}, proved {label}: {count:,}")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--items", type=int, default=600, metavar="N", help="how many to prove")
    parser.add_argument("--seed", type=int, default=0, help="first of the seeds")
    return parser.parse_args()


def items_of(seed: int, count: int) -> list[Item]:
    """The first items of a seed, and of the next ones if these are too few."""
    found: list[Item] = []
    for number in range(seed, seed + NO_ROUNDS):
        found += gnomon.load("chains", seed=number).items()
        if len(found) >= count:
            break
    return found[:count]


def judged(item: Item) -> tuple[str, int]:
    """The label by proof, and how many facts the proof needs (0 if it is open)."""
    story, question = read_item(item)
    things = sorted({name for said in (*story, question) for name in said[1:]})
    family = WORDS["worlds"][item.tags["world"]]["family"]
    world = MAKERS[family](things, story)
    solver = z3.SimpleSolver()
    solver.set("core.minimize", True)
    solver.add(world.axioms())
    marks = []
    for number, said in enumerate(story):
        mark = z3.Bool(f"fact {number}")
        solver.add(z3.Implies(mark, world.means(said)))
        marks.append(mark)
    assert solver.check(*marks) == z3.sat, f"{item.id}: the story contradicts itself"
    asked = world.means(question)
    for label, formula in (("yes", z3.Not(asked)), ("no", asked)):
        solver.push()
        solver.add(formula)
        if solver.check(*marks) == z3.unsat:
            return label, len(solver.unsat_core())
        solver.pop()
    return "cannot tell", 0


def read_item(item: Item) -> tuple[list[Said], Said]:
    """The facts of a story and its question, from their words alone."""
    world = WORDS["worlds"][item.tags["world"]]
    assert item.context.startswith(world["scene"])
    told = item.context.removeprefix(world["scene"]).strip().rstrip(".")
    story = [read_sentence(text, item.tags["world"]) for text in told.split(". ")]
    asked, _, rest = item.text.partition("? ")
    assert rest == "Answer yes, no or cannot tell."
    asked = re.sub(r"^Am I ", "I is ", asked)
    verb, _, rest = asked.partition(" ")
    if verb == "Is":
        return story, read_question(rest, item.tags["world"])
    return story, read_sentence(asked, item.tags["world"])


def read_sentence(text: str, world: str) -> Said:
    """A sentence, with or without the one who tells it."""
    for frame in WORDS["witness"]:
        text = text.removeprefix(frame.format(sentence=""))
    text = re.sub(r"^I am ", "I is ", text)
    for way, relation in phrases(world):
        one, said, two = text.partition(f" {way} ")
        if said:
            return Said(relation, name(one), name(two))
    raise AssertionError(text)


def read_question(text: str, world: str) -> Said:
    """A question without its "Is"."""
    for way, relation in phrases(world):
        verb, _, rest = way.partition(" ")
        one, said, two = text.partition(f" {rest} ")
        if verb == "is" and said:
            return Said(relation, name(one), name(two))
    raise AssertionError(text)


def name(text: str) -> str:
    if text == "me":
        return "I"
    return text.replace("The ", "the ")


@cache
def phrases(world: str) -> list[tuple[str, str]]:
    """Every way to say a relation, the longest first."""
    found = []
    for relation, ways in WORDS["worlds"][world]["relations"].items():
        found += [(way, relation) for way in ways]
    return sorted(found, key=lambda pair: -len(pair[0]))


class Points:
    """Things as points on a plane; `exactly` if directions speak of both axes."""

    exactly = False

    def __init__(self, things: list[str], story: list[Said]) -> None:
        self.x = {thing: z3.Real(f"{thing}.x") for thing in things}
        self.y = {thing: z3.Real(f"{thing}.y") for thing in things}

    def axioms(self) -> list[z3.BoolRef]:
        return []

    def means(self, said: Said) -> z3.BoolRef:
        one, two = said.first, said.second
        right, up = self.x[one] - self.x[two], self.y[one] - self.y[two]
        signs = {"left": right < 0, "right": right > 0, "below": up < 0, "above": up > 0}
        if said.relation == "same place":
            return z3.And(right == 0, up == 0)
        words = said.relation.split()
        parts = [signs[word] for word in words]
        if self.exactly and words in (["left"], ["right"]):
            parts.append(up == 0)
        if self.exactly and words in (["above"], ["below"]):
            parts.append(right == 0)
        return z3.And(parts)


class ExactPoints(Points):
    exactly = True


class Boxes:
    """Things as boxes with two ends on each of three axes."""

    def __init__(self, things: list[str], story: list[Said]) -> None:
        self.ends = {}
        for thing, axis in product(things, "xyz"):
            ends = z3.Real(f"{thing}.{axis}0"), z3.Real(f"{thing}.{axis}1")
            self.ends[thing, axis] = ends

    def axioms(self) -> list[z3.BoolRef]:
        return [low < high for low, high in self.ends.values()]

    def means(self, said: Said) -> z3.BoolRef:
        one, two = said.first, said.second
        if said.relation == "contains":
            one, two = two, one
        if said.relation in ("inside", "contains"):
            within = []
            for axis in "xyz":
                (low, high), (outer_low, outer_high) = self.ends[one, axis], self.ends[two, axis]
                within += [outer_low < low, high < outer_high]
            return z3.And(within)
        axis = AXES[said.relation]
        if said.relation in ("right", "above", "behind"):
            one, two = two, one
        return self.ends[one, axis][1] < self.ends[two, axis][0]


class Areas:
    """Things as sets of places with distances between them: enough places for any arrangement.

    An area that is there needs one place; two that are close need a place in each, and so does the
    question. What is proved with distances that need not obey geometry holds with those that do.
    """

    TOUCH, NEAR, FAR = 0, 1, 3

    def __init__(self, things: list[str], story: list[Said]) -> None:
        close = sum(said.relation in ("touching", "near") for said in story)
        self.places = range(len(things) + 2 * close + 2)
        self.things = things
        self.covers = {}
        for thing, place in product(things, self.places):
            self.covers[thing, place] = z3.Bool(f"{thing} at {place}")
        self.apart = {}
        for one, two in combinations(self.places, 2):
            self.apart[one, two] = z3.Int(f"{one} to {two}")

    def axioms(self) -> list[z3.BoolRef]:
        found = [
            z3.Or([self.covers[thing, place] for place in self.places]) for thing in self.things
        ]
        for gap in self.apart.values():
            found += [gap >= self.TOUCH, gap <= self.FAR]
        return found

    def means(self, said: Said) -> z3.BoolRef:
        one, two = said.first, said.second
        if said.relation == "contains":
            one, two = two, one
        if said.relation in ("inside", "contains"):
            return self._inside(one, two)
        shared = [z3.And(self.covers[one, p], self.covers[two, p]) for p in self.places]
        disjoint = z3.Not(z3.Or(shared))
        if said.relation == "outside":
            return disjoint
        if said.relation == "far":
            return z3.And(disjoint, z3.Not(self._within(one, two, self.FAR - 1)))
        most = self.TOUCH if said.relation == "touching" else self.NEAR
        return z3.And(disjoint, self._within(one, two, most))

    def _inside(self, one: str, two: str) -> z3.BoolRef:
        parts, more = [], []
        for place in self.places:
            inner, outer = self.covers[one, place], self.covers[two, place]
            parts.append(z3.Implies(inner, outer))
            more.append(z3.And(outer, z3.Not(inner)))
        return z3.And(*parts, z3.Or(more))

    def _within(self, one: str, two: str, most: int) -> z3.BoolRef:
        found = []
        for (p, q), gap in self.apart.items():
            for here, there in ((p, q), (q, p)):
                found.append(z3.And(self.covers[one, here], self.covers[two, there], gap <= most))
        return z3.Or(found)


MAKERS = {"four": Points, "eight": ExactPoints, "solids": Boxes, "places": Areas}


if __name__ == "__main__":
    main()
