"""The law of the probe: what is linear in the vectors is learnt, and what is random is not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.train.probes import (
    Examples,
    HeadSettings,
    epoch_order,
    epoch_targets,
    first_weights,
    label_probabilities,
    picked_right,
    shuffled,
    shuffled_by_type,
    train_probes,
)

golds = st.integers(0, 2**32 - 1).map(
    lambda seed: np.random.default_rng(seed).random((2, 17, 4)) < 0.4
)


def with_one_right(gold):
    """The same flags, but every example has a right label."""
    gold[..., 0] |= ~gold.any(axis=-1)
    return gold


def one_of(labels, count):
    """Flags with one right label each."""
    return np.eye(count, dtype=bool)[labels]


def separable(examples, size=16, labels=3, seed=0):
    draw = np.random.default_rng(seed)
    vectors = draw.normal(size=(examples, size)).astype(np.float32)
    teacher = np.random.default_rng(99).normal(size=(labels, size))
    return vectors, one_of((vectors @ teacher.T).argmax(axis=1), labels)


def examples(vectors, gold):
    """Examples that offer every label."""
    return Examples(vectors, gold, np.ones(gold.shape[1:], dtype=bool))


def mixed(gold, seed):
    return shuffled(gold, np.ones_like(gold), seed)


def accuracy(vectors, gold, learnt):
    picked = label_probabilities(vectors, learnt).argmax(axis=1)
    return gold[np.arange(len(gold)), picked].mean()


QUICK = HeadSettings(learning_rate=1e-2, epochs=30)


def test_what_is_linear_in_the_vectors_is_learnt_and_carries_over():
    train, dev = separable(800), separable(200, seed=1)
    (learnt,) = train_probes(
        examples(train[0], train[1][None]), examples(dev[0], dev[1][None]), QUICK
    )
    assert accuracy(*separable(1000, seed=2), learnt) > 0.95


def test_random_labels_are_not_learnt_beyond_the_examples():
    vectors, gold = separable(800)
    dev, dev_gold = separable(200, seed=1)
    (learnt,) = train_probes(
        examples(vectors, mixed(gold, 0)[None]),
        examples(dev, mixed(dev_gold, 1)[None]),
        QUICK,
    )
    test, test_gold = separable(2000, seed=2)
    most_frequent = test_gold.mean(axis=0).max()
    assert accuracy(test, mixed(test_gold, 2), learnt) < most_frequent + 0.05


@pytest.mark.parametrize("several", ["draw", "share"])
@pytest.mark.parametrize("decay", ["constant", "linear"])
def test_the_weights_are_those_of_a_plain_loop_of_torch(several, decay):
    torch = pytest.importorskip("torch")
    draw = np.random.default_rng(3)
    vectors = draw.normal(size=(45, 12)).astype(np.float32)
    gold = with_one_right(draw.random((1, 45, 4)) < 0.4)
    chosen = HeadSettings(epochs=4, learning_rate=1e-2, several=several, decay=decay)
    (learnt,) = train_probes(
        examples(vectors, gold), examples(vectors, gold), chosen._replace(epochs=4)
    )

    layer = torch.nn.Linear(12, 4)
    start = torch.from_numpy(first_weights(12, 4, chosen))
    layer.weight.data, layer.bias.data = start[:, :-1].clone(), start[:, -1].clone()
    optimizer = torch.optim.Adam(layer.parameters(), lr=chosen.learning_rate)
    total = 4 * (45 // 8)
    for epoch in range(1, learnt.epoch + 1):
        order = torch.from_numpy(epoch_order(45, chosen, epoch))
        targets = torch.from_numpy(epoch_targets(gold, chosen, epoch)[:, 0])
        for start in range(0, len(order), 8):
            rows = order[start : start + 8]
            loss = torch.nn.functional.cross_entropy(
                layer(torch.from_numpy(vectors)[rows]), targets[rows]
            )
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if decay == "linear":
                done = (epoch - 1) * (45 // 8) + start // 8 + 1
                optimizer.param_groups[0]["lr"] = chosen.learning_rate * (total - done) / total
    assert np.allclose(learnt.weights, layer.weight.detach(), atol=1e-5)
    assert np.allclose(learnt.bias, layer.bias.detach(), atol=1e-5)


def test_a_control_beside_it_does_not_change_a_probe():
    vectors, gold = separable(100)
    dev, dev_gold = separable(50, seed=1)
    alone = train_probes(examples(vectors, gold[None]), examples(dev, dev_gold[None]), QUICK)
    both = np.stack([gold, mixed(gold, 0)])
    dev_both = np.stack([dev_gold, mixed(dev_gold, 0)])
    beside = train_probes(examples(vectors, both), examples(dev, dev_both), QUICK)
    assert beside[0].epoch == alone[0].epoch
    assert np.allclose(beside[0].weights, alone[0].weights, atol=1e-5)


def test_the_earlier_of_two_equal_epochs_is_kept():
    vectors, gold = separable(40)
    everything = np.ones((1, 10, 3), dtype=bool)  # any answer is right in every epoch
    (learnt,) = train_probes(
        examples(vectors, gold[None]), examples(vectors[:10], everything), QUICK
    )
    assert (learnt.epoch, learnt.score) == (1, 1.0)


@given(golds, st.integers(1, 60), st.integers(0, 5))
@settings(max_examples=40, deadline=None)
def test_one_right_label_is_drawn_for_each_example(gold, epoch, seed):
    gold = with_one_right(gold)
    targets = epoch_targets(gold, HeadSettings(seed_data=seed), epoch)
    assert (targets.sum(axis=2) == 1).all()
    assert (gold.transpose(1, 0, 2) | (targets == 0)).all()


def test_over_many_epochs_each_right_label_is_drawn_equally_often():
    gold = np.array([[[True, False, True, True]] * 200])
    drawn = sum(epoch_targets(gold, HeadSettings(), epoch) for epoch in range(1, 51))
    shares = drawn.sum(axis=(0, 1)) / drawn.sum()
    assert np.abs(shares - [1 / 3, 0, 1 / 3, 1 / 3]).max() < 0.02


@given(golds)
@settings(max_examples=20, deadline=None)
def test_a_shared_target_is_divided_equally(gold):
    gold = with_one_right(gold)
    targets = epoch_targets(gold, HeadSettings(several="share"), 1)
    assert np.allclose(targets.sum(axis=2), 1)
    assert ((targets > 0) == gold.transpose(1, 0, 2)).all()


@given(st.integers(1, 50), st.integers(1, 12), st.booleans(), st.integers(1, 9))
def test_an_epoch_has_every_example_at_most_once_and_whole_batches(examples, batch, drop, epoch):
    chosen = HeadSettings(batch=batch, drop_last=drop)
    order = epoch_order(examples, chosen, epoch)
    assert len(set(order.tolist())) == len(order)
    assert -(-len(order) // batch) == chosen.steps_in_epoch(examples)
    if drop and examples >= batch:
        assert len(order) % batch == 0
        assert examples - len(order) < batch
    else:
        assert len(order) == examples


@given(golds, st.integers(0, 9))
@settings(max_examples=20, deadline=None)
def test_shuffled_labels_are_as_frequent_as_before(gold, seed):
    before, after = gold[0], mixed(gold[0], seed)
    assert sorted(map(tuple, before.tolist())) == sorted(map(tuple, after.tolist()))


def test_a_type_has_one_label_wherever_it_occurs():
    gold = one_of(np.arange(60) % 4, 4)
    types = [f"word {number % 7}" for number in range(60)]
    labels = shuffled_by_type(gold, np.ones_like(gold), types, 0)
    by_type = {}
    for name, row in zip(types, labels, strict=True):
        by_type.setdefault(name, set()).add(tuple(row.tolist()))
    assert {len(rows) for rows in by_type.values()} == {1}
    assert len(set.union(*by_type.values())) > 1


def of_two_kinds(count=60):
    """Labels 0 and 1 are offered by every third example, labels 2 and 3 by the others."""
    second = np.arange(count) % 3 > 0
    offered = np.where(second[:, None], [False, False, True, True], [True, True, False, False])
    gold = one_of(np.arange(count) % 2 + 2 * second, 4)
    return gold, offered


def test_only_the_labels_that_an_example_offers_are_picked():
    gold, offered = of_two_kinds()
    logits = gold.astype(float)  # the right label leads those that are offered
    logits[~offered] = 5
    assert picked_right(logits, gold, offered).all()
    assert not picked_right(logits, gold, np.ones_like(offered)).any()


def test_the_best_epoch_is_chosen_by_the_labels_on_offer():
    gold, _ = of_two_kinds()
    vectors = np.eye(4, dtype=np.float32)[gold.argmax(axis=1)]
    (learnt,) = train_probes(
        examples(vectors, gold[None]), Examples(vectors, gold[None], gold), HeadSettings(epochs=3)
    )
    assert (learnt.epoch, learnt.score) == (1, 1.0)  # nothing but the right label is offered


@pytest.mark.parametrize("seed", range(5))
def test_a_control_says_only_what_an_example_offers(seed):
    gold, offered = of_two_kinds()
    types = [f"word {number % 7}" for number in range(len(gold))]
    for labels in (
        shuffled(gold, offered, seed),
        shuffled_by_type(gold, offered, types, seed),
    ):
        assert (labels.sum(axis=1) == 1).all()
        assert (offered | ~labels).all()
    assert (shuffled(gold, offered, seed).sum(axis=0) == gold.sum(axis=0)).all()
