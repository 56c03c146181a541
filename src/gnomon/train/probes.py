"""A linear probe on vectors that are computed once: fifty epochs cost about nothing beside them.

Several heads are trained side by side on the same batches, each on labels of its own: a probe, and
the control that has the same capacity and shuffled labels (Hewitt and Liang 2019). Softmax, its
gradient and Adam are written out for a linear layer in NumPy: a step takes some thirty
microseconds, a tenth of what it takes with automatic differentiation, and gives the same weights.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
Flags = NDArray[np.bool_]
Watch = Callable[["Epoch"], None]

# Adam's own defaults, which the authors left as they are
BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-8


class HeadSettings(NamedTuple):
    """How a probe is trained; the defaults are those of ViPhy's paper and released code."""

    epochs: int = 50
    batch: int = 8
    learning_rate: float = 1e-4
    decay: str = "constant"  # or "linear", down to nothing at the end
    # Where several labels are right: draw one in each epoch (the released code), or share the
    # target among them (the paper, after Mahajan et al. 2018). In the mean they are the same.
    several: str = "draw"
    # The released code leaves out what does not fill the last batch of an epoch.
    drop_last: bool = True
    seed_data: int = 0  # draws one of several labels
    seed_order: int = 0
    seed_weights: int = 0

    def steps_in_epoch(self, examples: int) -> int:
        """How many steps an epoch has.

        >>> HeadSettings(batch=8).steps_in_epoch(20)
        2
        >>> HeadSettings(batch=8, drop_last=False).steps_in_epoch(20)
        3
        """
        whole, rest = divmod(examples, self.batch)
        return whole if whole and self.drop_last else whole + bool(rest)

    def rate(self, step: int, examples: int) -> float:
        """The learning rate of a step, counted from 0."""
        if self.decay == "constant":
            return self.learning_rate
        total = self.epochs * self.steps_in_epoch(examples)
        return self.learning_rate * (total - step) / total


class Examples(NamedTuple):
    """Vectors and, for each head, which labels are right."""

    vectors: Vectors  # [examples, size]
    gold: Flags  # [heads, examples, labels]
    offered: Flags  # [examples, labels] the labels among which each example chooses


class Epoch(NamedTuple):
    """What is known after an epoch, for each head."""

    epoch: int  # the first is 1
    losses: list[float]  # mean over the examples of the epoch
    scores: list[float]  # relaxed accuracy on the development examples


class Learnt(NamedTuple):
    """The best weights of a head, by the development examples."""

    weights: Vectors  # [labels, size]
    bias: Vectors  # [labels]
    epoch: int
    score: float


def train_probes(
    train: Examples, dev: Examples, settings: HeadSettings, watch: Watch | None = None
) -> list[Learnt]:
    """Train one head for each set of labels, and keep the weights of its best epoch.

    The earlier of two equal epochs wins, as in the released code.
    """
    heads = len(train.gold)
    vectors, dev_vectors = _with_ones(train.vectors), _with_ones(dev.vectors)
    start = first_weights(vectors.shape[1] - 1, train.gold.shape[2], settings)
    layer = _Layer(start, heads)
    best: list[Learnt | None] = [None] * heads
    for epoch in range(1, settings.epochs + 1):
        losses = _run_epoch(layer, vectors, train.gold, settings, epoch)
        weights = layer.weights
        scores = relaxed_accuracies(dev_vectors, weights, dev.gold, dev.offered)
        for head, score in enumerate(scores):
            known = best[head]
            if known is None or score > known.score:
                matrix, bias = weights[head][:, :-1], weights[head][:, -1]
                best[head] = Learnt(matrix.copy(), bias.copy(), epoch, score)
        if watch:
            watch(Epoch(epoch, losses, scores))
    return [each for each in best if each is not None]


def first_weights(size: int, labels: int, settings: HeadSettings) -> Vectors:
    """[labels, size + 1] weights and bias, uniform within 1 / sqrt(size) as in torch's layer."""
    bound = 1 / np.sqrt(size)
    draw = np.random.default_rng([settings.seed_weights, 1])
    return draw.uniform(-bound, bound, (labels, size + 1)).astype(np.float32)


def epoch_order(examples: int, settings: HeadSettings, epoch: int) -> NDArray[np.int64]:
    """The order of an epoch: it depends on the seed and on the epoch alone."""
    order = np.random.default_rng([settings.seed_order, 2, epoch]).permutation(examples)
    if settings.drop_last and examples >= settings.batch:
        order = order[: examples - examples % settings.batch]
    return order


def epoch_targets(gold: Flags, settings: HeadSettings, epoch: int) -> Vectors:
    """[examples, heads, labels] what each head is to say: one label drawn, or shares of several."""
    right = np.ascontiguousarray(gold.transpose(1, 0, 2))
    counts = right.sum(axis=2, keepdims=True)
    if settings.several == "share":
        shares: Vectors = (right / counts).astype(np.float32)
        return shares
    draw = np.random.default_rng([settings.seed_data, 3, epoch])
    chosen = (draw.random(counts.shape) * counts).astype(np.int64)  # the how-manieth right one
    place = right.cumsum(axis=2) - 1
    drawn: Vectors = (right & (place == chosen)).astype(np.float32)
    return drawn


def relaxed_accuracies(
    vectors: Vectors, weights: Vectors, gold: Flags, offered: Flags
) -> list[float]:
    """For each head, the share of examples whose highest label is a right one (ViPhy's R-Acc).

    `weights` are [heads, labels, size + 1], and the vectors have their ones. Only labels that an
    example offers count.
    """
    found = []
    for own, right in zip(weights, gold, strict=True):
        found.append(float(picked_right(vectors @ own.T, right, offered).mean()))
    return found


