"""A server on loopback that misbehaves, in one of many ways.

It answers one half of the questions as it should and misbehaves at the other half; as a server of
files it misbehaves at each. Whoever asks it must not be hurt: `servers` looks at that.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import socket
import threading
import zlib
from collections import Counter
from collections.abc import Callable
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

KEY = "sk-canary-0123456789abcdef"
USER, PASSWORD = "canaryuser", "canarypassword"
USAGE = {"prompt_tokens": 50, "completion_tokens": 2}
DEEP = 100_000

Behaviour = Callable[["Handler"], None]
# In place of a field of a reply.
CHOICES: tuple[object, ...] = (None, [], {}, "smaller", [None], [[]], [{}], 7, [{"message": None}])
MESSAGES: tuple[object, ...] = ([], "smaller", 5, {"content": {}})
CONTENTS: tuple[object, ...] = (None, 5, True, [], {}, "", " \n", "\x00")
FEW: dict[str, object] = {"prompt_tokens": "9"}
USAGES: tuple[object, ...] = ("many", [], None, 5, FEW, {"completion_tokens": None})


def send(
    request: Handler, status: int, body: object, headers: dict[str, str] | None = None
) -> None:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    request.send_response(status, "of its own")
    for name, value in (headers or {}).items():
        request.send_header(name, value)
    request.send_header("Content-Length", str(len(raw)))
    request.end_headers()
    request.wfile.write(raw)


def status(code: int, message: object = "no", **headers: str) -> Behaviour:
    """An error with its message, and headers named with _ for -."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda request: send(request, code, {"error": {"message": message}}, named)


