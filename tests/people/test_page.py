"""The page by its addresses: who is let in, what is kept, what never leaves, what is refused."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest

pytest.importorskip("starlette", reason="the extra 'people' is not installed")
pytest.importorskip("httpx", reason="httpx is not installed")

from starlette.testclient import TestClient

from gnomon import web
from gnomon.errors import RunError
from gnomon.people.answering import AskedItems, PersonSettings, person_folder
from gnomon.people.order import EXTRAS, LINK, new_link, read_extras, write_link
from gnomon.people.page.app import ELSEWHERE, NOT_YOURS, SENT_BEFORE, WRONG_LINK, make_app
from gnomon.people.page.study import AnnotationStudy, KnownPanel
from gnomon.people.tasks import TASKS, task_named
from gnomon.runs import Run

SECRET = "zqgold"
RESPONSES = {
    "choose": {"choice": "neutral"},
    "scale": {"scale": "4"},
    "validate": {"choice": "true"},
    "contrast": {"order": "ba", "relation": "contains", "true_of": "1"},
    "picture": {"a": "yes", "b": "yes", "relation": "larger"},
}
Asking = Callable[..., AskedItems]


class Person:
    """Somebody with a browser and a link, who takes down all that the server says."""

    def __init__(self, study: AnnotationStudy, token: str) -> None:
        self.client = TestClient(
            make_app(study), base_url="http://localhost:8766", follow_redirects=False
        )
        self.token = token
        self.heard: list[bytes] = []
        self.at = ""

    def get(self, address: str) -> Any:
        return self._heard(self.client.get(address))

    def post(self, address: str, **fields: str) -> Any:
        return self._heard(self.client.post(address, data=fields))

    def join(self) -> Person:
        assert self.get(f"/join?token={self.token}").status_code == 200
        answer = self.post("/join", token=self.token)
        assert answer.status_code == 303, answer.text
        self.at = answer.headers["location"]
        return self

    def page(self) -> str:
        """The item at which the person is, with its pictures."""
        text = self.get(self.at).text
        for address in re.findall(r'src="(/p/[^"]+)"', text):
            assert self.get(address).headers["content-type"] == "image/jpeg"
        return text

    def fields(self, kind: str, page: str = "") -> dict[str, str]:
        token = re.search(r'name="form" value="(\w+)"', page or self.page())[1]
        parts = {f"part.{name}": value for name, value in RESPONSES[kind].items()}
        return {"form": token, "action": "save", "comment": "", "seconds": "1.5", **parts}

    def answer(self, kind: str, **changes: str) -> Any:
        found = self.post(self.at, **{**self.fields(kind), **changes})
        if found.status_code == 303:
            self.at = found.headers["location"]
        return found

    def _heard(self, answer: Any) -> Any:
        headers = " ".join(f"{name}: {value}" for name, value in answer.headers.items())
        self.heard.append(headers.encode() + answer.content)
        return answer


@pytest.fixture
def study_of(asked_of: Asking, tmp_path: Path) -> Iterator[Callable[..., AnnotationStudy]]:
    studies = []

    def make(
        kind: str = "choose", gold: int = 0, runs: str = "runs", **more: Any
    ) -> AnnotationStudy:
        pictures = tmp_path / f"pictures{gold}"
        pictures.mkdir(exist_ok=True)
        settings = PersonSettings(task_named(kind), **more.pop("settings", {}))
        found = AnnotationStudy(asked_of(kind, pictures, gold), settings, tmp_path / runs, **more)
        studies.append(found)
        return found

    yield make
    for study in studies:
        study.close()


@pytest.fixture
def people(study_of: Callable[..., AnnotationStudy]) -> dict[str, Person]:
    study = study_of()
    return {name: Person(study, token) for name, token in study.seat(["ann", "ben"]).items()}


def folder_of(study: AnnotationStudy, person: str = "ann") -> Path:
    return person_folder(study.asked, person, study.settings.task, study.folder)


@pytest.mark.parametrize("kind", TASKS)
def test_all_items_of_a_task_can_be_answered_to_the_end(
    kind: str, study_of: Callable[..., AnnotationStudy]
) -> None:
    study = study_of(kind, completion="https://panel.example/done?cc=1")
    ann = Person(study, study.seat(["ann"])["ann"]).join()
    for place in range(len(study.asked.items)):
        assert f"Item {place + 1} of {len(study.asked.items)}" in ann.page()
        assert ann.answer(kind).status_code == 303
    assert ann.at.endswith("/done")
    assert "https://panel.example/done?cc=1" in ann.get(ann.at).text
    run = Run.open(folder_of(study))
    assert run.counts().answered == len(study.asked.items)
    assert run.manifest.finished is not None
    assert {answer.rule for _, answer in run.answers()} == {f"people/{kind}"}


@pytest.mark.parametrize("kind", TASKS)
def test_nothing_about_the_right_answer_reaches_the_browser(
    kind: str, study_of: Callable[..., AnnotationStudy]
) -> None:
    """Ids, tags, groups, file names, metadata and prompts hold a word that must not be heard."""
    study = study_of(kind)
    ann = Person(study, study.seat(["ann"])["ann"]).join()
    for _ in study.asked.items:
        ann.answer(kind)
    ann.get(ann.at)
    ann.get(ann.at.replace("done", ""))
    assert len(ann.heard) > 2 * len(study.asked.items)
    assert not [heard for heard in ann.heard if SECRET.encode() in heard]
    assert SECRET in repr(study.asked)


@pytest.mark.parametrize("kind", [kind for kind in TASKS if kind != "contrast"])
def test_pages_are_the_same_whatever_the_right_answers_are(
    kind: str, study_of: Callable[..., AnnotationStudy]
) -> None:
    heard = []
    for gold in (0, 1):
        study = study_of(kind, gold, runs=f"runs{gold}")
        ann = Person(study, study.seat(["ann"])["ann"]).join()
        pages = []
        for _ in study.asked.items:
            secrets = rf"{ann.at.split('/')[2]}|{ann.at.split('/')[4]}|[0-9a-f]{{20,64}}"
            pages.append(re.sub(secrets, "-", ann.page()))
            ann.answer(kind)
        heard.append(pages)
    assert heard[0] == heard[1]
    assert len(set(heard[0])) > 1


def test_a_wrong_token_opens_nothing(people: dict[str, Person]) -> None:
    ann = people["ann"]
    for token in ("", "wrong", ann.token[:-1], ann.token + "x", "%00", "é" * 40):
        for answer in (ann.get(f"/join?token={token}"), ann.post("/join", token=token)):
            assert answer.status_code == 403
            assert WRONG_LINK in answer.text
    assert ann.get("/").status_code == 404


def test_only_a_hash_of_the_token_is_on_disk(people: dict[str, Person], tmp_path: Path) -> None:
    people["ann"].join().answer("choose")
    cookie = people["ann"].client.cookies.get("gnomon_people", path=None)
    kept = [file.read_bytes() for file in (tmp_path / "runs").rglob("*") if file.is_file()]
    assert len(kept) > 4
    for content in kept:
        assert people["ann"].token.encode() not in content
        assert cookie.encode() not in content


def test_a_link_that_is_used_a_second_time_ends_the_first_session(
    people: dict[str, Person], study_of: Callable[..., AnnotationStudy]
) -> None:
    ann = people["ann"].join()
    ann.answer("choose")
    other = Person.__new__(Person)
    other.__dict__.update(ann.__dict__)
    other.client = TestClient(
        ann.client.app, base_url="http://localhost:8766", follow_redirects=False
    )
    page = ann.page()
    other.join()
    refused = ann.post(ann.at, **ann.fields("choose", page))
    assert refused.status_code == 403
    assert ELSEWHERE in refused.text
    assert other.answer("choose").status_code == 303


def test_looking_at_a_link_changes_nothing(people: dict[str, Person]) -> None:
    ann = people["ann"].join()
    page = ann.page()
    preview = TestClient(ann.client.app, base_url="http://localhost:8766")
    assert preview.get(f"/join?token={ann.token}").status_code == 200
    assert ann.post(ann.at, **ann.fields("choose", page)).status_code == 303


def test_another_persons_page_item_and_picture_are_not_shown(
    study_of: Callable[..., AnnotationStudy],
) -> None:
    study = study_of("validate")
    tokens = study.seat(["ann", "ben"])
    ann, ben = (Person(study, tokens[name]).join() for name in ("ann", "ben"))
    assert ann.get(ben.at).status_code == 403
    bens_item = ben.at.rsplit("/", 1)[1]
    mine = ann.at.rsplit("/", 1)[0]
    for answer in (
        ann.get(f"{mine}/{bens_item}"),
        ann.post(f"{mine}/{bens_item}", **ann.fields("validate")),
        ann.get(f"{mine.replace('item', 'picture')}/{bens_item}/0"),
    ):
        assert answer.status_code == 404
        assert NOT_YOURS in answer.text
    assert not read_extras(folder_of(study, "ben"))


def test_a_form_that_is_sent_again_changes_nothing(
    people: dict[str, Person], study_of: Callable[..., AnnotationStudy], tmp_path: Path
) -> None:
    ann = people["ann"].join()
    fields = ann.fields("choose")
    first = ann.at
    moved = ann.post(first, **fields).headers["location"]
    again = ann.post(first, **fields)
    assert (again.status_code, again.headers["location"]) == (303, moved)  # as if once
    changed = ann.post(first, **{**fields, "part.choice": "contradiction"})
    assert changed.status_code == 409
    assert SENT_BEFORE in changed.text
    folder = next((tmp_path / "runs").glob("*people-ann*"))
    lines = (folder / EXTRAS).read_bytes().splitlines()
    assert len(lines) == 1
    assert [answer.choice for _, answer in Run.open(folder).answers()] == ["neutral"]


def test_fields_that_nobody_asked_for_are_not_kept(
    people: dict[str, Person], tmp_path: Path
) -> None:
    ann = people["ann"].join()
    first = ann.at
    fields = {**ann.fields("choose"), "part.more": "x" * 5000}
    moved = ann.post(first, **fields).headers["location"]
    (kept,) = read_extras(next((tmp_path / "runs").glob("*people-ann*")))
    assert kept.response == {"choice": "neutral"}
    again = ann.post(first, **fields)
    assert (again.status_code, again.headers["location"]) == (303, moved)  # still known as the same


@pytest.mark.parametrize(
    "change",
    [
        {"part.choice": "zqgold"},
        {"part.choice": ""},
        {"part.choice": "neutral\0"},
        {"action": "skip", "skip": "because"},
        {"action": "skip"},
    ],
)
def test_a_forged_answer_is_refused_and_the_page_shown_again(
    people: dict[str, Person], change: dict[str, str], tmp_path: Path
) -> None:
    ann = people["ann"].join()
    at = ann.at
    answer = ann.answer("choose", comment="keep me", **change)
    assert answer.status_code == 422
    assert 'role="alert"' in answer.text
    assert "keep me" in answer.text
    assert ann.at == at
    assert not read_extras(next((tmp_path / "runs").glob("*people-ann*")))
    assert ann.answer("choose").status_code == 303


def test_a_forged_form_token_is_refused(people: dict[str, Person], tmp_path: Path) -> None:
    ann = people["ann"].join()
    for token in ("", "0" * 64, "x"):
        assert ann.answer("choose", form=token).status_code == 409
    assert not read_extras(next((tmp_path / "runs").glob("*people-ann*")))


def test_a_comment_of_ten_megabytes_is_refused_in_a_sentence(people: dict[str, Person]) -> None:
    ann = people["ann"].join()
    answer = ann.answer("choose", comment="x" * 10_000_000)
    assert answer.status_code == 400
    assert "too large" in answer.text
    assert len(answer.text) < 5000
    answer = ann.answer("choose", comment="x" * 2001)
    assert answer.status_code == 422
    assert "The comment is too long" in answer.text
    assert ann.answer("choose", comment="x" * 2000).status_code == 303


def test_a_form_that_does_not_end_is_given_up(
    people: dict[str, Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(request: Any) -> bytes:
        await asyncio.Event().wait()
        return b""

    ann = people["ann"].join()
    monkeypatch.setattr(web, "_body_of", never)
    monkeypatch.setattr(web, "FORM_PATIENCE", 0.01)
    answer = ann.answer("choose")
    assert answer.status_code == 400
    assert "took too long" in answer.text


def in_thread(do: Any) -> Any:
    """Do something in a thread of its own: in this one the loop of a browser may run."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(do).result()


