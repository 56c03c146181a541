"""The images endpoint: pictures come as base64, and what is none is an error of its item."""

import base64
import json
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

import gnomon
from gnomon.errors import ModelError, UsageError
from gnomon.models.servers import remote
from gnomon.paint.painters.server import server
from gnomon.paint.records import PaintedPicture, PaintTrouble
from gnomon.scenes.pictures import png

from .conftest import request, scene

httpx = pytest.importorskip("httpx")
KEY = "sk-test-0123456789abcdef"


def picture(side=8, value=0):
    return png(np.full((side, side, 3), value, dtype=np.uint8))


def reply(content):
    return json.dumps({"data": [{"b64_json": base64.b64encode(content).decode()}]}).encode()


class Images:
    """Sends what `answer(prompt, how often it was asked)` gives: a status and bytes."""

    def __init__(self, answer):
        self.bodies, self.keys, self.asked = [], set(), Counter()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.bodies.append((self.path, body))
                outer.keys.add(self.headers.get("Authorization"))
                outer.asked[body["prompt"]] += 1
                status, content = answer(body["prompt"], outer.asked[body["prompt"]])
                self.send_response(status)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        serve = {"target": self.http.serve_forever, "kwargs": {"poll_interval": 0.01}}
        threading.Thread(daemon=True, **serve).start()
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/v1"


@pytest.fixture
def images(monkeypatch):
    """A function that starts a server."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr(remote, "FIRST_PAUSE", 0.0)
    started = []

    def start(answer):
        started.append(Images(answer))
        return started[-1]

    yield start
    for each in started:
        each.http.shutdown()
        each.http.server_close()


def painted(url, items, **options):
    painter = server("painter", base_url=url, judge="none", **options)._painter
    try:
        return [made for _, made in painter.paint([request(item) for item in items])]
    finally:
        painter.close()


def test_pictures_come_as_base64(images):
    here = images(lambda prompt, _: (200, reply(picture(value=len(prompt)))))
    items = [scene(id="1", text="a cat"), scene(id="2", text="a house")]
    found = painted(here.url, items, size="8x8", send_seed=True)
    assert found == [PaintedPicture(picture(value=5)), PaintedPicture(picture(value=7))]
    paths = {path for path, _ in here.bodies}
    assert paths == {"/v1/images/generations"}
    body = next(body for _, body in here.bodies if body["prompt"] == "a cat")
    assert body == {
        "model": "painter",
        "n": 1,
        "response_format": "b64_json",
        "size": "8x8",
        "prompt": "a cat",
        "seed": request(items[0]).seed,
    }
    assert here.keys == {f"Bearer {KEY}"}


BAD = {
    "a web page": (200, b"<!doctype html><title>Welcome</title>", "a web page"),
    "a broken page": (502, b"<html>Bad Gateway</html>", "502"),
    "not json": (200, b"\xff\xfe", "something else"),
    "nothing": (200, b"{}", "no picture"),
    "an address": (200, b'{"data": [{"url": "http://example.org/1.png"}]}', "an address"),
    "not base64": (200, b'{"data": [{"b64_json": "%%%"}]}', "not base64"),
    "refused": (400, b'{"error": {"message": "unsafe prompt"}}', "unsafe prompt"),
    "another size": (200, reply(picture(side=4)), "another size than 8x8"),
}


@pytest.mark.parametrize("kind", BAD)
def test_what_is_no_picture_is_the_trouble_of_its_item(images, kind):
    status, content, reason = BAD[kind]

    def answer(prompt, _):
        return (status, content) if prompt == "bad" else (200, reply(picture()))

    here = images(answer)
    items = [scene(id="1", text="bad"), scene(id="2", text="good")]
    bad, good = painted(here.url, items, size="8x8", attempts=2)
    assert isinstance(bad, PaintTrouble)
    assert reason in bad.reason
    assert KEY not in bad.reason
    assert good == PaintedPicture(picture())


def test_bytes_that_are_no_picture_are_an_error_of_the_item(images, tmp_path):
    huge = picture()[:16] + (10_000).to_bytes(4) * 2 + picture()[24:]
    contents = (b"GIF89a....", huge)

    def answer(prompt, _):
        return 200, reply(contents[len(prompt) % 2])

    here = images(answer)
    model = gnomon.model("synth:openai/painter", base_url=here.url, judge="none")
    run = gnomon.run(gnomon.load("scales", form="scene"), model, limit=12, runs=tmp_path)
    reasons = {answer.error for _, answer in run.rows()}
    assert reasons == {
        "this is not a complete JPEG or PNG picture",
        "a picture of 10,000 x 10,000 pixels is too large",
    }


def test_a_busy_server_is_asked_again(images):
    here = images(lambda _, seen: (503, b"busy") if seen < 3 else (200, reply(picture())))
    assert painted(here.url, [scene()]) == [PaintedPicture(picture())]


def test_no_more_is_spent_than_allowed(images):
    here = images(lambda *_: (200, reply(picture())))
    items = [scene(id=str(n), text=f"prompt {n}") for n in range(5)]
    with pytest.raises(ModelError, match="budget is spent"):
        painted(here.url, items, max_cost=0.1, price_picture=0.04, concurrency=1)
    assert len(here.bodies) == 2


def test_what_cannot_be_is_said():
    with pytest.raises(UsageError, match="not a size"):
        server("painter", size="big", base_url="http://127.0.0.1:9/v1")
    with pytest.raises(UsageError, match="price of a picture"):
        server("painter", max_cost=1.0, base_url="http://127.0.0.1:9/v1")
    with pytest.raises(UsageError, match="needs the name"):
        server("")
