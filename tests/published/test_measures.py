"""The papers' figures from the authors' own files, to the printed digit."""

from collections import Counter
from decimal import ROUND_HALF_UP, Decimal

import numpy as np
import pytest

import gnomon
from gnomon.files import read_json, read_jsonl
from gnomon.items.answers.joining import read_predictions
from gnomon.measures import Table, scores
from gnomon.measures.credit import credits_by_category
from gnomon.measures.people import disagreement, majority
from gnomon.records import Answer
from gnomon.registry import measure
from gnomon.vision.knowledge import typical_sets

pytestmark = pytest.mark.published

CATEGORIES = ("motion", "orientation", "distance", "containment", "metaphor")
# File, then table 5 and table 6 with their averages (the figures of table 2) and the deviation
# beside the second.
SPATIALQA = {
    "allenai-unifiedqa-v2-t5-3b-1363200": (
        "33.3 42.9 30.0 50.0 7.4 32.7",
        "33.3 43.3 30.0 50.7 9.3 33.3",
        "15.7",
    ),
    "microsoft-deberta-v2-xxlarge-mnli": (
        "41.7 14.3 55.0 25.0 14.8 30.2",
        "76.7 55.0 71.0 57.1 22.8 56.5",
        "21.0",
    ),
    "roberta-large-mnli": (
        "41.7 14.3 55.0 28.6 14.8 30.9",
        "76.7 53.9 63.9 53.4 26.0 54.7",
        "18.7",
    ),
    "textattack-xlnet-base-cased-MNLI": (
        "25.0 14.3 55.0 28.6 29.6 30.5",
        "73.5 33.2 61.0 53.4 33.6 50.9",
        "17.6",
    ),
}


def printed(value: float, digits: str = "0.1") -> str:
    """A share as a percentage, rounded once from full precision."""
    return str(Decimal(100 * value).quantize(Decimal(digits), ROUND_HALF_UP))


def answered(shared, name: str) -> Table:
    folder = shared / "data" / "spatialqa"
    items = gnomon.load("spatialqa@published", data=str(folder)).items()
    return Table.of(read_predictions(folder / f"results-{name}.tsv.gz", items).rows)


@pytest.mark.parametrize("name", SPATIALQA)
def test_tables_2_5_and_6_of_spatialqa(shared, name):
    table = answered(shared, name)
    rows = {row.category: row for row in credits_by_category(table)}
    without, partial, deviation = SPATIALQA[name]
    order = [rows[category] for category in (*CATEGORIES, "")]
    assert [printed(row.without_partial) for row in order] == without.split()
    assert [printed(row.partial) for row in order] == partial.split()
    assert printed(rows[""].deviation) == deviation
    assert printed(measure("partial_credit").statistics(table).value) == partial.split()[-1]
    assert printed(measure("without_partial_credit").statistics(table).value) == without.split()[-1]
    sliced = {s.key: s.value for s in scores(table, [measure("partial_credit")], "category")}
    assert [printed(sliced[category]) for category in CATEGORIES] == partial.split()[:-1]


def test_a_constant_answer_earns_as_much_without_partial_credit_as_with_it(shared):
    table = answered(shared, "ada")
    assert set(table.column("choice").text()) == {"contradiction"}
    *_, overall = credits_by_category(table)
    assert printed(overall.partial) == printed(overall.without_partial) == "47.5"


def test_no_answer_of_a_template_may_be_wrong_for_it_to_count_without_partial_credit(shared):
    shares = {
        s.key: s.value
        for s in scores(answered(shared, "roberta-large-mnli"), [measure("accuracy")], "group")
    }
    is_in = next(value for key, value in shares.items() if key.endswith("is_in/0"))
    fits_in = next(value for key, value in shares.items() if key.endswith("fits_in/2"))
    assert (round(is_in, 3), fits_in) == (0.530, 0.0)


def constant(shared, task: str, chosen: dict[str, float]) -> Table:
    """The test split with the same probabilities for every item."""
    items = list(
        gnomon.load(
            f"viphy-{task}@published", data=str(shared / "data" / "viphy"), split="test"
        ).items()
    )
    rows = [
        (
            item,
            Answer(
                item=item.id,
                choice=max(chosen, key=lambda label: chosen[label]),
                scores=tuple(chosen.get(choice, 0.0) for choice in item.choices),
            ),
        )
        for item in items
    ]
    return Table.of(rows, scale="probability")


def test_always_white_is_right_for_5595_in_ten_thousand_objects(shared):
    table = constant(shared, "color", {"white": 1.0})
    assert len(table) == 9275
    assert printed(measure("relaxed_accuracy").statistics(table).value, "0.01") == "55.95"
    assert printed(measure("accuracy").statistics(table).value, "0.01") == "55.95"


