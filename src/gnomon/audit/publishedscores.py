"""Published scores beside a set: how far each can be trusted, and which of them differ.

Of most models only a score is published. It has two intervals: as if all items were independent,
and as if all items that share a unit were answered alike; the truth lies between. Where answers
are published, they are scored item by item, and models are compared by paired tests.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations
from math import sqrt
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from gnomon.audit.finding import beyond_luck, luck
from gnomon.audit.sets import AuditItem, AuditSet
from gnomon.files import package_data, read_yaml
from gnomon.items.answers.joining import read_predictions
from gnomon.measures.columns import Floats
from gnomon.measures.intervals import NORMAL, interval, wilson
from gnomon.measures.statistics import mean_of
from gnomon.registry import benchmark
from gnomon.reports.papers import Result, results_of
from gnomon.reports.words import percent

DEVIATIONS = 1.96  # standard errors of a 95 % interval
LEVEL = 0.05  # of any false difference, for all pairs of models on the same items
MEASURES = ("accuracy", "relaxed_accuracy")  # shares of items that are right
YES, IF_INDEPENDENT, NOT_SHOWN = "yes", "if items are independent", "not shown"
FROM_ANSWERS = "published answers, scored by Gnomon"
NOT_TRAINED = ("zero-shot", "frozen")  # variants of models that never saw the training part
PATTERN_ACCURACY = "pattern_accuracy@"
# what blind rules get on such items, of so many scored; whether they may learn from a training part
BlindShare = Callable[[AuditSet, int, bool], float]


class PublishedScore(msgspec.Struct, frozen=True, kw_only=True):
    """A published score, with how far it can be trusted."""

    model: str
    value: float
    source: str
    on: str = ""  # which items, where not all
    items: int = 0  # none where it is not known on which items people were asked
    low: float | None = None  # 95 %, as if items were independent; of answers, by their units
    high: float | None = None
    low_by_units: float | None = None  # 95 %, as if all items of a unit went together
    high_by_units: float | None = None
    trained: bool = False  # on a training part of the set
    further: str = ""  # the authors' other measures
    above_blind: str = ""  # whether it is above every blind rule: yes, under a condition, not shown
    level_with: tuple[int, ...] = ()  # scores (from 1) from which it is not shown to differ


class KnownScore(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A published score of a set (data/audit/scores.yaml, data/published)."""

    model: str
    value: float
    source: str
    form: str = ""
    tag: str = ""  # only items whose tag has a value
    key: str = ""
    people: bool = False
    trained: bool = False  # on a training part of the set
    further: str = ""  # the authors' other measures
    release: str = ""  # of the data, if it is another one than is published with the paper
    items: int = 0  # of that release


