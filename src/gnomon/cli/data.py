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
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.errors import UsageError

if TYPE_CHECKING:
    from rich.progress import TaskID

    from gnomon.downloads.catalogue import Source, SourceFile


def main(args: Namespace) -> int:
    """Run `gnomon data`."""
    return _list(args) if args.action == "list" else _get(args)


def _list(args: Namespace) -> int:
    from gnomon.contracts import Listing
    from gnomon.downloads.catalogue import cache_folder, cached, sources
    from gnomon.tabular import render

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
        with _Bar() as bar:
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
    from gnomon.registry import image_list

    files: Iterable[SourceFile] = image_list(source.images_of)(locate(data, source.images_of))
    return files


class _Bar:
    """A progress bar on a terminal; in a log, one line for each file when it is whole."""

    def __init__(self) -> None:
        self._tasks: dict[Path, TaskID] = {}
        self._bar = None
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import DownloadColumn, Progress, TextColumn, TransferSpeedColumn

            self._bar = Progress(
                TextColumn("{task.description}"),
                DownloadColumn(),
                TransferSpeedColumn(),
                console=Console(stderr=True),
                transient=True,
            )

    def __enter__(self) -> _Bar:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar:
            self._bar.stop()

    def __call__(self, file: Path, done: int, total: int) -> None:
        if self._bar is None:
            if done == total:
                print(f"  {file.name} {total:,} bytes", file=sys.stderr)
            return
        if file not in self._tasks:
            for task in self._tasks.values():  # one line at a time
                self._bar.remove_task(task)
            self._tasks = {file: self._bar.add_task(file.name, total=total or None)}
        self._bar.update(self._tasks[file], completed=done)
