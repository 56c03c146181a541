"""A local server that answers as an OpenAI-compatible one does, or misbehaves as told."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from zlib import crc32

import pytest

from gnomon.models.servers import remote
from gnomon.models.servers.model import ServedModel
from gnomon.models.servers.openai import openai
from gnomon.records import Item

KEY = "sk-test-0123456789abcdef"
USAGE = {"prompt_tokens": 50, "completion_tokens": 2}


def said_in(body):
    """What a request asks: its text, and which pictures go with it."""
    if "prompt" in body:
        return body["prompt"]
    content = body["messages"][-1]["content"]
    if isinstance(content, str):
        return content
    said = [part["text"] for part in content if part["type"] == "text"]
    shown = [crc32(part["image_url"]["url"].encode()) for part in content[: -len(said)]]
    return f"{shown} {said}"


class FakeServer:
    """Answers "smaller" to all; `fault(request number, prompt)` names what goes wrong instead."""

    def __init__(self, fault=lambda seen, prompt: "", reply="smaller", logprobs=None, usage=USAGE):
        self.fault, self.reply, self.logprobs, self.usage = fault, reply, logprobs, usage
        self.seen, self.served, self.bodies, self.keys = Counter(), Counter(), [], set()
        self.paths, self.accepted, self.extra = [], set(), {}
        self.faults, self.counting = Counter(), threading.Lock()
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
        prompt = said_in(body)
        with self.counting:
            self.keys.add(request.headers.get("Authorization"))
            self.accepted.add(request.headers.get("Accept-Encoding"))
            self.paths.append(request.path)
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
        if fault in ("drip", "endless drip"):  # a byte now and then, and never an end
            request.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
            for _ in range(5 if fault == "drip" else 500):
                request.wfile.write(b" ")
                request.wfile.flush()
                self.stop.wait(0.02)
            request.close_connection = True
            return None
        if isinstance(fault, tuple):
            return self.send(request, *fault)
        with self.counting:
            self.served[prompt] += 1
        reply = self.reply(body) if callable(self.reply) else self.reply
        choice = (
            reply
            if isinstance(reply, dict)
            else {"message": {"role": "assistant", "content": reply}}
        )
        if self.logprobs and body.get("logprobs"):
            choice = {**choice, "logprobs": self.logprobs}
        return self.send(request, 200, {"choices": [choice], "usage": self.usage, **self.extra})

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

    def start(server, **options) -> ServedModel:
        model = openai("fake", base_url=server.url, **{"timeout": 60.0, **options})
        model.for_run("one run")
        models.append(model)
        return model

    yield start
    for model in models:
        model.close()


@pytest.fixture
def items():
    """A function that gives so many items, all answered rightly with "smaller"."""
    return _items


def _items(count=1):
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


def in_a_loop(coroutine):
    """What a coroutine gives in a loop of its own; here one may run already, for a browser."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


class Clock:
    """Instead of a clock: the pauses that each request makes, none of them waited for, and the time
    each may take."""

    def __init__(self, monkeypatch):
        self.pauses, self.allowed = defaultdict(list), []
        self.is_over, self.ending = None, []
        grant = asyncio.timeout

        def timeout(seconds):
            self.allowed.append(seconds)
            if self.is_over is None:
                return grant(seconds)
            scope = grant(None)
            self.ending.append(asyncio.ensure_future(self._end(scope, len(self.allowed))))
            return scope

        monkeypatch.setattr(remote.asyncio, "timeout", timeout)
        monkeypatch.setattr(remote, "FIRST_PAUSE", 1.0)

    async def _end(self, scope, number):
        """Let the time of a request be over when `is_over(number)` says so, however long it takes."""
        while not self.is_over(number):
            await asyncio.sleep(0.001)
        scope.reschedule(asyncio.get_running_loop().time())

    def watch(self, model):
        async def wait(seconds):
            self.pauses[asyncio.current_task()].append(seconds)
            await asyncio.sleep(0)

        model._remote._wait = wait
        return model


@pytest.fixture
def clock(monkeypatch):
    return Clock(monkeypatch)


@pytest.fixture
def key():
    """The key that every test finds in the environment."""
    return KEY
