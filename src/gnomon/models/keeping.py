"""Weights that stay loaded from run to run, while a command asks one model in many ways."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

Loaded = TypeVar("Loaded")
_kept: dict[Hashable, Any] | None = None


@contextmanager
def keeping_models() -> Iterator[None]:
    """While inside, what was loaded is not loaded again; it is closed at the end."""
    global _kept
    before, _kept = _kept, {}
    try:
        yield
    finally:
        loaded, _kept = _kept, before
        for each in loaded.values():
            close = getattr(each, "close", None)
            if close:
                close()


def kept(key: Hashable, load: Callable[[], Loaded]) -> Loaded:
    """What `load` gives, or gave before for the same key while models are kept."""
    if _kept is None:
        return load()
    if key not in _kept:
        _kept[key] = load()
    found: Loaded = _kept[key]
    return found


def is_kept(loaded: object) -> bool:
    """Whether something stays loaded, so that its user must not close it."""
    return _kept is not None and any(each is loaded for each in _kept.values())
