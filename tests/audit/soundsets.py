"""Sets of questions without any fault, in which a test may plant one."""

from __future__ import annotations

from random import Random

from msgspec.structs import replace

from gnomon.audit.auditing import audit
from gnomon.audit.sets import AuditItem, AuditSet
from gnomon.measures.units import KindOfUnit
from gnomon.records import Image, Item

LABELS = ("entailment", "neutral", "contradiction")
NOUNS = [
    f"{one}{two}"
    for one in ("ba", "de", "fi", "go", "lu", "ma", "ne")
    for two in ("ro", "ti", "sa", "ku")
]
OWN = ("id", "choices", "gold", "group")
VERBS = ("lies near", "hangs over", "leans on", "rests by", "stands off", "floats past")


def asked(id, texts, choices, gold, *, group="", split="", picture="", **derived) -> AuditItem:
    """An item of an audited set."""
    images = (Image(path=picture),) if picture else ()
    tags = {"split": split} if split else {}
    words = {"context": texts[0], "text": texts[-1]}
    item = Item(id=id, form="choice", choices=choices, gold=gold, **words, tags=tags)
    return AuditItem(replace(item, group=group, images=images), tuple(texts), **derived)


def changed(one: AuditItem, **changes) -> AuditItem:
    """The item with other words, labels, split or picture, or what is derived of it."""
    tags, images = dict(one.item.tags), one.item.images
    if "split" in changes:
        tags["split"] = changes.pop("split")
    if "picture" in changes:
        name = changes.pop("picture")
        images = (Image(path=name),) if name else ()
    own = {name: changes.pop(name) for name in list(changes) if name in OWN}
    return one._replace(item=replace(one.item, **own, tags=tags, images=images), **changes)


def random_question(draw: Random, number: int, labels=LABELS, groups: int = 60) -> AuditItem:
    """A question whose label has nothing to do with its words."""
    one, two, three = draw.sample(NOUNS, 3)
    premise = f"A {one} {draw.choice(VERBS)} a {two} number {draw.randrange(500)}."
    claim = f"A {two} {draw.choice(VERBS)} a {three}, {draw.randrange(500)}."
    return asked(
        id=f"q{number}",
        texts=(premise, claim),
        choices=tuple(labels),
        gold=(draw.choice(labels),),
        group=f"g{number % groups}",
    )


def random_set(seed: int, items: int = 360, **changes) -> AuditSet:
    """A set without any fault; `changes` are made to every question by a function of its number."""
    draw = Random(seed)
    questions = [random_question(draw, number) for number in range(items)]
    for name, value in changes.items():
        questions = [
            changed(question, **{name: value(number, question)})
            for number, question in enumerate(questions)
        ]
    return set_of(questions)


def set_of(questions: list[AuditItem], **more) -> AuditSet:
    return AuditSet(
        name="planted",
        fields=("context", "text"),
        questions=questions,
        kinds=(KindOfUnit(("group",), "groups"), KindOfUnit(("picture",), "pictures")),
        **more,
    )


def alarms(audited: AuditSet, *checks: str) -> dict[str, list[str]]:
    """The parts with an alarm, by check."""
    found: dict[str, list[str]] = {}
    for finding in audit(audited, checks).alarms:
        found.setdefault(finding.check, []).append(finding.part)
    return found
