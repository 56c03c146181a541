"""Trials of judges on drawn scenes, and the vote of several pictures of an item.

Items of the run are drawn by our renderer, once as they should be and once with another of their
choices true.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from hashlib import sha256
from heapq import nsmallest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from gnomon.downloads.catalogue import cache_folder
from gnomon.items.writing import atomic_file
from gnomon.measures.correction import Trial
from gnomon.paint.painters.render import edition, picture_of
from gnomon.paint.records import (
    Judge,
    JudgeVerdict,
    Painted,
    PaintTrouble,
    asked_of,
    seed_of,
)
from gnomon.records import Answer, Item, digest
from gnomon.vision.images import decode_bytes

if TYPE_CHECKING:
    pass


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
        reasons = dict.fromkeys(each.trouble for each in painted if each.trouble)
        trouble = "; ".join(reasons) or "there is no picture"
        return Answer(item=item.id, error=trouble, files=files, reply=reply)
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


# Trials: what a judge says of pictures of which one knows what they show.

SIDE = 256  # pixels of a drawn scene
SEED = 20_261  # of drawn scenes, so that they are not those of synth:render


class _Said(NamedTuple):
    """What an item's right answer is, and what a judge said where it was true, and where not."""

    gold: str
    right: str | None
    wrong: str | None


def trial_of(judge: Judge, items: Iterable[Item], count: int, pictures: int = 1) -> Trial:
    """How a judge fares on drawn scenes of `count` of the items; kept for the next run."""
    chosen = _chosen(items, count)
    known = [msgspec.json.encode(item).decode() for item in chosen]
    about = msgspec.json.encode(judge.describe(), order="sorted").decode()
    key = digest("\n".join([about, edition(), str(pictures), str(SIDE), *known]))
    file = cache_folder() / "trials" / f"{key}.json"
    kept = _read(file)
    if kept is not None:
        return kept
    found = try_on_scenes(judge, chosen, pictures)
    file.parent.mkdir(parents=True, exist_ok=True)
    with atomic_file(file) as part:
        part.write_bytes(msgspec.json.encode(found._asdict()))
    return found


def try_on_scenes(judge: Judge, items: Sequence[Item], pictures: int = 1) -> Trial:
    """How a judge fares on drawn scenes: half show the right answer, half another one."""
    said = said_of_scenes(judge, items, pictures)
    said_shown = sum(right == gold for gold, right, _ in said)
    said_other = sum(wrong == gold for gold, _, wrong in said)
    right_seen = sum(right is not None for _, right, _ in said)
    wrong_seen = sum(wrong is not None for _, _, wrong in said)
    recognised = right_seen + wrong_seen
    return Trial(len(said), said_shown, len(said), said_other, recognised, right_seen)


def said_of_scenes(judge: Judge, items: Sequence[Item], pictures: int = 1) -> list[_Said]:
    """What a judge says of drawn scenes; items that the renderer cannot draw are left out."""
    found = []
    with TemporaryDirectory(prefix="gnomon-trial-") as folder:
        for item in items:
            right = _judged(judge, item, item.gold[0], pictures, Path(folder))
            wrong = _judged(judge, item, _another(item), pictures, Path(folder))
            if right is not None and wrong is not None:
                found.append(_Said(item.gold[0], right.choice, wrong.choice))
    return found


def _chosen(items: Iterable[Item], count: int) -> list[Item]:
    """So many scenes that can be drawn, drawn by their ids: the same whatever the order."""
    fit = (
        item
        for item in items
        if item.form == "scene" and len(item.gold) == 1 and asked_of(item) is not None
    )
    return nsmallest(
        count, fit, key=lambda item: sha256(item.id.encode(errors="surrogatepass")).digest()
    )


def _another(item: Item) -> str:
    """A choice that is not right, the same each time."""
    wrong = [choice for choice in item.choices if choice not in item.gold]
    return wrong[seed_of(item.id, 0, SEED) % len(wrong)]


def _judged(judge: Judge, item: Item, choice: str, pictures: int, folder: Path) -> Answer | None:
    """What a judge says of scenes in which a choice is true; none if they cannot be drawn."""
    painted, verdicts = [], []
    for number in range(pictures):
        made = picture_of(item, choice, seed_of(item.id, number, SEED), SIDE)
        if isinstance(made, PaintTrouble):
            return None
        file = folder / "scene.png"
        file.write_bytes(made.content)
        each = Painted(
            item=item.id,
            number=number,
            prompt=item.text,
            seed=0,
            file=str(file),
            sha256=sha256(made.content).hexdigest(),
            truth=made.truth,
        )
        painted.append(each)
        verdicts.append(judge.look(item, each, decode_bytes(made.content, file)))
    return vote(item, painted, verdicts)


def _read(file: Path) -> Trial | None:
    """A trial that was kept; none if there is none, or if it is damaged."""
    try:
        found = msgspec.json.decode(file.read_bytes(), type=dict[str, int])
        return Trial(**found)
    except (OSError, msgspec.MsgspecError, TypeError):
        return None


# People as judges: what they said of the pictures of a run, read from a table or from their runs.
#
