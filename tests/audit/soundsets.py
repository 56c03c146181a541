"""Sets of questions without any fault, in which a test may plant one."""

from __future__ import annotations

from random import Random

from gnomon.audit.auditing import audit
from gnomon.audit.questions import Question, QuestionSet, UnitKind

LABELS = ("entailment", "neutral", "contradiction")
NOUNS = [
    f"{one}{two}"
    for one in ("ba", "de", "fi", "go", "lu", "ma", "ne")
    for two in ("ro", "ti", "sa", "ku")
]
VERBS = ("lies near", "hangs over", "leans on", "rests by", "stands off", "floats past")


def random_question(draw: Random, number: int, labels=LABELS, groups: int = 60) -> Question:
    """A question whose label has nothing to do with its words."""
    one, two, three = draw.sample(NOUNS, 3)
    premise = f"A {one} {draw.choice(VERBS)} a {two} number {draw.randrange(500)}."
    claim = f"A {two} {draw.choice(VERBS)} a {three}, {draw.randrange(500)}."
    return Question(
        id=f"q{number}",
        texts=(premise, claim),
        choices=tuple(labels),
        gold=(draw.choice(labels),),
        group=f"g{number % groups}",
    )


def random_set(seed: int, items: int = 360, **changes) -> QuestionSet:
    """A set without any fault; `changes` are made to every question by a function of its number."""
    draw = Random(seed)
    questions = [random_question(draw, number) for number in range(items)]
    for name, value in changes.items():
        questions = [
            question._replace(**{name: value(number, question)})
            for number, question in enumerate(questions)
        ]
    return set_of(questions)


def set_of(questions: list[Question], **more) -> QuestionSet:
    return QuestionSet(
        name="planted",
        fields=("context", "text"),
        questions=questions,
        kinds=(UnitKind(("group",), "groups"), UnitKind(("picture",), "pictures")),
        **more,
    )


def alarms(audited: QuestionSet, *checks: str) -> dict[str, list[str]]:
    """The parts with an alarm, by check."""
    found: dict[str, list[str]] = {}
    for finding in audit(audited, checks).alarms:
        found.setdefault(finding.check, []).append(finding.part)
    return found
