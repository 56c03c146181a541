"""What the viewer writes, for whom, and for whom not: notes, doubts, hiding, deleting."""

from __future__ import annotations

import html
import json
import re
import threading
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra 'report' is not installed")
pytest.importorskip("httpx", reason="httpx is not installed")

from starlette.testclient import TestClient

from gnomon.errors import GnomonError
from gnomon.reports.viewer import serving
from gnomon.reports.viewer.app import make_app
from gnomon.runs import Run, RunLog, change_notes, read_notes
from gnomon.runs.notes import NOTES

HERE = "http://localhost:8765"
BAD = "<script>alert(1)</script>"
FORMS = ("note", "forget", "hide", "doubt", "delete")


@pytest.fixture
def run(made: ModuleType, tmp_path: Path) -> Run:
    found: Run = made.write(tmp_path / "runs" / "a", "spacenli@fresh", "m", made.entailment(4, 5))
    return found


class Reader:
    """Somebody with a browser."""

    def __init__(self, folder: Path, app: Any = None, **options: Any) -> None:
        app = app or make_app(str(folder), **options)
        self.client = TestClient(app, base_url=HERE, follow_redirects=False)

    def token(self, address: str = "/run/a") -> str:
        page = self.client.get(address).text
        found = re.search(r'name="token" value="([0-9a-f]{64})"', page)
        return found[1] if found else ""

    def send(self, what: str, origin: str = HERE, run: str = "a", **fields: str) -> Any:
        fields.setdefault("token", self.token())
        headers = {"origin": origin} if origin else {}
        return self.client.post(f"/run/{run}/{what}", data=fields, headers=headers)


@pytest.fixture
def reader(run: Run) -> Reader:
    return Reader(run.path.parent)


def files(folder: Path) -> dict[str, bytes]:
    """Everything below a folder that a reader of a log does not make by reading."""
    found = {}
    for file in folder.rglob("*"):
        if file.is_file() and not file.name.endswith(("-wal", "-shm")):
            found[str(file.relative_to(folder))] = file.read_bytes()
    return found


def test_a_note_is_kept_beside_the_run_and_shown_as_text(reader: Reader, run: Run) -> None:
    before = files(run.path)
    answer = reader.send("note", text=f"{BAD}\r\nlooks odd")
    assert (answer.status_code, answer.headers["location"]) == (303, "/run/a#notes")
    (note,) = run.notes.notes
    assert note.text == f"{BAD}\nlooks odd"
    page = reader.client.get("/run/a").text
    assert html.escape(BAD) in page
    assert page.count("<script") == 1
    after = files(run.path)
    assert set(after) - set(before) <= {NOTES, "notes.lock"}
    assert all(after[name] == content for name, content in before.items())
    reader.send("forget", note=note.id)
    assert run.notes.notes == []


def test_a_run_is_hidden_and_shown_again(reader: Reader, run: Run) -> None:
    assert 'href="/run/a"' in reader.client.get("/").text
    reader.send("hide", hidden="1")
    home = reader.client.get("/").text
    assert 'href="/run/a"' not in home
    assert "1 hidden" in home
    assert 'href="/run/a"' in reader.client.get("/?hidden=1").text
    reader.send("hide", hidden="0")
    assert 'href="/run/a"' in reader.client.get("/").text


def test_a_doubtful_label_is_marked_found_and_downloaded(
    reader: Reader, run: Run, made: ModuleType
) -> None:
    made.write(run.path.parent / "b", "spacenli@fresh", "n", run.items(), seed=1)
    item = list(run.items())[3]
    answer = reader.send("doubt", item=item.id, mark="1", comment=BAD, outcome="wrong")
    assert "outcome=wrong" in answer.headers["location"]
    assert "doubtful" not in answer.headers["location"], "the next item is the next wrong one"
    assert answer.status_code == 303
    assert "outcome=wrong" in answer.headers["location"]
    for other in ("a", "b"):  # a mark is about the item, whichever run it is kept beside
        page = reader.client.get(f"/run/{other}/items?doubtful=1").text
        assert page.count("label doubtful</span>") == 1
        assert ">1 item<" in page
    page = reader.client.get(f"/item?benchmark=spacenli@fresh&id={item.id}&run=b").text
    assert html.escape(BAD) in page
    got = reader.client.get("/doubts.jsonl?run=a")
    assert "attachment" in got.headers["content-disposition"]
    (line,) = [json.loads(text) for text in got.text.splitlines()]
    assert (line["item"], line["comment"], line["gold"]) == (item.id, BAD, list(item.gold))
    assert reader.client.get("/doubts.jsonl?run=b").text == ""
    reader.send("doubt", run="b", item=item.id, mark="0")
    assert run.notes.doubts == {}


