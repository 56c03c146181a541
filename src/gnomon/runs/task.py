"""What a run is to do, as its steps need it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import msgspec

from gnomon.contracts import Model
from gnomon.items.source import ItemSource
from gnomon.records import Item
from gnomon.registry import ModelSpec
from gnomon.runs import RunLog
from gnomon.runs.progress import Watcher
from gnomon.runs.workers import WorkerPlan


@dataclass(frozen=True)
class Task:
    """Which items are to be asked of whom, by which workers, and where the answers go."""

    log: RunLog
    source: ItemSource
    model: Model | ModelSpec
    retry_errors: bool = False
    blind: bool = False
    watch: Watcher = lambda _: None
    stopping: Callable[[], None] = lambda: None  # told of the first Ctrl-C
    command: str = ""
    name: str = ""  # what to call the model
    only: frozenset[int] | None = None  # numbers of the items that are asked; none for all
    workers: WorkerPlan = field(default_factory=WorkerPlan)

    def items_to_learn_from(self) -> Iterator[Item]:
        """The items as the model gets them: without their pictures if it is asked blind.

        For a shard these are the items of all shards: its answers must be those of the whole run.
        """
        for item in self.source.sharded(None).items():
            yield msgspec.structs.replace(item, images=()) if self.blind else item
