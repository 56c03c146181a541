"""The table of sources is right about the files that are here: their sha256 and their size."""

from __future__ import annotations

import gzip
import hashlib
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from shutil import copy
from threading import Thread

import pytest

import gnomon
from gnomon.downloads.catalogue import fetch, sources

pytestmark = pytest.mark.published

# Where a source's file lies in the shared folder, if its name differs there.
RENAMED = {"data/data_files/all_vsr_raw_data.jsonl": "raw.jsonl"}


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder and says nothing."""

    def log_message(self, *args: object) -> None:
        pass


def local_copy(folder: Path, path: str) -> bytes | None:
    """The content of a source's file, if it lies in the shared folder under any ending of its path."""
    ending = RENAMED.get(path, path)
    while True:
        plain, packed = folder / ending, folder / f"{ending}.gz"
        if plain.is_file():
            return plain.read_bytes()
        if packed.is_file():
            return gzip.decompress(packed.read_bytes())
        _, slash, ending = ending.partition("/")
        if not slash:
            return None


def test_hashes_and_sizes_of_the_table_are_those_of_the_files(shared):
    checked = 0
    for name, source in sources().items():
        for file in source.files:
            content = local_copy(shared / "data" / name, file.path)
            if content is not None:
                assert hashlib.sha256(content).hexdigest() == file.sha256, file.path
                assert len(content) == file.bytes
                checked += 1
    assert checked == 22


def test_a_source_is_fetched_once_and_then_read_without_its_server(shared, tmp_path, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path / "cache"))
    repository = tmp_path / "repository"
    for file in sources()["spacenli"].files:
        (repository / file.path).parent.mkdir(parents=True, exist_ok=True)
        copy(shared / "data/spacenli" / Path(file.path).name, repository / file.path)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(repository))) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        fetch("spacenli", mirror=f"http://127.0.0.1:{server.server_port}")
        server.shutdown()
        thread.join()
    assert sum(1 for _ in gnomon.load("spacenli@published", per_group=1).items()) == 160