def test_a_form_that_is_cut_off_is_an_error_for_people_and_no_traceback() -> None:
    from starlette.requests import Request

    waiting = [
        {"type": "http.request", "body": b"token=", "more_body": True},
        {"type": "http.disconnect"},
    ]

    async def receive() -> Any:
        return waiting.pop(0)

    request = Request({"type": "http", "method": "POST", "headers": []}, receive)
    with pytest.raises(web.FormError, match="ended too early"):
        in_thread(lambda: asyncio.run(web.form_of(request)))


def test_a_script_in_a_comment_is_text(people: dict[str, Person], tmp_path: Path) -> None:
    ann = people["ann"].join()
    first = ann.at
    said = "</textarea><script>alert(1)</script><img src=x onerror=alert(2)>"
    ann.answer("choose", comment=said)
    text = ann.get(first).text
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)" in text
    assert read_extras(next((tmp_path / "runs").glob("*people-ann*")))[0].comment == said


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site", "origin": "http://localhost:1"}, 403),
        ({"host": "evil.example"}, 421),
        ({"origin": "http://localhost:8766", "sec-fetch-site": "same-origin"}, 303),
    ],
)
def test_forms_of_other_sites_are_refused(
    people: dict[str, Person], headers: dict[str, str], code: int, tmp_path: Path
) -> None:
    ann = people["ann"].join()
    answer = ann.client.post(ann.at, data=ann.fields("choose"), headers=headers)
    assert answer.status_code == code
    kept = read_extras(next((tmp_path / "runs").glob("*people-ann*")))
    assert len(kept) == (code == 303)


