"""Workers side by side: batches are handed out, and what a dead worker held is asked elsewhere.

A batch whose worker dies twice is asked item by item, so that the item that kills is found and
listed as failed. A worker that dies is replaced. Each worker has a thread that starts it, gives it
batches and finds it dead; what they share is changed under one lock. Where workers are (processes
of this machine, or Ray) is the business of their place alone.
"""

from __future__ import annotations

import os
import threading
import time
import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from gnomon import grouped
from gnomon.contracts import Benchmark
from gnomon.errors import GnomonError, ModelError, ModelWarning, RunError, UsageError
from gnomon.jobs import LENGTH, Child, ChildDiedError
from gnomon.records import Answer, Item
from gnomon.registry import ModelSpec, known_benchmark
from gnomon.runs import workers
from gnomon.runs.batches import Numbered, default_size
from gnomon.runs.identity import WINDOW, model_files
from gnomon.runs.manifest import changed_keys, determining
from gnomon.runs.pace import WorkerPace
from gnomon.runs.plan import RunTask

if TYPE_CHECKING:
    from gnomon.runs.ray import RayCluster, RayWorker

TICK = 0.5  # seconds after which whoever watches is told, even if nothing came back
BATCH_DEATHS = 2  # a batch may lose so many workers, by chance, before its items are asked alone
ITEM_DEATHS = 3  # an item alone may lose so many before it is listed as failed
STARTS = 3  # workers in a row that may die while they load the model or are shown the items
DEATHS = 20  # workers in a row that may die without a single answer between them
PATIENCE = 600.0  # seconds without a single worker, be it one that still loads the model
LEAVING = 5.0  # seconds for the thread of a worker to end
MORE_MEMORY = (
    "What was answered is kept. Look into the workers' logs, give them more memory, and give the "
    "same command again."
)


