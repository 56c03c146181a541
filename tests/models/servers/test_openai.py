"""Models behind a server, against a local one that misbehaves in every way that servers do."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter, defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from zlib import crc32

import msgspec
import pytest

from gnomon.errors import ModelError, UsageError
from gnomon.models.servers import remote
from gnomon.models.servers.completions import echo_score, scores_of
from gnomon.models.servers.openai import OpenAI, openai
from gnomon.models.servers.remote import Budget, retry_after
from gnomon.records import Item

pytest.importorskip("httpx")
KEY = "sk-test-0123456789abcdef"
FAULTS = (
    "busy",
    "broken",
    "cut",
    "garbled",
    "empty",
    "busy",
    "broken",
    "cut",
    "garbled",
    "empty",
    "drip",
)


class FakeServer:
    """Answers "smaller" to all; `fault(request number, prompt)` names what goes wrong instead."""

    def __init__(self, fault=lambda seen, prompt: "", reply="smaller", logprobs=None):
        self.fault, self.reply, self.logprobs = fault, reply, logprobs
        self.seen, self.served, self.bodies, self.keys = Counter(), Counter(), [], set()
        self.faults = Counter()
        self.stop = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # else each reply waits 40 ms for its second packet

            def do_POST(self):
                outer.handle(self)

            def log_message(self, *_):
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, *_):  # the client hung up, as it should
                pass

        self.http = Server(("127.0.0.1", 0), Handler)
        threading.Thread(
            target=self.http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        ).start()
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/v1"

    def close(self):
        self.stop.set()
        self.http.shutdown()
        self.http.server_close()

    def handle(self, request):
        body = json.loads(request.rfile.read(int(request.headers["Content-Length"])))
        prompt = body["messages"][-1]["content"] if "messages" in body else body["prompt"]
        self.keys.add(request.headers.get("Authorization"))
        self.bodies.append(body)
        number = self.seen[prompt]
        self.seen[prompt] += 1
        fault = self.fault(number, prompt)
        self.faults[str(fault)] += 1
        if fault == "busy":
            return self.send(
                request, 429, {"error": {"message": "slow down"}}, {"Retry-After": "0"}
            )
        if fault == "broken":
            return self.send(request, 500, {"error": {"message": "oops"}})
        if fault == "garbled":
            return self.send(request, 200, b'{"choices": [{"mess')
        if fault == "empty":
            return self.send(request, 200, {"choices": []})
        if fault == "cut":
            request.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{")
            request.close_connection = True
            return None
        if fault in (
            "drip",
            "endless drip",
        ):  # a byte now and then; the connection is never finished
            request.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
            for _ in range(5 if fault == "drip" else 500):
                request.wfile.write(b" ")
                request.wfile.flush()
                self.stop.wait(0.02)
            request.close_connection = True
            return None
        if isinstance(fault, tuple):
            return self.send(request, *fault)
        self.served[prompt] += 1
        reply = self.reply(body) if callable(self.reply) else self.reply
        choice = (
            reply
            if isinstance(reply, dict)
            else {"message": {"role": "assistant", "content": reply}}
        )
        if self.logprobs and body.get("logprobs"):
            choice = {**choice, "logprobs": self.logprobs}
        usage = {"prompt_tokens": 50, "completion_tokens": 2}
        return self.send(request, 200, {"choices": [choice], "usage": usage})

    def send(self, request, status, body, headers=()):
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        request.send_response(status)
        for name, value in dict(headers).items():
            request.send_header(name, value)
        request.send_header("Content-Length", str(len(raw)))
        request.end_headers()
        request.wfile.write(raw)


@pytest.fixture
def serve(monkeypatch, tmp_path):
    monkeypatch.setattr(remote, "FIRST_PAUSE", 0.001)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    servers = []

    def start(**options):
        servers.append(FakeServer(**options))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def ask(serve):
    models = []

    def start(server, **options) -> OpenAI:
        model = openai("fake", base_url=server.url, **{"timeout": 10.0, **options})
        models.append(model)
        return model

    yield start
    for model in models:
        model.close()


def items(count=1):
    return [
        Item(
            id=str(n),
            form="cloze",
            text=f"Thing {n} is [MASK] than a house.",
            choices=("larger", "smaller"),
            gold=("smaller",),
        )
        for n in range(count)
    ]


def often(number, prompt):
    """A fault in 30 of 100 requests, the same whatever the order of requests."""
    drawn = crc32(f"{number} {prompt}".encode()) % 1000
    return FAULTS[drawn % len(FAULTS)] if drawn < 300 else ""


class Clock:
    """Instead of a clock: the pauses that each request makes, none of them waited for, and the time
    each may take."""

    def __init__(self, monkeypatch):
        self.pauses, self.allowed = defaultdict(list), []
        grant = asyncio.timeout

        def timeout(seconds):
            self.allowed.append(seconds)
            return grant(seconds)

        monkeypatch.setattr(remote.asyncio, "timeout", timeout)
        monkeypatch.setattr(remote, "FIRST_PAUSE", 1.0)

    def watch(self, model):
        async def wait(seconds):
            self.pauses[asyncio.current_task()].append(seconds)
            await asyncio.sleep(0)

        model._remote._wait = wait
        return model


def test_a_thousand_items_through_a_server_that_fails_three_times_in_ten(serve, ask, monkeypatch):
    server, clock = serve(fault=often), Clock(monkeypatch)
    model = clock.watch(ask(server, concurrency=16, timeout=60.0, attempts=6))
    asked = items(1000)
    answers = model.answer(asked)
    assert [answer.item for answer in answers] == [item.id for item in asked]
    assert all(answer.choice == "smaller" or answer.error for answer in answers)
    assert sum(answer.choice == "smaller" for answer in answers) >= 990
    assert set(server.served.values()) == {1}, "none is asked again after success"
    assert all(server.faults[fault] > 10 for fault in FAULTS), "every kind of fault occurred"
    assert 0.25 < 1 - server.faults[""] / server.faults.total() < 0.35
    # Its time is bounded: by how often the server is asked, how long a reply may take, how often
    # and long one waits.
    assert max(server.seen.values()) <= 6
    assert server.faults.total() == len(clock.allowed) <= 1000 / (1 - 0.3) * 1.05
    assert set(clock.allowed) == {60.0}
    assert max(map(len, clock.pauses.values())) <= 5
    assert max(map(sum, clock.pauses.values())) <= 1 + 2 + 4 + 8 + 16


def test_a_reply_that_drips_in_for_ever_is_cut_off(serve, ask, monkeypatch):
    server, clock = serve(fault=lambda *_: "endless drip"), Clock(monkeypatch)
    (answer,) = clock.watch(ask(server, timeout=0.2, attempts=3)).answer(items(1))
    assert answer.error == "no whole reply within 0.2 s (3 attempts)"
    assert clock.allowed == [0.2] * 3
    assert server.seen.total() == 3


def test_a_server_that_asks_for_patience_without_end_gets_a_minute_before_each_attempt(
    serve, ask, monkeypatch
):
    server, clock = serve(fault=lambda *_: (503, {}, {"Retry-After": "100000"})), Clock(monkeypatch)
    answers = clock.watch(ask(server, attempts=4, timeout=5.0)).answer(items(20))
    assert all(answer.error == "the server answered 503: {} (4 attempts)" for answer in answers)
    assert max(server.seen.values()) == 4
    for pauses in (
        clock.pauses.values()
    ):  # before the first attempt too, if the server has told others to wait
        assert len(pauses) <= 4
        assert max(pauses) <= 60
    assert max(map(sum, clock.pauses.values())) >= 3 * 60 - 1, "what the server asks for is obeyed"


def test_order_and_company_do_not_change_answers(serve, ask):
    server = serve(
        fault=often,
        reply=lambda body: "larger" if crc32(json.dumps(body).encode()) % 2 else "smaller",
    )
    model = ask(server, concurrency=8, timeout=60.0, cache=False)
    asked = items(40)
    together = {answer.item: answer for answer in model.answer(asked)}
    other = ask(server, concurrency=3, timeout=60.0, cache=False)
    backwards = {answer.item: answer for answer in other.answer(asked[::-1])}
    assert together == backwards


def test_a_second_run_costs_nothing(serve, ask):
    server = serve()
    first = ask(server).answer(items(20))
    again = ask(server)
    assert again.answer(items(20)) == first
    assert sum(server.seen.values()) == 20
    assert again.spending.tokens == 0


def test_another_model_or_server_never_gets_these_replies(serve, ask):
    server, other = serve(), serve(reply="larger")
    ask(server).answer(items(3))
    assert [answer.choice for answer in ask(other).answer(items(3))] == ["larger"] * 3


def test_an_item_that_never_succeeds_is_listed_and_the_others_go_on(serve, ask):
    server = serve(fault=lambda _, prompt: "broken" if "Thing 2 " in prompt else "")
    answers = ask(server, attempts=3).answer(items(4))
    assert [answer.choice for answer in answers] == ["smaller", "smaller", None, "smaller"]
    assert answers[2].error == "the server answered 500: oops (3 attempts)"


def test_pauses_double_up_to_a_minute(serve, ask, monkeypatch):
    server, clock = serve(fault=lambda *_: "broken"), Clock(monkeypatch)
    clock.watch(ask(server, attempts=9)).answer(items(1))
    (pauses,) = clock.pauses.values()
    assert len(pauses) == 8
    for pause, most in zip(pauses, (1, 2, 4, 8, 16, 32, 60, 60), strict=True):
        assert most / 2 <= pause <= most


def test_retry_after_is_obeyed(serve, ask, monkeypatch):
    server, clock = (
        serve(fault=lambda seen, _: "" if seen else (503, {}, {"Retry-After": "7"})),
        Clock(monkeypatch),
    )
    assert clock.watch(ask(server)).answer(items(1))[0].choice == "smaller"
    assert list(clock.pauses.values()) == [[7]]


def test_retry_after_is_read_in_both_its_forms_and_bounded():
    assert retry_after("3") == 3
    assert retry_after("100000") == 60
    assert retry_after("-1") == 0
    assert retry_after("nan") is None
    assert retry_after("Wed, 21 Oct 2015 07:28:00 GMT") == 0
    assert retry_after("whenever") is None
    assert retry_after(None) is None


@pytest.mark.parametrize(
    ("status", "says"),
    [
        (401, "refuses the key"),
        (403, "refuses the key"),
        (404, "no such model"),
        (402, "no money left"),
    ],
)
def test_what_will_not_pass_ends_the_run(serve, ask, status, says):
    server = serve(
        fault=lambda *_: (status, {"error": {"message": f"Incorrect API key provided: {KEY}."}})
    )
    with pytest.raises(ModelError, match=says) as caught:
        ask(server).answer(items(5))
    assert KEY not in str(caught.value)


def test_spent_quota_is_not_tried_again(serve, ask):
    server = serve(
        fault=lambda *_: (429, {"error": {"message": "quota", "code": "insufficient_quota"}})
    )
    with pytest.raises(ModelError, match="no money left"):
        ask(server, concurrency=1).answer(items(1))
    assert sum(server.seen.values()) == 1


def test_a_server_that_is_gone_ends_the_run(serve, ask):
    server = serve()
    model = ask(server, attempts=2)
    server.close()
    with pytest.raises(ModelError, match="cannot be reached"):
        model.answer(items(3))


def test_the_key_goes_to_the_server_and_nowhere_else(serve, ask, tmp_path, capfd):
    complaint = (400, {"error": {"message": f"bad key Bearer {KEY}"}})
    server = serve(fault=lambda seen, prompt: complaint if "Thing 1" in prompt else "")
    model = ask(server)
    answers = model.answer(items(2))
    assert server.keys == {f"Bearer {KEY}"}
    kept = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    shown = capfd.readouterr()
    for text in (
        repr(answers),
        json.dumps(model.describe()),
        str(kept),
        shown.out,
        shown.err,
        repr(model.__dict__),
    ):
        assert KEY not in text
    assert answers[1].error is not None


def test_a_password_in_the_address_is_not_shown(serve, ask):
    server = serve()
    server.url = "http://me:secret@localhost/v1?key=secret"
    model = ask(server)
    assert "secret" not in json.dumps(model.describe())
    assert "secret" not in model._remote.discreet("failed at http://me:secret@localhost/v1")


def test_money_budget_stops_before_it_is_exceeded_and_what_was_answered_is_kept(serve, ask):
    server = serve()
    model = ask(
        server, concurrency=1, max_cost=0.01, price_input=100.0, price_output=100.0, reply_tokens=4
    )
    with pytest.raises(ModelError, match="budget is spent"):
        model.answer(items(100))
    assert 0 < model.spending.cost <= 0.01
    paid = sum(server.served.values())
    assert model.spending.cost == pytest.approx(paid * 52 * 100 / 1e6)
    richer = ask(
        server, concurrency=1, max_cost=1.0, price_input=100.0, price_output=100.0, reply_tokens=4
    )
    assert len(richer.answer(items(100))) == 100
    assert set(server.served.values()) == {1}


def test_a_run_whose_budget_is_spent_goes_on_in_its_folder_with_a_larger_one(serve, tmp_path):
    from gnomon import engine
    from gnomon.itemsource import load
    from gnomon.registry import model
    from gnomon.runs import runs_in

    server, source, runs = serve(), load("scales", form="cloze").limited(60), tmp_path / "runs"
    prices = {"price_input": 100.0, "price_output": 100.0}
    common = {"base_url": server.url, "reply_tokens": 4, "concurrency": 1}
    with pytest.raises(ModelError, match="budget is spent"):
        engine.run(source, model("openai:fake", max_cost=0.2, **prices, **common), runs=runs)
    (stopped,) = runs_in(runs)
    assert stopped.manifest.model_options == {"max_cost": 0.2, **prices, **common}
    assert 0 < stopped.counts().asked < 60
    run = engine.run(
        source, model("openai:fake", max_cost=9.0, attempts=3, **prices, **common), runs=runs
    )
    assert [each.path for each in runs_in(runs)] == [stopped.path] == [run.path]
    assert run.counts().asked == 60
    assert run.manifest.model_options == {"max_cost": 9.0, "attempts": 3, **prices, **common}
    assert set(server.served.values()) == {1}, "nothing is paid for twice"
    assert (
        engine.run_folder(source, model("openai:fake", prompt="multiple-choice", **common), runs)
        != run.path
    )


def test_a_token_budget_counts_what_servers_report():
    budget = Budget(max_tokens=100)
    budget.reserve(30, 10)
    budget.settle((30, 10), (20, 5))
    assert budget.tokens == 25
    with pytest.raises(ModelError, match="25 of 100 tokens"):
        budget.reserve(80, 1)


def test_logprobs_of_the_first_token_score_the_choices(serve, ask):
    likely = {"Smaller": -0.2, "larger": -2.0, "Big": -5.0}
    tokens = [{"token": token, "logprob": value} for token, value in likely.items()]
    logprobs = {"content": [{**tokens[0], "top_logprobs": tokens}]}
    (answer,) = ask(serve(reply="Smaller", logprobs=logprobs)).answer(items(1))
    assert answer.choice == "smaller"
    assert answer.scores == (-2.0, -0.2)
    assert answer.reply == "Smaller"


def test_a_reply_that_begins_otherwise_is_read(serve, ask):
    logprobs = {
        "content": [
            {
                "token": "The",
                "logprob": -0.2,
                "top_logprobs": [{"token": "larger", "logprob": -1.0}],
            }
        ]
    }
    (answer,) = ask(serve(reply="The answer is smaller.", logprobs=logprobs)).answer(items(1))
    assert (answer.choice, answer.scores) == ("smaller", None)


def test_scores_bound_what_is_not_among_the_alternatives():
    first, second = scores_of({"yes": -0.1, "Yes": -3.0}, [["yes"], ["no"]])
    assert first > -0.1
    assert second <= -3.0
    assert scores_of({"t": -0.1}, [["true"], ["two"]]) is None, (
        "a token that begins two answers decides nothing"
    )
    assert scores_of({}, [["yes"], ["no"]]) is None


def test_refusals_and_unreadable_replies_are_kept_but_not_guessed(serve, ask):
    refusal = {
        "message": {"role": "assistant", "content": None, "refusal": "I cannot help with that."}
    }
    (answer,) = ask(serve(reply=refusal)).answer(items(1))
    assert (answer.choice, answer.error, answer.reply) == (None, None, "I cannot help with that.")
    (answer,) = ask(serve(reply="Who knows?")).answer(items(1))
    assert (answer.choice, answer.reply) == (None, "Who knows?")


@pytest.mark.parametrize(
    ("word", "option"), [("logprobs", "logprobs"), ("temperature", "temperature")]
)
def test_a_parameter_that_the_server_does_not_take_is_left_out(serve, ask, word, option):
    server = serve()
    complaint = (400, {"error": {"message": f"{word} is not supported"}})
    server.fault = lambda *_: complaint if option in server.bodies[-1] else ""
    assert ask(server, concurrency=1).answer(items(3))[2].choice == "smaller"
    assert option not in server.bodies[-1]
    assert sum(server.seen.values()) == 4


def test_newer_models_get_the_newer_name_of_the_length_limit(serve, ask):
    server = serve()
    complaint = {
        "error": {
            "message": "Unsupported parameter: use 'max_completion_tokens' instead of 'max_tokens'."
        }
    }
    server.fault = lambda *_: (400, complaint) if "max_tokens" in server.bodies[-1] else ""
    assert ask(server, concurrency=1).answer(items(1))[0].choice == "smaller"
    assert "max_completion_tokens" in server.bodies[-1]


def test_completions_with_echo_score_every_answer_whole(serve, ask):
    def echo(body):
        prompt = body["prompt"]
        cut = prompt.index(" is") + 3
        value = -1.0 if "smaller" in prompt else -2.5
        return {
            "text": prompt,
            "logprobs": {
                "tokens": ["…", "…", "…"],
                "text_offset": [0, cut, cut + 4],
                "token_logprobs": [None, value, -0.5],
            },
        }

    (answer,) = ask(serve(reply=echo), endpoint="completion", echo=True).answer(items(1))
    assert answer.scores == (-3.0, -1.5)
    assert answer.choice == "smaller"


def test_echo_score_takes_the_token_that_straddles_the_border():
    logprobs = {"text_offset": [0, 3, 8], "token_logprobs": [None, -1.0, -2.0]}
    assert echo_score(logprobs, 3) == -3.0
    assert echo_score(logprobs, 5) == -3.0
    assert echo_score(logprobs, 8) == -2.0


def test_a_completion_server_that_does_not_echo_is_named_as_such(serve, ask):
    with pytest.raises(ModelError, match="does not echo"):
        ask(serve(reply={"text": "x"}), endpoint="completion", echo=True).answer(items(1))


def test_completions_read_the_text_and_its_alternatives(serve, ask):
    reply = {
        "text": " smaller than",
        "logprobs": {
            "tokens": [" smaller"],
            "token_logprobs": [-0.3],
            "top_logprobs": [{" smaller": -0.3, " larger": -1.4}],
        },
    }
    server = serve(reply=reply)
    (answer,) = ask(server, endpoint="completion").answer(items(1))
    assert answer.scores == (-1.4, -0.3)
    assert server.bodies[0]["prompt"].endswith("Thing 0 is")


@pytest.mark.parametrize(
    "reply", [{"message": 3}, {"message": {"content": "x"}, "logprobs": {"content": [3]}}]
)
def test_replies_of_another_shape_are_faults_not_crashes(serve, ask, reply):
    (answer,) = ask(serve(reply=reply), attempts=2).answer(items(1))
    assert "not as an OpenAI-compatible server writes it" in answer.error


def test_options_that_do_not_fit_are_refused():
    with pytest.raises(UsageError, match="needs the name"):
        openai("")
    with pytest.raises(UsageError, match="prices"):
        openai("x", max_cost=1.0)
    with pytest.raises(UsageError, match="cannot echo"):
        openai("x", echo=True)
    for address in (
        "localhost:8000",
        "ftp://localhost",
        "http://",
        "http://[::1",
        "http://localhost:port",
    ):
        with pytest.raises(UsageError, match="not a web address"):
            openai("x", base_url=address)
    with pytest.raises(UsageError, match="endpoint"):
        openai("x", endpoint="telnet")


def test_it_can_be_used_where_a_loop_is_running(serve, ask):
    model = ask(serve())

    async def notebook():
        return model.answer(items(1))

    assert asyncio.run(notebook())[0].choice == "smaller"


def test_what_it_describes_is_plain_json_and_stays_the_same(serve, ask):
    model = ask(
        serve(
            fault=lambda seen, _: "" if seen else (400, {"error": {"message": "no logprobs here"}})
        )
    )
    before = msgspec.json.encode(model.describe())
    model.answer(items(1))
    assert msgspec.json.encode(model.describe()) == before


def test_a_run_that_was_refused_midway_goes_on_and_pays_for_nothing_twice(serve, tmp_path):
    from gnomon import engine
    from gnomon.itemsource import load
    from gnomon.registry import model

    server = serve(fault=often, reply="smaller")
    polite = server.fault
    server.fault = lambda seen, prompt: (
        (401, {}) if server.served.total() >= 60 else polite(seen, prompt)
    )
    source = load("scales").limited(150)
    spec = model("openai:fake", base_url=server.url, concurrency=4)
    options = {"runs": tmp_path / "runs"}
    with pytest.raises(ModelError, match="refuses the key"):
        engine.run(source, spec, **options)
    server.fault = polite
    run = engine.run(source, spec, **options)
    counts = run.counts()
    assert counts.items == 150
    assert counts.answered + counts.unread + counts.errors == 150
    assert counts.errors == 0
    assert set(server.served.values()) == {1}
    assert KEY not in (run.path / "run.json").read_text()