def test_every_answer_forbids_what_is_not_ours(people: dict[str, Person]) -> None:
    ann = people["ann"].join()
    for address in (f"/join?token={ann.token}", ann.at, "/style.css", "/page.js", "/nothing"):
        headers = ann.client.get(address).headers
        assert "script-src 'self'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
    page = ann.page()
    assert not re.search(r"<script(?! src=)|\son\w+=|style=", page)


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(people: dict[str, Person]) -> None:
    ann = people["ann"]
    cookie = ann.post("/join", token=ann.token).headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert "path=/p/" in cookie
    assert "secure" not in cookie


def test_behind_a_server_with_tls_the_cookie_is_secure(
    study_of: Callable[..., AnnotationStudy],
) -> None:
    study = study_of()
    token = study.seat(["ann"])["ann"]
    app = make_app(study, address="https://lab.example")
    lab = TestClient(app, base_url="https://lab.example", follow_redirects=False)
    headers = {"origin": "https://lab.example"}
    answer = lab.post("/join", data={"token": token}, headers=headers)
    assert answer.status_code == 303
    assert "secure" in answer.headers["set-cookie"].lower()
    elsewhere = TestClient(app, base_url="https://other.example")
    assert elsewhere.get(f"/join?token={token}").status_code == 421


@pytest.mark.parametrize("host", ["lab.example", "LAB.example:443"])
def test_an_address_is_the_same_in_capitals_and_with_its_usual_port(
    host: str, study_of: Callable[..., AnnotationStudy]
) -> None:
    study = study_of()
    token = study.seat(["ann"])["ann"]
    app = make_app(study, address="https://Lab.Example:443")
    lab = TestClient(app, base_url="http://localhost", follow_redirects=False)
    headers = {"host": host, "origin": "https://lab.example"}
    assert lab.post("/join", data={"token": token}, headers=headers).status_code == 303
    for other in ("lab.example:80", "lab.example:4433"):
        assert lab.get("/join", headers={"host": other}).status_code == 421


