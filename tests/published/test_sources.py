"""The table of sources knows the files that are at hand: each has the sha256 and the size that it
says."""

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
from gnomon.fetching.catalogue import fetch, sources

pytestmark = pytest.mark.published

# Where a source's file lies in the shared folder, if its name differs there.
RENAMED = {"data/data_files/all_vsr_raw_data.jsonl": "raw.jsonl"}


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder and says nothing."""

    def log_message(self, *args: object) -> None:
        pass


def test_hashes_and_sizes_of_the_table_are_those_of_the_files(shared):
    checked = 0
    for name, source in sources().items():
        for file in source.files:
            endings = [RENAMED.get(file.path, file.path)]
            while "/" in endings[-1]:
                endings.append(endings[-1].partition("/")[2])
            for folder in {name, name.removesuffix("-2")}:
                for found in (
                    shared / "data" / folder / f"{end}{gz}" for end in endings for gz in ("", ".gz")
                ):
                    if found.is_file() and file.sha256:
                        content = (
                            gzip.decompress(found.read_bytes())
                            if found.suffix == ".gz"
                            else found.read_bytes()
                        )
                        assert hashlib.sha256(content).hexdigest() == file.sha256, file.path
                        assert len(content) == file.bytes
                        checked += 1
    assert checked >= 22


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
