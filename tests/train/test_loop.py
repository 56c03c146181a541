"""The loop: an unbroken training and one that was stopped come to the same."""

import os
import signal
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from safetensors.torch import save_file

from gnomon.errors import ModelError, ModelWarning, UsageError
from gnomon.train import checkpoints
from gnomon.train.checkpoints import MetricsLog, read_metrics
from gnomon.train.loop import train
from gnomon.train.recipes import Schedule, Seeds

SCHEDULE = Schedule(
    epochs=3, accumulate=3, learning_rate=0.02, evaluate_every=3, save_every=2, warmup=0.2
)
STEPS = 12  # three epochs of ten batches, four steps each


class Toy:
    """Points of three classes, a net with dropout, and a buffer that training changes."""

    batches_in_epoch: int | None

    def __init__(self, *, seed: int = 0, order: int = 0, points: int = 40, size: int = 4) -> None:
        torch.manual_seed(seed)
        self.module = torch.nn.Sequential(
            torch.nn.Linear(5, 8),
            torch.nn.BatchNorm1d(8),
            torch.nn.Dropout(0.3),
            torch.nn.ReLU(),
            torch.nn.Linear(8, 3),
        )
        draw = torch.Generator().manual_seed(7)
        self.points = torch.randn(points, 5, generator=draw)
        self.classes = self.points[:, :3].argmax(-1)
        self.size, self.order = size, order
        self.batches_in_epoch = -(-points // size)
        self.asked: list[int] = []  # batches that a loss was asked for

    def batches(self, epoch):
        draw = torch.Generator().manual_seed(1000 * self.order + epoch)
        yield from torch.randperm(len(self.points), generator=draw).split(self.size)

    def loss(self, batch):
        self.asked.append(len(batch))
        return torch.nn.functional.cross_entropy(
            self.module(self.points[batch]), self.classes[batch]
        )

    def score(self):
        torch.rand(3)  # a learner may draw numbers while it is scored
        logits = self.module(self.points)
        right = (logits.argmax(-1) == self.classes).float().mean().item()
        return {
            "accuracy": right,
            "loss": torch.nn.functional.cross_entropy(logits, self.classes).item(),
        }

    def test(self):
        return {"again": self.score()}

    def save(self, folder: Path):
        save_file(self.module.state_dict(), folder / "model.safetensors")


def result(folder: Path) -> dict[str, bytes]:
    """What a training left, byte by byte."""
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


@pytest.fixture(autouse=True)
def _one_thread():
    """On one thread sums have one order."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


class StoppedError(Exception):
    """Somebody pressed a key."""


def stopping_after(batches: int) -> Toy:
    toy = Toy()
    plain = toy.loss

    def loss(batch):
        if len(toy.asked) == batches:
            raise StoppedError
        return plain(batch)

    toy.loss = loss
    return toy


def test_training_lowers_the_loss_and_keeps_the_best_weights(tmp_path):
    toy = Toy()
    outcome = train(toy, SCHEDULE, tmp_path)
    assert outcome.steps == STEPS
    assert outcome.epochs == 3
    losses = [line.loss for line in read_metrics(tmp_path / "metrics.jsonl") if line.loss]
    assert len(losses) == STEPS
    assert losses[-1] < losses[0]
    scores = [line.dev for line in read_metrics(tmp_path / "metrics.jsonl") if line.dev]
    assert len(scores) == 4
    assert outcome.best["accuracy"] == max(each["accuracy"] for each in scores)
    assert outcome.tests["again"] == pytest.approx(outcome.best)


@pytest.mark.parametrize("batches", [0, 1, 2, 5, 6, 7, 10, 11, 20, 29])
def test_a_training_stopped_at_any_batch_ends_as_an_unbroken_one(tmp_path, batches):
    unbroken = train(Toy(), SCHEDULE, tmp_path / "unbroken")
    with pytest.raises(StoppedError):
        train(stopping_after(batches), SCHEDULE, tmp_path / "stopped")
    torch.rand(5)  # whatever happened in between
    assert train(Toy(), SCHEDULE, tmp_path / "stopped") == unbroken
    assert result(tmp_path / "stopped") == result(tmp_path / "unbroken")


def test_a_training_that_goes_on_with_other_threads_says_so(tmp_path):
    assert train(Toy(), SCHEDULE, tmp_path / "unbroken").threads == [1]
    with pytest.raises(StoppedError):
        train(stopping_after(25), SCHEDULE, tmp_path / "stopped")
    torch.set_num_threads(2)
    with pytest.warns(ModelWarning, match="with 1 threads.* goes on with 2"):
        outcome = train(Toy(), SCHEDULE, tmp_path / "stopped")
    assert outcome.threads == [1, 2]


def test_what_was_done_before_the_last_checkpoint_is_not_done_again(tmp_path):
    with pytest.raises(StoppedError):
        train(stopping_after(25), SCHEDULE, tmp_path)
    toy = Toy()
    train(toy, SCHEDULE, tmp_path)
    assert len(toy.asked) == 30 - 23  # nine steps were kept: an epoch has groups of 3, 3, 3 and 1


def killed_when(tmp_path, make_deadly) -> None:
    """Train in a process of its own that dies in the midst of it."""
    child = os.fork()
    if child == 0:
        try:
            make_deadly()
            train(Toy(), SCHEDULE, tmp_path)
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), "it was not killed"
    assert os.WTERMSIG(status) == signal.SIGKILL


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def deadly(function, call: int, *, after: bool):
    """The function, which kills its process at the n-th call: before it or after it."""
    calls = []

    def wrapped(*args, **kwargs):
        calls.append(args)
        if len(calls) == call and not after:
            die()
        found = function(*args, **kwargs)
        if len(calls) == call:
            die()
        return found

    return wrapped


def half_a_line(log, lines) -> None:
    """The log is torn in the middle of what is written."""
    text = b"".join(b'{"step":%d,"epoch":0.5,"loss":0.1}\n' % line.step for line in lines)
    with log.file.open("ab") as stream:
        stream.write(text[: len(text) // 2])
    die()


KILLS = {
    "while the first checkpoint is written": lambda: setattr(
        checkpoints, "_flush", deadly(checkpoints._flush, 1, after=False)
    ),
    "while a later one is written": lambda: setattr(
        checkpoints, "_flush", deadly(checkpoints._flush, 5, after=True)
    ),
    "between the best weights and the last state": lambda: setattr(
        checkpoints.Checkpoints,
        "save_best",
        deadly(checkpoints.Checkpoints.save_best, 2, after=True),
    ),
    "in the middle of a line of the log": lambda: setattr(MetricsLog, "add", half_a_line),
    "when the best weights have been read back": lambda: setattr(
        checkpoints.Checkpoints,
        "load_best",
        deadly(checkpoints.Checkpoints.load_best, 1, after=True),
    ),
    "when the model is being saved": lambda: setattr(Toy, "save", deadly(Toy.save, 1, after=True)),
}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("moment", KILLS)
def test_a_training_that_was_killed_ends_as_an_unbroken_one(tmp_path, moment):
    unbroken = train(Toy(), SCHEDULE, tmp_path / "unbroken")
    (tmp_path / "killed").mkdir()
    killed_when(tmp_path / "killed", KILLS[moment])
    assert train(Toy(), SCHEDULE, tmp_path / "killed") == unbroken
    assert result(tmp_path / "killed") == result(tmp_path / "unbroken")


def test_the_disk_holds_the_last_state_and_the_best_weights_and_no_more(tmp_path):
    most = 0

    def look(_):
        nonlocal most
        most = max(most, len(list((tmp_path / "checkpoints").glob("*"))))

    schedule = Schedule(epochs=10, learning_rate=0.02, evaluate_every=1)
    train(Toy(), schedule, tmp_path, watch=look)
    left = sorted(file.name.split("-")[0] for file in (tmp_path / "checkpoints").iterdir())
    assert left == ["best", "last.safetensors"]
    assert 2 <= most <= 3  # new best weights stand beside the old until the state names them


def test_what_a_killed_process_left_half_written_is_removed(tmp_path):
    with pytest.raises(StoppedError):
        train(stopping_after(20), SCHEDULE, tmp_path)
    half = [tmp_path / "checkpoints" / name for name in (".tmpA1b2", ".last.safetensors.9.part")]
    for file in half:
        file.write_bytes(b"half")
    (tmp_path / ".saving").mkdir()
    (tmp_path / ".saving" / ".tmpC3").write_bytes(b"half")
    train(Toy(), SCHEDULE, tmp_path)
    assert not any(file.exists() for file in half)
    assert not (tmp_path / ".saving").exists()


def test_the_last_weights_are_kept_where_no_measure_chooses(tmp_path):
    toy = Toy()
    scores = iter([0.9, 0.1, 0.2])
    toy.score = lambda: {"accuracy": next(scores)}
    toy.test = dict
    outcome = train(toy, Schedule(epochs=3, best="last"), tmp_path)
    assert outcome.best_step == outcome.steps == 30
    assert [file.name for file in (tmp_path / "checkpoints").iterdir()] == ["last.safetensors"]


def test_gradients_of_several_batches_are_those_of_one_large_batch(tmp_path):
    def trained(size, accumulate, folder):
        toy = Toy(size=size)
        toy.module[1], toy.module[2] = torch.nn.Identity(), torch.nn.Identity()
        schedule = Schedule(epochs=2, accumulate=accumulate, learning_rate=0.02)
        train(toy, schedule, tmp_path / folder)
        return toy.module.state_dict()

    small, large = trained(5, 4, "small"), trained(20, 1, "large")
    for name, tensor in large.items():
        assert torch.allclose(small[name], tensor, atol=1e-6), name


def test_losses_are_those_of_a_plain_loop(tmp_path):
    schedule = Schedule(epochs=2, learning_rate=0.02, weight_decay=0.1, warmup=3, clip=0.5)
    train(Toy(), schedule, tmp_path, seeds=Seeds(order=4))
    ours = [line.loss for line in read_metrics(tmp_path / "metrics.jsonl") if line.loss]

    toy = Toy()
    torch.manual_seed(4)
    matrices = [weight for weight in toy.module.parameters() if weight.ndim > 1]
    vectors = [weight for weight in toy.module.parameters() if weight.ndim == 1]
    groups = [{"params": matrices}, {"params": vectors, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=0.02, weight_decay=0.1)
    rates = [0, 1 / 3, 2 / 3, *[(20 - step) / 17 for step in range(3, 20)]]
    plain = []
    toy.module.train()
    for epoch in range(2):
        for batch in toy.batches(epoch):
            for group in optimizer.param_groups:
                group["lr"] = 0.02 * rates[len(plain)]
            optimizer.zero_grad()
            loss = toy.loss(batch)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(toy.module.parameters(), 0.5)
            optimizer.step()
            plain.append(loss.item())
    assert ours == pytest.approx(plain, abs=1e-6)


def test_evaluations_leave_no_trace_in_what_is_learnt(tmp_path):
    train(Toy(), Schedule(epochs=2, evaluate_every=1, best="last"), tmp_path / "often")
    train(Toy(), Schedule(epochs=2, evaluate_every=0, best="last"), tmp_path / "rarely")
    assert (
        result(tmp_path / "often")["model.safetensors"]
        == (result(tmp_path / "rarely")["model.safetensors"])
    )


def test_dropout_is_on_in_training_and_off_in_asking(tmp_path):
    toy = Toy()
    seen = {"loss": set(), "score": set()}
    for name in seen:
        plain = getattr(toy, name)

        def watched(*args, name=name, plain=plain):
            seen[name].add(toy.module.training)
            return plain(*args)

        setattr(toy, name, watched)
    train(toy, Schedule(epochs=2), tmp_path)
    assert seen == {"loss": {True}, "score": {False}}


def test_seeds_of_weights_and_of_order_are_independent(tmp_path):
    runs = {}
    for weights in (0, 1):
        for order in (0, 1):
            toy = Toy(seed=weights, order=order)
            first = toy.module[0].weight.clone()
            folder = tmp_path / f"{weights}{order}"
            train(toy, Schedule(epochs=1), folder, seeds=Seeds(order=order))
            runs[weights, order] = first, result(folder)["metrics.jsonl"]
    assert torch.equal(runs[0, 0][0], runs[0, 1][0])
    assert not torch.equal(runs[0, 0][0], runs[1, 0][0])
    assert len({metrics for _, metrics in runs.values()}) == 4


def test_patience_ends_a_training_that_no_longer_gets_better(tmp_path):
    toy = Toy()
    scores = iter([0.1, 0.5, 0.4, 0.4, 0.9])
    toy.score = lambda: {"accuracy": next(scores)}
    toy.test = dict
    schedule = Schedule(epochs=5, patience=2)
    outcome = train(toy, schedule, tmp_path)
    assert outcome.stopped_early
    assert outcome.best == {"accuracy": 0.5}
    assert (outcome.steps, outcome.best_step) == (40, 20)


def test_the_lowest_score_is_best_where_the_schedule_says_so(tmp_path):
    toy = Toy()
    scores = iter([0.9, float("nan"), 0.2, 0.5])
    toy.score = lambda: {"perplexity": next(scores)}
    toy.test = dict
    outcome = train(toy, Schedule(epochs=4, best="perplexity", better="lower"), tmp_path)
    assert outcome.best == {"perplexity": 0.2}


@pytest.mark.parametrize("measure", ["loss", "perplexity"])
def test_less_is_better_of_loss_and_perplexity_without_a_word(tmp_path, measure):
    toy = Toy()
    scores = iter([0.9, 0.2, 0.5])
    toy.score = lambda: {measure: next(scores)}
    toy.test = dict
    assert train(toy, Schedule(epochs=3, best=measure), tmp_path).best == {measure: 0.2}


def test_an_undefined_score_is_never_the_best(tmp_path):
    toy = Toy()
    scores = iter([float("nan"), 0.2])
    toy.score = lambda: {"accuracy": next(scores)}
    toy.test = dict
    assert train(toy, Schedule(epochs=2), tmp_path).best == {"accuracy": 0.2}


def test_a_measure_that_is_not_there_is_named_with_those_that_are(tmp_path):
    with pytest.raises(UsageError, match=r"'f1'.*\n.*accuracy, loss, last"):
        train(Toy(), Schedule(best="f1"), tmp_path)


def test_a_loss_that_is_not_a_number_ends_the_training(tmp_path):
    toy = Toy()
    toy.points[3] = float("nan")
    with pytest.raises(ModelError, match=r"step \d+ is not a number"):
        train(toy, Schedule(epochs=3), tmp_path)


def test_mixed_precision_on_a_cpu_is_refused(tmp_path):
    with pytest.raises(UsageError, match="for a GPU"):
        train(Toy(), Schedule(precision="bfloat16"), tmp_path)


def test_a_stream_without_end_is_trained_for_steps(tmp_path):
    toy = Toy()
    toy.batches_in_epoch = None
    with pytest.raises(UsageError, match="steps"):
        train(toy, Schedule(epochs=1), tmp_path)
    assert train(toy, Schedule(steps=7), tmp_path).steps == 7


def test_whoever_watches_is_told_loss_score_and_what_is_left(tmp_path):
    told = []
    train(Toy(), Schedule(epochs=2), tmp_path, watch=told.append)
    assert told[-1].step == told[-1].steps == 20
    assert told[-1].scores.keys() == {"accuracy", "loss"}
    assert told[-1].seconds_left == 0
    assert told[0].seconds_left > 0


def test_a_checkpoint_of_another_model_is_refused(tmp_path):
    with pytest.raises(StoppedError):
        train(stopping_after(25), SCHEDULE, tmp_path)
    other = Toy()
    other.module[4] = torch.nn.Linear(8, 4)
    with pytest.raises(Exception, match="another model"):
        train(other, SCHEDULE, tmp_path)


def test_a_file_that_is_no_checkpoint_is_refused(tmp_path):
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "checkpoints" / "last.safetensors").write_bytes(b"not a checkpoint at all")
    with pytest.raises(Exception, match="not a checkpoint"):
        train(Toy(), SCHEDULE, tmp_path)


def test_frozen_weights_are_not_kept_in_checkpoints(tmp_path):
    from safetensors import safe_open

    toy = Toy()
    toy.module[0].requires_grad_(requires_grad=False)
    before = toy.module[0].weight.clone()
    train(toy, Schedule(epochs=1), tmp_path)
    with safe_open(tmp_path / "checkpoints" / "last.safetensors", framework="pt") as kept:
        names = set(kept.keys())
    assert "weights/4.weight" in names
    assert "weights/0.weight" not in names
    assert torch.equal(toy.module[0].weight, before)
