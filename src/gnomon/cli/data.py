"""Fetch the authors' published files into the cache, or list what can be fetched.

Nothing is downloaded unless you ask. What is fetched is verified, resumed after a break, and used
by NAME@published from then on, without a network. GNOMON_CACHE names another folder for the cache.

examples:
  gnomon data list
  gnomon data get vsr
  gnomon data get viphy-color spatialqa
  gnomon data get vsr-images --limit 100
  gnomon make vsr@published --split random/test -o vsr-test.jsonl
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.contracts import Listing
from gnomon.errors import UsageError
from gnomon.registry import image_list
from gnomon.tabular import render

if TYPE_CHECKING:
    from gnomon.downloads.catalogue import Source, SourceFile
    from gnomon.downloads.download import Progress


def main(args: Namespace) -> int:
    """Run `gnomon data`."""
    return _list(args) if args.action == "list" else _get(args)


def _list(args: Namespace) -> int:
    from gnomon.downloads.catalogue import cache_folder, cached, sources

    rows = []
    for name, source in sources().items():
        here = "yes" if cached(name) else "no"
        rows.append((name, source.what, source.licence, _size(source), here))
    columns = ("name", "what", "licence", "size", "cached")
    listing = Listing(f"Published files (cache: {cache_folder()})", columns, tuple(rows))
    print(render(listing, args.format))
    return 0


def _size(source: Source) -> str:
    """How large a source is, or at least is, by what its table says."""
    size = sum(file.bytes for file in source.files)
    if size < 50_000:
        return ""
    is_whole = all(file.bytes for file in source.files)
    shown = f"{size / 1e6:.1f} MB"
    return shown if is_whole else f"> {shown}"


def _get(args: Namespace) -> int:
    from gnomon.downloads.catalogue import fetch, source_name, sources

    if args.limit is not None and args.limit < 1:
        raise UsageError("--limit must be at least 1.", "Leave it out to fetch all files.")
    for name in dict.fromkeys(source_name(name) for name in args.names):
        source = sources()[name]
        print(_introduction(name, source), file=sys.stderr)
        with _download_lines() as bar:
            files = list(islice(_files(source, args.data), args.limit))
            root = fetch(name, files=files, mirror=args.mirror, progress=bar)
        print(root)
    return 0


def _introduction(name: str, source: Source) -> str:
    """What is fetched, on what terms, and what cannot be verified."""
    lines = [f"{name}: {source.what}", f"licence: {source.licence}"]
    unknown = sum(not file.sha256 for file in source.files)
    which = "its files" if source.images_of else f"{unknown} of its files"
    if unknown or source.images_of:
        lines.append(
            f"note: for {which} no sha256 is known beforehand; the first download's is recorded, "
            "and later ones must equal it."
        )
    return "\n".join(lines)


def _files(source: Source, data: str) -> Iterable[SourceFile]:
    if not source.images_of:
        return source.files
    from gnomon.downloads.catalogue import locate

    files: Iterable[SourceFile] = image_list(source.images_of)(locate(data, source.images_of))
    return files


@contextmanager
def _download_lines() -> Iterator[Progress]:
    """A line for each file: drawn on a terminal, in a log written when the file is whole."""
    from gnomon.cli.progress import staged_lines

    with staged_lines(quiet=False) as draw:

        def watch(file: Path, done: int, total: int) -> None:
            if sys.stderr.isatty():
                draw(f"{file.name}, bytes", done, total)
            elif done == total:
                print(f"  {file.name} {total:,} bytes", file=sys.stderr)

        yield watch
