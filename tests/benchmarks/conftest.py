"""What tests of several benchmarks need."""

import os

import pytest

from gnomon.benchmarks.vsr.quads import make_quads


@pytest.fixture(scope="module")
def cache_of_quads(tmp_path_factory):
    """One cache for all tests of a module, so that quads are found once."""
    before = os.environ.get("GNOMON_CACHE")
    os.environ["GNOMON_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    make_quads.cache_clear()
    yield
    make_quads.cache_clear()
    if before is None:
        del os.environ["GNOMON_CACHE"]
    else:
        os.environ["GNOMON_CACHE"] = before
