"""A measure's name means one thing: nothing that a run happens to hold changes what is measured."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.contracts import Laws, OrderLaw, RelationLaw
from gnomon.measures import Table
from gnomon.measures.classes import typical_f1
from gnomon.records import Answer, Item
from gnomon.registry import measure
from gnomon.vision.knowledge import typical_sets

from .test_needs import EVERY

sklearn = pytest.importorskip("sklearn.metrics")
LABELS = ("a", "b", "c", "d")
LAWS = Laws(
    order=OrderLaw(first="obj_a", second="obj_b", greater=("larger",), lesser=("smaller",)),
    relations=RelationLaw(
        first="obj_a",
        second="obj_b",
        symmetric=("near",),
        converse=(("above", "below"),),
        transitive=("inside",),
    ),
)
ASKED = ("larger", "smaller", "near", "above", "below", "inside")
# Measures that read the scores, and say so.
OF_SCORES = {"relaxed_accuracy"} | {each.name for each in EVERY if "scores" in each.needs}
# Measures that say what a right label counts that nobody answered: a guess may hit it, its
# probability counts, and items with other right labels agree if both are right.
OF_RIGHT_LABELS = OF_SCORES | {
    "guessed_accuracy",
    "guessed_macro_f1",
    "group_agreement",
    "form_agreement",
}
# A pair of a true and a false statement: a statement that is both is in no pair.
OF_TRUTH = {"auc", "pair_image", "pair_right", "quad_text", "quad_image", "quad_group"}

seeds = st.integers(0, 2**32 - 1)


def random_run(seed):
    """Some thirty items of every kind that measures know, with answers: (item, answer) rows."""
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(30):
        choices = (("larger", "smaller"), ("true", "false"), LABELS)[rng.integers(3)]
        one, two = rng.choice(4, 2, replace=False)
        item = Item(
            id=f"i{number}",
            form=("choice", "cloze")[rng.integers(2)],
            text="?",
            choices=choices,
            gold=(str(rng.choice(choices)),),
            group=f"g{rng.integers(8)}",
            tags={
                "obj_a": f"o{one}",
                "obj_b": f"o{two}",
                "relation": str(rng.choice(ASKED)),
                "negated": str(rng.choice(["yes", "no"])),
                "fact": f"f{rng.integers(5)}",
                "way": str(rng.choice(["plain", "converse", "mirror"])),
                "pair": f"p{rng.integers(6)}",
                "category": f"c{rng.integers(3)}",
                "colour": str(rng.choice(["red", "blue"])),
            },
        )
        shares = rng.dirichlet(np.ones(len(choices)))
        said = choices[int(shares.argmax())] if rng.random() < 0.9 else None
        rows.append((item, Answer(item=item.id, choice=said, scores=tuple(shares.tolist()))))
    return rows


def table_of(rows):
    return Table.of(rows, scale="probability", laws=LAWS)


def without_scores(rows):
    return [(item, replace_struct(answer, scores=None)) for item, answer in rows]


def replace_struct(record, **changes):
    from msgspec.structs import replace as changed

    return changed(record, **changes)


def with_permuted_choices(rows, rng):
    """Each item with its choices in another order, and its scores along with them."""
    moved = []
    for item, answer in rows:
        order = rng.permutation(len(item.choices))
        choices = tuple(item.choices[place] for place in order)
        scores = tuple(answer.scores[place] for place in order)
        moved.append((replace_struct(item, choices=choices), replace_struct(answer, scores=scores)))
    return moved


def with_second_label(rows, place):
    """One item with a second right label, which nobody answered; none if all are answered."""
    item, answer = rows[place]
    others = [label for label in item.choices if label not in (*item.gold, answer.choice)]
    if not others:
        return None
    changed = replace_struct(item, gold=(*item.gold, others[0]))
    return [*rows[:place], (changed, answer), *rows[place + 1 :]]


@given(seeds)
def test_scores_change_only_what_is_measured_of_scores(seed):
    rows = random_run(seed)
    with_scores, without = table_of(rows), table_of(without_scores(rows))
    for each in EVERY:
        if each.name not in OF_SCORES:
            one, two = each.statistics(with_scores), each.statistics(without)
            assert np.array_equal(one.sums, two.sums), each.name
            assert one.value == pytest.approx(two.value, nan_ok=True), each.name


@given(seeds)
def test_the_order_of_choices_changes_nothing(seed):
    rows = random_run(seed)
    rng = np.random.default_rng(seed)
    twice = [with_second_label(rows, place) or rows for place in (3, 7)]
    for some in (rows, *twice):
        plain, permuted = table_of(some), table_of(with_permuted_choices(some, rng))
        for each in EVERY:
            one, two = each.statistics(plain).value, each.statistics(permuted).value
            assert one == pytest.approx(two, nan_ok=True), each.name


@given(seeds, st.integers(0, 29))
def test_a_second_right_label_counts_for_its_own_item_alone(seed, place):
    rows = random_run(seed)
    changed = with_second_label(rows, place)
    if changed is None:
        return
    is_statement = "true" in rows[place][0].choices
    before, after = table_of(rows), table_of(changed)
    group = before.group.codes[place]
    own = np.unique(before.group.codes).tolist().index(group)
    for each in EVERY:
        if is_statement and each.name in OF_TRUTH:
            continue
        one, two = each.statistics(before), each.statistics(after)
        if each.name not in OF_RIGHT_LABELS and not each.name.startswith(("symmetry", "converse")):
            assert one.value == pytest.approx(two.value, nan_ok=True), each.name
        elif len(one.sums) == before.group.codes.max() + 1 == len(two.sums):
            others = np.arange(len(one.sums)) != own
            assert np.array_equal(one.sums[others], two.sums[others]), each.name


def weighted_f1(rows):
    """Macro-F1 by scikit-learn over (gold, answer, weight); no answer is no class."""
    gold, said, weights = zip(*rows, strict=True)
    classes = sorted({*gold, *said} - {"-"})
    return sklearn.f1_score(
        gold, said, sample_weight=weights, labels=classes, average="macro", zero_division=0
    )


def one_label(item, said):
    return said if said in item.gold else item.gold[0]


@pytest.mark.parametrize("scored", [True, False])
@given(seeds)
def test_every_f1_is_that_of_scikit_learn_with_and_without_scores(scored, seed):
    rows = random_run(seed)
    for place in (0, 9, 20):
        rows = with_second_label(rows, place) or rows
    item, answer = rows[1]
    rows[1] = (item, replace_struct(answer, choice="stray"))
    some = table_of(rows if scored else without_scores(rows))

    answered = [(item, answer.choice) for item, answer in rows if answer.choice is not None]
    missing = [item for item, answer in rows if answer.choice is None]
    said = [(one_label(item, choice), choice, 1.0) for item, choice in answered]
    lost = [(item.gold[0], "-", 1.0) for item in missing]
    guesses = []
    for item in missing:
        part = 1 / len(item.choices)
        guesses += [(one_label(item, choice), choice, part) for choice in item.choices]
    expected = {
        "macro_f1": weighted_f1(said + lost),
        "recognised_macro_f1": weighted_f1(said),
        "guessed_macro_f1": weighted_f1(said + guesses),
    }
    for name, value in expected.items():
        assert measure(name).statistics(some).value == pytest.approx(value), name


@given(seeds)
def test_typical_f1_is_that_of_scikit_learn_whatever_the_number_of_right_labels(seed):
    rows = [row for row in random_run(seed) if row[0].choices == LABELS]
    if not rows:
        return
    some = table_of(rows)
    assert some.cardinality.max() == 1
    truth = np.array([[label in item.gold for label in LABELS] for item, _ in rows])
    for rule in ("code", "paper"):
        typical = typical_sets(some.probabilities, rule) & some.answered[:, None]
        expected = sklearn.f1_score(truth, typical, average="macro", zero_division=0)
        assert typical_f1(rule).statistics(some).value == pytest.approx(expected)
        nothing = replace(some, scores=None)
        assert np.isnan(typical_f1(rule).statistics(nothing).value)