def body(raw: object, **headers: str) -> Behaviour:
    """A reply of any content."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda request: send(request, 200, raw, named)


def wire(raw: bytes) -> Behaviour:
    """Bytes instead of a reply, then the end of the connection."""

    def misbehave(request: Handler) -> None:
        request.wfile.write(raw)
        request.close_connection = True

    return misbehave


def choice(**fields: object) -> Behaviour:
    """A reply with one choice of these fields."""
    return body({"choices": [{"message": {"content": "smaller"}, **fields}], "usage": USAGE})


def content(value: object) -> Behaviour:
    return choice(message={"role": "assistant", "content": value})


def usage(value: object) -> Behaviour:
    return body({"choices": [{"message": {"content": "smaller"}}], "usage": value})


def tokens(*found: object) -> Behaviour:
    return choice(logprobs={"content": list(found)})


def drip(request: Handler) -> None:
    """A byte now and then, and never an end."""
    request.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    for _ in range(400):
        request.wfile.write(b" ")
        request.wfile.flush()
        if request.server.stop.wait(0.02):
            break
    request.close_connection = True


def dripping_headers(request: Handler) -> None:
    request.wfile.write(b"HTTP/1.1 200 OK\r\n")
    for n in range(400):
        request.wfile.write(f"X-{n}: a\r\n".encode())
        request.wfile.flush()
        if request.server.stop.wait(0.02):
            break
    request.close_connection = True


def silence(request: Handler) -> None:
    request.server.stop.wait(3)
    request.close_connection = True


def reset(request: Handler) -> None:
    linger = b"\x01\x00\x00\x00\x00\x00\x00\x00"
    request.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    request.close_connection = True


def to_elsewhere(code: int) -> Behaviour:
    """A redirect to another name of this machine."""

    def misbehave(request: Handler) -> None:
        place = f"http://localhost:{request.server.server_port}/elsewhere"
        send(request, code, b"", {"Location": place})

    return misbehave


@cache
def bomb() -> bytes:
    """Few bytes that unpack to very many."""
    return gzip.compress(b" " * 200_000_000)


def packed_bomb(request: Handler) -> None:
    send(request, 200, bomb(), {"Content-Encoding": "gzip"})


def packed_twice(request: Handler) -> None:
    send(request, 200, gzip.compress(bomb()), {"Content-Encoding": "gzip, gzip"})


def echo_of_key(place: str) -> Behaviour:
    """The key comes back, in the reply, in an error, or in a header."""
    told = f"your key is {KEY}, your password {PASSWORD}"
    if place == "content":
        return content(f"smaller. {told}")
    if place == "error":
        return status(401, told)
    if place == "passing error":
        return status(500, told)
    if place == "header":
        return status(429, told, X_Key=told, Retry_After=told)
    if place == "reason":
        return wire(f"HTTP/1.1 403 {told}\r\nContent-Length: 0\r\n\r\n".encode())
    if place == "location":
        return status(302, "moved", Location=f"http://localhost:1/{KEY}")
    if place == "field name":
        return body({told: told, "error": told})
    if place == "broken JSON":
        return body(f'{{"choices": {told}'.encode())
    return choice(finish_reason=told, message={"content": None, "refusal": told})


TOKEN = {"token": "smaller", "logprob": -0.1, "top_logprobs": []}
ESCAPES = "\x1b]0;owned\x07\x1b[2J\r\x08\u202esmaller"

BEHAVIOURS: dict[str, Behaviour] = {
    **{f"status {code}": status(code) for code in (206, 400, 401, 403, 404, 405, 408, 409)},
    **{f"status {code}": status(code) for code in (413, 418, 422, 429, 451, 500, 502, 503, 599)},
    **{f"redirect {code}": to_elsewhere(code) for code in (301, 302, 303, 307, 308)},
    "status 204": wire(b"HTTP/1.1 204 None\r\n\r\n"),
    "redirect to no address": status(302, Location="http://[::1"),
    "redirect to a file": status(302, Location="file:///etc/passwd"),
    "wait for a year": status(429, Retry_After="31536000"),
    "wait for less than nothing": status(429, Retry_After="-1"),
    "wait for NaN": status(503, Retry_After="nan"),
    "wait until a date": status(503, Retry_After="Fri, 31 Dec 9999 23:59:59 +9999"),
    "wait for many digits": status(429, Retry_After="9" * 5000),
    "error is a text": body({"error": "no"}),
    "error is a list": status(400, [1, {"a": "b"}]),
    "error is deep": lambda request: send(request, 400, b'{"error":' + b"[" * DEEP),
    "error with escapes": status(404, ESCAPES),
    "error that is long": status(400, "no " * 500_000),
    "error that is not text": lambda request: send(request, 500, b"\xff\xfe\x00"),
    "nothing": body(b""),
    "null": body(b"null"),
    "a list": body([1, 2]),
    "a text": body("smaller"),
    "a page": body(b"<html>Sign in</html>", Content_Type="text/html"),
    "half of it": body(b'{"choices": [{"mess'),
    "two of it": body(b'{"choices": []}{"choices": []}'),
    "deep lists": body(b"[" * DEEP + b"]" * DEEP),
    "deep objects": body(b'{"choices":' * DEEP + b"1" + b"}" * DEEP),
    "much of it": body(b'{"choices": "' + b"a" * 20_000_000 + b'"}'),
    "UTF-16": body('{"choices": []}'.encode("utf-16")),
    "not UTF-8": body(b'{"choices": [{"message": {"content": "\xff\xc3"}}]}'),
    "a byte order mark": body(b"\xef\xbb\xbf" + json.dumps({"choices": []}).encode()),
    "half a character": body(b'{"choices": [{"message": {"content": "\\ud800"}}]}'),
    "packed": body(gzip.compress(b'{"choices": []}'), Content_Encoding="gzip"),
    "packed, very much": packed_bomb,
    "packed twice": packed_twice,
    "packed badly": body(b"\x1f\x8b\x08nonsense", Content_Encoding="gzip"),
    "packed in no known way": body(b"{}", Content_Encoding="quantum"),
    "no choices": body({"usage": USAGE}),
    **{f"choices {one!r}": body({"choices": one, "usage": USAGE}) for one in CHOICES},
    **{f"message {one!r}": choice(message=one) for one in MESSAGES},
    **{f"content {one!r}": content(one) for one in CONTENTS},
    "content in parts": content([{"type": "text", "text": "smaller"}, {"type": "image"}, None]),
    "content that is long": content("smaller " * 300_000),
    "content with escapes": content(ESCAPES),
    "content of another script": content("١٢ ß İ 😀 \u2028"),
    "no end of reasons": choice(finish_reason={"a": [1]}),
    **{f"usage {one!r}": usage(one) for one in USAGES},
    "usage below nothing": usage({"prompt_tokens": -(10**9), "completion_tokens": -5}),
    "usage beyond all bounds": usage({"prompt_tokens": 10**400, "completion_tokens": 1e308}),
    "usage that is true": usage({"prompt_tokens": True, "completion_tokens": [1]}),
    "usage infinite": body(
        b'{"choices": [{"message": {"content": "smaller"}}], "usage": {"prompt_tokens": Infinity}}'
    ),
    "logprobs are text": choice(logprobs="none"),
    "logprobs of nothing": choice(logprobs={"content": None}),
    "logprobs without fields": tokens({}),
    "logprobs of null": tokens(None, 5, []),
    "logprob above zero": tokens({**TOKEN, "logprob": 5.0}),
    "logprob is a text": tokens({**TOKEN, "logprob": "-1"}),
    "logprob is NaN": body(
        b'{"choices": [{"message": {"content": "smaller"}, "logprobs": {"content": '
        b'[{"token": "smaller", "logprob": NaN, "top_logprobs": []}]}}]}'
    ),
    "logprob of many digits": body(
        b'{"choices": [{"message": {"content": "smaller"}, "logprobs": {"content": '
        b'[{"token": "smaller", "logprob": -' + b"9" * 500 + b', "top_logprobs": []}]}}]}'
    ),
    "alternatives are an object": tokens({**TOKEN, "top_logprobs": {"smaller": -0.1}}),
    "alternatives are numbers": tokens({**TOKEN, "top_logprobs": [1, None, "a"]}),
    "token is a number": tokens({**TOKEN, "token": 5}),
    "bytes that are none": tokens({**TOKEN, "bytes": [999, -1, "a"]}),
    "the field twice": body(b'{"choices": [], "choices": null, "choices": [{}]}'),
    **{
        f"echo of the key: {place}": echo_of_key(place)
        for place in ("content", "error", "passing error", "header", "reason", "location")
    },
    **{f"echo of the key: {place}": echo_of_key(place) for place in ("field name", "broken JSON")},
    "echo of the key: refusal": echo_of_key("refusal"),
    "closed at once": wire(b""),
    "half a status": wire(b"HTTP/1.1 2"),
    "no status": wire(b"smaller\r\n\r\n"),
    "a status of letters": wire(b"HTTP/1.1 abc OK\r\n\r\n"),
    "a status of many digits": wire(b"HTTP/1.1 " + b"2" * 400 + b" OK\r\n\r\n"),
    "another protocol": wire(b"SSH-2.0-OpenSSH_9.6\r\n"),
    "half the headers": wire(b"HTTP/1.1 200 OK\r\nContent-Le"),
    "a huge header": wire(b"HTTP/1.1 200 OK\r\nX: " + b"a" * 5_000_000 + b"\r\n\r\n{}"),
    "many headers": wire(b"HTTP/1.1 200 OK\r\n" + b"X: a\r\n" * 50_000 + b"\r\n{}"),
    "a header with NUL": wire(b"HTTP/1.1 200 OK\r\nX: \x00\r\nContent-Length: 2\r\n\r\n{}"),
    "a length that is none": wire(b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n{}"),
    "a length below nothing": wire(b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n{}"),
    "two lengths": wire(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 9\r\n\r\n{}"),
    "less than it says": wire(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"),
    "more than it says": wire(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}" + b"a" * 10_000),
    "bad chunks": wire(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n"),
    "a chunk of huge size": wire(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n{}"
    ),
    "reset": reset,
    "silence": silence,
    "drip": drip,
    "dripping headers": dripping_headers,
}

BODY = bytes(range(256)) * 40
SHA256 = hashlib.sha256(BODY).hexdigest()

DOWNLOADS: dict[str, Behaviour] = {
    "other bytes": body(b"a" * len(BODY)),
    "fewer bytes": body(BODY[:100]),
    "more bytes": body(BODY + b"a"),
    "less than it says": wire(b"HTTP/1.1 200 OK\r\nContent-Length: 10240\r\n\r\nabc"),
    "without end": wire(b"HTTP/1.1 200 OK\r\n\r\n" + b"a" * 50_000_000),
    "a page": body(b"<html>Sign in</html>"),
    "packed": body(gzip.compress(BODY), Content_Encoding="gzip"),
    "404 with escapes": lambda request: send(request, 404, ESCAPES.encode()),
    "reason with escapes": wire(b"HTTP/1.1 404 \x1b]0;owned\x07\r\nContent-Length: 0\r\n\r\n"),
    "500": status(500),
    "redirect to a file": status(302, Location="file:///etc/passwd"),
    "redirect to no address": status(302, Location="http://[::1"),
    "redirect to nothing": status(302),
    "redirect with escapes": status(302, Location="ftp://a/\x1b]0;owned\x07"),
    "redirect in a circle": status(302, Location="/round"),
    "another part": lambda request: send(request, 206, BODY, {"Content-Range": "bytes 7-9/10"}),
    "a part of no range": lambda request: send(request, 206, BODY),
    "416 for nothing": status(416),
    "no status": wire(b"hello\r\n\r\n"),
    "half the headers": wire(b"HTTP/1.1 200 OK\r\nContent-Le"),
    "a huge header": wire(b"HTTP/1.1 200 OK\r\nX: " + b"a" * 500_000 + b"\r\n\r\n"),
    "many headers": wire(b"HTTP/1.1 200 OK\r\n" + b"X: a\r\n" * 5000 + b"\r\n"),
    "a length that is none": wire(b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nabc"),
    "bad chunks": wire(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
    "silence": silence,
    "reset": reset,
}


class Server(ThreadingHTTPServer):
    """Answers one half of the questions, and does something else with the other half."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(
        self, behaviour: Behaviour | None, handler: type[BaseHTTPRequestHandler] | None = None
    ) -> None:
        super().__init__(("127.0.0.1", 0), handler or Handler)
        self.behaviour = behaviour
        self.stop = threading.Event()
        self.seen: Counter[str] = Counter()
        self.served: Counter[str] = Counter()
        self.leaks: list[str] = []
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://{USER}:{PASSWORD}@127.0.0.1:{self.server_port}/v1"

    def end(self) -> None:
        self.stop.set()
        self.shutdown()
        self.server_close()

    def handle_error(self, *_: object) -> None:
        """The other side hung up, as it should."""


