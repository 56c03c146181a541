"""Fixtures of the audit's tests."""

from __future__ import annotations

import pytest

from gnomon.audit.sets import AuditSet
from tests.audit.soundsets import random_set


@pytest.fixture(scope="session")
def sound() -> AuditSet:
    """A set without any fault, divided by group into training and test."""
    return random_set(3, split=lambda number, question: "train" if number % 60 < 40 else "test")
