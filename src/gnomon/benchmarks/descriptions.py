"""What our benchmarks say of themselves: title, measures, units, laws, and their tags in words.

That is data (data/benchmarks/FAMILY.yaml, one entry a benchmark, `all` for what they share); the
functions that make items and tables are code.
"""

from typing import Any

import msgspec

from gnomon.contracts import Benchmark, Laws
from gnomon.files import package_data, read_yaml
from gnomon.registry import BENCHMARKS, TASK_SETS


def described(family: str, name: str, **functions: Any) -> Benchmark:
    """The benchmark of that name, with its functions; its summary is its line in the registry."""
    content = read_yaml(package_data(f"benchmarks/{family}.yaml"))
    fields = {**content.get("all", {}), **content[name]}
    laws = msgspec.convert(fields.pop("laws", {}), Laws)
    entry = BENCHMARKS.get(name) or TASK_SETS[name]
    plain = {key: _fixed(value) for key, value in fields.items()}
    return Benchmark(name=name, summary=entry.summary, **{"laws": laws, **plain, **functions})


def _fixed(value: Any) -> Any:
    """Lists as tuples."""
    return tuple(map(_fixed, value)) if isinstance(value, list) else value
