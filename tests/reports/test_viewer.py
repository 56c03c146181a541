from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from urllib.parse import quote

import pytest

pytest.importorskip("starlette", reason="the extra 'report' is not installed")
pytest.importorskip("httpx", reason="httpx is not installed")

import httpx
from starlette.testclient import TestClient

import gnomon
from gnomon import web
from gnomon.cli import main
from gnomon.errors import UsageError
from gnomon.records import Answer, Item
from gnomon.reports.viewer.app import make_app
from gnomon.reports.viewer.items import answer_row
from gnomon.reports.viewer.serving import checked
from gnomon.reports.viewer.shelf import Shelf
from gnomon.runs import Run, RunLog
from gnomon.runs.pace import Pace, PaceFile, WorkerPace

TOKEN = "a-token-of-good-length"


def client(folder: Path, token: str = "", host: str = "localhost") -> TestClient:
    return TestClient(
        make_app(str(folder), token), base_url=f"http://{host}:8765", follow_redirects=False
    )


@pytest.fixture
def viewer(runs: Path) -> TestClient:
    return client(runs)


def test_the_leaderboard_lists_every_run_with_its_rank(viewer: TestClient) -> None:
    page = viewer.get("/").text
    for model in ("hf:roberta-large-mnli", "smollm2", "random"):
        assert model in page
    assert page.index("hf:roberta-large-mnli") < page.index(">random<")


def test_models_that_cannot_be_told_apart_share_ranks(made: ModuleType, tmp_path: Path) -> None:
    items = list(made.entailment(20, 10))
    for name, skill, seed in (("twin-a", 0.5, 1), ("twin-b", 0.5, 2), ("weak", -3.0, 3)):
        made.write(tmp_path / name, "spacenli@fresh", name, items, skill=skill, seed=seed)
    shelf = Shelf(tmp_path)
    board = shelf.board("spacenli@fresh", shelf.runs())
    ranks = {label: (rank.best, rank.worst) for _, label, rank in board.parts[0].places}
    assert ranks == {"twin-a": (1, 2), "twin-b": (1, 2), "weak": (3, 3)}


def test_runs_on_other_items_are_ranked_apart(made: ModuleType, tmp_path: Path) -> None:
    items = list(made.entailment(20, 10))
    for name, skill, part in (
        ("large", 0.4, items),
        ("other", 0.2, items),
        ("small", 3.0, items[:30]),
    ):
        made.write(tmp_path / name, "spacenli@fresh", name, part, skill=skill, seed=len(name))
    shelf = Shelf(tmp_path)
    board = shelf.board("spacenli@fresh", shelf.runs())
    assert [(part.items, {label for _, label, _ in part.places}) for part in board.parts] == [
        (200, {"large", "other"}),
        (30, {"small"}),
    ]
    page = client(tmp_path).get("/").text
    assert ">200 items</h3>" in page
    assert ">Another set: 30 items</h3>" in page
    assert page.count('name="run"') == 3
    assert page.count(" checked") == 2
    small = page[page.index("Another set: 30 items") :]
    assert ">–</td>" in small  # nothing to be ranked with


def test_runs_with_permuted_choices_are_ranked_together_and_the_overview_agrees(
    tmp_path: Path,
) -> None:
    source = gnomon.load("scales", seed=1).limited(40)
    for seed in (None, 1, 2):
        gnomon.run(source, "random", permute=seed, runs=tmp_path)
    shelf = Shelf(tmp_path)
    runs = shelf.runs()
    assert len({run.manifest.items_sha256 for run in runs}) == 3
    (part,) = shelf.board(runs[0].benchmark, runs).parts
    assert (part.items, len(part.places)) == (40, 3)
    overview = shelf.overview(runs)
    assert len(overview.pairs[runs[0].benchmark]) == 3
    assert not overview.notes


