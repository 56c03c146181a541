"""Several answers to an item: what accuracy is of them, and where its error comes from."""

import numpy as np
import pytest

import gnomon
from gnomon.measures import Table
from gnomon.measures.accuracy import accuracy, error_parts, recognised_accuracy, told_parts
from gnomon.measures.power import plan
from gnomon.measures.seeds import together
from gnomon.measures.statistics import standard_error
from gnomon.records import Answer, Item


def rows(chances, samples, rng, benchmark="b"):
    """Each item right with its own chance, answered several times."""
    for number, chance in enumerate(chances):
        item = Item(id=f"i{number}", form="choice", text="?", choices=("a", "b"), gold=("a",))
        for sample in range(samples):
            said = "a" if rng.random() < chance else "b"
            yield item, Answer(item=item.id, sample=sample, choice=said)


def test_accuracy_is_the_share_of_all_answers_and_other_measures_take_the_first(rng):
    item = Item(id="1", form="choice", text="?", choices=("a", "b"), gold=("a",))
    said = [("a", 0), ("b", 1), (None, 2), ("a", 3)]
    answers = [(item, Answer(item="1", sample=sample, choice=word)) for word, sample in said]
    other = Item(id="2", form="choice", text="?", choices=("a", "b"), gold=("b",))
    table = Table.of([*answers, (other, Answer(item="2", choice="b"))])
    assert len(table) == table.total == 2
    assert table.samples.number.tolist() == [4, 1]
    assert accuracy(table).value == pytest.approx((0.5 + 1) / 2)
    assert recognised_accuracy(table).value == 1.0
    assert accuracy(table.where(np.array([0]))).value == 0.5
    assert together([table, table]).samples.right.tolist() == [0.5, 1.0, 0.5, 1.0]


def test_the_error_is_split_as_it_varies_over_other_answers(rng):
    """The part from answering is how much the accuracy of the same items varies when asked anew."""
    chances = rng.beta(2, 1, 200)
    again = [accuracy(Table.of(rows(chances, 4, rng))).value for _ in range(200)]
    parts = []
    for _ in range(20):
        table = Table.of(rows(chances, 4, rng))
        parts.append(error_parts([table], standard_error(accuracy(table))))
    assert np.mean([part.answering for part in parts]) == pytest.approx(np.std(again), rel=0.15)
    assert all(part.error**2 == pytest.approx(part.answering**2 + part.items**2) for part in parts)
    between = np.std(chances) / np.sqrt(200)
    assert np.mean([part.items for part in parts]) == pytest.approx(between, rel=0.15)
    assert "with 4 samples an item" in told_parts(parts[0], "accuracy")
    once = Table.of(rows(chances, 1, rng))
    assert once.samples is None
    assert error_parts([once], 0.1) is None


def test_samples_help_only_as_far_as_answering_varies():
    units = [((number % 100,),) for number in range(1000)]
    shown = [plan(units, samples=samples).detectable for samples in (1, 2, 10, 1000)]
    assert shown == sorted(shown, reverse=True)
    assert shown[-1] > 0.6 * shown[0], "what units and items differ by remains"


def test_a_run_with_samples_is_scored_and_compared_by_all_of_them(tmp_path, capsys):
    class Coin:
        spec, scale = "coin", "none"

        def __init__(self, samples, salt):
            self.samples, self.salt = samples, salt

        def describe(self):
            return {"samples": self.samples, "salt": self.salt}

        def answer(self, items):
            found = []
            for item in items:
                rng = np.random.default_rng([len(item.text), hash(item.id) % 2**32, self.salt])
                for sample in range(self.samples):
                    said = item.choices[rng.integers(len(item.choices))]
                    found.append(Answer(item=item.id, sample=sample, choice=said))
            return found

    source = gnomon.load("scales").limited(60)
    one = gnomon.run(source, Coin(5, 1), runs=tmp_path)
    two = gnomon.run(source, Coin(3, 2), runs=tmp_path)
    right = [answer.choice in item.gold for item, answer in one.answers()]
    assert len(right) == 300
    [found] = gnomon.score(one, measures=["accuracy"])
    assert found.value == pytest.approx(np.mean(right))
    [pair] = gnomon.compare(one, two, measure="accuracy")
    [other] = gnomon.score(two, measures=["accuracy"])
    assert pair.difference == pytest.approx(found.value - other.value)

    from gnomon.cli import main

    assert main(["score", str(one.path)]) == 0
    assert "with 5 samples an item" in capsys.readouterr().err
    assert main(["compare", str(one.path), str(two.path)]) == 0
    assert "of their difference" in capsys.readouterr().err
