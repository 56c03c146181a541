"""Workers come and go, and nothing is lost: shown with workers that live in this process."""

import os
import signal
import threading

import pytest

import gnomon
from gnomon.contracts import Benchmark
from gnomon.errors import ModelError, ModelWarning, RunError, UsageError
from gnomon.items.source import ItemSource
from gnomon.jobs import ChildDiedError, attempt, value_of
from gnomon.records import Answer, Item
from gnomon.runs import pool, running, runs_in
from gnomon.runs.workers import Worker, WorkerPlan, plan_workers


class Killed(BaseException):
    """The worker's process is gone."""


class Mind:
    """A model that says yes and remembers what it was asked; `rule` may kill its worker."""

    spec, scale, batch = "mind", "none", 8

    def __init__(self, asked, rule):
        self.asked, self.rule = asked, rule

    def describe(self):
        return {"kind": "mind"}

    def answer(self, items):
        self.rule([int(item.id) for item in items])
        self.asked.append([int(item.id) for item in items])
        return [Answer(item=item.id, choice="yes") for item in items]


class Spec(gnomon.registry.ModelSpec):
    """A ModelSpec that opens what it is told to."""

    def open(self):
        return self.make()


def spec(make):
    found = Spec("mind", {})
    found.make = make
    return found


class FakeProcess:
    """A worker in this process, which dies as a real one does."""

    def __init__(self, worker):
        self.worker, self.is_killed = worker, False

    def call(self, method, *arguments):
        if self.is_killed:
            raise ChildDiedError("it was killed")
        try:
            return value_of(attempt(getattr(self.worker, method), *arguments))
        except Killed:
            raise ChildDiedError("it was killed") from None

    def end(self):
        pass

    def kill(self):
        self.is_killed = True


class FakePlace:
    """Workers in this process: each has a thread, as it has with real ones."""

    def __init__(self, model, count):
        self.count, self.model, self.started = count, model, 0

    def start(self):
        self.started += 1
        return FakeProcess(Worker(self.model, "a run", False, ""))

    def lay_out(self, chunks):
        return list(chunks)

    def check(self):
        pass

    def close(self):
        pass


@pytest.fixture
def places(monkeypatch):
    """The places at which runs of a test worked, the last one last."""
    made = []

    def place(model, count, **_):
        made.append(FakePlace(model, count))
        return made[-1]

    monkeypatch.setattr(pool, "Processes", place)
    return made


def items(n=100):
    return [
        Item(id=str(i), form="choice", text=f"Question {i}?", choices=("no", "yes"), gold=("yes",))
        for i in range(n)
    ]


def source(n=100):
    bench = Benchmark(name="test", summary="", sources={"fresh": lambda **_: iter(items(n))})
    return ItemSource(bench, "fresh", {})


def ask(make, runs="runs", workers=4, n=100, **more):
    return running.run(source(n), spec(make), runs=runs, workers=WorkerPlan(count=workers), **more)


def mind(rule=lambda numbers: None):
    """A maker of models that share one list of what they were asked."""
    asked = []

    def make():
        return Mind(asked, rule)

    make.asked = asked
    return make


def failed(run):
    return {item.id: answer.error for item, answer in run.answers() if answer.error}


def numbers_in(asked):
    return sorted(number for batch in asked for number in batch)


@pytest.mark.parametrize("workers", [2, 3, 8, 50])
def test_every_item_is_answered_once_whatever_the_number_of_workers(places, workers):
    make = mind()
    run = ask(make, workers=workers)
    assert numbers_in(make.asked) == list(range(100))
    assert run.counts().answered == 100
    assert run.manifest.finished is not None
    alone = mind()
    running.run(source(), spec(alone), runs="alone")
    assert sorted(make.asked) == sorted(alone.asked), "batches do not depend on the workers"


def test_what_a_worker_held_when_it_died_is_asked_elsewhere(places):
    calls = iter(range(10**6))

    def by_chance(numbers):
        if next(calls) in (1, 4, 9):
            raise Killed

    make = mind(by_chance)
    run = ask(make)
    assert numbers_in(make.asked) == list(range(100))
    assert failed(run) == {}
    assert places[0].started == 4 + 3, "each dead worker was replaced"


def kills_at(*wanted):
    def rule(numbers):
        if set(numbers) & set(wanted):
            raise Killed

    return rule


def test_an_item_that_kills_workers_is_found_and_listed_as_failed(places):
    make = mind(kills_at(42))
    run = ask(make)
    assert failed(run) == {"42": "3 workers died while they were asked this: it was killed"}
    assert numbers_in(make.asked) == [n for n in range(100) if n != 42]
    assert run.counts().answered == 99
    assert places[0].started - 4 == pool.BATCH_DEATHS + pool.ITEM_DEATHS


