"""From verdicts on an item's pictures to its answer: each picture has a vote."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from gnomon.paint.records import JudgeVerdict, Painted
from gnomon.records import Answer, Item


def vote(item: Item, painted: Sequence[Painted], verdicts: Sequence[JudgeVerdict | None]) -> Answer:
    """The choice that most pictures show; none where no judge could tell, or if it is even.

    A verdict is none where there was no picture to look at; where that is so of all of them, the
    answer is an error. The scores are the shares of votes with half a vote for each choice, so that
    no choice is impossible after a few pictures.
    """
    votes = [0] * len(item.choices)
    for verdict in verdicts:
        if verdict is not None and verdict.choice is not None:
            votes[verdict.choice] += 1
    files = tuple(each.file for each in painted if each.file)
    reply = json.dumps(_seen(painted, verdicts), ensure_ascii=False)
    if all(verdict is None for verdict in verdicts):
        return Answer(item=item.id, error=_trouble(painted), files=files, reply=reply)
    best = max(votes)
    if not best:
        return Answer(item=item.id, reply=reply, files=files)
    smoothed = [count + 0.5 for count in votes]
    total = sum(smoothed)
    scores = tuple(count / total for count in smoothed)
    choice = None
    if votes.count(best) == 1:
        choice = item.choices[votes.index(best)]
    return Answer(item=item.id, choice=choice, scores=scores, reply=reply, files=files)


def _trouble(painted: Sequence[Painted]) -> str:
    reasons = dict.fromkeys(each.trouble for each in painted if each.trouble)
    return "; ".join(reasons) or "there is no picture"


def _seen(
    painted: Sequence[Painted], verdicts: Sequence[JudgeVerdict | None]
) -> list[dict[str, Any]]:
    """What was seen in each picture, with its digest: enough to look at it again."""
    found = []
    for each, verdict in zip(painted, verdicts, strict=True):
        row: dict[str, Any] = {"picture": each.file, "sha256": each.sha256}
        if verdict is None:
            row["trouble"] = each.trouble
        else:
            row |= {"choice": verdict.choice, **verdict.seen}
        found.append(row)
    return found