def test_an_unfinished_run_is_not_ranked_with_finished_ones(
    made: ModuleType, tmp_path: Path
) -> None:
    items = list(made.entailment(20, 10))
    made.write(tmp_path / "whole", "spacenli@fresh", "whole", items, skill=0.5)
    made.write(
        tmp_path / "part", "spacenli@fresh", "part", items, skill=3.0, answered=0.2, finished=False
    )
    made.write(tmp_path / "begun", "spacenli@fresh", "begun", items, answered=0, finished=False)
    shelf = Shelf(tmp_path)
    board = shelf.board("spacenli@fresh", shelf.runs())
    values = {label: rank.value for part in board.parts for _, label, rank in part.places}
    assert [part.items for part in board.parts] == [200, 40, 0]
    assert values["part"] > 0.9  # of what was asked; what was not is no mistake
    assert client(tmp_path).get("/").status_code == 200


def test_runs_that_share_one_item_get_no_verdict(made: ModuleType, tmp_path: Path) -> None:
    items = list(made.entailment(4, 5))
    made.write(tmp_path / "a", "spacenli@fresh", "a", items[:11], seed=1)
    made.write(tmp_path / "b", "spacenli@fresh", "b", items[10:], seed=2)
    page = client(tmp_path).get("/compare?a=a&b=b").text
    assert "cannot be compared: they share 1 item (1 pattern)." in page
    assert "nan" not in page


def test_the_same_ids_with_other_words_are_not_compared(made: ModuleType, tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 2)):
        items = [
            Item(
                id=str(i), form="choice", text=f"{name} {i}?", choices=("no", "yes"), gold=("yes",)
            )
            for i in range(30)
        ]
        made.write(tmp_path / name, "quiz@fresh", name, items, seed=seed, options={"seed": seed})
    page = client(tmp_path).get("/compare?a=a&b=b").text
    assert "a and b share no items" in page
    assert "do not differ significantly" not in page


def test_a_run_page_leaves_out_pattern_accuracy_of_a_few_items(
    made: ModuleType, tmp_path: Path
) -> None:
    made.write(tmp_path / "few", "spacenli@fresh", "m", made.entailment(20, 4))
    page = client(tmp_path).get("/run/few").text
    assert '<th scope="row">Pattern accuracy @1.0</th>' not in page
    assert (
        "pattern accuracy @1.0 are left out: they need 10 items of each pattern or more, and there are 4."
        in page
    )
    made.write(tmp_path / "many", "spacenli@fresh", "m", made.entailment(20, 12))
    assert '<th scope="row">Pattern accuracy @1.0</th>' in client(tmp_path).get("/run/many").text


def test_a_damaged_run_does_not_hide_the_others(made: ModuleType, tmp_path: Path) -> None:
    for name in ("whole", "broken"):
        made.write(tmp_path / name, "spacenli@fresh", name, made.entailment(3, 4))
    (tmp_path / "broken" / "answers.sqlite").write_bytes(b"not a log" * 1000)
    (tmp_path / "no-manifest").mkdir()
    (tmp_path / "no-manifest" / "run.json").write_text("{", encoding="utf-8")
    page = client(tmp_path).get("/")
    assert page.status_code == 200
    assert '<a href="/run/whole">' in page.text
    assert "<code>broken</code>" in page.text


def test_an_empty_folder_says_how_to_fill_it(tmp_path: Path) -> None:
    assert "<code>gnomon run</code>" in client(tmp_path).get("/").text


def test_filters_narrow_the_leaderboard(viewer: TestClient) -> None:
    page = viewer.get("/", params={"benchmark": "spacenli@fresh", "model": "SMOL"}).text
    assert "smollm2" in page
    assert "/run/good" not in page
    assert "/run/pairs" not in page
    assert "match the filter" in viewer.get("/", params={"model": "no such model"}).text


def test_a_run_page_shows_scores_figures_and_how_it_was_made(viewer: TestClient) -> None:
    page = viewer.get("/run/good").text
    assert "gnomon run spacenli@fresh -m hf:roberta-large-mnli" in page
    assert '<svg class="chart"' in page
    assert "192 of 192 items" in page


def test_progress_is_counted_from_the_log(made: ModuleType, tmp_path: Path) -> None:
    made.write(
        tmp_path / "half",
        "spacenli@fresh",
        "m",
        made.entailment(4, 5),
        answered=0.5,
        finished=False,
    )
    with RunLog(tmp_path / "half"):
        found = client(tmp_path).get("/run/half/progress").json()
    assert (found["state"], found["done"], found["total"], found["share"]) == (
        "running",
        10,
        20,
        0.5,
    )