def picked_right(logits: Any, gold: Flags, offered: Flags) -> Flags:
    """For each example, whether the highest of the labels that it offers is a right one."""
    picked = np.where(offered, logits, -np.inf).argmax(axis=1)
    flags: Flags = gold[np.arange(len(gold)), picked]
    return flags


def shuffled(gold: Flags, offered: Flags, seed: int) -> Flags:
    """The same sets of labels, given at random to examples that offer the same labels.

    So every label is as frequent as before, and none stands where it cannot be chosen.

    >>> gold = np.array([[True, False], [True, False], [False, True]])
    >>> shuffled(gold, np.ones_like(gold), 0).sum(axis=0).tolist()
    [2, 1]
    """
    order = np.random.default_rng([seed, 4]).permutation(len(gold))
    kinds = _kinds(offered)
    places = kinds.argsort(kind="stable")
    givers = order[kinds[order].argsort(kind="stable")]
    found = np.empty_like(gold)
    found[places] = gold[givers]
    return found


def shuffled_by_type(gold: Flags, offered: Flags, types: Sequence[str], seed: int) -> Flags:
    """Each type of example gets the labels of one example at random, wherever it occurs.

    That is the control task of Hewitt and Liang, whose types are words: it can be learnt only by
    heart, and carries over to other examples of a type. Where a type occurs with other labels to
    choose from, it gets one of these.
    """
    draw = np.random.default_rng([seed, 5])
    kinds = _kinds(offered)
    members = [np.flatnonzero(kinds == kind) for kind in range(kinds.max() + 1)]
    both = list(zip(types, kinds.tolist(), strict=True))
    known = {}
    for name, kind in sorted(set(both)):
        giver = members[kind][draw.integers(len(members[kind]))]
        known[name, kind] = gold[giver]
    return np.stack([known[each] for each in both])


def _kinds(offered: Flags) -> NDArray[np.int64]:
    """A number for each example: equal where the same labels are offered."""
    _, found = np.unique(offered, axis=0, return_inverse=True)
    return found.reshape(-1)


def label_probabilities(vectors: Vectors, learnt: Learnt) -> Any:
    """[examples, labels] log-probabilities, of 64-bit numbers."""
    logits = vectors.astype(np.float64) @ learnt.weights.T.astype(np.float64) + learnt.bias
    logits -= logits.max(axis=1, keepdims=True)
    return logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))


class _Layer:
    """The weights of all heads, with Adam's moments; a column for each label of each head."""

    def __init__(self, start: Vectors, heads: int) -> None:
        self.heads, self.labels = heads, len(start)
        self.matrix = np.ascontiguousarray(np.tile(start, (heads, 1)).T)
        self._mean = np.zeros_like(self.matrix)
        self._square = np.zeros_like(self.matrix)
        self._room = np.empty_like(self.matrix)
        self.steps = 0  # that were taken

    @property
    def weights(self) -> Vectors:
        """[heads, labels, size + 1]"""
        return self.matrix.T.reshape(self.heads, self.labels, -1)

    def shares(self, vectors: Vectors) -> Vectors:
        """[examples, heads, labels] the probability of each label."""
        logits = (vectors @ self.matrix).reshape(len(vectors), self.heads, self.labels)
        logits -= logits.max(axis=2, keepdims=True)
        np.exp(logits, out=logits)
        logits /= logits.sum(axis=2, keepdims=True)
        return logits

    def step(self, gradient: Vectors, learning_rate: float) -> None:
        """One step of Adam (Kingma and Ba 2015, algorithm 1), in place."""
        self.steps += 1
        room, mean, square = self._room, self._mean, self._square
        np.multiply(gradient, 1 - BETA_1, out=room)
        mean *= BETA_1
        mean += room
        np.multiply(gradient, gradient, out=room)
        room *= 1 - BETA_2
        square *= BETA_2
        square += room
        # both corrections at once: lr / c1 * mean / (sqrt(square) / sqrt(c2) + epsilon)
        root = float(np.sqrt(1 - BETA_2**self.steps))
        np.sqrt(square, out=room)
        room += EPSILON * root
        np.divide(mean, room, out=room)
        room *= learning_rate * root / (1 - BETA_1**self.steps)
        self.matrix -= room


def _run_epoch(
    layer: _Layer, vectors: Vectors, gold: Flags, settings: HeadSettings, epoch: int
) -> list[float]:
    """Take the steps of an epoch; the mean loss of each head."""
    order = epoch_order(len(vectors), settings, epoch)
    targets = epoch_targets(gold, settings, epoch)[order]
    likelihoods = np.empty(targets.shape[:2], dtype=np.float64)
    columns = layer.heads * layer.labels
    for start in range(0, len(order), settings.batch):
        end = start + settings.batch
        batch = vectors[order[start:end]]
        wanted = targets[start:end]
        shares = layer.shares(batch)
        likelihoods[start:end] = _likelihoods(shares, wanted)
        shares -= wanted
        shares /= len(batch)
        rate = settings.rate(layer.steps, len(vectors))
        layer.step(batch.T @ shares.reshape(len(batch), columns), rate)
    losses: list[float] = (-likelihoods.mean(axis=0)).tolist()
    return losses


def _likelihoods(shares: Vectors, wanted: Vectors) -> Any:
    """[examples, heads] the log-probability of what is wanted; of shares, their mean."""
    logs = np.log(np.maximum(shares, np.finfo(np.float32).tiny))
    logs *= wanted
    return logs.sum(axis=2)


def _with_ones(vectors: Vectors) -> Vectors:
    """The vectors with a one at the end, whose weight is the bias."""
    ones = np.ones((len(vectors), 1), dtype=np.float32)
    return np.hstack([vectors.astype(np.float32, copy=False), ones])
