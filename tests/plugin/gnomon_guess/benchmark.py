"""Which of two numbers is larger? A benchmark on one page."""

from gnomon import Benchmark, Item, Laws, OrderLaw


def fresh(*, seed: int = 0, top: int = 6):
    """Every ordered pair of different numbers.

    seed   of no effect: there is one set
    top    the largest number
    """
    for a in range(1, top + 1):
        for b in range(1, top + 1):
            if a == b:
                continue
            yield Item(
                id=f"{a}-{b}",
                form="cloze",
                text=f"{a} is [MASK] than {b}.",
                choices=("larger", "smaller"),
                gold=("larger" if a > b else "smaller",),
                group=f"{min(a, b)}-{max(a, b)}",
                tags={"first": str(a), "second": str(b), "gap": str(abs(a - b))},
            )


NUMBERS = Benchmark(
    name="numbers",
    summary="which of two numbers is larger",
    sources={"fresh": fresh},
    measures=("accuracy", "symmetry", "first_choice"),
    slices=("gap",),
    noun="pairs",
    hold_out=(("first", "second"),),
    laws=Laws(
        order=OrderLaw(first="first", second="second", greater=("larger",), lesser=("smaller",))
    ),
)
