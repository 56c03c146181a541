"""A whole plug-in: one benchmark and one model, in one file. Its pyproject.toml would say

[project.entry-points."gnomon.benchmarks"]
dice = "gnomon_dice:DICE"
[project.entry-points."gnomon.models"]
slow = "gnomon_dice:slow"
"""

import os
import signal
import time

from gnomon import Answer, Benchmark, Item


def fresh(*, seed: int = 0, n: int = 2000):
    """Two dice: which shows more?"""
    for i in range(n):
        a, b = (seed + i) % 6 + 1, (seed + 5 * i + i // 6) % 6 + 1
        right = "first" if a > b else "second" if b > a else "neither"
        yield Item(
            id=f"roll-{i}",
            form="choice",
            text=f"The first die shows {a}, the second {b}. Which shows more?",
            choices=("first", "second", "neither"),
            gold=(right,),
            group=f"{min(a, b)}-{max(a, b)}",
            tags={"sum": str(a + b)},
        )


DICE = Benchmark(
    name="dice", summary="which of two dice shows more", sources={"fresh": fresh}, slices=("sum",)
)


class Slow:
    """Answers by rule, writes down what it was asked (for tests), and takes its time."""

    scale = "none"
    batch = 16

    def __init__(self, spec: str, seconds: float, fail: str, kill: str) -> None:
        self.spec, self.seconds, self.fail, self.kill = spec, seconds, fail, kill

    def describe(self):
        return {"kind": "fake"}

    def answer(self, items):
        if asked := os.environ.get("GNOMON_DICE_ASKED"):
            with open(asked, "a") as out:
                out.write("".join(f"{item.id}\n" for item in items))
        time.sleep(self.seconds)
        for item in items:
            if item.id == self.kill and _not_yet_killed():
                os.kill(os.getpid(), signal.SIGKILL)
            if self.fail and item.id.endswith(self.fail):
                raise ValueError(f"cannot say anything about {item.id}")
        return [Answer(item=item.id, choice="first") for item in items]


def _not_yet_killed() -> bool:
    """Always, unless the tests name a file: then only the first time."""
    try:
        with open(os.environ.get("GNOMON_DICE_KILLED", os.devnull), "x"):
            return True
    except FileExistsError:
        return "GNOMON_DICE_KILLED" not in os.environ


def slow(name: str, *, seconds: float = 0.0, fail: str = "", kill: str = ""):
    return Slow(f"slow:{name}" if name else "slow", seconds, fail, kill)
