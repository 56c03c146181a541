"""What attacks register is gone after them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gnomon import registry


@pytest.fixture(autouse=True)
def own_registry() -> Iterator[None]:
    kept = {kind: dict(registry.KINDS[kind]) for kind in ("benchmarks", "models")}
    yield
    for kind, entries in kept.items():
        registry.KINDS[kind].clear()
        registry.KINDS[kind].update(entries)
