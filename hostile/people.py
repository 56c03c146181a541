"""Kills the page of `gnomon people ask` at random moments while people answer, and counts answers.

    python -m hostile.people [--kills N] [--people N] [--json]

After each kill the server is started again and everybody reloads the page. At the end, every answer
that was acknowledged must be on disk, and none twice: neither in the file of responses nor in the
log that measures read.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random

from gnomon.items.source import load
from gnomon.people.answering import AskedItems, PersonSettings, asked_from_source, open_person_run
from gnomon.people.order import EXTRAS, opaque, read_extras, read_link
from gnomon.people.tasks import task_named
from gnomon.runs import Run
from hostile.annotators import Annotator, GoneError, Server
from hostile.arguments import parser_of
from hostile.tally import Tally, tell

ITEMS, REPEATS = 300, 20
CHANGES = 0.2  # how often people go back and change an answer
LONGEST = 0.8  # seconds from the start of work to the kill


def trials(kills: int, people: int) -> Iterator[tuple[str, Tally]]:
    """Kill the server so many times under so many people, and look at what is left."""
    names = [f"p{number}" for number in range(people)]
    words = ("scales", "--limit", str(ITEMS), "--set", f"repeat={REPEATS}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        server = Server(words, names, folder)
        server.start()
        crowd = []
        for seed, person in enumerate(names):
            crowd.append(Annotator(person, server.port, server.links[person], seed))
        try:
            asyncio.run(_kill_again_and_again(server, crowd, kills))
        finally:
            server.kill()
        yield "killed: annotate", _found(folder, crowd, kills)


async def _kill_again_and_again(server: Server, crowd: list[Annotator], kills: int) -> None:
    draw = Random(kills)
    await asyncio.gather(*(annotator.join() for annotator in crowd))
    for _ in range(kills):
        working = [asyncio.create_task(_work(annotator)) for annotator in crowd]
        await asyncio.sleep(draw.uniform(0.0, LONGEST))
        server.kill()
        await asyncio.gather(*working)
        await asyncio.to_thread(server.start)
        await asyncio.gather(*(annotator.again() for annotator in crowd))
    for annotator in crowd:  # and each can still work
        if not annotator.finished:
            await annotator.step()
        await annotator.close()


async def _work(annotator: Annotator) -> None:
    """Answer until the server is gone."""
    try:
        while not annotator.finished:
            await annotator.step(changes=CHANGES)
    except GoneError:
        return


def _found(folder: Path, crowd: list[Annotator], kills: int) -> Tally:
    asked = asked_from_source(load("scales").limited(ITEMS))
    tally = Tally(tried=kills)
    for annotator in crowd:
        _look(folder, annotator, asked, tally)
    if not tally.read:
        tally.fault("failed", "nobody got an answer through")
    return tally


def _look(folder: Path, annotator: Annotator, asked: AskedItems, tally: Tally) -> None:
    """Compare what one person was told is kept with what is on disk."""
    settings = PersonSettings(task_named("choose"), repeat=REPEATS)
    run = open_person_run(asked, annotator.name, settings, folder)
    run.close()
    link = read_link(run.folder)
    assert link is not None
    kept = {opaque(link.salt, extra.slot): extra for extra in read_extras(run.folder)}
    for address, comment in annotator.acknowledged.items():
        tally.read += 1
        found = kept.get(address.rsplit("/", 1)[1])
        allowed = {comment, *annotator.unsure.get(address, ())}
        if found is None or found.comment not in allowed:
            tally.fault("lost", f"{annotator.name}: {comment}")
    _compare_with_log(run.folder, annotator.name, tally)


def _compare_with_log(folder: Path, name: str, tally: Tally) -> None:
    """No response is written twice, and the log holds the last one to each item."""
    lines = (folder / EXTRAS).read_bytes().splitlines()
    comments = [json.loads(line)["comment"] for line in lines]
    if len(set(comments)) < len(comments):
        tally.fault("doubled", f"{name}: a response was written twice")
    said = {}
    for extra in read_extras(folder):
        if extra.kind == "item":
            said[extra.item] = extra.response["choice"]
    logged = {item.id: answer.choice for item, answer in Run.open(folder).answers()}
    if logged != said:
        tally.fault("wrong", f"{name}: the log and the responses differ")


def main() -> int:
    parser = parser_of(__doc__ or "")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--people", type=int, default=8)
    args = parser.parse_args()
    return 0 if tell(trials(args.kills, args.people), as_json=args.json) else 1


if __name__ == "__main__":
    sys.exit(main())