def test_the_four_commonest_colours_for_every_object_give_the_papers_f1(shared):
    table = constant(shared, "color", dict.fromkeys(("white", "black", "brown", "gray"), 0.25))
    for name in ("typical_f1@code", "typical_f1@paper"):
        assert printed(measure(name).statistics(table).value, "0.01") == "20.93"


def test_all_three_levels_for_every_pair_give_the_papers_f1(shared):
    table = constant(shared, "spatial", dict.fromkeys(("above", "level with", "below"), 1 / 3))
    assert len(table) == 4599
    assert printed(measure("typical_f1@code").statistics(table).value, "0.01") == "58.88"


def test_relaxed_accuracy_by_cardinality_rises_to_certainty(shared):
    table = constant(shared, "color", {"white": 1.0})
    by = {int(s.key): s for s in scores(table, [measure("relaxed_accuracy")], "cardinality")}
    assert sum(s.n for s in by.values()) == 9275
    assert by[7].n == 5
    assert [by[k].value for k in (1, 3, 5)] == sorted(by[k].value for k in (1, 3, 5))


def test_typical_answers_for_90_objects_hold_the_commonest_and_none_below_a_tenth(shared):
    raw = read_json(shared / "data" / "viphy" / "raw_90.json", dict[str, dict[str, int]])
    assert len(raw) == 90
    for counts in raw.values():
        shares = np.array([list(counts.values())]) / sum(counts.values())
        kept = typical_sets(shares)[0]
        assert kept[shares[0].argmax()]
        assert not kept[shares[0] < 0.1].any()


def test_vsr_counts_by_category_and_relation(shared):
    items = gnomon.load("vsr@published", data=str(shared / "data" / "vsr"), split="test").items()
    table = Table.of((item, Answer(item=item.id, choice=item.choices[0])) for item in items)
    by = {s.key: s.n for s in scores(table, [measure("accuracy")], "category")}
    assert {
        "Projective": 773,
        "Topological": 591,
        "Adjacency": 284,
        "Proximity": 123,
        "Orientation": 112,
        "Directional": 90,
        "Unallocated": 51,
    }.items() <= by.items()
    relations = [s.n for s in scores(table, [measure("accuracy")], "relation")]
    assert sum(relations) == 2024
    assert sum(n > 15 for n in relations) == 31
    assert len(scores(table, [measure("accuracy")], "relation", minimum=16)) == 31


def raw_votes(shared):
    """The rows, and how many validators called each caption true and false."""
    rows = [row for _, row in read_jsonl(shared / "data" / "vsr" / "raw.jsonl", dict)]
    return rows, *(
        np.array([len(row[f"vote_{way}_validator_id"]) for row in rows])
        for way in ("true", "false")
    )


def test_vsr_keeps_what_two_thirds_of_its_validators_agree_with(shared):
    rows, true, false = raw_votes(shared)
    votes = np.array(
        [[1] * a + [0] * b + [-1] * (12 - a - b) for a, b in zip(true, false, strict=True)]
    )
    kept = majority(votes, 2 / 3, strict=False) == [row["label"] for row in rows]
    assert (len(rows), int(true.sum() + false.sum()), int(kept.sum())) == (12809, 30068, 10119)
    counts = Counter(row["relation"] for row, keep in zip(rows, kept, strict=True) if keep)
    assert (len(counts), counts["congruent"], sum(counts.values())) == (65, 1, 10119)


def test_vsr_disagreement_by_relation(shared):
    rows, true, false = raw_votes(shared)
    agree = np.where([row["label"] == 1 for row in rows], true, false)
    found = disagreement([row["relation"] for row in rows], agree, true + false, more_than=20)
    top = {
        "at the side of": ".351",
        "beyond": ".333",
        "near": ".331",
        "at the left side of": ".330",
        "close to": ".328",
        "right of": ".326",
    }
    bottom = {
        "within": ".057",
        "part of": ".092",
        "into": ".094",
        "has as a part": ".097",
        "touching": ".097",
    }
    assert [row.key for row in found[:6]] == list(top)
    assert {row.key for row in found[-5:]} == set(bottom)
    for row in [*found[:6], *found[-5:]]:
        assert f"{row.excluded:.3f}"[1:] == (top | bottom)[row.key]


def test_published_scales_consistency_of_the_right_answers(shared):
    """The 500 size items: 250 pairs; ascending triples of three levels number 10 x 125, both ways
    2,500."""
    folder = shared / "data" / "spatial-commonsense"
    source = gnomon.load("scales@published", data=str(folder), scale="size", form="cloze")
    rows = [(item, Answer(item=item.id, choice=item.gold[0])) for item in source.items()]
    table = Table.of(rows, laws=source.benchmark.laws)
    symmetry, transitivity = (
        measure(name).statistics(table) for name in ("symmetry", "transitivity")
    )
    assert (symmetry.value, symmetry.n) == (1.0, 250)
    assert (transitivity.value, transitivity.n, transitivity.clusters) == (1.0, 2500, 25)
