"""Damaged replies of models, to be read as answers to items of every form.

They begin as the replies that the tests of the reader know, are cut, doubled, joined with others and
filled with odd text, and go the way of a model's reply: to an answer, and to what it is worth. What
is read must be one of the item's choices, or a number, a set, points or an order that can be judged.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from random import Random
from typing import Any

import yaml

from gnomon.forms import credit
from gnomon.grouped import grouped
from gnomon.models.prompts.library import load_prompt
from gnomon.models.prompts.prompt import Prompt
from gnomon.models.reading.replies import as_answer
from gnomon.records import WRITTEN, Item
from hostile.mutating import mutate
from hostile.readers import Reader, WrongError
from hostile.samples import Sample

WRITTEN_DOWN = Path(__file__).parent.parent / "tests" / "models" / "reading"
CHOICES = ("corpus.yaml", "spoken.yaml", "unseen.yaml")
THINGS = ("bed", "lamp", "sofa")
LISTS = (
    "bed, sofa, lamp",
    "sofa > bed > lamp",
    "1. lamp\n2. bed\n3. sofa",
    "(c), (a) and (b)",
    "CAB",
    "The bed and the lamp, but not the sofa.",
    "all of them",
    '["bed", "lamp"]',
    "From left to right: the lamp, then the bed, and last the sofa.",
)
AROUND = (
    ("<think>", "</think>"),
    ("</think>", "<think>"),
    ("```json\n", "\n```"),
    ('{"answer": "', '"}'),
    ("\\boxed{", "}"),
    ("$$\\boxed{\\text{", "}}$$"),
    ("<|channel|>final<|message|>", "<|end|>"),
    ("**", "**"),
    ("(" * 3000, ")" * 3000),
    ("Wait, no: ", " or not."),
)
MOST_TIMES = 3  # that a reply is damaged
MOST_CHARACTERS = 1_000_000  # of a damaged reply; servers and files are cut before that
SHARE = 104.0  # of the inputs, of all forms together: as many as items and logs get


@dataclass(frozen=True)
class Question:
    """An item, the prompt that put it, and what models may say to it."""

    item: Item
    prompt: Prompt
    replies: tuple[str, ...]


def questions() -> list[Question]:
    """One of each kind that the tests of the reader ask, with all replies that they know."""
    found = []
    for name in CHOICES:
        for asked in _written_down(name).values():
            found.append(_choice(asked))
    for unit, rows in _written_down("numbers.yaml").items():
        gold = (f"2 {unit}".rstrip(),)
        found.append(_free("number", gold, (), [row[0] for row in rows]))
    points = [row[0] for row in _written_down("points.yaml")]
    found.append(_free("point", ("box 10 10 300 200 in 640x480",), (), points))
    found.append(_free("set", ("bed", "lamp"), THINGS, LISTS))
    found.append(_free("order", THINGS, THINGS, LISTS))
    return found


def _written_down(name: str) -> Any:
    return yaml.safe_load((WRITTEN_DOWN / name).read_text(encoding="utf-8"))


def _choice(asked: dict[str, Any]) -> Question:
    choices = tuple(map(str, asked["choices"]))
    fields = {name: asked[name] for name in ("context", "tags") if name in asked}
    item = Item(
        id="1", form=asked["form"], text=asked["text"], choices=choices, gold=choices[:1], **fields
    )
    replies = tuple(str(row[0]) for row in asked["replies"])
    return Question(item, load_prompt(asked["prompt"]), replies)


def _free(form: Any, gold: tuple[str, ...], choices: tuple[str, ...], replies: Any) -> Question:
    item = Item(id="1", form=form, text="How far is it?", choices=choices, gold=gold)
    return Question(item, load_prompt("chat"), tuple(map(str, replies)))


def replies() -> Iterator[Reader]:
    """What reads the replies to items of each form."""
    forms = grouped(questions(), lambda question: question.item.form)
    for form, asked in forms.items():
        sample = Sample({"reply.json": _kept(0, asked[0].replies[0])})
        share = SHARE / len(forms)
        yield Reader(f"replies: {form}", sample, _reader(asked), share, make=_writer(asked))


def _kept(place: int, reply: str) -> bytes:
    return json.dumps({"question": place, "reply": reply}).encode()


def _writer(asked: list[Question]) -> Callable[..., str]:
    def write(rng: Random, number: int, folder: Path) -> str:
        place = rng.randrange(len(asked))
        reply = rng.choice(asked[place].replies)
        if number:
            for _ in range(rng.randint(1, MOST_TIMES)):
                reply = damaged(reply, rng.choice(asked[place].replies), rng)[:MOST_CHARACTERS]
        (folder / "reply.json").write_bytes(_kept(place, reply))
        return repr(reply[:200])

    return write


def damaged(reply: str, other: str, rng: Random) -> str:
    """A reply of which a part is lost, doubled, replaced or wrapped, or that goes on as another."""
    start, end = sorted(rng.randrange(len(reply) + 1) for _ in range(2))
    way = rng.randrange(6)
    if way == 0:
        return reply[:start] + reply[end:]
    if way == 1:
        return reply[:end] + reply[start:] * rng.choice((1, 1, 50))
    if way == 2:
        return reply[:start] + other[:end]
    if way == 3:
        before, after = rng.choice(AROUND)
        return before + reply[:end] + after + reply[end:]
    kind = rng.choice(("text", "binary", "json"))
    return mutate(reply.encode("utf-8", "replace"), kind, rng).decode("utf-8", "replace")


def _reader(asked: list[Question]) -> Callable[..., object]:
    def read(folder: Path) -> object:
        kept = json.loads((folder / "reply.json").read_bytes())
        question = asked[kept["question"]]
        item = question.item
        answer = as_answer(item, kept["reply"], question.prompt)
        check_answer(item, answer.choice)
        return answer

    return read


def check_answer(item: Item, said: str | None) -> None:
    """Refuse an answer that is none of the item's, or that nothing can be said of."""
    if said is not None and item.form not in WRITTEN and said not in item.choices:
        raise WrongError(f"{said[:80]!r} is not a choice")
    worth = credit(item, said)
    if isnan(worth) or not 0 <= worth <= 1:
        raise WrongError(f"{str(said)[:80]!r} is worth {worth}")
