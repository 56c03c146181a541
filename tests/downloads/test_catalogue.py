"""Fetching is whole and verified or not at all, against a server that truncates, lies, redirects
and goes away."""

from __future__ import annotations

import gzip
import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import msgspec
import pytest

from gnomon.cli import main
from gnomon.downloads import catalogue as fetching
from gnomon.downloads.catalogue import Source, SourceFile
from gnomon.downloads.download import Attempts, download
from gnomon.errors import DataError, UsageError

BODY = bytes(range(256)) * 40
HASH = hashlib.sha256(BODY).hexdigest()
ONCE = Attempts(most=1)


class Server(ThreadingHTTPServer):
    """Serves BODY at any path; `mode` and the log of requests are what tests turn and read."""

    daemon_threads = True
    mode = ""
    body = BODY
    gone: frozenset[str] | set[str] = frozenset()

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.log: list[tuple[str, str]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        asked = self.headers.get("Range", "")
        self.server.log.append((self.path, asked))
        mode, body = self.server.mode, self.server.body
        if self.path.startswith("/go/"):
            return self._redirect(self.path.removeprefix("/go"))
        if mode == "circle":
            return self._redirect("/round" + str(len(self.server.log)))
        if mode in ("file", "ftp"):
            return self._redirect({"file": "file:///etc/passwd", "ftp": "ftp://127.0.0.1/x"}[mode])
        if mode == "no address":
            return self._redirect("http://[::1")
        if mode == "half a header":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Le")
            self.connection.recv(1)  # until the other side has had enough
            return None
        if mode == "missing" or self.path in self.server.gone:
            return self.send_error(404)
        if mode == "escapes":
            return self.send_error(404, "gone \x1b]0;owned\x07")
        if mode == "busy once" and len(self.server.log) == 1:
            return self.send_error(503)
        start = (
            int(asked.removeprefix("bytes=").rstrip("-")) if asked and mode != "no ranges" else 0
        )
        if start and start >= len(body):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(body)}")
            self.send_header("Content-Length", "0")
            return self.end_headers()
        self.send_response(206 if start else 200)
        if start:
            shift = 7 if mode == "other range" else 0
            self.send_header("Content-Range", f"bytes {start + shift}-{len(body) - 1}/{len(body)}")
        rest = body[start:]
        if mode != "no length":
            self.send_header("Content-Length", str(len(rest)))
        self.end_headers()
        cut = mode == "truncated" or (mode == "truncated once" and len(self.server.log) == 1)
        self.wfile.write(rest[: len(rest) // 2] if cut else rest)
        return None

    def _redirect(self, where: str) -> None:
        self.send_response(302)
        self.send_header("Location", where)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def left_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_a_file_arrives_whole_and_its_hash_is_returned(server, tmp_path):
    seen = []
    assert (
        download(
            f"{server.url}/a",
            tmp_path / "a",
            sha256=HASH,
            size=len(BODY),
            progress=lambda file, done, total: seen.append((file.name, done, total)),
        )
        == HASH
    )
    assert (tmp_path / "a").read_bytes() == BODY
    assert seen[-1] == ("a", len(BODY), len(BODY))
    assert left_in(tmp_path) == ["a"]


def test_a_wrong_hash_keeps_nothing_and_changes_no_older_file(server, tmp_path):
    (tmp_path / "a").write_text("older")
    with pytest.raises(DataError, match=f"has the sha256 {HASH}, not 0000"):
        download(f"{server.url}/a", tmp_path / "a", sha256="0000")
    assert (tmp_path / "a").read_text() == "older"
    assert left_in(tmp_path) == ["a"]


def test_a_wrong_size_is_refused_before_the_body_is_kept(server, tmp_path):
    with pytest.raises(DataError, match=r"has 10,240 bytes, more than the 100"):
        download(f"{server.url}/a", tmp_path / "a", size=100, limit=100)
    server.mode = "no length"
    with pytest.raises(DataError, match="longer than the 100 bytes"):
        download(f"{server.url}/a", tmp_path / "a", limit=100)
    with pytest.raises(DataError, match=r"has 10,240 bytes, not 10,241"):
        download(f"{server.url}/a", tmp_path / "a", size=len(BODY) + 1, limit=len(BODY) + 1)
    assert left_in(tmp_path) == []


def test_a_truncated_download_is_taken_up_where_it_stopped(server, tmp_path):
    server.mode = "truncated"
    with pytest.raises(DataError, match=r"ended after 5,120 of 10,240 bytes") as error:
        download(f"{server.url}/a", tmp_path / "a", sha256=HASH, attempts=ONCE)
    assert "same command again" in error.value.hint
    assert left_in(tmp_path) == ["a.part"]
    server.mode = ""
    assert download(f"{server.url}/a", tmp_path / "a", sha256=HASH, attempts=ONCE) == HASH
    assert server.log[-1] == ("/a", "bytes=5120-")
    assert left_in(tmp_path) == ["a"]


@pytest.mark.parametrize("mode", ["truncated once", "busy once"])
def test_a_passing_failure_is_tried_again_after_a_pause(server, tmp_path, mode):
    server.mode, pauses = mode, []
    assert (
        download(
            f"{server.url}/a", tmp_path / "a", sha256=HASH, attempts=Attempts(wait=pauses.append)
        )
        == HASH
    )
    assert pauses == [1.0]


def test_a_server_that_ignores_ranges_starts_over(server, tmp_path):
    (tmp_path / "a.part").write_bytes(BODY[:1000])
    server.mode = "no ranges"
    assert download(f"{server.url}/a", tmp_path / "a", sha256=HASH, attempts=ONCE) == HASH
    assert (tmp_path / "a").read_bytes() == BODY


def test_a_server_that_sends_another_range_is_not_believed(server, tmp_path):
    (tmp_path / "a.part").write_bytes(BODY[:1000])
    server.mode = "other range"
    with pytest.raises(DataError, match="another part than the one asked for"):
        download(f"{server.url}/a", tmp_path / "a", sha256=HASH, attempts=ONCE)


@pytest.mark.parametrize("old", [b"x" * 1000, BODY, b"x" * len(BODY), BODY + b"more"])
def test_a_part_of_another_version_does_no_harm(server, tmp_path, old):
    (tmp_path / "a.part").write_bytes(old)
    assert (
        download(
            f"{server.url}/a", tmp_path / "a", sha256=HASH, attempts=Attempts(wait=lambda _: None)
        )
        == HASH
    )
    assert left_in(tmp_path) == ["a"]


def test_a_redirect_is_followed_but_not_in_a_circle_nor_to_files(server, tmp_path):
    assert download(f"{server.url}/go/a", tmp_path / "a", sha256=HASH) == HASH
    server.mode = "circle"
    with pytest.raises(DataError, match="redirects in a circle"):
        download(f"{server.url}/b", tmp_path / "b")
    for mode in ("file", "ftp"):
        server.mode = mode
        with pytest.raises(
            DataError, match=f"redirects to {mode}:.*not followed|could not be fetched"
        ):
            download(f"{server.url}/b", tmp_path / "b")
    assert left_in(tmp_path) == ["a"]


def test_a_redirect_to_what_is_no_address_is_an_error_for_people(server, tmp_path):
    server.mode = "no address"
    with pytest.raises(DataError, match="redirects to what is not an address"):
        download(f"{server.url}/a", tmp_path / "a")
    with pytest.raises(DataError, match="is not a web address"):
        download("http://[::1", tmp_path / "a")


def test_a_file_that_drips_is_given_up(server, tmp_path):
    hours = iter(range(0, 36_000, 3600))
    with pytest.raises(DataError, match="fewer than 1,000 bytes arrive in a second"):
        download(
            f"{server.url}/a",
            tmp_path / "a",
            attempts=Attempts(most=1, clock=lambda: next(hours)),
        )
    assert left_in(tmp_path) == ["a.part"]  # what came is kept, and the next call goes on from it


def test_a_slow_file_that_keeps_coming_is_not_given_up(server, tmp_path):
    seconds = iter(range(0, 90, 9))
    slow = Attempts(most=1, clock=lambda: next(seconds))
    assert download(f"{server.url}/a", tmp_path / "a", attempts=slow) == HASH


def test_headers_that_never_end_are_given_up(server, tmp_path, monkeypatch):
    monkeypatch.setattr("gnomon.downloads.download.HEADERS_WITHIN", 0.05)
    server.mode = "half a header"
    with pytest.raises(DataError, match=r"no reply began within 0.05 seconds"):
        download(f"{server.url}/a", tmp_path / "a", attempts=ONCE)


def test_a_servers_words_do_not_reach_the_terminal_raw(server, tmp_path):
    server.mode = "escapes"
    with pytest.raises(DataError, match=r"answered 404 gone \]0;owned\.") as error:
        download(f"{server.url}/a", tmp_path / "a", attempts=ONCE)
    assert "\x1b" not in str(error.value)


def test_what_is_missing_or_unreachable_says_so_and_what_to_do(server, tmp_path):
    server.mode = "missing"
    with pytest.raises(DataError, match="answered 404 Not Found"):
        download(f"{server.url}/a", tmp_path / "a")
    with pytest.raises(
        DataError, match="could not be fetched"
    ) as error:  # nobody listens on port 1
        download("http://127.0.0.1:1/a", tmp_path / "a", attempts=ONCE)
    assert "--data" in error.value.hint
    with pytest.raises(DataError, match="not a web address"):
        download("file:///etc/passwd", tmp_path / "a")
    assert left_in(tmp_path) == []


def test_a_page_in_place_of_an_image_is_refused(server, tmp_path):
    server.body = b"<html>Sign in</html>"
    with pytest.raises(DataError, match="not a JPEG image"):
        download(f"{server.url}/1.jpg", tmp_path / "1.jpg")
    server.body = b"\xff\xd8\xff\xe0 and so on"
    download(f"{server.url}/1.jpg", tmp_path / "1.jpg")


@pytest.mark.parametrize(
    "path", ["../a", "/etc/passwd", "a/../../b", "", "c:\\a", "..", "fetched.jsonl"]
)
def test_no_path_leads_out_of_the_cache(server, cache, path):
    source = Source(what="", licence="")
    with pytest.raises(DataError, match="leads out of its folder"):
        fetching.fetch_files(cache, source, [SourceFile(path=path)], mirror=server.url)
    assert server.log == []


def test_a_link_on_the_way_leads_nowhere(server, cache, tmp_path):
    cache.mkdir()
    (tmp_path / "outside").mkdir()
    (cache / "sub").symlink_to(tmp_path / "outside")
    with pytest.raises(DataError, match="leads out"):
        fetching.fetch_files(
            cache, Source(what="", licence=""), [SourceFile(path="sub/a")], mirror=server.url
        )
    assert left_in(tmp_path / "outside") == []


def test_the_first_hash_is_recorded_and_later_downloads_are_held_to_it(server, cache):
    source, files = Source(what="", licence=""), [SourceFile(path="x/a")]
    cache.mkdir()
    fetching.fetch_files(cache, source, files, mirror=server.url)
    (cache / "x/a").write_text("damaged")
    fetching.fetch_files(cache, source, files, mirror=server.url)
    assert (cache / "x/a").read_bytes() == BODY
    (cache / "x/a").unlink()
    server.body = b"something else"
    with pytest.raises(DataError, match=f"not {HASH}"):
        fetching.fetch_files(cache, source, files, mirror=server.url)
    assert left_in(cache) == ["fetched.jsonl"]


def test_what_is_there_and_right_is_not_fetched_again(server, cache):
    source, files = (
        Source(what="", licence=""),
        [SourceFile(path="a", sha256=HASH), SourceFile(path="b", sha256=HASH)],
    )
    cache.mkdir()
    (cache / "b").write_bytes(BODY)  # put there by hand
    fetching.fetch_files(cache, source, files, mirror=server.url)
    fetching.fetch_files(cache, source, files, mirror=server.url)
    assert [path for path, _ in server.log] == ["/a"]


@pytest.fixture
def table(tmp_path, monkeypatch):
    files = f"    - path: a\n      sha256: {HASH}\n    - path: sub/b\n"
    head = "tiny:\n  what: a test\n  licence: CC0\n  benchmarks: [tiny-bench]\n  files:\n"
    (tmp_path / "catalogue.yaml").write_text(head + files)
    monkeypatch.setattr(fetching, "package_data", lambda name: tmp_path / name)


def test_get_fetches_a_source_by_its_name_or_its_benchmarks(server, cache, table, capsys):
    assert fetching.cached("tiny") is None
    with pytest.raises(DataError, match="not here") as error:
        fetching.locate("", "tiny-bench")
    assert "gnomon data get tiny" in error.value.hint
    assert main(["data", "get", "tiny-bench", "--mirror", server.url]) == 0
    out = capsys.readouterr()
    assert out.out.strip() == str(cache / "data/tiny")
    assert "licence: CC0" in out.err
    assert "1 of its files no sha256 is known beforehand" in out.err
    assert fetching.locate("", "tiny-bench") == fetching.cached("tiny") == cache / "data/tiny"
    assert fetching.locate("elsewhere", "tiny") == Path("elsewhere")


def test_a_source_with_a_file_gone_or_cut_does_not_count_as_cached(server, cache, table):
    root = fetching.fetch("tiny", mirror=server.url)
    (root / "a").write_bytes(BODY[:-1])
    assert fetching.cached("tiny") is None


def test_get_fails_with_a_clear_message_and_exit_code(server, cache, table, capsys):
    server.mode = "missing"
    assert main(["data", "get", "tiny", "--mirror", server.url]) == 1
    assert "answered 404" in capsys.readouterr().err
    assert main(["data", "get", "tniy"]) == 2
    assert "Did you mean tiny?" in capsys.readouterr().err
    assert main(["data", "get", "tiny", "--limit", "0"]) == 2
    with pytest.raises(UsageError):
        fetching.fetch("tiny", mirror="ftp://x")


def test_list_shows_terms_and_what_is_here(server, cache, table, capsys):
    assert main(["data", "list", "--format", "csv"]) == 0
    assert "tiny,a test,CC0,,no" in capsys.readouterr().out
    fetching.fetch("tiny", mirror=server.url)
    assert main(["data", "list", "--format", "csv"]) == 0
    assert "tiny,a test,CC0,,yes" in capsys.readouterr().out


def test_a_record_that_was_cut_short_costs_one_download_at_most(server, cache, table):
    root = fetching.fetch("tiny", mirror=server.url)
    record = root / fetching.RECORD
    record.write_bytes(record.read_bytes()[:-20])
    assert fetching.cached("tiny") is None
    fetching.fetch("tiny", mirror=server.url)
    assert fetching.cached("tiny") == root
    assert [path for path, _ in server.log] == ["/a", "/sub/b", "/sub/b"]


def test_a_host_that_is_not_known_is_not_asked_again(tmp_path, monkeypatch):
    import socket

    def unknown(*args, **kwargs):
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(DataError, match=r"files\.example cannot be reached") as error:
        download(
            "http://files.example/a",
            tmp_path / "a",
            attempts=Attempts(wait=lambda _: pytest.fail("waited")),
        )
    assert "--data" in error.value.hint


def test_two_processes_do_not_fetch_into_one_folder(server, cache, table):
    from filelock import FileLock

    (cache / "data").mkdir(parents=True)
    with FileLock(cache / "data/tiny.lock"), pytest.raises(DataError, match="another process"):
        fetching.fetch("tiny", mirror=server.url)


RESULTS = (
    "premise\thypothesis\tentailment\treasoning_type\tfunction_name\tg_id\tanswer\tcorrect\n"
    "Ann is walking.\tAnn is moving.\tentailment\tmotion\twalking\t0\tentailment\tTrue\n"
)


def test_all_that_is_listed_for_spatialqa_is_at_the_pinned_commit_and_then_read(
    server, cache, monkeypatch
):
    import gnomon

    # data.tsv was removed before that commit, where only the results hold the items
    server.gone = {"/data.tsv"}
    server.body = RESULTS.encode()
    shipped = fetching.sources()["spatialqa"]
    files = tuple(SourceFile(path=file.path) for file in shipped.files)  # other bytes, other hashes
    table = {"spatialqa": msgspec.structs.replace(shipped, files=files)}
    monkeypatch.setattr(fetching, "sources", lambda: table)
    assert main(["data", "get", "spatialqa", "--mirror", server.url]) == 0
    assert len(server.log) == 31
    (item,) = gnomon.load("spatialqa@published").items()
    assert (item.context, item.text, item.gold) == (
        "Ann is walking.",
        "Ann is moving.",
        ("entailment",),
    )


def test_what_the_guide_offers_of_viphy_is_fetched():
    paths = {file.path for file in fetching.sources()["viphy"].files}
    for share in (20, 40, 60, 80, 100):
        assert f"dataset/fs_color/train_{share}.json" in paths
        assert f"dataset/fs_size/train_{share}.csv" in paths
    assert "extra/obj2cat.json" in paths


def test_the_shipped_table_pins_every_file():
    assert len(fetching.sources()) > 5
    for name, source in fetching.sources().items():
        assert source.licence
        if source.images_of:
            continue
        assert source.files, name
        for file in source.files:
            assert len(file.sha256) == 64, file.path
            if file.debian:  # a package is pinned by its version too
                assert "=" in file.debian
                continue
            assert file.bytes, file.path
            commit = file.commit or source.commit
            assert len(commit) == 40
            assert set(commit) <= set("0123456789abcdef")
            assert fetching.place(Path("root"), file.path)
            assert fetching.address(source, file).startswith("https://raw.githubusercontent.com/")


def test_the_table_has_the_hashes_of_the_authors_files(shared):
    """What lies here packed is, unpacked, the file that the table pins."""
    pinned = {Path(file.path).name: file for file in fetching.sources()["spatialqa"].files}
    packed = sorted((shared / "data/spatialqa").glob("*.tsv.gz"))
    assert packed
    for path in packed:
        content = gzip.decompress(path.read_bytes())
        file = pinned[path.name.removesuffix(".gz")]
        assert len(content) == file.bytes
        assert hashlib.sha256(content).hexdigest() == file.sha256


def test_what_was_measured_on_the_authors_whole_files_is_pinned(shared):
    """Files that are not here: their bytes and hashes were taken at the pinned commits."""
    lines = (shared / "spec/published-hashes.txt").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 34
    for line in lines:
        name, commit, path, size, digest = line.split()
        source = fetching.sources()[name]
        (file,) = (each for each in source.files if each.path == path)
        assert (file.commit or source.commit).startswith(commit)
        assert (file.bytes, file.sha256) == (int(size), digest)


def test_a_malformed_table_is_a_clear_error(tmp_path):
    (tmp_path / "t.yaml").write_text("vsr:\n  licence: 3\n")
    with pytest.raises(DataError, match="not a table of sources"):
        fetching.sources(tmp_path / "t.yaml")


def test_images_are_fetched_for_the_captions_of_a_folder_and_then_used(
    server, cache, tmp_path, capsys
):
    import json

    from gnomon.benchmarks.vsr import task as vsr

    rows = [
        {
            "image": f"{i:012d}.jpg",
            "image_link": f"http://images.cocodataset.org/val2017/{i:012d}.jpg",
            "label": 1,
            "caption": "The cat is on the bed.",
            "relation": "on",
            "annotator_id": 1,
            "vote_true_validator_id": [1],
            "vote_false_validator_id": [],
        }
        for i in range(5)
    ]
    (tmp_path / "vsr").mkdir()
    (tmp_path / "vsr/raw.jsonl").write_text("\n".join(map(json.dumps, rows)))
    # as far as a header goes: 8 pixels wide, 6 high
    server.body = b"\xff\xd8\xff\xc0\x00\x0b\x08\x00\x06\x00\x08\x01\x01\x11\x00"
    get = ["data", "get", "vsr-images", "--data", str(tmp_path / "vsr"), "--mirror", server.url]
    assert main([*get, "--limit", "2"]) == 0
    assert [path for path, _ in server.log] == [
        "/val2017/000000000000.jpg",
        "/val2017/000000000001.jpg",
    ]
    assert main(get) == 0
    assert len(server.log) == 5  # what is here is not fetched again
    items = list(vsr.published(data=str(tmp_path / "vsr")))
    (image,) = items[4].images
    assert image.path == str(cache / "data/vsr-images/val2017/000000000004.jpg")
    assert image.sha256 == hashlib.sha256(server.body).hexdigest()
    assert (image.width, image.height) == (8, 6)
    assert "later ones must equal it" in capsys.readouterr().err