def test_progress_says_how_fast_all_workers_go_while_they_go(
    made: ModuleType, tmp_path: Path
) -> None:
    items = made.entailment(4, 5)
    made.write(tmp_path / "half", "spacenli@fresh", "m", items, answered=0.5, finished=False)
    viewer = client(tmp_path)
    assert viewer.get("/run/half/progress").json()["pace"] == ""
    workers = [WorkerPace("a", 4, 2.0), WorkerPace("b", 6, 2.0)]
    pace = Pace(asked=10, seconds=2.0, left=10, workers=workers, wanted=3, lost=1)
    PaceFile(tmp_path / "half").write(pace)
    told = "5.0 items/s · 2 of 3 workers, 2.0 to 3.0 each, 1 lost · 2 s left"
    with RunLog(tmp_path / "half"):
        assert viewer.get("/run/half/progress").json()["pace"] == told
        assert told in viewer.get("/run/half").text
        assert told in viewer.get("/").text
        assert viewer.get("/live").json()["runs"][0]["pace"] == told


def test_comparison_lists_exactly_the_items_that_differ(viewer: TestClient, runs: Path) -> None:
    one, two = (
        {i.id: a.choice for i, a in Run.open(runs / name).rows() if a}
        for name in ("good", "middling")
    )
    differing = sum(one[name] != two[name] for name in one)
    seen, address = 0, "/compare?a=good&b=middling"
    while address:
        page = viewer.get(address).text
        seen += page.split('id="differing"')[1].count("<tr><td>")
        following = page.partition('rel="next" href="')[2].partition('"')[0].replace("&amp;", "&")
        address = f"/compare{following}" if following else ""
    assert seen == differing > 50


def test_an_item_page_shows_all_models_answers(viewer: TestClient) -> None:
    page = viewer.get("/item", params={"benchmark": "spacenli@fresh", "id": "3-1"}).text
    for run in ("good", "middling", "guess"):
        assert f'<th scope="row"><a href="/run/{run}">' in page
    assert "entailment" in page


def test_an_answer_is_shown_with_the_rule_by_which_its_reply_was_read(tmp_path: Path) -> None:
    item = Item(id="1", form="choice", text="Is it?", choices=("yes", "no"), gold=("no",))
    answer = Answer(item="1", choice="no", reply="Nope, never.", rule="lead")
    manifest = SimpleNamespace(scale="none", asking=None, blind=False)
    run: Any = SimpleNamespace(path=tmp_path / "run", manifest=manifest)
    row = answer_row(run, item, answer)
    assert (row["reply"], row["rule"]) == ("Nope, never.", "lead")


@pytest.mark.parametrize(
    "address",
    [
        "/run/nothing",
        "/run/..%2Fgood",
        "/run/%2e%2e",
        "/item?benchmark=x&id=y",
        "/compare?a=good&b=nothing",
        "/etc/passwd",
        "/style.css/../run.json",
    ],
)
def test_what_is_not_there_is_not_found(viewer: TestClient, address: str) -> None:
    assert viewer.get(address).status_code == 404


def test_runs_on_other_benchmarks_are_not_compared(viewer: TestClient) -> None:
    answer = viewer.get("/compare?a=good&b=pairs")
    assert answer.status_code == 400
    assert "same benchmark" in answer.text


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize("address", ["/", "/run/good", "/compare", "/item", "/run/good/progress"])
def test_pages_take_no_forms(viewer: TestClient, method: str, address: str) -> None:
    assert viewer.request(method, address).status_code == 403
    answer = viewer.request(method, address, headers={"origin": "http://localhost:8765"})
    assert answer.status_code == 405


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "192.168.0.7", ""]
)
def test_other_names_than_loopback_are_refused(runs: Path, host: str) -> None:
    answer = client(runs).get("/", headers={"host": host})
    assert answer.status_code == 421
    assert "smollm2" not in answer.text


