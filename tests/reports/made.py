"""Runs made for tests and benches: items like those of the benchmarks, and answers of models of a
given skill."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from random import Random

from gnomon.records import Answer, Item
from gnomon.runs import Counts, Manifest, Run, RunLog

NLI = ("entailment", "neutral", "contradiction")
NAMES = ("Mary", "John", "Cindi", "Tom", "Anna", "Peter", "Lena", "Omar", "Ines", "Paul")
THINGS = (
    "the garden",
    "the tower",
    "the red car",
    "the bridge",
    "the old house",
    "the lake",
    "the station",
    "the box",
)
VERBS = (
    "is in",
    "is behind",
    "walked out of",
    "stands between the wall and",
    "is above",
    "ran around",
    "is near",
    "left",
)


def entailment(patterns: int = 40, each: int = 10, seed: int = 0) -> Iterator[Item]:
    """Patterns with samples, in four categories."""
    draw = Random(seed)
    for p in range(patterns):
        category = ("directional", "projective", "argument orientation", "non-projective")[p % 4]
        label, verb, other = NLI[p % 3], VERBS[p % len(VERBS)], VERBS[(p * 3 + 1) % len(VERBS)]
        for i in range(each):
            who, what = draw.choice(NAMES), draw.choice(THINGS)
            yield Item(
                id=f"{p}-{i}",
                form="entailment",
                context=f"{who} {verb} {what}. {draw.choice(NAMES)} saw it.",
                text=f"{who} {other} {what}.",
                choices=NLI,
                gold=(label,),
                group=str(p),
                tags={"class": category, "premises": str(1 + p % 3), "expression": verb},
            )


OBJECTS = (
    "ant",
    "coin",
    "egg",
    "cup",
    "cat",
    "dog",
    "chair",
    "horse",
    "car",
    "truck",
    "house",
    "tower",
)


def pairs() -> Iterator[Item]:
    """Objects on a scale, each pair both ways."""
    objects = OBJECTS
    for a in objects:
        for b in objects:
            if a != b:
                larger = objects.index(a) > objects.index(b)
                word = "larger" if larger else "smaller"
                pair = " / ".join(sorted((a, b)))
                tags = {"scale": "size", "obj_a": a, "obj_b": b, "relation": word, "gap": "1"}
                yield Item(
                    id=f"size/cloze/{a}/{b}",
                    form="cloze",
                    text=f"A {a} is [MASK] than a {b}.",
                    choices=("larger", "smaller"),
                    gold=(word,),
                    group=f"size: {pair}",
                    tags=tags,
                )
                yield Item(
                    id=f"size/choice/{a}/larger/{b}",
                    form="choice",
                    text=f"Is a {a} larger than a {b}?",
                    choices=("yes", "no"),
                    gold=("yes" if larger else "no",),
                    group=f"size: {pair}",
                    tags={**tags, "comparative": "larger"},
                )


def colours(n: int = 120) -> Iterator[Item]:
    """Objects with several typical colours."""
    known = ("black", "white", "red", "green", "blue", "brown")
    draw = Random(1)
    for i in range(n):
        gold = tuple(sorted(draw.sample(known, 1 + i % 4), key=known.index))
        yield Item(
            id=f"color/{i}",
            form="cloze",
            text=f"The color of object {i} is [MASK].",
            choices=known,
            gold=gold,
            tags={"cardinality": str(len(gold)), "kind": ("fruit", "animal", "tool")[i % 3]},
        )


def write(
    folder: Path,
    benchmark: str,
    model: str,
    items: Iterable[Item],
    *,
    skill: float = 0.5,
    seed: int = 0,
    scale: str = "log-probability",
    answered: float = 1.0,
    replies: list[str] | None = None,
    finished: bool = True,
    description: dict[str, object] | None = None,
    options: dict[str, object] | None = None,
    model_options: dict[str, object] | None = None,
    say: Callable[[Item], Answer] | None = None,
) -> Run:
    """A run folder as the engine would leave it; `say` answers in place of a model of some
    skill."""
    items = list(items)
    log = RunLog(folder)
    try:
        log.add_items(0, items)
        count = round(len(items) * answered)
        numbered = []
        for n, item in enumerate(items[:count]):
            reply = replies[n % len(replies)] if replies else None
            numbered.append((n, say(item) if say else answer(item, skill, seed, scale, reply)))
        log.add_answers(numbered)
        began = datetime(2026, 11, 2, 9, 30, tzinfo=UTC)
        log.write_manifest(
            Manifest(
                id=folder.name,
                benchmark=benchmark,
                options=options or {"seed": 0},
                model=model,
                model_options=model_options or {},
                model_description=description or {},
                scale=scale,
                versions={"gnomon": "0.1.0", "python": "3.11"},
                command=f"gnomon run {benchmark} -m {model}",
                started=began,
                items_sha256=digest(items),
                finished=began if finished else None,
                counts=Counts(items=len(items), answered=count),
            )
        )
    finally:
        log.close()
    return Run.open(folder)


def digest(items: list[Item]) -> str:
    """The same for the same items only."""
    return sha256(
        "\n".join(f"{item.id} {item.context} {item.text}" for item in items).encode()
    ).hexdigest()


def answer(item: Item, skill: float, seed: int, scale: str, reply: str | None = None) -> Answer:
    """An answer that is right about as often as the skill says; groups are easy or hard as a
    whole."""
    easy = Random(f"{item.group or item.id}/{seed}").gauss(skill * 3 - 1.2, 1.2)
    draw = Random(f"{item.id}/{seed}")
    logits = [draw.gauss(0, 0.8) + (easy if choice in item.gold else 0) for choice in item.choices]
    top = max(logits)
    total = sum(math.exp(v - top) for v in logits)
    logs = tuple(round(v - top - math.log(total), 4) for v in logits)
    best = max(range(len(logs)), key=logs.__getitem__)
    if scale == "none":
        return Answer(item=item.id, choice=item.choices[best], reply=reply)
    return Answer(item=item.id, choice=item.choices[best], scores=logs, reply=reply)