class Processes:
    """Processes of this machine; each has its share of the cores."""

    def __init__(self, spec: ModelSpec, count: int, *, run: str, blind: bool) -> None:
        self.count = count
        self._worker = (spec, run, blind, os.getcwd())
        self._folder: TemporaryDirectory[str] | None = None

    def start(self) -> Child:
        """Start a process."""
        threads = max(1, (os.cpu_count() or 1) // self.count)
        share = os.environ.get("OMP_NUM_THREADS") or str(threads)
        return Child(workers.Worker, *self._worker, environment={"OMP_NUM_THREADS": share})

    def lay_out(self, chunks: Iterable[bytes]) -> FileOfItems:
        """Put the items into a file that only this user can read."""
        self._folder = TemporaryDirectory(prefix="gnomon-items-")
        file = Path(self._folder.name) / "items"
        with file.open("wb") as out:
            for chunk in chunks:
                out.write(LENGTH.pack(len(chunk)) + chunk)
        return FileOfItems(file)

    def check(self) -> None:
        """This machine is there."""

    def close(self) -> None:
        """Remove the file of items."""
        if self._folder:
            self._folder.cleanup()


class FileOfItems:
    """Chunks of items in a file, each after its length; every reading begins anew."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __iter__(self) -> Iterator[bytes]:
        with self._path.open("rb") as stream:
            while head := stream.read(LENGTH.size):
                (length,) = LENGTH.unpack(head)
                yield stream.read(length)


def pool_of(task: RunTask, run: str) -> WorkerPool:
    """The workers that a run is to have, of which one at least has opened the model."""
    model, plan = task.model, task.workers
    if not isinstance(model, ModelSpec):
        raise UsageError(
            f"Workers elsewhere load a model by its name, and {model.spec} is loaded here already.",
            f'Give its name, such as gnomon.model("{model.spec}"), or leave out the workers.',
        )
    place: Processes | RayCluster
    if plan.on_ray:
        from gnomon.runs.ray import RayCluster

        place = RayCluster(model, plan, run=run, blind=task.blind)
    else:
        place = Processes(model, plan.count or 1, run=run, blind=task.blind)
    return WorkerPool(place, model_files(model))


@dataclass
class _Broken:
    """A batch whose items are asked alone, since workers died of it."""

    items: int
    waiting: int
    guilty: bool = False  # one of its items killed, too


@dataclass(eq=False)
class _Job:
    """Items that a worker is to count or to answer, and how many workers died of it."""

    method: str  # sizes or ask
    batch: Sequence[Numbered]
    deaths: int = 0
    part_of: _Broken | None = None
    sizes: list[int] | None = None

    @property
    def suspect(self) -> bool:
        """Whether a worker died while it was asked this, or that of which it is a part."""
        return self.deaths > 0 or self.part_of is not None

    def guess(self) -> None:
        """Do without the worker that should have counted."""
        self.sizes = [default_size(item) for _, item in self.batch]


@dataclass
class _Waiting:
    """Jobs that wait: windows to be counted, fresh batches, and those of which a worker died."""

    sizes: deque[_Job] = field(default_factory=deque)
    fresh: deque[_Job] = field(default_factory=deque)
    alone: deque[_Job] = field(default_factory=deque)  # items of batches that killed
    suspects: deque[_Job] = field(default_factory=deque)  # batches that killed once
    fresh_first: bool = False  # a suspect killed the last worker: can others be answered?
    more: bool = True  # fresh ones will come

    def next(self) -> _Job | None:
        """The one that comes next; none if there is none, or none as yet."""
        order = [self.sizes, self.alone, self.suspects, self.fresh]
        if self.fresh_first:
            order = [self.sizes, self.fresh]
            if not self.more:
                order += [self.alone, self.suspects]
        for jobs in order:
            if jobs:
                return jobs.popleft()
        return None

    def __bool__(self) -> bool:
        return bool(self.sizes or self.fresh or self.alone or self.suspects)


@dataclass(eq=False)
class _Seat:
    """The place of one worker: who dies is replaced there."""

    process: Child | RayWorker | None = None
    name: str = ""  # of the machine and process, once the worker has been started
    is_ready: bool = False
    job: _Job | None = None  # that it is at
    since: float = 0.0
    items: int = 0
    kept_replies: dict[str, int] = field(default_factory=dict)


class WorkerPool:
    """The workers of a run in one place."""

    about: workers.ModelFacts
    budget: int  # tokens a batch may hold
    batch: int  # items a batch may hold: fewer than at first when memory has run out

    def __init__(self, place: Processes | RayCluster, files: dict[str, str]) -> None:
        self._place = place
        self._files = files  # of the model, as the process of the run sees them
        self._news = threading.Condition()  # guards all that follows
        self._waiting = _Waiting()
        self._done: list[workers.Done] = []
        self._verdicts: list[workers.Done] = []  # items to blame, if workers can answer others
        self._problem: Exception | None = None  # that ends the run
        self._closing = False
        self._supply: tuple[Any, ...] | None = None  # what is shown to a model before it is asked
        self._refusals: list[str] = []  # to be told once there is a worker to go on with
        self._failed_starts = 0
        self._deaths = 0  # since the last answer
        self._have_answered = False  # anything at all
        self._idle_since = time.monotonic()
        self._kept_replies: Counter[str] = Counter()  # of workers that died
        self._lost = 0
        self._first: workers.WorkerReady | None = None  # what the first worker said of the model
        self._seats = [_Seat() for _ in range(place.count)]
        self._threads = []
        for seat in tuple(self._seats):  # who cannot begin leaves at once
            thread = threading.Thread(target=self._occupy, args=(seat,), daemon=True)
            self._threads.append(thread)
            thread.start()
        try:
            self._wait_for(lambda: self._first is not None)
        except BaseException:
            self.close()
            raise
        assert self._first is not None
        self.about = self._first.about
        self.budget = self._first.budget
        self.batch = self._first.batch

    # What the run asks for, in its own thread.

    def prepare(self, items: Iterable[Item], benchmark: Benchmark) -> None:
        """Let every worker's model see the items, if it wants to; wait for the first."""
        workers.check_can_be_shared(self.about)
        supply: tuple[Any, ...] = ()
        if self.about.prepares:
            self._check_known(benchmark)
            chunks = (workers.encode(chunk) for chunk in grouped.chunks(items, WINDOW))
            supply = (self._place.lay_out(chunks), benchmark.name)
        with self._news:
            self._supply = supply
            self._news.notify_all()
        self._wait_for(lambda: any(seat.is_ready for seat in self._seats))

    def _check_known(self, benchmark: Benchmark) -> None:
        if known_benchmark(benchmark.name) is not benchmark:
            raise UsageError(
                f"{self.about.spec} must see all items first, and workers elsewhere do not "
                f"know the benchmark {benchmark.name}.",
                "Register the benchmark by an entry point, or leave out --workers.",
            )

    def keep(self, folder: Path) -> None:
        """Nothing: models that make files were refused."""

    def measured(
        self, windows: Iterable[workers.Window]
    ) -> Iterator[tuple[workers.Window, list[int]]]:
        """Each window with the size of each item; workers count the next while they are asked."""
        ahead: deque[_Job] = deque()
        most = 1 + 2 * self._place.count * self.batch // WINDOW
        for window in windows:
            job = _Job("sizes", window)
            ahead.append(job)
            if self.about.sizes:
                self._give(self._waiting.sizes, [job])
            else:
                job.guess()
            if len(ahead) > most:
                yield self._when_known(ahead.popleft())
        while ahead:
            yield self._when_known(ahead.popleft())

    def _when_known(self, job: _Job) -> workers.Sized:
        self._wait_for(lambda: job.sizes is not None)
        assert job.sizes is not None
        return job.batch, job.sizes

    def work(
        self, batches: Iterable[Sequence[Numbered]], *, answered: bool = False
    ) -> Iterator[list[workers.Done]]:
        """Ask all batches, in whatever order they come back; nothing now and then while waiting.

        `answered` says whether items of this run were answered before.
        """
        coming = iter(batches)
        try:
            while self._feed(coming) or self._is_busy():
                with self._news:
                    if not self._done:
                        self._news.wait(TICK)
                yield self._taken()
                self._check()
        except GnomonError:
            yield self._taken()  # what others answered is kept
            raise
        if self._verdicts and not self._have_answered and not answered:
            raise ModelError(  # it may be the workers' fault, not that of the items
                f"All {self._lost} workers died before one of them answered anything.", MORE_MEMORY
            )
        yield [*self._taken(), *self._verdicts]

    def _feed(self, coming: Iterator[Sequence[Numbered]]) -> bool:
        """Have a batch at hand for each worker; whether there may be more of them."""
        while len(self._waiting.fresh) < self._place.count:
            batch = next(coming, None)
            if batch is None:
                with self._news:
                    self._waiting.more = False
                    self._news.notify_all()
                return False
            # one that was planned before workers were found to bear less is cut
            starts = range(0, len(batch), self.batch)
            jobs = [_Job("ask", batch[start : start + self.batch]) for start in starts]
            self._give(self._waiting.fresh, jobs)
        return True

    def _give(self, waiting: deque[_Job], jobs: Iterable[_Job]) -> None:
        with self._news:
            waiting.extend(jobs)
            self._news.notify_all()

    def _is_busy(self) -> bool:
        with self._news:
            return bool(self._waiting) or any(seat.job for seat in self._seats)

    def _taken(self) -> list[workers.Done]:
        """What came back since this was last asked for."""
        with self._news:
            done, self._done = self._done, []
        return done

    def _wait_for(self, condition: Callable[[], bool]) -> None:
        while True:
            with self._news:
                if condition():
                    return
                self._news.wait(TICK)
            self._check()

    def _check(self) -> None:
        """Say what there is to say, and end if going on makes no sense."""
        with self._news:
            refusals = []
            if any(seat.is_ready for seat in self._seats):
                refusals, self._refusals = self._refusals, []
        for refusal in refusals:  # else the error says it
            warnings.warn(refusal, ModelWarning, stacklevel=2)
        if self._problem is not None:
            raise self._problem
        self._place.check()
        now = time.monotonic()
        if any(seat.name for seat in self._seats):
            self._idle_since = now
        elif now - self._idle_since > PATIENCE:
            raise ModelError(
                f"No worker could be started within {PATIENCE / 60:.0f} minutes.",
                "Is there room for one? Look at the cluster, or ask for less with "
                "--set cpus_per_worker and --set gpus_per_worker. What was answered is kept.",
            )

    def paces(self) -> tuple[list[WorkerPace], int, int]:
        """What each worker did so far, how many there are to be, and how many died."""
        now = time.monotonic()
        with self._news:
            ready = [seat for seat in self._seats if seat.is_ready]
            paces = [WorkerPace(seat.name, seat.items, now - seat.since) for seat in ready]
            return paces, self._place.count, self._lost

    def close(self) -> None:
        """End all workers, whatever they are at."""
        with self._news:
            self._closing = True
            busy = [seat.process for seat in self._seats if seat.job or not seat.is_ready]
            self._news.notify_all()
        for process in busy:
            if process is not None:
                process.kill()
        for thread in self._threads:
            thread.join(LEAVING)
        self._place.close()

    # The life of a worker, in its own thread.

    def _occupy(self, seat: _Seat) -> None:
        """Start a worker and let it work; start another where one has died."""
        again = True
        while again:
            again = False
            try:
                self._get_ready(seat)
                self._do_jobs(seat)
            except ChildDiedError as death:
                with self._news:
                    again = not self._closing and self._bury(seat, str(death))
                    self._news.notify_all()
            except Exception as error:  # of the model: it says so itself, or it is a fault
                with self._news:
                    self._refuse(seat, _for_people(error))
                    self._news.notify_all()
        if seat.process is not None:
            seat.process.end()

    def _get_ready(self, seat: _Seat) -> None:
        seat.process = process = self._place.start()
        seat.name = process.call("place")
        ready = workers.decode_ready(process.call("open"))
        with self._news:
            self._check_same(seat, ready)
            self._first = self._first or ready
            self._news.notify_all()
            while self._supply is None and not self._closing:
                self._news.wait()
        if self._closing:
            return
        about = None
        if self._supply:
            about = workers.decode_ready(process.call("prepare", *self._supply)).about
        with self._news:
            self.about = about or self.about
            self._failed_starts = 0
            seat.is_ready = True
            seat.since = time.monotonic()
            self._news.notify_all()

    def _check_same(self, seat: _Seat, ready: workers.WorkerReady) -> None:
        """Refuse a worker that has opened another model than the others."""
        now, before = ready.about, (self._first or ready).about
        changed = changed_keys(self._files or before.files, now.files)
        changed += changed_keys(determining(before.description), determining(now.description))
        if now.version != before.version:
            changed.append("the version of Gnomon")
        if changed:
            raise RunError(
                f"The model of {seat.name} is not the one of the others: "
                f"{', '.join(sorted(set(changed)))} differs.",
                "Put the same files and the same Gnomon on every machine.",
            )

    def _do_jobs(self, seat: _Seat) -> None:
        assert seat.process is not None
        while (job := self._next_job(seat)) is not None:
            value = seat.process.call(job.method, workers.packed(job.batch))
            with self._news:
                seat.job = None
                if job.method == "sizes":
                    job.sizes = value
                else:
                    self._take_answers(seat, job, value)
                self._news.notify_all()

    def _next_job(self, seat: _Seat) -> _Job | None:
        """What the worker is to do next, as soon as there is something; none at the end."""
        with self._news:
            while not self._closing:
                seat.job = self._waiting.next()
                if seat.job is not None:
                    return seat.job
                self._news.wait()
        return None

    # What becomes of jobs and workers; the lock is held.

    def _take_answers(self, seat: _Seat, job: _Job, value: bytes) -> None:
        reply = workers.decode_answers(value)
        seat.kept_replies = reply.kept_replies
        self.about.description = reply.description
        kept = Counter(self._kept_replies)
        for other in self._seats:
            kept.update(other.kept_replies)
        self.about.kept_replies = dict(kept)
        self.batch = min(self.batch, reply.batch)
        self._deaths = 0
        self._have_answered = True
        self._waiting.fresh_first = False
        self._settle(job)
        seat.items += len(job.batch)
        numbers = [number for number, _ in job.batch]
        answers = [(numbers[place], answer) for place, answer in reply.answers]
        self._done += [*self._verdicts, workers.Done(job.batch, answers, reply.seconds)]
        self._verdicts = []

    def _settle(self, job: _Job, *, guilty: bool = False) -> None:
        """A part of a broken batch is done: if no item killed, the size of the batch did."""
        broken = job.part_of
        if broken is None:
            return
        broken.waiting -= 1
        broken.guilty = broken.guilty or guilty
        if not broken.waiting and not broken.guilty:
            self.batch = min(self.batch, max(1, broken.items // 2))

    def _refuse(self, seat: _Seat, error: GnomonError) -> None:
        """Do without a worker that cannot open the model; end if there is no other."""
        if seat.job is None:
            self._seats.remove(seat)
            self._refusals.append(f"{seat.name} is done without: {error}")
        if seat.job is not None or not self._seats:
            self._problem = self._problem or error
        seat.job = None

    def _bury(self, seat: _Seat, reason: str) -> bool:
        """A worker is dead: what it held goes to others. Whether another may take its place."""
        job, was_ready = seat.job, seat.is_ready
        self._lost += 1
        self._kept_replies.update(seat.kept_replies)
        seat.kept_replies = {}
        seat.job, seat.process, seat.name, seat.items, seat.is_ready = None, None, "", 0, False
        if not was_ready:
            return self._may_start(seat, reason)
        # a death of what others died of before says nothing of workers, if they can answer
        if job is None or not job.suspect or not self._have_answered:
            self._deaths += 1
        if job is not None:
            self._blame(job, reason)
        if self._deaths < DEATHS:
            return True
        words = f"{DEATHS} workers died one after the other without an answer: {reason}."
        self._problem = ModelError(words, MORE_MEMORY)
        return False

    def _may_start(self, seat: _Seat, reason: str) -> bool:
        """Whether to start another one for one that never began; an error if none is left."""
        self._failed_starts += 1
        if self._failed_starts < STARTS:
            return True
        self._seats.remove(seat)
        if not self._seats:
            self._problem = ModelError(
                f"Workers die while they load the model: {reason}.",
                "Give each more memory or try fewer workers, and see that the same Gnomon is "
                "installed on every machine.",
            )
        return False

    def _blame(self, job: _Job, reason: str) -> None:
        """A worker died while it was asked this.

        If that was a suspect, a fresh batch comes next, and the other way round: so workers are
        seen to answer although many items that kill stand together, and a batch that is too large
        is asked in parts although all others are too large too.
        """
        if job.method == "sizes":
            job.guess()
            return
        self._waiting.fresh_first = job.suspect
        job.deaths += 1
        alone = len(job.batch) == 1
        if job.deaths < (ITEM_DEATHS if alone else BATCH_DEATHS):
            (self._waiting.alone if alone else self._waiting.suspects).append(job)
        elif alone:
            self._settle(job, guilty=True)
            number, item = job.batch[0]
            error = f"{job.deaths} workers died while they were asked this: {reason}"
            answer = Answer(item=item.id, error=error[:500])
            self._verdicts.append(workers.Done(job.batch, [(number, answer)], 0.0))
        else:
            broken = _Broken(len(job.batch), waiting=len(job.batch))
            self._waiting.alone.extend(
                _Job("ask", [numbered], part_of=broken) for numbered in job.batch
            )


def _for_people(error: Exception) -> GnomonError:
    return error if isinstance(error, GnomonError) else ModelError(f"The model failed: {error}.")
