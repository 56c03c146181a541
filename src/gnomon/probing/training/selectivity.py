"""What a probe gets right, beside its control: each with an interval over independent units.

Selectivity is the difference of the two on the same items (Hewitt and Liang 2019): a control that
does well says that the probe can learn anything by heart, and then what it gets right says little
about the model below it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
from gnomon.records import Answer, Item, pick

Scores = dict[str, float]


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