@pytest.mark.parametrize("host", ["localhost:1", "127.0.0.1:8765", "[::1]:9", "LOCALHOST"])
def test_loopback_names_are_answered(runs: Path, host: str) -> None:
    assert client(runs).get("/", headers={"host": host}).status_code == 200


def test_every_answer_carries_the_strict_policy(viewer: TestClient) -> None:
    for address in ("/", "/run/good", "/run/nothing", "/style.css", "/viewer.js"):
        headers = viewer.get(address).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"


def test_a_remote_viewer_lets_in_only_those_with_the_token(runs: Path) -> None:
    remote = client(runs, TOKEN, host="192.168.0.7")
    assert remote.get("/").status_code == 401
    assert remote.get("/", params={"token": "wrong"}).status_code == 401
    entered = remote.get("/", params={"token": TOKEN, "model": "smol"})
    assert entered.status_code == 303
    assert entered.headers["location"] == "/?model=smol"
    assert "httponly" in entered.headers["set-cookie"].lower()
    assert remote.get("/").status_code == 200  # the cookie is kept
    fresh = client(runs, TOKEN)
    assert fresh.get("/", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"allow_remote": False, "token": ""}, "--allow-remote"),
        ({"allow_remote": True, "token": ""}, "--token"),
        ({"allow_remote": False, "token": TOKEN}, "--allow-remote"),
        ({"allow_remote": True, "token": "short"}, "characters"),
    ],
)
@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.0.7", "::", "example.org"])
def test_it_does_not_listen_beyond_loopback_unasked(
    host: str, options: dict[str, Any], word: str
) -> None:
    with pytest.raises(UsageError) as refused:
        checked(host, **options)
    assert word in str(refused.value)


def test_the_command_refuses_remote_and_missing_folders(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["view", "--runs", str(runs), "--host", "0.0.0.0"]) == 2
    assert "--allow-remote" in capsys.readouterr().err
    assert main(["view", "--runs", "nowhere"]) == 2