def test_another_item_of_the_same_id_is_not_doubted(
    reader: Reader, run: Run, made: ModuleType
) -> None:
    made.write(run.path.parent / "b", "spacenli@fresh", "n", made.entailment(4, 5, seed=9))
    reader.send("doubt", item="0-0", mark="1")
    assert ">0 items<" in reader.client.get("/run/b/items?doubtful=1").text
    reader.send("doubt", run="b", item="0-0", mark="0")
    assert list(run.notes.doubts) == ["0-0"]


def test_a_run_is_deleted_only_after_the_question(reader: Reader, run: Run) -> None:
    asked = reader.send("delete")
    assert asked.headers["location"] == "/run/a/delete"
    assert "for good?" in reader.client.get("/run/a/delete").text
    assert run.path.exists()
    reader.send("note", text="a note goes with its run")
    assert reader.send("delete", sure="1").headers["location"] == "/"
    assert not run.path.exists()


def test_a_run_that_is_going_on_is_not_deleted(reader: Reader, run: Run) -> None:
    token = reader.token()
    with RunLog(run.path):
        answer = reader.send("delete", sure="1", token=token)
        assert answer.status_code == 400
        assert "at work" in answer.text
    assert run.path.exists()


def test_a_folder_with_other_files_is_not_deleted(reader: Reader, run: Run) -> None:
    (run.path / "thesis.tex").write_text("years of work", encoding="utf-8")
    assert reader.send("delete", sure="1").status_code == 400
    assert (run.path / "thesis.tex").exists()


@pytest.mark.parametrize("what", FORMS)
@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "http://localhost:9999",
        "null",
        "",
        "http://localhost:8765.evil.example",
    ],
)
def test_a_form_of_another_site_changes_nothing(
    reader: Reader, run: Run, what: str, origin: str
) -> None:
    token = reader.token()
    before = files(run.path)
    fields = {"text": "x", "hidden": "1", "item": "0-0", "mark": "1", "sure": "1"}
    answer = reader.send(what, origin=origin, token=token, **fields)
    assert answer.status_code == 403
    headers = {"origin": HERE, "sec-fetch-site": "cross-site"}
    assert (
        reader.client.post(f"/run/a/{what}", data={"token": token}, headers=headers).status_code
        == 403
    )
    assert files(run.path) == before


@pytest.mark.parametrize("what", FORMS)
def test_a_form_without_its_token_changes_nothing(reader: Reader, run: Run, what: str) -> None:
    stranger = Reader(run.path.parent)  # a viewer of another process
    another = Reader(run.path.parent, app=reader.client.app)  # another browser
    before = files(run.path)
    for token in ("", "0" * 64, "tökën", stranger.token(), another.token()):
        answer = reader.send(what, token=token, sure="1", text="x", hidden="1", item="0-0")
        assert answer.status_code == 403
    reader.client.cookies.clear()
    assert reader.send(what, token="0" * 64).status_code == 403
    assert files(run.path) == before


def test_the_session_stays_in_the_browser_that_it_began_in(reader: Reader) -> None:
    cookie = reader.client.get("/run/a").headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie


def test_reading_changes_nothing(reader: Reader, run: Run) -> None:
    reader.send("note", text="x")
    before = files(run.path)
    for what in FORMS:
        address = f"/run/a/{what}?sure=1&hidden=1&text=x&item=0-0&mark=1&token={reader.token()}"
        assert reader.client.get(address).status_code == (200 if what == "delete" else 405)
    for address in ("/", "/live", "/run/a", "/run/a/items", "/doubts.jsonl", "/model?name=m"):
        assert reader.client.get(address).status_code == 200
    assert files(run.path) == before