def test_several_items_that_kill_are_all_found(places):
    run = ask(mind(kills_at(0, 1, 42, 99)))
    assert sorted(failed(run), key=int) == ["0", "1", "42", "99"]
    assert run.counts().answered == 96


@pytest.mark.parametrize("workers", [2, 4])
@pytest.mark.parametrize(("first", "number"), [(0, 16), (40, 16), (41, 30), (88, 12)])
def test_many_items_that_kill_and_stand_together_are_all_found(places, workers, first, number):
    killers = range(first, first + number)
    run = ask(mind(kills_at(*killers)), workers=workers)
    assert sorted(failed(run), key=int) == [str(n) for n in killers]
    assert run.counts().answered == 100 - number
    assert run.manifest.finished is not None


@pytest.mark.parametrize("n", [1, 3, 100])
def test_no_item_is_blamed_if_nothing_was_answered_however_few_there_are(places, n):
    with pytest.raises(ModelError, match=r"workers died(.|\n)*same command"):
        ask(mind(kills_at(*range(n))), n=n)
    (run,) = runs_in("runs")
    assert failed(run) == {}
    assert places[0].started <= 4 + pool.DEATHS


def test_an_item_that_kills_and_is_the_last_one_left_is_blamed_if_others_were_answered(places):
    ask(mind(kills_at(42)))
    again = mind(kills_at(42))
    assert list(failed(ask(again, retry_errors=True))) == ["42"]
    assert again.asked == []


def test_a_failed_item_is_asked_again_only_if_the_user_says_so(places):
    ask(mind(kills_at(42)))
    again = mind()
    assert failed(ask(again)) != {}
    assert again.asked == []
    assert failed(ask(again, retry_errors=True)) == {}
    assert again.asked == [[42]]


def test_batches_that_are_too_large_for_a_worker_become_smaller_for_good(places):
    def too_large(numbers):
        if len(numbers) > 4:
            raise Killed

    make = mind(too_large)
    n = 2 * 4096  # what is planned already keeps its size: two windows
    run = ask(make, n=n)
    assert run.counts().answered == n
    second = [batch for batch in make.asked if min(batch) >= 4096]
    assert {len(batch) for batch in second} == {4}


def test_workers_that_die_while_they_load_the_model_end_the_run_before_it_begins(places, tmp_path):
    def make():
        raise Killed

    with pytest.raises(
        ModelError,
        match=r"die while they load the model: it was killed(.|\n)*memory",
    ):
        ask(make, workers=2)
    assert not (tmp_path / "runs").exists() or list((tmp_path / "runs").iterdir()) == []
    assert places[0].started <= 2 + pool.STARTS


def test_workers_that_die_while_they_are_shown_the_items_end_the_run(places, monkeypatch):
    made = source()
    monkeypatch.setattr(pool, "known_benchmark", lambda name: made.benchmark)
    monkeypatch.setattr(gnomon.registry, "benchmark", lambda name: made.benchmark)
    good = mind()
    started = []

    def dying(items, benchmark):
        started.append(1)
        if len(started) > 50:
            pytest.fail("workers are replaced forever")
        raise Killed

    def make():
        model = good()
        model.prepare = dying
        return model

    with pytest.raises(ModelError, match="die while they load the model"):
        running.run(made, spec(make), runs="runs", workers=WorkerPlan(count=2))
    assert places[0].started <= 2 + pool.STARTS


def test_if_every_worker_dies_nothing_is_blamed_on_the_items(places):
    def always(numbers):
        raise Killed

    with pytest.raises(ModelError, match=r"died one after the other(.|\n)*same command"):
        ask(mind(always), n=1000)
    (run,) = runs_in("runs")
    assert failed(run) == {}
    make = mind()
    assert ask(make, n=1000).counts().answered == 1000


def test_a_worker_that_cannot_open_the_model_is_done_without(places):
    made = iter(range(100))
    good = mind()

    def make():
        if next(made) == 1:
            raise ModelError("there is no such file here.", "Put it there.")
        return good()

    with pytest.warns(ModelWarning, match=r"process \d+ is done without: there is no such file"):
        run = ask(make)
    assert run.counts().answered == 100


def test_if_no_worker_can_open_the_model_its_own_error_is_told(places):
    def make():
        raise UsageError("There is no model of that name.", "Choose another.")

    with pytest.raises(UsageError, match="no model of that name"):
        ask(make)
    assert runs_in("runs") == []


