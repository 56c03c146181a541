"""Are the contexts of the test part known from training? Pictures, stories, templates."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from gnomon.audit.finding import Finding, share, so_many
from gnomon.audit.sets import Splits
from gnomon.audit.subject import Subject

SHARED_CONTEXT = "shared_context"


class Contexts(NamedTuple):
    """A kind of context, and the one of each question; empty where it has none."""

    kind: str
    of_questions: list[str]


def shared_context(subject: Subject) -> Iterator[Finding]:
    """One finding for each kind of context that questions have."""
    splits = subject.audited.splits
    if splits is None:
        says = "There is no training part and test part, so nothing can be shared."
        yield Finding(check=SHARED_CONTEXT, says=says)
        return
    for kind, contexts in _contexts(subject).items():
        for learnt in splits.learnt:
            yield _shared_finding(subject, splits, Contexts(kind, contexts), learnt)


def _contexts(subject: Subject) -> dict[str, list[str]]:
    """For each kind of context that there is, the context of each question."""
    found = {
        "picture": [question.picture for question in subject.questions],
        "group": [question.group for question in subject.questions],
    }
    for field in subject.fields:
        if field in subject.audited.contexts:
            found[field] = subject.audited.column(field)
    return {kind: contexts for kind, contexts in found.items() if any(contexts)}


def _shared_finding(subject: Subject, splits: Splits, contexts: Contexts, learnt: str) -> Finding:
    known: set[str] = set()
    asked: dict[str, list[int]] = {}
    for number, context in enumerate(contexts.of_questions):
        if splits.learnt[learnt][number]:
            known.add(context)
        elif splits.test[number]:
            asked.setdefault(context, []).append(number)
    known.discard("")
    asked.pop("", None)

    shared = [context for context in asked if context in known]
    behind = list(chain.from_iterable(asked[context] for context in shared))
    finding = Finding(
        check=SHARED_CONTEXT,
        part=f"{contexts.kind} in {learnt}",
        value=share(len(shared), len(asked)),
        chance=0.0,
        alarm=bool(shared),
        says=(
            f"{so_many(len(shared), len(asked), f'different {contexts.kind}s')} of "
            f"{splits.test_name} are also in {learnt}; {len(behind):,} items have one of them."
        ),
        n=len(asked),
    )
    return subject.about(finding, behind)