def test_one_can_go_back_and_change_an_answer(people: dict[str, Person], tmp_path: Path) -> None:
    ann = people["ann"].join()
    first = ann.at
    ann.answer("choose")
    second = ann.at
    back = re.search(r'href="([^"]+)" data-back', ann.page())[1]
    assert back == first
    ann.at = back
    assert re.search(r'value="neutral"[^>]* checked', ann.page())
    changed = {**ann.fields("choose"), "part.choice": "entailment"}
    assert ann.post(first, **changed).headers["location"] == second
    folder = next((tmp_path / "runs").glob("*people-ann*"))
    assert [answer.choice for _, answer in Run.open(folder).answers()] == ["entailment"]


def test_a_skipped_item_can_be_found_again(people: dict[str, Person]) -> None:
    ann = people["ann"].join()
    first = ann.at
    assert ann.answer("choose", action="skip", skip="hard").status_code == 303
    start = re.match(r"/p/\w+/", first)[0]
    page = ann.get(start).text
    assert "1 of 6 done" in page
    assert first in page
    ann.at = first
    assert "You skipped this item" in ann.page()


def test_work_continues_after_the_server_was_started_again(
    study_of: Callable[..., AnnotationStudy],
) -> None:
    study = study_of()
    ann = Person(study, study.seat(["ann"])["ann"]).join()
    ann.answer("choose")
    page, at = ann.page(), ann.at
    study.close()
    again = study_of()
    assert again.seat(["ann"]) == {}  # the link stays as it is
    ann.client.app = make_app(again)
    other = Person(again, ann.token)
    other.client.cookies = ann.client.cookies
    other.at = at
    assert other.post(at, **other.fields("choose", page)).status_code == 303  # the open page works
    assert len(read_extras(folder_of(again))) == 2
    renewed = again.seat(["ann"], new_links=True)["ann"]
    assert Person(again, ann.token).get(f"/join?token={ann.token}").status_code == 403
    assert Person(again, renewed).join().answer("choose").status_code == 303


