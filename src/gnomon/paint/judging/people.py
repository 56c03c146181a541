"""People as judges: what they said of the pictures of a run, read from a table or from their runs.

Runs are those of `gnomon annotate RUN --task picture`, in one folder. A table (CSV) has the columns
`item`, `picture` (0 for the first of an item) and `choice`; an empty choice says that the person
could not tell. Several rows for a picture are several people, of whom more than half must agree.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from gnomon.errors import DataError
from gnomon.files import read_table
from gnomon.fingerprint import fingerprint
from gnomon.paint.judging.boxes import abstain
from gnomon.paint.records import PAINTED, PICTURE, Painted, Truth, Verdict
from gnomon.records import Item, digest
from gnomon.runs import open_runs
from gnomon.vision.images import Pixels

COLUMNS = ("item", "picture", "choice")
Votes = dict[tuple[str, int], Counter[str]]


def people_judge(file: str) -> PeopleJudge:
    """The judge that a table of people's answers is, or a folder with their runs."""
    path = Path(file).expanduser()
    if path.is_dir():
        votes = _votes_in_runs(path)
        return PeopleJudge(votes, digest(repr(sorted(votes.items())), digits=40))
    votes = {}
    for line, row in read_table(path, COLUMNS):
        try:
            number = int(row["picture"])
        except ValueError:
            problem = f"the picture is '{row['picture'][:40]}', not a number."
            hint = "0 is the first picture of an item."
            raise DataError(problem, hint, file=path, line=line) from None
        votes.setdefault((row["item"], number), Counter())[row["choice"].strip()] += 1
    return PeopleJudge(votes, fingerprint(path))


def _votes_in_runs(folder: Path) -> Votes:
    """What people said of painted pictures; who skipped a picture said nothing of it."""
    votes: Votes = {}
    for run in open_runs([folder]):
        for item, answer in run.answers():
            if PAINTED not in item.tags or answer.error or answer.sample:
                continue
            key = item.tags[PAINTED], int(item.tags[PICTURE])
            votes.setdefault(key, Counter())[answer.choice or ""] += 1
    if not votes:
        raise DataError(
            "no run here says what people saw in painted pictures.",
            "Ask them with `gnomon annotate RUN --task picture`.",
            file=folder,
        )
    return votes


class PeopleJudge:
    """Says what most people said of a picture."""

    asks = True

    def __init__(self, votes: Votes, known: str) -> None:
        self._votes, self._known = votes, known

    def describe(self) -> dict[str, Any]:
        """What determines the verdicts."""
        return {"judge": "people", "file": self._known[:40], "pictures": len(self._votes)}

    def look(self, item: Item, painted: Painted, picture: Pixels, truth: Truth | None) -> Verdict:
        """What most people said of the picture; nothing if they do not agree."""
        votes = self._votes.get((item.id, painted.number))
        if not votes:
            return abstain("nobody has judged it")
        said, count = votes.most_common(1)[0]
        seen = {"people": dict(votes)}
        if 2 * count <= votes.total():
            return abstain("people do not agree", **seen)
        if not said:
            return abstain("people cannot tell", **seen)
        if said not in item.choices:
            return abstain(f"'{said[:40]}' is none of the choices", **seen)
        shares = tuple(votes[choice] / votes.total() for choice in item.choices)
        return Verdict(item.choices.index(said), shares, seen)