class Release(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Scores of a table that are on other items of the same kind."""

    table: str
    key: str
    items: int
    called: str


class Known(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The content of data/audit/scores.yaml, by set."""

    scores: dict[str, list[KnownScore]]
    answers: dict[str, list[str]]  # names of files of published answers, with wildcards
    releases: dict[str, list[Release]]
    notes: dict[str, str]  # what to know of a set of the papers
    replies: dict[str, str]  # what the authors of a set answer to its page


@cache
def known_beside() -> Known:
    """What is known beside sets."""
    return msgspec.convert(read_yaml(package_data("audit/scores.yaml")), Known)


def published_scores(
    name: str, audited: AuditSet, place: Path | None, blind: BlindShare
) -> list[PublishedScore]:
    """The scores of a set: from published answers in a folder, else those that are known."""
    answered = _answers_in(name, audited, place) if place else {}
    if answered:
        return _of_answers(audited, answered, blind(audited, len(audited), False))
    found: list[PublishedScore] = []
    by_items: dict[tuple[str, ...], list[KnownScore]] = {}
    for known in _known_scores(name, has_training=audited.splits is not None):
        by_items.setdefault((known.form, known.tag, known.key, known.release), []).append(known)
    for scores in by_items.values():
        found += _of_scores(audited, scores, blind, len(found))
    return found


def _known_scores(name: str, *, has_training: bool) -> Iterator[KnownScore]:
    """Each score once, although several tables of a paper have it.

    The papers' models were trained on the set where it has a part for that, unless they say not.
    """
    yield from known_beside().scores.get(name, ())
    plain, _, origin = name.partition("@")
    if origin != "published":
        return
    results = results_of(benchmark(plain))
    tables: dict[KnownScore, list[str]] = {}
    for result in results:
        if result.measure in MEASURES and result.kind in ("model", "human"):
            score = _score_of(result, _further(result, results), _release(name, result))
            score = msgspec.structs.replace(score, trained=score.trained and has_training)
            tables.setdefault(score, []).append(result.table)
    for score, mine in tables.items():
        listed = ", ".join(dict.fromkeys(mine))
        yield msgspec.structs.replace(score, source=f"{score.source}, {listed}")


def _further(result: Result, results: Sequence[Result]) -> str:
    """In which share of the patterns a model is right on most of the samples, as authors report."""
    told: dict[str, str] = {}
    for other in results:
        least = other.measure.removeprefix(PATTERN_ACCURACY)
        same_model = (other.model, other.variant, other.by) == (result.model, result.variant, "")
        if least != other.measure and same_model:
            told[least] = f"{percent(other.value)} at {least}"
    return f"pattern accuracy {', '.join(told[least] for least in sorted(told))}" if told else ""


def _release(name: str, result: Result) -> Release | None:
    for release in known_beside().releases.get(name, ()):
        if (release.table, release.key) == (result.table, result.key):
            return release
    return None


def _score_of(result: Result, further: str, release: Release | None) -> KnownScore:
    model = f"{result.model} ({result.variant})" if result.variant else result.model
    return KnownScore(
        model=model,
        value=result.value,
        source=result.paper,
        form=result.form,
        tag=result.by,
        key=result.key,
        people=result.kind == "human",
        trained=result.variant not in NOT_TRAINED,
        further=further,
        release=release.called if release else "",
        items=release.items if release else 0,
    )


# Scores without answers.


def _of_scores(
    audited: AuditSet, scores: Sequence[KnownScore], blind: BlindShare, before: int
) -> Iterator[PublishedScore]:
    """Scores on the same items, the highest first; none if these items are not there."""
    asked = [one for one in audited.questions if _is_of_form(one, scores[0])]
    if not asked:
        return
    of_form = replace(audited, questions=asked)
    part = replace(audited, questions=_scored_items(of_form, scores[0]))
    if not part.questions:
        return
    count = scores[0].items or len(part)
    most = {trained: blind(of_form, len(part), trained) for trained in (False, True)}
    units, _ = fewest_units(part)
    ordered = sorted(scores, key=lambda score: -score.value)
    models = [place for place, score in enumerate(ordered) if not score.people]
    values = [ordered[place].value for place in models]
    level = _level_with(len(values), lambda one, two: _apart(values[one], values[two], count))
    for place, score in enumerate(ordered):
        plain = PublishedScore(
            model=score.model,
            value=score.value,
            source=score.source,
            on=_where(score, part),
            further=score.further,
        )
        if score.people:
            yield plain
            continue
        low, high = _interval(score.value, count)
        by_units = _interval(score.value, units)
        yield msgspec.structs.replace(
            plain,
            items=count,
            trained=score.trained,
            low=low,
            high=high,
            low_by_units=by_units[0],
            high_by_units=by_units[1],
            above_blind=_above(most[score.trained], by_units[0], low),
            level_with=tuple(before + models[other] + 1 for other in level[models.index(place)]),
        )


def _is_of_form(one: AuditItem, score: KnownScore) -> bool:
    return score.form in ("", one.item.form)


def _scored_items(audited: AuditSet, score: KnownScore) -> list[AuditItem]:
    """The items that a score is about: those of a key, or of the test part where there is one."""
    if score.tag:
        return [one for one in audited.questions if one.item.tags.get(score.tag) == score.key]
    splits = audited.splits
    if splits is None:
        return audited.questions
    return [one for one in audited.questions if one.split == splits.test_name]


def _where(score: KnownScore, part: AuditSet) -> str:
    """Which items, for readers."""
    split = {one.split for one in part.questions} if not score.tag else set()
    named = [score.form, score.release or score.key, *(split if len(split) == 1 else ())]
    return ", ".join(filter(None, named))


def fewest_units(audited: AuditSet) -> tuple[int, str]:
    """How many units there are of the kind that there are fewest of, and what they are called."""
    counts = []
    first = 0
    for width, noun in zip(audited.units.kinds, audited.units.nouns, strict=True):
        codes = audited.units.codes[:, first : first + width]
        first += width
        known = set(codes[codes >= 0].tolist())
        alone = int((codes < 0).all(axis=1).sum())
        counts.append((len(known) + alone, noun))
    return min(counts)


def _interval(value: float, count: int) -> tuple[float, float]:
    error = sqrt(value * (1 - value) / max(count, 1))
    return wilson(value, error, count, DEVIATIONS)


def _apart(one: float, two: float, items: int) -> float:
    """How likely two scores differ so much by luck, as if on other items: hardly ever too small."""
    error = sqrt((one * (1 - one) + two * (1 - two)) / items)
    if not error:
        return float(one == two)
    return 2 * NORMAL.cdf(-abs(one - two) / error)


def _above(most: float, low: float, low_of_items: float) -> str:
    if low > most:
        return YES
    return IF_INDEPENDENT if low_of_items > most else NOT_SHOWN


def _level_with(count: int, luck_of: Callable[[int, int], float]) -> list[list[int]]:
    """For each score those from which it is not shown to differ, by Holm's rule over all pairs."""
    pairs = list(combinations(range(count), 2))
    differ = beyond_luck([luck_of(one, two) for one, two in pairs], LEVEL)
    level: list[list[int]] = [[] for _ in range(count)]
    for (one, two), apart in zip(pairs, differ, strict=True):
        if not apart:
            level[one].append(two)
            level[two].append(one)
    return level


# Published answers.


class _Answered(NamedTuple):
    model: str
    credit: Floats


def _answers_in(name: str, audited: AuditSet, place: Path) -> dict[str, Floats]:
    """For each file of answers in a folder what each item earns."""
    items = [one.item for one in audited.questions]
    credits: dict[str, Floats] = {}
    for pattern in known_beside().answers.get(name, ()):
        for file in sorted(place.glob(pattern)):
            model = file.name.partition(".tsv")[0].removeprefix("results-")
            rows = read_predictions(file, items).rows
            credits[model] = np.array([float(said.choice in item.gold) for item, said in rows])
    return credits


def _of_answers(
    audited: AuditSet, answered: dict[str, Floats], most: float
) -> list[PublishedScore]:
    ordered = [_Answered(*one) for one in answered.items()]
    ordered.sort(key=lambda one: -float(one.credit.mean()))
    units = audited.units

    def luck_of(one: int, two: int) -> float:
        gaps = ordered[one].credit - ordered[two].credit
        return 2 * min(luck(gaps, units), luck(-gaps, units))

    level = _level_with(len(ordered), luck_of)
    found = []
    for place, one in enumerate(ordered):
        known = interval(mean_of(one.credit, units, bounds=(0.0, 1.0)))
        score = PublishedScore(
            model=one.model,
            value=known.value,
            source=FROM_ANSWERS,
            items=len(audited),
            low=known.low,
            high=known.high,
            above_blind=YES if known.low > most else NOT_SHOWN,
            level_with=tuple(other + 1 for other in level[place]),
        )
        found.append(score)
    return found
