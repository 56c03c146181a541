"""Which workers a user wants: `--workers N`, `ray` or `ray:N`, and what each may use."""

from __future__ import annotations

from dataclasses import dataclass

from gnomon.errors import UsageError

HOW = "Write a number of processes, ray, or ray:N: --workers 4, --workers ray:8."
MOST = 100_000  # more is a slip of the pen


@dataclass(frozen=True)
class Wanted:
    """How many workers there are to be, and where; by default this process alone.

    No count means as many as a cluster has room for.
    """

    on_ray: bool = False
    count: int | None = 1
    cpus: float | None = None  # of each worker on Ray
    gpus: float | None = None

    @property
    def here(self) -> bool:
        """Whether the model is asked by this process itself."""
        return not self.on_ray and self.count == 1


def wanted_workers(
    text: str | int = "1", *, cpus: float | None = None, gpus: float | None = None
) -> Wanted:
    """What `--workers TEXT` asks for.

    >>> wanted_workers("4").count, wanted_workers("ray").count, wanted_workers("ray:8", gpus=1).gpus
    (4, None, 1)
    """
    place, colon, number = str(text).partition(":")
    on_ray = place == "ray"
    if not on_ray:
        number = str(text)
    for each, name in ((cpus, "--cpus-per-worker"), (gpus, "--gpus-per-worker")):
        _check_share(each, name, on_ray=on_ray)
    if on_ray and not colon:
        return Wanted(on_ray=True, count=None, cpus=cpus, gpus=gpus)
    if not number.isascii() or not number.isdigit() or not 0 < int(number[:9]) <= MOST:
        raise UsageError(f"--workers cannot be '{text}'.", HOW)
    return Wanted(on_ray=on_ray, count=int(number), cpus=cpus, gpus=gpus)


def _check_share(share: float | None, name: str, *, on_ray: bool) -> None:
    if share is None:
        return
    if not on_ray:
        raise UsageError(
            f"{name} is for workers on Ray.", f"Add --workers ray, or leave out {name}."
        )
    if not 0 <= share < float("inf"):
        raise UsageError(f"A worker cannot have {share} of {name}.", "Give 0 or more.")
