"""Votes from files: published ones by their format, and those of `gnomon people agree -o`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from gnomon.contracts import Judged
from gnomon.errors import DataError
from gnomon.files import read_lines
from gnomon.items.itemfiles import ENDINGS, ORIGIN, UNKNOWN, is_item_file, read_items
from gnomon.people.validating import AGAIN, VOTE
from gnomon.people.votes import Vote, Votes
from gnomon.records import Item
from gnomon.registry import vote_formats

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


def _votes_in(judged: Judged) -> tuple[Item, list[Vote]]:
    return judged.item, [Vote(person, label) for person, label in judged.said]


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
