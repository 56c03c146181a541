"""Gnomon measures what models know about space.

    import gnomon

    run = gnomon.run(gnomon.load("scales", seed=1), gnomon.model("random"))
    for score in gnomon.score(run):
        print(score.measure, score.value, score.low, score.high)

The names below are loaded when first used, so that `import gnomon` costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gnomon.api import (
        agreement,
        changes,
        cite,
        compare,
        figures,
        list_benchmarks,
        list_models,
        list_prompts,
        load,
        merge,
        model,
        overview,
        power,
        preview,
        report,
        reward,
        run,
        score,
        table,
    )
    from gnomon.contracts import (
        Benchmark,
        Laws,
        Listing,
        Measure,
        Model,
        OrderLaw,
        PairMeasure,
        RelationLaw,
    )
    from gnomon.errors import GnomonError
    from gnomon.records import Answer, Image, Item, Score
    from gnomon.runs import Run

__version__ = "1.0.0"

# where each name is
_NAMES = {
    "gnomon.api": (
        "agreement changes cite compare figures list_benchmarks list_models list_prompts "
        "load merge model overview power preview report reward run score table"
    ),
    "gnomon.contracts": "Benchmark Laws Listing Measure Model OrderLaw PairMeasure RelationLaw",
    "gnomon.errors": "GnomonError",
    "gnomon.records": "Answer Image Item Score",
    "gnomon.runs": "Run",
}
_HOME = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = [
    "Answer",
    "Benchmark",
    "GnomonError",
    "Image",
    "Item",
    "Laws",
    "Listing",
    "Measure",
    "Model",
    "OrderLaw",
    "PairMeasure",
    "RelationLaw",
    "Run",
    "Score",
    "__version__",
    "agreement",
    "changes",
    "cite",
    "compare",
    "figures",
    "list_benchmarks",
    "list_models",
    "list_prompts",
    "load",
    "merge",
    "model",
    "overview",
    "power",
    "preview",
    "report",
    "reward",
    "run",
    "score",
    "table",
]

_ROOMS = ("audit", "proofs", "scenes")  # with functions of their own: gnomon.audit.audit


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _ROOMS:
        return import_module(f"gnomon.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'gnomon' has no attribute '{name}'")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value  # the next look-up does not come here
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
