"""Workers on a Ray cluster: actors that each hold a model, wherever Ray finds room for them.

Ray starts them, finds them dead, and carries bytes to and fro. What is asked of whom, and what is
asked again, is decided by gnomon.runs.pool.
"""

from __future__ import annotations

import os
import secrets
import socket
import time
import warnings
from collections.abc import Iterable, Iterator
from contextlib import suppress
from math import ceil
from typing import Any

from gnomon.errors import ModelError, ModelWarning, UsageError, importing
from gnomon.jobs import ChildDiedError, ChildFaultError, ChildReply, attempt, value_of
from gnomon.registry import ModelSpec
from gnomon.runs.workers import Worker, WorkerPlan

ADDRESS, LOCAL = "RAY_ADDRESS", "local"
PROBE = 2.0  # seconds between two looks whether the cluster is still there
MISSES = 5  # looks in a row that may find nothing; Ray itself ends the process after a minute
QUIET = {"log_to_driver": False, "logging_level": "ERROR"}
STORE = 256 * 2**20  # bytes of the object store of a cluster that we start; batches are small
GO_ON = "What was answered is kept. When it is back, give the same command again."


class RayWorker:
    """An actor that holds a Worker."""

    def __init__(self, ray: Any, actor: Any) -> None:
        self._ray, self._actor = ray, actor
        self._is_killed = False

    def call(self, method: str, *arguments: Any) -> Any:
        """What a method of the worker gives; see gnomon.jobs.Child."""
        errors = self._ray.exceptions
        try:
            reference = self._actor.call.remote(method, *arguments)
            finished: list[Any] = []
            while not finished:
                finished, _ = self._ray.wait([reference], timeout=PROBE)
                if self._is_killed and not finished:  # the cluster may be gone with it
                    raise ChildDiedError("it was ended")
            reply = self._ray.get(reference)
        except errors.RayTaskError as error:
            raise ChildFaultError(_first_line(error)) from None
        except errors.RayError as error:
            raise ChildDiedError(_reason(error)) from None
        return value_of(reply)

    def end(self) -> None:
        """End the actor."""
        self.kill()

    def kill(self) -> None:
        """The same: whoever waits for it is told that it died."""
        self._is_killed = True
        with suppress(self._ray.exceptions.RayError, ValueError):
            self._ray.kill(self._actor)


