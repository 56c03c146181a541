"""Are the contexts of the test part known from training? Pictures, stories, templates."""

from __future__ import annotations

from collections.abc import Iterator

from gnomon.audit.finding import SHOWN, Finding, share
from gnomon.audit.questions import Question, Splits
from gnomon.audit.subject import Subject

CHECK = "shared_context"
CONTEXTS = ("context", "premise", "premises", "passage", "story")


def shared_context(subject: Subject) -> Iterator[Finding]:
    """One finding for each kind of context that questions have."""
    splits = subject.audited.splits
    if splits is None:
        says = "There is no training part and test part, so nothing can be shared."
        yield Finding(check=CHECK, says=says)
        return
    kinds = ["picture", "group"]
    kinds += [field for field in subject.fields if field in CONTEXTS]
    for kind in kinds:
        if any(_context(subject, question, kind) for question in subject.questions):
            for learnt in splits.learnt:
                yield _finding(subject, splits, kind, learnt)


def _context(subject: Subject, question: Question, kind: str) -> str:
    if kind == "picture":
        return question.picture
    if kind == "group":
        return question.group
    return question.texts[subject.audited.fields.index(kind)]


def _finding(subject: Subject, splits: Splits, kind: str, learnt: str) -> Finding:
    known = set()
    asked: dict[str, list[int]] = {}
    for number, question in enumerate(subject.questions):
        context = _context(subject, question, kind)
        if not context:
            continue
        if splits.learnt[learnt][number]:
            known.add(context)
        elif splits.test[number]:
            asked.setdefault(context, []).append(number)

    shared = [context for context in asked if context in known]
    behind = [number for context in shared for number in asked[context]]
    return Finding(
        check=CHECK,
        part=f"{kind} in {learnt}",
        value=share(len(shared), len(asked)),
        chance=0.0,
        alarm=bool(shared),
        says=(
            f"{len(shared):,} of {len(asked):,} different {kind}s of {splits.test_name} are also "
            f"in {learnt}; {len(behind):,} items have one of them."
        ),
        n=len(asked),
        behind=len(behind),
        items=subject.ids(behind),
        examples=tuple(subject.audited.example(asked[context][0]) for context in shared[:SHOWN]),
    )
