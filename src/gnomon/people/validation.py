"""Which items people confirm, and files of their votes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import numpy as np
from msgspec.structs import replace

from gnomon.contracts import Judged
from gnomon.errors import DataError
from gnomon.files import read_lines
from gnomon.items.itemfiles import ENDINGS, ORIGIN, UNKNOWN, is_item_file, read_items
from gnomon.measures.columns import Codes, Floats
from gnomon.people.order import read_extras
from gnomon.people.votes import Flags, PersonVote, Votes
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
