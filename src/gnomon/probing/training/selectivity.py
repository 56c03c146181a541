"""What a probe gets right, beside its control: each with an interval over independent units.

Selectivity is the difference of the two on the same items (Hewitt and Liang 2019): a control that
does well says that the probe can learn anything by heart, and then what it gets right says little
about the model below it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import nan

import numpy as np

from gnomon.contracts import Benchmark, Laws
from gnomon.measures.comparison import compare
from gnomon.measures.scoring import score
from gnomon.measures.sharing import Sharing
from gnomon.measures.table import Table
from gnomon.measures.typical import RELAXED_ACCURACY
from gnomon.models.baselines import majority
from gnomon.probing.features import Vectors
from gnomon.probing.probes import Flags, Learnt, label_probabilities
from gnomon.probing.training.learners import Outcome, Scores
from gnomon.records import Answer, Item, pick

FIGURES = {
    "relaxed_accuracy": "the probe gets {} right",
    "majority": "the label that is right most often {}",
    "control": "the control, trained on shuffled labels, {}",
}


def part_scores(
    items: Sequence[Item],
    vectors: Vectors,
    labels: Sequence[str],
    heads: Mapping[str, Learnt],
    benchmark: Benchmark | None,
) -> Scores:
    """Relaxed accuracy of probe, control and the most frequent label; and the selectivity."""
    tables = {}
    for name, learnt in heads.items():
        answers = _answers(items, vectors, labels, learnt)
        tables[name] = _table(items, answers, name, benchmark)
    tables["majority"] = _table(items, _most_frequent(items), "majority", benchmark)
    found: Scores = {}
    for name, table in tables.items():
        one = score(table, RELAXED_ACCURACY)
        measure = "relaxed_accuracy" if name == "probe" else name
        _add(found, measure, one.value, one.low, one.high)
    (gap,) = compare([tables["probe"], tables["control"]], RELAXED_ACCURACY, draws=0)
    _add(found, "selectivity", gap.difference, gap.low, gap.high)
    return found


def in_words(outcome: Outcome) -> str:
    """The results of a probe for its card: a paragraph for each part."""
    parts = {"dev": outcome.best, **outcome.tests}
    train = parts.pop("train")
    told = []
    for part, scores in parts.items():
        figures = [words.format(_shown(scores, name)) for name, words in FIGURES.items()]
        gap = _shown(scores, "selectivity", unit=" points")
        told.append(f"On {part}, {', '.join(figures)}. Selectivity: {gap}.")
    told.append(
        f"Of its own training labels the probe has {100 * train['relaxed_accuracy']:.1f} % right, "
        f"and the control {100 * train['control_on_its_labels']:.1f} % of its shuffled ones: so "
        "much can be learnt by heart."
    )
    return "\n\n".join(told)


def _shown(scores: Scores, name: str, unit: str = " %") -> str:
    value, low, high = (scores.get(key, nan) for key in (name, f"{name}_low", f"{name}_high"))
    return f"{100 * value:.1f}{unit} [{100 * low:.1f}, {100 * high:.1f}]"


def train_scores(
    vectors: Vectors, gold: Flags, control_gold: Flags, heads: Mapping[str, Learnt]
) -> Scores:
    """How much of its own training labels each head has learnt: what it holds by heart."""
    return {
        "relaxed_accuracy": _share_right(vectors, gold, heads["probe"]),
        "control_on_its_labels": _share_right(vectors, control_gold, heads["control"]),
    }


def _share_right(vectors: Vectors, gold: Flags, learnt: Learnt) -> float:
    picked = label_probabilities(vectors, learnt).argmax(axis=1)
    return float(gold[np.arange(len(gold)), picked].mean())


def _answers(
    items: Sequence[Item], vectors: Vectors, labels: Sequence[str], learnt: Learnt
) -> list[Answer]:
    place = {label: number for number, label in enumerate(labels)}
    found = []
    for item, row in zip(items, label_probabilities(vectors, learnt), strict=True):
        chosen = row[[place[choice] for choice in item.choices]]
        found.append(pick(item, tuple(chosen.tolist())))
    return found


def _most_frequent(items: Sequence[Item]) -> list[Answer]:
    """The answers of the baseline, which looks at the labels of the items themselves."""
    baseline = majority("")
    baseline.prepare(items, None)  # type: ignore[arg-type]  # looks at the items alone
    return baseline.answer(items)


def _table(
    items: Sequence[Item], answers: Sequence[Answer], name: str, benchmark: Benchmark | None
) -> Table:
    scale = "none" if name == "majority" else "log-probability"
    rows = zip(items, answers, strict=True)
    if benchmark is None:
        return Table.of(rows, model=name, scale=scale)
    return Table.of(
        rows,
        benchmark=benchmark.name,
        model=name,
        scale=scale,
        sharing=Sharing.of(benchmark),
        laws=Laws(),
    )


def _add(
    found: Scores, name: str, value: float | None, low: float | None, high: float | None
) -> None:
    """A figure and its interval, where they are known."""
    for key, number in ((name, value), (f"{name}_low", low), (f"{name}_high", high)):
        if number is not None:
            found[key] = number
