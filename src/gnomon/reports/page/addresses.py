"""Addresses of views of the item table: what a link must say for the page to show those items."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote, urlencode


def items_address(benchmark: str, *, model: str = "", tags: Mapping[str, str] | None = None) -> str:
    """The address, within the page, of some items of a benchmark: those that a model was asked.

    >>> items_address("scales@fresh", tags={"gap": "1"})
    '#items?b=scales%40fresh&t.gap=1'
    """
    asked = {"b": benchmark}
    if model:
        asked["o"] = f"asked:{model}"
    for tag, value in (tags or {}).items():
        asked[f"t.{tag}"] = value
    return f"#items?{urlencode(asked, quote_via=quote, safe='')}"