class RayCluster:
    """The cluster of RAY_ADDRESS, or one that is started here and ends with the run."""

    def __init__(self, spec: ModelSpec, plan: WorkerPlan, *, run: str = "", blind: bool) -> None:
        self._ray = _started(plan)
        self._needs = {"CPU": _cpus(plan), "GPU": plan.gpus or 0.0}
        self._address = str(self._ray.get_runtime_context().gcs_address)
        self._node = self._ray.get_runtime_context().get_node_id()
        self._looked = time.monotonic()
        self._missed = 0
        if not self._answers():  # it was joined by an earlier run of this process
            raise self._gone()
        self._check_room()
        self.count = plan.count or self._room()
        self._worker = (spec, run, blind, os.getcwd())
        self._actor = self._ray.remote(max_restarts=0, max_task_retries=0)(Actor)

    def start(self) -> RayWorker:
        """Start an actor wherever there is room, or will be."""
        share = {"num_cpus": self._needs["CPU"], "num_gpus": self._needs["GPU"]}
        actor = self._actor.options(**share, scheduling_strategy="SPREAD").remote(*self._worker)
        return RayWorker(self._ray, actor)

    def lay_out(self, chunks: Iterable[bytes]) -> ItemsInStore:
        """Put the items into the object store."""
        return ItemsInStore([self._ray.put(chunk) for chunk in chunks])

    def close(self) -> None:
        """Nothing: the connection stays for the next run and ends with this process."""

    def _room(self) -> int:
        """How many workers the cluster has room for, by what each may use."""
        total = self._ray.cluster_resources()
        rooms = [int(total.get(name, 0) // share) for name, share in self._needs.items() if share]
        count = min(rooms, default=1)
        if count < 1:
            raise self._no_room()
        return count

    def _check_room(self) -> None:
        """Refuse what no machine has; a cluster that was joined may grow by itself."""
        for node in self._ray.nodes():
            has = node["Resources"]
            fits = all(has.get(name, 0) >= share for name, share in self._needs.items())
            if node["Alive"] and fits:
                return
        if _address() == LOCAL:
            raise self._no_room()
        warnings.warn(f"{self._no_room().message} Waiting for one.", ModelWarning, stacklevel=2)

    def _no_room(self) -> UsageError:
        wanted = " and ".join(f"{share:g} {name}" for name, share in self._needs.items() if share)
        return UsageError(
            f"No machine of the Ray cluster has room for a worker with {wanted}.",
            "Ask for less with --set cpus_per_worker and --set gpus_per_worker, or add a machine.",
        )

    def check(self) -> None:
        """Look now and then whether the cluster is there; Ray would wait, then end the process."""
        now = time.monotonic()
        if now - self._looked < PROBE:
            return
        self._looked = now
        self._missed = 0 if self._answers() else self._missed + 1
        if self._missed >= MISSES:
            raise self._gone()

    def _gone(self) -> ModelError:
        return ModelError(f"The Ray cluster at {self._address} is gone.", GO_ON)

    def _answers(self) -> bool:
        """Whether the cluster's head answers and counts this machine in."""
        host, _, port = self._address.rpartition(":")
        try:
            with socket.create_connection((host.strip("[]"), int(port)), timeout=PROBE):
                pass
        except OSError:
            return False
        for node in self._ray.nodes():
            if node["NodeID"] == self._node:
                return bool(node["Alive"])
        return True


class ItemsInStore:
    """Chunks of items in the object store, of which a worker reads one after the other."""

    def __init__(self, references: list[Any]) -> None:
        self._references = references

    def __iter__(self) -> Iterator[bytes]:
        import ray

        for reference in self._references:
            yield ray.get(reference)


class Actor:
    """What runs on the cluster: a worker."""

    def __init__(self, spec: ModelSpec, run: str, blind: bool, folder: str) -> None:
        self._worker = Worker(spec, run, blind, folder)

    def call(self, method: str, *arguments: Any) -> ChildReply:
        """Pass a call on."""
        return attempt(getattr(self._worker, method), *arguments)


def _started(plan: WorkerPlan) -> Any:
    """Ray, joined to a cluster. One that this process joined or started before is used again."""
    address = _address()
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent to anyone
    os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", ".")  # nor printed: we say what happened
    if address == LOCAL:
        lock_doors()
    with importing("--workers ray", "ray"):
        import ray
    if ray.is_initialized():
        return ray
    if address == LOCAL:
        _start(ray, plan)
    else:
        _join(ray, address)
    return ray


def lock_doors() -> None:
    """Whoever reaches a Ray cluster can run code on it, and Ray opens it to the whole network.

    Ours listens on this machine only, and to those who know a secret. Ray reads these settings when
    it is imported; the first is meant for other systems, but does the same on Linux.
    """
    os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
    if "RAY_AUTH_MODE" not in os.environ:
        os.environ["RAY_AUTH_MODE"] = "token"
        os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)


def _start(ray: Any, plan: WorkerPlan) -> None:
    """Start a cluster on this machine; it ends with this process."""
    needed = ceil((plan.count or 1) * _cpus(plan))
    ray.init(
        address=LOCAL,
        num_cpus=max(os.cpu_count() or 1, needed),
        include_dashboard=False,
        object_store_memory=STORE,
        _node_ip_address="127.0.0.1",
        **QUIET,
    )


def _join(ray: Any, address: str) -> None:
    if address.startswith("ray://"):
        raise UsageError(
            f"{address} is an address of the Ray client, which does not carry what a run needs.",
            f"Give the command on a machine of the cluster, with {ADDRESS}=auto.",
        )
    try:
        ray.init(address=address, **QUIET)
    except (ConnectionError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        raise ModelError(
            f"The Ray cluster of {ADDRESS} ({address}) cannot be joined: {_first_line(error)}.",
            f"Start it with `ray start --head`, or unset {ADDRESS} to use this machine alone.",
        ) from None


def _address() -> str:
    """The cluster that the user names; without one, the cluster is to be on this machine."""
    return os.environ.get(ADDRESS) or LOCAL


def _cpus(plan: WorkerPlan) -> float:
    return 1.0 if plan.cpus is None else plan.cpus


def _reason(error: Exception) -> str:
    """Why an actor died, in Ray's words, which begin with what everybody knows."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [line for line in lines[1:] if ":" not in line[:14] or "Error" in line]
    return " ".join(telling or lines)[:300] or type(error).__name__


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:300].rstrip(".") if lines else type(error).__name__