def test_a_worker_that_lacks_the_models_files_is_done_without(places, monkeypatch):
    """It would take the folder's name for one of the hub."""
    monkeypatch.setattr(pool, "model_files", lambda model: {"folder": "abc"})
    found = iter(range(100))
    monkeypatch.setattr(
        "gnomon.runs.workers.model_files",
        lambda model: {} if next(found) == 1 else {"folder": "abc"},
    )
    with pytest.warns(ModelWarning, match=r"is not the one of the others: folder differs"):
        assert ask(mind()).counts().answered == 100


def test_if_no_worker_has_the_models_files_the_run_ends_before_it_begins(places, monkeypatch):
    monkeypatch.setattr(pool, "model_files", lambda model: {"folder": "abc"})
    with pytest.raises(RunError, match=r"folder differs(.|\n)*same files"):
        ask(mind())
    assert runs_in("runs") == []


def test_the_user_is_told_if_no_worker_can_be_started(places, monkeypatch):
    monkeypatch.setattr(pool, "PATIENCE", -1.0)
    room = threading.Event()
    begin = FakePlace.start
    monkeypatch.setattr(FakePlace, "start", lambda place: room.wait(60) and begin(place))
    with pytest.raises(ModelError, match=r"No worker could be started(.|\n)*--set gpus_per_worker"):
        ask(mind())
    room.set()
    assert runs_in("runs") == []


def test_a_worker_with_another_model_is_done_without(places):
    made = iter(range(100))
    good = mind()

    def make():
        model = good()
        if next(made) == 2:
            model.describe = lambda: {"kind": "other"}
        return model

    with pytest.warns(ModelWarning, match=r"is not the one of the others: kind differs"):
        assert ask(make).counts().answered == 100


def test_an_error_of_the_model_ends_the_run_and_keeps_what_was_answered(places):
    def gone(numbers):
        if 50 in numbers:
            raise ModelError("the server is gone")

    first = mind(gone)
    with pytest.raises(ModelError, match="the server is gone"):
        ask(first)
    kept = {int(item.id) for item, answer in runs_in("runs")[0].rows() if answer}
    assert kept
    again = mind()
    run = ask(again, workers=7)
    assert not kept & set(numbers_in(again.asked)), "what was logged is never asked again"
    assert run.counts().answered == 100


def test_answers_that_come_together_with_an_error_are_kept(places):
    together = threading.Barrier(4, timeout=60)

    def gone(numbers):
        if len(make.asked) < 4:
            together.wait()
        if 0 in numbers:
            raise ModelError("the server is gone")

    make = mind(gone)
    with pytest.raises(ModelError, match="the server is gone"):
        ask(make, n=32)
    kept = [int(item.id) for item, answer in runs_in("runs")[0].rows() if answer]
    assert kept
    assert set(kept) <= set(numbers_in(make.asked))


def test_a_model_that_must_see_all_items_sees_them_on_every_worker(places, monkeypatch):
    made = source()
    monkeypatch.setattr(pool, "known_benchmark", lambda name: made.benchmark)
    monkeypatch.setattr(gnomon.registry, "benchmark", lambda name: made.benchmark)
    seen = []
    good = mind(kills_at(42))

    def make():
        model = good()
        model.prepare = lambda items, benchmark: seen.append(sum(1 for _ in items))
        return model

    run = running.run(made, spec(make), runs="runs", workers=WorkerPlan(count=3))
    assert set(seen) == {100}
    assert len(seen) > 3, "those that replaced the dead ones saw them too"
    assert list(failed(run)) == ["42"]


def test_a_benchmark_that_workers_cannot_know_is_refused_if_the_model_must_see_it(places):
    good = mind()

    def make():
        model = good()
        model.prepare = lambda items, benchmark: None
        return model

    with pytest.raises(UsageError, match="do not know the benchmark test"):
        ask(make)
    assert runs_in("runs") == []


@pytest.mark.parametrize(
    ("feature", "value", "reason"),
    [
        ("keep", lambda folder: None, "it keeps its pictures in the run's folder"),
        ("alone", "it counts what it spends", "it counts what it spends"),
    ],
)
def test_models_that_cannot_be_shared_are_refused_with_a_reason(places, feature, value, reason):
    good = mind()

    def make():
        model = good()
        setattr(model, feature, value)
        return model

    with pytest.raises(ModelError, match=rf"one process only: {reason}(.|\n)*--workers"):
        ask(make)
    assert runs_in("runs") == []
    assert good.asked == []


def test_a_model_that_is_loaded_already_is_refused(places):
    with pytest.raises(UsageError, match="loaded here already"):
        running.run(source(), Mind([], lambda numbers: None), workers=WorkerPlan(count=2))
    assert places == []


