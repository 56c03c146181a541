"""The addresses of the viewer's pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import quote, urlencode

from gnomon.runs import Run


def run_address(run: Run) -> str:
    """The page of a run."""
    return f"/run/{quote(run.path.name, safe='')}"


def model_address(name: str) -> str:
    """The page of a model, by the name that lists show."""
    return "/model?" + urlencode({"name": name})


def benchmark_address(name: str, part: str = "") -> str:
    """The page of a benchmark, or of a part of it: TAG=VALUE."""
    query = {"name": name}
    if part:
        query["part"] = part
    return "/benchmark?" + urlencode(query)


def compare_address(runs: Sequence[Run]) -> str:
    """The page that compares runs."""
    return "/compare?" + urlencode([("run", run.path.name) for run in runs])


def item_address(benchmark: str, name: str, more: Mapping[str, str] | None = None) -> str:
    """The page of an item; what else is in the address says where a reader came from."""
    return "/item?" + urlencode({"benchmark": benchmark, "id": name, **(more or {})})
