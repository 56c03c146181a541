"""VSR's votes: who of the validators called each caption true, and who false."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from gnomon.benchmarks.vsr.categories import CHOICES
from gnomon.benchmarks.vsr.files import read_captions
from gnomon.benchmarks.vsr.task import caption_item
from gnomon.contracts import Judged, VoteFormat
from gnomon.records import Image

FIELDS = frozenset({"caption", "label", "vote_true_validator_id", "vote_false_validator_id"})


def _is_votes(file: Path, head: Sequence[str]) -> bool:
    try:
        first = msgspec.json.decode(head[0]) if head else None
    except msgspec.DecodeError:
        return False
    return isinstance(first, dict) and first.keys() >= FIELDS


def read_votes(file: Path) -> Iterator[Judged]:
    """Every caption with the votes of its validators, who are known by numbers.

    Some voted on a caption twice, and a few changed their mind: the paper counts every vote.
    """
    false, true = CHOICES
    for row in read_captions(file):
        said = [(f"v{number}", true) for number in row.voters_true]
        said += [(f"v{number}", false) for number in row.voters_false]
        yield Judged(caption_item(row, Image(path=row.image_link), {}), said)


VOTES = VoteFormat(name="vsr", benchmark="vsr@raw", recognises=_is_votes, read=read_votes)
