"""The runs of a command, carried out: a model stays loaded from one benchmark to the next.

One that fails does not stop the others. Models that run compiled code, which may end the process,
are asked in a child process if there are several runs.
"""

from __future__ import annotations

import shlex
import sys
from argparse import Namespace
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path

from gnomon.cli.dispatch import tell
from gnomon.cli.plan import Planned, plan_runs
from gnomon.cli.progress import ask_model
from gnomon.errors import DataError, EmptyShardError, GnomonError, MissingExtraError, missing_part
from gnomon.items.examples import in_words
from gnomon.items.source import ItemSource
from gnomon.jobs import INTERRUPTED, Child, ChildDiedError, how_it_ended
from gnomon.models.machine import keeping_models
from gnomon.registry import is_native
from gnomon.runs import MANIFEST, Run
from gnomon.runs.workers import WorkerPlan, plan_workers

MOST_KEPT = 50_000  # items of a benchmark that are kept in memory from one model to the next


class Carrying:
    """The runs of a command."""

    def __init__(self, args: Namespace) -> None:
        self.args = args
        self._loaded: tuple[str, ExitStack] | None = None
        self._sources: dict[int, ItemSource] = {}
        self._lacking: set[str] = set()  # what is not here, as it was told

    @cached_property
    def plan(self) -> list[Planned]:
        """Every run, in the order of the command."""
        return plan_runs(self.args)

    @cached_property
    def order(self) -> list[int]:
        """The places of the runs in the plan, all of one model after each other."""
        specs = list(dict.fromkeys(planned.model.spec for planned in self.plan))
        places = range(len(self.plan))
        return sorted(places, key=lambda place: specs.index(self.plan[place].model.spec))

    def all(self) -> list[bool]:
        """Carry out every run, and say of each whether it went well."""
        plan = self.plan
        if len(plan) == 1 and not plan[0].may_lack:
            self._run(plan[0])
            return [True]
        workers = wanted(self.args)
        if workers.here and any(is_native(planned.model.spec) for planned in plan):
            done = self._in_children()
        else:
            done = [self.attempt(number) for number in range(len(plan))]
            self._let_go()
        found = [False] * len(plan)
        for place, went_well in zip(self.order, done, strict=True):
            found[place] = went_well
        return found

    def attempt(self, number: int) -> bool:
        """Carry out one run of several; say so if it fails or is left out."""
        planned = self.plan[self.order[number]]
        try:
            self._keep_model(planned.model.spec)
            self._run(planned._replace(source=self._with_items(planned.source)))
        except (GnomonError, OSError) as error:
            if self.args.debug:
                raise
            if isinstance(error, (MissingExtraError, *planned.may_lack)):
                return self._leave_out(planned, error)
            tell(f"{planned.title}: {error}")
            return False
        except Exception as error:
            if self.args.debug:
                raise
            part = missing_part(error) if isinstance(error, ModuleNotFoundError) else None
            if part is not None:
                return self._leave_out(planned, part)
            tell(
                f"{planned.title}: {type(error).__name__}: {error}\n"
                "Give the command again with --debug to see where."
            )
            return False
        return True

    def _leave_out(self, planned: Planned, error: Exception) -> bool:
        """Say why a run is left out, of what is not here once; whether it may be."""
        if not isinstance(error, DataError | MissingExtraError):
            tell(f"{planned.title} is left out. {error}")
        elif str(error) not in self._lacking:
            self._lacking.add(str(error))
            tell(f"{planned.title} is left out, as is all that lacks the same. {error}")
        return bool(planned.may_lack) and not (planned.folder / MANIFEST).exists()

    def _in_children(self) -> list[bool]:
        """Carry out all runs in a child process; if it dies, in another one behind that run."""

        done: list[bool] = []
        while len(done) < len(self.plan):
            child = Child(Carrying, self.args, stop_with_parent=True)
            try:
                while len(done) < len(self.plan):
                    done.append(bool(child.call("attempt", len(done))))
            except ChildDiedError as death:
                if death.code == INTERRUPTED:
                    raise SystemExit(INTERRUPTED) from None
                self._crashed(len(done), f"it ended the process ({how_it_ended(death.code)})")
                done.append(False)
            child.end()
        return done

    def _crashed(self, number: int, reason: str) -> None:
        title = self.plan[self.order[number]].title
        tell(f"{title}: {reason}.\nThe model's file may be damaged: fetch it again.")

    def _keep_model(self, spec: str) -> None:
        """Keep the weights of this model loaded, and of no other."""

        if self._loaded is not None and self._loaded[0] == spec:
            return
        self._let_go()
        stack = ExitStack()
        stack.enter_context(keeping_models())
        self._loaded = spec, stack

    def _let_go(self) -> None:
        if self._loaded is not None:
            self._loaded[1].close()
            self._loaded = None

    def _with_items(self, source: ItemSource) -> ItemSource:
        """The source with its items in memory, unless they are many: they are made once for all."""
        if id(source) not in self._sources:
            self._sources[id(source)] = source.remembered(MOST_KEPT)
        return self._sources[id(source)]

    def _run(self, planned: Planned) -> None:

        args = self.args
        if not args.quiet:
            _tell_of_examples(planned)
        try:
            ask_model(
                planned.title,
                planned.source,
                planned.model,
                quiet=args.quiet or args.format == "json",
                runs=args.runs,
                restart=args.restart,
                blind=planned.blind,
                retry_errors=args.retry_errors,
                workers=args.workers,
                cpus_per_worker=args.cpus_per_worker,
                gpus_per_worker=args.gpus_per_worker,
                until=args.until,
                until_differs=args.until_differs,
                by=args.by,
                helped_by=getattr(args, "with"),
            )
        except EmptyShardError as nothing:
            tell(str(nothing))
        except KeyboardInterrupt:
            _tell_how_to_go_on(planned.folder)
            raise SystemExit(130) from None


def wanted(args: Namespace) -> WorkerPlan:
    """Which workers the command wants."""

    return plan_workers(args.workers, cpus=args.cpus_per_worker, gpus=args.gpus_per_worker)


def _tell_of_examples(planned: Planned) -> None:

    said = in_words(planned.model)
    if said:
        tell(f"{planned.title}: {said}")


def _tell_how_to_go_on(folder: Path) -> None:
    """After Ctrl-C: the command without --restart, which would delete the answers so far."""
    if not (folder / MANIFEST).exists():
        return
    counts = Run.open(folder).counts()
    words = [word for word in sys.argv[1:] if word != "--restart"]
    print(file=sys.stderr)
    tell(
        f"stopped after {counts.asked:,} of {counts.items:,} items. To continue, give the command"
        f"{' without --restart' if '--restart' in sys.argv else ' again'}:\n"
        f"  {shlex.join(['gnomon', *words])}"
    )
