"""Which items people confirm, files of their votes, and how far each person can be relied on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from gnomon.contracts import Judged
from gnomon.errors import DataError
from gnomon.files import read_lines
from gnomon.items.itemfiles import ENDINGS, ORIGIN, UNKNOWN, is_item_file, read_items
from gnomon.measures.agreement import Judgements
from gnomon.measures.columns import Codes, Floats
from gnomon.people.order import Extra, read_extras
from gnomon.people.votes import Flags, PersonVote, Votes, person_of
from gnomon.records import Item
from gnomon.registry import vote_formats
from gnomon.runs import Run

# Which items people confirm, and those items as a file that can be asked.
#
# Two rules. "two-thirds" (VSR, section 2.2): at least two thirds of an item's votes are for its
# right label, or for one label where it names none. "majority" (SpaceNLI, section 3.1): more than
# half of them are for one label, which becomes the right one. An item without votes is never
# kept.


Rule = Literal["two-thirds", "majority"]
RULES: tuple[str, ...] = get_args(Rule)
FRAME = "frame"  # the part of a response, and the tag, that names a point of view
VOTE = "vote:"  # begins the tag that holds what a person said
AGAIN = "#"  # stands between a person's name and the number of a further vote


class Validated(NamedTuple):
    """What became of the items."""

    kept: Flags  # [items]
    label: Codes  # [items] the label that counts as right; -1 for none
    votes: Codes  # [items] how many people voted
    agreeing: Codes  # [items] how many of them for the right label
    rule: str

    @property
    def disputed(self) -> Flags:
        """Which items have at least one vote against their label."""
        return np.asarray(self.agreeing < self.votes)


def validated(votes: Votes, rule: str = "two-thirds", least: int = 1) -> Validated:
    """Which items are kept: those that enough people judged and agree on."""
    counts = votes.counts()
    voters = counts.sum(axis=1)
    top = counts.argmax(axis=1)
    agreeing = counts.max(axis=1, initial=0)
    label = np.where(voters > 0, top, -1)
    if rule == "two-thirds":
        agreeing = np.where(votes.has_gold, (counts * votes.gold).sum(axis=1), agreeing)
        label = np.where(votes.has_gold, votes.gold.argmax(axis=1), label)
        enough = 3 * agreeing >= 2 * voters
    else:
        enough = 2 * agreeing > voters
    kept = enough & (voters >= max(1, least))
    return Validated(kept, label, voters, agreeing, rule)


def validated_items(votes: Votes, found: Validated) -> Iterator[Item]:
    """The items that are kept, with how people voted as tags: a new set to ask.

    The tags are `votes` (how many), `agreement` (their share for the right label), `dissent`
    (yes or no), `vote:NAME` for each person, and `benchmark`, where the items come from.
    """
    for row in np.flatnonzero(found.kept).tolist():
        item = votes.items[row]
        gold = item.gold
        if found.rule == "majority" or not gold:
            gold = (votes.labels[found.label[row]],)
        # votes of an earlier validation are not these people's
        tags = {name: value for name, value in item.tags.items() if not name.startswith(VOTE)}
        tags |= _vote_tags(votes, found, row)
        tags[ORIGIN] = votes.benchmark
        yield replace(item, gold=gold, tags=tags)


def with_frames(items: Iterable[Item], runs: Sequence[Run]) -> Iterator[Item]:
    """Items with the point of view from which most people judged them, as the tag `frame`.

    Where nobody was asked, or no point of view was named more often than all others, there is none.
    """
    named: dict[str, Counter[str]] = {}
    for run in runs:
        for extra in read_extras(run.path):
            frame = extra.response.get(FRAME, "")
            if frame and extra.kind == "item":
                named.setdefault(extra.item, Counter())[frame] += 1
    for item in items:
        most = named.get(item.id, Counter()).most_common(2)
        if most and (len(most) == 1 or most[0][1] > most[1][1]):
            item = replace(item, tags={**item.tags, FRAME: most[0][0]})
        yield item


def _vote_tags(votes: Votes, found: Validated, row: int) -> dict[str, str]:
    total, agreeing = int(found.votes[row]), int(found.agreeing[row])
    tags = {
        "votes": str(total),
        "agreement": f"{agreeing / total:.2f}",
        "dissent": "yes" if agreeing < total else "no",
    }
    for person, code in zip(votes.people, votes.said[row].tolist(), strict=True):
        if code >= 0:
            tags[f"{VOTE}{person}"] = votes.labels[code]
    if votes.all_count:
        further = votes.repeats[votes.repeats[:, 0] == row, 1:].tolist()
        for number, (person, code) in enumerate(further, 2):
            tags[f"{VOTE}{votes.people[person]}{AGAIN}{number}"] = votes.labels[code]
    return tags


def surest_first(votes: Votes) -> Floats:
    """[items] the share of votes for the most frequent label; NaN without two votes."""
    counts = votes.counts()
    voters = counts.sum(axis=1)
    share = counts.max(axis=1, initial=0) / np.maximum(voters, 1)
    return np.where(voters >= 2, share, np.nan)


# Votes from files: published ones, by their format, and those that `gnomon people agree -o` wrote.


HEAD = 3  # lines by which a format is known


def is_vote_file(path: str) -> bool:
    """Whether a path names a file of votes rather than a folder of runs."""
    return is_item_file(path) and not Path(path).is_dir()


def votes_of_file(file: Path) -> Votes:
    """The votes in a file."""
    head: list[str] = []
    if file.suffix == ENDINGS[0]:
        head = [text for _, text in islice(read_lines(file), HEAD)]
    for format in vote_formats().values():
        if format.recognises(file, head):
            return Votes.of(format.benchmark, map(_votes_in, format.read(file)), all_count=True)
    found = list(_own(file))
    if not any(judged.said for judged in found):
        raise DataError(
            "its items have no votes.",
            "Give runs of people, a file that `gnomon people agree -o` wrote, or published votes: "
            f"{', '.join(vote_formats())}.",
            file=file,
        )
    return Votes.of(_origin(found[0].item), map(_votes_in, found), all_count=True)


def _votes_in(judged: Judged) -> tuple[Item, list[PersonVote]]:
    return judged.item, [PersonVote(person, label) for person, label in judged.said]


def _own(file: Path) -> Iterator[Judged]:
    """Items with a tag for each vote."""
    for item in read_items(file):
        said = []
        for tag, label in item.tags.items():
            if tag.startswith(VOTE):
                person = tag.removeprefix(VOTE).partition(AGAIN)[0]
                said.append((person, label))
        yield Judged(item, said)


def _origin(item: Item) -> str:
    return item.tags.get(ORIGIN, UNKNOWN)


# How far each person can be relied on: by repeats and catch items, and without right labels.


# Whether people agree with themselves, and whether they read what they are asked.
#
# A file may hold several votes of a person on an item. A page may show items again, and mix in
# catch items with a known answer: those responses are no answers of the run, but stand beside it
# (people.extras).


class ShareOf(NamedTuple):
    """So many of so many."""

    n: int = 0
    good: int = 0

    @property
    def share(self) -> float | None:
        """None of nothing."""
        return self.good / self.n if self.n else None

    def plus(self, other: ShareOf) -> ShareOf:
        """Both together."""
        return ShareOf(self.n + other.n, self.good + other.good)


class Care(NamedTuple):
    """How carefully a person works."""

    again: ShareOf = ShareOf()  # items that they judged twice, and how often alike
    catch: ShareOf = ShareOf()  # items whose answer is known, and how often they gave it

    def plus(self, other: Care) -> Care:
        """Both together."""
        return Care(self.again.plus(other.again), self.catch.plus(other.catch))


def care_in_votes(votes: Votes) -> dict[str, Care]:
    """For each person how often a further vote on an item is their first one again."""
    row, person, code = votes.repeats.T
    first = votes.said[row, person]
    shown = np.bincount(person[first >= 0], minlength=len(votes.people))
    alike = np.bincount(person[first == code], minlength=len(votes.people))
    found = {}
    for name, n, same in zip(votes.people, shown.tolist(), alike.tolist(), strict=True):
        found[name] = Care(again=ShareOf(n, same))
    return found


def care_in_runs(runs: Iterable[Run]) -> dict[str, Care]:
    """For each person what stands beside the answers of their runs."""
    found: dict[str, Care] = {}
    for run in runs:
        name = person_of(run.model)
        if name:
            mine = _care(read_extras(run.path))
            found[name] = found.get(name, Care()).plus(mine)
    return found


def _care(extras: Iterable[Extra]) -> Care:
    given = [extra for extra in extras if not extra.skipped]
    first = {extra.item: extra.response for extra in given if extra.kind == "item"}
    again = catch = ShareOf()
    for extra in given:
        if extra.kind == "repeat" and extra.item in first:
            again = again.plus(ShareOf(1, extra.response == first[extra.item]))
        elif extra.kind == "catch":
            catch = catch.plus(ShareOf(1, bool(extra.right)))
    return Care(again, catch)


LEAST_PEOPLE = 3  # two people can always explain each other's votes
ADDED = 0.2  # to each row of a person's table, in answers
ADDED_ITEMS = 0.1  # to the items of which each label is true
LEAST = 1e-12  # of a cell, so that it has a logarithm
MOST_STEPS = 1000
ENOUGH = 1e-9  # a step that improves the fit by less than this share of it is the last


class Reliability(NamedTuple):
    """What the votes say about people and items."""

    people: Floats  # [people] how likely each says what is true
    tables: Floats  # [people, labels, labels] how likely each says a label where another is true
    shares: Floats  # [labels] how often each label is true
    labels: Floats  # [items, labels] how likely each label is true of an item
    steps: int
    converged: bool


class _Made(NamedTuple):
    """The votes one by one, in the order of the items."""

    row: NDArray[np.int64]
    person: NDArray[np.int64]
    code: NDArray[np.int64]
    items: int
    people: int
    labels: int


def reliability_of(votes: Votes) -> Reliability | None:
    """The estimate; none with fewer than three people, or where no two judged the same item."""
    shared = votes.made.sum(axis=1) >= 2
    if len(votes.people) < LEAST_PEOPLE or not shared.any():
        return None
    possible = np.zeros((len(votes.items), len(votes.labels)), dtype=bool)
    for kind, choices in enumerate(votes.table.kinds.choices):
        rows = np.flatnonzero(votes.table.kind == kind)
        possible[np.ix_(rows, choices[choices >= 0])] = True
    return dawid_skene(votes.said, len(votes.labels), possible)


def dawid_skene(
    said: Judgements, labels: int, possible: NDArray[np.bool_] | None = None
) -> Reliability:
    """People's tables and the true labels, from a matrix [items, people] of codes, -1 for none.

    `possible` [items, labels] says which labels an item may have, if not all.
    """
    row, person = np.nonzero(said >= 0)
    made = _Made(row, person, said[row, person], len(said), said.shape[1], labels)
    if possible is None:
        possible = np.ones((len(said), labels), dtype=bool)

    prior = _prior(possible)
    truth = _vote_shares(made, possible)
    before, steps, converged = -np.inf, 0, False
    while not converged and steps < MOST_STEPS:
        tables, shares = _estimated(made, truth, prior)
        truth, fit = _expected(made, possible, tables, shares, prior)
        converged = bool(fit - before <= ENOUGH * abs(fit))
        before = fit
        steps += 1
    right = np.diagonal(tables, axis1=1, axis2=2)
    people = right @ truth.mean(axis=0)
    return Reliability(people, tables, shares, truth, steps, converged)


def _prior(possible: NDArray[np.bool_]) -> Floats:
    """[labels, labels] what is added to a table: each row's share to labels offered beside its own.

    Items may have labels of their own, which nobody can take for those of other items.
    """
    offered = possible.astype(float)
    beside = offered.T @ offered > 0
    count = beside.sum(axis=1, keepdims=True)
    return np.asarray(ADDED * beside / np.maximum(count, 1))


def _vote_shares(made: _Made, possible: NDArray[np.bool_]) -> Floats:
    """Where to begin: an item's labels are as likely as they have votes."""
    place = made.row * made.labels + made.code
    counts = np.bincount(place, minlength=made.items * made.labels)
    shares = counts.reshape(made.items, made.labels) + 1e-3 * possible
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _estimated(made: _Made, truth: Floats, prior: Floats) -> tuple[Floats, Floats]:
    """Each person's table and the share of each label, if the labels are as likely as this."""
    tables = np.empty((made.people, made.labels, made.labels))
    place = made.person * made.labels + made.code
    for label in range(made.labels):
        weights = truth[made.row, label]
        flat = np.bincount(place, weights=weights, minlength=made.people * made.labels)
        tables[:, label] = flat.reshape(made.people, made.labels)
    tables += np.maximum(prior, LEAST)
    tables /= tables.sum(axis=2, keepdims=True)
    shares = truth.sum(axis=0) + ADDED_ITEMS
    return tables, shares / shares.sum()


def _expected(
    made: _Made, possible: NDArray[np.bool_], tables: Floats, shares: Floats, prior: Floats
) -> tuple[Floats, float]:
    """How likely each label is of each item by people's tables, and how well that fits the votes.

    The fit is what each step improves: the log-likelihood of the votes with the prior's.
    """
    logs = np.where(possible, np.log(shares), -np.inf)
    of_votes = np.log(tables).transpose(0, 2, 1)[made.person, made.code]  # [votes, labels]
    judged, first = np.unique(made.row, return_index=True)
    logs[judged] += np.add.reduceat(of_votes, first, axis=0)
    most = logs.max(axis=1, keepdims=True)
    likely = np.exp(logs - most)
    total = likely.sum(axis=1, keepdims=True)
    of_tables = float((prior * np.log(tables)).sum())
    of_shares = ADDED_ITEMS * float(np.log(shares).sum())
    fit = float((most + np.log(total)).sum()) + of_tables + of_shares
    return likely / total, fit