def test_time_on_an_item_is_never_more_than_since_it_was_shown(
    people: dict[str, Person], tmp_path: Path
) -> None:
    ann = people["ann"].join()
    for told in ("9999", "-5", "nan", "soon", ""):
        ann.answer("choose", seconds=told)
    kept = read_extras(next((tmp_path / "runs").glob("*people-ann*")))
    assert len(kept) == 5
    assert all(extra.seconds is not None and 0 <= extra.seconds < 60 for extra in kept)


def test_people_of_a_panel_come_with_an_id_in_the_address(
    study_of: Callable[..., AnnotationStudy],
) -> None:
    study = study_of(panel=KnownPanel("PROLIFIC_PID", 2))
    token = study.open_panel()
    visitor = Person(study, token)
    assert visitor.get(f"/join?token={token}").status_code == 403
    page = visitor.get(f"/join?token={token}&PROLIFIC_PID=5f00aa11").text
    assert 'name="participant" value="5f00aa11"' in page
    codes = []
    for name in ("5f00aa11", "5f00aa22", "5f00aa11", "5f00aa33", "<script>"):
        codes.append(Person(study, token).post("/join", token=token, participant=name).status_code)
    assert codes == [303, 303, 303, 400, 403]
    models = sorted(Run.open(file.parent).model for file in study.folder.glob("*/run.json"))
    assert len(models) == 2
    assert all(re.fullmatch(r"people:panel-[0-9a-f]{12}", model) for model in models)
    study.close()
    again = study_of(panel=KnownPanel("PROLIFIC_PID", 2))
    assert again.open_panel() == ""
    assert Person(again, token).get(f"/join?token={token}&PROLIFIC_PID=5f00aa11").status_code == 200
    assert (
        Person(again, token).post("/join", token=token, participant="5f00aa22").status_code == 303
    )


def test_what_is_written_from_runs_holds_no_token_comment_or_time(
    study_of: Callable[..., AnnotationStudy], tmp_path: Path
) -> None:
    import gnomon
    from gnomon.cli import main

    study = study_of(panel=KnownPanel("PROLIFIC_PID", 2))
    token = study.open_panel()
    secrets = [token, "zqparticipant", "zqcomment"]
    for participant in ("zqparticipant1", "zqparticipant2"):
        person = Person(study, token)
        answer = person.post("/join", token=token, participant=participant)
        person.at = answer.headers["location"]
        for _ in study.asked.items:
            assert person.answer("choose", comment="zqcomment").status_code == 303
    kept = read_extras(next(study.folder.glob("*panel-*/")))
    secrets.append(f"{kept[0].at:%H:%M:%S}")
    study.close()
    page = gnomon.report(study.folder, tmp_path / "report.html")
    assert (
        main(
            [
                "people",
                "agree",
                str(study.folder),
                "-o",
                str(tmp_path / "votes.jsonl"),
                "--format",
                "json",
            ]
        )
        == 0
    )
    for file in (page, tmp_path / "votes.jsonl"):
        text = file.read_text(encoding="utf-8")
        assert len(text) > 300
        assert not [secret for secret in secrets if secret in text]


def test_a_picture_that_changed_is_not_shown(study_of: Callable[..., AnnotationStudy]) -> None:
    study = study_of("validate")
    ann = Person(study, study.seat(["ann"])["ann"]).join()
    file = Path(study.asked.items[0].images[0].path)
    from PIL import Image

    Image.new("RGB", (8, 8), "red").save(file)
    text = ann.get(ann.at).text
    answer = ann.get(re.search(r'src="(/p/[^"]+)"', text)[1])
    assert answer.status_code == 500
    assert SECRET.encode() not in answer.content
    assert ann.get(ann.at.replace("/item/", "/picture/") + "/7").status_code == 404


def test_links_stand_in_the_runs_folder_and_nowhere_else(
    people: dict[str, Person], tmp_path: Path
) -> None:
    people["ann"].join()
    assert sorted(file.parent.name[:20] for file in tmp_path.rglob(LINK)) == 2 * [
        "choose-set@file-peop"
    ]
    assert (next(tmp_path.rglob(LINK)).stat().st_mode & 0o077) == 0


def test_nobody_answers_here_under_a_name_that_was_pulled_from_label_studio(
    study_of: Callable[..., AnnotationStudy],
) -> None:
    study = study_of()
    folder = folder_of(study, "ben")
    folder.mkdir(parents=True)
    write_link(folder, msgspec.structs.replace(new_link(), participant="0123456789abcdef"))
    with pytest.raises(RunError, match="answers of ben that were pulled from Label Studio"):
        study.seat(["ann", "ben"])
    assert not (folder_of(study, "ann") / LINK).exists()  # ann's would never be shown
    assert list(study.seat(["ann", "cleo"])) == ["ann", "cleo"]
