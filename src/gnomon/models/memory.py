"""Freed memory is kept for the next pass instead of being given back after every step.

A pass over a batch takes and frees blocks of some megabytes hundreds of times. The C library gives
them back at once, and the system hands them out again page by page, each set to zero first: a
twelfth of a pass of SmolLM2.
"""

from __future__ import annotations

import ctypes
import os
from functools import cache

KEPT = 256 * 2**20  # bytes: blocks up to that size come from memory that is kept, up to that much
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # glibc's names for the two settings
_USERS_OWN = ("GLIBC_TUNABLES", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_")


@cache
def keep_freed_memory() -> bool:
    """Tell the C library, once, unless the user has; whether it was told (only glibc can be)."""
    if any(name in os.environ for name in _USERS_OWN):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    return bool(mallopt(_MMAP_THRESHOLD, KEPT) and mallopt(_TRIM_THRESHOLD, KEPT))
