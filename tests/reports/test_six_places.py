"""A model that gives one answer, and models that were asked in different ways: seen everywhere."""

import html
import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random

import pytest

from gnomon.cli import main

ONE = "gave one answer ('inside') to all 60 items"
VERDICT = "gives one answer"
UNLIKE = "not all were asked alike"
PROMPTS = "prompt chat (Konst), fewshot (Mixed)"
ANSWERS = ("inside", "above", "below", "beside")


class Server(BaseHTTPRequestHandler):
    """Says "inside" for one model, and anything for the other."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        said = Random(json.dumps(asked["messages"])).choice(ANSWERS)
        if asked["model"] == "konst":
            said = "inside"
        message = {"role": "assistant", "content": said}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        reply = json.dumps({"model": asked["model"], "choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Server) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        server.shutdown()


def asked(folder: Path, address: str, model: str, prompt: str) -> None:
    words = ["run", "posrel", "-m", model, "--base-url", address, "--prompt", prompt]
    assert main([*words, "--limit", "60", "--runs", str(folder), "--quiet"]) == 0


@pytest.fixture(scope="module")
def runs(address: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("six")
    asked(folder, address, "Konst=openai:konst", "chat")
    asked(folder, address, "Mixed=openai:mixed", "fewshot")
    return str(folder)


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(words) == 0
    printed = capsys.readouterr()
    return " ".join((printed.out + printed.err).split())


def text_of(page: str) -> str:
    without = re.sub(r"<(script|style).*?</\1>", "", page, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", without)).split())


def test_run_tells_of_one_answer_at_once(
    address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["run", "posrel", "--base-url", address, "--limit", "60", "--runs", str(tmp_path)]
    out = said(capsys, *words, "-m", "Konst=openai:konst")
    assert ONE in out
    assert VERDICT in out


@pytest.mark.parametrize("command", ["score", "compare", "table"])
def test_score_compare_and_table_tell_both(
    command: str, runs: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = said(capsys, command, runs)
    assert ONE in out
    assert VERDICT in out
    assert UNLIKE in out
    assert PROMPTS in out
    assert out.count(VERDICT) == 1  # of the other model nothing is said


def test_the_caption_for_a_paper_names_the_prompts(
    runs: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "Prompts: chat (Konst) and fewshot (Mixed)." in said(
        capsys, "table", runs, "--format", "latex"
    )


def test_the_report_tells_both(
    runs: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "report.html"
    said(capsys, "report", runs, "-o", str(page))
    shown = text_of(page.read_text(encoding="utf-8"))
    for words in (ONE, VERDICT, UNLIKE, PROMPTS):
        assert words in shown


def test_the_viewer_tells_both(runs: str) -> None:
    testclient = pytest.importorskip("starlette.testclient")
    from gnomon.reports.viewer.app import make_app

    client = testclient.TestClient(make_app(runs), base_url="http://localhost:8321")
    home = text_of(client.get("/").text)
    board = text_of(client.get("/benchmark?name=posrel@fresh").text)
    for words in (ONE, UNLIKE, PROMPTS):
        assert words in home
        assert words in board
    (konst,) = Path(runs).glob("*konst*")
    assert ONE in text_of(client.get(f"/run/{konst.name}").text)