class Handler(BaseHTTPRequestHandler):
    """Serves a chat model, and another place to which a redirect may lead."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Server

    def do_GET(self) -> None:
        self._elsewhere()

    def do_POST(self) -> None:
        if self.path.startswith("/elsewhere"):
            return self._elsewhere()
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = asked["messages"][-1]["content"]
        self.server.seen[prompt] += 1
        if self.server.behaviour and zlib.crc32(prompt.encode()) % 2:
            return self.server.behaviour(self)
        self.server.served[prompt] += 1
        reply = {"choices": [{"message": {"content": "smaller"}}], "usage": USAGE}
        return send(self, 200, reply)

    def _elsewhere(self) -> None:
        if self.headers.get("Authorization"):
            self.server.leaks.append(self.path)
        send(self, 200, {"choices": [{"message": {"content": "larger"}}], "usage": USAGE})

    def log_message(self, *_: object) -> None:
        """Quietly."""


class FileHandler(Handler):
    """Misbehaves at every request for a file."""

    def do_GET(self) -> None:
        if self.path.startswith("/elsewhere"):
            return self._elsewhere()
        assert self.server.behaviour is not None
        return self.server.behaviour(self)


class Listener(Server):
    """Answers like a model, and writes down all that it is sent."""

    def __init__(self, heard: Path) -> None:
        super().__init__(None, Listening)
        self.heard = heard

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class Listening(Handler):
    """Serves a chat model that always agrees."""

    server: Listener

    def do_GET(self) -> None:
        self.do_POST()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        with self.server.heard.open("ab") as file:
            file.write(f"{self.requestline}\n{self.headers}\n".encode() + body + b"\n")
        send(self, 200, {"choices": [{"message": {"content": "yes"}}], "usage": USAGE})