def test_the_command_prints_its_address_and_serves(runs: Path) -> None:
    import httpx

    environment = {**os.environ, "PYTHONPATH": str(Path(gnomon.__file__).parent.parent)}
    with subprocess.Popen(
        [sys.executable, "-m", "gnomon", "view", "--runs", str(runs), "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().split()[2]
            assert address.startswith("http://127.0.0.1:")
            assert "smollm2" in httpx.get(address, trust_env=False, timeout=120).text
        finally:
            process.terminate()


def test_hostile_names_and_replies_are_text(made: ModuleType, tmp_path: Path) -> None:
    bad = '"><script>alert(1)</script>'
    items = [
        Item(
            id=f"{i}{bad}",
            form="choice",
            text=bad,
            context=bad,
            choices=("no", bad),
            gold=(bad,),
            group=bad,
            tags={bad: bad},
        )
        for i in range(3)
    ]
    for name in ("a", "b"):
        made.write(
            tmp_path / name,
            f"b{bad}@fresh",
            bad + name,
            items,
            replies=[bad],
            description={bad: bad},
            seed=ord(name),
        )
    viewer = client(tmp_path)
    pages = [
        "/",
        "/run/a",
        "/run/a/items",
        "/compare?a=a&b=b&sort=neither",
        "/compare?a=a&b=b&sort=both",
    ]
    texts = [viewer.get(address).text for address in pages]
    texts.append(viewer.get("/item", params={"benchmark": f"b{bad}@fresh", "id": f"0{bad}"}).text)
    texts.append(viewer.get(f"/run/{quote(bad.replace('/', ''))}").text)
    for text in texts:
        assert text.count("<script") == 1
        assert "&lt;script&gt;" in text


def test_what_many_ask_for_at_once_is_computed_once(
    made: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made.write(tmp_path / "run", "spacenli@fresh", "m", list(made.entailment(5, 5)))
    shelf = Shelf(tmp_path)
    (run,) = shelf.runs()
    inside, go_on, made_of = threading.Event(), threading.Event(), []

    def slowly(*_: Any) -> str:
        made_of.append(1)
        inside.set()
        assert go_on.wait(30)
        return "done"

    with ThreadPoolExecutor(20) as pool:
        first = pool.submit(shelf.keep, "thing", [run], slowly)
        assert inside.wait(30)
        others = [pool.submit(shelf.keep, "thing", [run], slowly) for _ in range(19)]
        go_on.set()
        assert {each.result(30) for each in [first, *others]} == {"done"}
    assert len(made_of) == 1


def test_what_failed_is_tried_again(made: ModuleType, tmp_path: Path) -> None:
    made.write(tmp_path / "run", "spacenli@fresh", "m", list(made.entailment(5, 5)))
    shelf = Shelf(tmp_path)
    (run,) = shelf.runs()
    with pytest.raises(ZeroDivisionError):
        shelf.keep("thing", [run], lambda: 1 // 0)
    assert shelf.keep("thing", [run], lambda: 2) == 2


def test_a_log_that_grew_is_read_again(made: ModuleType, tmp_path: Path) -> None:
    items = list(made.entailment(5, 5))
    made.write(tmp_path / "run", "spacenli@fresh", "m", items, answered=0.2, finished=False)
    shelf = Shelf(tmp_path)
    (run,) = shelf.runs()
    before = len(shelf.table(run))
    with RunLog(run.path) as log:
        number, item = log.pending(-1, 1)[0]
        log.add_answers([(number, Answer(item=item.id, choice=item.choices[0]))])
    assert len(shelf.table(run)) == before + 1


def test_memory_is_bounded_and_the_last_thing_asked_for_stays(
    made: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gnomon.reports.viewer.shelf.ROWS", 60)
    items = list(made.entailment(5, 5))
    for name in "abcd":
        made.write(tmp_path / name, "spacenli@fresh", name, items)
    shelf = Shelf(tmp_path)
    tables = [shelf.table(run) for run in shelf.runs()]
    assert [len(table) for table in tables] == [25] * 4
    assert sum(kept.rows for kept in shelf._kept.values()) <= 60
    last = shelf.runs()[-1]
    assert shelf.table(last) is tables[-1]


@pytest.mark.parametrize("host", ["127.0.0.2", "[::1]"])
def test_an_address_of_this_machine_is_answered(runs: Path, host: str) -> None:
    assert client(runs, host=host).get("/").status_code == 200


@pytest.mark.parametrize("header", ["[::1].evil.example", "localhost:evil", "[::1", "", "::1:x"])
def test_what_is_no_host_is_refused(viewer: TestClient, header: str) -> None:
    assert viewer.get("/", headers={"host": header}).status_code == 421


def test_a_token_that_was_given_is_asked_for_on_this_machine_too(runs: Path) -> None:
    assert checked("127.0.0.1", allow_remote=False, token=TOKEN) == TOKEN
    guarded = client(runs, token=TOKEN)
    assert guarded.get("/").status_code == 401
    assert guarded.get("/", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200


@pytest.mark.parametrize("token", ["a", "sesame sesame sesame", "tökentökentökentöken", "a&b" * 9])
def test_a_token_must_be_long_and_fit_into_an_address(token: str) -> None:
    with pytest.raises(UsageError, match="token"):
        checked("127.0.0.1", allow_remote=False, token=token)


@pytest.mark.parametrize("path", ["//evil.example", "///evil.example/x", "/run/x"])
def test_the_token_is_taken_off_by_a_redirect_to_this_site_only(runs: Path, path: str) -> None:
    answer = client(runs, token=TOKEN).get(
        f"http://localhost:8765{path}", params={"token": TOKEN, "a": "b"}
    )
    assert answer.status_code == 303
    assert re.fullmatch(r"/[^/].*\?a=b", answer.headers["location"])


def test_a_wrong_token_of_any_letters_is_refused(runs: Path) -> None:
    assert client(runs, token=TOKEN).get("/", params={"token": "tökën\u202e"}).status_code == 401


@pytest.fixture
def served(runs: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, int]]:
    """A real server in a thread, that loses patience soon and holds few connections."""
    uvicorn = pytest.importorskip("uvicorn", reason="the extra 'report' is not installed")
    monkeypatch.setattr(web, "PATIENCE", 0.2)
    monkeypatch.setattr(web, "CONNECTIONS", 5)
    listener = web.listen("127.0.0.1", 0)
    config = uvicorn.Config(
        make_app(str(runs)), http=web.impatient_protocol(), lifespan="off", log_level="critical"
    )
    server = uvicorn.Server(config)
    server.install_signal_handlers = lambda: None
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    yield listener.getsockname()
    server.should_exit = True
    thread.join(30)


def test_a_client_that_sends_no_request_is_cut_off(served: tuple[str, int]) -> None:
    for beginning in (b"", b"GET / HT", b"GET /style.css HTTP/1.1\r\nHost: localhost\r\nX: "):
        with socket.create_connection(served, timeout=30) as half_open:
            half_open.sendall(beginning)
            with suppress(ConnectionResetError):
                assert half_open.recv(1) == b""


def test_more_connections_than_it_can_hold_are_closed_and_it_stays_available(
    served: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    many = [socket.create_connection(served, timeout=30) for _ in range(40)]
    for each in many:
        with suppress(ConnectionResetError):
            assert each.recv(1) == b"", "cut off: too many, or too slow"
        each.close()
    monkeypatch.setattr(web, "PATIENCE", 30.0)  # a busy machine may be slow to send this one
    answer = httpx.get(f"http://{served[0]}:{served[1]}/style.css", timeout=30)
    assert answer.status_code == 200


HALF_A_FORM = (
    b"POST /run/a/note HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nContent-Length: 9\r\n"
    b"Content-Type: application/x-www-form-urlencoded\r\n\r\na="
)


@pytest.mark.parametrize("beginning", [b"", b"GET /style.css HT", HALF_A_FORM])
def test_half_open_connections_of_one_address_lock_no_other_client_out(
    served: tuple[str, int], monkeypatch: pytest.MonkeyPatch, beginning: bytes
) -> None:
    monkeypatch.setattr(web, "PATIENCE", 60.0)  # none of them is closed for being slow
    monkeypatch.setattr(web, "CONNECTIONS", 40)
    many = [socket.create_connection(served, timeout=30) for _ in range(300)]
    for each in many:
        with suppress(OSError):  # closed already, in favour of the others
            each.sendall(beginning)
    elsewhere = httpx.HTTPTransport(local_address="127.0.0.2")
    with httpx.Client(transport=elsewhere, timeout=30) as other:
        for _ in range(3):
            assert other.get(f"http://127.0.0.1:{served[1]}/style.css").status_code == 200
    for each in many:
        each.close()


def test_a_log_that_is_a_link_in_a_circle_is_a_page_that_says_so(
    runs: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "runs"
    shutil.copytree(runs / "good", folder / "good")
    (folder / "good" / "answers.sqlite").unlink()
    (folder / "good" / "answers.sqlite").symlink_to("answers.sqlite")
    assert client(folder).get("/").status_code == 200
    assert client(folder).get("/run/good").status_code == 400


def test_sharing_makes_a_token_lets_others_look_and_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gnomon.cli import main
    from gnomon.reports.viewer import serving

    asked: dict[str, Any] = {}
    monkeypatch.setattr(serving, "serve", lambda folder, **options: asked.update(options))
    assert main(["view", "--runs", str(tmp_path), "--share"]) == 0
    assert asked["host"] == "0.0.0.0"
    assert asked["allow_remote"]
    assert asked["read_only"]
    first = asked["token"]
    assert serving.checked("0.0.0.0", allow_remote=True, token=first) == first
    assert main(["view", "--runs", str(tmp_path), "--share"]) == 0
    assert asked["token"] != first
    monkeypatch.setenv(serving.TOKEN, first)
    assert main(["view", "--runs", str(tmp_path), "--share", "--host", "localhost"]) == 0
    assert (asked["host"], asked["token"]) == ("0.0.0.0", first)
    assert main(["view", "--runs", str(tmp_path)]) == 0
    assert (asked["host"], asked["token"], asked["read_only"]) == ("127.0.0.1", "", False)
