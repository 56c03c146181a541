"""Every option of every benchmark is explained where it is declared, on a line of its own."""

from __future__ import annotations

import inspect
import re

import pytest

from gnomon.options import options_of
from gnomon.registry import BENCHMARKS, benchmark

SOURCES = {
    f"{name}@{source}": function
    for name in BENCHMARKS
    for source, function in benchmark(name).sources.items()
}


@pytest.mark.parametrize("name", SOURCES)
def test_every_option_of_a_source_has_a_help_line(name):
    text = inspect.getdoc(SOURCES[name]) or ""
    options = list(options_of(SOURCES[name]))
    assert options
    explained = re.findall(r"(?m)^(\w+)  +\S", text)
    assert explained == options
