"""Several servers with one model: the least busy is asked, one that fails rests, none is a loss."""

from __future__ import annotations

import socket
import sys
import threading
from collections import Counter
from contextlib import ExitStack
from hashlib import sha256
from zlib import crc32

import pytest

import gnomon
from gnomon.cli.dispatch import main
from gnomon.errors import ModelError, UsageError
from gnomon.items.source import load
from gnomon.models.servers.openai import addresses_from, openai
from gnomon.models.servers.refusals import PassingError
from gnomon.models.servers.remote import ServerPool
from gnomon.runs import Run
from tests.models.servers.conftest import in_a_loop

pytest.importorskip("httpx")
PATIENCE = 100  # seconds that a server waits for another one, on a busy machine


@pytest.fixture
def ask_all(serve):
    """A model behind all these servers."""
    models = []

    def start(*servers, **options):
        addresses = " ".join(server.url for server in servers)
        model = openai("fake", base_url=addresses, **{"timeout": 60.0, **options})
        model.for_run("one run")
        models.append(model)
        return model

    yield start
    for model in models:
        model.close()


@pytest.fixture
def nobody():
    """The address of a port where nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    return f"http://127.0.0.1:{port}/v1"


def by_prompt(body):
    """A reply that depends on the question alone, as that of one model does."""
    said = body["messages"][-1]["content"]
    return "larger" if crc32(said.encode()) % 2 else "smaller"


def sometimes(number, prompt):
    """A fault in 30 of 100 requests, the same whatever their order."""
    return "broken" if sha256(f"{number} {prompt}".encode()).digest()[0] < 0.3 * 256 else ""


def test_every_item_is_answered_once_by_a_slow_a_failing_and_a_dying_server(serve, ask_all, items):
    alone = ask_all(serve(reply=by_prompt), cache=False).answer(items(200))

    may_reply, is_gone = threading.Event(), threading.Event()

    def late(body):
        """The slow one gives its first replies when much is done."""
        may_reply.wait(PATIENCE)
        return by_prompt(body)

    def dies(number, prompt):
        """Gone after 20 requests, amid the work."""
        if dying.seen.total() <= 20:
            return ""
        is_gone.set()
        threading.Thread(target=dying.close, daemon=True).start()
        return "cut"

    def replies(body):
        """The failing one does half of the work, but not all of it before the other is gone."""
        if failing.served.total() > 60:
            is_gone.wait(PATIENCE)
        if failing.served.total() > 100:
            may_reply.set()
        return by_prompt(body)

    slow = serve(reply=late)
    failing = serve(reply=replies, fault=sometimes)
    dying = serve(reply=by_prompt, fault=dies)
    how = {"concurrency": 4, "attempts": 15, "timeout": 2 * PATIENCE, "cache": False}
    model = ask_all(slow, failing, dying, **how)
    answers = model.answer(items(200))

    said = [(answer.item, answer.choice, answer.error) for answer in answers]
    assert said == [(answer.item, answer.choice, None) for answer in alone]
    served = slow.served + failing.served + dying.served
    assert len(served) == 200
    assert set(served.values()) == {1}, "nothing that was answered is asked again"
    assert failing.faults["broken"] > 0, "it did fail"
    assert dying.served.total() <= 20 < dying.seen.total(), "it did die"
    assert 1 <= slow.served.total() < failing.served.total(), "the slow one was asked less"


def test_an_idle_fleet_shares_the_work_evenly(serve, ask_all, items):
    all_at_work = threading.Barrier(3)

    def reply(body):
        """Nobody is faster than the others: each waits until all have something to do."""
        all_at_work.wait(PATIENCE)
        return "smaller"

    servers = [serve(reply=reply) for _ in range(3)]
    answers = ask_all(*servers, concurrency=1, timeout=2 * PATIENCE).answer(items(90))
    assert [answer.choice for answer in answers] == ["smaller"] * 90
    counts = [server.served.total() for server in servers]
    assert counts == [30, 30, 30]


def test_each_server_gets_as_many_requests_at_a_time_as_one_alone(serve, ask_all, items):
    most, now = Counter(), Counter()
    lock = threading.Lock()

    def counted(name):
        def reply(body):
            with lock:
                now[name] += 1
                most[name] = max(most[name], now[name])
            threading.Event().wait(0.002)
            with lock:
                now[name] -= 1
            return "smaller"

        return reply

    servers = [serve(reply=counted(name)) for name in "ab"]
    ask_all(*servers, concurrency=3).answer(items(60))
    assert set(most) == {"a", "b"}
    assert max(most.values()) <= 3


def test_a_server_that_is_not_there_is_passed_over(serve, ask_all, items, nobody):
    server = serve()
    answers = openai("fake", base_url=f"{nobody} {server.url}", attempts=1)
    try:
        found = answers.answer(items(40))
    finally:
        answers.close()
    assert [answer.choice for answer in found] == ["smaller"] * 40
    assert set(server.served.values()) == {1}


def test_a_run_ends_with_the_usual_error_if_nobody_is_there(serve, items, nobody):
    other = nobody.replace("127.0.0.1", "localhost")
    model = openai("fake", base_url=f"{nobody} {other}", attempts=3)
    try:
        with pytest.raises(ModelError, match=r"None of .* can be reached") as caught:
            model.answer(items(2))
    finally:
        model.close()
    assert nobody in caught.value.message
    assert other in caught.value.message
    assert "--base-url" in caught.value.hint


@pytest.fixture
def silent():
    """The address of a host that answers nothing at all: its queue of connections is full."""
    with ExitStack() as opened:
        host = opened.enter_context(socket.socket())
        host.bind(("127.0.0.1", 0))
        host.listen(0)
        for _ in range(4):
            client = opened.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(host.getsockname())
        yield f"http://127.0.0.1:{host.getsockname()[1]}/v1"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a full queue refuses")
def test_a_host_that_answers_nothing_at_all_cannot_be_reached(serve, items, silent):
    model = openai("fake", base_url=silent, attempts=2, timeout=0.2)
    try:
        with pytest.raises(ModelError, match="be reached"):
            model.answer(items(2))
    finally:
        model.close()


def test_an_item_fails_only_after_all_attempts_at_all_servers(serve, ask_all, items):
    servers = [serve(fault=lambda *_: "broken") for _ in range(2)]
    (answer,) = ask_all(*servers, attempts=4).answer(items(1))
    assert answer.error == "the server answered 500: oops (4 attempts)"
    assert [server.seen.total() for server in servers] == [2, 2], "they are tried in turn"


def test_a_server_that_refuses_the_key_is_named(serve, ask_all, items):
    good = serve()
    wrong = serve(fault=lambda *_: (401, {"error": {"message": "no"}}))
    with pytest.raises(ModelError, match="refuses the key") as caught:
        ask_all(good, wrong, cache=False).answer(items(20))
    assert caught.value.message.startswith(wrong.url)


def test_what_one_server_answered_is_known_to_all(serve, ask_all, ask, items):
    one, two = serve(), serve()
    ask(one).answer(items(10))
    ask_all(two, one).answer(items(20))
    assert two.seen.total() + one.seen.total() == 20, "ten of one alone, ten of both"
    ask_all(one, two).answer(items(20))
    assert two.seen.total() + one.seen.total() == 20, "all are known"
    assert ask_all(one, two).spending.tokens == 0


def test_costs_are_those_of_all_servers(serve, ask_all, items):
    servers = [serve(), serve()]
    model = ask_all(*servers, price_input=1.0, price_output=1.0, cache=False)
    model.answer(items(30))
    assert model.spending.tokens == 30 * 52
    assert model.spending.cost == pytest.approx(30 * 52 / 1e6)


def test_the_manifest_names_all_servers_and_no_password(serve, tmp_path, monkeypatch):
    one, two = serve(), serve()
    secret = two.url.replace("://", "://me:canary-word@")
    monkeypatch.chdir(tmp_path)
    command = ["run", "scales", "-m", "openai:fake", "--limit", "8", "--quiet"]
    assert main([*command, "--base-url", one.url, "--base-url", secret]) == 0
    (folder,) = (tmp_path / "runs").iterdir()
    run = Run.open(folder)
    hidden = two.url.replace("://", "://***@")
    assert run.manifest.model_description["base_url"] == [one.url, hidden]
    assert run.manifest.model_options["base_url"] == f"{one.url} {hidden}"
    assert (run.manifest.counts.asked, run.manifest.counts.errors) == (8, 0)
    assert "canary-word" not in (folder / "run.json").read_text()
    assert one.served.total() + two.served.total() == 8


def test_a_run_of_several_servers_goes_on_where_it_stopped(serve, tmp_path):
    one, two = serve(), serve()
    model = gnomon.model("openai:fake", base_url=f"{one.url} {two.url}", cache=False)
    source = load("scales").limited(8)
    first = gnomon.run(source, model, runs=tmp_path)
    again = gnomon.run(source, model, runs=tmp_path)
    assert again.manifest.finished == first.manifest.finished
    assert one.served.total() + two.served.total() == 8


def test_addresses_are_given_with_spaces_or_commas_and_none_counts_twice(monkeypatch):
    one, two = "http://one:1/v1", "https://me:a,b@two:2/v1"
    assert addresses_from(f"{one},{two}") == [one, two]
    assert addresses_from(f" {one}  {two} {one}") == [one, two]
    monkeypatch.setenv("OPENAI_BASE_URL", f"{one} {two}")
    assert addresses_from("") == [one, two]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("http://one:1/v1 ftp://two/v1", "not a web address"),
        ("http://one:1/v1,two:2/v1", "comma"),
    ],
)
def test_an_address_that_is_none_is_refused(given, told):
    with pytest.raises(UsageError, match=told):
        addresses_from(given)


class Still:
    """A server without a network, and a clock that is set by hand."""

    def __init__(self):
        self.under_way = self.asked = self.faults = 0
        self.hold = 0.0


def test_a_failing_server_rests_for_longer_each_time_and_is_then_asked_one_thing():
    now = [100.0]
    well, ill = Still(), Still()
    fleet = ServerPool([well, ill], 8, lambda: now[0])
    rests = []
    for _ in range(9):
        fleet.rest(ill, PassingError("broken"), 1.0)
        fleet.rest(ill, PassingError("what was under way fails too"), 1.0)
        rests.append(ill.hold - now[0])
        assert in_a_loop(fleet.choose()) is well, "it rests"
        now[0] = ill.hold
        with fleet.asking(well):
            assert in_a_loop(fleet.choose()) is ill, "rested"
        with fleet.asking(ill):
            assert in_a_loop(fleet.choose()) is well, "one question at a time"
    for rest, longest in zip(rests, (1, 2, 4, 8, 16, 32, 60, 60, 60), strict=True):
        assert longest / 2 <= rest <= longest
    ill.faults = 0
    with fleet.asking(ill), fleet.asking(well), fleet.asking(well):
        assert in_a_loop(fleet.choose()) is ill, "well again, and the least busy"


def test_a_server_rests_as_long_as_it_asks_for():
    well, ill = Still(), Still()
    fleet = ServerPool([well, ill], 8, lambda: 100.0)
    fleet.rest(ill, PassingError("busy", pause=7.0), 1.0)
    assert ill.hold == 107.0


def test_a_run_stops_where_it_would_with_one_request_at_a_time(serve):
    looks = []
    for concurrency in (1, 8):
        server = serve(reply=by_prompt, fault=sometimes)
        model = gnomon.model(
            "openai:fake", base_url=server.url, concurrency=concurrency, attempts=12, cache=False
        )
        run = gnomon.run("scales", model, until=9, runs=f"by{concurrency}")
        assert not run.manifest.counts.errors
        looks.append(run.manifest.last_look)
    assert looks[0] == looks[1]
    assert looks[0].verdict == "narrow"