@pytest.mark.parametrize(
    "options", [{"read_only": True}, {"allow_remote": True}, {"read_only": True, "token": "t" * 16}]
)
def test_a_viewer_for_reading_has_no_forms(run: Run, options: dict[str, Any]) -> None:
    given = {"read_only": False, "allow_remote": False, "token": "", **options}
    assert not serving.may_write(**given)
    reader = Reader(run.path.parent, writable=False)
    for address in ("/", "/run/a", "/item?benchmark=spacenli@fresh&id=0-0"):
        page = reader.client.get(address)
        assert 'method="post"' not in page.text
        assert "set-cookie" not in page.headers
    for what in FORMS:
        assert reader.send(what, token="0" * 64).status_code in (404, 405)
    assert reader.client.get("/run/a/delete").status_code == 404
    assert not (run.path / NOTES).exists()


@pytest.mark.parametrize(
    "name", ["..%2Fa", "%2e%2e", "..%2F..%2Fetc", "a%2F..%2Fa", "nothing", "%00"]
)
@pytest.mark.parametrize("what", ["note", "delete"])
def test_a_name_is_never_used_as_a_path(reader: Reader, run: Run, name: str, what: str) -> None:
    (run.path.parent.parent / "run.json").write_text("{}", encoding="utf-8")
    before = files(run.path.parent.parent)
    assert reader.send(what, run=name, text="x", sure="1").status_code in (404, 405)
    assert files(run.path.parent.parent) == before


def test_too_much_is_refused(reader: Reader, run: Run) -> None:
    token = reader.token()
    assert reader.send("note", text="x" * 100_000, token=token).status_code == 400
    assert reader.send("note", text="x" * 4_001, token=token).status_code == 400
    many = {f"f{i}": "x" for i in range(100)}
    assert reader.send("note", text="x", token=token, **many).status_code == 400
    assert not (run.path / NOTES).exists()


def test_an_item_that_the_run_does_not_have_is_not_marked(reader: Reader, run: Run) -> None:
    assert reader.send("doubt", item="no such item", mark="1").status_code == 404
    assert not (run.path / NOTES).exists()


def together(count: int, do: Callable[[int], None]) -> None:
    """Do something in several threads at once."""
    ready = threading.Barrier(count)

    def work(number: int) -> None:
        ready.wait(30)
        do(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)


def test_notes_written_at_once_are_all_kept(run: Run) -> None:
    items = list(run.items())

    def write(number: int) -> None:
        change_notes(run.path, lambda notes: notes.add_note(f"note {number}"))
        change_notes(run.path, lambda notes: notes.doubt(items[number]))

    together(6, write)
    notes = run.notes
    assert sorted(note.text for note in notes.notes) == [f"note {i}" for i in range(6)]
    assert set(notes.doubts) == {item.id for item in items[:6]}


def test_a_comment_from_another_window_is_kept(reader: Reader, run: Run) -> None:
    reader.send("doubt", item="0-0", mark="1", comment="from the first window", seen="")
    reader.send("doubt", item="0-0", mark="1", comment="from the second", seen="")
    assert run.notes.doubts["0-0"].comment == "from the first window\nfrom the second"
    both = run.notes.doubts["0-0"].comment
    reader.send("doubt", item="0-0", mark="1", comment="settled", seen=both)
    assert run.notes.doubts["0-0"].comment == "settled"


@pytest.mark.parametrize("content", ["{", '{"format": 99}', '{"notes": 3}', "[]"])
def test_notes_that_cannot_be_read_are_told_and_never_overwritten(
    reader: Reader, run: Run, content: str
) -> None:
    token = reader.token()
    (run.path / NOTES).write_text(content, encoding="utf-8")
    with pytest.raises(GnomonError):
        read_notes(run.path)
    page = reader.client.get("/run/a")
    assert page.status_code == 200
    assert "notes.json" in page.text
    assert reader.client.get("/").status_code == 200
    assert reader.send("note", text="x", token=token).status_code == 400
    assert (run.path / NOTES).read_text(encoding="utf-8") == content


def test_a_link_in_place_of_the_notes_is_replaced_and_not_followed(
    reader: Reader, run: Run, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.json"
    outside.write_text("{}", encoding="utf-8")
    (run.path / NOTES).symlink_to(outside)
    assert reader.send("note", text="x").status_code == 303
    assert outside.read_text(encoding="utf-8") == "{}"
    assert not (run.path / NOTES).is_symlink()
