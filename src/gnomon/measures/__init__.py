"""What answers mean: pure functions from a table of answers to scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gnomon.measures.scoring import score, score_run, scores
    from gnomon.measures.statistics import Statistics
    from gnomon.measures.table import Table

_HOME = {
    "score": "gnomon.measures.scoring",
    "score_run": "gnomon.measures.scoring",
    "scores": "gnomon.measures.scoring",
    "Statistics": "gnomon.measures.statistics",
    "Table": "gnomon.measures.table",
}

__all__ = ["Statistics", "Table", "score", "score_run", "scores"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'gnomon.measures' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(_HOME[name]), name)