def test_a_models_own_sizes_decide_its_batches_elsewhere_too(places):
    def sized():
        good = mind()

        def make():
            model = good()
            model.size = lambda item: 50 if int(item.id) < 20 else 10
            model.budget = 100
            return model

        make.asked = good.asked
        return make

    here, there = sized(), sized()
    running.run(source(), spec(here), runs="here")
    ask(there, workers=3)
    assert sorted(map(len, here.asked)) == [2] * 10 + [8] * 10
    assert sorted(here.asked) == sorted(there.asked)


def test_sizes_that_a_worker_took_to_its_grave_are_guessed(places):
    class Counting(Mind):
        def size(self, item):
            if int(item.id) == 4096 and not counted:
                counted.append(item)
                raise Killed
            return 10

    counted = []
    run = ask(lambda: Counting([], lambda numbers: None), n=3 * 4096)
    assert counted
    assert run.counts().answered == 3 * 4096


def test_what_a_model_learns_elsewhere_is_in_the_manifest(places):
    def make():
        model = Mind([], lambda numbers: None)
        model.describe = lambda: {"parameters": len(model.asked)}
        return model

    assert ask(make).manifest.model_description["parameters"] > 0


def test_interrupt_finishes_what_is_being_asked_and_the_same_command_goes_on(places):
    def interrupting(numbers):
        if 40 in numbers:
            os.kill(os.getpid(), signal.SIGINT)

    make = mind(interrupting)
    with pytest.raises(KeyboardInterrupt):
        ask(make, workers=2)
    (run,) = runs_in("runs")
    kept = numbers_in(make.asked)
    assert 40 in kept
    assert run.counts().answered == len(kept) < 100, "what was being asked was logged"
    again = mind()
    assert ask(again).counts().answered == 100
    assert sorted(kept + numbers_in(again.asked)) == list(range(100))


def test_whoever_watches_sees_all_workers(places, monkeypatch):
    monkeypatch.setattr(running, "LOOK", 0.0)
    seen = []
    ask(
        mind(kills_at(42)),
        watch=lambda progress: seen.append((len(progress.workers), progress.wanted, progress.lost)),
    )
    workers, wanted, lost = seen[-1]
    assert (wanted, lost) == (4, pool.BATCH_DEATHS + pool.ITEM_DEATHS)
    assert 0 < workers <= 4


def test_answers_that_took_a_while_are_on_disk_at_once_and_instant_ones_soon(monkeypatch):
    class Log:
        def __init__(self):
            self.commits = []

        def add_answers(self, answers):
            self.commits.append(len(answers))

    now = [100.0]
    monkeypatch.setattr(running.time, "monotonic", lambda: now[0])
    log = Log()
    writer = running.AnswerWriter(log)

    def done(seconds):
        return [running.Done([], [(0, Answer(item="0"))], seconds)]

    writer.add(done(0.001))  # the first one: nothing was written for long
    writer.add(done(0.001))
    assert log.commits == [1]
    writer.add(done(running.QUICK))
    assert log.commits == [1, 2], "an answer that took a while takes those that wait along"
    writer.add(done(0.001))
    now[0] += 2 * running.TOGETHER
    writer.add([])
    assert log.commits == [1, 2, 1], "none waits for longer than that"


def test_answers_that_could_not_be_written_are_written_with_the_next():
    class Log:
        written, full = (), True

        def add_answers(self, answers):
            if self.full:
                raise RunError("the disk is full")
            self.written = list(answers)

    log = Log()
    writer = running.AnswerWriter(log)
    with pytest.raises(RunError, match="full"):
        writer.add([running.Done([], [(0, Answer(item="0"))], 1.0)])
    log.full = False
    writer.flush()
    assert log.written == [(0, Answer(item="0"))]


@pytest.mark.parametrize(
    "text", ["0", "-1", "many", "ray:", "ray:0", "ray:x", "4:ray", "", "1.5", "²"]
)
def test_workers_that_cannot_be_meant_are_refused(text):
    with pytest.raises(UsageError, match=r"(.|\n)*--workers"):
        plan_workers(text)


def test_shares_are_for_ray_only():
    assert plan_workers("ray:2", cpus=0.5, gpus=0).cpus == 0.5
    for share in ({"cpus": 1}, {"gpus": 1}):
        with pytest.raises(UsageError, match=r"for workers on Ray(.|\n)*--workers ray"):
            plan_workers("4", **share)
    with pytest.raises(UsageError, match="cannot have -1"):
        plan_workers("ray", gpus=-1)
