"""Benchmarks of the registry, and what runs were asked, as sets of questions."""

from __future__ import annotations

from collections.abc import Sequence

from gnomon.audit.comparing import comparison
from gnomon.audit.questions import GROUPS, PICTURES, Question, QuestionSet, UnitKind, Votes
from gnomon.contracts import Benchmark
from gnomon.items.source import ItemSource
from gnomon.measures.units import Sharing
from gnomon.models.classifiers import units
from gnomon.records import Item
from gnomon.runs import Run, wording_of

FIELDS = ("context", "text")
RELATION = "relation"


def of_source(source: ItemSource) -> QuestionSet:
    """The questions of a benchmark, with what it says of units, laws and slices."""
    about = source.benchmark
    questions = [question_of(item, about) for item in source.without_pictures()]
    return of_questions(source.name, questions, about)


def of_runs(runs: Sequence[Run], about: Benchmark | None) -> QuestionSet:
    """The questions that runs on one benchmark were asked, each once."""
    questions: dict[tuple[str, str], Question] = {}
    for run in runs:
        for item in run.items():
            name = item.id, wording_of(item)
            if name not in questions:
                questions[name] = question_of(item, about) if about else plain_question(item)
    found = list(questions.values())
    if about is None:
        return QuestionSet(runs[0].benchmark, FIELDS, found, (GROUPS, PICTURES))
    return of_questions(runs[0].benchmark, found, about)


def of_questions(name: str, questions: list[Question], about: Benchmark) -> QuestionSet:
    """A set of questions of a benchmark."""
    return QuestionSet(
        name=name,
        fields=FIELDS,
        questions=questions,
        kinds=tuple(UnitKind(kind.tags, kind.noun) for kind in Sharing.of(about).kinds),
        benchmark=name,
        slices=about.slices,
    )


def question_of(item: Item, about: Benchmark) -> Question:
    """An item of a benchmark as a question."""
    return plain_question(item)._replace(
        held_out=units(item, about.hold_out),
        compared=comparison(item, about.laws),
    )


def plain_question(item: Item) -> Question:
    """An item as a question, where nothing is known of its benchmark."""
    return Question(
        id=item.id,
        texts=(item.context, item.text),
        choices=item.choices,
        gold=item.gold,
        group=item.group,
        split=item.tags.get("split", ""),
        picture=" + ".join(image.path for image in item.images),
        votes=_votes(item.tags),
        tags=item.tags,
    )


def _votes(tags: dict[str, str]) -> Votes | None:
    """How people voted, where the tags say how many and which share of them agreed."""
    try:
        total = int(tags.get("votes", ""))
        share = float(tags.get("agreement", ""))
    except ValueError:
        return None
    return Votes(round(share * total), total)
