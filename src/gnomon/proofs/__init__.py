"""What follows from sentences about space: proofs, readings, witnesses, chains and calculi.

The names below are what docs/proofs.md promises; each is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gnomon.proofs.solver import Proof, clash, clash_of_facts, prove, prove_facts

__all__ = [
    "Proof",
    "clash",
    "clash_of_facts",
    "prove",
    "prove_facts",
]


def __getattr__(name: str) -> Any:
    """A public name, loaded when it is first used."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.solver"), name)
