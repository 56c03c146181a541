"""The page of the package on an index: README.md, with links that lead somewhere there (a hook of hatchling).

Pages and pictures of the repository are not part of an index. Where pyproject.toml names the repository under
`[project.urls]`, links become whole addresses in it; without it they become the words that they stand on, and pictures go.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

try:
    from hatchling.metadata.plugin.interface import MetadataHookInterface
except ImportError:  # where nothing is built, as in tests
    MetadataHookInterface = object

LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?://|#)([^)\s]+)\)")
BLANK = re.compile(r"\n{3,}")


class Readme(MetadataHookInterface):
    """Gives the package its readme."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Put it among what the index is told."""
        page = Path(self.root, "README.md").read_text(encoding="utf-8")
        repository = metadata.get("urls", {}).get("Repository", "")
        written = for_index(page, repository)
        metadata["readme"] = {"content-type": "text/markdown", "text": written}


def for_index(page: str, repository: str = "") -> str:
    """The page with whole addresses, or without those that only a clone can follow."""

    def address(link: re.Match[str]) -> str:
        is_picture, words, path = link.groups()
        if repository:
            kind = "raw" if is_picture else "blob"
            return f"{is_picture}[{words}]({repository.rstrip('/')}/{kind}/main/{path})"
        return "" if is_picture else words

    return BLANK.sub("\n\n", LINK.sub(address, page))
