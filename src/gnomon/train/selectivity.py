"""What a probe gets right, beside its control: each with an interval over independent units.

Selectivity is the difference of the two on the same items (Hewitt and Liang 2019): a control that
does well says that the probe can learn anything by heart, and then what it gets right says little
about the model below it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import nan

from gnomon.contracts import Benchmark
from gnomon.measures.comparison import compare
from gnomon.measures.scoring import score
from gnomon.measures.sharing import Sharing
from gnomon.measures.table import Table
from gnomon.measures.typical import RELAXED_ACCURACY
from gnomon.models.functions import majority
from gnomon.records import Answer, Item
from gnomon.train.features import Vectors
from gnomon.train.learners import Outcome, Scores
from gnomon.train.probes import Flags, Learnt, label_probabilities, picked_right

FIGURES = {
    "relaxed_accuracy": "the probe gets {} right",
    "majority": "the label that is right most often {}",
    "control": "the control {}",
}


def part_scores(
    items: Sequence[Item], right: Mapping[str, Flags], benchmark: Benchmark | None
) -> Scores:
    """Relaxed accuracy of probe, control and the most frequent label; and the selectivity.

    `right` says of each head which items it gets right, by the labels that it is measured by.
    """
    tables = {}
    for name, flags in right.items():
        tables[name] = _table(items, _as_answers(items, flags), name, benchmark)
    tables["majority"] = _table(items, _most_frequent(items), "majority", benchmark)
    found: Scores = {}
    for name, table in tables.items():
        one = score(table, RELAXED_ACCURACY)
        measure = "relaxed_accuracy" if name == "probe" else name
        _add(found, measure, one.value, one.low, one.high)
    (gap,) = compare([tables["probe"], tables["control"]], RELAXED_ACCURACY, draws=0)
    _add(found, "selectivity", gap.difference, gap.low, gap.high)
    return found


def right_flags(vectors: Vectors, gold: Flags, offered: Flags, learnt: Learnt) -> Flags:
    """For each example, whether the most probable of the labels that it offers is a right one."""
    return picked_right(label_probabilities(vectors, learnt), gold, offered)


def results_in_words(outcome: Outcome) -> str:
    """The results of a probe for its card: a paragraph for each part, what was tested first."""
    parts = {**outcome.tests, "dev (which chose the epoch, and so flatters)": outcome.best}
    train = parts.pop("train")
    told = []
    for part, scores in parts.items():
        figures = [words.format(_shown(scores, name)) for name, words in FIGURES.items()]
        gap = _shown(scores, "selectivity", unit=" points")
        told.append(f"On {part}, {', '.join(figures)}. Selectivity: {gap}.")
    told.append(
        "The control is the same probe, trained on random labels. Of its own training labels it "
        f"has {100 * train['control_on_its_labels']:.1f} % right, which it can only have learnt by "
        f"heart; the probe has {100 * train['relaxed_accuracy']:.1f} % of the right ones."
    )
    return "\n\n".join(told)


def _shown(scores: Scores, name: str, unit: str = " %") -> str:
    value, low, high = (scores.get(key, nan) for key in (name, f"{name}_low", f"{name}_high"))
    return f"{100 * value:.1f}{unit} [{100 * low:.1f}, {100 * high:.1f}]"


def train_scores(probe: Flags, control: Flags) -> Scores:
    """How much of its own training labels each head has learnt: what it holds by heart."""
    return {
        "relaxed_accuracy": float(probe.mean()),
        "control_on_its_labels": float(control.mean()),
    }


def _as_answers(items: Sequence[Item], right: Flags) -> list[Answer]:
    """Answers that are right where they should be: a table then knows units and intervals."""
    found = []
    for item, is_right in zip(items, right.tolist(), strict=True):
        choice = item.gold[0] if is_right else None
        found.append(Answer(item=item.id, choice=choice))
    return found


def _most_frequent(items: Sequence[Item]) -> list[Answer]:
    """The answers of the baseline, which looks at the labels of the items themselves."""
    baseline = majority("")
    baseline.prepare(items, None)  # type: ignore[arg-type, misc]  # looks at the items alone
    return baseline.answer(items)


def _table(
    items: Sequence[Item], answers: Sequence[Answer], name: str, benchmark: Benchmark | None
) -> Table:
    rows = zip(items, answers, strict=True)
    if benchmark is None:
        return Table.of(rows, model=name)
    return Table.of(rows, benchmark=benchmark.name, model=name, sharing=Sharing.of(benchmark))


def _add(
    found: Scores, name: str, value: float | None, low: float | None, high: float | None
) -> None:
    """A figure and its interval, where they are known."""
    for key, number in ((name, value), (f"{name}_low", low), (f"{name}_high", high)):
        if number is not None:
            found[key] = number
